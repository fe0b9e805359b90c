"""Random draws that are pure functions of (seed, stream, step, machine, clause, feature).

Nothing is consumed from a shared generator, so the result depends neither on vector width nor on threads, any past
step can be run again with its actual draws, and the plain-Python twin makes the same ones.

How a draw is made
------------------
``key(seed, stream)``          one 64-bit number for each named stream.
``key_at(key, index)``         mixes in a position: the step, then the machine, then the clause.
The number of (step, machine) in the stream CLAUSES serves twice. Its upper half, through a 32-bit finaliser with the
clause's number, is the clause's selection draw, compared with the probability of the SSL paper's equations (7) and
(10). Its lower half makes in the same way the clause's word, from which all draws inside the clause come. Mixed once
more with the feature's number the word gives 32 bits for each feature: the low 16 are the draw of the lower bound, the
high 16 that of the upper, and the lowest bit breaks ties. The literal machine starts one sequence
(`next64`) for each 64 literals from two such draws instead.

Mixing is the full finaliser of splitmix64 for 64 bits, and one of the same kind for 32. A weaker (linear) hash into
xorshift32 showed correlations between neighbouring clauses of z = 22; with the finaliser none shows.
"""

from __future__ import annotations

import numpy as np

from tmcore.machine.jit import inlined

STATES, ROW_ORDER, OTHER_CLASS, CLAUSES = range(4)
"""The named streams: initial states, order of rows in an epoch, class to learn as y = 0, and clause draws."""

GOLDEN = 0x9E3779B97F4A7C15
_MULTIPLY_1 = 0xBF58476D1CE4E5B9
_MULTIPLY_2 = 0x94D049BB133111EB
_MASK = (1 << 64) - 1

_GOLDEN_U = np.uint64(GOLDEN)
_MULTIPLY_1_U = np.uint64(_MULTIPLY_1)
_MULTIPLY_2_U = np.uint64(_MULTIPLY_2)
GOLDEN_32, _MULTIPLY_1_32, _MULTIPLY_2_32 = (
    np.uint32(0x9E3779B9),
    np.uint32(0x7FEB352D),
    np.uint32(0x846CA68B),
)
_S15_32, _S16_32 = np.uint32(15), np.uint32(16)
_S11, _S21, _S27, _S30, _S31, _ONE = (np.uint64(n) for n in (11, 21, 27, 30, 31, 1))


def mix(word: int) -> int:
    """The finaliser of splitmix64 on a Python integer, 64 bits in and out."""
    word &= _MASK
    word = ((word ^ (word >> 30)) * _MULTIPLY_1) & _MASK
    word = ((word ^ (word >> 27)) * _MULTIPLY_2) & _MASK
    return word ^ (word >> 31)


def key(seed: int, stream: int) -> int:
    """The 64-bit key of one named stream under a seed."""
    return mix(mix(seed) + (stream + 1) * GOLDEN)


def key_at(word: int, index: int) -> int:
    """The key at one position below `word`: a step, a machine, a clause, a row."""
    return mix(word + (index + 1) * GOLDEN)


def mix32_at(word: int, index: int) -> int:
    """32 bits at one position below a 32-bit word: a clause below a step, a feature below a clause."""
    x = (word + (index + 1) * 0x9E3779B9) & 0xFFFFFFFF
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & 0xFFFFFFFF
    x = ((x ^ (x >> 15)) * 0x846CA68B) & 0xFFFFFFFF
    return x ^ (x >> 16)


def next64(word: int) -> int:
    """The next of a sequence of 64-bit words whose bits, ANDed and ORed over a few steps, stay independent.

    Two multiplications by an odd number (x + (x << k)) with a shift between. Steps of xorshift64 take as long, but
    literals seven places apart then share events (correlations up to 0.13), because its low bits mix few others.
    """
    word = (word + (word << 21)) & _MASK
    word ^= word >> 30
    return (word + (word << 11)) & _MASK


@inlined
def mix_u(word):
    word = (word ^ (word >> _S30)) * _MULTIPLY_1_U
    word = (word ^ (word >> _S27)) * _MULTIPLY_2_U
    return word ^ (word >> _S31)


@inlined
def mix32_at_u(word, index):
    x = np.uint32(word + np.uint32(np.uint32(index + 1) * GOLDEN_32))
    x = np.uint32(np.uint32(x ^ np.uint32(x >> _S16_32)) * _MULTIPLY_1_32)
    x = np.uint32(np.uint32(x ^ np.uint32(x >> _S15_32)) * _MULTIPLY_2_32)
    return np.uint32(x ^ np.uint32(x >> _S16_32))


@inlined
def next64_u(word):
    word += word << _S21
    word ^= word >> _S30
    return word + (word << _S11)


@inlined
def key_at_u(word, index):
    return mix_u(word + (np.uint64(index) + _ONE) * _GOLDEN_U)


def keys_at(word: int, count: int) -> np.ndarray:
    """`key_at(word, 0..count-1)` as an array of uint64."""
    index = np.arange(1, count + 1, dtype=np.uint64)
    mixed = np.uint64(word) + index * _GOLDEN_U
    mixed = (mixed ^ (mixed >> _S30)) * _MULTIPLY_1_U
    mixed = (mixed ^ (mixed >> _S27)) * _MULTIPLY_2_U
    return mixed ^ (mixed >> _S31)


def row_order(seed: int, epoch: int, n_rows: int) -> np.ndarray:
    """The order in which an epoch visits the rows: a permutation of 0..n_rows-1 as int64."""
    return np.argsort(keys_at(key_at(key(seed, ROW_ORDER), epoch), n_rows), kind="stable")


def event_limit(s: float) -> int:
    """The largest 16-bit draw that counts as the 1/s event of the SSL paper's equations (14) to (17)."""
    return max(1, min(65536, round(65536 / s))) - 1


def short_probability(s: float) -> int:
    """The probability 1/s in 1/65536, with as few binary digits as come within 1/512 of it.

    A binary digit is a step of the literal machine's draws (s = 25 takes 10 instead of 16).
    """
    exact = 65536 / max(s, 1.0)
    for zeros in range(16, 0, -1):
        unit = 1 << zeros
        rounded = round(exact / unit) * unit
        if abs(rounded - exact) * 512 <= exact:
            return rounded
    return max(1, round(exact))
