"""The hot loops vectorise: a scalar loop gives the same numbers sixty times later, and no other test would notice."""

import re

import numba
import pytest

from tmcore.machine import interval_moves, intervals, literals

BYTES, WORDS = numba.uint8[::1], numba.uint64[::1]
BYTE = numba.uint8


def vector_types(function, signature):
    """How often each vector type occurs in the LLVM code of a kernel, compiled here without the cache."""
    compiled = numba.njit(signature, nogil=True, boundscheck=False)(function.py_func)
    code = compiled.inspect_llvm(compiled.signatures[0])
    found = re.findall(r"<(\d+ x i\d+)>", code)
    return {kind: found.count(kind) for kind in set(found)}


def lanes_of(found, bits):
    return max(
        (int(kind.split(" x ")[0]) for kind, n in found.items() if kind.endswith(f" x i{bits}") and n > 20),
        default=0,
    )


def test_interval_evaluation_and_feedback_treat_many_clauses_at_once():
    evaluate = vector_types(intervals.block_outputs, numba.void(BYTES, BYTES, BYTES))
    assert lanes_of(evaluate, 8) >= 16
    rule, index = numba.types.UniTuple(BYTE, 4), numba.int64
    sweep = vector_types(interval_moves.sweep, numba.void(BYTES, index, BYTES, index, rule))
    # The moves of one feature are some 70 operations on bytes.
    assert lanes_of(sweep, 8) >= 16
    assert max(n for kind, n in sweep.items() if kind.endswith(" x i8")) > 100


def test_literal_draws_and_counters_treat_many_literals_at_once():
    draws = vector_types(literals.draw_events, numba.void(numba.uint32, numba.int64, WORDS, WORDS))
    assert any(kind.endswith(" x i64") and n > 20 for kind, n in draws.items())
    limits = numba.types.Tuple((numba.int64, numba.uint64, numba.int64))
    signature = numba.boolean(
        numba.uint64[:, ::1], WORDS, WORDS, BYTE, numba.uint32, limits, numba.types.UniTuple(WORDS, 4)
    )
    count = vector_types(literals.clause_feedback, signature)
    assert any(kind.endswith(" x i64") and n > 50 for kind, n in count.items())


@pytest.mark.parametrize("kernel", [intervals.learn_rows, literals.learn_rows])
def test_kernels_release_the_lock_and_are_kept_on_disk(kernel):
    assert kernel.targetoptions["nogil"]
    assert type(kernel._cache).__name__ != "NullCache"
    assert kernel.stats.cache_path
