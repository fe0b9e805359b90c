"""Refitted weights solve the stated problem, and nothing makes the refit fail or warn."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from tmcore import refit as module
from tmcore.refit import Refit, refit, refit_numbers

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


def chosen_c(result: Refit, outputs: np.ndarray, labels: np.ndarray) -> float:
    """scikit-learn's C, the inverse of the penalty, from the gradient at which the first weight leaves zero."""
    strongest = np.abs(outputs.T @ (labels - labels.mean())).max()
    return 1 / (strongest * result.strengths[0])


def equal_to_saga(result, outputs, labels):
    """Compare with scikit-learn's own solver at the penalty that was chosen; returns the weights."""
    weights, intercept = as_floats(result, outputs.shape[1])
    saga = LogisticRegression(
        C=chosen_c(result, outputs, labels),
        l1_ratio=1.0,
        solver="saga",
        tol=1e-8,
        max_iter=20_000,
        random_state=0,
    ).fit(outputs.astype(float), labels)
    assert weights[:, 0] == pytest.approx(saga.coef_[0], abs=1e-4)
    assert intercept[0] == pytest.approx(saga.intercept_[0], abs=1e-4)
    return weights


def test_weights_are_those_of_an_independent_solver():
    outputs, labels = clauses()
    result = refit(outputs, labels, np.ones(20, int), 2, random_state=0)
    weights = equal_to_saga(result, outputs, labels)
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
    gradient = chosen_c(result, outputs, labels) * (residuals @ outputs)
    has_weight = weights[:, 0] != 0
    assert 0 < has_weight.sum() < 20
    assert gradient[has_weight] == pytest.approx(np.sign(weights[has_weight, 0]), abs=1e-3)
    assert np.abs(gradient[~has_weight]).max() <= 1 + 5e-3
    assert residuals.sum() == pytest.approx(0, abs=5e-3)


def test_one_clause_by_hand():
    """60 rows where it holds, 45 of them class 1; 40 where not, 10 of them class 1."""
    holds = np.repeat([True, False], [60, 40])
    labels = np.concatenate([np.repeat([1, 0], [45, 15]), np.repeat([1, 0], [10, 30])])
    result = refit(holds[:, None], labels, np.array([1]), 2, random_state=0)
    C = chosen_c(result, holds[:, None], labels)

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
        pytest.approx(best[0], abs=1e-4),
        pytest.approx(best[1], abs=1e-4),
    )
    # Without a penalty: log(45/15) - log(10/30) = 2.197 and log(10/30) = -1.099; the penalty makes both smaller.
    assert 1.5 < weights[0, 0] < 2.198


def test_the_penalty_is_the_strongest_whose_loss_is_hardly_above_the_smallest():
    outputs, labels = clauses(2)
    result = refit(outputs, labels, np.ones(20, int), 2, random_state=0)
    losses = [point.loss for point in result.path]
    best = losses.index(min(losses))
    allowed = losses[best] + 0.25 * result.path[best].error
    (chosen,) = [i for i, point in enumerate(result.path) if point.strength == result.strengths[0]]
    assert losses[chosen] <= allowed
    assert all(loss > allowed for loss in losses[:chosen])
    assert result.path[0].n_rules <= 2  # at most what the folds differ by from the penalty that leaves none
    assert [point.strength for point in result.path] == sorted(
        (p.strength for p in result.path), reverse=True
    )
    assert len(losses) - best - 1 <= 2


def test_losses_of_the_path_are_those_of_an_independent_cross_validation():
    outputs, labels = clauses(7)
    result = refit(outputs, labels, np.ones(20, int), 2, random_state=3)
    point = result.path[4]
    strongest = np.abs(outputs.T @ (labels - labels.mean())).max()
    losses, counts = [], []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=3).split(outputs, labels):
        C = 1 / (strongest * point.strength)
        saga = LogisticRegression(C=C, l1_ratio=1.0, solver="saga", tol=1e-8, max_iter=20_000)
        saga.fit(outputs[train], labels[train])
        losses.append(log_loss(labels[test], saga.predict_proba(outputs[test])))
        counts.append(np.count_nonzero(saga.coef_))
    assert point.loss == pytest.approx(np.mean(losses), abs=1e-4)
    assert point.error == pytest.approx(np.std(losses, ddof=1) / np.sqrt(5), abs=1e-4)
    assert point.n_rules == np.mean(counts)


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


def test_row_weights_are_those_of_scikit_learn_and_do_not_depend_on_their_scale():
    outputs, labels = clauses(8)
    row_weights = np.where(labels == 1, 3.0, 0.5)
    result = refit(outputs, labels, np.ones(20, int), 2, random_state=0, row_weights=row_weights)
    weights, intercept = as_floats(result, 20)
    relative = row_weights / row_weights.mean()
    residuals = relative * (labels - np.average(labels, weights=row_weights))
    C = 1 / (np.abs(outputs.T @ residuals).max() * result.strengths[0])
    saga = LogisticRegression(C=C, l1_ratio=1.0, solver="saga", tol=1e-8, max_iter=20_000, random_state=0)
    saga.fit(outputs.astype(float), labels, sample_weight=relative)
    assert weights[:, 0] == pytest.approx(saga.coef_[0], abs=1e-4)
    assert intercept[0] == pytest.approx(saga.intercept_[0], abs=1e-4)
    scaled = refit(outputs, labels, np.ones(20, int), 2, random_state=0, row_weights=1000 * row_weights)
    assert np.abs(scaled.weights - result.weights).max() <= 1


# -- bounds on time ---------------------------------------------------------------------------------------------


def test_a_stop_is_seen_and_said():
    outputs, labels = clauses()
    stop = threading.Event()
    stop.set()
    result = refit(outputs, labels, np.ones(20, int), 2, random_state=0, stop=stop)
    assert "settling was stopped" in str(result.reason)
    assert (len(result.kept), result.intercept.tolist()) == (0, [0])


def test_many_rows_choose_the_penalty_on_a_sample_and_fit_on_all(monkeypatch):
    """2,000 rows, of which 400 choose the penalty: the weights still solve the problem of all rows."""
    monkeypatch.setattr(module, "MAX_ROWS", 400)
    outputs, labels = clauses(6, 2000)
    result = refit(outputs, labels, np.ones(20, int), 2, random_state=0)
    equal_to_saga(result, outputs, labels)


def test_a_class_too_rare_for_the_sample_is_in_every_fold(monkeypatch):
    monkeypatch.setattr(module, "MAX_ROWS", 100)
    labels = (np.arange(5000) < 6).astype(int)
    outputs = np.stack([np.arange(5000) < 12, np.arange(5000) % 3 == 0], axis=1)
    result = refit(outputs, labels, np.ones(2, int), 2, random_state=0)
    assert result.reason is None
    assert result.weights[result.kept.tolist().index(0), 0] > 0


def test_three_thousand_clauses_take_seconds():
    """More clauses than come in at once, most of them useless."""
    rng = np.random.default_rng(0)
    outputs = rng.random((400, 3000)) < 0.3
    labels = (outputs[:, 7] ^ (rng.random(400) < 0.1)).astype(int)
    result = refit(outputs, labels, np.ones(3000, int), 2, random_state=0)
    assert 7 in result.kept.tolist()
    assert len(result.kept) < 100


# -- regression -------------------------------------------------------------------------------------------------


def numbers(seed: int = 0, n_rows: int = 200) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    outputs = rng.random((n_rows, 15)) < rng.uniform(0.2, 0.6, size=15)
    return outputs, 5 + 4 * outputs[:, 0] - 3 * outputs[:, 1] + rng.normal(size=n_rows)


def test_regression_is_the_lasso_of_scikit_learn():
    outputs, targets = numbers()
    result = refit_numbers(outputs, targets, np.ones(15, int), random_state=0)
    weights, intercept = as_floats(result, 15)
    strongest = np.abs(outputs.T @ (targets - targets.mean())).max()
    lasso = Lasso(alpha=strongest * result.strengths[0] / len(targets), tol=1e-10, max_iter=100_000)
    lasso.fit(outputs.astype(float), targets)
    assert weights[:, 0] == pytest.approx(lasso.coef_, abs=2e-5)
    assert intercept[0] == pytest.approx(lasso.intercept_, abs=2e-5)
    assert weights[0, 0] > 3
    assert weights[1, 0] < -2
    predicted = outputs @ weights[:, 0] + intercept[0]
    assert 1 - ((targets - predicted) ** 2).mean() / targets.var() > 0.8


def test_equal_targets_give_the_intercept_alone():
    outputs, _ = numbers()
    result = refit_numbers(outputs, np.full(200, 7.25), np.ones(15, int), random_state=0)
    assert (len(result.kept), result.intercept.tolist(), result.reason) == (0, [int(7.25 * ONE)], None)


def test_regression_on_three_rows_keeps_the_votes():
    result = refit_numbers(np.eye(3, dtype=bool), np.arange(3.0), np.ones(3, int), random_state=0)
    assert "there are 3 rows" in str(result.reason)


def test_an_infinite_target_is_named():
    outputs, targets = numbers()
    targets[4] = np.inf
    with pytest.raises(ValueError, match="row 5 is inf"):
        refit_numbers(outputs, targets, np.ones(15, int))
