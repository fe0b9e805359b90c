"""Ways to divide rows into those to train on and those to test on: at random, by group, by time, by a given column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit

from tmcore.problems import quoted


@dataclass(frozen=True)
class Split:
    """Positions of training and test rows; rows in neither are left out."""

    train: np.ndarray
    test: np.ndarray


def random_splits(
    y: Any, n_repeats: int = 20, test_share: float = 0.2, seed: int = 0, by_class: bool = True
) -> list[Split]:
    """Rows drawn at random.

    Parameters
    ----------
    y : sequence, shape (n_rows,)
    by_class : bool
        Keep the class shares of both parts the same where every class has two rows or more; not for numbers.

    Raises
    ------
    ValueError
        If there are too few rows to keep a part aside.
    """
    labels = np.asarray(y)
    n_test = round(test_share * len(labels))
    if n_test < 1 or len(labels) - n_test < 2:
        raise ValueError(f"{len(labels)} rows are too few to keep {100 * test_share:.0f} % aside.")
    splitter = ShuffleSplit(n_repeats, test_size=n_test, random_state=seed)
    if by_class:
        counts = np.unique(labels, return_counts=True)[1]
        if counts.min() >= 2 and min(n_test, len(labels) - n_test) >= len(counts):
            splitter = StratifiedShuffleSplit(n_repeats, test_size=n_test, random_state=seed)
    return _made(splitter.split(labels, labels))


def group_splits(
    groups: Sequence[Any] | pd.Series | np.ndarray,
    n_repeats: int = 20,
    test_share: float = 0.2,
    seed: int = 0,
) -> list[Split]:
    """Whole groups drawn at random: no group, such as a patient or a site, has rows in both parts.

    Parameters
    ----------
    groups : sequence, shape (n_rows,)
        Rows with a missing value are a group each.
    test_share : float
        Share of the groups to test on.

    Raises
    ------
    ValueError
        If there are fewer than two groups.
    """
    codes, names = pd.factorize(pd.Series(groups))
    own = np.flatnonzero(codes < 0)
    codes[own] = len(names) + np.arange(len(own))
    n_groups = len(names) + len(own)
    if n_groups < 2:
        raise ValueError("All rows are in one group; choose a column with two or more values.")
    n_test = min(n_groups - 1, max(1, round(test_share * n_groups)))
    splitter = GroupShuffleSplit(n_repeats, test_size=n_test, random_state=seed)
    return _made(splitter.split(codes, groups=codes))


def time_splits(order: np.ndarray, n_repeats: int = 20, test_share: float = 0.2) -> list[Split]:
    """Each part to test on is later than every row trained on; the cut moves from the middle to the last rows.

    Parameters
    ----------
    order : ndarray of float, shape (n_rows,)
        From `time_order`; rows where it is NaN are left out.
    test_share : float
        Share of the rows in each part to test on, at most a half.

    Raises
    ------
    ValueError
        If the rows have too few different times.
    """
    known = np.flatnonzero(~np.isnan(order))
    ordered = known[np.argsort(order[known], kind="stable")]
    times = order[ordered]
    size = max(1, round(test_share * len(ordered)))
    first = np.linspace(len(ordered) // 2, len(ordered) - size, n_repeats).round().astype(int)
    splits = []
    for begin, end in dict.fromkeys((times[k], times[k + size - 1]) for k in first if k > 0):
        train, test = ordered[times < begin], ordered[(times >= begin) & (times <= end)]
        if len(train) >= 2:
            splits.append(Split(np.sort(train), np.sort(test)))
    if not splits:
        raise ValueError(
            "The rows have too few different times to test on later ones; choose another column."
        )
    return splits


def column_split(values: Sequence[Any] | pd.Series | np.ndarray, held_out: Any) -> list[Split]:
    """One split as a column says: the rows with the value `held_out` to test on, those with another to train on.

    Rows without a value are left out.

    Raises
    ------
    ValueError
        If either part is empty.
    """
    column = pd.Series(values).reset_index(drop=True)
    known, test = column.notna().to_numpy(), (column == held_out).to_numpy(bool)
    if not test.any() or not (known & ~test).any():
        raise ValueError(f"The column must hold {quoted(held_out)} in some rows and other values in others.")
    return [Split(np.flatnonzero(known & ~test), np.flatnonzero(test))]


def time_order(values: pd.Series) -> np.ndarray:
    """A column's order in time as floats, NaN where missing: numbers as they are, texts as dates.

    Raises
    ------
    ValueError
        If more than one in ten of the known cells is neither.
    """
    if pd.api.types.is_numeric_dtype(values.dtype):
        return values.to_numpy(dtype=float, na_value=np.nan)
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=float)
    known = values.notna().to_numpy()
    if np.isnan(numbers[known]).any():
        dates = pd.to_datetime(values.astype("string"), errors="coerce", format="mixed", utc=True)
        numbers = ((dates - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)).to_numpy(dtype=float)
    if not known.any() or np.isnan(numbers[known]).mean() > 0.1:
        raise ValueError(
            f"Column {quoted(values.name)} holds neither numbers nor dates; choose another column."
        )
    return numbers


def _made(pairs: Any) -> list[Split]:
    return [Split(np.sort(train), np.sort(test)) for train, test in pairs]
