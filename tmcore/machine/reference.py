"""The plain-Python twin: the same machine, one equation at a time, recording every decision.

It shares nothing with the kernels but the documented draws. It is slow on purpose: its lines can be held against the
SSL paper's equations, the kernels are tested to equal it bit for bit, and what it records answers "why did it move?".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tmcore.machine import streams
from tmcore.machine.interval_machine import IntervalMachine
from tmcore.machine.state import MAX_WEIGHT, ONE_VOTE, rank_dtype
from tmcore.parameters import Parameters


@dataclass(frozen=True)
class BoundDecision:
    """What one row did to one bound.

    `event` says whether the draw (0..65535) was the 1/s event; states and positions are before and after.
    """

    feature: int
    side: str
    violated: bool
    draw: int
    event: bool
    state: tuple[int, int]
    position: tuple[int, int]


@dataclass(frozen=True)
class ClauseDecision:
    """What one row did to one clause: `feedback` is "Ia", "Ib", "II" or "" (none); weights in 1/65536."""

    clause: int
    output: int
    draw: int
    selected: bool
    feedback: str
    weight: tuple[int, int]
    bounds: tuple[BoundDecision, ...]


@dataclass(frozen=True)
class RowDecision:
    """One row in one machine: the vote sum (in 1/65536), the chance to be selected (in 1/2^32) and every clause."""

    step: int
    machine: int
    y: int
    votes: int
    chance: int
    clauses: tuple[ClauseDecision, ...]


class ReferenceMachine(ABC):
    """What the twins of both representations share: votes, selection, weights; the arguments are `Machine`'s.

    `scales` multiplies the chance of each class's rows, in 1/65536.
    """

    def __init__(
        self, parameters: Parameters, n_classes: int, n_ranks: np.ndarray, has_gaps: np.ndarray
    ) -> None:
        self.parameters, self.n_classes = parameters, n_classes
        self.n_ranks, self.has_gaps = [int(n) for n in n_ranks], [bool(gap) for gap in has_gaps]
        self.regression = n_classes == 0
        self.n_machines = 1 if n_classes <= 2 else n_classes
        self.missing = int(np.iinfo(rank_dtype(parameters.max_levels)).max)
        self.scales = [ONE_VOTE] * max(2, n_classes)
        self.weights = [[ONE_VOTE] * parameters.n_clauses for _ in range(self.n_machines)]
        self.step = 0

    @abstractmethod
    def output(self, machine: int, clause: int, codes: np.ndarray) -> int:
        """c_j while learning: the conjunction of its literals, 1 for an empty clause (eqs. 4 and 5)."""

    @abstractmethod
    def length(self, machine: int, clause: int) -> int:
        """Literals the clause includes."""

    @abstractmethod
    def _give(
        self, machine: int, clause: int, codes: np.ndarray, feedback: str, word: int
    ) -> tuple[Any, ...]:
        """Apply one type of feedback to every automaton of a clause; returns what was decided."""

    def _sign(self, clause: int) -> int:
        """Clauses 0, 2, 4, ... (the paper's odd ones) vote for y = 1, the others against; all for in regression."""
        return 1 if self.regression or clause % 2 == 0 else -1

    def votes(self, codes: np.ndarray) -> list[int]:
        """Vote sum of each machine when predicting: an empty clause outputs 0 (eq. 4)."""
        return [
            sum(
                self._sign(j) * weight * self.output(q, j, codes)
                for j, weight in enumerate(weights)
                if self.length(q, j)
            )
            for q, weights in enumerate(self.weights)
        ]

    def learn(self, codes: np.ndarray, label: int) -> list[RowDecision]:
        """Learn one row.

        With K > 2 machines its own learns y = 1 and one other, drawn at random, y = 0. For regression `label` is the
        wanted vote sum in 1/65536.
        """
        at = streams.key_at(streams.key(self.parameters.random_state, streams.CLAUSES), self.step)
        if self.n_machines == 1:
            decisions = [self._learn(0, codes, label, label, at)]
        else:
            draws = streams.key(self.parameters.random_state, streams.OTHER_CLASS)
            draw = streams.key_at(draws, self.step) >> 32
            other = draw * (self.n_machines - 1) >> 32
            other += other >= label
            decisions = [self._learn(label, codes, 1, label, at), self._learn(other, codes, 0, label, at)]
        self.step += 1
        return decisions

    def _learn(self, q: int, codes: np.ndarray, y: int, label: int, key: int) -> RowDecision:
        outputs = [self.output(q, j, codes) for j in range(self.parameters.n_clauses)]
        votes = sum(self._sign(j) * weight * outputs[j] for j, weight in enumerate(self.weights[q]))
        y, chance = self._chance(votes, y, label)
        at = streams.key_at(key, q)
        decisions = [
            self._teach(q, j, codes, y, outputs[j], at, chance) for j in range(self.parameters.n_clauses)
        ]
        return RowDecision(self.step, q, y, votes, chance, tuple(decisions))

    def _chance(self, votes: int, y: int, label: int) -> tuple[int, int]:
        """Whether clauses should vote more (1) or less (0), and the chance to be selected as a share of 2^32."""
        target = round(self.parameters.vote_target * ONE_VOTE)
        if self.regression:
            clamped = max(0, min(target, votes))
            return int(clamped < label), (abs(label - clamped) * 2**32) // target
        clamped = max(-target, min(target, votes))
        # Equations (7) and (10).
        chance = ((target - clamped if y == 1 else target + clamped) * 2**32) // (2 * target)
        return y, chance * self.scales[label] >> 16

    def _teach(
        self, q: int, j: int, codes: np.ndarray, y: int, output: int, key: int, chance: int
    ) -> ClauseDecision:
        p = self.parameters
        draw, word = streams.mix32_at(key >> 32, j), streams.mix32_at(key & 0xFFFFFFFF, j)
        selected = draw < chance
        type_one = (self._sign(j) == 1) == (y == 1)
        feedback = ""
        if selected:
            confirmed = output and (p.max_literals is None or self.length(q, j) <= p.max_literals)
            feedback = ("Ia" if confirmed else "Ib") if type_one else ("II" if output else "")
        before = self.weights[q][j]
        decided = self._give(q, j, codes, feedback, word) if feedback else ()
        if feedback in ("Ia", "II"):
            self.weights[q][j] = self._weight(before, feedback)
        return ClauseDecision(j, output, draw, selected, feedback, (before, self.weights[q][j]), decided)

    def _weight(self, weight: int, feedback: str) -> int:
        """WTM: times or divided by 1 + gamma, on a grid of 1/65536; integer weights step by one vote, floor one."""
        p = self.parameters
        if p.weights == "real":
            gamma = round(p.gamma * ONE_VOTE)
            if feedback == "Ia":
                grown = weight + (weight * gamma + ONE_VOTE // 2) // ONE_VOTE
                return min(grown, MAX_WEIGHT)
            return max(1, (weight * ONE_VOTE + (ONE_VOTE + gamma) // 2) // (ONE_VOTE + gamma))
        if p.weights == "integer":
            return min(MAX_WEIGHT, max(ONE_VOTE, weight + (ONE_VOTE if feedback == "Ia" else -ONE_VOTE)))
        return weight


@dataclass
class _Bound:
    """One SSL automaton (its position) and the Tsetlin automaton that includes or excludes it."""

    position: int
    state: int


class ReferenceIntervals(ReferenceMachine):
    """The twin of `IntervalMachine`."""

    def __init__(
        self, parameters: Parameters, n_classes: int, n_ranks: np.ndarray, has_gaps: np.ndarray
    ) -> None:
        super().__init__(parameters, n_classes, n_ranks, has_gaps)
        key = streams.key(parameters.random_state, streams.STATES)
        n, o = parameters.n_states, len(self.n_ranks)
        self.bounds: list[list[list[tuple[_Bound, _Bound]]]] = []
        for q in range(self.n_machines):
            at = streams.key_at(key, q)
            self.bounds.append(
                [
                    [
                        (
                            _Bound(0, n + (streams.key_at(at, (j * o + k) * 2) & 1)),
                            _Bound(self.n_ranks[k] - 1, n + (streams.key_at(at, (j * o + k) * 2 + 1) & 1)),
                        )
                        for k in range(o)
                    ]
                    for j in range(parameters.n_clauses)
                ]
            )

    def _passes(self, k: int, bound: _Bound, code: int, upper: bool) -> bool:
        """Whether an included or excluded bound lets the row through (eqs. 11-13; missing values: see `encode`)."""
        if bound.state <= self.parameters.n_states:
            return True
        open_end = self.n_ranks[k] - 1 if upper else 0
        if code == self.missing:
            return bound.position == open_end and not self.has_gaps[k]
        return code <= bound.position if upper else code >= bound.position

    def output(self, machine: int, clause: int, codes: np.ndarray) -> int:
        return int(
            all(
                self._passes(k, lower, int(code), False) and self._passes(k, upper, int(code), True)
                for k, (code, (lower, upper)) in enumerate(
                    zip(codes, self.bounds[machine][clause], strict=True)
                )
            )
        )

    def length(self, machine: int, clause: int) -> int:
        n = self.parameters.n_states
        return sum((lower.state > n) + (upper.state > n) for lower, upper in self.bounds[machine][clause])

    def _give(
        self, machine: int, clause: int, codes: np.ndarray, feedback: str, word: int
    ) -> tuple[Any, ...]:
        decisions: list[BoundDecision] = []
        for k, code in enumerate(codes):
            draw = streams.mix32_at(word, k)
            decisions += self._move(*self.bounds[machine][clause][k], k, int(code), feedback, draw)
        return tuple(decisions)

    def _move(
        self, lower: _Bound, upper: _Bound, k: int, code: int, feedback: str, word: int
    ) -> list[BoundDecision]:
        """Both bounds of one feature (eqs. 14-17 and the paragraphs around them)."""
        p = self.parameters
        limit = streams.event_limit(p.s)
        missing, last = code == self.missing, self.n_ranks[k] - 1
        violated = {"lower": missing or code < lower.position, "upper": missing or code > upper.position}
        inside = not violated["lower"] and not violated["upper"]
        before = {"lower": (lower.state, lower.position), "upper": (upper.state, upper.position)}
        draws = {"lower": word & 0xFFFF, "upper": word >> 16}
        for side, bound in (("lower", lower), ("upper", upper)):
            event = draws[side] <= limit
            if feedback == "Ia" and inside:
                if p.boost_true_positive or not event:  # probability (s - 1) / s
                    bound.state = min(2 * p.n_states, bound.state + 1)
                    self._tighten(bound, side, code, last)
            elif feedback == "Ib" or (feedback == "Ia" and violated[side]):
                if event:  # probability 1 / s
                    bound.state = max(1, bound.state - 1)
                    self._widen(bound, side, missing, last)
            elif feedback == "II" and violated[side]:  # probability 1
                bound.state = min(2 * p.n_states, bound.state + 1)
                if p.bound_rule == "paper":
                    self._widen(bound, side, missing, last)
        if feedback == "II" and inside and p.bound_rule == "contrastive":
            self._cut_off(lower, upper, code, last, lower_wins_tie=bool(word & 1))
        return [
            BoundDecision(
                k, side, violated[side], draws[side], draws[side] <= limit,
                (before[side][0], bound.state), (before[side][1], bound.position),
            )
            for side, bound in (("lower", lower), ("upper", upper))
        ]  # fmt: skip

    def _tighten(self, bound: _Bound, side: str, code: int, last: int) -> None:
        """Type Ia. Contrastive stops before it would push out the row it rewards; the paper's rule does not."""
        paper = self.parameters.bound_rule == "paper"
        if side == "lower" and bound.position < (last if paper else code):
            bound.position += 1
        elif side == "upper" and bound.position > (0 if paper else code):
            bound.position -= 1

    @staticmethod
    def _widen(bound: _Bound, side: str, missing: bool, last: int) -> None:
        """One step towards the open end; a missing value gives no direction."""
        if missing:
            return
        if side == "lower" and bound.position > 0:
            bound.position -= 1
        elif side == "upper" and bound.position < last:
            bound.position += 1

    @staticmethod
    def _cut_off(lower: _Bound, upper: _Bound, code: int, last: int, lower_wins_tie: bool) -> None:
        """Contrastive Type II: the bound that needs fewer steps to exclude the row takes one towards that."""
        to_lower = code + 1 - lower.position if code < last else None
        to_upper = upper.position - code + 1 if code > 0 else None
        if to_lower is None and to_upper is None:
            return
        if to_upper is None or (
            to_lower is not None and (to_lower < to_upper or (to_lower == to_upper and lower_wins_tie))
        ):
            lower.position += 1
        else:
            upper.position -= 1

    def states(self) -> np.ndarray:
        """The automata's states, shape (2, machines, clauses, features): lower, then upper bound."""
        return self._array(lambda bound: bound.state)

    def positions(self) -> np.ndarray:
        """The bounds' positions, shape (2, machines, clauses, features): lower, then upper bound."""
        return self._array(lambda bound: bound.position)

    def _array(self, get: Callable[[_Bound], int]) -> np.ndarray:
        return np.array(
            [
                [[[get(pair[side]) for pair in clause] for clause in clauses] for clauses in self.bounds]
                for side in (0, 1)
            ]
        )

    def load(self, machine: IntervalMachine) -> None:
        """Go on from a compiled machine's state, to run any step of it again and explain it."""
        bank, states = machine.bank(), machine.states()
        self.step = machine.state.step
        self.weights = bank.weights.tolist()
        for q, clauses in enumerate(self.bounds):
            for j, clause in enumerate(clauses):
                for k in range(len(self.n_ranks)):
                    clause[k] = (
                        _Bound(int(bank.lower[q, j, k]), int(states[0, q, j, k])),
                        _Bound(int(bank.upper[q, j, k]), int(states[1, q, j, k])),
                    )
