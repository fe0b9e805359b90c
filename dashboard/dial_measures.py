"""How the points of the readability dial are scored: by accuracy for classes, by R2 for numbers. No Streamlit here."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard import style
from tmcore import dial, dial_numbers
from tmcore.dial import SCORE_FOLDS, NumberPointScores, Point, PointScores, TrainFold
from tmcore.estimators import TsetlinClassifier
from tmcore.regressor import TsetlinRegressor
from tmcore.scores import mae_and_r2
from tmcore.settling import row_weights
from tmcore.training import winners

if TYPE_CHECKING:
    from dashboard.goals import Model
    from dashboard.jobs import Job

FEWEST_FOLDS = 3


@dataclass(frozen=True)
class Baseline:
    """What the simplest answer scores, in words too."""

    score: float
    text: str


class ByAccuracy:
    """The share of rows right."""

    name = "accuracy"
    too_few = "Machines cannot be retrained on parts of the rows, since a class has fewer than three."

    def n_folds(self, y: pd.Series) -> int:
        """How many machines retraining takes; 0 where a class has too few rows."""
        least = int(y.value_counts().min())
        return min(SCORE_FOLDS, least) if least >= FEWEST_FOLDS else 0

    def score(self, model: Model, point: Point, outputs: NDArray[np.bool_], y: pd.Series) -> float:
        """The score of a point on rows whose clause outputs are known."""
        assert isinstance(model, TsetlinClassifier)
        return float(np.mean(model.rule_classes_[winners(point.votes(outputs))] == y.to_numpy()))

    def retrain(
        self, points: tuple[Point, ...], fold: TrainFold, model: Model, targets: NDArray[Any], stop: Event
    ) -> tuple[Point, ...]:
        """The points with scores from training a machine per fold."""
        assert isinstance(model, TsetlinClassifier)
        weights = row_weights(model.machine_, model.rule_classes_, targets)
        seed = model.machine_.parameters.random_state % 2**32
        return dial.score_path(
            points, fold, targets, len(model.rule_classes_), seed, stop=stop, row_weights=weights
        )

    def found(self, point: Point) -> tuple[float, float] | None:
        """Mean and standard error of a retrained point, None where it was not."""
        scores = point.scores
        return (scores.accuracy.mean, scores.accuracy.error) if isinstance(scores, PointScores) else None

    def baseline(self, job: Job) -> Baseline:
        """Always the commonest class."""
        shares = job.y_train.value_counts(normalize=True)
        share = float(shares.iloc[0])
        return Baseline(share, f"always “{style.short(shares.index[0])}”: {style.percent(share)}")

    def loss(self, loss: float) -> str:
        """What a point loses against the best one: "−5.3 points"."""
        return "no loss" if round(loss, 1) <= 0 else f"{style.signed(-loss, 1)} points"


class ByR2:
    """The share of the numbers' variance that is predicted."""

    name = "R²"
    too_few = f"Machines cannot be retrained on parts of fewer than {dial_numbers.FEWEST_ROWS} rows."

    def n_folds(self, y: pd.Series) -> int:
        """How many machines retraining takes; 0 for too few rows."""
        return SCORE_FOLDS if len(y) >= dial_numbers.FEWEST_ROWS else 0

    def score(self, model: Model, point: Point, outputs: NDArray[np.bool_], y: pd.Series) -> float | None:
        """The score of a point on rows whose clause outputs are known."""
        assert isinstance(model, TsetlinRegressor)
        target = model.machine_.parameters.vote_target
        predicted = model.target_range_.numbers(point.votes(outputs)[:, 0], target)
        return mae_and_r2(y.to_numpy(np.float64), predicted)[1]

    def retrain(
        self, points: tuple[Point, ...], fold: TrainFold, model: Model, targets: NDArray[Any], stop: Event
    ) -> tuple[Point, ...]:
        """The points with scores from training a machine per fold."""
        assert isinstance(model, TsetlinRegressor)
        parameters = model.machine_.parameters
        measured = dial_numbers.MeasureNumbers(
            targets, model.target_range_, parameters.vote_target, parameters.random_state % 2**32
        )
        return dial_numbers.score_path(points, fold, measured, stop=stop)

    def found(self, point: Point) -> tuple[float, float] | None:
        """Mean and standard error of a retrained point, None where it was not or no fold's numbers vary."""
        scores = point.scores
        if not isinstance(scores, NumberPointScores) or np.isnan(scores.r2.mean):
            return None
        return scores.r2.mean, scores.r2.error

    def baseline(self, job: Job) -> Baseline:
        """Always the mean."""
        return Baseline(0.0, "always the mean: 0")

    def loss(self, loss: float) -> str:
        """What a point loses against the best one: "−0.05"."""
        return "no loss" if round(loss / 100, 2) <= 0 else f"{style.signed(-loss / 100, 2)} R²"


Measuring = ByAccuracy | ByR2


def measuring(job: Job) -> Measuring:
    """How a job's points are scored."""
    return ByR2() if job.task == "numbers" else ByAccuracy()
