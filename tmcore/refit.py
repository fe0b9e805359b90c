"""Weights settled at the end: an L1-penalised logistic regression on the clauses' outputs.

Once training stops the clauses are fixed Boolean features, and the best weights are a convex problem. The
penalty, chosen by cross-validation, makes most weights zero, and their rules go.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

ONE = 2**16
"""A weight of 1 in the units of the result."""

FOLDS = 5
N_PENALTIES = 14
PENALTY_RANGE = 300.0
"""Weakest penalty tried, as a fraction of the one that leaves no rule: 1 / PENALTY_RANGE."""

PATIENCE = 2
"""Weaker penalties tried after the best one so far."""

INTERCEPT_SCALING = 100.0
"""liblinear penalises the intercept; this makes its share of the penalty small. LogisticRegressionCV
forgets it in its last fit (scikit-learn 1.9), one reason for the loop over penalties here."""

SEARCH_TOLERANCE, TOLERANCE = 1e-4, 1e-7
"""liblinear's tolerance while penalties are compared, and for the weights that are kept."""

MAX_ITERATIONS = 10_000
"""Far more than liblinear needs (tens), so that it never stops early and warns."""

_LIBLINEAR = threading.Lock()
"""liblinear keeps its random numbers in one place for the whole process."""


@dataclass(frozen=True)
class PathPoint:
    """One penalty tried: its inverse strength C, and means over the folds of rules left and of log-loss."""

    output: int
    C: float
    n_rules: float
    log_loss: float


@dataclass(frozen=True)
class Refit:
    """Weights found.

    Attributes
    ----------
    kept : int64 array (n_kept,)
        Columns of the outputs that have a weight, ascending.
    weights : int64 array (n_kept, n_outputs)
        In units of 2**-16; n_outputs is 1 with two classes (positive speaks for class 1), else n_classes.
    intercept : int64 array (n_outputs,)
    reason : str or None
        Why no weights could be settled, as a sentence; then `kept` is empty and the machine's own votes
        should be used.
    path : tuple of PathPoint
        Every penalty tried, for every output.
    """

    kept: NDArray[np.int64]
    weights: NDArray[np.int64]
    intercept: NDArray[np.int64]
    reason: str | None = None
    path: tuple[PathPoint, ...] = ()


def refit(
    outputs: NDArray[np.bool_],
    labels: NDArray[np.integer],
    lengths: NDArray[np.integer],
    n_classes: int,
    random_state: int | None = None,
) -> Refit:
    """Settle the weights of clauses.

    Parameters
    ----------
    outputs : bool array (n_rows, n_clauses)
        Outputs of all clauses of all machines when predicting.
    labels : int array (n_rows,)
        Class indices 0..n_classes-1.
    lengths : int array (n_clauses,)
        Literals of each clause; the shortest of those with the same outputs is kept.
    n_classes : int
        With more than two, one regression per class against the rest, on the clauses of all machines.
    random_state : int or None
        Makes the folds.

    Returns
    -------
    Refit
        With `reason` where a class has fewer than two rows. Where no clause separates any rows the result is
        the intercept alone, the log-odds of the classes.
    """
    outputs = np.ascontiguousarray(outputs, dtype=bool)
    labels = np.asarray(labels, dtype=np.int64)
    n_outputs = n_classes if n_classes > 2 else 1
    rows = np.bincount(labels, minlength=max(n_classes, 2))
    if rows.min() < 2:
        nothing = np.zeros(0, dtype=np.int64)
        return Refit(
            nothing,
            np.zeros((0, n_outputs), dtype=np.int64),
            np.zeros(n_outputs, dtype=np.int64),
            f"Weights were not refitted, because a class has {_rows_text(int(rows.min()))} in training and "
            "cross-validation needs two; the rules keep the votes of training.",
        )
    usable = _distinct(outputs, np.asarray(lengths))
    design = csr_matrix(outputs[:, usable], dtype=np.float64)
    coefficients = np.zeros((len(usable), n_outputs))
    intercept = np.zeros(n_outputs)
    path: list[PathPoint] = []
    for output in range(n_outputs):
        target = labels == (output if n_outputs > 1 else 1)
        coefficients[:, output], intercept[output], points = _regression(design, target, output, random_state)
        path += points
    weights = np.rint(coefficients * ONE).astype(np.int64)
    has_weight = weights.any(axis=1)
    return Refit(
        usable[has_weight], weights[has_weight], np.rint(intercept * ONE).astype(np.int64), None, tuple(path)
    )


def _rows_text(count: int) -> str:
    return {0: "no rows", 1: "only one row"}[count]


def _distinct(outputs: NDArray[np.bool_], lengths: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the columns that vary, the shortest (then first) of equal ones, ascending."""
    best: dict[bytes, int] = {}
    packed = np.packbits(outputs.T, axis=1)
    varying = np.flatnonzero(outputs.any(axis=0) & ~outputs.all(axis=0)).tolist()
    for column in sorted(varying, key=lambda index: (lengths[index], index)):
        best.setdefault(packed[column].tobytes(), column)
    return np.array(sorted(best.values()), dtype=np.int64)


def _regression(
    design: csr_matrix, target: NDArray[np.bool_], output: int, random_state: int | None
) -> tuple[NDArray[np.float64], float, list[PathPoint]]:
    """Return coefficients and intercept of `target` on `design`, and the penalties tried."""
    share = target.mean()
    strongest = np.abs((target - share) @ design).max(initial=0.0)
    # C where the first weight leaves zero; only rounding is left of a gradient below 1e-9.
    if strongest < 1e-9:
        return np.zeros(design.shape[1]), float(np.log(share / (1 - share))), []
    n_folds = int(min(FOLDS, target.sum(), (~target).sum()))
    folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=random_state).split(design, target))
    path: list[PathPoint] = []
    for C in np.geomspace(1.0, PENALTY_RANGE, N_PENALTIES) / strongest:
        path.append(_try(float(C), design, target, folds, output, random_state))
        best = min(path, key=lambda point: point.log_loss)
        if len(path) - path.index(best) > PATIENCE:
            break
    return *_fit(best.C, design, target, TOLERANCE, random_state), path


def _try(
    C: float,
    design: csr_matrix,
    target: NDArray[np.bool_],
    folds: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
    output: int,
    random_state: int | None,
) -> PathPoint:
    losses, n_rules = [], []
    for train, test in folds:
        coefficients, intercept = _fit(C, design[train], target[train], SEARCH_TOLERANCE, random_state)
        votes = design[test] @ coefficients + intercept
        losses.append(np.logaddexp(0.0, np.where(target[test], -votes, votes)).mean())
        n_rules.append(np.count_nonzero(coefficients))
    return PathPoint(output, C, float(np.mean(n_rules)), float(np.mean(losses)))


def _fit(
    C: float,
    design: csr_matrix,
    target: NDArray[np.bool_],
    tolerance: float,
    random_state: int | None,
) -> tuple[NDArray[np.float64], float]:
    model = LogisticRegression(
        C=C,
        l1_ratio=1.0,
        solver="liblinear",
        intercept_scaling=INTERCEPT_SCALING,
        tol=tolerance,
        max_iter=MAX_ITERATIONS,
        random_state=random_state,
    )
    with _LIBLINEAR:
        model.fit(design, target)
    return model.coef_[0], float(model.intercept_[0])
