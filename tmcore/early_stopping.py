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


def hold_out(n_rows: int, seed: int, labels: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on and a fifth to watch; with labels, the same class shares where classes are large enough.

    Every class has a row to train on, be it one that would have been watched.

    Raises
    ------
    ValueError
        So few rows that none is left to train on or to watch.
    """
    if n_rows < 2:
        raise ValueError(
            "Early stopping cannot hold out rows of one sample; leave it out, or give more rows."
        )
    stratify = None
    if labels is not None:
        _, counts = np.unique(labels, return_counts=True)
        stratify = labels if counts.min() >= 2 and n_rows * HELD_OUT >= len(counts) else None
    learn, watch = train_test_split(
        np.arange(n_rows), test_size=HELD_OUT, random_state=seed % 2**32, stratify=stratify
    )
    if labels is not None:
        _, first = np.unique(labels[watch], return_index=True)
        only = first[~np.isin(labels[watch[first]], labels[learn])]
        learn, watch = np.append(learn, watch[only]), np.delete(watch, only)
        if not len(watch):
            raise ValueError(
                f"{n_rows} rows are too few to hold out some for early stopping and train on every class; leave it out."
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
