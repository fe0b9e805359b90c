"""Feedback of the interval machine: how automata and bounds move (SSL paper, section 4), many clauses at a time.

The features of up to 64 clauses are collected side by side in a work space, moved in one sweep without a branch, and
put back. All arithmetic stays in the rank's own type.

Layout
------
``bounds`` holds for every clause four numbers per feature, in pieces of 16 features: within a piece first all LOWER,
then all UPPER, LOWER_STATE and UPPER_STATE, so that a piece of bytes is one line of the processor's cache. Features
that only fill up a piece have one rank.

===========  =================================================================================================
LOWER        lower bound: 0 is open, t + 1 is "x > cut t"; holds where rank >= LOWER
UPPER        upper bound: n_ranks - 1 is open, t is "x <= cut t"; holds where rank <= UPPER
..._STATE    the automata, 1..2N, include above N
===========  =================================================================================================
"""

from __future__ import annotations

import numpy as np

from tmcore.machine import streams, votes
from tmcore.machine.bits import count_ones
from tmcore.machine.jit import inlined, kernel
from tmcore.machine.state import LANES

LOWER, UPPER, LOWER_STATE, UPPER_STATE = range(4)
PIECE = 16
"""Features in a piece."""

PAIR = 2 * PIECE
"""Lanes that one turn of the sweep moves."""

TERMS = 3 * PAIR
"""What the clauses share of a piece: last rank, gap and the row's rank of every feature, each for two clauses."""

_AT_ONCE = 64
"""Clauses collected for one sweep."""

_ROOM = _AT_ONCE * PIECE
"""Lanes of one section of the work space."""

_KIND, _DRAW, _LOWER_TEST, _UPPER_TEST, _CHANGED, _SECTIONS = range(4, 10)
"""Sections of the work space after those of the four planes."""

WORK_SIZE = _SECTIONS * _ROOM
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE, _TWO, _S16, _S30, _S31 = (np.uint32(n) for n in (1, 2, 16, 30, 31))
_LOW16 = np.uint32(0xFFFF)


@inlined
def move(c, kind, lower_event, upper_event, tie, lower, upper, lower_state, upper_state, rank, feature, rule):
    """One clause, one feature, one row: new bounds and automata, without a branch.

    `c` is the rank's type: every intermediate result is cast back to it, since Numba would widen it to 64 bits and
    the loop around would no longer vectorise. `kind` is 1 for Type I with output 1, 2 for Type I with output 0, 4 for
    Type II with output 1, 0 for none; `feature` is as made by `feature_terms`; `rule` is
    (N, 2N, boost, paper's bound rule) in the rank's type.
    """
    last, rank_1, known, lower_can, upper_can, lower_limit, upper_limit = feature
    _, top, boost, paper = rule
    zero, one = c(0), c(1)
    recognise, forget, reject = c(kind & one), c(c(kind >> one) & one), c(kind >> c(2))
    lower_out = one if rank_1 <= lower else zero
    upper_out = one if rank > upper else zero
    inside = c(c(lower_out | upper_out) ^ one)
    rewarded = c(recognise & inside)
    # Ia with probability (s-1)/s, Ib with 1/s, from one draw: they exclude each other (eqs. 14-17).
    lower_up = c(rewarded & c(c(lower_event ^ one) | boost))
    upper_up = c(rewarded & c(c(upper_event ^ one) | boost))
    lower_down = c(c(forget | c(recognise & lower_out)) & lower_event)
    upper_down = c(c(forget | c(recognise & upper_out)) & upper_event)
    # Ia tightens as far as the rule allows; Ib widens; the paper's Type II widens a violated bound.
    lower_in = c(lower_up & (one if lower < lower_limit else zero))
    upper_in = c(upper_up & (one if upper > upper_limit else zero))
    lower_wide = c(
        c(lower_down | c(c(reject & lower_out) & paper)) & c(known & (one if lower > zero else zero))
    )
    upper_wide = c(
        c(upper_down | c(c(reject & upper_out) & paper)) & c(known & (one if upper < last else zero))
    )
    # Contrastive Type II inside both bounds: the bound with fewer steps to exclude the row takes one.
    to_lower, to_upper = c(rank_1 - lower), c(c(upper - rank) + one)
    nearer = one if to_lower < to_upper else (tie if to_lower == to_upper else zero)
    cut_off = c(c(reject & inside) & c(paper ^ one))
    lower_in = c(lower_in | c(c(cut_off & lower_can) & c(nearer | c(upper_can ^ one))))
    upper_in = c(upper_in | c(c(cut_off & upper_can) & c(c(nearer ^ one) | c(lower_can ^ one))))
    lower = c(c(lower + lower_in) - lower_wide)
    upper = c(c(upper + upper_wide) - upper_in)
    # A violated bound of a false positive is included more firmly (Type II, probability 1).
    lower_up = c(lower_up | c(reject & lower_out))
    upper_up = c(upper_up | c(reject & upper_out))
    lower_up = c(lower_up & (one if lower_state < top else zero))
    upper_up = c(upper_up & (one if upper_state < top else zero))
    lower_down = c(lower_down & (one if lower_state > one else zero))
    upper_down = c(upper_down & (one if upper_state > one else zero))
    lower_state = c(c(lower_state + lower_up) - lower_down)
    upper_state = c(c(upper_state + upper_up) - upper_down)
    return lower, upper, lower_state, upper_state


@inlined
def bound_tests(c, lower, upper, lower_state, upper_state, last, gap, n_states):
    """What a row's rank + 1 must reach, and what its rank may not pass (see the module's text)."""
    zero, one, missing = c(0), c(1), c(-1)
    lower_test = c(lower + one) if lower > zero else gap
    upper_test = upper if upper < last else c(missing - gap)
    return lower_test if lower_state > n_states else zero, upper_test if upper_state > n_states else missing


@inlined
def feature_terms(c, last, rank, paper):
    """What `move` needs to know about one feature of one row, from its last rank and the row's rank."""
    zero, one = c(0), c(1)
    known = one if rank <= last else zero
    lower_can = one if rank < last else zero
    upper_can = one if rank > zero else zero
    lower_limit = last if paper else rank
    upper_limit = zero if paper else rank
    return last, c(rank + one), known, lower_can, upper_can, lower_limit, upper_limit


@inlined
def events(draw, limit):
    """Bit 0: the lower bound's 1/s event. Bit 1: the upper bound's. Bit 2: which bound wins a tie.

    A 16-bit draw is an event where it is below `limit`, so where their difference is negative: its sign is the bit.
    """
    low, high = np.uint32(np.uint32(draw & _LOW16) - limit), np.uint32(np.uint32(draw >> _S16) - limit)
    return (low >> _S31) | ((high >> _S30) & _TWO) | ((draw & _ONE) << _TWO)


@inlined
def words_in_piece(c):
    """64-bit words that 16 ranks of type `c` take; known when compiling."""
    return 2 if c(256) == c(0) else 4


@inlined
def collect(work, work_words, slot, bound_words, at, kind, word, limit):
    """Bring one piece of one clause, its kind of feedback and its draws into a slot of the work space.

    Whole words are copied, since the compiler cannot prove that the two arrays do not overlap. Offsets are made plainly
    not negative: where they may be negative for all the compiler knows, Numba asks so for every element, and nothing
    vectorises (60 times slower; a test looks at the generated code).
    """
    c = work.dtype.type
    n = words_in_piece(c)
    to, at = max(slot * n, 0), max(at, 0)
    for plane in range(4):
        for w in range(n):
            work_words[plane * _AT_ONCE * n + to + w] = bound_words[at + plane * n + w]
    kinds = np.uint64(kind) * (_ALL // np.uint64(c(-1)))
    for w in range(n):
        work_words[_KIND * _AT_ONCE * n + to + w] = kinds
    draws_at = max(_DRAW * _ROOM + slot * PIECE, 0)
    for i in range(PIECE):
        work[draws_at + i] = c(events(streams.mix32_at_u(word, i), limit))


@kernel
def sweep(work, n_lanes, terms, terms_at, rule):
    """Move everything collected: new bounds and automata in place, new tests, and which of them changed.

    All sections lie in one array at distances known when compiling, so the compiler can prove that they do not overlap.
    """
    c = work.dtype.type
    n_states = rule[0]
    last_at = max(terms_at, 0)
    gap_at, rank_at = last_at + PAIR, last_at + 2 * PAIR
    for start in range(0, n_lanes, PAIR):
        at = max(start, 0)
        for i in range(PAIR):
            lower, upper = work[at + i], work[at + _ROOM + i]
            lower_state, upper_state = work[at + 2 * _ROOM + i], work[at + 3 * _ROOM + i]
            kind, draw = work[at + _KIND * _ROOM + i], work[at + _DRAW * _ROOM + i]
            last, gap, rank = terms[last_at + i], terms[gap_at + i], terms[rank_at + i]
            old_lower, old_upper = bound_tests(c, lower, upper, lower_state, upper_state, last, gap, n_states)
            lower, upper, lower_state, upper_state = move(
                c, kind, c(draw & c(1)), c(c(draw >> c(1)) & c(1)), c(draw >> c(2)),
                lower, upper, lower_state, upper_state, rank, feature_terms(c, last, rank, rule[3]), rule,
            )  # fmt: skip
            work[at + i] = lower
            work[at + _ROOM + i] = upper
            work[at + 2 * _ROOM + i] = lower_state
            work[at + 3 * _ROOM + i] = upper_state
            new_lower, new_upper = bound_tests(c, lower, upper, lower_state, upper_state, last, gap, n_states)
            work[at + _LOWER_TEST * _ROOM + i] = new_lower
            work[at + _UPPER_TEST * _ROOM + i] = new_upper
            work[at + _CHANGED * _ROOM + i] = c(c(old_lower ^ new_lower) | c(old_upper ^ new_upper))


@inlined
def put_back(work, work_words, slot, bound_words, at, tests, tests_at):
    """Write a moved piece back, and the tests that changed: most feedback only strengthens a decision.

    A feature that only fills up the piece has one rank, so that its tests never change: there is no room for them.
    """
    c = work.dtype.type
    n = words_in_piece(c)
    lanes = PIECE // n
    start, at = max(slot * n, 0), max(at, 0)
    for plane in range(4):
        for w in range(n):
            bound_words[at + plane * n + w] = work_words[plane * _AT_ONCE * n + start + w]
    for w in range(n):
        changed = work_words[_CHANGED * _AT_ONCE * n + start + w]
        while changed != 0:
            lane = count_ones((changed & -changed) - np.uint64(1)) * lanes >> 6
            changed &= ~(np.uint64(c(-1)) << np.uint64(lane * (64 // lanes)))
            lane += w * lanes
            to = tests_at + lane * 2 * LANES
            tests[to] = work[slot * PIECE + lane + _LOWER_TEST * _ROOM]
            tests[to + LANES] = work[slot * PIECE + lane + _UPPER_TEST * _ROOM]


@inlined
def feedback(bound_words, tests, terms, n_features, chosen, kinds, count, key, limit, rule, work_space):
    """Feedback of one row to the chosen clauses (SSL paper, section 4, "Learning"), piece by piece.

    Parameters
    ----------
    bound_words : ndarray of uint64
        The bounds of the machine, as words.
    tests : ndarray, shape (blocks * features * 2 * 64,)
        Written where something changed.
    terms : ndarray, shape (3 * padded features,)
        Last rank, gap and rank of every feature, in the same pieces as the bounds.
    chosen, kinds, count
        From `votes.select`.
    key : uint64
        Of this step and machine.
    limit : uint32
        16-bit draws below it are the 1/s event.
    rule : tuple
        N, 2N, boost_true_positive, paper's bound rule; in the rank's type.
    work_space : tuple
        Of shape (WORK_SIZE,), and the same as words.
    """
    work, work_words = work_space
    n_pieces = len(terms) // TERMS
    n = words_in_piece(work.dtype.type)
    for piece in range(n_pieces):
        skipped = np.uint32(np.uint32(piece * PIECE) * streams.GOLDEN_32)
        for done in range(0, count, _AT_ONCE):
            here = min(count - done, _AT_ONCE)
            for slot in range(here):
                j = chosen[done + slot]
                word = np.uint32(votes.clause_word(key, j) + skipped)
                at = (j * n_pieces + piece) * 4 * n
                collect(work, work_words, slot, bound_words, at, kinds[j], word, limit)
            sweep(work, here * PIECE, terms, piece * TERMS, rule)
            for slot in range(here):
                j = chosen[done + slot]
                at = (j * n_pieces + piece) * 4 * n
                tests_at = ((j // LANES) * n_features + piece * PIECE) * 2 * LANES + j % LANES
                put_back(work, work_words, slot, bound_words, at, tests, tests_at)


@inlined
def count_literals(bounds, clause, n_features, n_pieces, n_states):
    """Included bounds of one clause."""
    length = 0
    for feature in range(n_features):
        piece = clause * n_pieces + feature // PIECE
        at = (piece * 4 + LOWER_STATE) * PIECE + feature % PIECE
        length += 1 if bounds[at] > n_states else 0
        length += 1 if bounds[at + PIECE] > n_states else 0
    return length
