"""A trace in words, for someone who has never heard of a Tsetlin machine, with the SSL paper's equation numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tmcore.conditions import MINUS, number_text, visible
from tmcore.machine.reference import BoundDecision, ClauseDecision, RowDecision
from tmcore.machine.state import WEIGHT_UNIT
from tmcore.parameters import Parameters

if TYPE_CHECKING:
    from tmcore.encode import Feature
    from tmcore.encoders import AnyEncoder
    from tmcore.trace import LiteralMove, Trace

CHANCE_UNIT = 2.0**-32
DRAW_UNIT = 2.0**-16


def sentences(
    trace: Trace,
    encoder: AnyEncoder,
    clause: int,
    machine: int | None = None,
    feature: int | None = None,
) -> list[str]:
    """What the row did to one clause, and why.

    Parameters
    ----------
    trace : Trace
        From `TrainingRun.explain`.
    encoder : fitted Encoder
        The run's.
    clause : int
    machine : int, optional
        Of three and more classes, which class's clauses; by default those of the row's own class.
    feature : int, optional
        Only the bounds of this feature, also where they stayed; by default all that moved.

    Returns
    -------
    list of str
        Whole sentences in the order of the decisions.

    Raises
    ------
    ValueError
        There is no such clause, or the row did not teach that machine.
    """
    decision = trace.decision(machine)
    if not 0 <= clause < len(decision.clauses):
        raise ValueError(f"Clause {clause} does not exist; use 0 to {len(decision.clauses) - 1}.")
    decided = decision.clauses[clause]
    said = _the_row(trace, decision) + _the_clause(trace, decision, decided)
    if not decided.feedback:
        return said
    if trace.parameters.representation == "intervals":
        said += _the_bounds(trace, encoder, decided, feature)
    else:
        mine = [m for m in trace.literals if (m.machine, m.clause) == (decision.machine, clause)]
        said += [
            _literal(trace.parameters, encoder.features[m.feature], decided.feedback, m)
            for m in mine
            if feature is None or m.feature == feature
        ]
        said += [] if mine else ["No literal of the clause moved: every draw decided against it."]
    return said + _the_weight(trace.parameters, decided)


def signed(number: float) -> str:
    """A number with two decimals and a real minus sign."""
    return f"{number:.2f}".replace("-", MINUS)


def _share(number: float) -> str:
    return f"{number:.3f}"


def _the_row(trace: Trace, decision: RowDecision) -> list[str]:
    p, v = trace.parameters, decision.votes * WEIGHT_UNIT
    target, chance = number_text(p.vote_target), _share(decision.chance * CHANCE_UNIT)
    said = [
        f"Step {trace.step:,}, in epoch {trace.epoch + 1:,}: training row {trace.row + 1:,} is learned. "
        f"Its class is {visible(trace.classes[trace.label])}."
    ]
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
        f"The further v is from what this row asks for, the more clauses are taught: each is selected with probability "
        f"({fraction}) / 2T{weighted} = {chance} (equation {number})."
    )
    return said


def _voted_for(trace: Trace, decision: RowDecision, clause: int) -> str:
    positive = clause % 2 == 0
    if len(trace.classes) == 2:
        return f"for {visible(trace.classes[int(positive)])}"
    return f"{'for' if positive else 'against'} {visible(trace.classes[decision.machine])}"


def _the_clause(trace: Trace, decision: RowDecision, decided: ClauseDecision) -> list[str]:
    holds = "holds" if decided.output else "does not hold"
    said = [
        f"Clause {decided.clause} votes {_voted_for(trace, decision, decided.clause)}. For this row it {holds}: its "
        f"output is {decided.output} (equation 5)."
    ]
    draw, chance = decided.draw * CHANCE_UNIT, decision.chance * CHANCE_UNIT
    if not decided.selected:
        return [
            *said,
            f"Its draw {_share(draw)} is not below {_share(chance)}: it is not selected, and nothing in it moves.",
        ]
    said.append(f"Its draw {_share(draw)} is below {_share(chance)}: it is selected.")
    too_long = trace.parameters.max_literals is not None and decided.output == 1
    meaning = {
        "Ia": "Its vote is right and it holds. It gets Type Ia feedback: what it says of this row is confirmed.",
        "Ib": (
            "It holds, but has more conditions than it may. It gets Type Ib feedback: its conditions are weakened."
            if too_long
            else "Its vote would be right, but it does not hold. It gets Type Ib feedback: its conditions are "
            "weakened, so that it may come to hold."
        ),
        "II": "It holds, but its vote is wrong. It gets Type II feedback: it is made to exclude this row.",
        "": "Its vote would be wrong, but it does not hold, so there is nothing to correct, and nothing in it moves.",
    }
    return [*said, meaning[decided.feedback]]


def _the_bounds(trace: Trace, encoder: AnyEncoder, decided: ClauseDecision, feature: int | None) -> list[str]:
    def moved(bound: BoundDecision) -> bool:
        return bound.state[0] != bound.state[1] or bound.position[0] != bound.position[1]

    shown = [b for b in decided.bounds if (moved(b) if feature is None else b.feature == feature)]
    violated = {b.feature for b in decided.bounds if b.violated}
    said = [
        _bound(trace, encoder.features[b.feature], decided.feedback, b, b.feature in violated) for b in shown
    ]
    stayed = sum(not moved(b) for b in decided.bounds)
    if feature is None and stayed:
        said.append(f"{stayed:,} of its {len(decided.bounds):,} bounds stayed as they were.")
    return said


def _bound(trace: Trace, feature: Feature, feedback: str, bound: BoundDecision, outside: bool) -> str:
    """Why one bound moved or stayed, and what that changed."""
    p, lower = trace.parameters, bound.side == "lower"
    rate, draw = 1 / p.s, bound.draw * DRAW_UNIT
    where = value_words(feature, trace.codes[bound.feature], trace.missing)
    compared = (
        f"its draw {_share(draw)} is {'below' if bound.event else 'not below'} 1/s = {_share(rate)} "
        f"(equation {{}})"
    )
    if feedback == "Ia" and not outside:
        why = compared.format(14 if lower else 15)
        if p.boost_true_positive:
            why, acts = "right clauses are always confirmed (boost true positives)", True
        else:
            acts = not bound.event
        why = f"the row, {where}, is inside; {why}"
    elif feedback == "Ib" or (feedback == "Ia" and bound.violated):
        acts = bound.event
        prefix = "" if feedback == "Ib" else f"the row, {where}, is outside this bound; "
        why = prefix + compared.format(16 if lower else 17)
    elif feedback == "Ia":
        acts, why = False, f"the row, {where}, is outside the other bound only"
    elif bound.violated:
        acts = True
        why = f"the row, {where}, is outside this bound, so including it makes the clause exclude the row "
        why += "(text below equation 17)"
    else:
        acts = bound.position[0] != bound.position[1]
        why = f"the row, {where}, is inside"
        if acts:
            why += (
                ", and this bound shuts it out in the fewest steps (contrastive rule; a tie goes by the draw)"
            )
    part = f" ({visible(feature.category)})" if feature.kind == "category" else ""
    return f"{_name(feature)}{part}, {bound.side} bound: {why}. {_effect(feature, p, bound, acts)}"


def _effect(feature: Feature, p: Parameters, bound: BoundDecision, acts: bool) -> str:
    parts = []
    if bound.state[0] != bound.state[1]:
        parts.append(_memory(p, bound.state))
    if bound.position[0] != bound.position[1]:
        inwards = (bound.position[1] > bound.position[0]) == (bound.side == "lower")
        before, after = (bound_words(feature, bound.side, position) for position in bound.position)
        parts.append(f"it {'tightens' if inwards else 'widens'} from {before} to {after}")
    if not parts:
        return "It stays, since it is at its end already." if acts else "It stays."
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _memory(p: Parameters, state: tuple[int, int]) -> str:
    """One automaton's step: states above N include."""
    before, after = state
    text = f"its memory {'rises' if after > before else 'falls'} from {before} to {after} of {2 * p.n_states}"
    was, is_now = before > p.n_states, after > p.n_states
    if was == is_now:
        return f"{text}, it stays {'included' if is_now else 'excluded'}"
    return f"{text}, which {'includes' if is_now else 'excludes'} it from now on"


def _literal(p: Parameters, feature: Feature, feedback: str, move: LiteralMove) -> str:
    words = bound_words(feature, *(("lower", move.cut + 1) if move.negated else ("upper", move.cut)))
    if feedback == "II":
        why = "it is false for this row, so including it makes the clause exclude the row (text below equation 10)"
    elif move.state[1] > move.state[0]:
        why = f"it is true for this row, and confirmed with probability (s − 1)/s = {_share(1 - 1 / p.s)} (equation 8)"
    else:
        why = f"it is weakened with probability 1/s = {_share(1 / p.s)} (equation 9)"
    memory = _memory(p, move.state)
    return f"{words}: {why}. {memory[0].upper()}{memory[1:]}."


def _the_weight(p: Parameters, decided: ClauseDecision) -> list[str]:
    before, after = (weight * WEIGHT_UNIT for weight in decided.weight)
    if before == after:
        return []
    how = {
        "real": f"{'times' if after > before else 'divided by'} 1 + γ = {number_text(1 + p.gamma)}",
        "integer": "by one vote",
    }[p.weights]
    return [
        f"Its weight {'grows' if after > before else 'shrinks'} from {before:.4f} to {after:.4f}, {how}, because it "
        f"holds and its vote is {'right' if after > before else 'wrong'}."
    ]


def _name(feature: Feature) -> str:
    return visible(feature.column)


def value_words(feature: Feature, code: int, missing: int) -> str:
    """What a rank says of the row: "1.2 < oldpeak ≤ 1.3", "sex is male", "oldpeak is missing"."""
    name = _name(feature)
    if code == missing:
        return f"{name} is missing"
    if feature.kind == "category":
        return f"{name} is {'' if code else 'not '}{visible(feature.category)}"
    if feature.kind != "numeric":
        return f"{name} is {visible(feature.labels[code])}"
    low = "" if code == 0 else number_text(feature.cuts[code - 1])
    high = "" if code == feature.n_ranks - 1 else number_text(feature.cuts[code])
    if low and high:
        return f"{low} < {name} ≤ {high}"
    return f"{name} > {low}" if low else f"{name} ≤ {high}" if high else f"{name} is known"


def bound_words(feature: Feature, side: str, position: int) -> str:
    """What a bound at a position asks: "oldpeak > 1.2", "thal is not fixed", "no lower limit" at its open end."""
    name, lower = _name(feature), side == "lower"
    if position == (0 if lower else feature.n_ranks - 1):
        return f"no {side} limit"
    if feature.kind == "category":
        return f"{name} is {'' if lower else 'not '}{visible(feature.category)}"
    if feature.kind == "boolean":
        return f"{name} is {visible(feature.labels[position])}"
    if feature.kind == "ordinal":
        return f"{name} is at {'least' if lower else 'most'} {visible(feature.labels[position])}"
    return f"{name} {'>' if lower else '≤'} {number_text(feature.cuts[position - lower])}"
