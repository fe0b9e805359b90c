"""Counting the ones of a word, compiled."""

from __future__ import annotations

import numpy as np

from tmcore.machine.jit import inlined

_PAIRS, _FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_BYTES, _SUM = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
_ONE, _TWO, _FOUR, _S56 = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)


@inlined
def count_ones(word):
    """Bits that are 1 in a 64-bit word."""
    word = word - ((word >> _ONE) & _PAIRS)
    word = (word & _FOURS) + ((word >> _TWO) & _FOURS)
    word = (word + (word >> _FOUR)) & _BYTES
    return np.int64((word * _SUM) >> _S56)
