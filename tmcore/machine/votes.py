"""What every representation shares: vote sums, who gets feedback, and the weights (compiled).

Votes and weights are whole multiples of 2**-16. `odd` is 1 where clauses 1, 3, 5, ... vote against y = 1, and 0 for
regression, where all clauses vote for.
"""

from __future__ import annotations

import numpy as np

from tmcore.machine import streams
from tmcore.machine.jit import inlined
from tmcore.machine.state import LANES, MAX_WEIGHT, ONE_VOTE

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
def vote_sum(outputs, weights, odd):
    """Sum of signed weights of the clauses that output 1 (the v of eq. 6)."""
    for_one, against = 0, 0
    for j in range(0, len(outputs), 2):
        for_one += weights[j] * np.int64(outputs[j])
        against += weights[j + 1] * np.int64(outputs[j + 1])
    return for_one - against if odd else for_one + against


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
def select(outputs, lengths, max_literals, kinds, words, key, first, n_clauses, limit, y, odd):
    """Which clauses of a block get feedback, of which kind, and where their draws start; returns how many need work.

    A clause whose polarity agrees with y gets Type I, else Type II (eqs. 7 and 10, mended for negative clauses: both
    polarities are selected with the probability that belongs to y). Type II of a clause that outputs 0 does nothing.
    A clause with more than `max_literals` is made to forget where it would be confirmed.
    """
    count = 0
    for j in range(LANES):
        word = streams.key_at_u(key, first + j)
        words[j] = word & _LOW32
        agrees = (j & odd) != y
        selected = np.uint8(np.int64(word >> _U32) < limit) & np.uint8(first + j < n_clauses)
        output = outputs[j]
        confirmed = np.uint8(lengths[j] <= max_literals) & output
        kind = (RECOGNISE if confirmed else FORGET) if agrees else (REJECT if output else np.uint8(0))
        kinds[j] = kind if selected else np.uint8(0)
        count += 1 if kinds[j] else 0
    return count


@inlined
def update_weight(weight, kind, weight_rule, gamma):
    """A clause that output 1: its weight grows under Type I and shrinks under Type II, and never changes sign (WTM)."""
    if weight_rule == WEIGHTS_REAL:
        if kind == RECOGNISE:
            weight += (weight * gamma + ONE_VOTE // 2) // ONE_VOTE
        else:
            weight = (weight * ONE_VOTE + (ONE_VOTE + gamma) // 2) // (ONE_VOTE + gamma)
        return min(max(weight, 1), MAX_WEIGHT)
    weight += ONE_VOTE if kind == RECOGNISE else -ONE_VOTE
    return min(max(weight, ONE_VOTE), MAX_WEIGHT)


@inlined
def other_class(key, step, own, n_machines):
    """The class that learns y = 0 at this step: one of the others, each with the same chance."""
    draw = np.int64(streams.key_at_u(key, step) >> _U32)
    other = (draw * (n_machines - 1)) >> 32
    return other + 1 if other >= own else other
