"""Splits of rows that keep their promise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tmcore.splits import column_split, group_splits, random_splits, time_order, time_splits


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


def test_numbers_are_drawn_without_regard_to_their_values() -> None:
    y = np.repeat(np.arange(4.0), 25)  # each would have as many rows in both parts if it were a class
    shares = [
        np.unique(y[split.test], return_counts=True)[1] for split in random_splits(y, 5, 0.2, by_class=False)
    ]
    assert all(sum(counts) == 20 for counts in shares)
    assert any(len(set(counts.tolist())) > 1 for counts in shares)
