"""Stop when rows that were held out are not predicted better any more, and keep the best moment."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import train_test_split

if TYPE_CHECKING:
    from tmcore.training import TrainingRun

HELD_OUT = 0.2
PATIENCE = 10
"""Epochs without a better score before training stops."""


def hold_out(y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on and rows to watch, one fifth, with the same class shares where the classes are large enough."""
    _, counts = np.unique(y, return_counts=True)
    enough = counts.min() >= 2 and len(y) * HELD_OUT >= len(counts)
    learn, watch = train_test_split(
        np.arange(len(y)), test_size=HELD_OUT, random_state=seed % 2**32, stratify=y if enough else None
    )
    return np.sort(learn), np.sort(watch)


def take_rows(X: Any, rows: np.ndarray) -> Any:
    """Some rows of a DataFrame, array or sparse matrix."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def train(run: TrainingRun) -> int:
    """Train up to the run's epochs, stopping early; returns the epoch whose machine the run ends with.

    The score is the accuracy, or R2, by votes on the run's validation rows; the earliest of equals wins.
    """
    best_score, best_epoch = -math.inf, 0
    best = run.machine.state.copy()
    for epoch in range(1, run.parameters.epochs + 1):
        score = run.advance(epochs=1).scores.watched
        if score > best_score:
            best_score, best_epoch, best = score, epoch, run.machine.state.copy()
        if epoch - best_epoch >= PATIENCE:
            break
    run.go_to(best)
    return best_epoch
