"""What a row asks of the clauses, in words: to vote for or against a class, or to add up to a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tmcore.conditions import MINUS, number_text, visible
from tmcore.machine.reference import ClauseDecision, RowDecision
from tmcore.machine.state import WEIGHT_UNIT

if TYPE_CHECKING:
    from tmcore.trace import Trace

CHANCE_UNIT = 2.0**-32


class AsksForClass:
    """A row of a class: clauses vote for and against, and a vote is right or wrong."""

    def __init__(self, trace: Trace, decision: RowDecision) -> None:
        self.trace, self.decision = trace, decision

    def row(self) -> list[str]:
        """The row, the vote sum, and the chance of a clause to be selected."""
        trace, decision = self.trace, self.decision
        p, v = trace.parameters, decision.votes * WEIGHT_UNIT
        target = number_text(p.vote_target)
        said = [f"{_learned(trace)} Its class is {visible(trace.classes[trace.label])}."]
        if len(trace.classes) > 2:
            name = visible(trace.classes[decision.machine])
            said.append(
                f"It teaches the clauses of {name} that it is one."
                if decision.y
                else f"It teaches the clauses of {name}, a class drawn at random, that it is none."
            )
        clamped = "" if abs(v) <= p.vote_target else f", cut to {MINUS if v < 0 else ''}{target}"
        said.append(
            f"The clauses that hold for it vote: those for it minus those against give v = {signed(v)}{clamped}. "
            f"The vote target is T = {target}."
        )
        fraction, number = ("T − v", 7) if decision.y else ("T + v", 10)
        weighted = ", times the share its class is given" if p.class_weight is not None else ""
        said.append(
            f"The further v is from what this row asks for, the more clauses are taught: each is selected with "
            f"probability ({fraction}) / 2T{weighted} = {chance_text(decision)} (equation {number})."
        )
        return said

    def clause(self, clause: int) -> str:
        """What the clause does when it holds."""
        trace, positive = self.trace, clause % 2 == 0
        if len(trace.classes) == 2:
            return f"votes for {visible(trace.classes[int(positive)])}"
        return f"votes {'for' if positive else 'against'} {visible(trace.classes[self.decision.machine])}"

    def judged(self, decided: ClauseDecision) -> str:
        """How a selected clause meets what the row asks for."""
        holds = decided.output == 1
        if decided.feedback in ("Ia", "Ib"):
            return (
                "Its vote is right and it holds" if holds else "Its vote would be right, but it does not hold"
            )
        return "It holds, but its vote is wrong" if holds else "Its vote would be wrong, but it does not hold"

    def weight(self, right: bool) -> str:
        """Why the weight of a clause that holds moved."""
        return f"its vote is {'right' if right else 'wrong'}"


class AsksForNumber:
    """A row with a number: the clauses that hold add up, and the sum is too low or too high."""

    def __init__(self, trace: Trace, decision: RowDecision) -> None:
        self.trace, self.decision = trace, decision

    @property
    def _side(self) -> str:
        return "low" if self.decision.y else "high"

    def row(self) -> list[str]:
        """The row, the sum, and the chance of a clause to be selected."""
        trace, decision = self.trace, self.decision
        assert trace.target is not None  # a trace of numbers has one
        target = number_text(trace.parameters.vote_target)
        v, wanted = decision.votes * WEIGHT_UNIT, trace.label * WEIGHT_UNIT
        clamped = f", cut to {target}" if v > trace.parameters.vote_target else ""
        said = [
            f"{_learned(trace)} Its number is {number_text(trace.target)}, which is {wanted:.2f} on the scale of "
            f"votes, where 0 stands for the lowest number and T = {target} for the highest.",
            f"The clauses that hold for it add up to v = {v:.2f}{clamped}.",
        ]
        if not decision.chance:
            return [*said, "That is what this row asks for, so no clause is taught."]
        return [
            *said,
            f"That is too {self._side}. The further v is from what this row asks for, the more clauses are taught: "
            f"each is selected with probability |{wanted:.2f} − v| / T = {chance_text(decision)}.",
        ]

    def clause(self, clause: int) -> str:
        """What the clause does when it holds."""
        return "adds its weight where it holds, as every clause does"

    def judged(self, decided: ClauseDecision) -> str:
        """How a selected clause meets what the row asks for."""
        meets = "and it holds" if decided.output else "but it does not hold"
        return f"The sum is too {self._side}, {meets}"

    def weight(self, right: bool) -> str:
        """Why the weight of a clause that holds moved."""
        return f"the sum is too {'low' if right else 'high'}"


def asks_of(trace: Trace, decision: RowDecision) -> AsksForClass | AsksForNumber:
    """What the row asks of one machine's clauses."""
    return (AsksForClass if trace.target is None else AsksForNumber)(trace, decision)


def signed(number: float) -> str:
    """A number with two decimals and a real minus sign."""
    return f"{number:.2f}".replace("-", MINUS)


def share_text(number: float) -> str:
    """A probability or a draw."""
    return f"{number:.3f}"


def chance_text(decision: RowDecision) -> str:
    """The chance of each clause to be selected."""
    return share_text(decision.chance * CHANCE_UNIT)


def _learned(trace: Trace) -> str:
    return f"Step {trace.step:,}, in epoch {trace.epoch + 1:,}: training row {trace.row + 1:,} is learned."
