"""Skewed classes: how often the rows of each class may teach."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from tmcore.machine.state import ONE_VOTE
from tmcore.parameters import ClassWeight

LEAST, MOST = 1e-6, 1e6
"""Weights beyond them would leave a class without any say, or the others; sums with them would not be exact."""


def class_scales(class_weight: ClassWeight, classes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """What the chance of each class's rows to select a clause is multiplied by.

    Parameters
    ----------
    class_weight : None, "balanced" or dict of label to weight
        As in scikit-learn: "balanced" weighs a class by n_rows / (K * its rows).
    classes : ndarray, shape (K,)
    labels : ndarray of int64, shape (n_rows,)
        Class indices.

    Returns
    -------
    ndarray of int64, shape (K,)
        In 1/65536; the largest weight becomes 1, since a chance cannot be raised above what the vote asks for.

    Raises
    ------
    ValueError
        For a weight that is no number or out of its range, or a label that is not a class.
    """
    if class_weight is None:
        return np.full(len(classes), ONE_VOTE, np.int64)
    weights = class_weights(class_weight, classes, labels)
    return np.maximum(1, np.rint(weights / weights.max() * ONE_VOTE)).astype(np.int64)


def class_weights(class_weight: ClassWeight, classes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """One positive weight per class, float of shape (K,)."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        counts = np.bincount(labels, minlength=len(classes))
        return len(labels) / (len(classes) * np.maximum(counts, 1))
    known = {_plain(label): k for k, label in enumerate(classes)}
    weights = np.ones(len(classes))
    for label, weight in class_weight.items():
        if _plain(label) not in known:
            raise ValueError(
                f"class_weight names {label!r}, which is not a class; the classes are {list(known)}."
            )
        if not (isinstance(weight, numbers.Real) and LEAST <= weight <= MOST):
            raise ValueError(
                f"class_weight gives class {label!r} the weight {weight!r}; use a number from {LEAST:g} to {MOST:g}."
            )
        weights[known[_plain(label)]] = weight
    return weights


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
