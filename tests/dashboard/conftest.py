"""Fixtures of the dashboard's tests: a store, and a server with visitors in Chromium."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard import store
from dashboard.data_folder import FOLDER_VARIABLE
from dashboard.jobs import Job
from dashboard.saving import Keeper
from dashboard.splitting import Split
from dashboard.store import Store
from tmcore.estimators import TsetlinClassifier
from tmcore.parameters import Parameters
from tmcore.training import TrainingRun

LIVE = """(body) => {
  for (const host of document.querySelectorAll("[data-testid=stBidiComponentIsolated]")) {
    const root = host.shadowRoot && host.shadowRoot.querySelector(".live");
    if (root) return new Function("root", "return " + body)(root);
  }
  return null;
}"""

Until = Callable[..., None]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store that keeping uses, empty."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "kept"))
    found = store.current()
    assert found is not None
    return found


@pytest.fixture(scope="session")
def until() -> Until:
    """Waits until a condition holds."""

    def wait(condition: Callable[[], Any], seconds: float = 20.0) -> None:
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"not within {seconds:g} s"
            time.sleep(0.02)

    return wait


class MadeUp:
    """A small table, runs and jobs on it."""

    N = 80
    PARAMETERS = Parameters(n_clauses=10, epochs=300, random_state=7, weights="real")

    @staticmethod
    def rows() -> tuple[pd.DataFrame, pd.Series]:
        rng = np.random.default_rng(3)
        X = pd.DataFrame({"a": rng.normal(size=100).round(2), "b": rng.choice(["u", "v", "w"], 100)})
        return X, pd.Series(np.where(X["a"] > 0.2, "yes", "no"))

    @classmethod
    def trained(cls, n_rows: int) -> TrainingRun:
        """A run that has learned so many rows."""
        X, y = cls.rows()
        run = TrainingRun(X[: cls.N], y[: cls.N], cls.PARAMETERS, validation=(X[cls.N :], y[cls.N :]))
        run.learn(n_rows)
        return run

    @staticmethod
    def same(one: TrainingRun, other: TrainingRun) -> bool:
        """Whether two runs stand at the same step with the same clauses."""
        mine, its = one.machine.state, other.machine.state
        return (
            mine.step == its.step
            and np.array_equal(mine.planes, its.planes)
            and np.array_equal(mine.weights, its.weights)
        )

    @classmethod
    def job(cls, keeper: Keeper | None = None, **changes: object) -> Job:
        """A job that is ready."""
        X, y = cls.rows()
        parameters = cls.PARAMETERS.replace(**changes)
        job = Job(X[: cls.N], y[: cls.N], X[cls.N :], y[cls.N :], parameters, "made up", keeper=keeper)
        assert job.wait_until_idle(120)
        return job

    @classmethod
    def settled(cls, split: Split, n_rows: int) -> TsetlinClassifier:
        """A run on other rows that has learned so many of them, settled."""
        test = split.X_test, split.y_test
        run = TrainingRun(
            split.X_train, split.y_train, cls.PARAMETERS, test, positive_class=split.positive_class
        )
        run.learn(n_rows)
        return run.settle()

    @staticmethod
    def settle(job: Job) -> TsetlinClassifier:
        """A job's run, settled by the job."""
        job.settle()
        assert job.wait_until_idle(60)
        assert job.settled is not None
        return job.settled

    @staticmethod
    def keep(kept: Store, owner: str, run: TrainingRun, name: str = "made up", end_step: int = 500) -> str:
        """Keep a run; its id."""
        run_id = kept.write_rows(run)
        kept.enter(run_id, owner, name, run.parameters, end_step, run)
        return run_id


@pytest.fixture(scope="session")
def made_up() -> type[MadeUp]:
    """Runs and jobs on a small table."""
    return MadeUp


class Server:
    """A dashboard of its own that can be killed and started again at the same address."""

    def __init__(self, folder: Path, until: Until, *options: str, **environment: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.folder, self.options, self.environment, self.until = folder, options, environment, until
        self.address = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "dashboard.cli", "--no-browser", "--port", str(self.port)]
        with (self.folder / "server.log").open("a") as log:
            self.process = subprocess.Popen(
                [*command, *self.options],
                cwd=self.folder,
                env={**os.environ, "HOME": str(self.folder), **self.environment},
                stdout=log,
                stderr=log,
            )
        self.until(self._answers, 90)

    def _answers(self) -> bool:
        health = f"{self.address}/_stcore/health"
        with contextlib.suppress(OSError), urllib.request.urlopen(health, timeout=2):
            return True
        return False

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def _status(self, name: str) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{name}:\s+(\d+)", status).group(1))  # type: ignore[union-attr]

    @property
    def n_threads(self) -> int:
        return self._status("Threads")

    @property
    def megabytes(self) -> float:
        return self._status("VmRSS") / 1024


class Tab:
    """The dashboard in one browser tab."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def ask(self, body: str) -> Any:
        """A JavaScript expression of ``root``, the live view's element; None where there is none."""
        return self.page.evaluate(LIVE, body)

    def shows(self, condition: str, seconds: float = 30) -> None:
        """Wait until the live view shows something."""
        end = time.monotonic() + seconds
        while not self.ask(condition):
            stands = self.ask("JSON.stringify(root.dataset)")
            assert time.monotonic() < end, f"{condition} did not come true: {stands}"
            self.page.wait_for_timeout(50)

    def choose_heart(self) -> None:
        self.page.get_by_role("button", name="Open Heart").click(timeout=90_000)
        self.page.get_by_role("button", name="Train on this").click(timeout=60_000)

    def is_ready(self) -> None:
        self.shows("root.dataset.state == 'ready' && Number(root.dataset.painted) > 0", 120)

    @property
    def step(self) -> int:
        return int(self.ask("root.dataset.step") or 0)

    def play(self, rows: int = 20) -> None:
        """Press play, and wait until so many rows are learned."""
        self.page.keyboard.press(" ")
        self.shows(f"root.dataset.confirmed == 'learning' && Number(root.dataset.step) > {rows}")


@pytest.fixture
def new_tab(browser: Any) -> Iterator[Callable[..., Tab]]:
    """Opens an address as a visitor never seen before; in a small window there is little to draw."""
    contexts = []

    def arrive(address: str, small: bool = False) -> Tab:
        size = (500, 300) if small else (1280, 1000)
        contexts.append(browser.new_context(viewport={"width": size[0], "height": size[1]}))
        page = contexts[-1].new_page()
        page.goto(address, wait_until="commit")
        return Tab(page)

    yield arrive
    for context in contexts:
        context.close()


@pytest.fixture
def new_run(new_tab: Callable[..., Tab]) -> Callable[[str], Tab]:
    """Opens Heart's Train page at an address as a visitor never seen before."""

    def arrive(address: str) -> Tab:
        tab = new_tab(address)
        tab.choose_heart()
        tab.is_ready()
        return tab

    return arrive


@pytest.fixture(scope="module")
def make_server(tmp_path_factory: pytest.TempPathFactory, until: Until) -> Iterator[Callable[..., Server]]:
    """Starts dashboards with a lease of so many seconds, further options and environment variables."""
    made: list[Server] = []

    def start(lease: float, *options: str, **environment: str) -> Server:
        folder = tmp_path_factory.mktemp("served")
        made.append(Server(folder, until, *options, TSETLIN_LEASE_SECONDS=str(lease), **environment))
        return made[-1]

    yield start
    for server in made:
        server.kill()
