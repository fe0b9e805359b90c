"""Targets of odd kinds are read as what they mean, or refused with one sentence."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from tmcore import TsetlinClassifier, TsetlinRegressor, suggest_settings
from tmcore.compare import difference
from tmcore.early_stopping import hold_out

X = np.random.default_rng(0).normal(size=(60, 3))
y = (X[:, 0] > 0).astype(int)
FIRST, SECOND = datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)


def each(no, yes, **given):
    return pd.Series([yes if one else no for one in y], **given)


def classifier(**settings):
    return TsetlinClassifier(**{"n_clauses": 10, "epochs": 3, "random_state": 0, **settings})


def regressor(**settings):
    return TsetlinRegressor(**{"n_clauses": 10, "epochs": 3, "random_state": 0, **settings})


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (each(FIRST, SECOND).to_numpy(), "datetime.date.* in row 1; a label is"),
        (each(pd.Timestamp(FIRST), pd.Timestamp(SECOND)), "y holds .*2021.* in row 1; a label is"),
        (each(np.timedelta64(1, "D"), np.timedelta64(2, "D")), "in row 1; a label is"),
        (each(b"a", b"b").to_numpy().astype("S1"), "y holds b'b' in row 1; a label is"),
        (each(Decimal(0), Decimal(1)).to_numpy(), "y holds Decimal.* in row 1; a label is"),
        (each("a", 1).tolist(), "y mixes texts and numbers"),
        ([[1]] * 30 + [[2, 3]] * 30, "lists of different lengths; give one value a row"),
    ],
)
def test_labels_that_a_file_could_not_keep_are_refused_before_training(labels, expected):
    with pytest.raises(ValueError, match=expected):
        classifier().fit(X, labels)


def test_a_number_beside_a_text_is_not_turned_into_one():
    with pytest.raises(ValueError, match="y holds 'a' in row 2; a regressor needs numbers"):
        regressor().fit(X, [1, "a", *y[2:].tolist()])


def test_no_classes_at_all_are_refused():
    with pytest.raises(ValueError, match="y holds no labels"):
        classifier().partial_fit(X, y, classes=[])


def test_early_stopping_trains_on_every_class_however_rare():
    labels = np.array([0] * 20 + [1] * 20 + [2])
    for seed in range(30):
        learn, watch = hold_out(len(labels), seed, labels)
        assert set(labels[learn]) == {0, 1, 2}
        assert sorted([*learn, *watch]) == list(range(len(labels)))
    model = classifier(early_stopping=True).fit(X[:41], labels)
    assert model.classes_.tolist() == [0, 1, 2]


def test_too_few_rows_for_early_stopping_are_said_to_be_too_few():
    with pytest.raises(ValueError, match="2 rows are too few to hold out some for early stopping"):
        classifier(early_stopping=True).fit(X[:2], [0, 1])
    with pytest.raises(ValueError, match="cannot hold out rows of one sample"):
        regressor(early_stopping=True).fit(X[:1], [0.5])


@pytest.mark.parametrize("limit", ["x", True, [3]])
def test_a_limit_of_the_dial_is_a_number(limit):
    model = classifier().fit(X, y)
    with pytest.raises(ValueError, match=r"max_rules is .*; use a whole number"):
        model.at(max_rules=limit)
    with pytest.raises(ValueError, match=r"max_literals is .*; use a whole number"):
        model.at(max_literals=limit)


@pytest.mark.parametrize("seconds", ["1", None, 0, float("nan")])
def test_a_search_takes_a_number_of_seconds(seconds):
    with pytest.raises(ValueError, match=r"seconds is .*; give the search more than 0 seconds"):
        suggest_settings(X.tolist(), y, seconds)


def test_rules_of_classes_and_of_a_number_are_not_compared():
    rules = classifier().fit(X, y).rules_, regressor().fit(X, y).rules_
    for first, second in (rules, rules[::-1]):
        with pytest.raises(ValueError, match="compare two of a kind"):
            difference(first, second)
