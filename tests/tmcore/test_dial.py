"""Points of the dial are the models they say they are, and their scores those of retrained machines."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier

from tmcore import dial
from tmcore.dial import Point, at, measure, path, score_path
from tmcore.refit import refit

ONE = 2**16


def clauses(seed: int = 0, n_rows: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Twenty clauses, of which the first four decide a noisy class."""
    rng = np.random.default_rng(seed)
    outputs = rng.random((n_rows, 20)) < rng.uniform(0.2, 0.6, size=20)
    log_odds = outputs[:, :4] @ np.array([2.0, -2.5, 1.5, 0.8]) - 0.3
    return outputs, (rng.random(n_rows) < 1 / (1 + np.exp(-log_odds))).astype(np.int64)


def three_classes(n_rows: int = 240) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 3, size=n_rows)
    return rng.random((n_rows, 9)) < np.where(labels[:, None] == np.arange(9) % 3, 0.8, 0.2), labels


@pytest.fixture
def few_points(monkeypatch):
    """A coarse path, where every fold makes its own."""
    monkeypatch.setattr(dial, "N_POINTS", 12)


LENGTHS = np.arange(20) % 4 + 1


def test_the_path_runs_from_no_rule_to_all():
    outputs, labels = clauses()
    points = path(outputs, labels, LENGTHS, 2, random_state=0)
    n_rules = [point.n_rules for point in points]
    assert n_rules == sorted(set(n_rules))
    assert n_rules[:3] == [0, 1, 2]
    assert n_rules[-1] >= 19
    share = labels.mean()
    assert points[0].intercept[0] == pytest.approx(ONE * np.log(share / (1 - share)), abs=1)
    for point in points:
        assert point.n_rules == len(point.kept) == len(point.weights)
        assert point.n_literals == LENGTHS[point.kept].sum()


def test_strength_1_is_the_refit_itself():
    for (outputs, labels), n_classes in ((clauses(), 2), (three_classes(), 3)):
        lengths = np.ones(outputs.shape[1], int)
        settled = refit(outputs, labels, lengths, n_classes, random_state=5)
        (point,) = [p for p in path(outputs, labels, lengths, n_classes, random_state=5) if p.strength == 1]
        assert point.kept.tolist() == settled.kept.tolist()
        assert np.abs(point.weights - settled.weights).max() <= 1  # from another start, within the tolerance
        assert np.abs(point.intercept - settled.intercept).max() <= 1


def test_clauses_are_chosen_by_the_strong_penalty_and_weighed_by_that_of_the_refit():
    outputs, labels = clauses(1)
    settled = refit(outputs, labels, LENGTHS, 2, random_state=0)
    strongest = np.abs(outputs.T @ (labels - labels.mean())).max()
    points = path(outputs, labels, LENGTHS, 2, random_state=0)
    few = [point for point in points if point.strength > 1 and point.n_rules > 1]
    assert len(few) > 2
    for point in few:
        C = 1 / (strongest * settled.strengths[0] * point.strength)
        chosen = LogisticRegression(C=C, l1_ratio=1.0, solver="saga", tol=1e-8, max_iter=20_000)
        assert np.flatnonzero(chosen.fit(outputs, labels).coef_[0]).tolist() == point.kept.tolist()
        C = 1 / (strongest * settled.strengths[0])
        weighed = LogisticRegression(C=C, l1_ratio=1.0, solver="saga", tol=1e-8, max_iter=20_000)
        weighed.fit(outputs[:, point.kept], labels)
        assert point.weights[:, 0] / ONE == pytest.approx(weighed.coef_[0], abs=1e-4)
        assert point.intercept[0] / ONE == pytest.approx(weighed.intercept_[0], abs=1e-4)


def test_weaker_points_are_scikit_learns_solution():
    outputs, labels = clauses(1)
    settled = refit(outputs, labels, LENGTHS, 2, random_state=0)
    strongest = np.abs(outputs.T @ (labels - labels.mean())).max()
    point = path(outputs, labels, LENGTHS, 2, random_state=0)[-1]
    C = 1 / (strongest * settled.strengths[0] * point.strength)
    saga = LogisticRegression(C=C, l1_ratio=1.0, solver="saga", tol=1e-8, max_iter=50_000).fit(
        outputs, labels
    )
    weights = np.zeros(20)
    weights[point.kept] = point.weights[:, 0] / ONE
    assert weights == pytest.approx(saga.coef_[0], abs=2e-4)


def test_at_takes_the_most_rules_allowed():
    none = np.zeros(0, np.int64)
    points = tuple(Point(1.0, none, none, none, n_rules, 0) for n_rules in (0, 2, 5, 9))
    assert [at(points, limit).n_rules for limit in (0, 1, 2, 4, 5, 8, 9, 100)] == [0, 0, 2, 2, 5, 5, 9, 9]
    with pytest.raises(ValueError, match="no model with at most -1 rules; the least is 0"):
        at(points, -1)
    with pytest.raises(ValueError, match="because weights could not be refitted"):
        at((), 3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_measures_are_those_of_scikit_learn(n_classes):
    outputs, labels = clauses() if n_classes == 2 else three_classes()
    point = path(outputs, labels, np.ones(outputs.shape[1], int), n_classes, random_state=0)[3]
    accuracy, balanced, loss, auc = measure(point.votes(outputs), labels, n_classes)
    sums = (outputs[:, point.kept] @ point.weights + point.intercept) / ONE
    odds = 1 / (1 + np.exp(-sums))
    if n_classes == 2:
        odds = np.column_stack([1 - odds, odds])
        assert auc == pytest.approx(roc_auc_score(labels, odds[:, 1]))
    else:
        odds /= odds.sum(axis=1, keepdims=True)
        assert np.isnan(auc)
    assert accuracy == pytest.approx(accuracy_score(labels, odds.argmax(1)))
    assert balanced == pytest.approx(balanced_accuracy_score(labels, odds.argmax(1)))
    assert loss == pytest.approx(log_loss(labels, odds))


def test_one_class_alone_has_no_auc():
    assert np.isnan(measure(np.zeros((3, 1), np.int64), np.ones(3, np.int64), 2)[3])


def test_scores_are_means_over_folds_of_retrained_machines(few_points):
    """The "machine" of a fold permutes its clauses, so that only the number of rules can align the folds."""
    outputs, labels = clauses(2)
    points = path(outputs, labels, LENGTHS, 2, random_state=0)
    trained: list[set[int]] = []

    def train_fold(train: np.ndarray, held_out: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        trained.append(set(train.tolist()))
        assert not trained[-1] & set(held_out.tolist())
        order = np.random.default_rng(len(train) + held_out[0]).permutation(20)
        return outputs[train][:, order], outputs[held_out][:, order], LENGTHS[order]

    scored = score_path(points, train_fold, labels, 2, random_state=0)
    assert len(trained) == 5
    assert [p.kept.tolist() for p in scored] == [p.kept.tolist() for p in points]
    i = 4
    expected = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(outputs, labels):
        fold = path(outputs[train], labels[train], LENGTHS, 2, random_state=0)
        model = [p for p in fold if p.n_rules <= points[i].n_rules][-1]
        sums = outputs[test][:, model.kept] @ model.weights[:, 0] / ONE + model.intercept[0] / ONE
        odds = 1 / (1 + np.exp(-sums))
        expected.append(
            [
                accuracy_score(labels[test], odds >= 0.5),
                balanced_accuracy_score(labels[test], odds >= 0.5),
                log_loss(labels[test], odds),
                roc_auc_score(labels[test], odds),
            ]
        )
    scores = scored[i].scores
    assert scores is not None
    assert scores.auc is not None
    for estimate, values in zip(
        (scores.accuracy, scores.balanced_accuracy, scores.log_loss, scores.auc),
        np.array(expected).T,
        strict=True,
    ):
        assert estimate.mean == pytest.approx(values.mean(), abs=1e-4)
        assert estimate.error == pytest.approx(values.std(ddof=1) / np.sqrt(5), abs=1e-4)


def test_clauses_that_know_their_rows_score_no_better_than_chance(few_points):
    """Every clause remembers class 1 of its training rows: fixed clauses look perfect, retrained ones do not."""
    labels = np.random.default_rng(0).integers(0, 2, 200)
    everything = np.tile(labels[:, None] == 1, 4)
    points = path(everything, labels, np.ones(4, int), 2, random_state=0)

    def train_fold(train: np.ndarray, held_out: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        unknown = np.random.default_rng(1).random((len(held_out), 4)) < 0.5
        return everything[train], unknown, np.ones(4, int)

    scored = score_path(points, train_fold, labels, 2, random_state=0)
    best = scored[-1]
    assert ((best.votes(everything)[:, 0] >= 0) == labels).all()
    assert best.scores is not None
    assert best.scores.accuracy.mean == pytest.approx(0.5, abs=0.1)
    assert best.scores.log_loss.mean > 1


def test_three_classes_have_scores_but_no_auc(few_points):
    outputs, labels = three_classes()
    points = path(outputs, labels, np.ones(9, int), 3, random_state=0)
    scored = score_path(
        points, lambda a, b: (outputs[a], outputs[b], np.ones(9, int)), labels, 3, random_state=0
    )
    scores = scored[-1].scores
    assert scores is not None
    assert scores.auc is None
    reference = OneVsRestClassifier(LogisticRegression(C=1.0)).fit(outputs, labels).score(outputs, labels)
    assert scores.accuracy.mean == pytest.approx(reference, abs=0.05)


def test_rare_classes_and_a_stop_leave_the_points_without_scores():
    outputs, labels = clauses()
    points = path(outputs, labels, LENGTHS, 2, random_state=0)

    def never(train: np.ndarray, held_out: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        raise AssertionError("must not train")

    rare = (np.arange(300) < 2).astype(int)
    assert score_path(points, never, rare, 2, random_state=0) == points
    stop = threading.Event()
    stop.set()
    assert score_path(points, never, labels, 2, random_state=0, stop=stop) == points
    assert path(outputs, labels, LENGTHS, 2, random_state=0, stop=stop) == ()
    assert path(outputs, np.zeros(300, int), LENGTHS, 2, random_state=0) == ()
    assert dial.SCORE_FOLDS == 5
