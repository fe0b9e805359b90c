"""Training runs: determinism, resuming, snapshots, history."""

import hashlib
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, f1_score

from tmcore import Parameters, TrainingRun
from tmcore.history import MAX_RECORDS
from tmcore.training import winners


def table(n_rows=120, n_classes=2, seed=0):
    """Numbers, a category and gaps; the label follows from them, with some noise."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n_rows).round(2), "b": rng.integers(0, 5, n_rows).astype(float)})
    X["c"] = pd.Categorical(rng.choice(["red", "green", "blue"], n_rows))
    X.loc[rng.random(n_rows) < 0.1, "a"] = np.nan
    y = (X["a"].fillna(0) > 0).astype(int) + (X["b"] > 2)
    y = np.where(rng.random(n_rows) < 0.1, rng.integers(0, 3, n_rows), y) % n_classes
    return X, y


def digest(run):
    state = run.machine.state
    return hashlib.sha256(state.planes.tobytes() + state.weights.tobytes()).hexdigest()


SETTINGS = Parameters(n_clauses=20, weights="real", random_state=11)

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import test_training as t
run = t.TrainingRun(*t.table(n_classes=int(sys.argv[2])), t.SETTINGS)
run.advance(epochs=3)
print(t.digest(run))
"""


@pytest.mark.parametrize("n_classes", [2, 3])
def test_two_processes_and_any_chunking_give_the_same_bits(n_classes):
    from pathlib import Path

    run = TrainingRun(*table(n_classes=n_classes), SETTINGS)
    for samples in (1, 7, 200, 152):
        run.advance(samples=samples)
    assert run.step == 360
    other = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(Path(__file__).parent), str(n_classes)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert other.stdout.strip() == digest(run)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_save_load_and_resume_halfway(tmp_path, n_classes):
    X, y = table(n_classes=n_classes)
    whole = TrainingRun(X, y, SETTINGS, validation=(X[:30], y[:30]))
    half = TrainingRun(X, y, SETTINGS, validation=(X[:30], y[:30]))
    for run in (whole, half):
        run.advance(samples=100)
        run.change(T=3.0, s=4.0)
    half.save(tmp_path / "half")
    resumed = TrainingRun.load(tmp_path / "half")
    for run in (whole, resumed):
        run.advance(epochs=2)
    assert digest(whole) == digest(resumed)
    assert whole.history == resumed.history
    assert whole.changes == resumed.changes
    assert resumed.parameters.T == 3.0
    assert whole.settle().rules_.to_text() == resumed.settle().rules_.to_text()


def test_seeds_differ():
    runs = [TrainingRun(*table(), SETTINGS.replace(random_state=seed)) for seed in (0, 1)]
    assert digest(runs[0]) != digest(runs[1])


def test_snapshot_counts_and_scores():
    X, y = table()
    run = TrainingRun(X[:90], y[:90], SETTINGS, validation=(X[90:], y[90:]))
    snapshot = run.advance(epochs=2.5)
    assert (snapshot.step, snapshot.epoch) == (225, 2.5)
    bank = snapshot.bank
    assert snapshot.n_literals == bank.lower_included.sum() + bank.upper_included.sum()
    assert snapshot.n_literals == snapshot.literals_per_clause.sum()
    either = bank.lower_included | bank.upper_included
    assert snapshot.n_intervals == either.sum()
    predicted = (snapshot.votes[:, 0] >= 0).astype(int)
    assert snapshot.scores.train_accuracy == accuracy_score(y[:90], predicted)
    assert snapshot.scores.train_f1 == f1_score(y[:90], predicted)
    votes = run.machine.votes(run.encoder.transform(X[90:]))
    assert snapshot.scores.test_accuracy == accuracy_score(y[90:], winners(votes))
    # Every selected clause is counted once: a step gives at most one type to a clause.
    assert 0 < snapshot.feedback.sum(2).max() <= 225
    assert run.snapshot().feedback.sum() == 0


def test_snapshots_do_not_change():
    run = TrainingRun(*table(), SETTINGS)
    snapshot = run.advance(samples=50)
    before = snapshot.bank.lower.copy(), snapshot.votes.copy()
    run.advance(samples=500)
    np.testing.assert_array_equal(snapshot.bank.lower, before[0])
    np.testing.assert_array_equal(snapshot.votes, before[1])
    with pytest.raises(ValueError, match="read-only"):
        snapshot.bank.lower[0, 0, 0] = 1


def test_history_is_bounded_and_in_order():
    run = TrainingRun(*table(10), Parameters(n_clauses=2))
    for _ in range(MAX_RECORDS + 50):
        run.advance(samples=1)
    steps = [record.step for record in run.history]
    assert MAX_RECORDS // 2 < len(steps) <= MAX_RECORDS
    assert steps == sorted(set(steps))
    assert steps[-1] == MAX_RECORDS + 50


def test_stop_ends_a_long_advance_soon():
    X, y = table(4000)
    run = TrainingRun(X, y, Parameters(n_clauses=400, T=400.0))
    run.advance(samples=10)
    stop = threading.Event()
    thread = threading.Thread(target=run.advance, kwargs={"epochs": 10_000, "stop": stop})
    thread.start()
    time.sleep(0.2)
    stop.set()
    thread.join(timeout=5)
    assert not thread.is_alive()
    assert 0 < run.step < 10_000 * 4000


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1] * 120, "one class only, 1"),
        ([0, 1] * 50, "100 labels for 120 rows"),
        ([None, 1] * 60, "no label in row 1"),
        ([0.5, 1.25] * 60, "classifier needs classes"),
        (["a", 1] * 60, "mixes texts and numbers"),
    ],
)
def test_labels_that_cannot_be_learned_from(y, message):
    with pytest.raises(ValueError, match=message):
        TrainingRun(table()[0], pd.Series(y, dtype=object) if y[0] in (None, "a") else y, SETTINGS)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_clauses": 3}, "even number"),
        ({"n_clauses": 10.5}, "whole number"),
        ({"s": 0.5}, "s is 0.5; use a number from 1 to 1000"),
        ({"T": "high"}, "T is 'high'"),
        ({"T": float("nan")}, "T is nan"),
        ({"bound_rule": "best"}, "use one of 'contrastive', 'paper'"),
        ({"n_states": 128}, "from 1 to 127"),
        ({"gamma": True}, "gamma is True"),
        ({"boost_true_positive": 1}, "use True or False"),
        ({"random_state": -1}, "random_state is -1"),
    ],
)
def test_settings_out_of_range_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        Parameters().replace(**settings)


def test_only_some_settings_change_while_running():
    run = TrainingRun(*table(), SETTINGS)
    with pytest.raises(ValueError, match="n_clauses cannot change"):
        run.change(n_clauses=4)
    with pytest.raises(ValueError, match="either epochs or samples"):
        run.advance()
