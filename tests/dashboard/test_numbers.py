"""A target that is a number: its split, the frames and facts of the Train page, and settling."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

import numpy as np
import pytest
from houses import PARAMETERS, by_hand, houses, learned, opened
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import train_test_split

from dashboard.live.facts import facts
from dashboard.live.memory import Memory
from dashboard.live.points import FULL
from dashboard.session import Session
from dashboard.style import amount


@pytest.fixture(scope="module")
def trained() -> Iterator[Session]:
    current = learned()
    yield current
    assert current.job is not None
    current.job.close()


@pytest.fixture
def memory(trained: Session) -> Iterator[Memory]:
    assert trained.job is not None
    made = Memory(trained.job)
    made.refresh()
    yield made
    made.close()


def test_rows_are_divided_at_random_with_the_seed() -> None:
    split = opened().split
    assert split is not None
    frame = houses()
    _, expected = train_test_split(frame["price (EUR)"], test_size=30, random_state=0)
    assert split.y_test.tolist() == expected.tolist()
    assert (split.task, split.stratified) == ("numbers", False)
    assert split.note == "120 rows to train on, 30 kept aside, drawn at random."


def test_a_frame_says_mae_and_r2_as_scikit_learn_does(trained: Session, memory: Memory) -> None:
    job = trained.job
    assert job is not None
    told = memory.frame()
    json.dumps(told, allow_nan=False)
    for part, (mae, r2) in by_hand(job).items():
        assert told[part] == pytest.approx(mae, rel=1e-4)
        assert told[f"{part}R2"] == pytest.approx(r2, abs=1e-4)
        assert told["history"][part][-1] == pytest.approx(mae, rel=1e-4)
        assert told["history"][f"{part}R2"][-1] == pytest.approx(1000 * r2, abs=0.5)
    assert told["T"] == PARAMETERS.n_clauses  # "auto" is all clauses
    assert told["sides"] == [20, 0]


def test_the_fit_and_the_residuals_are_those_of_the_votes(trained: Session, memory: Memory) -> None:
    job = trained.job
    assert job is not None
    assert job.run is not None
    memory.view.wants = ("standing",)
    told = memory.frame()["standing"]
    y = np.concatenate([job.y_train, job.y_test])
    places = np.frombuffer(base64.b64decode(told["actual"]), "<u2") / FULL
    assert told["low"] + places * (told["high"] - told["low"]) == pytest.approx(y, abs=0.01)
    assert told["train"] == 120
    places = np.frombuffer(base64.b64decode(told["predicted"]), "<u2") / FULL
    predicted = told["low"] + places * (told["high"] - told["low"])
    assert mean_absolute_error(job.y_test, predicted[120:]) == pytest.approx(
        by_hand(job)["test"][0], abs=0.01
    )
    missed = np.abs(job.y_test - predicted[120:])
    assert told["halfMissed"] == pytest.approx(np.median(missed), abs=0.01)
    assert [sum(counts) for counts in told["residuals"]] == [120, 30]


def test_frames_do_without_what_only_facts_need(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def median(numbers: object) -> float:
        raise AssertionError("a median of all rows for one frame")

    monkeypatch.setattr(np, "median", median)
    assert "testR2" in memory.frame()


def test_facts_divide_the_rows_at_the_median(trained: Session) -> None:
    job = trained.job
    assert job is not None
    assert job.run is not None
    told = facts(job.run, job)
    middle = float(np.median(job.y_train))
    assert told["classes"] == [f"price ≤ {amount(middle, 'EUR')}", f"price > {amount(middle, 'EUR')}"]
    numbers = told["numbers"]
    assert (numbers["unit"], numbers["lowest"]) == ("EUR", job.y_train.min())
    mean = job.y_train.mean()
    assert numbers["meanMisses"] == pytest.approx(mean_absolute_error(job.y_test, np.full(30, mean)))
    area = next(c for c in told["columns"] if c["label"] == "area")
    upper = job.X_train["area (m2)"][job.y_train > middle]
    assert sum(area["counts"][1]) == len(upper)
    assert told["points"]["labels"][:120] == (job.y_train > middle).astype(int).tolist()


def test_going_back_asking_why_and_branching(trained: Session) -> None:
    job = trained.job
    assert job is not None
    assert job.run is not None
    made = Memory(job)
    made.refresh()
    made.take({"number": 1, "commands": [{"id": "a", "name": "go", "value": 77}]})
    told = made.frame()
    assert told["past"]
    assert told["step"] == 77
    made.take({"number": 2, "commands": [{"id": "b", "name": "why", "value": None}]})
    why = made.frame()["why"]
    row = why["row"]
    assert why["target"] == job.y_train.iloc[row]
    span = job.run.target_range
    assert span is not None
    wanted = (why["target"] - span.lowest) / span.width * 20
    assert why["wanted"] == pytest.approx(wanted, abs=1e-3)
    assert why["chance"] == pytest.approx(abs(wanted - min(why["v"], 20)) / 20, abs=1e-4)
    assert any("is too" in line for line in why["clause"]["words"]) or why["chance"] == 0
    made.take({"number": 3, "commands": [{"id": "c", "name": "last_move", "value": None}]})
    json.dumps(made.frame(), allow_nan=False)
    branch = job.run.branch(77, s=2.0)
    assert (branch.step, branch.task.name) == (77, "numbers")
    made.close()


def test_settling_measures_before_and_after(trained: Session) -> None:
    job = trained.job
    assert job is not None
    votes = by_hand(job)
    job.settle()
    assert job.wait_until_idle(60)
    assert job.outcome is not None
    model = job.outcome.estimator
    predicted = model.predict(job.X_test)
    mae, r2 = mean_absolute_error(job.y_test, predicted), r2_score(job.y_test, predicted)
    lines = {name: (before, after) for name, before, after in job.goal.lines(
        job.outcome.before.scores, job.outcome.after.scores)}  # fmt: skip
    assert lines["Unseen rows, mean error (MAE)"] == (amount(votes["test"][0], "EUR"), amount(mae, "EUR"))
    assert lines["Unseen rows, R²"] == (f"{votes['test'][1]:.2f}".replace("-", "−"), f"{r2:.2f}")
    miss = mean_absolute_error(job.y_test, np.full(30, job.y_train.mean()))
    assert amount(miss, "EUR") in job.goal.baseline(job.y_test)
