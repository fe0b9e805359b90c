"""Encoded rows as raw columns again: values that encode to the same ranks, where the values themselves are gone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from tmcore.encode import MISSING, Column, Encoder

UNKNOWN = "another value"
"""Stands for a category that training never saw."""


def decode(encoder: Encoder, codes: np.ndarray) -> pd.DataFrame:
    """A DataFrame that `encoder.transform` turns into `codes`.

    Parameters
    ----------
    codes : ndarray, shape (n_rows, n_features)

    Returns
    -------
    DataFrame, shape (n_rows, n_columns)
        Numbers are the largest that their rank allows, the training maximum in the last one.
    """
    missing = MISSING[codes.dtype]
    return pd.DataFrame({c.name: _decode(encoder, c, codes, missing) for c in encoder.columns})


def _decode(encoder: Encoder, column: Column, codes: np.ndarray, missing: int) -> Any:
    if not column.features:  # a nominal column without any value in training
        return _categories(np.full(len(codes), -1), (), False)
    ranks = codes[:, column.features[0]].astype(np.int64)
    gaps = ranks == missing
    if column.role == "numeric":
        most = np.nan if column.maximum is None else column.maximum
        values = np.array([*encoder.features[column.features[0]].cuts, most])
        return np.where(gaps, np.nan, values[np.where(gaps, 0, ranks)])
    if column.role != "nominal":
        return _categories(np.where(gaps, -1, ranks), column.categories, column.role == "ordinal")
    ones = codes[:, list(column.features)] == 1
    places = np.where(ones.any(1), ones.argmax(1), len(column.categories))
    return _categories(np.where(gaps, -1, places), [*column.categories, _unused(column.categories)], False)


def _categories(places: np.ndarray, names: Sequence[str], ordered: bool) -> Any:
    return pd.Categorical.from_codes(places, dtype=pd.CategoricalDtype(list(names), ordered))


def _unused(names: Sequence[str]) -> str:
    name = UNKNOWN
    while name in names:
        name += " "
    return name


def decode_labels(classes: np.ndarray, labels: np.ndarray) -> pd.Series:
    """Class labels of class indices; -1, a class that training never saw, becomes a label that is none of them."""
    if classes.dtype.kind in "OUS":
        names = [*classes, _unused([str(name) for name in classes])]
    else:
        names = [*classes, classes.max() + 1] if (labels < 0).any() else list(classes)
    return pd.Series(np.array(names, dtype=classes.dtype)[labels])
