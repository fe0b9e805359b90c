"""The compiled interval machine: evaluate clauses, give feedback, move bounds (SSL paper, sections 3 and 4).

The plain-Python twin in `reference.py` states the same rules one equation at a time and makes the same draws; the
tests hold the two equal bit for bit. What is here for speed only: clauses are treated 64 at a time without branches,
a block with few selected clauses is treated clause by clause, and all arithmetic stays in the rank's own type.

Layout
------
``planes`` has shape (machines, blocks, features, 6, 64): clauses come in blocks of 64, and for one feature of one
block the six numbers of every clause lie side by side. That is what lets one instruction treat 32 or 64 clauses: the
distance between two planes is a constant, so the compiler can prove that they do not overlap.

======  =====================  ==========================================================================
plane   name                   meaning
======  =====================  ==========================================================================
0       LOWER                  lower bound: 0 is open, t + 1 is "x > cut t"; holds where rank >= LOWER
1       UPPER                  upper bound: n_ranks - 1 is open, t is "x <= cut t"; holds where rank <= UPPER
2, 3    LOWER_STATE, UPPER_..  the automata, 1..2N, include above N
4       LOWER_TEST             what a row's rank + 1 must reach: 0 when the bound is excluded
5       UPPER_TEST             what a row's rank may not pass: the type's largest value when excluded
======  =====================  ==========================================================================

A missing value is the type's largest value; plus one it wraps to 0. So it fails every included test and passes every
excluded one without a comparison of its own.
"""

from __future__ import annotations

import numpy as np

from tmcore.machine import streams, votes
from tmcore.machine.jit import inlined, kernel
from tmcore.machine.state import LANES, NO_BUDGET

LOWER, UPPER, LOWER_STATE, UPPER_STATE, LOWER_TEST, UPPER_TEST = range(6)

FEW = 4
"""Up to this many selected clauses of a block are treated one by one. Both ways give the same result."""

FEATURE = 6 * LANES
_U13, _U17, _U5, _U16 = np.uint32(13), np.uint32(17), np.uint32(5), np.uint32(16)
_LOW16, _ONE32 = np.uint32(0xFFFF), np.uint32(1)


@kernel
def block_outputs(features, codes, outputs):
    """Outputs of 64 clauses for one row: every included bound holds (SSL paper, eqs. 5 and 11-13).

    Parameters
    ----------
    features : ndarray, shape (features * 6 * 64,)
        The planes of one block, flat: distances between planes must be constants, or the loop does not vectorise.
    codes : ndarray, shape (features,)
        The row's ranks, or the type's largest value where missing.
    outputs : ndarray of uint8, shape (64,)
        Written: 1 where the clause holds. A clause with no included bound gives 1 (eq. 4, while learning).
    """
    one = features.dtype.type(1)
    for j in range(LANES):
        outputs[j] = np.uint8(1)
    for k in range(len(codes)):
        rank = codes[k]
        rank_1 = features.dtype.type(rank + one)
        at = k * FEATURE
        for j in range(LANES):
            holds = np.uint8(features[at + LOWER_TEST * LANES + j] <= rank_1) & np.uint8(
                rank <= features[at + UPPER_TEST * LANES + j]
            )
            outputs[j] = np.uint8(outputs[j] & holds)


@inlined
def move(c, kind, lower_event, upper_event, tie, lower, upper, lower_state, upper_state, rank, feature, rule):
    """One clause, one feature, one row: new bounds, automata and tests, without a branch.

    `c` is the rank's type: every intermediate result is cast back to it, since Numba would widen it to 64 bits and
    the loop around would no longer vectorise. `kind` is 1 for Type I with output 1, 2 for Type I with output 0, 4 for
    Type II with output 1, 0 for none; `feature` is as made by `feature_terms`; `rule` is
    (N, 2N, boost, paper's bound rule) in the rank's type.
    """
    last, rank_1, gap, known, lower_can, upper_can, lower_limit, upper_limit = feature
    n_states, top, boost, paper = rule
    zero, one, missing = c(0), c(1), c(-1)
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
    lower_test = c(lower + one) if lower > zero else gap
    upper_test = upper if upper < last else c(missing - gap)
    lower_test = lower_test if lower_state > n_states else zero
    upper_test = upper_test if upper_state > n_states else missing
    return lower, upper, lower_state, upper_state, lower_test, upper_test


@inlined
def feature_terms(features, k, code, n_ranks, has_gaps, rule):
    """What `move` needs to know about one feature of one row."""
    dtype = features.dtype.type
    zero, one = dtype(0), dtype(1)
    last = dtype(n_ranks[k] - one)
    known = one if code <= last else zero
    lower_can = one if code < last else zero
    upper_can = one if code > zero else zero
    lower_limit = last if rule[3] else code
    upper_limit = zero if rule[3] else code
    return last, dtype(code + one), dtype(has_gaps[k]), known, lower_can, upper_can, lower_limit, upper_limit


@inlined
def next_draw(word):
    """One step of a clause's xorshift32 sequence."""
    word = np.uint32(word ^ np.uint32(word << _U13))
    word = np.uint32(word ^ np.uint32(word >> _U17))
    return np.uint32(word ^ np.uint32(word << _U5))


@inlined
def events(word, limit):
    """Bit 0: the lower bound's 1/s event. Bit 1: the upper bound's. Bit 2: which bound wins a tie."""
    low, high = np.uint32(word & _LOW16) <= limit, np.uint32(word >> _U16) <= limit
    return np.uint8(low) | np.uint8(np.uint8(high) << 1) | np.uint8(np.uint8(word & np.uint32(1)) << 2)


@inlined
def feedback_at(features, at, j, kind, draw, rank, feature, rule):
    """Apply `move` to clause j of a block and store the result; `at` is where the feature's planes begin."""
    c = features.dtype.type
    moved = move(
        c, c(kind), c(c(draw) & c(1)), c(c(c(draw) >> c(1)) & c(1)), c(c(draw) >> c(2)),
        features[at + LOWER * LANES + j], features[at + UPPER * LANES + j],
        features[at + LOWER_STATE * LANES + j], features[at + UPPER_STATE * LANES + j],
        rank, feature, rule,
    )  # fmt: skip
    features[at + LOWER * LANES + j] = moved[0]
    features[at + UPPER * LANES + j] = moved[1]
    features[at + LOWER_STATE * LANES + j] = moved[2]
    features[at + UPPER_STATE * LANES + j] = moved[3]
    features[at + LOWER_TEST * LANES + j] = moved[4]
    features[at + UPPER_TEST * LANES + j] = moved[5]


@kernel
def block_feedback(features, codes, kinds, words, n_ranks, has_gaps, limit, rule, draws):
    """Feedback of one row to all clauses of a block at once; `words` holds each clause's xorshift32 state."""
    for k in range(len(codes)):
        for j in range(LANES):
            word = next_draw(words[j])
            words[j] = word
            draws[j] = events(word, limit)
        # Both named before the loop: written inside it, they would be computed anew after every store, and the loop
        # would not vectorise (60 times slower; a test looks at the generated code).
        at, rank = k * FEATURE, codes[k]
        feature = feature_terms(features, k, rank, n_ranks, has_gaps, rule)
        for j in range(LANES):
            feedback_at(features, at, j, kinds[j], draws[j], rank, feature, rule)


@kernel
def clause_feedback(features, codes, j, kind, word, n_ranks, has_gaps, limit, rule):
    """Feedback of one row to clause j of a block: the same draws and moves as `block_feedback`."""
    for k in range(len(codes)):
        word = next_draw(word)
        feature = feature_terms(features, k, codes[k], n_ranks, has_gaps, rule)
        feedback_at(features, k * FEATURE, j, kind, events(word, limit), codes[k], feature, rule)


@kernel
def block_lengths(features, n_features, n_states, lengths):
    """Count the included bounds of a block's clauses into `lengths`, shape (64,)."""
    for j in range(LANES):
        lengths[j] = 0
    for k in range(n_features):
        at = k * FEATURE
        for j in range(LANES):
            lengths[j] += np.int32(features[at + LOWER_STATE * LANES + j] > n_states) + np.int32(
                features[at + UPPER_STATE * LANES + j] > n_states
            )


@kernel
def learn_row(
    planes,
    weights,
    lengths,
    n_clauses,
    codes,
    chance,
    y,
    key,
    n_ranks,
    has_gaps,
    settings,
    rule,
    scratch,
    counts,
):
    """Feedback of one row to one machine whose clauses have been evaluated (SSL paper, section 4, "Learning").

    Parameters
    ----------
    planes : ndarray, shape (blocks, features * 6 * 64)
    weights : ndarray of int64, shape (blocks * 64,)
    codes : ndarray, shape (features,)
    chance : int
        The smallest 32-bit draw that does not select a clause.
    y : int
        1 or 0.
    key : uint64
        Key of (seed, CLAUSES, step, machine).
    settings, rule, scratch : tuple
        As in `learn_rows`.
    counts : ndarray of int32, shape (3, blocks * 64)
        Increased: samples that gave each clause Type Ia, Ib (output 0) and II.
    """
    _, odd, limit, weight_rule, gamma, max_literals = settings
    outputs, kinds, words, lanes, draws = scratch
    for block in range(planes.shape[0]):
        first = block * LANES
        count = votes.select(
            outputs[first : first + LANES], lengths[first : first + LANES], max_literals, kinds, words, key, first,
            n_clauses, chance, y, odd,
        )  # fmt: skip
        if count == 0:
            continue
        for j in range(LANES):
            lanes[j] = max(np.uint32(words[j]), _ONE32)
        if count > FEW:
            block_feedback(
                planes[block], codes, kinds, lanes, n_ranks, has_gaps, np.uint32(limit), rule, draws
            )
        for j in range(LANES):
            kind = kinds[j]
            if kind == 0:
                continue
            if count <= FEW:
                clause_feedback(
                    planes[block], codes, j, kind, lanes[j], n_ranks, has_gaps, np.uint32(limit), rule
                )
            if weight_rule != votes.WEIGHTS_FIXED and kind != votes.FORGET:
                weights[first + j] = votes.update_weight(weights[first + j], kind, weight_rule, gamma)
            counts[kind >> 1, first + j] += 1
        if max_literals < NO_BUDGET:
            block_lengths(planes[block], len(codes), rule[0], lengths[first : first + LANES])


@kernel
def learn_rows(
    planes,
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
    n_ranks,
    has_gaps,
    settings,
    rule,
    counts,
):
    """Learn a run of rows in the given order.

    Parameters
    ----------
    planes : ndarray, shape (machines, blocks, features * 6 * 64)
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
    settings : tuple of int
        T in 1/65536 votes, `odd`, event limit, weight rule, gamma in 1/65536, largest number of literals.
    rule : tuple
        N, 2N, boost_true_positive, paper's bound rule; in the rank's type.
    counts : ndarray of int32, shape (machines, 3, blocks * 64)
    """
    size = planes.shape[1] * LANES
    outputs = np.zeros(size, np.uint8)
    scratch = (
        outputs,
        np.zeros(LANES, np.uint8),
        np.zeros(LANES, np.uint64),
        np.zeros(LANES, np.uint32),
        np.zeros(LANES, np.uint8),
    )
    n_machines = planes.shape[0]
    target, odd = settings[0], settings[1]
    for i in range(len(rows)):
        step, row = first_step + i, rows[i]
        label = labels[row]
        at_step = streams.key_at_u(keys[0], step)
        for turn in range(min(n_machines, 2)):
            machine, y = 0, label
            if n_machines > 1:
                machine = votes.other_class(keys[1], step, label, n_machines) if turn else label
                y = 1 - turn
                if machine < machines[0] or machine >= machines[1]:
                    continue
            row_outputs(planes[machine], codes[row], outputs)
            total = votes.vote_sum(outputs, weights[machine], odd)
            if odd:
                chance = (votes.selection_limit(total, target, y) * scales[label]) >> 16
            else:
                chance = votes.regression_limit(total, target, label)
                y = 1 if min(max(total, 0), target) < label else 0
            if chance > 0:
                learn_row(
                    planes[machine], weights[machine], lengths[machine], n_clauses, codes[row], chance, y,
                    streams.key_at_u(at_step, machine), n_ranks, has_gaps, settings, rule, scratch, counts[machine],
                )  # fmt: skip


@kernel
def row_outputs(planes, codes, outputs):
    """Outputs of all clauses of one machine for one row, uint8 of shape (blocks * 64,); an empty clause gives 1."""
    for block in range(planes.shape[0]):
        block_outputs(planes[block], codes, outputs[block * LANES : (block + 1) * LANES])


@kernel
def all_votes(planes, weights, codes, odd, sums):
    """Vote sums of every row, written to `sums` of shape (n_rows, machines); an empty clause counts with its weight."""
    outputs = np.zeros(planes.shape[1] * LANES, np.uint8)
    for row in range(codes.shape[0]):
        for machine in range(planes.shape[0]):
            row_outputs(planes[machine], codes[row], outputs)
            sums[row, machine] = votes.vote_sum(outputs, weights[machine], odd)


@kernel
def all_outputs(planes, codes, outputs):
    """Clause outputs of every row, uint8 of shape (n_rows, machines, blocks * 64); an empty clause gives 1."""
    for row in range(codes.shape[0]):
        for machine in range(planes.shape[0]):
            row_outputs(planes[machine], codes[row], outputs[row, machine])
