"""The interval machine as an object: its arrays, its settings, and the kernels that work on them."""

from __future__ import annotations

import numpy as np

from tmcore.machine import intervals, streams
from tmcore.machine.intervals import LOWER, LOWER_STATE, LOWER_TEST, UPPER, UPPER_STATE, UPPER_TEST
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
        self.lengths[:, : parameters.n_clauses] = self.literal_counts()

    def _start_planes(self) -> np.ndarray:
        p, o = self.parameters, len(self.n_ranks)
        dtype = rank_dtype(p.max_levels)
        planes = np.zeros((self.n_machines, self.n_blocks, o, 6, LANES), dtype)
        planes[:, :, :, UPPER] = (self.n_ranks - 1)[None, None, :, None]
        key = streams.key(p.random_state, streams.STATES)
        count = self.n_blocks * LANES * o * 2
        for q in range(self.n_machines):
            draws = streams.keys_at(streams.key_at(key, q), count).reshape(self.n_blocks, LANES, o, 2)
            states = p.n_states + (draws & np.uint64(1)).astype(np.int64)
            planes[q, :, :, LOWER_STATE] = states[..., 0].transpose(0, 2, 1)
            planes[q, :, :, UPPER_STATE] = states[..., 1].transpose(0, 2, 1)
        self.set_tests(planes)
        return planes

    def set_tests(self, planes: np.ndarray) -> None:
        """Set LOWER_TEST and UPPER_TEST from the bounds and automata, as the kernels do after every move."""
        dtype, n_states = planes.dtype.type, self.parameters.n_states
        gap = self.has_gaps.astype(dtype)[None, None, :, None]
        end = (self.n_ranks - 1)[None, None, :, None]
        missing = dtype(np.iinfo(dtype).max)
        lower, upper = planes[:, :, :, LOWER], planes[:, :, :, UPPER]
        lower_test = np.where(lower > 0, lower + dtype(1), gap)
        upper_test = np.where(upper < end, upper, missing - gap)
        planes[:, :, :, LOWER_TEST] = np.where(planes[:, :, :, LOWER_STATE] > n_states, lower_test, dtype(0))
        planes[:, :, :, UPPER_TEST] = np.where(planes[:, :, :, UPPER_STATE] > n_states, upper_test, missing)

    @property
    def _flat(self) -> np.ndarray:
        planes = self.state.planes
        return planes.reshape(planes.shape[0], planes.shape[1], -1)

    def prepare(self, codes: np.ndarray) -> np.ndarray:
        """The ranks themselves, in the type of the bounds."""
        return np.ascontiguousarray(codes, self.state.planes.dtype)

    def _learn(
        self, data: np.ndarray, labels: np.ndarray, rows: np.ndarray, machines: tuple[int, int]
    ) -> None:
        p = self.parameters
        dtype = self.state.planes.dtype.type
        limit = streams.event_limit(p.s)
        settings = (self._target, self.odd, limit, self._weight_rule, self._gamma, self._max_literals)
        rule = (
            dtype(p.n_states),
            dtype(2 * p.n_states),
            dtype(p.boost_true_positive),
            dtype(p.bound_rule == "paper"),
        )
        intervals.learn_rows(
            self._flat, self.state.weights, self.lengths, p.n_clauses, data, labels, self.scales, rows, self.state.step,
            self._keys, machines, self.n_ranks.astype(dtype), self.has_gaps.astype(dtype), settings, rule, self.counts,
        )  # fmt: skip

    def _all_votes(self, weights: np.ndarray, data: np.ndarray, sums: np.ndarray) -> None:
        intervals.all_votes(self._flat, weights, data, self.odd, sums)

    def _all_outputs(self, data: np.ndarray, outputs: np.ndarray) -> None:
        intervals.all_outputs(self._flat, data, outputs)

    def _per_clause(self, first: int, last: int) -> np.ndarray:
        """Planes first..last as (planes, machines, clauses, features), a copy."""
        q, b, o = self.state.planes.shape[:3]
        chosen = self.state.planes[:, :, :, first : last + 1].transpose(3, 0, 1, 4, 2)
        shape = (last + 1 - first, q, b * LANES, o)
        return np.ascontiguousarray(chosen).reshape(shape)[:, :, : self.parameters.n_clauses].copy()

    def states(self) -> np.ndarray:
        """The automata's states, shape (2, machines, clauses, features): lower, then upper bound."""
        return self._per_clause(LOWER_STATE, UPPER_STATE)

    def literal_counts(self) -> np.ndarray:
        """See `Machine.literal_counts`."""
        included = self.state.planes[:, :, :, LOWER_STATE : UPPER_STATE + 1] > self.parameters.n_states
        return included.sum((2, 3)).reshape(self.n_machines, -1)[:, : self.parameters.n_clauses]

    def bank(self) -> ClauseBank:
        """See `Machine.bank`."""
        lower, upper, lower_state, upper_state = self._per_clause(LOWER, UPPER_STATE)
        included = lower_state > self.parameters.n_states, upper_state > self.parameters.n_states
        return ClauseBank(
            lower=lower,
            upper=upper,
            lower_included=included[0],
            upper_included=included[1],
            literals=self.literal_counts(),
            weights=self.state.weights[:, : self.parameters.n_clauses].copy(),
            polarity=polarities(self.parameters.n_clauses, self.odd),
            step=self.state.step,
        )
