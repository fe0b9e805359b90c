"""What machines of every representation have in common: settings, weights, counts, and what is asked of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from tmcore.machine import streams, votes
from tmcore.machine.inference import CompiledVotes, compile_outputs, compile_votes
from tmcore.machine.state import LANES, NO_BUDGET, ONE_VOTE, ClauseBank, MachineState, polarities
from tmcore.parameters import Parameters

N_FEEDBACK_TYPES = 3
ROWS_WORTH_COMPILING = 4096
"""From this many rows on clauses are compiled before they are evaluated."""

CLASSIFICATION, REGRESSION = 1, 0
"""What the kernels call `odd`: whether clauses 1, 3, 5, ... vote against y = 1."""


class Machine(ABC):
    """A Tsetlin machine on encoded rows.

    Parameters
    ----------
    parameters : Parameters
    n_classes : int
        Two classes are one machine, K > 2 classes are K machines, 0 is regression by one machine.
    n_ranks : ndarray of int, shape (features,)
    has_gaps : ndarray of bool, shape (features,)
    state : MachineState, optional
        To go on from; by default a fresh start from the seed.

    Attributes
    ----------
    scales : ndarray of int64, shape (max(K, 2),)
        In 1/65536: what the chance of a class's rows to select a clause is multiplied by.
    """

    def __init__(
        self,
        parameters: Parameters,
        n_classes: int,
        n_ranks: np.ndarray,
        has_gaps: np.ndarray,
        state: MachineState | None = None,
    ) -> None:
        self.parameters = parameters
        self.n_classes = n_classes
        self.n_machines = 1 if n_classes <= 2 else n_classes
        self.odd = REGRESSION if n_classes == 0 else CLASSIFICATION
        self.n_ranks = np.ascontiguousarray(n_ranks, np.int64)
        self.has_gaps = np.ascontiguousarray(has_gaps, bool)
        self.state = state or MachineState(self._start_planes(), self._start_weights(), parameters.n_clauses)
        self.scales = np.full(max(n_classes, 2), ONE_VOTE, np.int64)
        self.counts = np.zeros((self.n_machines, N_FEEDBACK_TYPES, self.state.weights.shape[1]), np.int32)
        self.lengths = np.zeros(self.state.weights.shape, np.int32)
        self._compiled: tuple[int, CompiledVotes] | None = None

    @property
    def n_blocks(self) -> int:
        """Blocks of 64 clauses."""
        return -(-self.parameters.n_clauses // LANES)

    def _start_weights(self) -> np.ndarray:
        """One vote each, with the sign of the polarity; 0 in lanes beyond the last clause."""
        weights = np.zeros((self.n_machines, self.n_blocks * LANES), np.int64)
        weights[:, : self.parameters.n_clauses] = ONE_VOTE * polarities(
            self.parameters.n_clauses, self.odd
        ).astype(int)
        return weights

    @property
    def _keys(self) -> tuple[np.uint64, np.uint64]:
        seed = self.parameters.random_state
        clauses, other = (
            np.uint64(streams.key(seed, stream)) for stream in (streams.CLAUSES, streams.OTHER_CLASS)
        )
        return clauses, other

    @property
    def _target(self) -> int:
        return round(self.parameters.vote_target * ONE_VOTE)

    @property
    def _weight_rule(self) -> int:
        return votes.WEIGHT_RULES[self.parameters.weights]

    @property
    def _gamma(self) -> int:
        return round(self.parameters.gamma * ONE_VOTE)

    @property
    def _max_literals(self) -> int:
        return NO_BUDGET if self.parameters.max_literals is None else self.parameters.max_literals

    def learn(self, data: np.ndarray, labels: np.ndarray, rows: np.ndarray, n_jobs: int = 1) -> None:
        """Learn rows in the given order with the present settings; `step` goes up by len(rows).

        Parameters
        ----------
        data : ndarray
            From `prepare`.
        labels : ndarray of int64, shape (n_rows,)
            Class indices 0..K-1; for regression the wanted vote sums in 1/65536.
        rows : ndarray of int64
        n_jobs : int
            Threads the machines of K > 2 classes are divided among; the result is the same for any number.
        """
        parts = np.array_split(np.arange(self.n_machines), min(max(n_jobs, 1), self.n_machines))
        ranges = [(int(part[0]), int(part[-1]) + 1) for part in parts]
        if len(ranges) == 1:
            self._learn(data, labels, rows, ranges[0])
        else:
            with ThreadPoolExecutor(len(ranges)) as threads:
                for done in [threads.submit(self._learn, data, labels, rows, part) for part in ranges]:
                    done.result()
        self.state.step += len(rows)

    @abstractmethod
    def _start_planes(self) -> np.ndarray:
        """The automata at N or N + 1 at random, and open bounds."""

    @abstractmethod
    def prepare(self, codes: Any) -> np.ndarray:
        """Encoded rows in the form this machine learns and predicts from."""

    @abstractmethod
    def _learn(
        self, data: np.ndarray, labels: np.ndarray, rows: np.ndarray, machines: tuple[int, int]
    ) -> None:
        """Teach the machines of a range their part of these rows; `step` stays."""

    @abstractmethod
    def _all_votes(self, weights: np.ndarray, data: np.ndarray, sums: np.ndarray) -> None:
        """Write vote sums with the given weights."""

    @abstractmethod
    def _all_outputs(self, data: np.ndarray, outputs: np.ndarray) -> None:
        """Write clause outputs, 1 for an empty clause."""

    @abstractmethod
    def literal_counts(self) -> np.ndarray:
        """Included literals of each clause, int of shape (machines, clauses)."""

    @abstractmethod
    def bank(self) -> ClauseBank:
        """An immutable copy of the clauses."""

    def take_counts(self) -> np.ndarray:
        """Rows that gave each clause Type Ia, Ib and II since the last call, shape (machines, clauses, 3)."""
        taken = self.counts[:, :, : self.parameters.n_clauses].transpose(0, 2, 1).copy()
        self.counts[:] = 0
        return taken

    def votes(self, data: np.ndarray) -> np.ndarray:
        """Vote sums in WEIGHT_UNIT when predicting, int64 of shape (n_rows, machines).

        The weights of empty clauses count as 0: they cast no vote when predicting (eq. 4).
        """
        if self._compile_for(data):
            return self._compiled_votes().votes(data)
        weights = self.state.weights.copy()
        weights[:, : self.parameters.n_clauses][self.literal_counts() == 0] = 0
        sums = np.zeros((len(data), self.n_machines), np.int64)
        self._all_votes(weights, data, sums)
        return sums

    def outputs(self, data: np.ndarray) -> np.ndarray:
        """Clause outputs when predicting, bool of shape (n_rows, machines, clauses)."""
        if self._compile_for(data):
            compiled = compile_outputs(self.bank(), self.n_ranks, self.has_gaps)
            return compiled.outputs(data).reshape(len(data), self.n_machines, self.parameters.n_clauses)
        outputs = np.zeros((len(data), self.n_machines, self.n_blocks * LANES), np.uint8)
        self._all_outputs(data, outputs)
        return outputs[:, :, : self.parameters.n_clauses].astype(bool) & (self.literal_counts() > 0)

    def _compile_for(self, data: np.ndarray) -> bool:
        """Whether compiling the clauses first (a few milliseconds) is worth it; the result is the same."""
        return len(data) >= ROWS_WORTH_COMPILING

    def _compiled_votes(self) -> CompiledVotes:
        """The clauses compiled for prediction, kept until the machine learns on."""
        if self._compiled is None or self._compiled[0] != self.state.step:
            self._compiled = self.state.step, compile_votes(self.bank(), self.n_ranks, self.has_gaps)
        return self._compiled[1]
