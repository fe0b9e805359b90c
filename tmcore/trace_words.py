"""A trace in words, for someone who has never heard of a Tsetlin machine, with the SSL paper's equation numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tmcore.conditions import number_text, visible
from tmcore.machine.reference import BoundDecision, ClauseDecision
from tmcore.machine.state import WEIGHT_UNIT
from tmcore.parameters import Parameters
from tmcore.trace_asks import CHANCE_UNIT, AsksForClass, AsksForNumber, asks_of, chance_text, share_text

if TYPE_CHECKING:
    from tmcore.encode import Feature
    from tmcore.encoders import AnyEncoder
    from tmcore.trace import LiteralMove, Trace

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
    asks = asks_of(trace, decision)
    said = asks.row() + _the_clause(asks, decided)
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
    return said + _the_weight(asks, decided)


def _the_clause(asks: AsksForClass | AsksForNumber, decided: ClauseDecision) -> list[str]:
    holds = "holds" if decided.output else "does not hold"
    said = [
        f"Clause {decided.clause} {asks.clause(decided.clause)}. For this row it {holds}: its output is "
        f"{decided.output} (equation 5)."
    ]
    draw, chance = share_text(decided.draw * CHANCE_UNIT), chance_text(asks.decision)
    if not decided.selected:
        return [*said, f"Its draw {draw} is not below {chance}: it is not selected, and nothing in it moves."]
    said.append(f"Its draw {draw} is below {chance}: it is selected.")
    if not decided.feedback:
        nothing = "so there is nothing to correct, and nothing in it moves"
        return [*said, f"{asks.judged(decided)}, {nothing}."]
    judged, forgets = asks.judged(decided), "its conditions are weakened"
    if decided.feedback == "Ib" and decided.output:
        judged = "It holds, but has more conditions than it may"
    elif decided.feedback == "Ib":
        forgets += ", so that it may come to hold"
    effect = {
        "Ia": "what it says of this row is confirmed",
        "Ib": forgets,
        "II": "it is made to exclude this row",
    }
    return [
        *said,
        f"{judged}. It gets Type {decided.feedback} feedback: {effect[decided.feedback]}.",
    ]


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
        f"its draw {share_text(draw)} is {'below' if bound.event else 'not below'} 1/s = {share_text(rate)} "
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
        chance = share_text(1 - 1 / p.s)
        why = f"it is true for this row, and confirmed with probability (s − 1)/s = {chance} (equation 8)"
    else:
        why = f"it is weakened with probability 1/s = {share_text(1 / p.s)} (equation 9)"
    memory = _memory(p, move.state)
    return f"{words}: {why}. {memory[0].upper()}{memory[1:]}."


def _the_weight(asks: AsksForClass | AsksForNumber, decided: ClauseDecision) -> list[str]:
    p = asks.trace.parameters
    before, after = (weight * WEIGHT_UNIT for weight in decided.weight)
    if before == after:
        return []
    grows = after > before
    how = {
        "real": f"{'times' if grows else 'divided by'} 1 + γ = {number_text(1 + p.gamma)}",
        "integer": "by one vote",
    }[p.weights]
    return [
        f"Its weight {'grows' if grows else 'shrinks'} from {before:.4f} to {after:.4f}, {how}, because it holds and "
        f"{asks.weight(grows)}."
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
