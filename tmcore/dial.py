"""The readability dial: from one rule to all of them, with the score that retraining per fold gives at each point.

Choosing weights by cross-validation on fixed clauses flatters, since the clauses have seen every row; here a fold's
held-out rows take no part in training its machine either.
"""

from __future__ import annotations

import numbers
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from tmcore.l1 import Problem, Solution, solve
from tmcore.refit import ONE, PENALTY_RANGE, Refit, class_targets, is_set, make_problems, refit, round_weights

N_POINTS = 80
"""Penalties along the path, evenly spaced in their logarithm."""

SCORE_FOLDS = 5

TrainFold = Callable[
    [NDArray[np.intp], NDArray[np.intp]],
    tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.integer]],
]
"""Trains a machine on some rows: (train rows, held-out rows) to (outputs of both, literals of each clause)."""


@dataclass(frozen=True)
class Estimate:
    """A score's mean over the folds and its standard error; both nan where no fold could be scored."""

    mean: float
    error: float


@dataclass(frozen=True)
class PointScores:
    """Scores on rows that the machine of their fold did not see.

    Attributes
    ----------
    accuracy, balanced_accuracy : Estimate
        Of `predict`; balanced accuracy is the mean over classes of the share found.
    log_loss : Estimate
        Of the probabilities.
    auc : Estimate or None
        Area under the ROC curve, with two classes only.
    """

    accuracy: Estimate
    balanced_accuracy: Estimate
    log_loss: Estimate
    auc: Estimate | None


@dataclass(frozen=True)
class NumberPointScores:
    """Scores of predicted numbers on rows that the machine of their fold did not see.

    Attributes
    ----------
    mae : Estimate
        Mean absolute error, in the target's unit.
    r2 : Estimate
        nan where the held-out targets of a fold do not vary.
    """

    mae: Estimate
    r2: Estimate


@dataclass(frozen=True)
class Point:
    """One setting of the dial: a model of its own.

    Attributes
    ----------
    strength : float
        Penalty relative to the one `refit` chooses: 1 is exactly the model that `refit` settles, more keeps fewer
        clauses.
    kept : int64 array (n_kept,)
        Columns of the outputs that have a weight, ascending.
    weights, intercept : int64 arrays (n_kept, n_outputs) and (n_outputs,)
        In units of 2**-16.
    n_rules, n_literals : int
    scores : PointScores, NumberPointScores or None
        Where they were measured.
    """

    strength: float
    kept: NDArray[np.int64]
    weights: NDArray[np.int64]
    intercept: NDArray[np.int64]
    n_rules: int
    n_literals: int
    scores: PointScores | NumberPointScores | None = None

    def votes(self, outputs: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Vote sums in units of 2**-16, (n_rows, n_outputs), of the clauses' outputs (n_rows, n_clauses)."""
        return outputs[:, self.kept].astype(np.int64) @ self.weights + self.intercept


def path(
    outputs: NDArray[np.bool_],
    labels: NDArray[np.integer],
    lengths: NDArray[np.integer],
    n_classes: int,
    random_state: int | None = None,
    stop: threading.Event | None = None,
    row_weights: NDArray[np.floating] | None = None,
) -> tuple[Point, ...]:
    """Models from no rule to all, by ever weaker penalties.

    Every output's penalty is the one `refit` chooses times a factor, the point's strength. Where that is above 1,
    it only decides which clauses stay: their weights are settled with the penalty of `refit`, since a strong one
    also makes the weights of the few rules it leaves too small. Of several strengths that leave the same number of
    rules, 1 is kept, or else the weakest.

    Parameters
    ----------
    outputs, labels, lengths, n_classes, random_state, row_weights : as in `refit`
    stop : threading.Event, optional
        Looked at between fits; when set, the path ends there.

    Returns
    -------
    tuple of Point
        By number of rules, ascending; empty where weights cannot be refitted.
    """
    settled = refit(outputs, labels, lengths, n_classes, random_state, stop, row_weights)
    if settled.reason is not None:
        return ()
    targets = class_targets(np.asarray(labels, dtype=np.int64), n_classes)
    return walk(settled, *make_problems(outputs, targets, lengths, "logistic", row_weights), lengths, stop)


def walk(
    settled: Refit,
    usable: NDArray[np.int64],
    problems: list[Problem],
    lengths: NDArray[np.integer],
    stop: threading.Event | None,
) -> tuple[Point, ...]:
    """The points of `path`, around what a refit settled; `usable` and `problems` are `make_problems`'."""
    starts: list[Solution | None] = [None] * len(problems)
    points: dict[int, Point] = {}
    for strength in _strengths(settled.strengths):
        solutions = []
        for output, problem in enumerate(problems):
            if is_set(stop):
                return _ordered(points)
            strongest, own = problem.strongest_penalty, settled.strengths[output]
            if strongest == 0:
                solutions.append(Solution(np.zeros(len(usable)), problem.constant))
                continue
            found = solve(problem, strongest * min(1.0, strength * own), starts[output])
            starts[output] = found
            solutions.append(found if strength <= 1 else _resettle(problem, found, strongest * own))
        if (
            strength == 1
        ):  # the refit's own, to the bit; where clauses are collinear other weights are as good
            kept, weights, intercept = settled.kept, settled.weights, settled.intercept
        else:
            kept, weights, intercept = round_weights(usable, solutions)
        if len(kept) not in points or points[len(kept)].strength != 1:
            literals = int(np.asarray(lengths)[kept].sum())
            points[len(kept)] = Point(strength, kept, weights, intercept, len(kept), literals)
    return _ordered(points)


def _strengths(chosen: tuple[float, ...]) -> list[float]:
    """Factors from where every output has its strongest penalty down to the weakest, 1 among them."""
    grid = np.geomspace(1 / min(chosen), 1 / (PENALTY_RANGE * max(chosen)), N_POINTS)
    return np.unique(np.append(grid, 1.0))[::-1].tolist()


def _ordered(points: dict[int, Point]) -> tuple[Point, ...]:
    return tuple(points[n_rules] for n_rules in sorted(points))


def _resettle(problem: Problem, found: Solution, penalty: float) -> Solution:
    """The weights of the columns of `found` with another penalty."""
    columns = np.flatnonzero(found.weights)
    start = Solution(found.weights[columns], found.intercept)
    part = solve(problem.columns(columns), penalty, start)
    weights = np.zeros(len(found.weights))
    weights[columns] = part.weights
    return Solution(weights, part.intercept)


def at(points: tuple[Point, ...], max_rules: int | None = None, max_literals: int | None = None) -> Point:
    """The point with the most rules within the limits that are given.

    Raises
    ------
    ValueError
        There are no points, none within the limits, or a limit is no number.
    """
    limits = {"rules": max_rules, "literals": max_literals}
    for name, most in limits.items():
        if most is not None and (isinstance(most, bool) or not isinstance(most, numbers.Real)):
            raise ValueError(f"max_{name} is {most!r}; use a whole number from 0 on, or None.")
    within = [
        point
        for point in points
        if all(most is None or getattr(point, f"n_{name}") <= most for name, most in limits.items())
    ]
    if not within:
        asked = " and ".join(f"{most} {name}" for name, most in limits.items() if most is not None)
        if not points:
            raise ValueError("There is no other model, because weights could not be refitted.")
        least = f"{points[0].n_rules} rules and {points[0].n_literals} literals"
        raise ValueError(f"There is no model with at most {asked}; the least is {least}.")
    return within[-1]


def score_path(
    points: tuple[Point, ...],
    train_fold: TrainFold,
    labels: NDArray[np.integer],
    n_classes: int,
    random_state: int | None = None,
    n_jobs: int | None = None,
    stop: threading.Event | None = None,
    row_weights: NDArray[np.floating] | None = None,
) -> tuple[Point, ...]:
    """The points with scores from training a machine per fold.

    A point with k rules is scored by what each fold's own path gives `at(max_rules=k)`: the score of the procedure
    "train, then keep at most k rules" on rows that none of it has seen.

    Parameters
    ----------
    points : tuple of Point
        From `path` on all rows. They come back without scores where a class has fewer than three rows.
    train_fold : callable
        (train rows, held-out rows), indices, to (outputs of the train rows, outputs of the held-out rows, literals
        of each clause); outputs are bool (n_rows, n_clauses). With n_jobs it runs in other processes.
    labels : int array (n_rows,)
        Class indices of all rows.
    n_classes : int
    random_state : int or None
        Makes the folds.
    n_jobs : int, optional
        joblib's; folds run side by side.
    stop : threading.Event, optional
        Looked at between folds and fits; when set, the points come back without scores. It works with n_jobs None
        or 1 only, since other processes cannot see it.
    row_weights : float array (n_rows,), optional
        For the folds' own refits; every held-out row counts once in the scores.

    Returns
    -------
    tuple of Point
    """
    labels = np.asarray(labels, dtype=np.int64)
    n_folds = int(min(SCORE_FOLDS, np.bincount(labels, minlength=n_classes).min()))
    if n_folds < 3:
        return points
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=random_state).split(labels, labels)
    measured = MeasureClasses(labels, n_classes, random_state, row_weights)
    return score_folds(points, train_fold, list(folds), measured, n_jobs, stop)


class Measure(Protocol):
    """What is fitted on the clauses of a fold, and what is measured of its points."""

    def path(
        self,
        outputs: NDArray[np.bool_],
        lengths: NDArray[np.integer],
        train: NDArray[np.intp],
        stop: threading.Event | None,
    ) -> tuple[Point, ...]:
        """The path on a fold's training rows."""

    def measure(self, votes: NDArray[np.int64], held_out: NDArray[np.intp]) -> tuple[float, ...]:
        """Scores of vote sums in 2**-16 on its held-out rows; nan where one is not defined."""

    def scores(self, estimates: list[Estimate]) -> PointScores | NumberPointScores:
        """The same scores over all folds."""


@dataclass(frozen=True)
class MeasureClasses:
    """A `Measure` of class labels."""

    labels: NDArray[np.integer]
    n_classes: int
    random_state: int | None
    row_weights: NDArray[np.floating] | None

    def path(
        self,
        outputs: NDArray[np.bool_],
        lengths: NDArray[np.integer],
        train: NDArray[np.intp],
        stop: threading.Event | None,
    ) -> tuple[Point, ...]:
        """See `Measure.path`."""
        weights = None if self.row_weights is None else self.row_weights[train]
        labels = self.labels[train]
        return path(outputs, labels, lengths, self.n_classes, self.random_state, stop, weights)

    def measure(self, votes: NDArray[np.int64], held_out: NDArray[np.intp]) -> tuple[float, ...]:
        """See `measure`."""
        return measure(votes, self.labels[held_out].astype(np.int64), self.n_classes)

    def scores(self, estimates: list[Estimate]) -> PointScores:
        """See `Measure.scores`."""
        auc = estimates[3] if self.n_classes <= 2 else None
        return PointScores(estimates[0], estimates[1], estimates[2], auc)


def score_folds(
    points: tuple[Point, ...],
    train_fold: TrainFold,
    folds: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
    measured: Measure,
    n_jobs: int | None,
    stop: threading.Event | None,
) -> tuple[Point, ...]:
    """The points with scores over (train rows, held-out rows); without where it was stopped or a fold has no path."""
    if not points:
        return points
    here = stop if n_jobs in (None, 1) else None
    rules = [point.n_rules for point in points]
    scored = Parallel(n_jobs=n_jobs)(
        delayed(_score_fold)(train_fold, train, held_out, measured, rules, here) for train, held_out in folds
    )
    if is_set(stop) or any(fold is None for fold in scored):
        return points
    table = np.array(scored)
    return tuple(
        replace(point, scores=measured.scores([_estimate(column) for column in table[:, i].T]))
        for i, point in enumerate(points)
    )


def _score_fold(
    train_fold: TrainFold,
    train: NDArray[np.intp],
    held_out: NDArray[np.intp],
    measured: Measure,
    rules: list[int],
    stop: threading.Event | None,
) -> list[tuple[float, ...]] | None:
    """The scores of a fold at each number of rules; None if it was stopped or has no path."""
    if is_set(stop):
        return None
    outputs, held_out_outputs, lengths = train_fold(train, held_out)
    points = measured.path(outputs, lengths, train, stop)
    if not points or is_set(stop):
        return None
    # A path starts without a rule; should it ever start with one, that is the nearest.
    nearest = (at(points, max(n_rules, points[0].n_rules)) for n_rules in rules)
    return [measured.measure(point.votes(held_out_outputs), held_out) for point in nearest]


def measure(
    votes: NDArray[np.int64], labels: NDArray[np.int64], n_classes: int
) -> tuple[float, float, float, float]:
    """Accuracy, balanced accuracy, log-loss and AUC (nan unless two classes occur) of vote sums in 2**-16.

    Predictions and probabilities are the estimator's: class 1 of two where the sum is at least 0 (SSL paper,
    eq. 6), else the largest; logistic curves of the sums, scaled to one with more than two classes.
    """
    positive = expit(votes / ONE)
    auc = float("nan")
    if n_classes <= 2:
        predicted = (votes[:, 0] >= 0).astype(np.int64)
        probabilities = np.column_stack([expit(-votes[:, 0] / ONE), positive[:, 0]])
        if 0 < labels.sum() < len(labels):
            auc = float(roc_auc_score(labels, votes[:, 0]))
    else:
        predicted = votes.argmax(axis=1)
        probabilities = positive / positive.sum(axis=1, keepdims=True)
    own = np.maximum(probabilities[np.arange(len(labels)), labels], np.finfo(float).tiny)
    right = predicted == labels
    balanced = np.mean([right[labels == label].mean() for label in np.unique(labels)])
    return float(right.mean()), float(balanced), float(-np.log(own).mean()), auc


def _estimate(values: NDArray[np.float64]) -> Estimate:
    known = values[~np.isnan(values)]
    if len(known) < 2:
        return Estimate(float(known.mean()) if len(known) else float("nan"), float("nan"))
    return Estimate(float(known.mean()), float(known.std(ddof=1) / np.sqrt(len(known))))
