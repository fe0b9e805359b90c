"""Models whose refit chose from several moments of training: the pool, the rules, the dial, files."""

import numpy as np
import pandas as pd
import pytest

import tmcore
from tmcore import Parameters, TrainingRun, TsetlinClassifier, TsetlinRegressor
from tmcore.harvest import moments
from tmcore.readable import RetrainFold
from tmcore.refit import refit


def table(n_rows=150, n_classes=2, seed=0):
    """Numbers, a category and gaps; the label follows from them, with some noise."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n_rows).round(1), "b": rng.integers(0, 6, n_rows).astype(float)})
    X["c"] = pd.Categorical(rng.choice(["x", "y", "z"], n_rows))
    score = (X["a"] > 0).astype(int) + (X["b"] > 2) + (X["c"] == "z") + (rng.random(n_rows) < 0.2)
    X.loc[rng.random(n_rows) < 0.1, "a"] = np.nan
    return X, score.to_numpy() * n_classes // 5


KINDS = [
    (TsetlinClassifier, 2, "intervals"),
    (TsetlinClassifier, 3, "thresholds"),
    (TsetlinRegressor, 4, "intervals"),
    (TsetlinRegressor, 4, "thresholds"),
]


def fitted(kind, n_classes, representation, harvest=3):
    X, y = table(n_classes=n_classes)
    settings = {"n_clauses": 20, "epochs": 8, "representation": representation, "random_state": 1}
    return kind(**settings, harvest=harvest).fit(X, y), X, y


def test_moments_are_fresh_runs_stopped_there():
    X, y = table()
    run = TrainingRun(X, y, Parameters(n_clauses=10, harvest=3))
    run.learn(70)
    run.change(s=3.0)
    run.learn(60)
    machines = moments(run)
    assert [machine.state.step for machine in machines] == [32, 65, 97, 130]
    assert machines[-1] is run.machine
    for machine in machines[:2]:
        fresh = TrainingRun(X, y, Parameters(n_clauses=10))
        fresh.learn(machine.state.step)
        np.testing.assert_array_equal(machine.state.planes, fresh.machine.state.planes)
    short = TrainingRun(X, y, Parameters(n_clauses=10, harvest=3))
    short.learn(2)
    assert [machine.state.step for machine in moments(short)] == [1, 2]
    votes = TrainingRun(X, y, Parameters(n_clauses=10, harvest=3, weights="none"))
    votes.learn(100)
    assert len(moments(votes)) == 1


@pytest.mark.parametrize(("kind", "n_classes", "representation"), KINDS)
def test_rules_predict_as_the_model_and_survive_a_file(tmp_path, kind, n_classes, representation):
    model, X, y = fitted(kind, n_classes, representation)
    rows = X.sample(400, replace=True, random_state=0).reset_index(drop=True)
    rows["a"] = np.random.default_rng(1).normal(scale=3, size=400)
    for some in (X, rows):
        np.testing.assert_array_equal(model.rules_.predict(some), model.predict(some))
    shares = model.rules_.outputs(X).mean(axis=0)
    known = [
        (rule.support, share)
        for rule, share in zip(model.rules_, shares, strict=True)
        if rule.support is not None
    ]
    assert len(known) > 2
    np.testing.assert_allclose(*zip(*known, strict=True))
    model.save(tmp_path / "model")
    again = tmcore.load(tmp_path / "model")
    assert again.harvest == 3
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
    assert again.rules_.to_text() == model.rules_.to_text()
    assert model.score(X, y) > 0.5


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_refit_chooses_from_the_clauses_of_every_moment(n_classes):
    model, X, y = fitted(TsetlinClassifier, n_classes, "intervals")
    run = TrainingRun(X, y, Parameters(n_clauses=20, epochs=8, random_state=1))
    outputs, lengths = [], []
    for _ in range(4):
        run.learn(300)
        outputs.insert(0, run.machine.outputs(run.data).reshape(len(y), -1))
        lengths.insert(0, run.machine.bank().literals.ravel())
    found = refit(np.hstack(outputs), y, np.concatenate(lengths), n_classes, random_state=1)
    votes = (np.hstack(outputs)[:, found.kept].astype(np.int64) @ found.weights + found.intercept) / 2**16
    decision = model.decision_function(X)
    np.testing.assert_array_equal(votes[:, 0] + 2**-17 if n_classes == 2 else votes, decision)
    alone = fitted(TsetlinClassifier, n_classes, "intervals", harvest=0)[0]
    assert model.settled_.bank.weights.size > alone.settled_.bank.weights.size / 2
    assert (model.decision_function(X) != alone.decision_function(X)).any()


@pytest.mark.parametrize(("kind", "n_classes", "representation"), KINDS[1:3])
def test_the_dial_turns_through_harvested_clauses(kind, n_classes, representation):
    model, X, y = fitted(kind, n_classes, representation)
    (own,) = (point for point in model.path_ if point.strength == 1)
    assert own.n_rules == len(model.settled_.weights)
    np.testing.assert_array_equal(own.kept, model.settled_.clauses)
    small = model.at(max_rules=3)
    assert 0 < len(small.rules_) <= 3
    np.testing.assert_array_equal(small.rules_.predict(X), small.predict(X))
    _, task = model._dial_rows
    fold = RetrainFold(model.encoder_, model.machine_.parameters, model._dial_rows[0], task)
    rows = np.arange(len(y))
    outputs, held_out, lengths = fold(rows, rows[:20])
    np.testing.assert_array_equal(held_out, outputs[:20])
    assert (
        outputs.shape[1] == len(lengths) == model.settled_.bank.literals.size
    )  # trained on all rows, it is the model


def test_a_run_harvests_as_the_estimator_does():
    X, y = table()
    model = TsetlinClassifier(n_clauses=20, epochs=6, harvest=2, random_state=4).fit(X, y)
    run = TrainingRun(X, y, Parameters(n_clauses=20, harvest=2, random_state=4))
    run.learn(900)
    np.testing.assert_array_equal(run.settle().decision_function(X), model.decision_function(X))
    stopped = TsetlinClassifier(n_clauses=20, epochs=30, harvest=2, early_stopping=True, random_state=4).fit(
        X, y
    )
    np.testing.assert_array_equal(stopped.rules_.predict(X), stopped.predict(X))
    assert stopped.settled_.bank.step == 120 * stopped.best_epoch_


def test_batches_have_nothing_to_harvest_and_labels_alone_still_settle():
    X, y = table()
    models = [TsetlinClassifier(n_clauses=20, harvest=harvest, random_state=4) for harvest in (0, 3)]
    for model in models:
        model.partial_fit(X, y).settle(X, y)
    np.testing.assert_array_equal(models[0].decision_function(X), models[1].decision_function(X))
    same = pd.DataFrame({"a": np.ones(30)})  # no clause tells anything
    model = TsetlinClassifier(n_clauses=10, epochs=2, harvest=2).fit(same, np.arange(30) % 3 == 0)
    assert len(model.rules_) == 0
    assert not model.predict(same).any()
    with pytest.raises(ValueError, match="harvest is -1"):
        TsetlinClassifier(harvest=-1).fit(X, y)
