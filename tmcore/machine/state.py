"""The arrays of an interval machine, and an immutable copy of them in plain terms.

Layout
------
``planes`` has shape (machines, blocks, features, 6, 64): clauses come in blocks of 64, and for one feature of one
block the six numbers of every clause lie side by side. That is what lets one instruction treat 32 or 64 clauses: the
distance between two planes is a constant, so the compiler can prove that they do not overlap.

======  =====================  ==========================================================================
plane   name                   meaning
======  =====================  ==========================================================================
0       LOWER                  lower bound: 0 is open, t + 1 is "x > cut t"; holds where rank >= LOWER
1       UPPER                  upper bound: n_ranks - 1 is open, t is "x <= cut t"; holds where rank <= UPPER
2, 3    LOWER_STATE, UPPER_..  the automata, 1..2N, include above N
4       LOWER_TEST             what a row's rank + 1 must reach: 0 when the bound is excluded
5       UPPER_TEST             what a row's rank may not pass: the type's largest value when excluded
======  =====================  ==========================================================================

A missing value is the type's largest value; plus one it wraps to 0. So it fails every included test and passes every
excluded one without a comparison of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tmcore.machine import streams
from tmcore.parameters import Parameters

LOWER, UPPER, LOWER_STATE, UPPER_STATE, LOWER_TEST, UPPER_TEST = range(6)
LANES = 64
"""Clauses in a block: one cache line of bytes."""

WEIGHT_UNIT = 2**-16
"""Weights and votes are whole multiples of this, so that sums are exact in any order."""

ONE_VOTE = 2**16
MAX_WEIGHT = 2**30
"""A weight stops growing here (16,384 votes)."""

FEEDBACK_TYPES = ("Ia", "Ib", "II")


@dataclass
class MachineState:
    """Everything that training changes.

    Attributes
    ----------
    planes : ndarray of uint8 or uint16, shape (machines, blocks, features, 6, 64)
    weights : ndarray of int64, shape (machines, blocks * 64)
        Magnitudes in WEIGHT_UNIT, 0 in lanes beyond the last clause.
    n_clauses : int
    step : int
        Rows learned so far.
    """

    planes: np.ndarray
    weights: np.ndarray
    n_clauses: int
    step: int = 0

    @classmethod
    def start(
        cls, parameters: Parameters, n_machines: int, n_ranks: np.ndarray, has_gaps: np.ndarray
    ) -> MachineState:
        """Bounds at their open ends, automata at N or N + 1 at random, every weight one vote.

        Parameters
        ----------
        n_ranks : ndarray of int, shape (features,)
            Ranks each feature can take, 1 to 255 (one byte) or to 65,535 (two bytes).
        has_gaps : ndarray of bool, shape (features,)
            Whether values were missing in training.
        """
        m, o = parameters.n_clauses, len(n_ranks)
        blocks = -(-m // LANES)
        dtype = rank_dtype(parameters.max_levels)
        planes = np.zeros((n_machines, blocks, o, 6, LANES), dtype)
        planes[:, :, :, UPPER] = (n_ranks - 1)[None, None, :, None]
        start = _start_states(parameters, n_machines, blocks, o)
        planes[:, :, :, LOWER_STATE] = start[..., 0]
        planes[:, :, :, UPPER_STATE] = start[..., 1]
        weights = np.zeros((n_machines, blocks * LANES), np.int64)
        weights[:, :m] = ONE_VOTE
        state = cls(planes, weights, m)
        state.refresh_tests(parameters.n_states, n_ranks, has_gaps)
        return state

    def refresh_tests(self, n_states: int, n_ranks: np.ndarray, has_gaps: np.ndarray) -> None:
        """Set LOWER_TEST and UPPER_TEST from the bounds and automata, as the kernels do after every move."""
        planes, dtype = self.planes, self.planes.dtype.type
        gap = has_gaps.astype(dtype)[None, None, :, None]
        end = (n_ranks - 1).astype(dtype)[None, None, :, None]
        missing = np.iinfo(dtype).max
        lower, upper = planes[:, :, :, LOWER], planes[:, :, :, UPPER]
        planes[:, :, :, LOWER_TEST] = np.where(
            planes[:, :, :, LOWER_STATE] > n_states, np.where(lower > 0, lower + dtype(1), gap), dtype(0)
        )
        planes[:, :, :, UPPER_TEST] = np.where(
            planes[:, :, :, UPPER_STATE] > n_states,
            np.where(upper < end, upper, dtype(missing) - gap),
            dtype(missing),
        )

    def bank(self, n_states: int) -> ClauseBank:
        """An immutable copy in plain terms."""
        per_clause = self.planes[:, :, :, :4].transpose(3, 0, 1, 4, 2)
        q, b, o = self.planes.shape[:3]
        lower, upper, lower_state, upper_state = np.ascontiguousarray(per_clause).reshape(4, q, b * LANES, o)[
            :, :, : self.n_clauses
        ]
        return ClauseBank(
            lower=_frozen(lower),
            upper=_frozen(upper),
            lower_included=_frozen(lower_state > n_states),
            upper_included=_frozen(upper_state > n_states),
            weights=_frozen(self.weights[:, : self.n_clauses].copy()),
            polarity=_frozen(polarities(self.n_clauses)),
            step=self.step,
        )

    def states(self) -> np.ndarray:
        """A copy of the automata's states, shape (2, machines, clauses, features): lower, then upper bound."""
        q, b, o = self.planes.shape[:3]
        both = self.planes[:, :, :, LOWER_STATE : UPPER_STATE + 1].transpose(3, 0, 1, 4, 2)
        return np.ascontiguousarray(both).reshape(2, q, b * LANES, o)[:, :, : self.n_clauses].copy()

    def copy(self) -> MachineState:
        """A copy that shares nothing with this one."""
        return MachineState(self.planes.copy(), self.weights.copy(), self.n_clauses, self.step)


@dataclass(frozen=True)
class ClauseBank:
    """The clauses at one moment; every array is read-only.

    Attributes
    ----------
    lower, upper : ndarray of uint8 or uint16, shape (machines, clauses, features)
        Positions of the bounds as in the module's table.
    lower_included, upper_included : ndarray of bool, same shape
        The automata's decisions.
    weights : ndarray of int64, shape (machines, clauses)
        At least 1, in units of WEIGHT_UNIT.
    polarity : ndarray of int8, shape (clauses,)
        +1 votes for y = 1 (even index), -1 against it.
    step : int
        Rows learned when the copy was made.
    """

    lower: np.ndarray
    upper: np.ndarray
    lower_included: np.ndarray
    upper_included: np.ndarray
    weights: np.ndarray
    polarity: np.ndarray
    step: int

    @property
    def n_included(self) -> np.ndarray:
        """Included bounds of each clause, shape (machines, clauses)."""
        return self.lower_included.sum(2) + self.upper_included.sum(2)

    @property
    def n_literals(self) -> int:
        """Included bounds of the whole model."""
        return int(self.n_included.sum())

    @property
    def n_intervals(self) -> int:
        """Pairs of clause and feature with at least one included bound: the sizes of the paper's I_j, summed."""
        return int((self.lower_included | self.upper_included).sum())


def rank_dtype(max_levels: int | None) -> type[np.uint8] | type[np.uint16]:
    """One byte a rank up to 255 levels, else two."""
    return np.uint8 if max_levels is not None and max_levels <= 255 else np.uint16


def polarities(n_clauses: int) -> np.ndarray:
    """+1 for clauses 0, 2, 4, ... (the paper's odd numbers), -1 for the others."""
    return np.where(np.arange(n_clauses) % 2 == 0, 1, -1).astype(np.int8)


def _start_states(parameters: Parameters, n_machines: int, blocks: int, o: int) -> np.ndarray:
    """States N or N + 1 from the lowest bit of each automaton's draw, shape (machines, blocks, features, lanes, 2)."""
    key = streams.key(parameters.random_state, streams.STATES)
    draws = np.stack(
        [streams.keys_at(streams.key_at(key, q), blocks * LANES * o * 2) for q in range(n_machines)]
    ).reshape(n_machines, blocks, LANES, o, 2)
    return (parameters.n_states + (draws & np.uint64(1)).astype(np.int64)).transpose(0, 1, 3, 2, 4)


def _frozen(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array
