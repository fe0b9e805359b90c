"""Saving while a run learns: a killed server costs seconds, and keeping that fails never stops learning."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dashboard import jobs, keeping, saving
from dashboard.data_folder import FOLDER_VARIABLE
from dashboard.saving import Keeper
from dashboard.session import Session
from dashboard.store import Store
from tmcore.table import read_table
from tmcore.training import TrainingRun


def test_a_job_is_kept_when_it_pauses_and_goes_on_bit_for_bit(kept: Store, made_up: Any, until: Any) -> None:
    job = made_up.job(Keeper(kept, "ann"))
    job.one_row()
    assert job.wait_until_idle(5)
    job.one_epoch()
    assert job.wait_until_idle(5)
    until(lambda: kept.runs("ann") and kept.runs("ann")[0].step == made_up.N + 1)
    job.close()
    current = Session(owner="ann")
    keeping.open_run(current, kept.runs("ann")[0].id)
    again = current.job
    assert again is not None
    assert again.wait_until_idle(60)
    assert (again.state, again.name, again.end_step) == ("paused", "made up", 300 * made_up.N)
    again.one_epoch()
    assert again.wait_until_idle(5)
    assert again.run is not None
    assert made_up.same(again.run, made_up.trained(2 * made_up.N + 1))
    until(lambda: kept.runs("ann")[0].step == 2 * made_up.N + 1)
    assert len(kept.runs("ann")) == 1
    again.settle()
    assert again.wait_until_idle(60)
    X, y = made_up.rows()
    assert again.outcome is not None
    assert again.settled is not None
    until(lambda: kept.runs("ann")[0].n_rules == len(again.settled.rules_))
    assert kept.runs("ann")[0].test_accuracy == again.outcome.after.scores.test_accuracy
    assert current.kept_or_not.startswith(
        "It is kept: Your runs, on the Data page, opens it again, and settling"
    )
    assert again.outcome.after.scores.test_accuracy == pytest.approx(
        (again.settled.predict(X[made_up.N :]) == y[made_up.N :]).mean()
    )
    again.reset()
    assert again.wait_until_idle(20)
    again.one_epoch()
    assert again.wait_until_idle(5)
    assert made_up.same(again.run, made_up.trained(made_up.N))
    until(
        lambda: [run.step for run in kept.runs("ann")] == [made_up.N]
    )  # the run started over took its place
    current.drop_job("the test ends")


def test_deleting_a_run_that_learns_ends_its_keeping(kept: Store, made_up: Any, until: Any) -> None:
    job = made_up.job(Keeper(kept, "ann"))
    job.one_row()
    until(lambda: kept.runs("ann"))
    kept.delete("ann")
    job.one_row()
    assert job.wait_until_idle(5)
    assert job.keeper is not None
    until(lambda: job.keeper and job.keeper.problem)
    assert job.keeper.problem.startswith("This run was deleted")
    assert kept.runs("ann") == []
    job.close()


def test_a_folder_that_cannot_be_written_stops_keeping_not_learning(
    tmp_path: Path, made_up: Any, until: Any
) -> None:
    (tmp_path / "file").write_text("in the way")
    job = made_up.job(Keeper(Store(tmp_path / "file"), "ann"))
    job.one_epoch()
    assert job.wait_until_idle(5)
    assert job.state == "paused"
    assert job.keeper is not None
    until(lambda: job.keeper and job.keeper.problem)
    assert "not kept on this machine" in job.keeper.problem
    job.close()


def test_a_lapsed_lease_saves_and_ends_the_thread_until_the_next_command(
    kept: Store, monkeypatch: pytest.MonkeyPatch, made_up: Any, until: Any
) -> None:
    before = {thread.ident for thread in threading.enumerate()}
    job = made_up.job(Keeper(kept, "ann"))
    monkeypatch.setattr(jobs, "LEASE_SECONDS", 0.3)
    job.play()
    until(lambda: job.lapsed)
    until(lambda: not [t for t in threading.enumerate() if t.ident not in before and t.name == "job"])
    assert job.state == "paused"
    assert job.run is not None
    assert kept.runs("ann")[0].step == job.run.step > 0
    step = job.run.step
    job.one_row()
    assert job.wait_until_idle(5)
    assert job.run.step == step + 1
    job.close()


def test_large_rows_are_written_while_the_run_learns(
    kept: Store, made_up: Any, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    going = threading.Event()

    def slow(run: TrainingRun, path: Path) -> None:
        assert going.wait(20)
        save_rows(run, path)

    save_rows = TrainingRun.save_rows
    monkeypatch.setattr(TrainingRun, "save_rows", slow)
    monkeypatch.setattr(saving, "SECONDS_BETWEEN_TRIES", 0.0)
    job = made_up.job(Keeper(kept, "ann"))
    job.one_epoch()
    assert job.wait_until_idle(5)
    job.play()
    until(lambda: job.run.step > made_up.N + 10)
    assert kept.runs("ann") == []
    job.reset()  # the rows of the run before are still being written, for nothing
    job.wait_until_idle(5)
    job.play()
    until(lambda: job.run.step > 10)
    going.set()
    until(lambda: kept.runs("ann"))
    job.close()
    until(lambda: kept.runs("ann")[0].step == job.run.step)
    run_id = kept.runs("ann")[0].id
    assert made_up.same(kept.load("ann", run_id)[1], made_up.trained(job.run.step))
    until(lambda: [folder.name for folder in (kept.folder / "runs").iterdir()] == [run_id])


CSV = "a,b,class\n" + "\n".join(f"{i % 13},{'uvw'[i % 3]},{'xy'[i % 13 > 5]}" for i in range(90))

PROGRAM = """
import sys, time
from dashboard import keeping, saving
from dashboard.session import Session
from tmcore.parameters import Parameters
from tmcore.table import read_table

saving.SECONDS_BETWEEN_SAVES, saving.SAVING_SHARE = 0.05, 0.0
source = sys.argv[1].encode()
current = Session(owner="ann")
current.open_table(read_table(source), "made up", source)
current.train_on()
job = keeping.new_job(current, Parameters(n_clauses=10, epochs=30_000, random_state=7, weights="real"))
job.wait_until_idle(60)
job.set_speed("max")
job.play()
while True:
    job.renew()
    print(job.run.step, flush=True)
    time.sleep(0.05)
"""


@pytest.mark.parametrize("seconds", [0.0, 0.03, 0.5, 0.77])
def test_killed_at_any_moment_the_run_goes_on_bit_for_bit(kept: Store, made_up: Any, seconds: float) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, CSV],
        stdout=subprocess.PIPE,
        env={**os.environ, FOLDER_VARIABLE: str(kept.folder)},
    )
    assert child.stdout is not None
    try:
        child.stdout.readline()
        listed = time.monotonic() + (
            30 if seconds > 0.1 else 0
        )  # a busy machine takes a while to the first save
        while time.monotonic() < listed and not kept.runs("ann"):
            time.sleep(0.02)
        time.sleep(seconds)
    finally:
        child.send_signal(signal.SIGKILL)
        told = [int(line) for line in child.stdout.read().split()]
        child.wait()
        child.stdout.close()
    kept.prepare()  # as a server that starts does
    runs = kept.runs("ann")
    if seconds < 0.1 and not runs:
        return  # killed before the first save
    line, run = kept.load("ann", runs[0].id)
    assert line.step <= run.step
    assert seconds < 0.1 or run.step >= told[len(told) // 2] > 0
    expected = Session()
    expected.open_table(read_table(CSV.encode()), "made up", CSV.encode())
    expected.train_on()
    assert expected.split is not None
    trained = kept.table_of(runs[0].id)
    assert trained is not None
    pd.testing.assert_frame_equal(trained.split.X_train, expected.split.X_train)
    split = trained.split
    assert split.positive_class == expected.split.positive_class
    alone = TrainingRun(split.X_train, split.y_train, run.parameters, positive_class=split.positive_class)
    run.learn(123)
    alone.learn(run.step)
    assert made_up.same(run, alone)
