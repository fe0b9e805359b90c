"""The plain-Python twin of the literal machine, equation by equation (SSL paper, sections 2 and 3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tmcore.machine import streams
from tmcore.machine.reference import ReferenceMachine
from tmcore.parameters import Parameters


class ReferenceLiterals(ReferenceMachine):
    """The twin of `LiteralMachine`: literal 0..B-1 is a bit "x <= c_t", literal B + i the negation of literal i."""

    def __init__(
        self, parameters: Parameters, n_classes: int, n_ranks: np.ndarray, has_gaps: np.ndarray
    ) -> None:
        super().__init__(parameters, n_classes, n_ranks, has_gaps)
        self.n_bits = sum(self.n_ranks) - len(self.n_ranks)
        self.n_words = max(1, -(-2 * self.n_bits // 64))
        key = streams.key(parameters.random_state, streams.STATES)
        self.automata: list[list[list[int]]] = []
        for q in range(self.n_machines):
            at = streams.key_at(key, q)
            self.automata.append(
                [
                    [
                        parameters.n_states + (streams.key_at(at, j * self.n_words * 64 + i) & 1)
                        for i in range(2 * self.n_bits)
                    ]
                    for j in range(parameters.n_clauses)
                ]
            )

    def literals(self, codes: np.ndarray) -> list[int]:
        """Table 2: the bits of every feature's thresholds, then their negations; all 0 where the value is missing."""
        below, above = [], []
        for code, n_ranks in zip(codes, self.n_ranks, strict=True):
            known = int(code) != self.missing
            below += [int(known and int(code) <= t) for t in range(n_ranks - 1)]
            above += [int(known and int(code) > t) for t in range(n_ranks - 1)]
        return below + above

    def output(self, machine: int, clause: int, codes: np.ndarray) -> int:
        n = self.parameters.n_states
        return int(
            all(
                literal or state <= n
                for literal, state in zip(self.literals(codes), self.automata[machine][clause], strict=True)
            )
        )

    def length(self, machine: int, clause: int) -> int:
        return sum(state > self.parameters.n_states for state in self.automata[machine][clause])

    def _give(
        self, machine: int, clause: int, codes: np.ndarray, feedback: str, word: int
    ) -> tuple[Any, ...]:
        p, states = self.parameters, self.automata[machine][clause]
        events = self._events(word) if feedback != "II" else []
        for i, literal in enumerate(self.literals(codes)):
            if feedback == "II":
                if not literal and states[i] <= p.n_states:
                    states[i] += 1
            elif feedback == "Ia" and literal:
                if p.boost_true_positive or not events[i]:  # probability (s - 1) / s, eq. 8
                    states[i] = min(2 * p.n_states, states[i] + 1)
            elif events[i]:  # probability 1 / s, eq. 9
                states[i] = max(1, states[i] - 1)
        return ()

    def _events(self, word: int) -> list[int]:
        """The 1/s event of every literal: 64 at a time from the word's sequences."""
        probability = streams.short_probability(self.parameters.s)
        drawn: list[int] = []
        for w in range(self.n_words):
            lane = streams.mix32_at(word, 2 * w) | streams.mix32_at(word, 2 * w + 1) << 32
            events = 0
            if probability == 65536:
                events = (1 << 64) - 1
            else:
                lowest = (probability & -probability).bit_length() - 1
                for bit in range(lowest, 16):
                    lane = streams.next64(lane)
                    events = events | lane if probability >> bit & 1 else events & lane
            drawn += [events >> i & 1 for i in range(64)]
        return drawn

    def states(self) -> np.ndarray:
        """The automata's states, shape (machines, clauses, 2, n_bits)."""
        shape = (self.n_machines, self.parameters.n_clauses, 2, self.n_bits)
        return np.array(self.automata, np.int64).reshape(shape)
