"""Weights settled at the end: an L1-penalised regression on the clauses' outputs.

Once training stops the clauses are fixed Boolean features, and the best weights are a convex problem. The
penalty, chosen by cross-validation, makes most weights zero, and their rules go.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix
from sklearn.model_selection import KFold, StratifiedKFold

from tmcore.l1 import Loss, Problem, Solution, solve

ONE = 2**16
"""A weight of 1 in the units of the result."""

FOLDS = 5
N_PENALTIES = 14
PENALTY_RANGE = 300.0
"""Weakest penalty tried, as a fraction of the one that leaves no rule: 1 / PENALTY_RANGE."""

PATIENCE = 2
"""Weaker penalties tried after the best one so far."""

TOLERATED_ERRORS = 0.25
"""How far the loss may lie above the smallest, in its standard errors, for a stronger penalty to be taken. On the SSL
paper's data sets a quarter gave fewer rules at the same AUC; a whole one, the usual rule, lost AUC (CHANGELOG)."""

MAX_ROWS, LEAST_ROWS, MAX_CELLS = 20_000, 2_000, 1_000_000
"""The penalty is chosen on at most MAX_ROWS rows, and on fewer, down to LEAST_ROWS, where rows times distinct clauses
would be more than MAX_CELLS: rows drawn at random. The weights are fitted on all."""

SEARCH_TOLERANCE = 1e-4
"""Largest last change of a weight while penalties are compared; the weights kept are exact to their unit."""

STOPPED = "Weights were not refitted, because settling was stopped; the rules keep the votes of training."


@dataclass(frozen=True)
class PathPoint:
    """One penalty tried, and means over the folds of rules left and of the loss of rows left out.

    Attributes
    ----------
    output : int
        Which regression, one per column of the weights.
    strength : float
        Penalty as a fraction of the one that leaves no rule: 1 down to 1 / PENALTY_RANGE.
    n_rules, loss, error : float
        The loss is log-loss, or for regression half the squared error; `error` is its standard error.
    """

    output: int
    strength: float
    n_rules: float
    loss: float
    error: float


@dataclass(frozen=True)
class Refit:
    """Weights found.

    Attributes
    ----------
    kept : int64 array (n_kept,)
        Columns of the outputs that have a weight, ascending.
    weights : int64 array (n_kept, n_outputs)
        In units of 2**-16; n_outputs is 1 with two classes (positive speaks for class 1) and for regression,
        else n_classes.
    intercept : int64 array (n_outputs,)
    reason : str or None
        Why no weights could be settled, as a sentence; then `kept` is empty and the machine's own votes
        should be used.
    path : tuple of PathPoint
        Every penalty tried, for every output.
    strengths : tuple of float
        The penalty chosen for each output, as a fraction of the one that leaves no rule.
    """

    kept: NDArray[np.int64]
    weights: NDArray[np.int64]
    intercept: NDArray[np.int64]
    reason: str | None = None
    path: tuple[PathPoint, ...] = ()
    strengths: tuple[float, ...] = ()


def refit(
    outputs: NDArray[np.bool_],
    labels: NDArray[np.integer],
    lengths: NDArray[np.integer],
    n_classes: int,
    random_state: int | None = None,
    stop: threading.Event | None = None,
    row_weights: NDArray[np.floating] | None = None,
) -> Refit:
    """Settle the weights of a classifier's clauses by L1-penalised logistic regression.

    The strongest penalty is taken whose cross-validated log-loss lies within TOLERATED_ERRORS standard errors of the
    smallest. With many rows (10,000 at 100 clauses, see MAX_CELLS) it is chosen on a sample drawn at random by class,
    as a fraction of the penalty that leaves no rule; the weights are fitted on all rows.

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
    stop : threading.Event, optional
        Looked at between fits; when set, no weights are settled and `reason` says so.
    row_weights : float array (n_rows,), optional
        At least 0, above it in every class; how much each row's loss counts, such as its class's weight.

    Returns
    -------
    Refit
        With `reason` where a class has fewer than two rows. Where no clause separates any rows the result is
        the intercept alone, the log-odds of the classes.
    """
    indices = np.asarray(labels, dtype=np.int64)
    n_outputs = n_classes if n_classes > 2 else 1
    rows = int(np.bincount(indices, minlength=max(n_classes, 2)).min())
    if rows < 2:
        found = "no rows" if rows == 0 else "only one row"
        return _nothing(
            n_outputs,
            f"Weights were not refitted, because a class has {found} in training and cross-validation needs two; "
            "the rules keep the votes of training.",
        )
    targets = class_targets(indices, n_classes)
    usable, problems = make_problems(outputs, targets, lengths, "logistic", row_weights)
    return _refit(usable, problems, random_state, stop)


def refit_numbers(
    outputs: NDArray[np.bool_],
    targets: NDArray[np.floating],
    lengths: NDArray[np.integer],
    random_state: int | None = None,
    stop: threading.Event | None = None,
    row_weights: NDArray[np.floating] | None = None,
) -> Refit:
    """Settle the weights of a regression machine's clauses by the Lasso; otherwise as `refit`.

    Parameters
    ----------
    outputs : bool array (n_rows, n_clauses)
    targets : float array (n_rows,)
        Numbers to predict, scaled to the votes' range [0, T]: weights are rounded to 2**-16, so a spread of
        less than about 0.01 would be lost.
    lengths, random_state, stop, row_weights : as in `refit`

    Returns
    -------
    Refit
        One output. With `reason` where there are fewer than four rows.

    Raises
    ------
    ValueError
        A target is not a finite number.
    """
    numbers = np.asarray(targets, dtype=np.float64)
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise ValueError(f"The target in row {row + 1} is {numbers[row]}; give finite numbers only.")
    if len(numbers) < 4:
        return _nothing(
            1,
            f"Weights were not refitted, because there are {len(numbers)} rows and cross-validation needs four; "
            "the rules keep the votes of training.",
        )
    usable, problems = make_problems(outputs, numbers[:, None], lengths, "squares", row_weights)
    return _refit(usable, problems, random_state, stop)


def class_targets(labels: NDArray[np.int64], n_classes: int) -> NDArray[np.float64]:
    """0/1 targets (n_rows, n_outputs): class 1 of two, else one column per class."""
    classes = np.arange(n_classes) if n_classes > 2 else np.array([1])
    return (labels[:, None] == classes).astype(np.float64)


def distinct(outputs: NDArray[np.bool_], lengths: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the columns that vary, the shortest (then first) of equal ones, ascending."""
    best: dict[bytes, int] = {}
    packed = np.packbits(np.ascontiguousarray(outputs.T, dtype=bool), axis=1)
    varying = np.flatnonzero(outputs.any(axis=0) & ~outputs.all(axis=0)).tolist()
    for column in sorted(varying, key=lambda index: (lengths[index], index)):
        best.setdefault(packed[column].tobytes(), column)
    return np.array(sorted(best.values()), dtype=np.int64)


def choose(points: list[PathPoint]) -> PathPoint:
    """The strongest penalty whose loss is hardly above the smallest (`points` start with the strongest)."""
    best = min(points, key=lambda point: point.loss)
    return next(point for point in points if point.loss <= best.loss + TOLERATED_ERRORS * best.error)


def make_problems(
    outputs: NDArray[np.bool_],
    targets: NDArray[np.float64],
    lengths: NDArray[np.integer],
    loss: Loss,
    row_weights: NDArray[np.floating] | None,
) -> tuple[NDArray[np.int64], list[Problem]]:
    """The distinct columns of the outputs, and one regression on them per column of the targets."""
    outputs = np.asarray(outputs, dtype=bool)
    usable = distinct(outputs, np.asarray(lengths))
    design = csc_matrix(outputs[:, usable], dtype=np.float64)
    weights = np.ones(len(targets)) if row_weights is None else row_weights / np.mean(row_weights)
    return usable, [Problem(design, target, weights, loss) for target in targets.T]


def strengths() -> NDArray[np.float64]:
    """Penalties tried, as fractions of the one that leaves no rule, strongest first."""
    return np.geomspace(1.0, 1 / PENALTY_RANGE, N_PENALTIES)


def round_weights(
    usable: NDArray[np.int64], solutions: list[Solution]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Kept columns, weights and intercept in units of 2**-16, of one solution per output on the usable columns."""
    weights = np.rint(np.column_stack([solution.weights for solution in solutions]) * ONE).astype(np.int64)
    intercept = np.rint(np.array([solution.intercept for solution in solutions]) * ONE).astype(np.int64)
    has_weight = weights.any(axis=1)
    return usable[has_weight], weights[has_weight], intercept


def is_set(stop: threading.Event | None) -> bool:
    """Whether someone wants it to end."""
    return stop is not None and stop.is_set()


def _nothing(n_outputs: int, reason: str) -> Refit:
    none = np.zeros(0, dtype=np.int64)
    return Refit(none, none.reshape(0, n_outputs), np.zeros(n_outputs, dtype=np.int64), reason)


def _refit(
    usable: NDArray[np.int64],
    problems: list[Problem],
    random_state: int | None,
    stop: threading.Event | None,
) -> Refit:
    solutions: list[Solution] = []
    path: list[PathPoint] = []
    chosen: list[float] = []
    for output, problem in enumerate(problems):
        if problem.strongest_penalty == 0:
            solutions.append(Solution(np.zeros(len(usable)), problem.constant))
            chosen.append(1.0)
            continue
        points = _search(problem, output, random_state, stop)
        if is_set(stop):
            return _nothing(len(problems), STOPPED)
        path += points
        chosen.append(choose(points).strength)
        solutions.append(solve(problem, problem.strongest_penalty * chosen[-1]))
    return Refit(*round_weights(usable, solutions), None, tuple(path), tuple(chosen))


def _search(
    problem: Problem, output: int, random_state: int | None, stop: threading.Event | None
) -> list[PathPoint]:
    """Cross-validated loss at each penalty, strongest first, until it has not become smaller for a while."""
    strongest, (n_rows, n_columns) = problem.strongest_penalty, problem.design.shape
    n_drawn = min(MAX_ROWS, max(LEAST_ROWS, MAX_CELLS // n_columns))
    if n_rows > n_drawn:
        strongest *= n_drawn / n_rows
        problem = problem.rows(_drawn(problem, n_drawn, random_state))
    folds = [(problem.rows(train), problem.rows(test)) for train, test in _folds(problem, random_state)]
    fitted: list[Solution | None] = [None] * len(folds)
    points: list[PathPoint] = []
    for strength in strengths().tolist():
        losses, n_rules = [], []
        for i, (train, test) in enumerate(folds):
            if is_set(stop):
                return points
            solution = solve(train, strongest * strength, fitted[i], SEARCH_TOLERANCE)
            fitted[i] = solution
            losses.append(test.mean_loss(solution.votes(test.design)))
            n_rules.append(np.count_nonzero(solution.weights))
        error = float(np.std(losses, ddof=1) / np.sqrt(len(folds)))
        points.append(PathPoint(output, strength, float(np.mean(n_rules)), float(np.mean(losses)), error))
        best = min(points, key=lambda point: point.loss)
        if len(points) - points.index(best) > PATIENCE:
            break
    return points


def _drawn(problem: Problem, n_drawn: int, random_state: int | None) -> NDArray[np.int64]:
    """About `n_drawn` rows at random; of each class its share, and enough of a rare one for every fold."""
    n_rows = len(problem.target)
    order = np.random.default_rng(random_state).permutation(n_rows)
    if problem.loss == "squares":
        return order[:n_drawn]
    drawn = []
    for value in (0.0, 1.0):
        rows = order[problem.target[order] == value]
        drawn.append(rows[: max(FOLDS, round(n_drawn * len(rows) / n_rows))])
    return np.concatenate(drawn)


def _folds(problem: Problem, random_state: int | None) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    target = problem.target
    if problem.loss == "squares":
        folds = KFold(min(FOLDS, len(target) // 2), shuffle=True, random_state=random_state)
    else:
        n_folds = int(min(FOLDS, target.sum(), len(target) - target.sum()))
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
    return list(folds.split(target[:, None], target))
