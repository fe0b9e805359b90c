"""What training changes, and an immutable copy of the clauses in plain terms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LANES = 64
"""Clauses in a block: one cache line of bytes."""

WEIGHT_UNIT = 2**-16
"""Weights and votes are whole multiples of this, so that sums are exact in any order."""

ONE_VOTE = 2**16
MAX_WEIGHT = 2**30
"""A weight stops growing here (16,384 votes)."""

NO_BUDGET = 2**31 - 1
"""The literal budget of a clause that has none."""

FEEDBACK_TYPES = ("Ia", "Ib", "II")


@dataclass
class MachineState:
    """Everything that training changes.

    Attributes
    ----------
    planes : ndarray
        Bounds and automata, laid out as the representation's module says (machines first).
    weights : ndarray of int64, shape (machines, blocks * 64)
        In WEIGHT_UNIT, with the sign of the clause's polarity; 0 in lanes beyond the last clause.
    n_clauses : int
    step : int
        Rows learned so far.
    """

    planes: np.ndarray
    weights: np.ndarray
    n_clauses: int
    step: int = 0

    def copy(self) -> MachineState:
        """A copy that shares nothing with this one."""
        return MachineState(self.planes.copy(), self.weights.copy(), self.n_clauses, self.step)


@dataclass(frozen=True)
class ClauseBank:
    """The clauses at one moment; every array is read-only.

    Attributes
    ----------
    lower, upper : ndarray of uint8 or uint16, shape (machines, clauses, features)
        Positions of the bounds. Lower: 0 is open, t + 1 is "x > cut t"; it holds where rank >= lower. Upper:
        n_ranks - 1 is open, t is "x <= cut t"; it holds where rank <= upper.
    lower_included, upper_included : ndarray of bool, same shape
        The automata's decisions.
    literals : ndarray of int, shape (machines, clauses)
        Included literals: bounds of the interval machine, threshold bits of the thresholds machine.
    weights : ndarray of int64, shape (machines, clauses)
        At least 1, in units of WEIGHT_UNIT.
    polarity : ndarray of int8, shape (clauses,)
        +1 votes for y = 1 (even index), -1 against it; all +1 for regression.
    step : int
        Rows learned when the copy was made.
    """

    lower: np.ndarray
    upper: np.ndarray
    lower_included: np.ndarray
    upper_included: np.ndarray
    literals: np.ndarray
    weights: np.ndarray
    polarity: np.ndarray
    step: int

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @property
    def n_included(self) -> np.ndarray:
        """Included bounds of each clause, shape (machines, clauses)."""
        return self.lower_included.sum(2) + self.upper_included.sum(2)

    @property
    def n_literals(self) -> int:
        """Included literals of the whole model."""
        return int(self.literals.sum())

    @property
    def n_intervals(self) -> int:
        """Pairs of clause and feature with at least one included bound: the sizes of the paper's I_j, summed."""
        return int((self.lower_included | self.upper_included).sum())


def rank_dtype(max_levels: int | None) -> type[np.uint8] | type[np.uint16]:
    """One byte a rank up to 255 levels, else two."""
    return np.uint8 if max_levels is not None and max_levels <= 255 else np.uint16


def polarities(n_clauses: int, odd: int = 1) -> np.ndarray:
    """+1 for clauses 0, 2, 4, ... (the paper's odd numbers), -1 for the others; all +1 where `odd` is 0."""
    return np.where(np.arange(n_clauses) & odd, -1, 1).astype(np.int8)
