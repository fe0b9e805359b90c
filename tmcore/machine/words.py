"""Wide words: 512 rows' bits in one value, and the few operations on them that compiled code needs.

Numba's own loops over short arrays do not become vector instructions where arrays might overlap. A wide word is an
LLVM vector of eight 64-bit numbers instead: one register with AVX-512, two with AVX2, four elsewhere, and the same
result on every processor. Wide words live in C-contiguous uint64 arrays of shape (n, 8).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.datamodel.models import PrimitiveModel
from numba.core.datamodel.registry import register_default
from numba.extending import intrinsic

WORDS = 8
"""64-bit words in a wide word: as many bytes as a cache line."""

WORD = 64
ROWS = WORDS * WORD
"""Rows that a wide word has a bit for; row r is bit r % 64 of word r // 64."""

operation: Any = intrinsic
"""Numba's decorator, whose functions are called without their first argument."""

_VECTOR = ir.VectorType(ir.IntType(WORD), WORDS)


class Wide(types.Type):
    """Numba's type of a wide word; it exists inside kernels only."""

    def __init__(self) -> None:
        super().__init__(name="Wide")


_WIDE = Wide()


@register_default(Wide)
class _WideModel(PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, _VECTOR)


def new_words(count: int) -> np.ndarray:
    """Zeros, uint64 of shape (count, 8), each wide word within one cache line."""
    flat = np.zeros((count + 1) * WORDS, np.uint64)
    skip = -(flat.ctypes.data // 8) % WORDS
    return flat[skip : skip + count * WORDS].reshape(count, WORDS)


def _splat(value: int) -> ir.Constant:
    return ir.Constant(_VECTOR, [value] * WORDS)


def _spread(builder: Any, value: Any, vector: ir.VectorType) -> Any:
    """A vector with the same number in every lane."""
    undefined, index = ir.Constant(vector, ir.Undefined), ir.IntType(32)
    first = builder.insert_element(undefined, value, ir.Constant(index, 0))
    lanes = ir.Constant(ir.VectorType(index, vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, undefined, lanes)


def _address(context: Any, builder: Any, array_type: Any, array: Any, element: Any, vector: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [element]), vector.as_pointer())


@operation
def load(typingctx, array, index):
    """The wide word array[index]."""

    def generate(context, builder, signature, args):
        at = context.cast(builder, args[1], signature.args[1], types.intp)
        at = builder.mul(at, ir.Constant(at.type, WORDS))
        return builder.load(_address(context, builder, signature.args[0], args[0], at, _VECTOR), align=8)

    return _WIDE(array, index), generate


@operation
def store(typingctx, array, index, value):
    """Write a wide word to array[index]."""

    def generate(context, builder, signature, args):
        at = context.cast(builder, args[1], signature.args[1], types.intp)
        at = builder.mul(at, ir.Constant(at.type, WORDS))
        builder.store(args[2], _address(context, builder, signature.args[0], args[0], at, _VECTOR), align=8)
        return context.get_dummy_value()

    return types.void(array, index, value), generate


@operation
def both(typingctx, a, b):
    """a AND b."""
    return _WIDE(a, b), lambda context, builder, signature, args: builder.and_(*args)


@operation
def either(typingctx, a, b):
    """a OR b."""
    return _WIDE(a, b), lambda context, builder, signature, args: builder.or_(*args)


@operation
def differ(typingctx, a, b):
    """a XOR b."""
    return _WIDE(a, b), lambda context, builder, signature, args: builder.xor(*args)


@operation
def none(typingctx):
    """No row."""
    return _WIDE(), lambda context, builder, signature, args: _splat(0)


@operation
def is_none(typingctx, a):
    """Whether no bit is set."""

    def generate(context, builder, signature, args):
        bits = builder.bitcast(builder.icmp_unsigned("!=", args[0], _splat(0)), ir.IntType(WORDS))
        return builder.icmp_unsigned("==", bits, ir.Constant(bits.type, 0))

    return types.boolean(a), generate


@operation
def swap_bits(typingctx, low, high, distance, mask):
    """(low, high) after the bits of `low >> distance` and of `high` where `mask` is 1 changed places."""

    def generate(context, builder, signature, args):
        low, high = args[0], args[1]
        shift, chosen = (
            _spread(builder, context.cast(builder, args[i], signature.args[i], types.uint64), _VECTOR)
            for i in (2, 3)
        )
        moved = builder.and_(builder.xor(builder.lshr(low, shift), high), chosen)
        pair = builder.xor(low, builder.shl(moved, shift)), builder.xor(high, moved)
        return context.make_tuple(builder, signature.return_type, pair)

    return types.UniTuple(_WIDE, 2)(low, high, distance, mask), generate


def _range_bits(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """64 comparisons of neighbouring codes as one number; one subtraction makes two of them one."""
    code = ir.IntType(signature.args[0].dtype.bitwidth)
    vector = ir.VectorType(code, WORD)
    at = context.cast(builder, args[1], signature.args[1], types.intp)
    address = _address(context, builder, signature.args[0], args[0], at, vector)
    base, span = (
        _spread(builder, context.cast(builder, args[i], signature.args[i], signature.args[0].dtype), vector)
        for i in (2, 3)
    )
    loaded = builder.load(address, align=code.width // 8)
    holds = builder.icmp_unsigned("<", builder.sub(loaded, base), span)
    return builder.bitcast(holds, ir.IntType(WORD))


@operation
def in_range(typingctx, codes, start, base, span):
    """64 bits: whether base <= code < base + span, for the 64 codes from the flat index `start`."""
    return types.uint64(codes, start, base, span), _range_bits


@operation
def row_word(typingctx, row, start, base, span):
    """The word of literals at `start`, or for ranks what `in_range` gives."""

    def literals(context, builder, signature, args):
        at = context.cast(builder, args[1], signature.args[1], types.intp)
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.load(builder.gep(data, [at]))

    generate = literals if row.dtype == types.uint64 else _range_bits
    return types.uint64(row, start, base, span), generate
