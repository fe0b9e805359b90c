"""Runs on numbers: equal to the twin and to fresh runs, scores in the target's unit, files, the trace, settling."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from changed_runs import (
    assert_same_machine,
    assert_same_snapshot,
    change_lists,
    check_any_step,
    learn_with_changes,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import mean_absolute_error, r2_score

from tmcore import Parameters, TrainingRun, TsetlinRegressor
from tmcore.machine.reference import ReferenceIntervals
from tmcore.machine.reference_literals import ReferenceLiterals
from tmcore.replay import RowOrder
from tmcore.scores import NumberScores, mae_and_r2
from tmcore.trace import probability, twin_of, votes
from tmcore.trace_words import sentences


def table(n_rows=40, seed=0):
    """Numbers, a category and gaps; the target is two rules and noise, from about 100 to 160."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n_rows).round(1), "b": rng.integers(0, 4, n_rows).astype(float)})
    X["c"] = pd.Categorical(rng.choice(["red", "green", "blue"], n_rows))
    y = 110 + 30.0 * (X["a"] > 0) + 12.5 * (X["c"] == "red") + rng.normal(scale=3, size=n_rows)
    X.loc[rng.random(n_rows) < 0.1, "a"] = np.nan
    return X, y.to_numpy()


def begun(parameters, n_rows=40):
    X, y = table(n_rows)
    return TrainingRun(X, y, parameters, (X[:10], y[:10] + 1), task="numbers")


@pytest.mark.parametrize("representation", ["intervals", "thresholds"])
@pytest.mark.parametrize("weights", ["none", "real"])
def test_a_run_equals_the_twin_that_is_asked_for_the_same_sums(representation, weights):
    parameters = Parameters(n_clauses=6, representation=representation, weights=weights, random_state=3)
    run = begun(parameters)
    run.learn(60)
    run.change(T=3.0)
    run.learn(50)
    kind = ReferenceIntervals if representation == "intervals" else ReferenceLiterals
    twin = kind(run.first_parameters, 0, run.encoder.n_ranks, run.encoder.has_gaps)
    _, y = table()
    order = RowOrder(3, 40)
    for step in range(110):
        twin.parameters = run.first_parameters.replace(T=6.0 if step < 60 else 3.0)
        (row,) = order.rows(step, 1)
        share = (y[row] - y.min()) / (y.max() - y.min())
        twin.learn(run.codes[row], round(share * twin.parameters.T * 2**16))
    np.testing.assert_array_equal(run.machine.states().reshape(-1), twin.states().reshape(-1))
    assert run.machine.bank().weights.tolist() == twin.weights
    expected = np.array([twin.votes(codes) for codes in run.codes]) / 2**16
    np.testing.assert_array_equal(run.snapshot().votes, expected)


def test_attributes_of_a_run_on_numbers():
    _, y = table()
    run = begun(Parameters(n_clauses=8))
    assert len(run.classes) == 0
    assert run.targets.dtype == np.float64
    np.testing.assert_array_equal(run.targets, y)
    assert (run.target_range.lowest, run.target_range.highest) == (y.min(), y.max())
    assert run.parameters.T == 8.0  # "auto": all clauses together reach the highest number
    assert set(run.machine.bank().polarity) == {1}
    run.change(T="auto")
    assert run.changes[0].value == 8.0
    assert TrainingRun(table()[0], y > 120, Parameters(n_clauses=8)).target_range is None


def test_scores_are_scikit_learns_in_the_targets_unit():
    X, y = table(120)
    run = TrainingRun(X[:90], y[:90], Parameters(n_clauses=30), (X[90:], y[90:]), task="numbers")
    snapshot = run.advance(epochs=8)
    low, high = y[:90].min(), y[:90].max()
    predicted = low + snapshot.votes[:, 0] / 30 * (high - low)
    held_out = run.machine.votes(run.encoder.transform(X[90:]))[:, 0] / 2**16
    held_out = low + held_out / 30 * (high - low)
    scores = snapshot.scores
    assert isinstance(scores, NumberScores)
    assert scores.train_mae == pytest.approx(mean_absolute_error(y[:90], predicted), rel=1e-12)
    assert scores.train_r2 == pytest.approx(r2_score(y[:90], predicted), rel=1e-9)
    assert scores.test_mae == pytest.approx(mean_absolute_error(y[90:], held_out), rel=1e-12)
    assert scores.test_r2 == pytest.approx(r2_score(y[90:], held_out), rel=1e-9)
    (record,) = run.history
    assert (record.step, record.test_mae, record.train_r2) == (720, scores.test_mae, scores.train_r2)
    alone = TrainingRun(X, y, Parameters(n_clauses=30), task="numbers").snapshot().scores
    assert (alone.test_mae, alone.test_r2) == (None, None)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e299])
def test_r2_of_tiny_huge_and_equal_targets(scale):
    targets, predicted = np.array([1.0, 2.0, 4.0]), np.array([1.5, 2.0, 3.0])
    mae, r2 = mae_and_r2(targets * scale, predicted * scale)
    assert mae == pytest.approx(0.5 * scale)
    assert r2 == pytest.approx(r2_score(targets, predicted))
    assert mae_and_r2(np.full(3, scale), predicted)[1] is None


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["intervals", "thresholds"]),
    st.sampled_from(["none", "real", "integer"]),
    change_lists(100),
    st.lists(st.integers(0, 100), min_size=1, max_size=3),
    st.booleans(),
)
def test_any_step_equals_a_fresh_run_stopped_there(representation, weights, changes, steps, dense):
    parameters = Parameters(n_clauses=6, representation=representation, weights=weights, random_state=5)
    check_any_step(lambda: begun(parameters), changes, 100, steps, dense)


def test_branches_restarts_and_going_back():
    run = begun(Parameters(n_clauses=6, weights="real"))
    run.learn(60)
    run.change(T=2.0)
    run.learn(60)
    branch = run.branch(80)
    branch.learn(40)
    assert_same_machine(branch.machine, run.machine)
    other = run.branch(80, T=9.0, bound_rule="paper")
    other.learn(40)
    expected = learn_with_changes(begun(Parameters(n_clauses=6, weights="real")), [(60, "T", 2.0)], 80)
    expected.machine.parameters = expected.parameters.replace(T=9.0, bound_rule="paper")
    expected.learn(40)
    assert_same_machine(other.machine, expected.machine)
    again = run.restart(Parameters(n_clauses=8))
    fresh = begun(Parameters(n_clauses=8))
    assert again.advance(epochs=2).record() == fresh.advance(epochs=2).record()
    run.go_to(run.machine_at(90).state)
    run.learn(30)
    same = learn_with_changes(begun(Parameters(n_clauses=6, weights="real")), [(60, "T", 2.0)], 120)
    assert_same_machine(run.machine, same.machine)


def test_a_loaded_run_goes_back_and_on_as_if_it_had_never_stopped(tmp_path):
    run = begun(Parameters(n_clauses=6, weights="real"))
    run.checkpoints.spacing = 0.0
    run.advance(samples=70)
    run.save(tmp_path / "run")
    run.change(T=2.0, gamma=0.3)
    run.advance(samples=70)
    run.save_progress(tmp_path / "progress")
    loaded = TrainingRun.load(tmp_path / "run", tmp_path / "progress")
    assert (loaded.history, loaded.changes) == (run.history, run.changes)
    assert loaded.target_range == run.target_range
    np.testing.assert_array_equal(loaded.targets, run.targets)
    for step in (0, 69, 70, 71, 140):
        assert_same_machine(loaded.machine_at(step), run.machine_at(step))
    assert_same_snapshot(run.advance(samples=50), loaded.advance(samples=50))
    assert loaded.settle().rules_.to_text() == run.settle().rules_.to_text()


PROGRAM = """
import sys, json
sys.path[:0] = sys.argv[1:]
import test_number_runs as t
run = t.begun(t.Parameters(n_clauses=20, random_state=11))
print(json.dumps([float(v) for v in run.advance(epochs=3).votes[:, 0]]))
"""


def test_two_processes_and_any_chunking_give_the_same_bits():
    run = begun(Parameters(n_clauses=20, random_state=11))
    for samples in (1, 7, 70, 42):
        snapshot = run.advance(samples=samples)
    here = Path(__file__).parent
    command = [sys.executable, "-c", PROGRAM, str(here), str(here.parent / "helpers")]
    other = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(other.stdout) == snapshot.votes[:, 0].tolist()


@pytest.mark.parametrize("weights", ["refit", "none", "real"])
@pytest.mark.parametrize("representation", ["intervals", "thresholds"])
def test_settling_a_run_is_fitting_a_regressor(weights, representation):
    X, y = table(80)
    asked = {"n_clauses": 20, "epochs": 4, "weights": weights, "representation": representation}
    run = TrainingRun(X, y, Parameters(**asked, random_state=2), task="numbers")
    run.learn(320)
    settled = run.settle()
    fitted = TsetlinRegressor(**asked, random_state=2).fit(X, y)
    assert isinstance(settled, TsetlinRegressor)
    np.testing.assert_array_equal(settled.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(settled.rules_.predict(X), fitted.predict(X))
    assert settled.rules_.to_text() == fitted.rules_.to_text()
    shares = settled.rules_.outputs(X).mean(axis=0)
    np.testing.assert_allclose([rule.support for rule in settled.rules_], shares)
    before = run.machine.state.copy()
    settled.partial_fit(X, y)
    np.testing.assert_array_equal(run.machine.state.planes, before.planes)


def test_a_sparse_run_of_columns_of_0_and_1():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(200, 6))
    y = 5.0 + 3.0 * X[:, 0] - 2.0 * X[:, 1]
    parameters = Parameters(representation="boolean", n_clauses=40)
    kinds = X, sparse.csr_matrix(X), pd.DataFrame(X, columns=list("abcdef"))
    models = []
    for rows in kinds:
        run = TrainingRun(rows, y, parameters, task="numbers")
        run.learn(2000)
        models.append(run.settle())
        np.testing.assert_array_equal(models[-1].predict(rows), models[0].predict(X))
        shares = models[0].rules_.outputs(X).mean(axis=0)
        np.testing.assert_allclose([rule.support for rule in models[-1].rules_], shares)
    assert models[0].score(X, y) > 0.95


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"y": [1.0, np.nan] * 20}, "NaN in row 2"),
        ({"y": ["low", "high"] * 20}, "y holds 'low' in row 1; a regressor needs numbers"),
        ({"y": [1.0] * 39}, "y holds 39 numbers for 40 rows"),
        ({"task": "words"}, 'task is \'words\'; use "classes" or "numbers"'),
        ({"positive_class": 1.0}, "positive_class chooses one of two classes"),
        ({"parameters": Parameters(class_weight="balanced")}, "class_weight weighs classes"),
    ],
)
def test_what_a_run_on_numbers_refuses(asked, message):
    X, y = table()
    with pytest.raises(ValueError, match=message):
        TrainingRun(X, **{"y": y, "task": "numbers", **asked})
    with pytest.raises(ValueError, match="y holds 9 numbers for 10 rows"):
        TrainingRun(X, y, validation=(X[:10], y[:9]), task="numbers")


# -- the trace ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("representation", "rule", "weights"),
    [
        ("intervals", "contrastive", "real"),
        ("intervals", "paper", "integer"),
        ("thresholds", "contrastive", "integer"),
    ],
)
def test_the_trace_equals_what_the_kernel_did(representation, rule, weights):
    run = begun(
        Parameters(n_clauses=8, T=3.0, representation=representation, bound_rule=rule, weights=weights)
    )
    _, y = table()
    run.learn(50)
    run.change(T=5.0)
    run.learn(70)
    for step in (0, 49, 50, 119):
        trace = run.explain(step)
        before, after = run.machine_at(step), run.at(step + 1)
        assert trace.target == y[trace.row]
        asked = (trace.target - y.min()) / (y.max() - y.min()) * (5.0 if step >= 50 else 3.0)
        assert trace.label == round(asked * 2**16)
        twin, replayed = twin_of(run.machine_at(step + 1)), twin_of(before)
        replayed.learn(np.array(trace.codes), trace.label)
        np.testing.assert_array_equal(replayed.states(), twin.states())
        assert replayed.weights == twin.weights
        given = np.zeros_like(after.feedback)
        for clause in trace.decision().clauses:
            if clause.feedback:
                given[0, clause.clause, ("Ia", "Ib", "II").index(clause.feedback)] += 1
            assert clause.weight[1] == after.bank.weights[0, clause.clause]
        np.testing.assert_array_equal(given, after.feedback)


def test_probability_is_the_share_of_the_error_and_the_words_say_so():
    run = begun(Parameters(n_clauses=8, T=5.0, weights="real"))
    run.learn(100)
    told = set()
    for step in range(100):
        trace = run.explain(step)
        decision = trace.decision()
        asked, v = trace.label / 2**16, votes(decision)
        wanted = abs(asked - min(max(v, 0.0), 5.0)) / 5
        assert probability(decision) == pytest.approx(wanted, abs=1e-9)
        low = v < asked
        for clause in decision.clauses:
            assert clause.selected == (clause.draw / 2**32 < wanted)
            text = " ".join(sentences(trace, run.encoder, clause.clause))
            assert f"Its number is {trace.target!r}, which is {asked:.2f} on the scale of votes" in text
            assert f"add up to v = {v:.2f}" in text
            assert (", cut to 5." in text) == (v > 5)
            if wanted:
                assert f"That is too {'low' if low else 'high'}." in text
                assert f"probability |{asked:.2f} − v| / T = {wanted:.3f}" in text
            if not clause.selected:
                continue
            told.add(clause.feedback)
            ending = {
                "Ia": "too low, and it holds. It gets Type Ia feedback: what it says of this row is confirmed.",
                "Ib": "too low, but it does not hold. It gets Type Ib feedback: its conditions are weakened",
                "II": "too high, and it holds. It gets Type II feedback: it is made to exclude this row.",
                "": "too high, but it does not hold, so there is nothing to correct",
            }[clause.feedback]
            assert f"The sum is {ending}" in text
            if clause.weight[0] != clause.weight[1]:
                assert (
                    f"because it holds and the sum is too {'low' if clause.feedback == 'Ia' else 'high'}."
                    in text
                )
    assert told == {"Ia", "Ib", "II", ""}


def test_a_sum_that_is_right_teaches_nobody():
    X, _ = table()
    run = TrainingRun(X, np.zeros(40), Parameters(n_clauses=4), task="numbers")
    run.learn(200)
    trace = next(trace for trace in map(run.explain, range(100, 200)) if votes(trace.decision()) == 0)
    text = " ".join(sentences(trace, run.encoder, 0))
    assert "add up to v = 0.00. That is what this row asks for, so no clause is taught." in text
