"""The compiled literal machine: 64 literals a word, states as bit planes (SSL paper, section 3).

A clause's automata are counters whose bits lie in separate words, so one instruction counts 64 of them up or down and
the topmost bit is the include decision. Trained clauses include few literals, so evaluation reads a second form of the
decisions, the ``tests``: of every clause only the words that include anything, its first words of all clauses side by
side, then all second ones. A row is tested against the first word of every clause, then against the second of those
clauses that are not violated yet, and so on; most are after one or two.

Draws: for its word w of literals, a clause's word starts a sequence (`streams.next64`) at the 64 bits of ``mix32_at``
2w and 2w + 1; its steps are combined, from the lowest to the highest bit of the event's probability, into 64 draws of
exactly that probability (n / 65536). The fewer bits of n are 0 at its end the more steps, so 1/s is rounded to within
1/512 of itself. No mask is ever used twice: ready-made masks collapse accuracy to chance on wide sparse data.
"""

from __future__ import annotations

import numpy as np

from tmcore.machine import streams, votes
from tmcore.machine.bits import count_ones
from tmcore.machine.jit import inlined, kernel

_ZERO, _ONE, _ALL = np.uint64(0), np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def row_outputs(tests, row, outputs, alive):
    """Outputs of all clauses of one machine for one row: no included literal is 0 (SSL paper, eqs. 3 and 5).

    Parameters
    ----------
    tests : tuple
        As made by `write_tests`: words in use of each clause, shape (blocks * 64,); where they lie in a row and their
        include decisions, shape (words + 1, blocks * 64).
    row : ndarray of uint64, shape (words,)
        The row's literals.
    outputs : ndarray of uint8, shape (blocks * 64,)
        Written; an empty clause gives 1 (eq. 4, while learning).
    alive : ndarray of int32, shape (blocks * 64,)
        Scratch: the clauses that are not violated yet.
    """
    n_tests, places, masks = tests
    left = len(outputs)
    for j in range(left):
        alive[j] = j
    depth = 0
    while left > 0:
        count = 0
        for i in range(left):  # without a branch: which clause is violated cannot be foreseen
            j = alive[i]
            passed_all = n_tests[j] <= depth
            holds = masks[depth, j] & ~row[places[depth, j]] == _ZERO
            outputs[j] = np.uint8(passed_all)
            alive[count] = j
            count += 1 if holds & (not passed_all) else 0
        left = count
        depth += 1


@kernel
def write_tests(tests, clause, included):
    """Write the tests of one clause from its include decisions, uint64 of shape (words,); returns its literals."""
    n_tests, places, masks = tests
    count, length = 0, 0
    for w in range(len(included)):
        word = included[w]
        if word != _ZERO:
            places[count, clause] = w
            masks[count, clause] = word
            count += 1
            length += count_ones(word)
    n_tests[clause] = count
    return length


@kernel
def write_all_tests(tests, planes, lengths):
    """`write_tests` for all clauses of all machines; `lengths` gets their literals."""
    n_tests, places, masks = tests
    for machine in range(planes.shape[0]):
        of_machine = n_tests[machine], places[machine], masks[machine]
        for j in range(planes.shape[1]):
            lengths[machine, j] = write_tests(of_machine, j, planes[machine, j, -1])


@kernel
def draw_events(word, probability, lanes, events):
    """Bits that are 1 with `probability` / 65536 each, written to `events`, uint64 of shape (words,)."""
    n_words = len(events)
    if probability >= 65536:
        for w in range(n_words):
            events[w] = _ALL
        return
    halves = lanes.view(np.uint32)
    for i in range(2 * n_words):
        halves[i] = streams.mix32_at_u(word, i)
    for w in range(n_words):
        events[w] = _ZERO
    bit = 0
    while not (probability >> bit) & 1:
        bit += 1
    while bit < 16:  # OR where the probability's bit is 1, AND where it is 0
        if (probability >> bit) & 1:
            for w in range(n_words):
                lanes[w] = streams.next64_u(lanes[w])
                events[w] |= lanes[w]
        else:
            for w in range(n_words):
                lanes[w] = streams.next64_u(lanes[w])
                events[w] &= lanes[w]
        bit += 1


@inlined
def split_moves(kind, row, valid, events, include, boost, up, down):
    """Which automata step towards include and which towards exclude."""
    for w in range(len(row)):
        literal, event = row[w], events[w]
        if kind == votes.RECOGNISE:  # Ia: true literals with (s-1)/s, false ones back with 1/s (eqs. 8, 9)
            up[w] = literal & (~event | boost) & valid[w]
            down[w] = ~literal & event
        elif kind == votes.FORGET:  # Ib: every literal back with 1/s (eq. 9)
            up[w] = _ZERO
            down[w] = event
        else:  # II: false literals, all of them excluded since the clause is true
            up[w] = ~literal & ~include[w]
            down[w] = _ZERO


@kernel
def clause_feedback(planes, row, valid, kind, word, limits, scratch):
    """Feedback of one row to one clause; returns whether any automaton changed its action.

    Parameters
    ----------
    planes : ndarray of uint64, shape (bits, words)
        The clause's counters; the last plane is the include decision.
    row, valid : ndarray of uint64, shape (words,)
        The row's literals, and which bits are literals at all.
    kind : uint8
    word : uint32
        Where the clause's draws start.
    limits : tuple
        Event probability in 1/65536, boost as a mask, lowest counter.
    scratch : tuple of ndarray of uint64, shape (words,)
    """
    probability, boost, lowest = limits
    lanes, events, up, down = scratch
    bits, n_words = planes.shape
    if kind != votes.REJECT:
        draw_events(word, probability, lanes, events)
    split_moves(kind, row, valid, events, planes[bits - 1], boost, up, down)
    # Saturation: a counter moves only where one of its bits differs from the end it moves to. The two ends are each
    # other's complement, so where the lowest counter has a 0 that end's bit is 1 going up and 0 going down.
    differs = lanes
    for w in range(n_words):
        differs[w] = _ZERO
    for bit in range(bits):
        flip = _ZERO if (lowest >> bit) & 1 else _ALL
        for w in range(n_words):
            differs[w] |= planes[bit, w] ^ down[w] ^ flip
    for w in range(n_words):
        down[w] &= differs[w]
        up[w] = (up[w] & differs[w]) | down[w]
    # One pass counts up and down: a carry runs on through ones, a borrow through zeros.
    flipped = _ZERO
    for bit in range(bits):
        if bit == bits - 1:
            for w in range(n_words):
                flipped |= up[w]
        for w in range(n_words):
            plane = planes[bit, w]
            planes[bit, w] = plane ^ up[w]
            up[w] &= plane ^ down[w]
    return flipped != _ZERO


@kernel
def learn_row(
    planes,
    tests,
    weights,
    lengths,
    n_clauses,
    row,
    valid,
    limit,
    y,
    key,
    settings,
    limits,
    scratch,
    counts,
):
    """Feedback of one row to one machine whose clauses have been evaluated; arguments as in `learn_rows`."""
    _, odd, weight_rule, gamma, max_literals = settings
    outputs, kinds, chosen, clause_scratch = scratch
    count = votes.select(outputs, lengths, max_literals, kinds, chosen, key, n_clauses, limit, y, odd)
    for i in range(count):
        j = chosen[i]
        kind, word = kinds[j], votes.clause_word(key, j)
        if clause_feedback(planes[j], row, valid, kind, word, limits, clause_scratch):
            lengths[j] = write_tests(tests, j, planes[j, -1])
        if weight_rule != votes.WEIGHTS_FIXED and kind != votes.FORGET:
            weights[j] = votes.update_weight(weights[j], kind, weight_rule, gamma)
        counts[kind >> 1, j] += 1


@kernel
def learn_rows(
    planes,
    tests,
    weights,
    lengths,
    n_clauses,
    literals,
    valid,
    labels,
    scales,
    rows,
    first_step,
    keys,
    machines,
    settings,
    limits,
    counts,
):
    """Learn a run of rows in the given order.

    Parameters
    ----------
    planes : ndarray of uint64, shape (machines, clauses, bits, words)
    tests : tuple
        As in `row_outputs`, with an axis of machines before.
    weights : ndarray of int64, shape (machines, blocks * 64)
    literals : ndarray of uint64, shape (n_rows, words)
    valid : ndarray of uint64, shape (words,)
    lengths, labels, scales, rows, first_step, keys, machines, counts
        As in the interval machine's `learn_rows`.
    settings : tuple of int
        T in 1/65536 votes, `odd`, weight rule, gamma in 1/65536, largest number of literals.
    limits : tuple
        As in `clause_feedback`.
    """
    n_machines, n_words = planes.shape[0], len(valid)
    outputs, alive = np.zeros(weights.shape[1], np.uint8), np.zeros(weights.shape[1], np.int32)
    clause_scratch = (
        np.zeros(n_words, np.uint64),
        np.zeros(n_words, np.uint64),
        np.zeros(n_words, np.uint64),
        np.zeros(n_words, np.uint64),
    )
    scratch = outputs, np.zeros(len(outputs), np.uint8), np.zeros(len(outputs), np.int32), clause_scratch
    target, odd = settings[0], settings[1]
    for i in range(len(rows)):
        step, row = first_step + i, rows[i]
        label = labels[row]
        at_step = streams.key_at_u(keys[0], step)
        for turn in range(min(n_machines, 2)):
            machine, y = votes.pupil(turn, keys[1], step, label, n_machines)
            if machine < machines[0] or machine >= machines[1]:
                continue
            of_machine = tests[0][machine], tests[1][machine], tests[2][machine]
            row_outputs(of_machine, literals[row], outputs, alive)
            total = votes.vote_sum(outputs, weights[machine])
            limit, y = votes.feedback_limit(total, target, odd, label, y, scales)
            if limit > 0:
                learn_row(
                    planes[machine], of_machine, weights[machine], lengths[machine], n_clauses, literals[row],
                    valid, limit, y, streams.key_at_u(at_step, machine), settings, limits, scratch, counts[machine],
                )  # fmt: skip


@kernel
def all_votes(tests, weights, literals, sums):
    """Vote sums of every row, written to `sums` of shape (n_rows, machines); an empty clause counts with its weight."""
    outputs, alive = np.zeros(weights.shape[1], np.uint8), np.zeros(weights.shape[1], np.int32)
    for row in range(literals.shape[0]):
        for machine in range(weights.shape[0]):
            of_machine = tests[0][machine], tests[1][machine], tests[2][machine]
            row_outputs(of_machine, literals[row], outputs, alive)
            sums[row, machine] = votes.vote_sum(outputs, weights[machine])


@kernel
def all_outputs(tests, literals, outputs):
    """Clause outputs of every row, uint8 of shape (n_rows, machines, blocks * 64); an empty clause gives 1."""
    alive = np.zeros(outputs.shape[2], np.int32)
    for row in range(literals.shape[0]):
        for machine in range(outputs.shape[1]):
            of_machine = tests[0][machine], tests[1][machine], tests[2][machine]
            row_outputs(of_machine, literals[row], outputs[row, machine], alive)


@kernel
def pack_sparse(indptr, indices, n_bits, words):
    """Pack the rows of a 0/1 CSR matrix of `n_bits` columns: first "x is 0" of all columns, then "x is 1".

    Parameters
    ----------
    indptr, indices : ndarray of int
        As in scipy; every stored value is 1.
    words : ndarray of uint64, shape (n_rows, words)
        Written, with ones beyond the last literal.
    """
    n_words = words.shape[1]
    for row in range(len(indptr) - 1):
        for w in range(n_words):
            words[row, w] = _ZERO
        whole = n_bits >> 6
        for w in range(whole):
            words[row, w] = _ALL
        for bit in range(whole << 6, n_bits):
            words[row, bit >> 6] |= _ONE << np.uint64(bit & 63)
        for bit in range(2 * n_bits, n_words * 64):
            words[row, bit >> 6] |= _ONE << np.uint64(bit & 63)
        for at in range(indptr[row], indptr[row + 1]):
            bit = indices[at]
            words[row, bit >> 6] &= ~(_ONE << np.uint64(bit & 63))
            bit += n_bits
            words[row, bit >> 6] |= _ONE << np.uint64(bit & 63)


@kernel
def pack_thresholds(codes, n_ranks, words):
    """Pack ranks into literal words: bits "x <= c_t" of all features (Table 2), then their negations.

    Parameters
    ----------
    codes : ndarray of uint8 or uint16, shape (n_rows, features)
        Ranks; a rank beyond n_ranks - 1 is missing, and all its literals are 0.
    n_ranks : ndarray of int64, shape (features,)
    words : ndarray of uint64, shape (n_rows, words)
        Written; bits beyond the last literal become 1, so that an automaton there never sees a false literal.
    """
    n_bits = 0
    for k in range(len(n_ranks)):
        n_bits += n_ranks[k] - 1
    for row in range(codes.shape[0]):
        for w in range(words.shape[1]):
            words[row, w] = _ZERO
        at = 0
        for k in range(len(n_ranks)):
            rank = np.int64(codes[row, k])
            for t in range(n_ranks[k] - 1):
                if rank < n_ranks[k]:
                    bit = at if rank <= t else n_bits + at
                    words[row, bit >> 6] |= _ONE << np.uint64(bit & 63)
                at += 1
        for bit in range(2 * n_bits, words.shape[1] * 64):
            words[row, bit >> 6] |= _ONE << np.uint64(bit & 63)
