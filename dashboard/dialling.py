"""The readability dial of a settled run: its points, their scores, and the point in use. No Streamlit here."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dashboard.background import Task
from dashboard.dial_measures import Measuring, measuring
from dashboard.editing import Editing, Learned
from dashboard.live.estimate import measure
from tmcore.dial import Point
from tmcore.judge import Progress
from tmcore.readable import RetrainFold
from tmcore.settling import outputs_of
from tmcore.task import Task as Goal

if TYPE_CHECKING:
    from dashboard.goals import Model
    from dashboard.jobs import Job
    from dashboard.outcome import Settled

SOON_SECONDS = 60.0
"""Retraining that takes longer waits for a click."""


@dataclass(frozen=True)
class Mark:
    """One point of the dial as shown.

    Attributes
    ----------
    n_rules, n_literals : int
        Literals as learned; the rules on the page may hold fewer, see `RuleSet.simplify`.
    train : float
        Share of the training rows right, which its clauses were learned from; R2 where numbers are predicted.
    test : float or None
        The same of the test rows.
    mean, error : float or None
        The same by retraining per fold and its standard error, once known.
    """

    n_rules: int
    n_literals: int
    train: float
    test: float | None
    mean: float | None = None
    error: float | None = None


@dataclass(frozen=True)
class Pick:
    """A point worth naming, and what it loses against the best one, in hundredths of the score."""

    name: str
    mark: Mark
    loss: float


@dataclass(frozen=True)
class Found:
    """What a task brings: the path with its marks, and about how long retraining takes."""

    points: tuple[Point, ...]
    marks: tuple[Mark, ...]
    seconds: float


class Dialling:
    """The dial of one settled run.

    Parameters
    ----------
    outcome : Settled
    job : Job
        Whose run was settled.
    """

    def __init__(self, outcome: Settled, job: Job) -> None:
        self.outcome = outcome
        self.chosen: int | None = None
        self._job = job
        self.measuring = measuring(job)
        self._editings: dict[int | None, Editing] = {}
        self._path: Task | None = None
        self._scores: Task | None = None

    @property
    def model(self) -> Model:
        """The settled model, or the one at the chosen point."""
        return self.editing().learned.model or self.outcome.estimator

    @property
    def why_not(self) -> str | None:
        """Why there is no dial, in one sentence; None where there is one."""
        settled = self.outcome.estimator.settled_
        if settled is None or not settled.refitted:
            reason = self.outcome.estimator.settle_reason_
            because = f", and here they could not be: {reason}" if reason else ""
            return (
                "The dial from few rules to many needs settled weights (Rule weights: Settled at the end)"
                + because.rstrip(".")
                + "."
            )
        return None

    @property
    def settled_rules(self) -> int:
        """The number of rules that settling chose."""
        settled = self.outcome.estimator.settled_
        return 0 if settled is None else len(settled.clauses)

    @property
    def in_use(self) -> int:
        """The number of rules at the point in use."""
        return self.settled_rules if self.chosen is None else self.chosen

    @property
    def mark(self) -> Mark | None:
        """The point in use, None before the path is known."""
        marks = self.found.marks if self.found is not None else ()
        return next((mark for mark in marks if mark.n_rules == self.in_use), None)

    @property
    def task(self) -> Task | None:
        """The newest task, None before the first."""
        return self._scores or self._path

    @property
    def found(self) -> Found | None:
        """The newest result, None before there is any."""
        for task in (self._scores, self._path):
            if task is not None and task.result is not None:
                found = task.result
                assert isinstance(found, Found)
                return found
        return None

    @property
    def is_scored(self) -> bool:
        """Whether the points have been scored by retraining."""
        return self.found is not None and any(mark.mean is not None for mark in self.found.marks)

    @property
    def n_folds(self) -> int:
        """How many machines retraining takes; 0 where there are too few rows."""
        return self.measuring.n_folds(self._job.y_train)

    def editing(self) -> Editing:
        """The rules at the point in use with the edits made there; other points keep theirs."""
        if self.chosen not in self._editings:
            model: Model = self.outcome.estimator
            of: object = self.outcome
            if self.chosen is not None:
                of = model = model.at(self.chosen)
            refitted = model.settled_ is not None and model.settled_.refitted
            self._editings[self.chosen] = Editing(Learned(of, model.rules_, refitted, model))
        return self._editings[self.chosen]

    def choose(self, n_rules: int) -> None:
        """Use the point with so many rules; numbers that no point has are ignored."""
        if n_rules == self.settled_rules:
            self.chosen = None
        elif self.found is not None and any(mark.n_rules == n_rules for mark in self.found.marks):
            self.chosen = n_rules

    def begin(self) -> None:
        """Start what is to be done without asking: the path, then retraining where that is soon done."""
        if self.why_not is not None:
            return
        if self._path is None:
            outcome, job = self.outcome, self._job
            data = (job.X_train, job.y_train), (job.X_test, job.y_test)
            run, n_folds, by = job.run, self.n_folds, self.measuring
            self._path = Task(
                "Working out the dial", lambda progress, stop: _path(outcome, run, n_folds, by, *data)
            )
        found = self.found
        if self._scores is None and found is not None and found.marks and found.seconds <= SOON_SECONDS:
            self.retrain()

    def retrain(self) -> None:
        """Score every point by training anew on parts of the rows."""
        found, run = self.found, self._job.run
        if found is None or run is None or not self.n_folds:
            return
        estimator, n_folds = self.outcome.estimator, self.n_folds
        codes, goal, by = run.codes, run.task, self.measuring

        def work(progress: Progress, stop: Event) -> Found:
            return _score(found, estimator, codes, goal, by, n_folds, progress, stop)

        self._scores = Task("Checking on rows not learned from", work)


def _path(outcome: Settled, run: Any, n_folds: int, by: Measuring, train: Any, test: Any) -> Found:
    began = time.monotonic()
    estimator = outcome.estimator
    points = estimator.path_
    seconds = time.monotonic() - began
    right, unseen = _scores(estimator, points, by, *train), _scores(estimator, points, by, *test)
    marks = tuple(
        Mark(point.n_rules, point.n_literals, float(on_train), on_test)
        for point, on_train, on_test in zip(points, right, unseen, strict=True)
        if on_train is not None
    )
    parameters = estimator.machine_.parameters
    learning = parameters.epochs * run.n_rows / measure(run, parameters).rows_per_second
    return Found(points, marks, n_folds * (seconds + 0.8 * learning))


def _scores(
    estimator: Model, points: tuple[Point, ...], by: Measuring, X: pd.DataFrame, y: pd.Series
) -> list[float | None]:
    """The score at each point; None without rows."""
    if not len(y):
        return [None] * len(points)
    settled = estimator.settled_
    assert settled is not None  # it has a dial
    codes = estimator.encoder_.transform(X)
    outputs = outputs_of(settled.bank, estimator.machine_, codes).reshape(len(y), -1)
    return [by.score(estimator, point, outputs, y) for point in points]


def _score(
    found: Found,
    estimator: Model,
    codes: Any,
    goal: Goal,
    by: Measuring,
    n_folds: int,
    progress: Progress,
    stop: Event,
) -> Found:
    train = RetrainFold(estimator.encoder_, estimator.machine_.parameters, codes, goal)
    begun = 0

    def fold(rows: np.ndarray, held_out: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        nonlocal begun
        progress(begun, n_folds)
        begun += 1
        return train(rows, held_out)

    points = by.retrain(found.points, fold, estimator, goal.targets, stop)
    scored = [by.found(point) for point in points]
    marks = tuple(
        mark if scores is None else replace(mark, mean=scores[0], error=scores[1])
        for mark, scores in zip(found.marks, scored, strict=True)
    )
    return replace(found, points=points, marks=marks)


def picks(marks: tuple[Mark, ...]) -> tuple[Pick, ...]:
    """The simplest point within one standard error of the most accurate, that one, and every rule; none unscored.

    Of several most accurate points the one with the fewest rules counts.
    """
    scored = [(mark, mark.mean, mark.error) for mark in marks if mark.mean is not None]
    if not scored:
        return ()
    best, top, error = max(scored, key=lambda one: (one[1] or 0.0, -one[0].n_rules))
    assert top is not None
    noise = top - (error if error is not None and np.isfinite(error) else 0.0)
    simplest = next((mark, mean) for mark, mean, _ in scored if mean is not None and mean >= noise)
    last, last_mean, _ = scored[-1]
    named = (
        ("Simplest within noise", *simplest),
        ("Most accurate", best, top),
        ("Every rule", last, last_mean),
    )
    return tuple(Pick(name, mark, 100 * (top - (mean or 0.0))) for name, mark, mean in named)
