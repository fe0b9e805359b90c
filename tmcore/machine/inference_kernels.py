"""The compiled half of `inference`: tests, clauses and sums of 512 rows at a time, on wide words."""

from __future__ import annotations

import numpy as np

from tmcore.machine.jit import inlined, kernel
from tmcore.machine.words import (
    ROWS,
    WORD,
    both,
    differ,
    either,
    in_range,
    is_none,
    load,
    none,
    row_word,
    store,
    swap_bits,
)

SLOT = WORD + 1
"""Table rows from one transposed block to the next: 64 would put all of them into the same lines of the cache."""

SHORT = 4
"""So many tests of a clause are made before looking whether any row is left."""

_ONE, _ALL = np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)


@inlined
def swap_quarters(table, first, distance, mask, half_mask):
    """Two steps of `transpose` at once, at `distance` and half of it, on four wide words each."""
    half = distance // 2
    for start in range(first, first + WORD, 2 * distance):
        for i in range(start, start + half):
            a, b = load(table, i), load(table, i + half)
            c, d = load(table, i + distance), load(table, i + distance + half)
            a, c = swap_bits(a, c, distance, mask)
            b, d = swap_bits(b, d, distance, mask)
            a, b = swap_bits(a, b, half, half_mask)
            c, d = swap_bits(c, d, half, half_mask)
            store(table, i, a)
            store(table, i + half, b)
            store(table, i + distance, c)
            store(table, i + distance + half, d)


@kernel
def transpose(table, first):
    """Swap rows and bits of 64 wide words from table[first] on: bit b of word i becomes bit i of word b."""
    swap_quarters(table, first, 32, np.uint64(0x00000000FFFFFFFF), np.uint64(0x0000FFFF0000FFFF))
    swap_quarters(table, first, 8, np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0F0F0F0F0F0F0F0F))
    swap_quarters(table, first, 2, np.uint64(0x3333333333333333), np.uint64(0x5555555555555555))


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
    for bit in range(min(WORD, n_rows) if len(chunks) else 0):
        for r in range(bit, n_rows, WORD):  # the rows that share cache lines of the table
            start = (first_row + r) * width
            for c in range(len(chunks)):
                table[chunks[c, 3] + bit, r // WORD] = row_word(
                    flat, start + chunks[c, 0], chunks[c, 1], chunks[c, 2]
                )
    for r in range(n_rows if len(features) else 0):
        start = (first_row + r) * width
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
    for i in range(min(WORD, n_rows)):
        for r in range(i, n_rows, WORD):
            for f in range(len(fields)):
                first = fields[f, 3] // WORD * WORD
                count = counters[first + i, r // WORD] >> np.uint64(fields[f, 3] % WORD)
                count &= _ALL >> np.uint64(WORD - fields[f, 4])
                sums[first_row + r, fields[f, 0]] += fields[f, 1] * (np.int64(count) << fields[f, 2])


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


@inlined
def set_bits(words, row, first, last):
    """Set the bits first..last - 1 of a row of words."""
    bit = first
    while bit < last:
        offset = bit % WORD
        count = min(last - bit, WORD - offset)
        words[row, bit // WORD] |= (_ALL >> np.uint64(WORD - count)) << np.uint64(offset)
        bit += count


@inlined
def set_chunk(words, row, first, chunk):
    """Put 64 bits at bit `first` of a row of words."""
    offset = np.uint64(first % WORD)
    words[row, first // WORD] |= chunk << offset
    if offset and first // WORD + 1 < words.shape[1]:
        words[row, first // WORD + 1] |= chunk >> (np.uint64(WORD) - offset)


@kernel
def pack_block(flat, n_ranks, n_bits, first_row, n_rows, words):
    """`pack_ranks` for some of the rows."""
    n_features, k, first, run = len(n_ranks), 0, 0, 0
    while k < n_features:
        end = k
        while end < n_features and end < k + WORD and n_ranks[end] == 2:
            end += 1
        run += end - k
        if end > k and run >= WORD:  # the 64 features up to `end`, without those already packed
            seen = np.uint64(WORD - (end - k))
            for row in range(first_row, first_row + n_rows):
                at = row * n_features + end - WORD
                set_chunk(words, row, first, in_range(flat, at, 0, 1) >> seen)
                set_chunk(words, row, n_bits + first, in_range(flat, at, 1, 1) >> seen)
            first += end - k
            k = end
            continue
        end = max(end, k + 1)
        for feature in range(k, end):
            last = first + n_ranks[feature] - 1
            for row in range(first_row, first_row + n_rows):
                rank = np.int64(flat[row * n_features + feature])
                if rank < n_ranks[feature]:
                    set_bits(words, row, first + rank, last)
                    set_bits(words, row, n_bits + first, n_bits + first + rank)
            first = last
        run = run if n_ranks[end - 1] == 2 else 0
        k = end


@kernel
def pack_ranks(flat, n_ranks, words):
    """Pack ranks into literal words: the bits "x <= c_t" of all features, then their negations.

    Neighbouring features of two ranks are packed 64 at a time, the others with one run of ones for each feature.

    Parameters
    ----------
    flat : ndarray of uint8 or uint16, shape (rows * features,)
        A rank beyond n_ranks - 1 is missing, and all its literals are 0.
    n_ranks : ndarray of int64, shape (features,)
    words : ndarray of uint64, shape (rows, words)
        Written; bits beyond the last literal become 1.
    """
    n_bits = 0
    for k in range(len(n_ranks)):
        n_bits += n_ranks[k] - 1
    for first_row in range(0, len(words), WORD):
        n_rows = min(WORD, len(words) - first_row)
        for row in range(first_row, first_row + n_rows):
            for w in range(words.shape[1]):
                words[row, w] = np.uint64(0)
            set_bits(words, row, 2 * n_bits, words.shape[1] * WORD)
        pack_block(flat, n_ranks, n_bits, first_row, n_rows, words)
