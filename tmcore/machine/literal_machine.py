"""The literal machine as an object: thresholds of every column as bits, or Boolean columns as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tmcore.machine import literals, streams
from tmcore.machine.inference import pack_ranks
from tmcore.machine.machine import Machine
from tmcore.machine.state import LANES, ClauseBank, MachineState, polarities, rank_dtype
from tmcore.parameters import Parameters

WORD = 64


class LiteralMachine(Machine):
    """A machine whose literals are the bits "x <= c_t" of every feature and their negations (SSL paper, section 3).

    The arguments are `Machine`'s. The bit of a feature's highest level is left out: it is true for every row, and its
    negation for none.
    """

    def __init__(
        self,
        parameters: Parameters,
        n_classes: int,
        n_ranks: np.ndarray,
        has_gaps: np.ndarray,
        state: MachineState | None = None,
    ) -> None:
        self.n_bits = int(np.sum(n_ranks)) - len(n_ranks)
        super().__init__(parameters, n_classes, n_ranks, has_gaps, state)
        self.valid = self._pack(np.arange(self.n_words * WORD) < 2 * self.n_bits)
        shape = self.n_machines, self.n_words + 1, self.n_blocks * LANES
        n_tests = np.zeros(self.state.weights.shape, np.int32)
        self.tests = n_tests, np.zeros(shape, np.int32), np.zeros(shape, np.uint64)
        literals.write_all_tests(self.tests, self.state.planes, self.lengths)

    @property
    def n_words(self) -> int:
        """Words that hold a row's literals."""
        return max(1, -(-2 * self.n_bits // WORD))

    @property
    def n_planes(self) -> int:
        """Bits of a counter: the topmost says include, so the others count at least N states on each side."""
        return 1 + max(1, (self.parameters.n_states - 1).bit_length())

    @property
    def _middle(self) -> int:
        """The counter of state N + 1."""
        return 1 << (self.n_planes - 1)

    @staticmethod
    def _pack(bits: np.ndarray) -> np.ndarray:
        """Pack the last axis, a multiple of 64 booleans, into words, the first in the lowest bit."""
        return np.packbits(bits, axis=-1, bitorder="little").view(np.uint64)

    def _start_planes(self) -> np.ndarray:
        """State N is the counter below the middle: all bits 1 but the topmost; N + 1 is the topmost alone."""
        key = streams.key(self.parameters.random_state, streams.STATES)
        m, width = self.parameters.n_clauses, self.n_words * WORD
        planes = np.zeros((self.n_machines, m, self.n_planes, self.n_words), np.uint64)
        for q in range(self.n_machines):
            draws = streams.keys_at(streams.key_at(key, q), m * width).reshape(m, width)
            include = (draws & np.uint64(1)).astype(bool)
            include[:, 2 * self.n_bits :] = False
            top = self._pack(include)
            planes[q, :, -1] = top
            planes[q, :, :-1] = ~top[:, None, :]
        return planes

    def prepare(self, codes: Any) -> np.ndarray:
        """Rows of literal words, uint64 of shape (n_rows, words); a 0/1 sparse matrix is packed as it is."""
        words = np.empty((codes.shape[0], self.n_words), np.uint64)
        if sparse.issparse(codes):
            literals.pack_sparse(codes.indptr, codes.indices, self.n_bits, words)
            return words
        pack_ranks(np.ascontiguousarray(codes).reshape(-1), self.n_ranks, words)
        return words

    def _learn(
        self, data: np.ndarray, labels: np.ndarray, rows: np.ndarray, machines: tuple[int, int]
    ) -> None:
        p = self.parameters
        settings = (self._target, self.odd, self._weight_rule, self._gamma, self._max_literals)
        boost = np.uint64(0xFFFFFFFFFFFFFFFF if p.boost_true_positive else 0)
        limits = streams.short_probability(p.s), boost, self._middle - p.n_states
        literals.learn_rows(
            self.state.planes, self.tests, self.state.weights, self.lengths, p.n_clauses, data, self.valid, labels,
            self.scales, rows, self.state.step, self._keys, machines, settings, limits, self.counts,
        )  # fmt: skip

    def _all_votes(self, weights: np.ndarray, data: np.ndarray, sums: np.ndarray) -> None:
        literals.all_votes(self.tests, weights, data, sums)

    def _all_outputs(self, data: np.ndarray, outputs: np.ndarray) -> None:
        literals.all_outputs(self.tests, data, outputs)

    def _bits(self, words: np.ndarray) -> np.ndarray:
        """Words of literals as booleans, shape (..., 2, n_bits): the bits "x <= c_t", then their negations."""
        flat = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=-1, bitorder="little")
        return flat[..., : 2 * self.n_bits].reshape(*words.shape[:-1], 2, self.n_bits).astype(bool)

    def states(self) -> np.ndarray:
        """The automata's states 1..2N, shape (machines, clauses, 2, n_bits)."""
        planes = [
            self._bits(self.state.planes[:, :, bit]).astype(np.int64) << bit for bit in range(self.n_planes)
        ]
        counters = np.sum(planes, axis=0)
        return counters - self._middle + self.parameters.n_states + 1

    def literal_counts(self) -> np.ndarray:
        """See `Machine.literal_counts`."""
        return np.bitwise_count(self.state.planes[:, :, -1]).sum(2, dtype=np.int64)

    def bank(self) -> ClauseBank:
        """The lowest included threshold and the highest included negated one are a clause's interval (section 3)."""
        include = self._bits(self.state.planes[:, :, -1])
        q, m, o = self.n_machines, self.parameters.n_clauses, len(self.n_ranks)
        dtype = rank_dtype(self.parameters.max_levels)
        end = (self.n_ranks - 1).astype(dtype)
        lower, upper = np.zeros((q, m, o), dtype), np.broadcast_to(end, (q, m, o)).copy()
        cut = np.flatnonzero(self.n_ranks > 1)
        if len(cut):
            first = np.concatenate([[0], np.cumsum(self.n_ranks[cut] - 1)[:-1]])
            position = np.arange(self.n_bits) - np.repeat(first, self.n_ranks[cut] - 1)
            below = np.where(include[:, :, 0], position.astype(dtype), dtype(np.iinfo(dtype).max))
            above = np.where(include[:, :, 1], (position + 1).astype(dtype), dtype(0))
            upper[:, :, cut] = np.minimum(np.minimum.reduceat(below, first, axis=2), end[cut])
            lower[:, :, cut] = np.maximum.reduceat(above, first, axis=2)
        return ClauseBank(
            lower=lower,
            upper=upper,
            lower_included=lower > 0,
            upper_included=upper < end,
            literals=self.literal_counts(),
            weights=np.abs(self.state.weights[:, :m]),
            polarity=polarities(m, self.odd),
            step=self.state.step,
        )
