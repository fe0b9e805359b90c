"""What the live view is sent: the numbers of the snapshot, in the order asked for, and nothing that is not JSON."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard.jobs import Job
from dashboard.live.facts import facts
from dashboard.live.payload import frame
from dashboard.live.view import MOST_COLUMNS, View
from tmcore.parameters import Parameters
from tmcore.training import TrainingRun

NAME = "<b>length</b> (mm)"


def table() -> tuple[pd.DataFrame, pd.Series]:
    X = pd.DataFrame(
        {
            NAME: [float(i) for i in range(60)],
            "grade": pd.Categorical(["low", "mid", "high"] * 20, ["low", "mid", "high"], ordered=True),
            "member": ["no", "yes"] * 30,
            "colour": ["red", "green", "blue", "red"] * 15,
            "parts": [1.0, 2.0, np.nan] * 20,
        }
    )
    return X, pd.Series(["late" if i >= 30 else "early" for i in range(60)])


def start(X: pd.DataFrame, y: pd.Series, **changes: Any) -> tuple[Job, TrainingRun]:
    job = Job(X, y, X[:7], y[:7], Parameters(n_clauses=12, epochs=4).replace(**changes), "made up")
    assert job.wait_until_idle(120)
    assert job.run is not None, job.error
    return job, job.run


@pytest.fixture(scope="module")
def started() -> Iterator[tuple[Job, TrainingRun]]:
    job, run = start(*table())
    job.one_epoch()
    assert job.wait_until_idle(10)
    yield job, run
    job.close()


def bytes_of(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), np.uint8)


def arranged(job: Job, run: TrainingRun, **view: Any) -> tuple[View, dict[str, Any]]:
    told = facts(run, job)
    looked = View(**view)
    assert job.latest is not None
    looked.arrange(job.latest, run.encoder, told)
    return looked, frame(job, looked, told["key"])


def test_facts_describe_each_kind_of_column(started: tuple[Job, TrainingRun]) -> None:
    job, run = started
    told = facts(run, job)
    columns = {column["label"]: column for column in told["columns"]}
    assert {label: column["kind"] for label, column in columns.items()} == {
        "<b>length</b>": "numeric",
        "grade": "few",
        "member": "boolean",
        "colour": "category",
        "parts": "few",
    }
    length = columns["<b>length</b>"]
    assert (length["unit"], length["min"], length["max"]) == ("mm", 0.0, 59.0)
    assert len(length["features"][0]["cuts"]) == 59
    # 60 values in 12 bins: the first half is "early" (class 0), the second "late".
    assert length["counts"] == [[5] * 6 + [0] * 6, [0] * 6 + [5] * 6]
    assert columns["grade"]["names"] == ["low", "mid", "high"]
    assert columns["grade"]["counts"] == [[10, 10, 10], [10, 10, 10]]
    assert columns["member"]["counts"] == [[15, 15], [15, 15]]
    y = np.array(table()[1])
    colours = table()[0]["colour"]
    names = columns["colour"]["names"]
    assert columns["colour"]["counts"] == [
        [int(((colours == name) & (y == kind)).sum()) for name in names] for kind in ("early", "late")
    ]
    assert columns["parts"]["features"][0]["gaps"] is True
    assert (told["classes"], told["rows"], told["testRows"]) == (["early", "late"], 60, 7)
    json.dumps(told, allow_nan=False)


def test_facts_keep_their_key_until_the_data_change(started: tuple[Job, TrainingRun]) -> None:
    job, run = started
    key = facts(run, job)["key"]
    assert key == facts(run, job)["key"]
    X, y = table()
    other, other_run = start(X.assign(parts=1.0), y)
    assert facts(other_run, other)["key"] != key
    other.close()


def test_a_frame_holds_the_snapshot_row_by_row(started: tuple[Job, TrainingRun]) -> None:
    job, run = started
    view, told = arranged(job, run, shown=3, sort="number")
    snapshot = job.latest
    assert snapshot is not None
    assert told["rows"] == [0, 2, 4, 1, 3, 5]
    assert told["for"] == 3
    assert told["sides"] == [6, 6]
    shape = (6, len(run.encoder.features))
    bank = snapshot.bank
    assert np.array_equal(bytes_of(told["lower"]).reshape(shape), bank.lower[0][told["rows"]])
    assert np.array_equal(bytes_of(told["upper"]).reshape(shape), bank.upper[0][told["rows"]])
    included = bytes_of(told["included"]).reshape(shape)
    assert np.array_equal(included & 1, bank.lower_included[0][told["rows"]])
    assert np.array_equal(included >> 1, bank.upper_included[0][told["rows"]])
    assert told["rowLiterals"] == [int(snapshot.literals_per_clause[0, j]) for j in told["rows"]]
    assert sum(map(sum, told["lengths"])) == snapshot.n_literals == told["literals"]
    assert (told["step"], told["epoch"], told["state"]) == (60, 1.0, "paused")
    assert told["train"] == pytest.approx(snapshot.scores.train_accuracy, abs=1e-4)
    assert view.feature == 0  # the length alone tells the classes apart
    json.dumps(told, allow_nan=False)


def test_sorting_by_length_and_by_weight(started: tuple[Job, TrainingRun]) -> None:
    job, run = started
    snapshot = job.latest
    assert snapshot is not None
    for sort, values in (("literals", snapshot.literals_per_clause[0]), ("weight", snapshot.bank.weights[0])):
        _, told = arranged(job, run, shown=12, sort=sort)
        first, second = told["rows"][: told["for"]], told["rows"][told["for"] :]
        assert sorted(first + second) == list(range(12))
        assert all(j % 2 == 0 for j in first)
        for side in (first, second):
            assert (np.diff([int(values[j]) for j in side]) <= 0).all()


def test_votes_count_every_training_row_once(started: tuple[Job, TrainingRun]) -> None:
    job, run = started
    _, told = arranged(job, run)
    votes = told["votes"]
    assert (sum(votes["mine"]), sum(votes["others"])) == (30, 30)
    assert job.latest is not None
    sums = job.latest.votes[:, 0]
    right = np.where(table()[1] == job.run.classes[1], sums, -sums) if job.run else sums
    assert votes["reached"] == int((right >= 3).sum())  # T is a quarter of 12 clauses
    middle = len(votes["mine"]) // 2
    above = sum(votes["mine"][middle + 1 :]) + sum(votes["others"][middle + 1 :])
    bin_width = 2 * votes["reach"] / len(votes["mine"])
    assert above == int((sums >= bin_width / 2).sum())


def test_the_trace_ends_where_the_bounds_are_and_adds_up_the_feedback(
    started: tuple[Job, TrainingRun],
) -> None:
    job, run = started
    view, told = arranged(job, run, clause=3, feature=1)
    assert job.latest is not None
    trace, bank = told["trace"], job.latest.bank
    assert trace["lower"][-1] == bank.lower[0, 3, 1]
    assert trace["upper"][-1] == bank.upper[0, 3, 1]
    assert len(trace["lower"]) == len(told["history"]["step"])
    total = np.array(trace["feedback"]).reshape(-1, 3).sum(axis=0)
    assert total.tolist() == told["feedback"][3 * told["rows"].index(3) :][:3]
    assert view.clause == 3


def test_three_classes_show_one_machine_at_a_time() -> None:
    X, y = table()
    y = y.where(np.arange(60) % 5 > 0, "never")
    job, run = start(X, y)
    _, told = arranged(job, run, machine=2, shown=12)
    assert job.latest is not None
    assert sum(map(sum, told["lengths"])) == int(job.latest.literals_per_clause[2].sum())
    assert sum(told["votes"]["mine"]) == 12
    job.close()


def test_wide_tables_send_the_columns_that_are_used_most() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, MOST_COLUMNS + 30)).round(1), columns=[f"x{i}" for i in range(90)])
    X["x5"] = 1.0  # nothing to tell
    job, run = start(X, pd.Series([0, 1] * 20))
    _, told = arranged(job, run)
    assert len(told["columns"]) == MOST_COLUMNS
    assert 5 not in told["columns"]
    assert told["used"][1] == 90
    assert bytes_of(told["lower"]).size == len(told["rows"]) * MOST_COLUMNS
    job.close()


def test_a_view_takes_over_only_what_exists() -> None:
    view = View()
    for junk in (
        None,
        [],
        {"machine": 3, "shown": -1},
        {"clause": "1"},
        {"feature": 99},
        {"sort": "x", "offset": 1.5},
    ):
        assert not view.update(junk, n_machines=3, n_clauses=10, n_features=4, n_columns=4)
    assert view == View()
    assert view.update({"machine": 2, "shown": 10, "sort": "weight"}, 3, 10, 4, 4)
    assert not view.update({"clause": 9, "feature": 3}, 3, 10, 4, 4)
    assert (view.machine, view.shown, view.sort, view.clause, view.feature) == (2, 10, "weight", 9, 3)
    assert view.update({"again": True}, 3, 10, 4, 4)


def test_without_a_run_a_frame_says_only_the_state() -> None:
    X = pd.DataFrame({"a": [1.0, np.inf]})
    job = Job(X, pd.Series([0, 1]), X[:0], pd.Series([], dtype=int), Parameters(), "broken")
    assert job.wait_until_idle(120)
    told = frame(job, View(), "")
    assert told["state"] == "failed"
    assert "rows" not in told
    json.dumps(told, allow_nan=False)


def test_changes_between_the_same_two_rows_count_once(started: tuple[Job, TrainingRun]) -> None:
    X, y = table()
    job, run = start(X, y)
    moves: list[tuple[int, dict[str, float]]] = [
        (5, {"s": 3.0}), (5, {"s": 3.5}), (5, {"T": 4.0}), (9, {"s": 4.0}), (9, {"s": 3.5}), (12, {"T": 5.5}),
    ]  # fmt: skip
    for step, settings in moves:
        run.learn(step - run.step)
        run.change(**settings)
    _, told = arranged(job, run)
    # At 9 s went back to where it was, so nothing was learned with another value.
    assert told["changes"] == [[5, "s 2 → 3.5"], [5, "T 3 → 4"], [12, "T 4 → 5.5"]]
    job.close()
