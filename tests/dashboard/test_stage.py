"""The stage: going back in a run, branching, explaining a row, what a run costs, confusion, memory, the map's pair."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score, confusion_matrix

from dashboard.jobs import Job
from dashboard.live import film as films
from dashboard.live.estimate import Estimate, duration, measure
from dashboard.live.memory import Memory
from dashboard.live.points import FULL, NOWHERE
from dashboard.live.standing import balanced_accuracy, confusion
from dashboard.live.view import most_used_pair
from tmcore.parameters import Parameters
from tmcore.training import TrainingRun, winners

PARAMETERS = Parameters(n_clauses=20, T=5.0, s=3.0, epochs=4, random_state=3)


def table() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(5)
    X = pd.DataFrame(
        {
            "length (mm)": rng.normal(10, 3, 80).round(1),
            "width": rng.integers(0, 30, 80).astype(float),
            "colour": rng.choice(["red", "green", "blue"], 80),
            "<i>member</i>": rng.choice(["no", "yes"], 80),
        }
    )
    X.loc[4, "width"] = np.nan
    y = pd.Series(np.where((X["length (mm)"] > 10) ^ (X["colour"] == "red"), "<b>late</b>", "early"))
    return X, y


def make(**changes: Any) -> Memory:
    X, y = table()
    job = Job(X[:60], y[:60], X[60:], y[60:], replace(PARAMETERS, **changes), "made up")
    assert job.wait_until_idle(120)
    assert job.run is not None, job.error
    made = Memory(job)
    made.refresh()
    return made


@pytest.fixture
def memory() -> Iterator[Memory]:
    made = make()
    made.job.one_epoch()
    assert made.job.wait_until_idle(10)
    made.job.one_row()
    assert made.job.wait_until_idle(10)
    yield made
    made.close()
    made.job.close()


def send(memory: Memory, name: str, value: Any = None, number: list[int] = [0]) -> dict[str, Any]:  # noqa: B006
    number[0] += 1
    memory.take({"number": number[0], "commands": [{"id": f"t-{number[0]}", "name": name, "value": value}]})
    assert memory.job.wait_until_idle(20)
    told = memory.frame()
    json.dumps(told, allow_nan=False)
    return told


def fresh(step: int, **changes: Any) -> TrainingRun:
    X, y = table()
    run = TrainingRun(X[:60], y[:60], replace(PARAMETERS, **changes), validation=(X[60:], y[60:]))
    run.learn(step)
    return run


def same(told: dict[str, Any], run: TrainingRun) -> bool:
    bank = run.machine.bank()
    shape = len(told["rows"]), len(run.encoder.features)
    lower = np.frombuffer(base64.b64decode(told["lower"]), np.uint8).reshape(shape)
    upper = np.frombuffer(base64.b64decode(told["upper"]), np.uint8).reshape(shape)
    rows = told["rows"]
    return np.array_equal(lower, bank.lower[0][rows]) and np.array_equal(upper, bank.upper[0][rows])


# Going back ------------------------------------------------------------------------------------------------------


def test_a_moment_in_the_past_is_a_fresh_run_stopped_there(memory: Memory) -> None:
    for step in (37, 0, 1, 60):
        told = send(memory, "go", step)
        assert (told["state"], told["step"], told["last"], told["past"]) == ("past", step, 61, True)
        run = fresh(step)
        assert same(told, run)
        assert told["literals"] == run.snapshot().n_literals
        assert told["train"] == pytest.approx(run.snapshot().scores.train_accuracy, abs=1e-4)
    assert memory.job.run is not None
    assert memory.job.run.step == 61


def test_the_newest_moment_is_left_and_found_again(memory: Memory) -> None:
    number = send(memory, "go", 5)["sequence"]
    told = send(memory, "go", 1_000)
    assert (told["state"], told["step"], told["past"]) == ("paused", 61, False)
    assert told["sequence"] > number


def test_junk_moves_nothing(memory: Memory) -> None:
    for junk in ("5", None, True, 3.5, [1]):
        assert send(memory, "go", junk)["step"] == 61
    assert send(memory, "branch")["step"] == 61
    memory.take("junk")
    memory.take({"commands": [7, {"id": 3}]})


def test_going_back_pauses_what_learns(memory: Memory) -> None:
    memory.take({"number": 1, "commands": [{"id": "p", "name": "play"}]})
    told = send(memory, "go", 3)
    assert told["step"] == 3
    assert memory.job.state == "paused"


def test_one_row_and_one_epoch_in_the_past_move_the_film_and_learn_nothing(memory: Memory) -> None:
    send(memory, "go", 0)
    assert send(memory, "one_row")["step"] == 1
    told = send(memory, "one_row")
    assert same(told, fresh(2))
    assert sum(told["feedback"]) <= len(told["rows"])  # of the last row alone
    assert send(memory, "one_epoch")["step"] == 61
    assert memory.job.run is not None
    assert memory.job.run.step == 61


def test_the_past_plays_up_to_the_newest_moment(memory: Memory) -> None:
    send(memory, "speed", "max")
    send(memory, "go", 2)
    assert send(memory, "play")["state"] == "replaying"
    seen = []
    for _ in range(200):
        memory.wait(0.01)
        told = memory.frame()
        seen.append(told["step"])
        if not told["past"]:
            break
    assert seen == sorted(seen)
    assert seen[-1] == 61
    assert len(set(seen)) > 3
    assert memory.frame()["state"] == "paused"


def test_reset_leaves_the_past(memory: Memory) -> None:
    send(memory, "go", 2)
    told = send(memory, "reset")
    assert (told["state"], told["step"], told["past"]) == ("ready", 0, False)


def test_the_past_shows_the_target_of_its_time(memory: Memory) -> None:
    memory.job.change(T=2.0)
    now = send(memory, "one_row")
    assert (now["changes"], now["T"], "then" in now) == ([[61, "T 5 → 2"]], 2.0, False)
    told = send(memory, "go", 30)
    assert (told["T"], told["then"]) == (5.0, ["T 5"])


# Branching -------------------------------------------------------------------------------------------------------


def test_a_branch_takes_over_only_what_differs_and_may(memory: Memory) -> None:
    run = memory.job.run
    assert run is not None
    wanted = run.parameters.replace(s=5.0, n_clauses=40, weights="real")
    assert films.branch_changes(run, 10, wanted) == {"s": 5.0, "weights": "real"}
    assert (
        films.branch_changes(run, 10, run.parameters.replace(n_clauses=80, T="auto")) == {}
    )  # T is 20 / 4 as before
    memory.job.change(s=4.0)
    memory.job.one_row()
    assert memory.job.wait_until_idle(10)
    assert films.branch_changes(run, 61, run.parameters) == {}
    assert films.branch_changes(run, 60, run.parameters) == {"s": 4.0}


# Why -------------------------------------------------------------------------------------------------------------


def test_why_tells_what_the_row_did(memory: Memory) -> None:
    run = memory.job.run
    assert run is not None
    send(memory, "go", 10)
    told = send(memory, "why")["why"]
    trace = run.explain(9)
    decision = trace.decision()
    assert any(clause.feedback for clause in decision.clauses)
    assert (told["step"], told["row"], told["label"]) == (9, trace.row, trace.label)
    assert told["v"] == pytest.approx(decision.votes / 65536, abs=1e-4)
    wanted = (5 - told["v"]) / 10 if told["y"] else (5 + told["v"]) / 10
    assert told["chance"] == pytest.approx(min(1, max(0, wanted)), abs=1e-4)
    assert told["equation"] == (7 if told["y"] else 10)
    letters = {"Ia": "a", "Ib": "b", "II": "2"}
    for letter, draw, clause in zip(told["types"], told["draws"], decision.clauses, strict=True):
        assert letter == letters.get(clause.feedback, "0" if draw < told["chance"] else "-")
    assert told["clause"]["type"] in "ab2"  # a clause that learned takes the place of one that did not
    X, _ = table()
    assert told["values"][0] == f"{X['length (mm)'][trace.row]:g} mm"
    assert told["values"][3] == X["<i>member</i>"][trace.row]


def test_why_follows_a_chosen_clause_and_the_steps(memory: Memory) -> None:
    send(memory, "why")
    told = send(memory, "why", 7)["why"]
    assert told["clause"]["id"] == 7
    before, after = fresh(60).machine.bank(), fresh(61).machine.bank()
    for cell in told["clause"]["cells"]:
        f = cell["feature"]
        assert cell["lower"]["at"] == [before.lower[0, 7, f], after.lower[0, 7, f]]
        assert cell["upper"]["at"] == [before.upper[0, 7, f], after.upper[0, 7, f]]
    assert all("Clause 7 " not in line for line in told["clause"]["words"])
    assert send(memory, "go", 30)["why"]["step"] == 29
    assert "why" not in send(memory, "close_why")


def test_the_last_move_of_a_bound_is_the_last(memory: Memory) -> None:
    moved = 0
    for clause in (0, 3, 8):
        send(memory, "go", 61)
        send(memory, "view", {"clause": clause, "feature": 0})
        told = send(memory, "last_move")
        banks = [fresh(step).machine.bank() for step in range(62)]
        names = ("lower", "upper", "lower_included", "upper_included")
        cells = [[getattr(b, name)[0, clause, 0] for name in names] for b in banks]
        steps = [step for step in range(61) if cells[step] != cells[step + 1]]
        if steps:
            moved += 1
            assert told["step"] == steps[-1] + 1
            assert told["why"]["step"] == steps[-1]
            assert told["why"]["asked"] == 0
        else:
            assert told["why"]["found"] is False
        send(memory, "close_why")
    assert moved


def test_closing_why_leads_back_to_where_it_was_asked(memory: Memory) -> None:
    for before in (61, 40):
        for name in ("go", "last_move"):
            send(memory, name, before)
        assert send(memory, "go", 12)["why"]["step"] == 11
        told = send(memory, "close_why")
        assert (told["step"], told["past"]) == (before, before < 61)


def test_why_works_for_thresholds_and_three_classes() -> None:
    memory = make(representation="thresholds")
    memory.job.one_epoch()
    assert memory.job.wait_until_idle(10)
    told = send(memory, "why")["why"]
    assert told["clause"]["cells"] == []
    assert told["clause"]["words"]
    memory.job.close()


# Costs, confusion, memory, map -----------------------------------------------------------------------------------


def test_before_play_the_cost_is_told_and_after_a_row_no_more() -> None:
    memory = make()
    told = memory.frame()
    assert told["estimate"]["text"].startswith("240 rows to learn take under 1 s at full speed")
    assert told["estimate"]["warn"] is False
    assert memory.job.run is not None
    assert memory.job.run.step == 0
    assert memory.job.latest is not None
    assert same(told, fresh(0))
    assert "estimate" not in send(memory, "one_row")
    memory.job.close()


def test_what_is_too_much_is_warned_of() -> None:
    slow = Estimate(rows_per_second=100, rows=1_000_000, n_bytes=2**20, epoch_rows=50_000)
    assert slow.seconds == 10_000
    assert slow.too_much
    assert "about 2.8 h at full speed" in slow.text
    assert "fewer clauses" in slow.text
    big = Estimate(rows_per_second=1e6, rows=100, n_bytes=3 * 2**30, epoch_rows=100)
    assert big.too_much
    assert "3.0 GB" in big.text
    assert [duration(s) for s in (0.4, 12, 300, 7200)] == [
        "under 1 s",
        "about 12 s",
        "about 5 min",
        "about 2.0 h",
    ]


def test_at_1x_a_small_table_takes_a_second_an_epoch() -> None:
    assert Estimate(1e6, 40 * 200, 1, 200).watched == 40
    # From 400 rows a second, growing by half the rows learned: 2 ln(10) s up to 4,000 a second, then steady.
    assert Estimate(1e6, 47_200, 1, 4000).watched == pytest.approx(2 * np.log(10) + 10)


def test_measuring_leaves_the_run_alone() -> None:
    run = fresh(25)
    before = run.machine.bank()
    measured = measure(run, PARAMETERS)
    assert measured.rows == 4 * 60 - 25
    assert measured.rows_per_second > 0
    assert np.array_equal(run.machine.bank().lower, before.lower)
    assert run.step == 25


def test_confusion_and_balanced_accuracy_are_scikit_learns(memory: Memory) -> None:
    told = send(memory, "view", {"wants": ["standing", "junk"]})["standing"]
    run = fresh(61)
    predicted = winners(run.machine.votes(run.data))
    assert told["train"] == confusion_matrix(run.labels, predicted).tolist()
    assert told["trainBalanced"] == pytest.approx(balanced_accuracy_score(run.labels, predicted), abs=1e-4)
    codes, labels = run.held_out or (None, None)
    assert labels is not None
    assert (
        told["test"]
        == confusion_matrix(labels, winners(run.machine.votes(run.machine.prepare(codes)))).tolist()
    )
    past = send(memory, "go", 20)["standing"]
    assert (
        past["train"]
        == confusion_matrix(fresh(20).labels, winners(fresh(20).machine.votes(run.data))).tolist()
    )


def test_classes_without_rows_do_not_count() -> None:
    counts = confusion(np.array([0, 0, 2, -1]), np.array([0, 2, 2, 1]), 3)
    assert counts == [[1, 0, 1], [0, 0, 0], [0, 0, 1]]
    assert balanced_accuracy(counts) == 0.75
    assert balanced_accuracy([[0]]) is None


def test_memory_is_the_states_of_the_moment(memory: Memory) -> None:
    send(memory, "view", {"wants": ["memory"], "clause": 5})
    for step in (61, 33):
        told = send(memory, "go", step)["memory"]
        states = fresh(step).machine.states()[:, 0]  # type: ignore[attr-defined]
        assert told["strip"] == [*states[0, 5].tolist(), *states[1, 5].tolist()]
        packed = np.frombuffer(base64.b64decode(told["states"]), np.uint8).reshape(
            told["rows"], told["width"]
        )
        order = [*range(0, 20, 2), *range(1, 20, 2)]
        assert np.array_equal(packed, states[:, order].transpose(1, 0, 2).reshape(20, -1))
        assert told["n"] == 50


def test_the_pair_used_together_most_is_proposed() -> None:
    used = np.array(
        [[1, 1, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 1, 0], [1, 0, 0, 1], [0, 0, 1, 0]], bool
    )
    assert most_used_pair(used) == (2, 1)
    assert most_used_pair(np.zeros((3, 3), bool)) == (0, 1)


def test_points_lie_where_the_values_are(memory: Memory) -> None:
    facts = memory.facts
    assert facts is not None
    X, y = table()
    columns = {column["label"]: column for column in facts["columns"]}
    places = {k: np.frombuffer(base64.b64decode(c["points"]), "<u2") for k, c in columns.items()}
    length = columns["length"]
    share = (X["length (mm)"] - length["min"]) / (length["max"] - length["min"])
    assert np.allclose(places["length"], np.clip(share, 0, 1) * FULL, atol=1)
    assert places["width"][4] == NOWHERE
    slot = [columns["colour"]["names"].index(value) for value in X["colour"]]
    assert np.allclose(places["colour"] / FULL, (np.array(slot) + 0.5) / 3, atol=1e-4)
    assert facts["points"]["train"] == 60
    assert facts["points"]["labels"] == [facts["classes"].index(label) for label in y]


def test_by_feature_every_clause_is_sent_with_that_column_and_the_maps(memory: Memory) -> None:
    told = send(memory, "view", {"by": "feature", "feature": 0, "mapX": 1, "mapY": 2})
    assert sorted(told["rows"]) == list(range(20))
    assert told["columns"] == [0, 1, 2]
    told = send(memory, "view", {"by": "clause", "uses": 0, "side": -1, "shown": 20})
    bank = fresh(61).machine.bank()
    used = bank.lower_included[0, :, 0] | bank.upper_included[0, :, 0]
    assert sorted(told["rows"]) == [j for j in range(1, 20, 2) if used[j]]


def test_the_thresholds_machine_learns_beside_it(memory: Memory) -> None:
    told = send(memory, "thresholds")["rival"]
    assert memory.rival is not None
    assert memory.rival.job.wait_until_idle(60)
    told = memory.frame()["rival"]
    other = fresh(0, representation="thresholds")
    assert told["literals"][0] == other.snapshot().n_literals
    other.learn(240)
    assert (told["step"][-1], told["literals"][-1]) == (240, other.snapshot().n_literals)
    assert "took" in told["words"]
    assert "rival" not in send(memory, "no_thresholds")
