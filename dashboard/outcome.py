"""What settling a run brings: the estimator to keep, and how it stands before and after."""

from __future__ import annotations

import time
from dataclasses import dataclass

from dashboard.goals import AnyScores, Goal, Model, Rows
from tmcore.training import TrainingRun


@dataclass(frozen=True)
class Standing:
    """How good a model is and how long."""

    scores: AnyScores
    n_rules: int
    n_literals: int


@dataclass(frozen=True)
class Settled:
    """The outcome of settling: the estimator, how it stands before (votes) and after (refit), and how long it took."""

    estimator: Model
    before: Standing
    after: Standing
    seconds: float


def settle(run: TrainingRun, goal: Goal, train: Rows, test: Rows) -> Settled:
    """Settle a run and measure it before and after on the same rows; ``test`` may be empty."""
    snapshot = run.snapshot()
    n_clauses = int((snapshot.literals_per_clause > 0).sum())
    before = Standing(snapshot.scores, n_clauses, int(snapshot.n_literals))
    began = time.monotonic()
    estimator = run.settle()
    seconds = time.monotonic() - began
    n_literals = sum(rule.n_literals for rule in estimator.rules_)
    after = Standing(goal.measure(estimator, train, test), len(estimator.rules_), n_literals)
    return Settled(estimator, before, after, seconds)
