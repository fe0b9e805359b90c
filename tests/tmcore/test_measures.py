"""Measures and their intervals, against scikit-learn, formulas written out, and resampled rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import metrics

from tmcore.measures import Answers, ClassMeasures, NumberMeasures, measures_for
from tmcore.uncertainty import auc_interval, f1_difference, mean_interval, r2_interval, share_interval


def answers(n: int, n_classes: int, seed: int) -> Answers:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n)
    shares = rng.dirichlet(np.ones(n_classes), n) + 0.7 * np.eye(n_classes)[labels]
    shares /= shares.sum(axis=1, keepdims=True)
    return Answers(labels, shares.argmax(axis=1), shares)


def numbers(n: int, seed: int) -> Answers:
    rng = np.random.default_rng(seed)
    truth = rng.gamma(3, 20, n)
    return Answers(truth, truth + rng.normal(scale=18, size=n), np.zeros((n, 0)))


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_scores_of_classes_are_scikit_learns(n_classes: int) -> None:
    told = answers(90, n_classes, 1)
    found = ClassMeasures(np.arange(n_classes)).scores(told)
    truth, predicted, shares = told.truth, told.predicted, told.shares
    average = "binary" if n_classes == 2 else "macro"
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(truth, predicted))
    assert found["balanced accuracy"] == pytest.approx(metrics.balanced_accuracy_score(truth, predicted))
    assert found["F1"] == pytest.approx(metrics.f1_score(truth, predicted, average=average))
    each = [metrics.roc_auc_score(truth == k, shares[:, k]) for k in range(n_classes)]
    assert found["AUC"] == pytest.approx(np.mean(each))


def test_auc_says_why_it_cannot_be_computed() -> None:
    measures = ClassMeasures(np.array(["cat", "dog", "owl"]))
    told = answers(40, 3, 2)
    few = Answers(np.where(told.truth == 1, 0, told.truth), told.predicted, told.shares)
    assert measures.missing(told) == {}
    assert measures.missing(few) == {"AUC": "no test row is 'dog'"}
    assert np.isnan(measures.scores(few)["AUC"])
    assert np.isnan(measures.intervals(few)["AUC"]).all()
    strange = Answers(np.where(told.truth == 1, -1, told.truth), told.predicted, told.shares)
    assert measures.missing(strange) == {"AUC": "some test rows are of a class that training never saw"}
    flat = Answers(np.full(3, 7.0), np.array([6.0, 7.0, 9.0]), np.zeros((3, 0)))
    assert NumberMeasures().missing(flat) == {"R2": "all test rows have the same number"}


def test_rows_of_a_class_never_seen_are_wrong_and_spoil_no_interval() -> None:
    measures = ClassMeasures(np.array([0, 1]))
    predicted = np.array([1, 1, 0, 1] * 5 + [1, 0, 0, 1] * 5)
    told = Answers(np.array([-1, 1, 0, 1] * 10), predicted, np.full((40, 2), 0.5))
    found = measures.scores(told)
    assert found["accuracy"] == 0.625
    assert found["balanced accuracy"] == pytest.approx((0 + 0.75 + 1) / 3)  # one is never right
    assert found["F1"] == pytest.approx(2 * 15 / (20 + 25))  # 15 right of 20 true and 25 said
    for name, (low, high) in measures.intervals(told).items():
        assert name == "AUC" or low <= found[name] <= high


def test_interval_of_a_share_is_wilsons() -> None:
    low, high = share_interval(46, 54)
    z, p, n = stats.norm.ppf(0.975), 46 / 54, 54
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * (p * (1 - p) / n + z**2 / (4 * n**2)) ** 0.5
    assert (low, high) == (pytest.approx(middle - half), pytest.approx(middle + half))


def test_interval_of_the_auc_of_two_classes_is_delongs() -> None:
    told = answers(60, 2, 3)
    labels, shares = told.truth, told.shares
    positive, negative = shares[labels == 1, 1], shares[labels == 0, 1]
    wins = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    variance = wins.mean(1).var(ddof=1) / len(positive) + wins.mean(0).var(ddof=1) / len(negative)
    auc = metrics.roc_auc_score(labels, shares[:, 1])
    half = stats.norm.ppf(0.975) * variance**0.5 / (auc * (1 - auc))
    low, high = auc_interval(labels, shares)
    assert (np.log(low / (1 - low)), np.log(high / (1 - high))) == (
        pytest.approx(np.log(auc / (1 - auc)) - half),
        pytest.approx(np.log(auc / (1 - auc)) + half),
    )


def test_interval_of_the_mean_auc_agrees_with_resampling_the_rows_of_each_class() -> None:
    told = answers(240, 4, 5)
    rng = np.random.default_rng(0)
    places = [np.flatnonzero(told.truth == k) for k in range(4)]
    drawn = []
    for _ in range(600):
        rows = np.concatenate([rng.choice(own, len(own)) for own in places])
        drawn.append(metrics.roc_auc_score(told.truth[rows], told.shares[rows], multi_class="ovr"))
    assert auc_interval(told.truth, told.shares) == pytest.approx(np.percentile(drawn, [2.5, 97.5]), abs=0.01)


def test_resampled_intervals_agree_with_resampling_rows() -> None:
    told, other = answers(60, 2, 4), answers(60, 2, 5).predicted
    labels, predicted = told.truth, told.predicted
    rows = np.random.default_rng(9).integers(0, 60, (3000, 60))

    def f1(answer: np.ndarray) -> np.ndarray:
        true, said = labels[rows], answer[rows]
        return 2 * (true & said).sum(1) / (true.sum(1) + said.sum(1))

    assert ClassMeasures(np.array([0, 1])).intervals(told)["F1"] == pytest.approx(
        np.percentile(f1(predicted), [2.5, 97.5]), abs=0.02
    )
    assert f1_difference(labels, predicted, other, 2) == pytest.approx(
        np.percentile(f1(predicted) - f1(other), [2.5, 97.5]), abs=0.02
    )


def test_nothing_wrong_leaves_no_false_certainty() -> None:
    labels = np.arange(30) % 3
    right = Answers(labels, labels, np.eye(3)[labels])
    found = ClassMeasures(np.arange(3)).intervals(right)
    assert found["accuracy"] == share_interval(30, 30)
    assert found["accuracy"][0] < 0.9
    for name in ("balanced accuracy", "F1", "AUC"):
        assert np.isnan(found[name]).all()


def test_scores_of_numbers_are_scikit_learns() -> None:
    told = numbers(50, 1)
    found = NumberMeasures().scores(told)
    assert found["MAE"] == pytest.approx(metrics.mean_absolute_error(told.truth, told.predicted))
    assert found["R2"] == pytest.approx(metrics.r2_score(told.truth, told.predicted))
    train = np.array([1.0, 2.0, 6.0])
    assert NumberMeasures().simplest(train, np.array([1.0, 6.0])) == pytest.approx(2.5)  # off by 2 and by 3
    assert ClassMeasures(np.array([0, 1])).simplest(np.array([1, 1, 0]), np.array([1, 0, 0, 0])) == 0.25


def test_interval_of_a_mean_error_is_students() -> None:
    missed = np.abs(np.random.default_rng(2).normal(size=30))
    expected = stats.t.interval(0.95, 29, loc=missed.mean(), scale=stats.sem(missed))
    assert mean_interval(missed) == pytest.approx(expected)
    assert np.isnan(mean_interval(missed[:1])).all()
    first, second = numbers(40, 3), numbers(40, 4)
    second = Answers(first.truth, second.predicted, second.shares)
    gaps = np.abs(first.truth - first.predicted) - np.abs(first.truth - second.predicted)
    expected = stats.t.interval(0.95, 39, loc=gaps.mean(), scale=stats.sem(gaps))
    assert NumberMeasures().difference(first, second) == pytest.approx(expected)


def test_interval_of_r2_agrees_with_resampling_rows_and_holds_the_truth_as_often_as_it_says() -> None:
    told = numbers(300, 6)
    rows = np.random.default_rng(0).integers(0, 300, (2000, 300))
    truth, predicted = told.truth[rows], told.predicted[rows]
    drawn = 1 - ((truth - predicted) ** 2).sum(1) / ((truth - truth.mean(1, keepdims=True)) ** 2).sum(1)
    low, high = r2_interval(told.truth, told.predicted)
    assert (low, high) == pytest.approx(np.percentile(drawn, [2.5, 97.5]), abs=0.02)
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(400):  # of the truth, 1 of the variance 1 + 0.5 is not predicted: R2 is 1 - 0.5 / 1.5
        signal = rng.normal(size=60)
        low, high = r2_interval(signal + rng.normal(scale=0.5**0.5, size=60), signal)
        held += low <= 1 - 0.5 / 1.5 <= high
    assert 0.91 <= held / 400 <= 0.98
    assert np.isnan(r2_interval(np.ones(5), np.zeros(5))).all()


def test_measures_follow_the_task_and_the_class_to_predict() -> None:
    y = pd.Series(["no", "yes", "no", "no"])
    said = Answers(np.array([0, 1]), np.array([1, 1]), np.full((2, 2), 0.5))
    first = measures_for("classes", y, "no")
    assert isinstance(first, ClassMeasures)
    assert first.classes.tolist() == ["yes", "no"]
    assert first.scores(said)["F1"] == pytest.approx(2 / 3)
    assert isinstance(measures_for("numbers", [1.0, 2.0]), NumberMeasures)
