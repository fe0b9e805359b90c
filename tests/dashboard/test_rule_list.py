"""The list of rules in a real browser: what it shows after a filter, a sort, a key, against counts by pandas."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard.editing import Editing, Learned
from dashboard.rule_list.counting import Counter
from dashboard.rule_list.payload import Painter
from dashboard.rule_list.reading import Reading
from tmcore.conditions import Condition, RuleColumn
from tmcore.rule import Rule, as_tuple
from tmcore.rules import RuleSet

N_RULES = 500
HOSTILE = "<img src=x onerror=alert(1)>"
COLUMNS = ("a", "b", "c", HOSTILE)

FOCUSED = """() => {
  let at = document.activeElement;
  while (at.shadowRoot) at = at.shadowRoot.activeElement;
  return at.closest("[data-number]").dataset.number;
}"""

SCRIPT = """
import os, sys
if sys.argv[1:2] == ["--port"]:
    words = [f"--server.port={{sys.argv[2]}}", "--server.headless=true", "--server.address=127.0.0.1"]
    os.execv(sys.executable, [sys.executable, "-m", "streamlit", "run", __file__, *words])
sys.path.insert(0, {folder!r})
import streamlit as st
from dashboard import rule_list
from test_rule_list import made_up
if "reading" not in st.session_state:
    st.session_state.reading, st.session_state.asking = made_up(), rule_list.Asking()
reading = st.session_state.reading
st.text(f"{{len(reading.rules)}} in use")
st.fragment(rule_list.show)(reading, st.session_state.asking, "state", "rows.csv")
"""


def made_up() -> Reading:
    """500 rules over four columns of 300 rows, of one, two or three literals."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.integers(0, 100, 400).astype(float) for name in COLUMNS})
    y = pd.Series(np.where(X["a"] + rng.normal(0, 30, 400) > 50, "well", "ill"))
    columns = tuple(RuleColumn(name, name, None, "numeric", ()) for name in COLUMNS)
    rules = []
    for _ in range(N_RULES):
        chosen = rng.choice(COLUMNS, rng.integers(1, 4), replace=False)
        asked = tuple(Condition(name, name, "numeric", lower=float(rng.integers(0, 100))) for name in chosen)
        rules.append(Rule(asked, float(rng.choice([-1, 1]) * rng.integers(1, 2**17)) / 2**16))
    listed = RuleSet(np.array(["ill", "well"]), 0.25, tuple(rules), columns)
    counter = Counter(listed.classes, (X[:300], y[:300]), (X[300:], y[300:]))
    return Reading(Editing(Learned(listed, listed, True)), counter, Painter(listed, X[:300], y[:300]))


@cache
def counted() -> pd.DataFrame:
    """Every rule's numbers, counted by pandas."""
    reading = made_up()
    X, y = reading.counter.train
    found = []
    for rule in reading.rules:
        covered = pd.Series(True, index=X.index)
        for condition in rule.conditions:
            covered &= X[condition.column] > condition.lower
        right = y[covered].eq("well" if as_tuple(rule.weights)[0] > 0 else "ill")
        asks_a = any(condition.column == "a" for condition in rule.conditions)
        found.append(
            (
                rule.weights,
                covered.mean(),
                right.mean(),
                len(rule.conditions),
                asks_a,
                covered.sum(),
                right.sum(),
            )
        )
    names = ["weight", "support", "precision", "literals", "asks a", "rows", "right"]
    frame = pd.DataFrame(found, columns=names, index=pd.RangeIndex(1, N_RULES + 1, name="number"))
    return frame.assign(size=frame["weight"].abs())


@pytest.fixture
def tab(
    browser: Any, serve_dashboard: Callable[[list[str], Path], AbstractContextManager[str]], tmp_path: Path
) -> Iterator[Any]:
    script = tmp_path / "page.py"
    script.write_text(SCRIPT.format(folder=str(Path(__file__).parent)))
    with serve_dashboard([sys.executable, str(script)], tmp_path) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        page.locator(".list [data-number]").first.wait_for(timeout=60_000)
        yield page
        page.close()
        assert errors == []


def numbers(tab: Any, most: int = 6) -> list[int]:
    rows = tab.locator(".list [data-number]").evaluate_all("rows => rows.map(row => row.dataset.number)")
    return [int(number) for number in rows[:most]]


def first(frame: pd.DataFrame, by: str, ascending: bool = False) -> list[int]:
    ordered = frame.reset_index().sort_values([by, "size", "number"], ascending=[ascending, False, True])
    return ordered["number"].head(6).tolist()


@pytest.mark.browser
def test_order_and_filters_are_those_of_pandas(tab: Any) -> None:
    rules, title = counted(), tab.locator(".list h3")
    assert title.inner_text() == "All 500\u00a0rules"
    assert tab.locator(".list [data-number]").count() < 40  # only those in view are built
    assert numbers(tab) == first(rules, "size")
    for label, by, ascending in (
        ("Most rows first", "support", False),
        ("Purest first", "precision", False),
        ("Fewest literals first", "literals", True),
    ):
        tab.get_by_label("Sort", exact=True).select_option(label)
        assert numbers(tab) == first(rules, by, ascending)
    tab.get_by_label("Sort", exact=True).select_option("Heaviest first")
    kept = rules[rules["asks a"]]
    tab.get_by_label("Feature", exact=True).select_option("a")
    assert title.inner_text() == f"{len(kept)} of 500\u00a0rules"
    kept = kept[kept["weight"] > 0]
    tab.get_by_role("button", name="well").click()
    assert (title.inner_text(), numbers(tab)) == (f"{len(kept)} of 500\u00a0rules", first(kept, "size"))
    kept = kept[kept["support"] >= 0.2]
    tab.get_by_label("Support", exact=True).select_option("covers ≥ 20\u00a0%")
    kept = kept[kept["literals"] <= 1]
    tab.get_by_label("Length", exact=True).select_option("1 literal")
    assert (title.inner_text(), numbers(tab)) == (f"{len(kept)} of 500\u00a0rules", first(kept, "size"))
    tab.get_by_role("button", name="Show all").click()
    never = rules[rules["rows"] == 0]
    assert len(never) > 3
    tab.get_by_label("Flags", exact=True).select_option(f"never true ({len(never)})")
    assert numbers(tab) == first(never, "size")
    assert tab.locator("img").count() == 0


@pytest.mark.browser
def test_table_sorts_by_its_headings(tab: Any) -> None:
    tab.get_by_role("button", name="Table", exact=True).click()
    heading = tab.get_by_role("columnheader", name="support").first
    heading.get_by_role("button").click()
    assert (numbers(tab), heading.get_attribute("aria-sort")) == (first(counted(), "support"), "descending")
    heading.get_by_role("button").press("Enter")
    least = counted()["support"].min()
    assert (heading.get_attribute("aria-sort"), set(counted()["support"].loc[numbers(tab)])) == (
        "ascending",
        {least},
    )


@pytest.mark.browser
def test_a_rule_is_switched_and_its_rows_shown_by_the_keyboard(tab: Any) -> None:
    rules = counted()
    order = rules.sort_values("size", ascending=False).index.tolist()
    tab.locator(f"[data-number='{order[0]}'] [data-part=switch]").focus()
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Space")
    tab.get_by_text("499 in use").wait_for(timeout=20_000)
    tab.get_by_role("switch", name=f"Use rule {order[1]}", exact=True, checked=False).wait_for(timeout=20_000)
    tab.get_by_role("button", name="Undo").press("Enter")
    tab.get_by_text("500 in use").wait_for(timeout=20_000)
    tab.get_by_role("switch", name=f"Use rule {order[1]}", exact=True, checked=True).wait_for(timeout=20_000)
    tab.locator(f"[data-number='{order[1]}'] [data-part=switch]").focus()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Enter")
    row = rules.loc[order[1]]
    words = f"Rule {order[1]} covers {row['rows']:.0f} of 300\u00a0training rows, {row['right']:.0f} right"
    tab.get_by_role("heading", name=words).wait_for(timeout=20_000)
    n_wrong = int(row["rows"] - row["right"])
    tab.get_by_role("button", name=f"training: {row['rows']:.0f} rows, {n_wrong} wrong").wait_for(
        timeout=20_000
    )
    told = tab.locator(".covered .inner .line > :nth-child(2)").all_inner_texts()
    assert told == (["✕ wrong"] * n_wrong + ["✓ right"] * N_RULES)[: len(told)]
    assert len(told) > 5
    tab.keyboard.press("End")
    assert int(tab.evaluate(FOCUSED)) == order[-1]
    assert numbers(tab, N_RULES)[-1] == order[-1]
