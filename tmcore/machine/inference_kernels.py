"""The compiled half of `inference`: tests, clauses and sums of 512 rows at a time, on wide words."""

from __future__ import annotations

import numpy as np

from tmcore.machine.jit import inlined, kernel
from tmcore.machine.words import ROWS, WORD, both, differ, either, in_range, is_none, load, none, row_word, store, swap_bits

SLOT = WORD + 1
"""Table rows from one transposed block to the next: 64 would put all of them into the same lines of the cache."""

SHORT = 4
"""So many tests of a clause are made before looking whether any row is left."""

_ONE, _ALL = np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def transpose(table, first):
    """Swap rows and bits of 64 wide words from table[first] on: bit b of word i becomes bit i of word b."""
    distance = WORD // 2
    mask = _ALL >> np.uint64(distance)
    while distance:
        for start in range(first, first + WORD, 2 * distance):
            for i in range(start, start + distance):
                low, high = swap_bits(load(table, i), load(table, i + distance), np.uint64(distance), mask)
                store(table, i, low)
                store(table, i + distance, high)
        distance >>= 1
        mask ^= mask << np.uint64(distance)


@kernel
def make_tests(flat, shape, first_row, n_rows, plan, columns, table):
    """One wide word for every distinct test of a block of rows.

    Parameters
    ----------
    flat : ndarray of uint8 or uint16 (ranks) or uint64 (literals), shape (rows * columns,)
    shape : tuple
        Rows and columns.
    first_row, n_rows : int
        The block, of up to 512 rows.
    plan : tuple
        `chunks`, `features` and `singles` of `inference.Layout`.
    columns : ndarray, shape (len(features) * 512,)
        Scratch of the ranks' type.
    table : ndarray of uint64, shape (tests, 8)
        Written.
    """
    chunks, features, singles = plan
    width = shape[1]
    for r in range(n_rows):
        start = (first_row + r) * width
        word, bit = r // WORD, r % WORD
        for c in range(len(chunks)):
            table[chunks[c, 3] + bit, word] = row_word(flat, start + chunks[c, 0], chunks[c, 1], chunks[c, 2])
        for k in range(len(features)):
            columns[k * ROWS + r] = flat[start + features[k]]
    for c in range(len(chunks)):
        transpose(table, chunks[c, 3])
    for t in range(len(singles)):
        start = singles[t, 0] * ROWS
        for word in range(ROWS // WORD):
            table[singles[t, 3], word] = in_range(columns, start + word * WORD, singles[t, 1], singles[t, 2])


@kernel
def clause_words(table, starts, tests, clauses):
    """AND the tests of every clause; stops where no row of the block is left."""
    for c in range(len(starts) - 1):
        start, end = starts[c], starts[c + 1]
        holds = load(table, tests[start])
        for i in range(start + 1, end):
            holds = both(holds, load(table, tests[i]))
            if i - start >= SHORT and is_none(holds):
                break
        store(clauses, c, holds)


@inlined
def full_adder(x, y, total):
    """Sum and carry of three bits, for every row."""
    once = differ(x, y)
    return differ(once, total), either(both(x, y), both(once, total))


@kernel
def add_up(clauses, fields, lists, adders, carries, counters):
    """Add the weights of all clauses that hold, for all rows at once, by binary counters.

    The lowest bit of a counter is the sum of the clauses whose weight has that bit, three bits giving one of the same
    and a carry to the next place; so every bit of a weight costs about one full adder, and counting its carries one
    more.

    Parameters
    ----------
    clauses : ndarray of uint64, shape (clauses, 8)
    fields, lists, adders
        As in `inference.CompiledVotes`.
    carries : ndarray of uint64, shape (2 * n, 8)
        Scratch: the carries of this place and of the next.
    counters : ndarray of uint64, shape (bits, 8)
        Written.
    """
    half = len(carries) // 2
    for f in range(len(fields)):
        n_carried, here, following = 0, 0, half
        for bit in range(fields[f, 4]):
            i, end = lists[fields[f, 5] + bit], lists[fields[f, 5] + bit + 1]
            total, n_out = none(), 0
            while i + 1 < end:
                total, carry = full_adder(load(clauses, adders[i]), load(clauses, adders[i + 1]), total)
                store(carries, following + n_out, carry)
                n_out += 1
                i += 2
            if i < end:
                word = load(clauses, adders[i])
                store(carries, following + n_out, both(total, word))
                total = differ(total, word)
                n_out += 1
            i = 0
            while i + 1 < n_carried:
                total, carry = full_adder(load(carries, here + i), load(carries, here + i + 1), total)
                store(carries, following + n_out, carry)
                n_out += 1
                i += 2
            if i < n_carried:
                word = load(carries, here + i)
                store(carries, following + n_out, both(total, word))
                total = differ(total, word)
                n_out += 1
            store(counters, fields[f, 3] + bit, total)
            n_carried, here, following = n_out, following, here


@kernel
def add_sums(counters, fields, first_row, n_rows, sums):
    """Turn the counters' bits into numbers and add them to the rows' sums."""
    for first in range(0, len(counters), WORD):
        transpose(counters, first)
    for f in range(len(fields)):
        output, sign, shift, at = fields[f, 0], fields[f, 1], fields[f, 2], fields[f, 3]
        mask = _ALL >> np.uint64(WORD - fields[f, 4])
        first, offset = at // WORD * WORD, np.uint64(at % WORD)
        for r in range(n_rows):
            count = (counters[first + r % WORD, r // WORD] >> offset) & mask
            sums[first_row + r, output] += sign * (np.int64(count) << shift)


@kernel
def all_sums(flat, shape, plan, clauses, scratch, counting, counters, sums):
    """Add the votes of every row to `sums`, int64 of shape (rows, outputs); the rest as in the steps above."""
    starts, tests = clauses
    columns, table, words = scratch
    fields, lists, adders = counting
    bits, carries = counters
    for first_row in range(0, shape[0], ROWS):
        n_rows = min(ROWS, shape[0] - first_row)
        make_tests(flat, shape, first_row, n_rows, plan, columns, table)
        clause_words(table, starts, tests, words)
        add_up(words, fields, lists, adders, carries, bits)
        add_sums(bits, fields, first_row, n_rows, sums)


@kernel
def all_packed(flat, shape, plan, clauses, scratch, packed):
    """Write the outputs of every row, one bit a clause: uint64 of shape (rows, ceil(clauses / 64))."""
    starts, tests = clauses
    columns, table, words = scratch
    for first_row in range(0, shape[0], ROWS):
        n_rows = min(ROWS, shape[0] - first_row)
        make_tests(flat, shape, first_row, n_rows, plan, columns, table)
        clause_words(table, starts, tests, words)
        for w in range(packed.shape[1]):
            transpose(words, w * WORD)
            for r in range(n_rows):
                packed[first_row + r, w] = words[w * WORD + r % WORD, r // WORD]
