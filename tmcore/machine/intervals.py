"""The compiled interval machine: evaluate clauses, and learn (SSL paper, sections 3 and 4).

The plain-Python twin in `reference.py` states the same rules one equation at a time and makes the same draws; the
tests hold the two equal bit for bit. What is here for speed only: evaluation treats 64 clauses at a time, and feedback
(`interval_moves.py`) the features of up to 64 clauses, neither with a branch.

``tests`` is what evaluation reads, 64 clauses side by side for each feature: what a row's rank + 1 must reach (0 when
the lower bound is excluded), and what its rank may not pass (the type's largest value when the upper one is).

A missing value is the type's largest value; plus one it wraps to 0. So it fails every included test and passes every
excluded one without a comparison of its own.
"""

from __future__ import annotations

import numpy as np

from tmcore.machine import streams, votes
from tmcore.machine.interval_moves import PAIR, PIECE, TERMS, WORK_SIZE, count_literals, feedback
from tmcore.machine.jit import kernel
from tmcore.machine.state import LANES, NO_BUDGET


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


@kernel
def learn_row(
    bounds,
    bound_words,
    tests,
    weights,
    lengths,
    n_clauses,
    n_features,
    terms,
    limit,
    y,
    key,
    settings,
    rule,
    scratch,
    counts,
):
    """Feedback of one row to one machine whose clauses have been evaluated; arguments as in `learn_rows`."""
    _, odd, event_limit, weight_rule, gamma, max_literals = settings
    outputs, kinds, chosen, work_space = scratch
    count = votes.select(outputs, lengths, max_literals, kinds, chosen, key, n_clauses, limit, y, odd)
    feedback(
        bound_words,
        tests,
        terms,
        n_features,
        chosen,
        kinds,
        count,
        key,
        np.uint32(event_limit),
        rule,
        work_space,
    )
    for i in range(count):
        j = chosen[i]
        kind = kinds[j]
        if max_literals < NO_BUDGET:
            lengths[j] = count_literals(bounds, j, n_features, len(terms) // TERMS, rule[0])
        if weight_rule != votes.WEIGHTS_FIXED and kind != votes.FORGET:
            weights[j] = votes.update_weight(weights[j], kind, weight_rule, gamma)
        counts[kind >> 1, j] += 1


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
        As in `feedback`; the ranks are written here.
    settings : tuple of int
        T in 1/65536 votes, `odd`, event limit, weight rule, gamma in 1/65536, largest number of literals.
    rule : tuple
        N, 2N, boost_true_positive, paper's bound rule; in the rank's type.
    counts : ndarray of int32, shape (machines, 3, blocks * 64)
    """
    n_features = codes.shape[1]
    bound_words = bounds.view(np.uint64)
    work = np.zeros(WORK_SIZE, bounds.dtype)
    outputs = np.zeros(weights.shape[1], np.uint8)
    scratch = (
        outputs,
        np.zeros(len(outputs), np.uint8),
        np.zeros(len(outputs), np.int32),
        (work, work.view(np.uint64)),
    )
    n_machines = bounds.shape[0]
    target, odd = settings[0], settings[1]
    for i in range(len(rows)):
        step, row = first_step + i, rows[i]
        label = labels[row]
        at_step = streams.key_at_u(keys[0], step)
        write_ranks(terms, codes[row])
        for turn in range(min(n_machines, 2)):
            machine, y = votes.pupil(turn, keys[1], step, label, n_machines)
            if machine < machines[0] or machine >= machines[1]:
                continue
            row_outputs(tests[machine], codes[row], outputs)
            total = votes.vote_sum(outputs, weights[machine])
            limit, y = votes.feedback_limit(total, target, odd, label, y, scales)
            if limit > 0:
                learn_row(
                    bounds[machine], bound_words[machine], tests[machine], weights[machine], lengths[machine],
                    n_clauses, n_features, terms, limit, y, streams.key_at_u(at_step, machine), settings, rule,
                    scratch, counts[machine],
                )  # fmt: skip


@kernel
def write_ranks(terms, codes):
    """Put a row's ranks where the feedback reads them."""
    for piece in range(len(terms) // TERMS):
        to, first = piece * TERMS + 2 * PAIR, piece * PIECE
        for i in range(min(PIECE, len(codes) - first)):
            terms[to + i] = codes[first + i]
            terms[to + PIECE + i] = codes[first + i]


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
