"""The compiled interval machine: evaluate clauses, give feedback, move bounds (SSL paper, sections 3 and 4).

The plain-Python twin in `reference.py` states the same rules one equation at a time and makes the same draws; the
tests hold the two equal bit for bit. What is here for speed only: evaluation treats 64 clauses at a time,
feedback 32 or 16 features of one clause, neither with a branch, and all arithmetic stays in the rank's own type.

Layout
------
``bounds`` holds for every clause four numbers per feature, in pieces of 32 features and a last one of 16 where that is
enough: within a piece first all LOWER, then all UPPER, LOWER_STATE and UPPER_STATE. The distance between two of them is
a constant, so the compiler can prove that they do not overlap. Features that only fill up a piece have one rank.

===========  =================================================================================================
LOWER        lower bound: 0 is open, t + 1 is "x > cut t"; holds where rank >= LOWER
UPPER        upper bound: n_ranks - 1 is open, t is "x <= cut t"; holds where rank <= UPPER
..._STATE    the automata, 1..2N, include above N
===========  =================================================================================================

``tests`` is what evaluation reads, 64 clauses side by side for each feature: what a row's rank + 1 must reach (0 when
the lower bound is excluded), and what its rank may not pass (the type's largest value when the upper one is).

A missing value is the type's largest value; plus one it wraps to 0. So it fails every included test and passes every
excluded one without a comparison of its own.
"""

from __future__ import annotations

import numpy as np

from tmcore.machine import streams, votes
from tmcore.machine.jit import inlined, kernel
from tmcore.machine.state import LANES, NO_BUDGET

LOWER, UPPER, LOWER_STATE, UPPER_STATE = range(4)
WIDE, NARROW = 32, 16
"""Features in a piece."""

_RANK = 2
_S16 = np.uint32(16)
_LOW16 = np.uint32(0xFFFF)


@kernel
def block_outputs(tests, codes, outputs):
    """Outputs of 64 clauses for one row: every included bound holds (SSL paper, eqs. 5 and 11-13).

    Parameters
    ----------
    tests : ndarray, shape (features * 2 * 64,)
        One block's. Callers slice: with an offset that may be negative for all the compiler knows, nothing vectorises.
    codes : ndarray, shape (features,)
        The row's ranks, or the type's largest value where missing.
    outputs : ndarray of uint8, shape (64,)
        Written: 1 where the clause holds. A clause with no included bound gives 1 (eq. 4, while learning).
    """
    one = tests.dtype.type(1)
    for j in range(LANES):
        outputs[j] = np.uint8(1)
    for k in range(len(codes)):
        rank = codes[k]
        rank_1 = tests.dtype.type(rank + one)
        at = k * 2 * LANES
        for j in range(LANES):
            holds = np.uint8(tests[at + j] <= rank_1) & np.uint8(rank <= tests[at + LANES + j])
            outputs[j] = np.uint8(outputs[j] & holds)


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
    """Bit 0: the lower bound's 1/s event. Bit 1: the upper bound's. Bit 2: which bound wins a tie."""
    low, high = np.uint32(draw & _LOW16) <= limit, np.uint32(draw >> _S16) <= limit
    return np.uint8(low) | np.uint8(np.uint8(high) << 1) | np.uint8(np.uint8(draw & np.uint32(1)) << 2)


@inlined
def piece_feedback(size, bounds, at, terms, terms_at, first, kind, word, limit, rule, scratch):
    """Feedback to `size` features of one clause, from feature `first` on; returns whether any test changed.

    `scratch` receives the new tests, lower ones first, and then their changes.

    Offsets are named before the loops and made plainly not negative. Written inside a loop they would be computed anew
    after every store, and where they may be negative for all the compiler knows, Numba asks so for every element:
    either way nothing vectorises (60 times slower; a test looks at the generated code).
    """
    c = bounds.dtype.type
    at, terms_at = max(at, 0), max(terms_at, 0)
    lower_at, upper_at, lower_state_at, upper_state_at = at, at + size, at + 2 * size, at + 3 * size
    last_at, gap_at, rank_at = terms_at, terms_at + size, terms_at + 2 * size
    draws_at = 3 * size
    n_states = rule[0]
    word = np.uint32(word + np.uint32(np.uint32(first) * streams.GOLDEN_32))
    for i in range(size):
        scratch[draws_at + i] = c(events(streams.mix32_at_u(word, i), limit))
    kind_c = c(kind)
    for i in range(size):
        draw, last, gap, rank = (
            scratch[draws_at + i],
            terms[last_at + i],
            terms[gap_at + i],
            terms[rank_at + i],
        )
        lower, upper = bounds[lower_at + i], bounds[upper_at + i]
        lower_state, upper_state = bounds[lower_state_at + i], bounds[upper_state_at + i]
        old_lower, old_upper = bound_tests(c, lower, upper, lower_state, upper_state, last, gap, n_states)
        lower, upper, lower_state, upper_state = move(
            c, kind_c, c(draw & c(1)), c(c(draw >> c(1)) & c(1)), c(draw >> c(2)),
            lower, upper, lower_state, upper_state, rank, feature_terms(c, last, rank, rule[3]), rule,
        )  # fmt: skip
        bounds[lower_at + i] = lower
        bounds[upper_at + i] = upper
        bounds[lower_state_at + i] = lower_state
        bounds[upper_state_at + i] = upper_state
        new_lower, new_upper = bound_tests(c, lower, upper, lower_state, upper_state, last, gap, n_states)
        scratch[i] = new_lower
        scratch[size + i] = new_upper
        scratch[2 * size + i] = c(c(old_lower ^ new_lower) | c(old_upper ^ new_upper))
    changed = c(0)
    for i in range(size):
        changed |= scratch[2 * size + i]
    return changed != 0


@kernel
def wide_feedback(bounds, at, terms, terms_at, first, kind, word, limit, rule, scratch):
    """`piece_feedback` for 32 features."""
    return piece_feedback(WIDE, bounds, at, terms, terms_at, first, kind, word, limit, rule, scratch)


@kernel
def narrow_feedback(bounds, at, terms, terms_at, first, kind, word, limit, rule, scratch):
    """`piece_feedback` for 16 features."""
    return piece_feedback(NARROW, bounds, at, terms, terms_at, first, kind, word, limit, rule, scratch)


@inlined
def clause_feedback(bounds, clause, tests, tests_at, terms, n_features, kind, word, limit, rule, scratch):
    """Feedback of one row to one clause (SSL paper, section 4, "Learning"), piece by piece.

    Parameters
    ----------
    bounds : ndarray, shape (clauses * 4 * padded features,)
    clause : int
    tests : ndarray, shape (blocks * features * 2 * 64,)
        Written from `tests_at` on, 128 apart, where something changed: most feedback only strengthens a decision.
    terms : ndarray, shape (3 * padded features,)
        Last rank, gap and rank of every feature, in the same pieces as the bounds.
    kind : uint8
    word : uint32
        Where the clause's draws start.
    limit : uint32
        The largest 16-bit draw that is the 1/s event.
    rule : tuple
        N, 2N, boost_true_positive, paper's bound rule; in the rank's type.
    """
    padded = len(terms) // 3
    first = 0
    while first < n_features:
        at = (clause * padded + first) * 4
        if padded - first >= WIDE:
            size = WIDE
            changed = wide_feedback(bounds, at, terms, 3 * first, first, kind, word, limit, rule, scratch)
        else:
            size = NARROW
            changed = narrow_feedback(bounds, at, terms, 3 * first, first, kind, word, limit, rule, scratch)
        if changed:
            for i in range(min(size, n_features - first)):
                to = tests_at + (first + i) * 2 * LANES
                tests[to] = scratch[i]
                tests[to + LANES] = scratch[size + i]
        first += size


@inlined
def count_literals(bounds, clause, padded, n_features, n_states):
    """Included bounds of one clause."""
    first, length = 0, 0
    while first < n_features:
        size = WIDE if padded - first >= WIDE else NARROW
        at = (clause * padded + first) * 4
        for i in range(min(size, n_features - first)):
            length += 1 if bounds[at + LOWER_STATE * size + i] > n_states else 0
            length += 1 if bounds[at + UPPER_STATE * size + i] > n_states else 0
        first += size
    return length


@kernel
def learn_row(
    bounds,
    tests,
    weights,
    lengths,
    n_clauses,
    n_features,
    terms,
    chance,
    y,
    key,
    settings,
    rule,
    scratch,
    counts,
):
    """Feedback of one row to one machine whose clauses have been evaluated; arguments as in `learn_rows`."""
    _, odd, limit, weight_rule, gamma, max_literals = settings
    outputs, kinds, chosen, piece_scratch = scratch
    limit = np.uint32(limit)
    for first in range(0, len(outputs), LANES):
        count = votes.select(
            outputs, lengths, max_literals, kinds, chosen, key, first, n_clauses, chance, y, odd
        )
        for i in range(count):
            j = chosen[i]
            kind, clause, tests_at = kinds[j], first + j, first * n_features * 2 + j
            word = votes.clause_word(key, clause)
            clause_feedback(
                bounds, clause, tests, tests_at, terms, n_features, kind, word, limit, rule, piece_scratch
            )
            if max_literals < NO_BUDGET:
                lengths[clause] = count_literals(bounds, clause, len(terms) // 3, n_features, rule[0])
            if weight_rule != votes.WEIGHTS_FIXED and kind != votes.FORGET:
                weights[clause] = votes.update_weight(weights[clause], kind, weight_rule, gamma)
            counts[kind >> 1, clause] += 1


@kernel
def learn_rows(
    bounds,
    tests,
    weights,
    lengths,
    n_clauses,
    codes,
    labels,
    scales,
    rows,
    first_step,
    keys,
    machines,
    terms,
    settings,
    rule,
    counts,
):
    """Learn a run of rows in the given order.

    Parameters
    ----------
    bounds : ndarray, shape (machines, clauses * 4 * padded features)
    tests : ndarray, shape (machines, blocks * features * 2 * 64)
    weights : ndarray of int64, shape (machines, blocks * 64)
    lengths : ndarray of int32, same shape
        Literals of each clause, kept up to date where there is a budget.
    codes : ndarray, shape (n_rows, features)
    labels : ndarray of int64, shape (n_rows,)
        0 or 1 with one machine; 0..K-1 with K machines: the row's own machine learns y = 1, one other y = 0. For
        regression (`odd` is 0) the wanted vote sum.
    scales : ndarray of int64
        Of each class, in 1/65536: what the chance of its rows to select a clause is multiplied by.
    rows : ndarray of int64
        Indices into codes, in the order to learn them.
    first_step : int
        The run's step number of the first of them.
    keys : tuple of uint64
        Keys of the streams CLAUSES and OTHER_CLASS.
    machines : tuple of int
        The first machine to teach and the one after the last; the others' turns are passed over.
    terms : ndarray, shape (3 * padded features,)
        As in `clause_feedback`; the ranks are written here.
    settings : tuple of int
        T in 1/65536 votes, `odd`, event limit, weight rule, gamma in 1/65536, largest number of literals.
    rule : tuple
        N, 2N, boost_true_positive, paper's bound rule; in the rank's type.
    counts : ndarray of int32, shape (machines, 3, blocks * 64)
    """
    n_features = codes.shape[1]
    outputs = np.zeros(weights.shape[1], np.uint8)
    scratch = (
        outputs,
        np.zeros(LANES, np.uint8),
        np.zeros(LANES, np.int64),
        np.zeros(4 * WIDE, bounds.dtype),
    )
    n_machines = bounds.shape[0]
    target, odd = settings[0], settings[1]
    for i in range(len(rows)):
        step, row = first_step + i, rows[i]
        label = labels[row]
        at_step = streams.key_at_u(keys[0], step)
        write_ranks(terms, codes[row])
        for turn in range(min(n_machines, 2)):
            machine, y = 0, label
            if n_machines > 1:
                machine = votes.other_class(keys[1], step, label, n_machines) if turn else label
                y = 1 - turn
                if machine < machines[0] or machine >= machines[1]:
                    continue
            row_outputs(tests[machine], codes[row], outputs)
            total = votes.vote_sum(outputs, weights[machine])
            if odd:
                chance = (votes.selection_limit(total, target, y) * scales[label]) >> 16
            else:
                chance = votes.regression_limit(total, target, label)
                y = 1 if min(max(total, 0), target) < label else 0
            if chance > 0:
                learn_row(
                    bounds[machine], tests[machine], weights[machine], lengths[machine], n_clauses, n_features, terms,
                    chance, y, streams.key_at_u(at_step, machine), settings, rule, scratch, counts[machine],
                )  # fmt: skip


@kernel
def write_ranks(terms, codes):
    """Put a row's ranks where the feedback reads them."""
    padded = len(terms) // 3
    first = 0
    while first < len(codes):
        size = WIDE if padded - first >= WIDE else NARROW
        to = 3 * first + _RANK * size
        for i in range(min(size, len(codes) - first)):
            terms[to + i] = codes[first + i]
        first += size


@kernel
def row_outputs(tests, codes, outputs):
    """Outputs of all clauses of one machine for one row, uint8 of shape (blocks * 64,); an empty clause gives 1."""
    size = len(codes) * 2 * LANES
    for block in range(len(outputs) // LANES):
        part = outputs[block * LANES : (block + 1) * LANES]
        block_outputs(tests[block * size : (block + 1) * size], codes, part)


@kernel
def all_votes(tests, weights, codes, sums):
    """Vote sums of every row, written to `sums` of shape (n_rows, machines); an empty clause counts with its weight."""
    outputs = np.zeros(weights.shape[1], np.uint8)
    for row in range(codes.shape[0]):
        for machine in range(tests.shape[0]):
            row_outputs(tests[machine], codes[row], outputs)
            sums[row, machine] = votes.vote_sum(outputs, weights[machine])


@kernel
def all_outputs(tests, codes, outputs):
    """Clause outputs of every row, uint8 of shape (n_rows, machines, blocks * 64); an empty clause gives 1."""
    for row in range(codes.shape[0]):
        for machine in range(tests.shape[0]):
            row_outputs(tests[machine], codes[row], outputs[row, machine])
