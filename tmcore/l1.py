"""L1-penalised logistic regression and least squares on clauses' outputs, by Newton steps and coordinate descent.

scikit-learn's liblinear solves the logistic problem too (the tests compare), but without warm starts, with a penalty
on the intercept, and behind one lock for the whole process: a path of 27 penalties took it 37 times as long.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix
from scipy.special import expit

from tmcore.machine.jit import kernel

Loss = Literal["logistic", "squares"]
Floats = NDArray[np.float64]

MAX_STEPS = 100
"""Newton steps; a dozen is usual."""

MAX_SWEEPS = 1000
LEAST_CURVATURE = 1e-5
"""Floor of p (1 - p), so that rows already decided do not make a step endless."""

MAX_NEW = 100
"""Columns that may come in at once, those with the largest gradients first."""

ROUGH = 1e-3
"""Tolerance while columns still come in."""

SLACK = 1e-6
"""Relative amount by which a gradient must exceed the penalty for its clause to come in."""


@dataclass(frozen=True)
class Solution:
    """Weights, float (n_columns,), and the intercept, which is not penalised."""

    weights: Floats
    intercept: float

    def votes(self, design: csc_matrix) -> Floats:
        """Weighted sums, float (n_rows,): log-odds, or the predicted number."""
        return design @ self.weights + self.intercept


@dataclass(frozen=True)
class Problem:
    """What is to be fitted: the sum over rows of weight times loss is made small.

    Attributes
    ----------
    design : csc_matrix of float64, shape (n_rows, n_columns)
    target : float array (n_rows,)
        0 or 1, both present, for the logistic loss; any numbers for least squares.
    row_weights : float array (n_rows,)
        At least 0.
    loss : "logistic" or "squares"
    """

    design: csc_matrix
    target: Floats
    row_weights: Floats
    loss: Loss

    def rows(self, chosen: NDArray[np.integer]) -> Problem:
        """The same on some rows."""
        return Problem(self.design[chosen], self.target[chosen], self.row_weights[chosen], self.loss)

    def columns(self, chosen: NDArray[np.integer]) -> Problem:
        """The same with some columns."""
        return replace(self, design=self.design[:, chosen])

    @property
    def constant(self) -> float:
        """The best intercept without columns: log-odds of the share of ones, or the mean."""
        mean = self._target_mean
        return float(np.log(mean / (1 - mean))) if self.loss == "logistic" else mean

    @property
    def strongest_penalty(self) -> float:
        """The smallest penalty that leaves no weight; 0 where no column tells anything."""
        residuals = self.row_weights * (self.target - self._target_mean)
        largest = float(np.abs(residuals @ self.design).max(initial=0.0))
        # Only rounding is left of a gradient this small.
        return largest if largest > 1e-9 * max(1.0, float(np.abs(self.target).sum())) else 0.0

    @property
    def _target_mean(self) -> float:
        return float(np.average(self.target, weights=self.row_weights))

    def total_loss(self, votes: Floats) -> float:
        """Log-losses, or half the squared errors, times the rows' weights."""
        if self.loss == "logistic":
            losses = np.logaddexp(0.0, votes) - self.target * votes
        else:
            losses = 0.5 * (self.target - votes) ** 2
        return float(self.row_weights @ losses)

    def mean_loss(self, votes: Floats) -> float:
        """Loss of an average row."""
        return self.total_loss(votes) / float(self.row_weights.sum())

    def derivatives(self, votes: Floats) -> tuple[Floats, Floats]:
        """First and second derivatives of the total loss by each row's votes; the second with a floor."""
        if self.loss == "squares":
            return self.row_weights * (votes - self.target), self.row_weights
        mean = expit(votes)
        curvature = np.maximum(mean * (1 - mean), LEAST_CURVATURE)
        return self.row_weights * (mean - self.target), self.row_weights * curvature


def solve(
    problem: Problem, penalty: float, start: Solution | None = None, tolerance: float = 1e-7
) -> Solution:
    """Minimise the total loss plus `penalty` times the sum of |weights|.

    Parameters
    ----------
    problem : Problem
    penalty : float > 0
    start : Solution, optional
        Of a similar problem; it saves time and does not change the result beyond the tolerance.
    tolerance : float
        Largest change of a weight in the last step.
    """
    if start is None:
        start = Solution(np.zeros(problem.design.shape[1]), problem.constant)
    weights, intercept = start.weights.copy(), start.intercept
    active, transposed = weights != 0, problem.design.T
    precision = max(tolerance, ROUGH)
    while True:
        # Most weights stay zero, so only columns that want to leave zero take part in the Newton steps.
        columns = np.flatnonzero(active)
        smaller = problem.columns(columns)
        part = _newton(smaller, penalty, Solution(weights[columns], intercept), precision)
        weights[columns], intercept = part.weights, part.intercept
        slopes, _ = problem.derivatives(part.votes(smaller.design))
        gradient = np.abs(transposed @ slopes)
        gradient[active] = 0
        outside = np.flatnonzero(gradient > penalty * (1 + SLACK))
        if len(outside) == 0:
            if precision == tolerance:
                return Solution(weights, intercept)
            precision = tolerance
        active[outside[np.argsort(-gradient[outside], kind="stable")[:MAX_NEW]]] = True


def _newton(problem: Problem, penalty: float, start: Solution, tolerance: float) -> Solution:
    """Minimise over all columns: a step solves the quadratic model with its penalty and is halved until the loss
    falls."""
    design, transposed = problem.design, problem.design.T
    # Zeros and ones are exact in float32, and the curvature only steers the steps.
    dense = design.toarray().astype(np.float32)
    weights, intercept, votes = start.weights, start.intercept, start.votes(design)
    now = problem.total_loss(votes) + penalty * np.abs(weights).sum()
    for _ in range(MAX_STEPS):
        slopes, curvature = problem.derivatives(votes)
        weighted = dense * curvature.astype(np.float32)[:, None]
        step, start_step = _descend(
            (dense.T @ weighted).astype(np.float64), weighted.sum(axis=0, dtype=np.float64), curvature.sum(),
            transposed @ slopes, slopes.sum(), weights, penalty, tolerance * 0.1, MAX_SWEEPS,
        )  # fmt: skip
        change = design @ step + start_step
        share = 1.0
        while True:
            trial = weights + share * step
            after = problem.total_loss(votes + share * change) + penalty * np.abs(trial).sum()
            if after <= now or share < 1e-4:
                break
            share /= 2
        if after > now:
            break
        weights, intercept, votes, now = trial, intercept + share * start_step, votes + share * change, after
        if max(np.abs(step).max(initial=0.0), abs(start_step)) < tolerance:
            break
    return Solution(weights, float(intercept))


@kernel
def _descend(
    curvature: Floats, cross: Floats, total: float, gradient: Floats, slope: float, weights: Floats,
    penalty: float, tolerance: float, max_sweeps: int,
) -> tuple[Floats, float]:  # fmt: skip
    """Step of the weights and of the intercept that minimises the quadratic model plus the penalty, one coordinate
    at a time.

    curvature (n, n), cross (n,) and total are the second derivatives by weights, by weights and intercept, and by
    intercept; gradient (n,) and slope the first ones.
    """
    n = len(weights)
    step, moved = np.zeros(n), gradient.copy()
    start_step = 0.0
    for _ in range(max_sweeps):
        largest = 0.0
        change = -slope / total
        start_step += change
        slope = 0.0
        for i in range(n):
            moved[i] += cross[i] * change
        largest = abs(change)
        for j in range(n):
            old = weights[j] + step[j]
            wanted = curvature[j, j] * old - moved[j]
            new = 0.0
            if wanted > penalty:
                new = (wanted - penalty) / curvature[j, j]
            elif wanted < -penalty:
                new = (wanted + penalty) / curvature[j, j]
            change = new - old
            if change != 0.0:
                step[j] = new - weights[j]
                slope += cross[j] * change
                for i in range(n):
                    moved[i] += curvature[i, j] * change
                largest = max(largest, abs(change))
        if largest < tolerance:
            break
    return step, start_step
