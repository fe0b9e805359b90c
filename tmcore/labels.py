"""Class labels: from whatever the user has to indices 0..K-1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import type_of_target

MAX_CLASSES = 256


def read_labels(y: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The classes and every row's class index.

    Parameters
    ----------
    y : sequence of int, bool or str, shape (n_rows,)

    Returns
    -------
    classes : ndarray, shape (K,)
        Sorted; K >= 2.
    labels : ndarray of int64, shape (n_rows,)

    Raises
    ------
    ValueError
        A label is missing, there is one class only, y is continuous, or its length differs from the rows'.
    """
    values = label_array(y)
    if len(values) != n_rows:
        raise ValueError(f"y holds {len(values)} labels for {n_rows} rows; give one label a row.")
    missing = pd.isna(values)
    if missing.any():
        raise ValueError(
            f"y has no label in row {int(missing.argmax()) + 1}; leave that row out or give it a label."
        )
    if values.dtype.kind == "f" and np.isinf(values).any():
        row = int(np.isinf(values).argmax())
        raise ValueError(f"Input y contains infinity in row {row + 1}; give every row the label of a class.")
    if values.dtype.kind == "f" and type_of_target(values) == "continuous":
        raise ValueError(
            "Unknown label type: continuous. y holds numbers with fractions; a classifier needs classes."
        )
    classes, labels = np.unique(values, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y holds one class only, {classes[0]!s}; at least two are needed to learn a difference."
        )
    if len(classes) > MAX_CLASSES:
        raise ValueError(
            f"y holds {len(classes)} different labels; at most {MAX_CLASSES} classes can be learned."
        )
    return classes, labels.astype(np.int64)


def class_indices(y: Any, classes: np.ndarray) -> np.ndarray:
    """Every label's index in `classes`, -1 for one that is not among them."""
    values = label_array(y)
    index = pd.Index(classes).get_indexer(pd.Index(values))
    return index.astype(np.int64)


def label_array(y: Any) -> np.ndarray:
    """One-dimensional array of labels: numbers and booleans as they are, everything else as objects."""
    values = y.to_numpy() if isinstance(y, (pd.Series, pd.Index)) else np.asarray(y)
    values = column_or_1d(values, warn=True)
    if values.dtype.kind in "US" or values.dtype.kind == "O":
        known = [value for value in values if not _is_missing(value)]
        if len({isinstance(value, str) for value in known}) > 1:
            raise ValueError("y mixes texts and numbers; make all labels texts or all labels numbers.")
    return values


def _is_missing(value: Any) -> bool:
    return bool(pd.api.types.is_scalar(value) and pd.isna(value))
