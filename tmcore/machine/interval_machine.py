"""The interval machine as an object: its arrays, its settings, and the kernels that work on them."""

from __future__ import annotations

import numpy as np

from tmcore.machine import intervals, streams
from tmcore.machine.state import LANES, ONE_VOTE, ClauseBank, MachineState
from tmcore.parameters import Parameters

N_FEEDBACK_TYPES = 3


class IntervalMachine:
    """A machine of lower and upper bounds (SSL paper, section 4) on encoded rows.

    Parameters
    ----------
    parameters : Parameters
    n_classes : int
        Two classes are one machine; K > 2 are K machines.
    n_ranks : ndarray of int, shape (features,)
    has_gaps : ndarray of bool, shape (features,)
    state : MachineState, optional
        To go on from; by default a fresh start from the seed.
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
        self.n_machines = 1 if n_classes <= 2 else n_classes
        self.state = state or MachineState.start(parameters, self.n_machines, n_ranks, has_gaps)
        dtype = self.state.planes.dtype
        self.n_ranks = np.ascontiguousarray(n_ranks, dtype)
        self.has_gaps = np.ascontiguousarray(has_gaps, dtype)
        seed = parameters.random_state
        self._keys = tuple(
            np.uint64(streams.key(seed, stream)) for stream in (streams.CLAUSES, streams.OTHER_CLASS)
        )
        self.counts = np.zeros((self.n_machines, N_FEEDBACK_TYPES, self.state.weights.shape[1]), np.int32)

    @property
    def _flat(self) -> np.ndarray:
        planes = self.state.planes
        return planes.reshape(planes.shape[0], planes.shape[1], -1)

    def learn(self, codes: np.ndarray, labels: np.ndarray, rows: np.ndarray) -> None:
        """Learn rows in the given order with the present settings; `step` goes up by len(rows).

        Parameters
        ----------
        codes : ndarray of uint8 or uint16, shape (n_rows, features), C-contiguous
        labels : ndarray of int64, shape (n_rows,)
            Class indices 0..K-1.
        rows : ndarray of int64
        """
        p = self.parameters
        dtype = self.state.planes.dtype.type
        settings = (
            round(p.vote_target * ONE_VOTE),
            streams.event_limit(p.s),
            intervals.WEIGHT_RULES[p.weights],
            round(p.gamma * ONE_VOTE),
        )
        rule = (
            dtype(p.n_states),
            dtype(2 * p.n_states),
            dtype(p.boost_true_positive),
            dtype(p.bound_rule == "paper"),
        )
        intervals.learn_rows(
            self._flat, self.state.weights, p.n_clauses, codes, labels, rows, self.state.step, self._keys,
            self.n_ranks, self.has_gaps, settings, rule, self.counts,
        )  # fmt: skip
        self.state.step += len(rows)

    def take_counts(self) -> np.ndarray:
        """Rows that gave each clause Type Ia, Ib and II since the last call, shape (machines, clauses, 3)."""
        taken = self.counts[:, :, : self.parameters.n_clauses].transpose(0, 2, 1).copy()
        self.counts[:] = 0
        return taken

    def voting_weights(self) -> np.ndarray:
        """Weights with those of empty clauses at 0: an empty clause casts no vote when predicting (eq. 4)."""
        weights = self.state.weights.copy()
        weights[:, : self.parameters.n_clauses][self.bank().n_included == 0] = 0
        return weights

    def votes(self, codes: np.ndarray) -> np.ndarray:
        """Vote sums in WEIGHT_UNIT when predicting, int64 of shape (n_rows, machines)."""
        votes = np.zeros((len(codes), self.n_machines), np.int64)
        intervals.all_votes(self._flat, self.voting_weights(), codes, votes)
        return votes

    def outputs(self, codes: np.ndarray) -> np.ndarray:
        """Clause outputs when predicting, bool of shape (n_rows, machines, clauses)."""
        blocks = self.state.planes.shape[1]
        outputs = np.zeros((len(codes), self.n_machines, blocks * LANES), np.uint8)
        intervals.all_outputs(self._flat, codes, outputs)
        return outputs[:, :, : self.parameters.n_clauses].astype(bool) & (self.bank().n_included > 0)

    def bank(self) -> ClauseBank:
        """An immutable copy of the clauses."""
        return self.state.bank(self.parameters.n_states)
