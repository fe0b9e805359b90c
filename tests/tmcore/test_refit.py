"""Refitted weights solve the stated problem, and nothing makes the refit fail or warn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from tmcore.refit import Refit, refit

ONE = 2**16


def clauses(seed: int = 0, n_rows: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Twenty random clauses, of which the first three decide a noisy class."""
    rng = np.random.default_rng(seed)
    outputs = rng.random((n_rows, 20)) < rng.uniform(0.2, 0.6, size=20)
    log_odds = 2.0 * outputs[:, 0] - 2.5 * outputs[:, 1] + 1.5 * outputs[:, 2] - 0.3
    return outputs, (rng.random(n_rows) < 1 / (1 + np.exp(-log_odds))).astype(np.int64)


def as_floats(result: Refit, n_clauses: int) -> tuple[np.ndarray, np.ndarray]:
    weights = np.zeros((n_clauses, result.weights.shape[1]))
    weights[result.kept] = result.weights / ONE
    return weights, result.intercept / ONE


def chosen_penalty(result: Refit, output: int = 0) -> float:
    points = [point for point in result.path if point.output == output]
    return min(points, key=lambda point: point.log_loss).C


def test_weights_are_those_of_an_independent_solver():
    outputs, labels = clauses()
    result = refit(outputs, labels, np.ones(20, int), 2, random_state=0)
    weights, intercept = as_floats(result, 20)
    # saga leaves the intercept without penalty; liblinear needs intercept_scaling for that.
    saga = LogisticRegression(
        C=chosen_penalty(result), l1_ratio=1.0, solver="saga", tol=1e-8, max_iter=20_000, random_state=0
    ).fit(outputs.astype(float), labels)
    assert weights[:, 0] == pytest.approx(saga.coef_[0], abs=5e-3)
    assert intercept[0] == pytest.approx(saga.intercept_[0], abs=5e-3)
    assert result.reason is None
    assert weights[0, 0] > 0.5
    assert weights[1, 0] < -0.5
    assert weights[2, 0] > 0.5


def test_the_penalised_loss_is_at_its_minimum():
    """At the optimum the gradient is C * residuals = sign(w) where w is not 0, and at most 1 where it is."""
    outputs, labels = clauses(1)
    result = refit(outputs, labels, np.ones(20, int), 2, random_state=0)
    weights, intercept = as_floats(result, 20)
    residuals = labels - 1 / (1 + np.exp(-(outputs @ weights[:, 0] + intercept[0])))
    gradient = chosen_penalty(result) * (residuals @ outputs)
    has_weight = weights[:, 0] != 0
    assert 0 < has_weight.sum() < 20
    assert gradient[has_weight] == pytest.approx(np.sign(weights[has_weight, 0]), abs=5e-3)
    assert np.abs(gradient[~has_weight]).max() <= 1 + 5e-3
    assert residuals.sum() == pytest.approx(0, abs=0.1)


def test_one_clause_by_hand():
    """60 rows where it holds, 45 of them class 1; 40 where not, 10 of them class 1."""
    holds = np.repeat([True, False], [60, 40])
    labels = np.concatenate([np.repeat([1, 0], [45, 15]), np.repeat([1, 0], [10, 30])])
    result = refit(holds[:, None], labels, np.array([1]), 2, random_state=0)
    C = chosen_penalty(result)

    def loss(p: np.ndarray) -> float:
        w, b = p
        log_losses = 45 * np.log1p(np.exp(-(b + w))) + 15 * np.log1p(np.exp(b + w))
        log_losses += 10 * np.log1p(np.exp(-b)) + 30 * np.log1p(np.exp(b))
        return abs(w) + C * log_losses

    best = minimize(
        loss, np.array([1.0, -1.0]), method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10}
    ).x
    weights, intercept = as_floats(result, 1)
    assert (weights[0, 0], intercept[0]) == (
        pytest.approx(best[0], abs=2e-3),
        pytest.approx(best[1], abs=2e-3),
    )
    # Without a penalty: log(45/15) - log(10/30) = 2.197 and log(10/30) = -1.099; the penalty makes both smaller.
    assert 1.5 < weights[0, 0] < 2.198


def test_the_penalty_has_the_smallest_cross_validated_loss():
    outputs, labels = clauses(2)
    result = refit(outputs, labels, np.ones(20, int), 2, random_state=0)
    losses = [point.log_loss for point in result.path]
    assert result.path[0].n_rules <= 2  # at most what the folds differ by from the penalty that leaves none
    assert [point.C for point in result.path] == sorted(point.C for point in result.path)
    assert losses[0] > min(losses)
    assert len(losses) - losses.index(min(losses)) - 1 <= 2


def test_useless_columns_go_and_the_shortest_of_equal_ones_stays():
    outputs, labels = clauses(3)
    informative = outputs[:, 0]
    columns = np.stack(
        [
            np.zeros_like(informative),  # never true
            informative,  # five literals
            np.ones_like(informative),  # always true
            informative,  # two literals
            informative,  # two literals, later
        ],
        axis=1,
    )
    result = refit(columns, labels, np.array([1, 5, 1, 2, 2]), 2, random_state=0)
    assert result.kept.tolist() == [3]


def test_clauses_of_one_polarity_get_the_sign_of_what_they_show():
    """Clauses that hold in rows of class 0 only: all weights negative, whatever they voted for."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 60)
    outputs = (rng.random((120, 6)) < 0.5) & (labels == 0)[:, None]
    result = refit(outputs, labels, np.ones(6, int), 2, random_state=0)
    assert len(result.kept) >= 3
    assert (result.weights < 0).all()
    assert result.intercept[0] > 0
    swapped = refit(outputs, 1 - labels, np.ones(6, int), 2, random_state=0)
    assert (swapped.weights > 0).all()


def test_many_classes_are_each_fitted_against_the_rest():
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 3, size=240)
    outputs = rng.random((240, 9)) < np.where(labels[:, None] == np.arange(9) % 3, 0.8, 0.2)
    result = refit(outputs, labels, np.ones(9, int), 3, random_state=0)
    assert result.weights.shape == (len(result.kept), 3)
    weights, intercept = as_floats(result, 9)
    for k in range(3):
        binary = refit(outputs, (labels == k).astype(int), np.ones(9, int), 2, random_state=0)
        alone, start = as_floats(binary, 9)
        assert weights[:, k].tolist() == alone[:, 0].tolist()
        assert intercept[k] == start[0]
    predicted = (outputs @ weights + intercept).argmax(axis=1)
    assert (predicted == labels).mean() > 0.85
    assert {point.output for point in result.path} == {0, 1, 2}


@pytest.mark.parametrize(
    ("labels", "n_classes", "reason"),
    [
        ([1] * 30, 2, "a class has no rows"),
        ([0] * 30, 1, "a class has no rows"),
        ([0] * 29 + [1], 2, "a class has only one row"),
        ([0] * 15 + [1] * 14 + [2], 3, "a class has only one row"),
    ],
)
def test_too_few_rows_of_a_class_keep_the_votes_and_say_so(labels, n_classes, reason):
    outputs = np.random.default_rng(0).random((30, 5)) < 0.5
    result = refit(outputs, np.array(labels), np.ones(5, int), n_classes, random_state=0)
    assert reason in str(result.reason)
    n_outputs = n_classes if n_classes > 2 else 1
    assert (len(result.kept), result.weights.shape, result.intercept.tolist()) == (
        0,
        (0, n_outputs),
        [0] * n_outputs,
    )


@pytest.mark.parametrize("rows_of_class_1", [2, 3, 4])
def test_few_rows_of_a_class_make_fewer_folds(rows_of_class_1):
    labels = (np.arange(40) < rows_of_class_1).astype(int)
    outputs = np.stack([np.arange(40) < 6, np.arange(40) % 3 == 0], axis=1)
    result = refit(outputs, labels, np.ones(2, int), 2, random_state=0)
    assert result.reason is None
    assert result.weights[result.kept.tolist().index(0), 0] > 0


@pytest.mark.parametrize(
    "outputs", [np.zeros((30, 4), bool), np.ones((30, 4), bool), np.zeros((30, 0), bool)]
)
def test_without_a_usable_clause_the_intercept_is_the_log_odds(outputs):
    result = refit(outputs, np.repeat([0, 1], [20, 10]), np.ones(outputs.shape[1], int), 2, random_state=0)
    assert result.reason is None
    assert len(result.kept) == 0
    assert result.intercept[0] == round(np.log(10 / 20) * ONE)


def test_a_clause_that_shows_nothing_gets_no_weight():
    outputs = np.tile([True, False], 20)[:, None]
    labels = np.repeat([0, 1], 20)
    result = refit(outputs, labels, np.ones(1, int), 2, random_state=0)
    assert (len(result.kept), result.intercept.tolist(), result.reason) == (0, [0], None)


def test_the_same_seed_gives_the_same_weights():
    outputs, labels = clauses(5)
    first, second = (refit(outputs, labels, np.ones(20, int), 2, random_state=7) for _ in range(2))
    assert first.kept.tolist() == second.kept.tolist()
    assert first.weights.tolist() == second.weights.tolist()
    assert first.intercept.tolist() == second.intercept.tolist()


def test_perfectly_separable_rows_settle_without_a_warning():
    labels = np.repeat([0, 1], 50)
    outputs = np.stack([labels == 1, labels == 0, np.arange(100) % 2 == 0], axis=1)
    result = refit(outputs, labels, np.ones(3, int), 2, random_state=0)
    weights, intercept = as_floats(result, 3)
    assert ((outputs @ weights[:, 0] + intercept[0] >= 0) == labels).all()
