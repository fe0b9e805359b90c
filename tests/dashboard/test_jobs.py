"""Training threads: what they learn is what the run alone would learn, and commands take effect at once."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import pytest

from dashboard import jobs, showing
from dashboard.jobs import Job
from dashboard.slots import Slots
from tmcore.parameters import Parameters
from tmcore.training import TrainingRun

N = 80
Make = Callable[..., Job]
Until = Callable[..., None]


def table() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"a": rng.normal(size=N + 20).round(2), "b": rng.integers(0, 4, N + 20)})
    return X, pd.Series(np.where(X["a"] > 0.2, "yes", "no"))


def parameters(**changes: object) -> Parameters:
    return Parameters(n_clauses=10, epochs=3, random_state=7).replace(**changes)


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[Job] = []

    def build(**changes: object) -> Job:
        X, y = table()
        made.append(Job(X[:N], y[:N], X[N:], y[N:], parameters(**changes), "made up"))
        assert made[-1].wait_until_idle(120)
        return made[-1]

    yield build
    for job in made:
        job.close()


def alone(rows: int, **changes: object) -> TrainingRun:
    X, y = table()
    run = TrainingRun(X[:N], y[:N], parameters(**changes), validation=(X[N:], y[N:]))
    run.learn(rows)
    return run


def same_bank(job: Job, run: TrainingRun) -> bool:
    mine, other = job.latest.bank if job.latest else None, run.snapshot().bank
    return mine is not None and all(
        np.array_equal(getattr(mine, name), getattr(other, name))
        for name in ("lower", "upper", "lower_included", "upper_included", "weights")
    )


def test_starts_ready_with_a_snapshot_of_nothing_learned(make: Make) -> None:
    job = make()
    assert job.state == "ready"
    assert job.latest is not None
    assert job.latest.step == 0
    assert same_bank(job, alone(0))


def test_learns_bit_for_bit_what_the_run_alone_learns(make: Make) -> None:
    job = make()
    job.one_row()
    assert job.wait_until_idle(5)
    job.one_epoch()
    assert job.wait_until_idle(5)
    job.set_speed("max")
    job.play()
    assert job.wait_until_idle(10)
    assert job.state == "finished"
    assert job.latest is not None
    assert job.latest.step == 3 * N
    assert same_bank(job, alone(3 * N))


def test_one_row_and_one_epoch_learn_that_many_rows_and_pause(make: Make) -> None:
    job = make()
    for command, step in ((job.one_row, 1), (job.one_row, 2), (job.one_epoch, 2 + N)):
        command()
        assert job.wait_until_idle(5)
        assert job.run is not None
        assert job.run.step == step
        assert job.state == "paused"


def test_play_goes_on_for_as_many_epochs_again(make: Make) -> None:
    job = make()
    job.set_speed("max")
    for epochs in (3, 6):
        job.play()
        assert job.wait_until_idle(10)
        assert job.state == "finished"
        assert job.latest is not None
        assert job.latest.epoch == epochs


def test_play_goes_on_to_the_next_end_after_single_epochs_beyond_the_last(make: Make) -> None:
    job = make(epochs=2)
    for _ in range(5):
        job.one_epoch()
        assert job.wait_until_idle(10)
    job.set_speed("max")
    job.play()
    assert job.wait_until_idle(10)
    assert job.latest is not None
    assert (job.state, job.latest.epoch) == ("finished", 6)


def test_pause_takes_effect_long_before_the_end(make: Make, until: Until) -> None:
    job = make(epochs=100_000)
    job.set_speed("max")
    for _ in range(5):
        job.play()
        until(lambda: job.state == "learning")
        job.pause()
        job.pause()
        assert job.wait_until_idle(20)
        assert job.state == "paused"
    step = job.latest.step if job.latest else 0
    time.sleep(0.1)
    assert job.latest is not None
    assert job.latest.step == step > 0


def test_at_normal_speed_about_an_epoch_a_second_in_small_steps(make: Make) -> None:
    job = make()
    began = time.monotonic()
    job.play()
    time.sleep(1.0)
    job.pause()
    assert job.wait_until_idle(20)
    steps = [moment.step for moment in job.history()]
    assert 0.2 * N < steps[-1] < 1.3 * N * (time.monotonic() - began)
    assert len(steps) > 8
    assert np.diff(steps).max() <= 0.4 * N


def test_reset_gives_the_same_beginning(make: Make) -> None:
    job = make()
    job.one_epoch()
    assert job.wait_until_idle(5)
    job.reset()
    assert job.wait_until_idle(5)
    assert job.state == "ready"
    assert len(job.history()) == 1
    assert same_bank(job, alone(0))


def test_settings_change_from_the_next_row_on_and_are_logged(make: Make) -> None:
    job = make()
    job.one_epoch()
    assert job.wait_until_idle(5)
    job.change(s=4.0)
    job.one_epoch()
    assert job.wait_until_idle(5)
    assert job.run is not None
    assert [(c.step, c.name, c.value) for c in job.run.changes] == [(N, "s", 4.0)]
    expected = alone(N)
    expected.change(s=4.0)
    expected.learn(N)
    assert same_bank(job, expected)
    with pytest.raises(ValueError, match=r"s is 0\.5"):
        job.change(s=0.5)
    with pytest.raises(ValueError, match="n_clauses cannot change while running"):
        job.change(n_clauses=20)


def test_a_lapsed_lease_pauses_and_play_goes_on(
    make: Make, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = make(epochs=1000)
    monkeypatch.setattr(jobs, "LEASE_SECONDS", 0.1)
    job.play()
    assert job.wait_until_idle(20)
    assert (job.state, job.lapsed) == ("paused", True)
    monkeypatch.setattr(jobs, "LEASE_SECONDS", 20.0)
    job.play()
    until(lambda: (job.state, job.lapsed) == ("learning", False))


def test_one_run_too_many_waits_and_starts_by_itself(
    make: Make, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_slots", Slots(2))
    four = [make(epochs=1000) for _ in range(4)]
    for job in four:
        job.play()
        until(lambda job=job: job.state == "learning" or job.waiting)
    assert [job.state for job in four] == ["learning"] * 2 + ["ready"] * 2
    assert [job.waiting for job in four] == [False] * 2 + [True] * 2
    for ended, next_one in ((four[1], four[2]), (four[0], four[3])):
        ended.pause()
        until(lambda job=next_one: (job.state, job.waiting) == ("learning", False))  # the one that came first


def test_eight_runs_at_full_speed_take_turns_and_obey(make: Make, until: Until) -> None:
    eight = [make(epochs=100_000) for _ in range(8)]
    for job in eight:
        job.set_speed("max")
        job.play()
    until(lambda: all(job.state == "learning" for job in eight))
    time.sleep(1.0)
    steps = [job.run.step for job in eight if job.run is not None]
    assert min(steps) > 0.1 * max(steps) > 0
    for job in eight[:4]:
        job.pause()
        assert job.wait_until_idle(20)
        assert job.state == "paused"


def test_an_error_is_a_state_with_one_sentence() -> None:
    X = pd.DataFrame({"a": [1.0, np.inf, 2.0, 3.0]})
    y = pd.Series([0, 1, 0, 1])
    job = Job(X, y, X[:0], y[:0], parameters(), "broken")
    assert job.wait_until_idle(120)
    assert job.state == "failed"
    assert job.error is not None
    assert "'a'" in job.error
    assert job.latest is None
    job.play()
    assert not job.busy  # nothing comes any more, and a page that asks on would ask for ever
    assert job.state == "failed"


def test_a_closed_job_keeps_what_it_learned_and_takes_no_commands(make: Make) -> None:
    job = make()
    job.one_row()
    assert job.wait_until_idle(5)
    job.close()
    assert job.wait_until_idle(5)
    job.play()
    assert not job.busy
    assert job.latest is not None
    assert job.latest.step == 1


def test_a_setting_changed_before_the_run_exists_is_its_first_setting(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "wait_for_kernels", lambda seconds: ready.wait(seconds))
    ready = threading.Event()
    X, y = table()
    job = Job(X[:N], y[:N], X[N:], y[N:], parameters(), "early")
    assert job.state == "compiling"
    job.change(s=5.0)
    ready.set()
    assert job.wait_until_idle(60)
    assert job.run is not None
    assert job.run.parameters.s == 5.0
    assert job.run.changes == []
    job.close()


def test_where_scores_cost_much_the_clauses_are_shown_between(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(showing, "CHEAP_SECONDS", 0.0)
    monkeypatch.setattr(showing, "SCORE_SHARE", 1e6)
    job = make()
    job.one_epoch()
    assert job.wait_until_idle(10)
    scored = [m.step for m in job.history() if m.scores is not None]
    assert len(job.history()) > 2
    assert scored == [0, N]  # the beginning, and once more when it rests
    run = alone(N)
    assert same_bank(job, run)
    assert job.latest is not None
    assert job.latest.scores == run.snapshot().scores


def test_works_without_test_rows() -> None:
    X, y = table()
    job = Job(X, y, X[:0], y[:0], parameters(), "no test")
    assert job.wait_until_idle(120)
    assert job.latest is not None
    assert job.latest.scores.test_accuracy is None
    job.close()


def test_settling_keeps_scores_before_and_after(make: Make) -> None:
    job = make()
    job.one_epoch()
    assert job.wait_until_idle(5)
    before = job.latest
    job.settle()
    assert job.wait_until_idle(30)
    assert job.state == "settled"
    outcome, estimator = job.outcome, job.settled
    assert outcome is not None
    assert estimator is not None
    assert before is not None
    assert outcome.before.scores.test_accuracy == before.scores.test_accuracy
    assert outcome.before.n_literals == before.n_literals
    right = estimator.predict(job.X_test) == job.y_test.to_numpy()
    assert outcome.after.scores.test_accuracy == pytest.approx(right.mean())
    assert outcome.after.n_rules == len(estimator.rules_)
    job.one_row()
    assert job.wait_until_idle(5)
    assert job.settled is None  # the clauses are no longer those that were settled


def test_a_job_that_nobody_holds_ends_its_thread(make: Make) -> None:
    X, y = table()
    before = {t.ident for t in threading.enumerate()}
    job = Job(X[:N], y[:N], X[N:], y[N:], parameters(epochs=1000), "left")
    assert job.wait_until_idle(60)
    mine = [t for t in threading.enumerate() if t.ident not in before and t.name == "job"]
    assert len(mine) == 1
    job.play()
    time.sleep(0.1)
    del job
    gc.collect()
    mine[0].join(20)
    assert not mine[0].is_alive()
