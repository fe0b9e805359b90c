"""The readability dial of predicted numbers: its points by the Lasso, their scores MAE and R2 of retrained machines."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from tmcore import dial
from tmcore.dial import Estimate, NumberPointScores, Point, TrainFold
from tmcore.refit import make_problems, refit_numbers
from tmcore.scores import mae_and_r2
from tmcore.target_range import TargetRange

FEWEST_ROWS = 10
"""Rows below which no scores are measured: a fold would hold out one."""


def path(
    outputs: NDArray[np.bool_],
    votes: NDArray[np.float64],
    lengths: NDArray[np.integer],
    random_state: int | None = None,
    stop: threading.Event | None = None,
) -> tuple[Point, ...]:
    """Models from no rule to all, as `dial.path`; their weights are in votes.

    Parameters
    ----------
    outputs, votes, lengths, random_state, stop : as in `refit_numbers`
        The numbers to predict are on the scale of votes, [0, T].
    """
    settled = refit_numbers(outputs, votes, lengths, random_state, stop)
    if settled.reason is not None:
        return ()
    return dial.walk(
        settled, *make_problems(outputs, votes[:, None], lengths, "squares", None), lengths, stop
    )


@dataclass(frozen=True)
class MeasureNumbers:
    """A `dial.Measure` of numbers.

    Attributes
    ----------
    targets : float array (n_rows,)
    target_range : TargetRange
    vote_target : float
    random_state : int or None
    """

    targets: NDArray[np.float64]
    target_range: TargetRange
    vote_target: float
    random_state: int | None

    def path(
        self,
        outputs: NDArray[np.bool_],
        lengths: NDArray[np.integer],
        train: NDArray[np.intp],
        stop: threading.Event | None,
    ) -> tuple[Point, ...]:
        """See `dial.Measure.path`."""
        votes = self.target_range.votes(self.targets[train], self.vote_target)
        return path(outputs, votes, lengths, self.random_state, stop)

    def measure(self, votes: NDArray[np.int64], held_out: NDArray[np.intp]) -> tuple[float, ...]:
        """Mean absolute error and R2."""
        predicted = self.target_range.numbers(votes[:, 0], self.vote_target)
        mae, r2 = mae_and_r2(self.targets[held_out], predicted)
        return mae, float("nan") if r2 is None else r2

    def scores(self, estimates: list[Estimate]) -> NumberPointScores:
        """See `dial.Measure.scores`."""
        return NumberPointScores(*estimates)


def score_path(
    points: tuple[Point, ...],
    train_fold: TrainFold,
    measured: MeasureNumbers,
    n_jobs: int | None = None,
    stop: threading.Event | None = None,
) -> tuple[Point, ...]:
    """The points with scores from training a machine per fold, as `dial.score_path`; without below FEWEST_ROWS."""
    n_rows = len(measured.targets)
    if n_rows < FEWEST_ROWS:
        return points
    folds = KFold(dial.SCORE_FOLDS, shuffle=True, random_state=measured.random_state).split(np.arange(n_rows))
    return dial.score_folds(points, train_fold, list(folds), measured, n_jobs, stop)
