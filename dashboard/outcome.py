"""What settling a run brings: the estimator to keep, and how it stands before and after."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from tmcore.estimators import TsetlinClassifier
from tmcore.scores import Scores
from tmcore.training import TrainingRun


@dataclass(frozen=True)
class Standing:
    """How good a model is and how long: shares of rows right, and sizes."""

    train_accuracy: float
    test_accuracy: float | None
    n_rules: int
    n_literals: int


@dataclass(frozen=True)
class Settled:
    """The outcome of settling: the estimator, and the scores before (votes) and after (refit)."""

    estimator: TsetlinClassifier
    before: Standing
    after: Standing


def settle(
    run: TrainingRun, train: tuple[pd.DataFrame, pd.Series], test: tuple[pd.DataFrame, pd.Series]
) -> Settled:
    """Settle a run and measure it before and after on the same rows; ``test`` may be empty."""
    snapshot = run.snapshot()
    assert isinstance(snapshot.scores, Scores)  # the run learns classes
    before = Standing(
        snapshot.scores.train_accuracy,
        snapshot.scores.test_accuracy,
        int((snapshot.literals_per_clause > 0).sum()),
        int(snapshot.n_literals),
    )
    estimator = run.settle()
    after = Standing(
        float(estimator.score(*train)),
        float(estimator.score(*test)) if len(test[1]) else None,
        len(estimator.rules_),
        sum(rule.n_literals for rule in estimator.rules_),
    )
    return Settled(estimator, before, after)
