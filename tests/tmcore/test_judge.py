"""Judging: scores and intervals against scikit-learn and formulas written out; splits that keep their promise."""

from __future__ import annotations

import threading
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import metrics
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from tmcore import judge as judging
from tmcore.estimators import TsetlinClassifier
from tmcore.judge import cross_validated_shares, judge, scores
from tmcore.parameters import Parameters
from tmcore.splits import Split, column_split, group_splits, random_splits, time_order, time_splits

SMALL = Parameters(n_clauses=10, epochs=3, random_state=5)


def answers(n: int, n_classes: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n)
    shares = rng.dirichlet(np.ones(n_classes), n) + 0.7 * np.eye(n_classes)[labels]
    shares /= shares.sum(axis=1, keepdims=True)
    return labels, shares.argmax(axis=1), shares


def table(n: int = 80, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.choice(["x", "y", "z"], n)})
    return X, np.where(X["a"] + (X["b"] == "x") + rng.normal(scale=0.3, size=n) > 0.3, "yes", "no")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_scikit_learns(n_classes: int) -> None:
    labels, predicted, shares = answers(70, n_classes, 1)
    found = scores(labels, predicted, shares)
    average = "binary" if n_classes == 2 else "macro"
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(labels, predicted))
    assert found["balanced accuracy"] == pytest.approx(metrics.balanced_accuracy_score(labels, predicted))
    assert found["F1"] == pytest.approx(metrics.f1_score(labels, predicted, average=average))
    columns = shares[:, 1] if n_classes == 2 else shares
    assert found["AUC"] == pytest.approx(metrics.roc_auc_score(labels, columns, multi_class="ovr"))


def test_scores_of_rows_with_one_class_or_a_class_never_seen() -> None:
    assert np.isnan(scores(np.ones(3, int), np.array([1, 1, 0]), np.full((3, 2), 0.5))["AUC"])
    found = scores(np.array([-1, 1, 0, 1]), np.array([1, 1, 0, 1]), np.full((4, 2), 0.5))
    assert found["accuracy"] == 0.75
    assert np.isnan(found["AUC"])


def test_interval_of_a_mean_is_students_with_the_corrected_variance() -> None:
    values = np.array([0.70, 0.80, 0.75, 0.85])
    found = judging.mean_intervals(pd.DataFrame({"accuracy": values}), ratio=0.25).loc["accuracy"]
    variance = ((values - 0.775) ** 2).sum() / 3 * (1 / 4 + 0.25)
    half = 3.182446305284263 * variance**0.5  # Student's t, 3 degrees of freedom, 97.5 %
    assert found["mean"] == pytest.approx(0.775)
    assert (found["low"], found["high"]) == (pytest.approx(0.775 - half), pytest.approx(0.775 + half))
    assert (found["lowest"], found["highest"]) == (0.70, 0.85)


def test_interval_of_a_share_is_wilsons() -> None:
    low, high = judging.share_interval(46, 54)
    z, p, n = stats.norm.ppf(0.975), 46 / 54, 54
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * (p * (1 - p) / n + z**2 / (4 * n**2)) ** 0.5
    assert (low, high) == (pytest.approx(middle - half), pytest.approx(middle + half))


def test_interval_of_the_auc_is_delongs() -> None:
    labels, _, shares = answers(60, 2, 3)
    positive, negative = shares[labels == 1, 1], shares[labels == 0, 1]
    wins = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    variance = wins.mean(1).var(ddof=1) / len(positive) + wins.mean(0).var(ddof=1) / len(negative)
    auc = metrics.roc_auc_score(labels, shares[:, 1])
    half = stats.norm.ppf(0.975) * variance**0.5 / (auc * (1 - auc))
    low, high = judging.auc_interval(labels, shares[:, 1])
    assert (np.log(low / (1 - low)), np.log(high / (1 - high))) == (
        pytest.approx(np.log(auc / (1 - auc)) - half),
        pytest.approx(np.log(auc / (1 - auc)) + half),
    )


def test_resampled_intervals_agree_with_resampling_rows() -> None:
    labels, predicted, shares = answers(60, 2, 4)
    other = answers(60, 2, 5)[1]
    rows = np.random.default_rng(9).integers(0, 60, (3000, 60))

    def f1(answer: np.ndarray) -> np.ndarray:
        true, said = labels[rows], answer[rows]
        return 2 * (true & said).sum(1) / (true.sum(1) + said.sum(1))

    assert judging.score_intervals(labels, predicted, shares)["F1"] == pytest.approx(
        np.percentile(f1(predicted), [2.5, 97.5]), abs=0.02
    )
    assert judging.f1_difference(labels, predicted, other) == pytest.approx(
        np.percentile(f1(predicted) - f1(other), [2.5, 97.5]), abs=0.02
    )


def test_judging_trains_each_split_on_its_own_rows_only() -> None:
    X, y = table()
    splits = random_splits(y, 3, 0.25, seed=2)
    told: list[tuple[int, int]] = []
    found = judge(X, y, SMALL, splits, n_jobs=2, progress=lambda done, planned: told.append((done, planned)))
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert found.complete
    for k, split in enumerate(splits):
        model = judging.fit(X.iloc[split.train], y[split.train], SMALL.replace(random_state=5 + k))
        assert model is not None
        expected = metrics.accuracy_score(y[split.test], model.predict(X.iloc[split.test]))
        assert found.trials["accuracy"].iloc[k] == pytest.approx(expected)
        assert found.trials["literals"].iloc[k] == model.rules_.n_literals
    assert found.intervals.loc["accuracy", "mean"] == pytest.approx(found.trials["accuracy"].mean())


def test_one_split_gets_an_interval_from_its_test_rows() -> None:
    X, y = table()
    found = judge(X, y, SMALL, column_split(np.arange(80) < 50, False))
    n_right = round(float(found.trials["accuracy"].iloc[0]) * 30)
    assert tuple(found.intervals.loc["accuracy", ["low", "high"]]) == judging.share_interval(n_right, 30)


def test_stopping_and_splits_with_one_class() -> None:
    X, y = table()
    stop = threading.Event()
    stop.set()
    with pytest.raises(ValueError, match="stopped"):
        judge(X, y, SMALL, random_splits(y, 2), stop=stop)
    assert cross_validated_shares(X, y, SMALL, stop=stop) is None
    one_class = Split(np.flatnonzero(y == "yes"), np.flatnonzero(y == "no"))
    found = judge(X, y, SMALL, [*random_splits(y, 2), one_class])
    assert (found.n_skipped, len(found.trials)) == (1, 2)


def test_cross_validated_rows_are_predicted_by_a_machine_that_did_not_see_them() -> None:
    X, y = table(60)
    shares = cross_validated_shares(X, y, SMALL, n_folds=3, n_jobs=2)
    assert shares is not None
    folds = StratifiedKFold(3, shuffle=True, random_state=SMALL.random_state)
    expected = cross_val_predict(TsetlinClassifier(**asdict(SMALL)), X, y, cv=folds, method="predict_proba")
    assert shares.tolist() == expected.tolist()


# Splits -----------------------------------------------------------------------------------------------------------


def test_random_splits_keep_the_class_shares() -> None:
    y = np.repeat(["a", "b"], [80, 20])
    for split in random_splits(y, 5, 0.2):
        assert (len(split.train), len(split.test)) == (80, 20)
        assert (y[split.test] == "b").sum() == 4
        assert set(split.train) | set(split.test) == set(range(100))
    with pytest.raises(ValueError, match="2 rows are too few"):
        random_splits(np.array([0, 1]), 1, 0.2)


def test_no_group_is_on_both_sides() -> None:
    groups = np.array([f"g{k % 10}" for k in range(60)] + [None, None], dtype=object)
    splits = group_splits(groups, 8, 0.2)
    for split in splits:
        assert not set(groups[split.train][groups[split.train] != None]) & set(groups[split.test])  # noqa: E711
        assert len(split.train) + len(split.test) == 62
    assert len({tuple(split.test) for split in splits}) > 1
    with pytest.raises(ValueError, match="one group"):
        group_splits(["same"] * 5)


def test_every_test_row_is_later_than_every_training_row() -> None:
    rng = np.random.default_rng(0)
    order = rng.integers(0, 30, 200).astype(float)
    order[:5] = np.nan
    splits = time_splits(order, 10, 0.1)
    assert len(splits) > 3
    for split in splits:
        assert order[split.train].max() < order[split.test].min()
        later = set(np.flatnonzero(order < order[split.test].min()))
        assert set(split.train) == later
    assert order[splits[-1].test].max() == 29
    with pytest.raises(ValueError, match="too few different times"):
        time_splits(np.zeros(10))


def test_time_is_read_from_numbers_and_dates() -> None:
    dates = pd.Series(["2024-03-01", "2023-12-31", None, "2024-03-02 12:00"])
    order = time_order(dates)
    assert order[0] - order[1] == 61
    assert order[3] - order[0] == 1.5
    assert np.isnan(order[2])
    assert time_order(pd.Series(["3", "1", None])).tolist()[:2] == [3.0, 1.0]
    assert time_order(pd.Series([5, 2])).tolist() == [5.0, 2.0]
    with pytest.raises(ValueError, match="'town' holds neither numbers nor dates"):
        time_order(pd.Series(["Oslo", "Bergen"], name="town"))


def test_a_given_column_says_which_rows_are_tested_on() -> None:
    (split,) = column_split(["train", "test", None, "train", "other"], "test")
    assert (split.train.tolist(), split.test.tolist()) == ([0, 3, 4], [1])
    with pytest.raises(ValueError, match="'nothing'"):
        column_split(["train", "test"], "nothing")
