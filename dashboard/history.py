"""What a run has been through, kept small enough to draw and to hold in memory."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tmcore.scores import NumberScores, Scores

if TYPE_CHECKING:
    from tmcore.machine.state import MachineState
    from tmcore.training import Snapshot, TrainingRun

MOST_MOMENTS = 240
FEWEST_MOMENTS = 24
MOST_BYTES = 48 * 2**20
KEPT_BYTES = 2 * 2**20
"""Checkpoints looked at when a kept run is opened."""


@dataclass(frozen=True)
class Moment:
    """One kept point of a run.

    ``lower`` and ``upper`` (bounds) and ``included`` (bit 0 lower, bit 1 upper) have shape
    (n_machines, n_clauses, n_features); ``feedback`` (n_machines, n_clauses, 3) counts Ia, Ib, II since the moment
    kept before; ``scores`` is None where they were not measured.
    """

    step: int
    epoch: float
    n_literals: int
    scores: Scores | NumberScores | None
    lower: NDArray[Any]
    upper: NDArray[Any]
    included: NDArray[np.uint8]
    feedback: NDArray[np.int64]

    @classmethod
    def of(cls, snapshot: Snapshot, scored: bool = True) -> Moment:
        """The moment a snapshot shows; not ``scored`` if its scores are older than its clauses."""
        bank = snapshot.bank
        return cls(
            snapshot.step,
            snapshot.epoch,
            int(snapshot.n_literals),
            snapshot.scores if scored else None,
            bank.lower,
            bank.upper,
            (bank.lower_included + 2 * bank.upper_included).astype(np.uint8),
            np.asarray(snapshot.feedback, np.int64),
        )

    @classmethod
    def at(cls, run: TrainingRun, state: MachineState) -> Moment:
        """The moment of a state kept by a run, with the scores measured last before it; feedback is not known."""
        machine = run.make_machine(run.first_parameters, state)
        bank = machine.bank()
        place = bisect_right(run.history, state.step, key=lambda record: record.step)
        return cls(
            state.step,
            state.step / run.n_rows,
            bank.n_literals,
            run.history[place - 1] if place else None,
            bank.lower,
            bank.upper,
            (bank.lower_included + 2 * bank.upper_included).astype(np.uint8),
            np.zeros((*bank.weights.shape, 3), np.int64),
        )

    def after(self, dropped: Moment) -> Moment:
        """This moment, standing in for an earlier one too: its feedback is added, its scores fill a gap."""
        both = replace(self, feedback=self.feedback + dropped.feedback)
        return both if self.scores is not None else replace(both, scores=dropped.scores)

    @property
    def n_bytes(self) -> int:
        """Memory its arrays take."""
        return self.lower.nbytes + self.upper.nbytes + self.included.nbytes + self.feedback.nbytes


class History:
    """Moments in order of time. When full, every second one goes, so a long run stays as evenly covered."""

    def __init__(self) -> None:
        self._moments: list[Moment] = []
        self._spacing = 1
        self._extra = 0

    @classmethod
    def of(cls, run: TrainingRun) -> History:
        """What the checkpoints of a run that was kept still tell of its past, before its present step."""
        history = cls()
        for state in run.checkpoints.states(KEPT_BYTES):
            if state.step < run.step:
                history.add(Moment.at(run, state))
        return history

    @classmethod
    def going_on(cls, past: tuple[Moment, ...]) -> History:
        """The moments of a run that another one shares its past with."""
        history = cls()
        for moment in past:
            history.add(moment)
        return history

    def __len__(self) -> int:
        return len(self._moments)

    def __iter__(self) -> Iterator[Moment]:
        return iter(self._moments)

    def moments(self) -> tuple[Moment, ...]:
        """All kept moments; the newest is always among them."""
        return tuple(self._moments)

    def add(self, moment: Moment) -> None:
        """Keep a moment; one that comes sooner than the present spacing replaces the newest."""
        kept = self._moments
        if len(kept) > 1 and self._extra:
            moment = moment.after(kept.pop())
        kept.append(moment)
        self._extra = (self._extra + 1) % self._spacing
        most = max(FEWEST_MOMENTS, min(MOST_MOMENTS, MOST_BYTES // max(1, moment.n_bytes)))
        if len(kept) > most:
            self._thin()

    def _thin(self) -> None:
        first, *rest = self._moments
        thinned = [first]
        while len(rest) > 1:
            dropped, moment, *rest = rest
            thinned.append(moment.after(dropped))
        self._moments = thinned + rest
        self._spacing *= 2
        self._extra = 0
