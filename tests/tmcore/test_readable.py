"""The readability dial of a fitted classifier, class weights, early stopping, budgets, Boolean input and threads."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import recall_score
from sklearn.model_selection import StratifiedKFold

import tmcore
from tmcore import Parameters, TrainingRun, TsetlinClassifier
from tmcore.class_weights import class_scales


def noisy(n_rows=240, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, 4)).round(2), columns=list("abcd"))
    y = ((X["a"] > 0).astype(int) + (X["b"] > 0.5)) % n_classes
    return X, np.where(rng.random(n_rows) < 0.1, 0, y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_path_holds_the_settled_model_and_at_is_a_model_of_its_own(n_classes):
    X, y = noisy(n_classes=n_classes)
    model = TsetlinClassifier(n_clauses=40, epochs=10, random_state=0).fit(X, y)
    rules = [point.n_rules for point in model.path_]
    assert rules == sorted(set(rules))
    (own,) = (point for point in model.path_ if point.strength == 1)
    assert own.n_rules == len(model.settled_.weights)
    small = model.at(max_rules=3)
    assert len(small.rules_) <= 3 < len(model.rules_)
    np.testing.assert_array_equal(small.rules_.predict(X), small.predict(X))
    np.testing.assert_array_equal(model.rules_.predict(X), model.predict(X))  # the model itself is as it was
    with pytest.raises(ValueError, match="at most -1 rules"):
        model.at(max_rules=-1)


def test_scores_of_the_path_are_those_of_machines_trained_per_fold():
    X, y = noisy(150)
    model = TsetlinClassifier(n_clauses=20, epochs=5, random_state=3).fit(X, y)
    (own,) = (point for point in model.score_path() if point.strength == 1)
    accuracy = []
    for train, held_out in StratifiedKFold(5, shuffle=True, random_state=3).split(X, y):
        fold = clone(model).fit(X.iloc[train], y[train])
        accuracy.append(fold.at(own.n_rules).score(X.iloc[held_out], y[held_out]))
    # The fold here chooses its levels on its own rows, the dial keeps the model's: close, not equal.
    assert own.scores.accuracy.mean == pytest.approx(np.mean(accuracy), abs=0.08)


def test_a_model_from_a_file_says_that_the_dial_needs_its_rows(tmp_path):
    X, y = noisy(60)
    TsetlinClassifier(n_clauses=10, epochs=2, random_state=0).fit(X, y).save(tmp_path / "model")
    with pytest.raises(ValueError, match="needs the training rows"):
        tmcore.load(tmp_path / "model").at(max_rules=2)


def test_class_scales_follow_scikit_learns_balanced_weights():
    labels = np.repeat([0, 1, 2], [10, 30, 60])
    classes = np.array(["a", "b", "c"])
    # n / (K * count) is 100/30, 100/90, 100/180; the largest becomes 1.
    np.testing.assert_array_equal(
        class_scales("balanced", classes, labels), [65536, round(65536 / 3), round(65536 / 6)]
    )
    np.testing.assert_array_equal(class_scales({"b": 2}, classes, labels), [32768, 65536, 32768])
    with pytest.raises(ValueError, match="'z', which is not a class"):
        class_scales({"z": 1}, classes, labels)
    with pytest.raises(ValueError, match="use a number from"):
        class_scales({"a": 0}, classes, labels)


@pytest.mark.parametrize("weights", ["refit", "none"])
def test_balanced_classes_find_more_of_a_rare_class(weights):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    y = ((X[:, 0] + rng.normal(scale=0.8, size=900)) > 1.6).astype(int)
    found = {
        balance: recall_score(
            y[600:],
            TsetlinClassifier(weights=weights, class_weight=balance, epochs=15, random_state=0)
            .fit(X[:600], y[:600])
            .predict(X[600:]),
        )
        for balance in (None, "balanced")
    }
    assert found["balanced"] > found[None] + 0.1


def test_early_stopping_keeps_the_epoch_that_was_best_on_rows_held_out():
    from tmcore import early_stopping

    X, y = noisy(300)
    parameters = Parameters(n_clauses=20, weights="none", epochs=30, random_state=2)
    learn, watch = early_stopping.hold_out(300, 2, y)
    assert len(watch) == 60
    assert not set(learn) & set(watch)
    run = TrainingRun(X.iloc[learn], y[learn], parameters, (X.iloc[watch], y[watch]))
    best = early_stopping.train(run)
    scores = []
    again = TrainingRun(X.iloc[learn], y[learn], parameters, (X.iloc[watch], y[watch]))
    for _ in range(min(best + early_stopping.PATIENCE, 30)):
        scores.append(again.advance(epochs=1).scores.test_accuracy)
    assert best == int(np.argmax(scores)) + 1
    assert run.snapshot().scores.test_accuracy == max(scores)


def test_a_literal_budget_shortens_clauses():
    X, y = noisy(300)
    lengths = {
        budget: TrainingRun(X, y, Parameters(n_clauses=60, s=8.0, max_literals=budget)).advance(epochs=20)
        for budget in (None, 2)
    }
    # A soft limit: a clause beyond it forgets with 1/s, and may be over it for a while.
    assert lengths[2].literals_per_clause.mean() < 0.85 * lengths[None].literals_per_clause.mean()


def test_boolean_input_dense_or_sparse_gives_the_same_model():
    rng = np.random.default_rng(0)
    bits = (rng.random((300, 70)) < 0.2).astype(np.uint8)
    y = bits[:, 3] | bits[:, 60]
    models = [
        TsetlinClassifier(representation="boolean", n_clauses=20, epochs=5, random_state=0).fit(data, y)
        for data in (bits, sparse.csr_matrix(bits), pd.DataFrame(bits.astype(bool)))
    ]
    for model, data in zip(
        models, (bits, sparse.csr_matrix(bits), pd.DataFrame(bits.astype(bool))), strict=True
    ):
        np.testing.assert_array_equal(model.machine_.state.planes, models[0].machine_.state.planes)
        np.testing.assert_array_equal(model.rules_.predict(data), model.predict(data))
        np.testing.assert_array_equal(model.predict(data), models[0].predict(bits))
    assert models[0].score(bits, y) > 0.95


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.array([[0, 1], [2, 0]]), "Column 'x0' holds 2 in data row 2"),
        (sparse.csr_matrix([[0.0, 1.0], [0.0, 0.5]]), "Column 'x1' holds 0.5 in data row 2"),
        (pd.DataFrame({"a": [0, 1], "b": [np.nan, 1]}), "Column 'b' holds nan in data row 1"),
    ],
)
def test_boolean_input_names_what_is_not_0_or_1(data, message):
    with pytest.raises(ValueError, match=message):
        TsetlinClassifier(representation="boolean", n_clauses=2).fit(data, [0, 1])


@pytest.mark.parametrize("representation", ["intervals", "thresholds"])
def test_any_number_of_threads_gives_the_same_bits(representation):
    X, y = noisy(n_classes=3)
    runs = [
        TrainingRun(X, y, Parameters(n_clauses=20, representation=representation), n_jobs=n)
        for n in (1, 2, 3)
    ]
    for run in runs:
        run.advance(epochs=2)
    for run in runs[1:]:
        np.testing.assert_array_equal(run.machine.state.planes, runs[0].machine.state.planes)
