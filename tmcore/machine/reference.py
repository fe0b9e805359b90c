"""The plain-Python twin: the same machine, one equation at a time, recording every decision.

It shares nothing with the kernels but the documented draws. It is slow on purpose: its lines can be held against the
SSL paper's equations, the kernels are tested to equal it bit for bit, and what it records answers "why did it move?".
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tmcore.machine import streams
from tmcore.machine.state import MAX_WEIGHT, ONE_VOTE, ClauseBank, MachineState, polarities, rank_dtype
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


@dataclass
class _Bound:
    """One SSL automaton (its position) and the Tsetlin automaton that includes or excludes it."""

    position: int
    state: int


@dataclass
class _Clause:
    lower: list[_Bound]
    upper: list[_Bound]
    weight: int = ONE_VOTE


@dataclass
class ReferenceMachine:
    """The twin of `IntervalMachine`, with the same parameters and the same draws."""

    parameters: Parameters
    n_classes: int
    n_ranks: np.ndarray
    has_gaps: np.ndarray
    step: int = 0
    machines: list[list[_Clause]] = field(default_factory=list)

    def __post_init__(self) -> None:
        p = self.parameters
        n_machines = 1 if self.n_classes <= 2 else self.n_classes
        self.missing = int(np.iinfo(rank_dtype(p.max_levels)).max)
        key = streams.key(p.random_state, streams.STATES)
        features = range(len(self.n_ranks))
        for q in range(n_machines):
            at = streams.key_at(key, q)
            clauses = []
            for j in range(p.n_clauses):
                first = j * len(self.n_ranks)
                draws = [
                    [streams.key_at(at, (first + k) * 2 + side) & 1 for k in features] for side in (0, 1)
                ]
                lower = [_Bound(0, p.n_states + draws[0][k]) for k in features]
                upper = [_Bound(int(self.n_ranks[k]) - 1, p.n_states + draws[1][k]) for k in features]
                clauses.append(_Clause(lower, upper))
            self.machines.append(clauses)

    # -- evaluation ---------------------------------------------------------------------------------------------

    def _passes(self, k: int, bound: _Bound, code: int, upper: bool) -> bool:
        """Whether an included or excluded bound lets the row through (eqs. 11-13; missing values: see `encode`)."""
        if bound.state <= self.parameters.n_states:
            return True
        open_end = int(self.n_ranks[k]) - 1 if upper else 0
        if code == self.missing:
            return bound.position == open_end and not self.has_gaps[k]
        return code <= bound.position if upper else code >= bound.position

    def output(self, clause: _Clause, codes: np.ndarray) -> int:
        """c_j while learning: the conjunction of its literals, 1 for an empty clause (eqs. 4 and 5)."""
        return int(
            all(
                self._passes(k, clause.lower[k], int(code), False)
                and self._passes(k, clause.upper[k], int(code), True)
                for k, code in enumerate(codes)
            )
        )

    def _is_empty(self, clause: _Clause) -> bool:
        return all(bound.state <= self.parameters.n_states for bound in clause.lower + clause.upper)

    def votes(self, codes: np.ndarray) -> list[int]:
        """Vote sum of each machine when predicting: an empty clause outputs 0 (eq. 4)."""
        return [
            sum(
                (1 if j % 2 == 0 else -1) * clause.weight * self.output(clause, codes)
                for j, clause in enumerate(clauses)
                if not self._is_empty(clause)
            )
            for clauses in self.machines
        ]

    # -- learning -----------------------------------------------------------------------------------------------

    def learn(self, codes: np.ndarray, label: int) -> list[RowDecision]:
        """Learn one row; with K > 2 machines its own learns y = 1 and one other, drawn at random, y = 0."""
        at = streams.key_at(streams.key(self.parameters.random_state, streams.CLAUSES), self.step)
        if len(self.machines) == 1:
            decisions = [self._learn(0, codes, label, at)]
        else:
            draws = streams.key(self.parameters.random_state, streams.OTHER_CLASS)
            draw = streams.key_at(draws, self.step) >> 32
            other = draw * (len(self.machines) - 1) >> 32
            other += other >= label
            decisions = [self._learn(label, codes, 1, at), self._learn(other, codes, 0, at)]
        self.step += 1
        return decisions

    def _learn(self, q: int, codes: np.ndarray, y: int, key: int) -> RowDecision:
        p = self.parameters
        clauses = self.machines[q]
        outputs = [self.output(clause, codes) for clause in clauses]
        votes = sum((1 if j % 2 == 0 else -1) * c.weight * outputs[j] for j, c in enumerate(clauses))
        target = round(p.vote_target * ONE_VOTE)
        clamped = max(-target, min(target, votes))
        # Equations (7) and (10) as a share of 2^32.
        chance = ((target - clamped if y == 1 else target + clamped) * 2**32) // (2 * target)
        at = streams.key_at(key, q)
        decisions = [
            self._teach(j, clause, codes, y, outputs[j], streams.key_at(at, j), chance)
            for j, clause in enumerate(clauses)
        ]
        return RowDecision(self.step, q, y, votes, chance, tuple(decisions))

    def _teach(
        self, j: int, clause: _Clause, codes: np.ndarray, y: int, output: int, word: int, chance: int
    ) -> ClauseDecision:
        draw = word >> 32
        selected = draw < chance
        type_one = (j % 2 == 0) == (y == 1)
        feedback = ""
        if selected:
            feedback = ("Ia" if output else "Ib") if type_one else ("II" if output else "")
        before = clause.weight
        bounds: list[BoundDecision] = []
        if feedback:
            lane = streams.lane_start(word)
            for k, code in enumerate(codes):
                lane = streams.xorshift(lane)
                bounds += self._move(clause, k, int(code), feedback, lane)
            if output:
                clause.weight = self._weight(clause.weight, feedback)
        return ClauseDecision(j, output, draw, selected, feedback, (before, clause.weight), tuple(bounds))

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

    def _move(self, clause: _Clause, k: int, code: int, feedback: str, lane: int) -> list[BoundDecision]:
        """Both bounds of one feature (eqs. 14-17 and the paragraphs around them)."""
        p = self.parameters
        limit = streams.event_limit(p.s)
        lower, upper = clause.lower[k], clause.upper[k]
        missing, last = code == self.missing, int(self.n_ranks[k]) - 1
        violated = {"lower": missing or code < lower.position, "upper": missing or code > upper.position}
        inside = not violated["lower"] and not violated["upper"]
        before = {"lower": (lower.state, lower.position), "upper": (upper.state, upper.position)}
        draws = {"lower": lane & 0xFFFF, "upper": lane >> 16}
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
            self._cut_off(lower, upper, code, last, lower_wins_tie=bool(lane & 1))
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

    # -- comparison ---------------------------------------------------------------------------------------------

    def bank(self) -> ClauseBank:
        """The same immutable copy that `MachineState.bank` makes."""
        dtype = rank_dtype(self.parameters.max_levels)
        get = {
            side: np.array(
                [[[b.position for b in getattr(c, side)] for c in cs] for cs in self.machines], dtype
            )
            for side in ("lower", "upper")
        }
        states = self.states()
        return ClauseBank(
            lower=get["lower"],
            upper=get["upper"],
            lower_included=states[0] > self.parameters.n_states,
            upper_included=states[1] > self.parameters.n_states,
            weights=np.array([[c.weight for c in cs] for cs in self.machines], np.int64),
            polarity=polarities(self.parameters.n_clauses),
            step=self.step,
        )

    def states(self) -> np.ndarray:
        """The automata's states, shape (2, machines, clauses, features): lower, then upper bound."""
        return np.array(
            [
                [[[b.state for b in getattr(c, side)] for c in cs] for cs in self.machines]
                for side in ("lower", "upper")
            ]
        )

    def load(self, state: MachineState) -> None:
        """Go on from a kernel machine's state, to re-run and explain any step of it."""
        bank, states = state.bank(self.parameters.n_states), state.states()
        self.step = state.step
        for q, clauses in enumerate(self.machines):
            for j, clause in enumerate(clauses):
                clause.weight = int(bank.weights[q, j])
                for k in range(len(self.n_ranks)):
                    clause.lower[k] = _Bound(int(bank.lower[q, j, k]), int(states[0, q, j, k]))
                    clause.upper[k] = _Bound(int(bank.upper[q, j, k]), int(states[1, q, j, k]))
