"""Accuracy and F1 of predictions, by scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import accuracy_score, f1_score


@dataclass(frozen=True)
class Scores:
    """Shares between 0 and 1; the test scores are None without validation rows.

    F1 is that of class 1 with two classes, and the mean over the classes with more.
    """

    train_accuracy: float
    train_f1: float
    test_accuracy: float | None = None
    test_f1: float | None = None


def accuracy_and_f1(labels: np.ndarray, predicted: np.ndarray, n_classes: int) -> tuple[float, float]:
    """Accuracy and F1 of class indices.

    Parameters
    ----------
    labels, predicted : ndarray of int, shape (n_rows,)
        Class indices; a label of -1 is a class that training never saw, and always counts as wrong.
    """
    average = "binary" if n_classes == 2 and labels.min(initial=0) >= 0 else "macro"
    f1 = f1_score(labels, predicted, average=average, labels=np.arange(n_classes), zero_division=0)
    return float(accuracy_score(labels, predicted)), float(f1)
