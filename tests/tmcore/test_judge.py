"""Judging: repeated splits against machines trained here, and intervals against formulas written out."""

from __future__ import annotations

import threading
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from tmcore import judge as judging
from tmcore.estimators import TsetlinClassifier
from tmcore.judge import cross_validated_shares, judge
from tmcore.measures import ClassMeasures, NumberMeasures
from tmcore.parameters import Parameters
from tmcore.regressor import TsetlinRegressor
from tmcore.splits import Split, column_split, random_splits
from tmcore.uncertainty import share_interval

SMALL = Parameters(n_clauses=10, epochs=3, random_state=5)


def table(n: int = 80, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.choice(["x", "y", "z"], n)})
    return X, np.where(X["a"] + (X["b"] == "x") + rng.normal(scale=0.3, size=n) > 0.3, "yes", "no")


def test_interval_of_a_mean_is_students_with_the_corrected_variance() -> None:
    values = np.array([0.70, 0.80, 0.75, 0.85])
    measures = ClassMeasures(np.array([0, 1]))
    found = judging.mean_intervals(pd.DataFrame({"accuracy": values}), 0.25, measures).loc["accuracy"]
    variance = ((values - 0.775) ** 2).sum() / 3 * (1 / 4 + 0.25)
    half = 3.182446305284263 * variance**0.5  # Student's t, 3 degrees of freedom, 97.5 %
    assert found["mean"] == pytest.approx(0.775)
    assert (found["low"], found["high"]) == (pytest.approx(0.775 - half), pytest.approx(0.775 + half))
    assert (found["lowest"], found["highest"]) == (0.70, 0.85)
    numbers = pd.DataFrame({"MAE": [3.0, 40.0], "R2": [0.99, -2.0]})
    ends = judging.mean_intervals(numbers, 0.25, NumberMeasures())
    assert (ends.loc["MAE", "low"], ends.loc["R2", "high"]) == (
        0.0,
        1.0,
    )  # no error is below 0, no R2 above 1
    same = judging.mean_intervals(pd.DataFrame({"MAE": [3.0, 3.0]}), 0.25, NumberMeasures()).loc["MAE"]
    assert np.isnan([same["low"], same["high"]]).all()  # two splits that agree are no certainty
    assert ends.loc["MAE", "high"] > 100
    assert ends.loc["R2", "low"] < -2


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
    assert tuple(found.intervals.loc["accuracy", ["low", "high"]]) == share_interval(n_right, 30)


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


@pytest.mark.parametrize("early_stopping", [False, True])
def test_judging_numbers_trains_a_regressor_on_each_splits_own_rows(early_stopping: bool) -> None:
    X, _ = table()
    y = 40 + 30.0 * (X["a"] > 0) + np.random.default_rng(1).normal(scale=2, size=80)
    splits = random_splits(y, 3, 0.25, seed=2, by_class=False)
    parameters = SMALL.replace(early_stopping=early_stopping)
    found = judge(X, y, parameters, splits, task="numbers", n_jobs=2)
    settings = {name: value for name, value in asdict(parameters).items() if name != "class_weight"}
    for k, split in enumerate(splits):
        model = TsetlinRegressor(**settings | {"random_state": 5 + k})
        predicted = model.fit(X.iloc[split.train], y.iloc[split.train]).predict(X.iloc[split.test])
        truth, mean = y.iloc[split.test], np.full(20, y.iloc[split.train].mean())
        row = found.trials.loc[k]
        assert row["MAE"] == pytest.approx(metrics.mean_absolute_error(truth, predicted))
        assert row["R2"] == pytest.approx(metrics.r2_score(truth, predicted))
        assert row["simplest"] == pytest.approx(metrics.mean_absolute_error(truth, mean))
        assert row["rules"] == len(model.rules_)
    assert found.intervals["mean"].to_dict() == pytest.approx(found.trials[["MAE", "R2"]].mean().to_dict())
    assert found.missing == {}


def test_splits_without_some_class_say_why_there_is_no_auc() -> None:
    X, _ = table(60)
    y = np.repeat(["a", "b", "c"], 20)
    rows = np.arange(60)
    without_b = Split(rows[::2], rows[1::2][y[1::2] != "b"])
    every = Split(rows[::2], rows[1::2])
    found = judge(X, y, SMALL, [without_b, without_b])
    assert found.missing == {"AUC": "no test row is 'b'"}
    assert np.isnan(found.intervals.loc["AUC", "mean"])
    found = judge(X, y, SMALL, [without_b, every, every])
    assert found.missing == {}
    assert found.trials["AUC"].notna().tolist() == [False, True, True]


def test_a_split_that_trains_on_one_number_only_is_left_out() -> None:
    X, _ = table(60)
    y = np.where(np.arange(60) < 30, 1.0, X["a"])
    same = Split(np.arange(20), np.arange(30, 60))
    found = judge(X, y, SMALL, [same, *random_splits(y, 2, 0.25, by_class=False)], task="numbers")
    assert (found.n_skipped, len(found.trials)) == (1, 2)
