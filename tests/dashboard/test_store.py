"""Kept runs: each owner sees only its own, and a killed server costs seconds, not the run."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import jobs, keeping, session, store
from dashboard.cli import main, parser
from dashboard.data_folder import FOLDER_VARIABLE, default_folder
from dashboard.history import History
from dashboard.jobs import Job
from dashboard.session import Session
from dashboard.store import Keeper, Store
from tmcore import files
from tmcore.parameters import Parameters
from tmcore.table import read_table
from tmcore.training import TrainingRun

N = 80
PARAMETERS = Parameters(n_clauses=10, epochs=300, random_state=7, weights="real")


def table() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"a": rng.normal(size=N + 20).round(2), "b": rng.choice(["u", "v", "w"], N + 20)})
    return X, pd.Series(np.where(X["a"] > 0.2, "yes", "no"))


def make_job(keeper: Keeper | None = None, **changes: object) -> Job:
    X, y = table()
    job = Job(X[:N], y[:N], X[N:], y[N:], PARAMETERS.replace(**changes), "made up", keeper=keeper)
    assert job.wait_until_idle(120)
    return job


def wait_for(condition: object, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.02)


def trained(rows: int) -> TrainingRun:
    X, y = table()
    run = TrainingRun(X[:N], y[:N], PARAMETERS, validation=(X[N:], y[N:]))
    run.learn(rows)
    return run


def same(one: TrainingRun, other: TrainingRun) -> bool:
    mine, its = one.machine.state, other.machine.state
    return (
        mine.step == its.step
        and np.array_equal(mine.planes, its.planes)
        and np.array_equal(mine.weights, its.weights)
    )


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "kept"))
    found = store.current()
    assert found is not None
    return found


def test_a_run_comes_back_as_it_was_saved(kept: Store) -> None:
    run = trained(100)
    run.snapshot()
    run_id = kept.add("ann", "Hearts <b>", PARAMETERS, 500, run)
    run.change(s=4.0)
    run.advance(samples=60)
    assert kept.update(run_id, run.parameters, 500, run)
    line, loaded = kept.load("ann", run_id)
    assert (line.name, line.step, line.end_step, line.parameters.s, line.n_rows) == (
        "Hearts <b>",
        160,
        500,
        4.0,
        N,
    )
    assert line.epoch == 2
    assert line.test_accuracy == run.history[-1].test_accuracy
    assert same(run, loaded)
    run.learn(77)
    loaded.learn(77)
    assert same(run, loaded)


def test_owners_see_their_own_runs_only_and_keys_are_not_written(kept: Store) -> None:
    ids = {owner: kept.add(owner, "made up", PARAMETERS, 1, trained(5)) for owner in ("ann-key", "bob-key")}
    assert [run.id for run in kept.runs("ann-key")] == [ids["ann-key"]]
    assert kept.runs("") == kept.runs("eve") == []
    with pytest.raises(ValueError, match="not kept any more"):
        kept.load("bob-key", ids["ann-key"])
    kept.delete("bob-key", ids["ann-key"])
    kept.delete("eve")
    assert len(kept.runs("ann-key")) == 1
    assert b"bob-key" not in (kept.folder / "runs.sqlite").read_bytes()
    kept.delete("ann-key")
    assert kept.runs("ann-key") == []
    assert [folder.name for folder in (kept.folder / "runs").iterdir()] == [ids["bob-key"]]


def test_a_failed_write_leaves_the_last_state(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run = trained(40)
    run_id = kept.add("ann", "made up", PARAMETERS, 500, run)
    kept.update(run_id, PARAMETERS, 500, run)
    run.learn(10)
    with monkeypatch.context() as patched:
        patched.setattr(files.os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(OSError, match="disk full"):
            kept.update(run_id, PARAMETERS, 500, run)
    assert kept.load("ann", run_id)[1].step == 40
    assert sorted(path.name for path in (kept.folder / "runs" / run_id).iterdir()) == ["progress", "rows"]


def test_damaged_or_lost_files_are_one_sentence(kept: Store) -> None:
    run_id = kept.add("ann", "made up", PARAMETERS, 500, trained(5))
    rows = kept.folder / "runs" / run_id / store.ROWS
    rows.write_bytes(rows.read_bytes()[:100])
    with pytest.raises(ValueError, match="damaged"):
        kept.load("ann", run_id)
    rows.unlink()
    with pytest.raises(ValueError, match="files of the run on made up are gone"):
        kept.load("ann", run_id)


def test_a_job_is_kept_when_it_pauses_and_goes_on_bit_for_bit(kept: Store) -> None:
    job = make_job(Keeper(kept, "ann"))
    job.one_row()
    assert job.wait_until_idle(5)
    job.one_epoch()
    assert job.wait_until_idle(5)
    wait_for(lambda: kept.runs("ann") and kept.runs("ann")[0].step == N + 1)
    job.close()
    current = Session(owner="ann")
    keeping.open_run(current, kept.runs("ann")[0].id)
    again = current.job
    assert again is not None
    assert again.wait_until_idle(60)
    assert (again.state, again.name, again.end_step) == ("paused", "made up", 300 * N)
    again.one_epoch()
    assert again.wait_until_idle(5)
    assert again.run is not None
    assert same(again.run, trained(2 * N + 1))
    wait_for(lambda: kept.runs("ann")[0].step == 2 * N + 1)
    assert len(kept.runs("ann")) == 1
    again.settle()
    assert again.wait_until_idle(60)
    X, y = table()
    assert again.outcome is not None
    assert again.settled is not None
    assert again.outcome.after.test_accuracy == pytest.approx((again.settled.predict(X[N:]) == y[N:]).mean())
    again.reset()
    assert again.wait_until_idle(20)
    again.one_epoch()
    assert again.wait_until_idle(5)
    assert same(again.run, trained(N))
    wait_for(lambda: [run.step for run in kept.runs("ann")] == [N])  # the run started over took its place
    current.drop_job("the test ends")


def test_a_new_run_with_other_settings_uses_the_kept_rows(kept: Store) -> None:
    run_id = kept.add("ann", "made up", PARAMETERS, 500, trained(30))
    current = Session(owner="ann")
    keeping.open_run(current, run_id)
    for changes, state in (
        ({"n_clauses": 20, "representation": "thresholds"}, "ready"),
        ({"max_levels": 9}, "failed"),
    ):
        job = keeping.new_job(current, PARAMETERS.replace(**changes))
        assert job.wait_until_idle(60)
        assert job.state == state
        job.close()
    assert job.error is not None
    assert "open the data again" in job.error
    current.drop_job("the test ends")


def test_the_past_of_a_kept_run_is_drawn_from_its_checkpoints() -> None:
    run = trained(0)
    run.checkpoints.spacing = 0.0
    for _ in range(4):
        run.advance(epochs=1)
    moments = History.of(run).moments()
    assert len(moments) > 2
    for moment in moments:
        np.testing.assert_array_equal(moment.lower, run.at(moment.step).bank.lower)
    assert moments[-1].train_accuracy in [record.train_accuracy for record in run.history]


def test_deleting_a_run_that_learns_ends_its_keeping(kept: Store) -> None:
    job = make_job(Keeper(kept, "ann"))
    job.one_row()
    wait_for(lambda: kept.runs("ann"))
    kept.delete("ann")
    job.one_row()
    assert job.wait_until_idle(5)
    assert job.keeper is not None
    wait_for(lambda: job.keeper and job.keeper.problem)
    assert job.keeper.problem.startswith("This run was deleted")
    assert kept.runs("ann") == []
    job.close()


def test_a_folder_that_cannot_be_written_stops_keeping_not_learning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    job = make_job(Keeper(Store(tmp_path / "file"), "ann"))
    job.one_epoch()
    assert job.wait_until_idle(5)
    assert job.state == "paused"
    assert job.keeper is not None
    wait_for(lambda: job.keeper and job.keeper.problem)
    assert "not kept on this machine" in job.keeper.problem
    job.close()


def test_a_lapsed_lease_saves_and_ends_the_thread_until_the_next_command(
    kept: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {thread.ident for thread in threading.enumerate()}
    job = make_job(Keeper(kept, "ann"))
    monkeypatch.setattr(jobs, "LEASE_SECONDS", 0.3)
    job.play()
    wait_for(lambda: job.lapsed)
    wait_for(lambda: not [t for t in threading.enumerate() if t.ident not in before and t.name == "job"])
    assert job.state == "paused"
    assert job.run is not None
    assert kept.runs("ann")[0].step == job.run.step > 0
    step = job.run.step
    job.one_row()
    assert job.wait_until_idle(5)
    assert job.run.step == step + 1
    job.close()


PROGRAM = """
import sys, time
sys.path.insert(0, sys.argv[1])
import test_store as t
t.store.SECONDS_BETWEEN_SAVES, t.store.SAVING_SHARE = 0.05, 0.0
job = t.make_job(t.Keeper(t.Store(t.Path(sys.argv[2])), "ann"))
job.set_speed("max")
job.play()
print("playing", flush=True)
while True:
    job.renew()
    time.sleep(0.1)
"""


def test_killed_at_any_moment_the_run_goes_on_bit_for_bit(kept: Store) -> None:
    for seconds in (0.4, 0.77):
        child = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(Path(__file__).parent), str(kept.folder)],
            stdout=subprocess.PIPE,
        )
        assert child.stdout is not None
        assert child.stdout.readline() == b"playing\n"
        wait_for(lambda: kept.runs("ann"), 30)
        time.sleep(seconds)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        line, run = kept.load("ann", kept.runs("ann")[0].id)
        assert run.step > 0
        assert line.step <= run.step
        run.learn(123)
        assert same(run, trained(run.step))
        kept.delete("ann")


def test_what_a_killed_server_left_is_swept_up(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = kept.add("ann", "made up", PARAMETERS, 500, trained(5))
    left = kept.folder / "runs" / "left"
    left.mkdir()
    kept.prepare()
    assert left.exists()
    monkeypatch.setattr(store, "LEFT_SECONDS", -1.0)
    kept.prepare()
    assert [folder.name for folder in (kept.folder / "runs").iterdir()] == [run_id]


# The pages ---------------------------------------------------------------------------------------------------------

APP = Path(session.__file__).parent / "app.py"


def test_without_a_folder_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    assert store.current() is None
    current = Session(owner="ann")
    current.open_table(read_table(csv()), "made up", csv())
    current.train_on()
    job = keeping.new_job(current, PARAMETERS)
    assert job.keeper is None
    job.close()


def test_the_command_line_says_where_runs_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert default_folder() == tmp_path / "tsetlin-dashboard"
    assert parser().parse_args([]).data_dir == tmp_path / "tsetlin-dashboard"
    (tmp_path / "file").write_text("in the way")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    assert main(["--port", str(port), "--data-dir", str(tmp_path / "file" / "kept")]) == 1
    assert "Choose another folder with --data-dir, or --no-store." in capsys.readouterr().err


def csv() -> bytes:
    return ("a,b,class\n" + "\n".join(f"{i % 13},{i % 4},{'xy'[i % 2]}" for i in range(60))).encode()


def visit(key: str | None = None) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=60)
    if key is not None:
        app.query_params[keeping.ADDRESS_KEY] = key
    app.run()
    assert not app.exception
    return app


def session_of(app: AppTest) -> Session:
    found = app.session_state[session.KEY]
    assert isinstance(found, Session)
    return found


@pytest.fixture
def no_sessions() -> Iterator[None]:
    gc.collect()
    yield
    gc.collect()


def test_the_address_holds_a_key_and_a_second_tab_joins(kept: Store, no_sessions: None) -> None:
    first = visit()
    key = session_of(first).owner
    assert len(key) >= 20
    assert first.query_params[keeping.ADDRESS_KEY] in (key, [key])
    assert session_of(visit(key)) is session_of(first)
    assert session_of(visit()).owner != key
    made_up = session_of(visit("a-key-that-somebody-made-up"))
    assert made_up.owner not in ("a-key-that-somebody-made-up", key)


def test_after_a_restart_the_last_run_is_opened_and_listed(kept: Store, no_sessions: None) -> None:
    owner = "kept-from-before-the-restart"
    kept.add(owner, "Old", PARAMETERS, 500, trained(20))
    run_id = kept.add(owner, "New <b>*x*</b>", PARAMETERS, 500, trained(40))
    kept.add("bob", "Secret", PARAMETERS, 500, trained(40))
    app = visit(owner)
    current = session_of(app)
    assert current.job is not None
    assert current.job.wait_until_idle(60)
    assert current.job.keeper is not None
    assert current.job.keeper.run_id == run_id
    words = " ".join(text.value.replace("\\", "") for text in app.markdown)
    assert "New <b>*x*</b>" in words
    assert "Old" in words
    assert "Secret" not in words
    assert any("encoded numbers" in text.value for text in app.caption)
    next(b for b in app.button if b.label == "Delete all").click().run()
    assert kept.runs(owner) == []
    assert len(kept.runs("bob")) == 1
    current.drop_job("the test ends")


# In the browser ----------------------------------------------------------------------------------------------------

ROOT = """(body) => {
  for (const host of document.querySelectorAll("[data-testid=stBidiComponentIsolated]")) {
    const root = host.shadowRoot && host.shadowRoot.querySelector(".live");
    if (root) return new Function("root", "return " + body)(root);
  }
  return null;
}"""


class Server:
    """A dashboard of its own that can be killed and started again at the same address."""

    def __init__(self, folder: Path, lease: float) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.folder, self.lease = folder, lease
        self.address = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        with (self.folder / "server.log").open("a") as log:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "dashboard.cli",
                    "--no-browser",
                    "--port",
                    str(self.port),
                    "--data-dir",
                    "kept",
                ],
                cwd=self.folder,
                env={**os.environ, "HOME": str(self.folder), "TSETLIN_LEASE_SECONDS": str(self.lease)},
                stdout=log,
                stderr=log,
            )
        wait_for(self._answers, 90)

    def _answers(self) -> bool:
        with (
            contextlib.suppress(OSError),
            urllib.request.urlopen(f"{self.address}/_stcore/health", timeout=2),
        ):
            return True
        return False

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    @property
    def n_threads(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"Threads:\s+(\d+)", status).group(1))  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("kept"), lease=3.0)
    yield made
    made.kill()


@pytest.fixture
def visitor(browser: Any, server: Server) -> Iterator[Any]:
    """Opens pages of a new visitor each, on Heart with a run that is ready."""
    contexts = []

    def arrive() -> Any:
        contexts.append(browser.new_context(viewport={"width": 1280, "height": 1000}))
        page = contexts[-1].new_page()
        page.goto(server.address)
        page.get_by_role("button", name="Open Heart").click(timeout=90_000)
        page.get_by_role("button", name="Train on this").click(timeout=60_000)
        shows(page, "root.dataset.state == 'ready' && Number(root.dataset.painted) > 0", 120)
        return page

    yield arrive
    for context in contexts:
        context.close()


def ask(page: Any, body: str) -> Any:
    return page.evaluate(ROOT, body)


def shows(page: Any, condition: str, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not ask(page, condition):
        assert time.monotonic() < end, (
            f"{condition} did not come true: {ask(page, 'JSON.stringify(root.dataset)')}"
        )
        page.wait_for_timeout(50)


def step(page: Any) -> int:
    return int(ask(page, "root.dataset.step") or 0)


def play(page: Any) -> None:
    page.keyboard.press(" ")
    shows(page, "root.dataset.confirmed == 'learning' && Number(root.dataset.step) > 20")


@pytest.mark.browser
def test_a_reload_and_a_second_tab_find_the_run(visitor: Any) -> None:
    page = visitor()
    play(page)
    before = step(page)
    assert keeping.ADDRESS_KEY + "=" in page.url
    page.reload()
    shows(page, f"Number(root.dataset.step) > {before}", 60)
    assert ask(page, "root.dataset.confirmed") == "learning"
    second = page.context.new_page()
    second.goto(page.url)
    shows(second, f"Number(root.dataset.step) > {before}", 60)
    second.keyboard.press(" ")
    shows(second, "root.dataset.confirmed == 'paused'")
    shows(page, "root.dataset.confirmed == 'paused'")
    assert step(page) == step(second)


@pytest.mark.browser
def test_a_killed_server_costs_seconds_and_the_run_goes_on(visitor: Any, server: Server) -> None:
    page = visitor()
    play(page)
    page.wait_for_timeout(5000)
    reached, address = step(page), page.url
    server.kill()
    page.wait_for_timeout(500)
    server.start()
    page.goto(address)
    shows(page, "root.dataset.state == 'paused'", 90)
    assert step(page) > 0.2 * reached
    assert step(page) <= reached + 500
    kept_at = step(page)
    page.keyboard.press("n")
    shows(page, f"root.dataset.step == '{kept_at + 1}'")
    page.get_by_role("link", name="Data").click()
    page.get_by_text("Kept on this machine").wait_for(timeout=30_000)


@pytest.mark.browser
def test_two_visitors_never_see_each_other(visitor: Any, browser: Any, server: Server) -> None:
    page = visitor()
    play(page)
    stranger = browser.new_context()
    other = stranger.new_page()
    other.goto(server.address)
    other.get_by_role("button", name="Open Heart").wait_for(timeout=60_000)
    assert other.get_by_text("Your runs").count() == 0
    assert other.url.split("=")[1] != page.url.split("=")[1]
    other.goto(f"{server.address}/train")
    other.get_by_text("No data yet").first.wait_for(timeout=30_000)
    stranger.close()


@pytest.mark.browser
def test_closed_tabs_leave_no_thread_after_the_lease(visitor: Any, server: Server) -> None:
    pages = [visitor() for _ in range(3)]
    for page in pages:
        play(page)
    during = server.n_threads
    for page in pages:
        page.context.close()
    wait_for(lambda: server.n_threads <= during - len(pages), 30)
