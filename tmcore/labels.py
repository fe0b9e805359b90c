"""Class labels: from whatever the user has to indices 0..K-1."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import type_of_target

MAX_CLASSES = 256


def read_labels(y: Any, n_rows: int, positive_class: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """The classes and every row's class index.

    Parameters
    ----------
    y : sequence of int, bool or str, shape (n_rows,)
    positive_class : label, optional
        See `class_order`.

    Returns
    -------
    classes : ndarray, shape (K,)
        As `class_order` has them; K >= 2.
    labels : ndarray of int64, shape (n_rows,)

    Raises
    ------
    ValueError
        A label is missing, there is one class only, y is continuous, its length differs from the rows', or
        `positive_class` cannot be one.
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
    if not len(classes):
        raise ValueError("y holds no labels; give at least two different ones.")
    if len(classes) < 2:
        raise ValueError(
            f"y holds one class only, {classes[0]!s}; at least two are needed to learn a difference."
        )
    if len(classes) > MAX_CLASSES:
        raise ValueError(
            f"y holds {len(classes)} different labels; at most {MAX_CLASSES} classes can be learned."
        )
    ordered = class_order(classes, positive_class)
    return ordered, labels.astype(np.int64) if ordered is classes else 1 - labels.astype(np.int64)


def class_order(classes: np.ndarray, positive_class: Any = None) -> np.ndarray:
    """Sorted labels in the order of their class indices: of two, the positive class is class 1.

    Parameters
    ----------
    classes : ndarray, shape (K,)
        Sorted, as from `np.unique`.
    positive_class : label, optional
        One of two labels; by default the second.

    Raises
    ------
    ValueError
        `positive_class` is none of the labels, or they are not two.
    """
    if positive_class is None:
        return classes
    labels = classes.tolist()
    if positive_class not in labels:
        raise ValueError(
            f"positive_class is {positive_class!r}, which is no label of y; choose one of"
            f" {', '.join(map(repr, labels))}."
        )
    if len(labels) != 2:
        raise ValueError(
            f"positive_class chooses between two classes, and y holds {len(labels)}; leave it out."
        )
    return classes if labels[1] == positive_class else classes[::-1].copy()


def chosen_positive(classes: np.ndarray) -> Any:
    """The positive class that gives classes in this order; None where they are sorted."""
    return classes.tolist()[1] if len(classes) == 2 and classes[0] > classes[1] else None


def class_indices(y: Any, classes: np.ndarray) -> np.ndarray:
    """Every label's index in `classes`, -1 for one that is not among them."""
    values = label_array(y)
    index = pd.Index(classes).get_indexer(pd.Index(values))
    return index.astype(np.int64)


def label_array(y: Any) -> np.ndarray:
    """One-dimensional array of labels, which are all texts or all numbers and truth values.

    Raises
    ------
    ValueError
        Labels are mixed, or something else, such as dates; the sentence names the row.
    """
    values = target_array(y)
    if values.dtype.kind in "mMSVc":
        _check_label(values.tolist()[0] if len(values) else None, 1)
    if values.dtype.kind == "O":
        known = [(row, value) for row, value in enumerate(values, start=1) if not _is_missing(value)]
        for row, value in known:
            _check_label(value, row)
        if len({isinstance(value, str) for _, value in known}) > 1:
            raise ValueError("y mixes texts and numbers; make all labels texts or all labels numbers.")
    return values


def target_array(y: Any) -> np.ndarray:
    """One value a row as an array that changes none of them: NumPy would turn 1 beside "a" into "1".

    Raises
    ------
    ValueError
        y has more than one column, or is no sequence.
    """
    scalars = isinstance(y, (list, tuple)) and all(map(pd.api.types.is_scalar, y))
    if scalars and len({isinstance(value, str) for value in y}) > 1:
        y = pd.Series(list(y), dtype=object)
    try:
        values = y.to_numpy() if isinstance(y, (pd.Series, pd.Index)) else np.asarray(y)
        return column_or_1d(values, warn=True)
    except ValueError as error:
        first = str(error).partition("\n")[0].rstrip(".")
        if "inhomogeneous" in first:
            first = "y holds lists of different lengths; give one value a row"
        raise ValueError(f"{first}.") from None


def _check_label(value: Any, row: int) -> None:
    if not isinstance(value, (str, bool, np.bool_, numbers.Integral, float, np.floating)):
        raise ValueError(
            f"y holds {value!r} in row {row}; a label is a text, a whole number or a truth value, so turn it into one."
        )


def _is_missing(value: Any) -> bool:
    return bool(pd.api.types.is_scalar(value) and pd.isna(value))
