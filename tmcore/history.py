"""What a run remembers: records to draw, settings that changed, snapshots, and states to go back to."""

from __future__ import annotations

import threading
from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from tmcore.machine.state import ClauseBank, MachineState
from tmcore.scores import NumberScores, Scores

MAX_RECORDS = 4000
"""When the history holds more, every other record of its older half goes."""

MAX_CHECKPOINT_BYTES = 64 * 2**20
"""Memory for checkpoints; when they take more, every other one goes."""

SECONDS_BETWEEN_CHECKPOINTS = 0.1
"""Training between two checkpoints while they all fit, so that going back re-runs 0.2 s at most."""

Value = float | str | bool


@dataclass(frozen=True)
class Progress:
    """How far a run had come, and how long its clauses were."""

    step: int
    epoch: float
    n_literals: int
    n_intervals: int


@dataclass(frozen=True)
class Record(Scores, Progress):
    """One point of the history of a run on classes: its progress and its scores by votes."""


@dataclass(frozen=True)
class NumberRecord(NumberScores, Progress):
    """One point of the history of a run on numbers: its progress and its scores by votes."""


AnyRecord = Record | NumberRecord

RECORDS: dict[type, type[Record] | type[NumberRecord]] = {Scores: Record, NumberScores: NumberRecord}
"""The record that keeps each kind of scores."""


@dataclass(frozen=True)
class Change:
    """A setting changed while running: it holds from `step` on."""

    step: int
    name: str
    value: Value


@dataclass(frozen=True)
class Snapshot:
    """The machine at one moment; nothing in it changes any more.

    Attributes
    ----------
    step : int
        Rows learned so far.
    epoch : float
        Passes over the training rows so far.
    bank : ClauseBank
    n_literals : int
        Included bounds of the whole model.
    n_intervals : int
        Pairs of clause and feature with an included bound.
    literals_per_clause : ndarray of int, shape (machines, clauses)
    feedback : ndarray of int, shape (machines, clauses, 3)
        Rows that gave each clause Type Ia, Ib and II since the snapshot before.
    votes : ndarray of float, shape (n_rows, machines)
        Vote sums of the training rows.
    scores : Scores or NumberScores
        By votes, on training and validation rows.
    """

    step: int
    epoch: float
    bank: ClauseBank
    n_literals: int
    n_intervals: int
    literals_per_clause: np.ndarray
    feedback: np.ndarray
    votes: np.ndarray
    scores: Scores | NumberScores

    def record(self) -> AnyRecord:
        """What the history keeps of it."""
        kind = RECORDS[type(self.scores)]
        return kind(self.step, self.epoch, self.n_literals, self.n_intervals, *vars(self.scores).values())


def add_record(history: list[AnyRecord], record: AnyRecord) -> list[AnyRecord]:
    """The history with one record more, unless the moment is in it; thinned where it is older when full."""
    if history and history[-1].step == record.step:
        return history
    history.append(record)
    if len(history) > MAX_RECORDS:
        half = MAX_RECORDS // 2
        return history[:half:2] + history[half:]
    return history


class Checkpoints:
    """States of one run in order of their steps, a fixed time of training apart, within a fixed memory.

    Threads may add and look up at the same time. The first state always stays.

    Parameters
    ----------
    first : MachineState
        Copied, as every state that is added.
    """

    def __init__(self, first: MachineState) -> None:
        self._lock = threading.Lock()
        self._steps, self._states = [first.step], [first.copy()]
        self.spacing = SECONDS_BETWEEN_CHECKPOINTS

    def __len__(self) -> int:
        return len(self._steps)

    @property
    def n_bytes(self) -> int:
        """Memory the states take."""
        first = self._states[0]
        return len(self) * (first.planes.nbytes + first.weights.nbytes)

    def before(self, step: int) -> MachineState:
        """A copy of the last state at or before `step`."""
        with self._lock:
            return self._states[bisect_right(self._steps, step) - 1].copy()

    def add(self, state: MachineState) -> None:
        """Keep a copy of a state, unless there is one of that step."""
        with self._lock:
            place = bisect_right(self._steps, state.step)
            if self._steps[place - 1] == state.step:
                return
            self._steps.insert(place, state.step)
            self._states.insert(place, state.copy())
            if self.n_bytes > MAX_CHECKPOINT_BYTES and len(self) > 1:
                self._steps, self._states = self._steps[::2], self._states[::2]
                self.spacing *= 2

    def up_to(self, step: int) -> Checkpoints:
        """Those at or before `step`, as checkpoints of another run that shares the states."""
        made = Checkpoints.__new__(Checkpoints)
        made._lock = threading.Lock()
        with self._lock:
            place = bisect_right(self._steps, step)
            made._steps, made._states = self._steps[:place], self._states[:place]
            made.spacing = self.spacing
        return made

    def states(self, most_bytes: int) -> list[MachineState]:
        """Evenly chosen states, the first among them, that together take at most `most_bytes`, or one."""
        with self._lock:
            each = self.n_bytes // len(self)
            return self._states[:: max(1, -(-len(self) * each // most_bytes))]
