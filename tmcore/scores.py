"""How well vote sums predict: accuracy and F1 of classes, mean absolute error and R2 of numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
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

    @property
    def watched(self) -> float:
        """What early stopping wants to rise."""
        return self.test_accuracy or 0.0


@dataclass(frozen=True)
class NumberScores:
    """Scores of predicted numbers; the test scores are None without validation rows.

    MAE is the mean absolute error in the target's unit. R2 is the share of the targets' variance that is predicted;
    None where they do not vary.
    """

    train_mae: float
    train_r2: float | None
    test_mae: float | None = None
    test_r2: float | None = None

    @property
    def watched(self) -> float:
        """What early stopping wants to rise."""
        if self.test_r2 is not None:
            return self.test_r2
        return -math.inf if self.test_mae is None else -self.test_mae


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


def mae_and_r2(targets: NDArray[np.float64], predicted: NDArray[np.float64]) -> tuple[float, float | None]:
    """Mean absolute error, and R2, None where all targets are equal; both of shape (n_rows,), at least one row."""
    errors, spread = targets - predicted, targets - targets.mean()
    largest = float(np.abs(spread).max())
    mae = float(np.abs(errors).mean())
    if targets.min() == targets.max():
        return mae, None
    # In shares of the largest spread, since squares of huge or tiny numbers are no floats.
    return mae, float(1 - ((errors / largest) ** 2).sum() / ((spread / largest) ** 2).sum())


def winners(votes: np.ndarray) -> np.ndarray:
    """Class indices that vote sums predict: v >= 0 is class 1 (eq. 6), else the largest, ties to the lowest index."""
    return (votes[:, 0] >= 0).astype(np.int64) if votes.shape[1] == 1 else votes.argmax(1)
