"""The dial of a regressor: points are Lasso solutions and models of their own, scores those of retrained machines."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Lasso
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import KFold

from tmcore import TsetlinRegressor, dial, dial_numbers
from tmcore.dial_numbers import MeasureNumbers
from tmcore.refit import distinct, refit_numbers
from tmcore.target_range import TargetRange


def clauses(seed=0, n_rows=200):
    """Twelve clauses, of which the first three make the number, on a scale of 0 to 20."""
    rng = np.random.default_rng(seed)
    outputs = rng.random((n_rows, 12)) < rng.uniform(0.2, 0.6, size=12)
    return outputs, 5 + outputs[:, :3] @ np.array([6.0, -3.0, 2.0]) + rng.normal(size=n_rows)


LENGTHS = np.arange(12) % 3 + 1


@pytest.fixture
def few_points(monkeypatch):
    monkeypatch.setattr(dial, "N_POINTS", 12)


def test_points_are_scikit_learns_lasso_and_strength_1_is_the_refit():
    outputs, votes = clauses()
    points = dial_numbers.path(outputs, votes, LENGTHS, 0)
    n_rules = [point.n_rules for point in points]
    assert n_rules == sorted(set(n_rules))
    assert n_rules[0] == 0
    assert points[0].intercept[0] / 2**16 == pytest.approx(votes.mean(), abs=1e-4)
    settled = refit_numbers(outputs, votes, LENGTHS, 0)
    (own,) = (point for point in points if point.strength == 1)
    np.testing.assert_array_equal(own.weights, settled.weights)
    np.testing.assert_array_equal(own.kept, settled.kept)
    usable = distinct(outputs, LENGTHS)
    centred = votes - votes.mean()
    strongest = np.abs(centred @ outputs[:, usable]).max()
    for point in points:
        if point.strength < 1:  # above it the weights are settled with the refit's penalty
            alpha = strongest * settled.strengths[0] * point.strength / len(votes)
            reference = Lasso(alpha=alpha, tol=1e-10).fit(outputs[:, usable].astype(float), votes)
            expected = np.zeros(12)
            expected[usable] = reference.coef_
            found = np.zeros(12)
            found[point.kept] = point.weights[:, 0] / 2**16
            np.testing.assert_allclose(found, expected, atol=2e-4)
    assert dial_numbers.path(outputs[:3], votes[:3], LENGTHS, 0) == ()


def test_scores_are_means_over_folds(few_points):
    outputs, votes = clauses(1)
    target_range = TargetRange(100.0, 180.0)
    targets = 100 + votes * 4  # T = 20 votes are 80
    measured = MeasureNumbers(targets, target_range, 20.0, 0)
    points = dial_numbers.path(outputs, votes, LENGTHS, 0)
    trained = []

    def train_fold(train, held_out):
        trained.append(set(train.tolist()))
        assert not trained[-1] & set(held_out.tolist())
        order = np.random.default_rng(held_out[0]).permutation(12)
        return outputs[train][:, order], outputs[held_out][:, order], LENGTHS[order]

    scored = dial_numbers.score_path(points, train_fold, measured)
    assert len(trained) == 5
    i = 3
    expected = []
    for train, test in KFold(5, shuffle=True, random_state=0).split(votes):
        fold = dial_numbers.path(outputs[train], votes[train], LENGTHS, 0)
        model = [point for point in fold if point.n_rules <= points[i].n_rules][-1]
        sums = (outputs[test][:, model.kept] @ model.weights[:, 0] + model.intercept[0]) / 2**16
        predicted = 100 + sums * 4
        expected.append([mean_absolute_error(targets[test], predicted), r2_score(targets[test], predicted)])
    scores = scored[i].scores
    for estimate, values in zip((scores.mae, scores.r2), np.array(expected).T, strict=True):
        assert estimate.mean == pytest.approx(values.mean(), rel=1e-3)
        assert estimate.error == pytest.approx(values.std(ddof=1) / np.sqrt(5), rel=1e-3)
    few = MeasureNumbers(targets[:9], target_range, 20.0, 0)
    assert dial_numbers.score_path(points, train_fold, few) == points


def rows(n_rows=200, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)).round(1), columns=list("abc"))
    y = 1000 + 300.0 * (X["a"] > 0) - 125.0 * (X["b"] <= 0.5) + 40.0 * (X["c"] > 1)
    return X, y.to_numpy() + rng.normal(scale=10, size=n_rows)


def test_at_is_a_model_of_its_own_within_its_limits(tmp_path):
    X, y = rows()
    model = TsetlinRegressor(n_clauses=40, epochs=10, random_state=0).fit(X, y)
    (own,) = (point for point in model.path_ if point.strength == 1)
    assert own.n_rules == len(model.settled_.weights)
    text = model.rules_.to_text()
    two = model.at(max_rules=2)
    assert len(two.rules_) <= 2
    np.testing.assert_array_equal(two.rules_.predict(X), two.predict(X))
    heaviest = two.rules_[0]
    assert heaviest.text().startswith("a > ")
    assert heaviest.weights == pytest.approx(300, abs=40)
    short = model.at(max_literals=3)
    assert short.rules_.n_literals <= 3
    both = model.at(max_rules=4, max_literals=2)
    assert len(both.rules_) <= 2
    nothing = model.at(max_rules=0)
    np.testing.assert_allclose(nothing.predict(X), y.mean(), rtol=1e-6)
    assert model.rules_.to_text() == text
    scores = [one.score(X, y) for one in (nothing, model.at(max_rules=1), two)]
    assert scores == sorted(scores)
    two.save(tmp_path / "two")
    with pytest.raises(ValueError, match="at most -1 literals; the least is 0 rules and 0 literals"):
        model.at(max_literals=-1)


def test_score_path_is_what_regressors_trained_per_fold_reach(few_points):
    """Every level and both ends of the range are in every fold, so that a fresh regressor reads the rows alike."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 6, size=(150, 2)), columns=list("ab"))
    y = 1000 + 300.0 * (X["a"] > 2) - 125.0 * (X["b"] <= 3) + rng.choice([-10.0, 0.0, 10.0], 150)
    model = TsetlinRegressor(n_clauses=20, epochs=5, random_state=3).fit(X, y)
    points = model.score_path()
    r2, mae = [], []
    for train, test in KFold(5, shuffle=True, random_state=3).split(X):
        fold = TsetlinRegressor(n_clauses=20, epochs=5, random_state=3).fit(X.iloc[train], y[train])
        predicted = [fold.at(point.n_rules).predict(X.iloc[test]) for point in points]
        r2.append([r2_score(y[test], one) for one in predicted])
        mae.append([mean_absolute_error(y[test], one) for one in predicted])
    np.testing.assert_allclose([point.scores.r2.mean for point in points], np.mean(r2, axis=0), atol=1e-6)
    np.testing.assert_allclose([point.scores.mae.mean for point in points], np.mean(mae, axis=0), rtol=1e-6)
    assert points[2].scores.r2.mean > 0.9
