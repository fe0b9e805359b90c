"""What every representation shares: vote sums, who gets feedback, and the weights (compiled).

Votes and weights are whole multiples of 2**-16; weights carry the sign of the clause's polarity, so that a sum needs no
look at it. `odd` is 1 where clauses 1, 3, 5, ... vote against y = 1, and 0 for regression, where all clauses vote for.
"""

from __future__ import annotations

import numpy as np

from tmcore.machine import streams
from tmcore.machine.jit import inlined
from tmcore.machine.state import LANES, MAX_WEIGHT, NO_BUDGET, ONE_VOTE

RECOGNISE, FORGET, REJECT = np.uint8(1), np.uint8(2), np.uint8(4)
"""Kinds of feedback: Type I with output 1 (Ia), Type I with output 0 (Ib), Type II with output 1."""

WEIGHTS_FIXED, WEIGHTS_REAL, WEIGHTS_INTEGER = 0, 1, 2
WEIGHT_RULES = {
    "none": WEIGHTS_FIXED,
    "refit": WEIGHTS_FIXED,
    "real": WEIGHTS_REAL,
    "integer": WEIGHTS_INTEGER,
}

_U32 = np.uint64(32)
_LOW32 = np.uint64(0xFFFFFFFF)


@inlined
def vote_sum(outputs, weights):
    """Sum of the signed weights of the clauses that output 1 (the v of eq. 6)."""
    total = 0
    for j in range(len(outputs)):
        total += weights[j] & -np.int64(outputs[j])
    return total


@inlined
def selection_limit(votes, target, y):
    """The smallest 32-bit draw that does not select: (T - v) / 2T for y = 1, (T + v) / 2T for y = 0 (eqs. 7, 10)."""
    clamped = min(max(votes, -target), target)
    return ((target - clamped if y else target + clamped) << 32) // (2 * target)


@inlined
def regression_limit(votes, target, wanted):
    """The same for regression: |error| / T, with the sum clamped to [0, T]."""
    return (abs(wanted - min(max(votes, 0), target)) << 32) // target


@inlined
def pupil(turn, key, step, label, n_machines):
    """The machine that learns a row in this turn, and its y; one machine learns the label itself.

    Of K machines the class's own learns y = 1 first, then one other, drawn, learns y = 0.
    """
    machine, y = 0, label
    if n_machines > 1:
        machine = other_class(key, step, label, n_machines) if turn else label
        y = 1 - turn
    return machine, y


@inlined
def feedback_limit(votes, target, odd, label, y, scales):
    """The limit below which a draw selects a clause, and y: for regression 1 where the votes are too few."""
    if odd:
        limit = (selection_limit(votes, target, y) * scales[label]) >> 16
    else:
        limit = regression_limit(votes, target, label)
        y = 1 if min(max(votes, 0), target) < label else 0
    return limit, y


@inlined
def select(outputs, lengths, max_literals, kinds, chosen, key, n_clauses, limit, y, odd):
    """Which clauses get feedback, and of which kind; their numbers go to `chosen`. Returns how many.

    A clause whose polarity agrees with y gets Type I, else Type II (eqs. 7 and 10, mended for negative clauses: both
    polarities are selected with the probability that belongs to y). Type II of a clause that outputs 0 does nothing.
    A clause with more than `max_literals` is made to forget where it would be confirmed.
    """
    largest, odd_8, y_8 = np.uint32(limit - 1), np.uint8(odd), np.uint8(y)
    start = np.uint32(key >> _U32)
    for block in range(0, len(outputs), LANES):  # in bytes: wider types would fill more registers
        first = max(block, 0)
        for j in range(LANES):
            kinds[first + j] = np.uint8(streams.mix32_at_u(start, first + j) <= largest)
        for j in range(LANES):
            output = outputs[first + j]
            type_one = RECOGNISE if output else FORGET
            type_two = REJECT if output else np.uint8(0)
            kind = type_one if np.uint8(np.uint8(j) & odd_8) != y_8 else type_two
            kinds[first + j] = np.uint8(kind if kinds[first + j] else np.uint8(0))
    count = 0
    for j in range(n_clauses):
        chosen[count] = j
        count += int(kinds[j] != 0)
    if max_literals < NO_BUDGET:
        for i in range(count):
            j = chosen[i]
            if kinds[j] == RECOGNISE and lengths[j] > max_literals:
                kinds[j] = FORGET
    return count


@inlined
def clause_word(key, clause):
    """Where the draws inside a clause start, 32 bits."""
    return streams.mix32_at_u(np.uint32(key & _LOW32), clause)


@inlined
def update_weight(signed, kind, weight_rule, gamma):
    """A clause that output 1: its weight grows under Type I and shrinks under Type II, and never changes sign (WTM)."""
    weight = abs(signed)
    if weight_rule == WEIGHTS_REAL:
        if kind == RECOGNISE:
            weight += (weight * gamma + ONE_VOTE // 2) // ONE_VOTE
        else:
            weight = (weight * ONE_VOTE + (ONE_VOTE + gamma) // 2) // (ONE_VOTE + gamma)
        weight = min(max(weight, 1), MAX_WEIGHT)
    else:
        weight += ONE_VOTE if kind == RECOGNISE else -ONE_VOTE
        weight = min(max(weight, ONE_VOTE), MAX_WEIGHT)
    return weight if signed > 0 else -weight


@inlined
def other_class(key, step, own, n_machines):
    """The class that learns y = 0 at this step: one of the others, each with the same chance."""
    draw = np.int64(streams.key_at_u(key, step) >> _U32)
    other = (draw * (n_machines - 1)) >> 32
    return other + 1 if other >= own else other
