"""The interval machine as an object: its arrays, its settings, and the kernels that work on them."""

from __future__ import annotations

import numpy as np

from tmcore.machine import intervals, streams
from tmcore.machine.interval_moves import LOWER_STATE, PIECE, UPPER, UPPER_STATE
from tmcore.machine.machine import Machine
from tmcore.machine.state import LANES, ClauseBank, MachineState, polarities, rank_dtype
from tmcore.parameters import Parameters


class IntervalMachine(Machine):
    """A machine of lower and upper bounds (SSL paper, section 4); the arguments are `Machine`'s."""

    def __init__(
        self,
        parameters: Parameters,
        n_classes: int,
        n_ranks: np.ndarray,
        has_gaps: np.ndarray,
        state: MachineState | None = None,
    ) -> None:
        super().__init__(parameters, n_classes, n_ranks, has_gaps, state)
        dtype = self.state.planes.dtype
        last, gap = np.zeros(self.n_padded, dtype), np.zeros(self.n_padded, dtype)
        last[: len(n_ranks)], gap[: len(n_ranks)] = self.n_ranks - 1, self.has_gaps
        rank = np.zeros_like(last)  # of the row that is learned; written by the kernels
        self.terms = self._in_pieces(np.stack([last, last, gap, gap, rank, rank]))  # each for two clauses
        self.tests = np.zeros((self.n_machines, self.n_blocks * len(n_ranks) * 2 * LANES), dtype)
        self.refresh_tests()
        self.lengths[:, : parameters.n_clauses] = self.literal_counts()

    @property
    def n_padded(self) -> int:
        """Features, filled up to whole pieces."""
        return max(1, -(-len(self.n_ranks) // PIECE)) * PIECE

    def _in_pieces(self, planes: np.ndarray) -> np.ndarray:
        """Planes of shape (planes, ..., padded features) as the kernels want them: (..., planes * padded features)."""
        pieces = planes.reshape(*planes.shape[:-1], -1, PIECE)
        moved = np.moveaxis(pieces, 0, -2)
        return np.ascontiguousarray(moved).reshape(*planes.shape[1:-1], -1)

    def _planes(self, first: int = 0, last: int = UPPER_STATE) -> np.ndarray:
        """Planes first..last of all clauses as (planes, machines, clauses, features), a copy."""
        stored = self.state.planes.reshape(self.n_machines, self.parameters.n_clauses, -1, 4, PIECE)
        planes = np.moveaxis(stored[..., first : last + 1, :], 3, 0)
        return np.ascontiguousarray(planes.reshape(*planes.shape[:3], -1)[..., : len(self.n_ranks)])

    def _start_planes(self) -> np.ndarray:
        p, o = self.parameters, len(self.n_ranks)
        planes = np.zeros((4, self.n_machines, p.n_clauses, self.n_padded), rank_dtype(p.max_levels))
        planes[UPPER, :, :, :o] = self.n_ranks - 1
        planes[LOWER_STATE:] = p.n_states
        key = streams.key(p.random_state, streams.STATES)
        for q in range(self.n_machines):
            draws = streams.keys_at(streams.key_at(key, q), p.n_clauses * o * 2).reshape(p.n_clauses, o, 2)
            planes[LOWER_STATE:, q, :, :o] += np.moveaxis(draws & np.uint64(1), 2, 0).astype(planes.dtype)
        return self._in_pieces(planes).reshape(self.n_machines, -1)

    def set_planes(self, planes: np.ndarray) -> None:
        """Replace bounds and automata: lower, upper, their states; shape (4, machines, clauses, features)."""
        padded = np.zeros((*planes.shape[:3], self.n_padded), self.state.planes.dtype)
        padded[LOWER_STATE:] = self.parameters.n_states
        padded[..., : planes.shape[3]] = planes
        self.state.planes = self._in_pieces(padded).reshape(self.n_machines, -1)
        self.refresh_tests()

    def refresh_tests(self) -> None:
        """Set the tests from the bounds and automata, as the kernels do after every move."""
        lower, upper, lower_state, upper_state = self._planes()
        dtype, n_states = self.tests.dtype.type, self.parameters.n_states
        missing, gap = dtype(np.iinfo(dtype).max), self.has_gaps.astype(dtype)
        lower_test = np.where(lower > 0, lower + dtype(1), gap)
        upper_test = np.where(upper < self.n_ranks - 1, upper, missing - gap)
        m, o = self.parameters.n_clauses, len(self.n_ranks)
        both = np.zeros((self.n_machines, self.n_blocks * LANES, o, 2), dtype)
        both[:, :m, :, 0] = np.where(lower_state > n_states, lower_test, dtype(0))
        both[:, :m, :, 1] = np.where(upper_state > n_states, upper_test, missing)
        blocks = both.reshape(self.n_machines, self.n_blocks, LANES, o, 2)
        self.tests[:] = blocks.transpose(0, 1, 3, 4, 2).reshape(self.tests.shape)

    def prepare(self, codes: np.ndarray) -> np.ndarray:
        """The ranks themselves, in the type of the bounds."""
        return np.ascontiguousarray(codes, self.state.planes.dtype)

    def _learn(
        self, data: np.ndarray, labels: np.ndarray, rows: np.ndarray, machines: tuple[int, int]
    ) -> None:
        p = self.parameters
        dtype = self.state.planes.dtype.type
        limit = streams.event_limit(p.s) + 1
        settings = (self._target, self.odd, limit, self._weight_rule, self._gamma, self._max_literals)
        paper = dtype(p.bound_rule == "paper")
        rule = (dtype(p.n_states), dtype(2 * p.n_states), dtype(p.boost_true_positive), paper)
        intervals.learn_rows(
            self.state.planes, self.tests, self.state.weights, self.lengths, p.n_clauses, data, labels, self.scales,
            rows, self.state.step, self._keys, machines, self.terms.copy(), settings, rule, self.counts,
        )  # fmt: skip

    def _all_votes(self, weights: np.ndarray, data: np.ndarray, sums: np.ndarray) -> None:
        intervals.all_votes(self.tests, weights, data, sums)

    def _all_outputs(self, data: np.ndarray, outputs: np.ndarray) -> None:
        intervals.all_outputs(self.tests, data, outputs)

    def states(self) -> np.ndarray:
        """The automata's states, shape (2, machines, clauses, features): lower, then upper bound."""
        return self._planes(LOWER_STATE)

    def literal_counts(self) -> np.ndarray:
        """See `Machine.literal_counts`."""
        return (self.states() > self.parameters.n_states).sum((0, 3))

    def bank(self) -> ClauseBank:
        """See `Machine.bank`."""
        lower, upper, lower_state, upper_state = self._planes()
        included = lower_state > self.parameters.n_states, upper_state > self.parameters.n_states
        return ClauseBank(
            lower=lower,
            upper=upper,
            lower_included=included[0],
            upper_included=included[1],
            literals=included[0].sum(2) + included[1].sum(2),
            weights=np.abs(self.state.weights[:, : self.parameters.n_clauses]),
            polarity=polarities(self.parameters.n_clauses, self.odd),
            step=self.state.step,
        )
