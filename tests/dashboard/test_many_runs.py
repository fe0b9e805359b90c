"""Many users on one server: clicks are answered, every run advances, one too many waits its turn."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard import keeping
from dashboard.slots import MOST_LEARNING
from dashboard.store import Store
from tmcore.parameters import Parameters
from tmcore.training import TrainingRun

CLICKS = 10

pytestmark = pytest.mark.browser


def begun() -> TrainingRun:
    """A run of some size: at full speed it keeps a processor busy for the whole test."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(3000, 8)).round(2)).add_prefix("x")
    parameters = Parameters(n_clauses=100, epochs=1000, random_state=1)
    run = TrainingRun(X[:2500], (X["x0"] * X["x1"] > 0)[:2500], parameters)
    run.learn(50)
    return run


@pytest.fixture
def kept_runs(make_server: Callable[..., Any], made_up: Any) -> tuple[Any, Store]:
    """A server with a run for each place and one more, and its store."""
    server = make_server(90.0, "--data-dir", "kept")
    kept, run = Store(server.folder / "kept"), begun()
    for number in range(MOST_LEARNING + 1):
        made_up.keep(kept, f"owner-{number}", run, end_step=2_500_000)
    return server, kept


def test_with_every_place_taken_clicks_are_answered_and_all_advance(
    kept_runs: tuple[Any, Store], new_tab: Any, until: Any
) -> None:
    server, kept = kept_runs

    address = f"{server.address}/train?{keeping.ADDRESS_KEY}=owner-"
    stands = "root.dataset.state == 'paused' && Number(root.dataset.painted) > 0"

    def steps() -> list[int]:
        return [kept.runs(f"owner-{number}")[0].step for number in range(MOST_LEARNING - 1)]

    others = [new_tab(f"{address}{number}", small=True) for number in range(MOST_LEARNING - 1)]
    for other in others:
        other.shows(stands, 90)
        other.page.keyboard.press("3")
        other.play(60)
        other.page.close()  # the run goes on until its lease ends, as those of users elsewhere do
    tab, late = (new_tab(f"{address}{number}") for number in (MOST_LEARNING - 1, MOST_LEARNING))
    for one in (tab, late):
        one.shows(stands, 90)
    before, waits = steps(), []
    for _ in range(CLICKS):
        for state in ("learning", "paused"):
            began = time.monotonic()
            tab.page.keyboard.press(" ")
            tab.shows(f"root.dataset.confirmed == '{state}'")
            waits.append(time.monotonic() - began)
        tab.page.wait_for_timeout(200)
    print(f"click to the server's answer: median {statistics.median(waits):.3f} s, most {max(waits):.3f} s")
    assert max(waits) < 10  # not only once another run has ended
    until(lambda: all(after > one for after, one in zip(steps(), before, strict=True)), 60)

    tab.play(60)
    late.page.keyboard.press(" ")
    late.page.get_by_text(f"{MOST_LEARNING} runs are learning on this computer").wait_for(timeout=30_000)
    tab.page.keyboard.press(" ")
    tab.shows("root.dataset.confirmed == 'paused'")
    late.shows("root.dataset.confirmed == 'learning'")  # by itself
