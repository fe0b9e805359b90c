"""What a run shows of itself: its newest snapshot, its history, and how often scores are worth measuring."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import numpy as np

from dashboard.history import History, Moment
from tmcore.training import Snapshot, TrainingRun

CHEAP_SECONDS = 0.04
SCORE_SHARE = 6.0
"""On large tables scores are measured only after this many times as long as measuring takes."""


class Showing:
    """Snapshots of one run, published whole; ``bell`` rings for each.

    Attributes
    ----------
    published : (int, Snapshot or None)
        A number that grows with every snapshot, and the newest.
    feedback : int array (n_machines, n_clauses, 3) or None
        Counts of Ia, Ib, II since the run began.
    unscored : bool
        Whether the newest scores are older than the newest clauses.
    """

    def __init__(self, bell: threading.Condition) -> None:
        self._bell = bell
        self._history = History()
        self._score_seconds = self._scored_at = 0.0
        self.published: tuple[int, Snapshot | None] = (0, None)
        self.feedback: np.ndarray | None = None
        self.unscored = False

    def moments(self) -> tuple[Moment, ...]:
        """The kept moments, oldest first."""
        with self._bell:
            return self._history.moments()

    def begin(self, run: TrainingRun, past: tuple[Moment, ...] = ()) -> None:
        """Show another run, with the past it has, or ``past`` where more of it is known."""
        history = History.going_on(past) if past else History.of(run)
        with self._bell:
            self._history, self.feedback = history, None
        self.score(run)

    def look(self, run: TrainingRun) -> None:
        """Publish the clauses as they are; scores as well where measuring them costs little of the time."""
        latest, cost = self.published[1], self._score_seconds
        if latest is None or cost < CHEAP_SECONDS or time.monotonic() - self._scored_at > SCORE_SHARE * cost:
            self.score(run)
            return
        bank = run.machine.bank()
        self.unscored = True
        self._publish(
            replace(
                latest,
                step=run.step,
                epoch=run.epoch,
                bank=bank,
                n_literals=bank.n_literals,
                n_intervals=bank.n_intervals,
                literals_per_clause=bank.literals,
                feedback=run.machine.take_counts(),
            ),
            scored=False,
        )

    def score(self, run: TrainingRun) -> None:
        """Publish the clauses and their scores."""
        began = time.monotonic()
        snapshot = run.snapshot()
        self._scored_at = time.monotonic()
        self._score_seconds, self.unscored = self._scored_at - began, False
        self._publish(snapshot)

    def _publish(self, snapshot: Snapshot, scored: bool = True) -> None:
        with self._bell:
            moment = Moment.of(snapshot, scored)
            self.feedback = moment.feedback if self.feedback is None else self.feedback + moment.feedback
            self._history.add(moment)
            self.published = (self.published[0] + 1, snapshot)
            self._bell.notify_all()
