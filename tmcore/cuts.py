"""Levels and cuts of a numeric column.

A column's *levels* are its sorted unique training values, thinned by quantiles when there are too many.
Between two neighbouring levels sits one *cut*: the shortest decimal number that separates them. It is the
number people read, the machine compares with and every export writes.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

# 10**22 is the largest power of ten that a float64 holds exactly. With at most 15 digits the product or
# quotient with such a power is rounded once, so it is the very float that the decimal text would be read as.
_LARGEST_EXACT_POWER = 22
_POWERS = np.array([float(10**i) for i in range(_LARGEST_EXACT_POWER + 1)])
_MOST_EXACT_DIGITS = 15


def choose_levels(values: FloatArray, max_levels: int) -> FloatArray:
    """Sorted unique values, or at most ``max_levels`` of them picked by quantiles.

    Parameters
    ----------
    values : float64 array, shape (n,)
        Finite values in any order; may be empty.
    max_levels : int, at least 2

    Returns
    -------
    float64 array, ascending; a subset of `values` that holds the smallest and the largest of them. Levels
    that frequent values would take more than once go to values that no quantile hit.
    """
    ordered = np.sort(values)
    if not len(ordered):
        return ordered
    unique = ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))]
    if len(unique) <= max_levels:
        return unique + 0.0  # turns -0.0 into 0.0
    picks = np.rint(np.linspace(0, len(ordered) - 1, max_levels)).astype(np.intp)
    taken = np.unique(ordered[picks])
    spare = max_levels - len(taken)
    if spare:
        rest = np.setdiff1d(unique, taken, assume_unique=True)
        extra = rest[np.linspace(0, len(rest) - 1, spare + 2).astype(np.intp)[1:-1]]
        taken = np.union1d(taken, extra)
    return taken + 0.0


def shortest_decimals(low: FloatArray, high: FloatArray) -> FloatArray:
    """The shortest decimal ``d`` with ``low <= d < high``, elementwise.

    Shortest means fewest significant digits; among those the one nearest to the middle. A range around zero
    gives 0. All comparisons are those of the floats themselves.

    Parameters
    ----------
    low, high : float64 arrays of one shape (n,), finite, ``low < high``

    Returns
    -------
    float64 array, shape (n,)
    """
    low = np.asarray(low, dtype=np.float64)
    high = np.asarray(high, dtype=np.float64)
    cuts = np.zeros(len(low))
    todo = np.flatnonzero((low > 0) | (high <= 0))
    largest = np.maximum(np.abs(low[todo]), np.abs(high[todo]))
    power = np.floor(np.log10(largest) + 1e-9).astype(np.int64)
    lowest_power = power - _MOST_EXACT_DIGITS + 1
    slow = np.abs(power) > _LARGEST_EXACT_POWER
    leftover = [todo[slow]]
    todo, power, lowest_power = todo[~slow], power[~slow], lowest_power[~slow]
    while len(todo):
        found, value = _nearest_multiple(low[todo], high[todo], power)
        cuts[todo[found]] = _nearer(low[todo[found]], high[todo[found]], power[found], value[found])
        power = power - 1
        usable = (power >= lowest_power) & (power >= -_LARGEST_EXACT_POWER)
        leftover.append(todo[~found & ~usable])
        keep = ~found & usable
        todo, power, lowest_power = todo[keep], power[keep], lowest_power[keep]
    for i in np.concatenate(leftover):
        cuts[i] = _shortest_decimal_exact(float(low[i]), float(high[i]))
    return cuts


def _nearest_multiple(
    low: FloatArray, high: FloatArray, power: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], FloatArray]:
    """Whether a multiple of ``10**power`` lies in ``[low, high)``, and the one nearest to the middle."""
    scale = _POWERS[np.abs(power)]
    coarse = power >= 0
    middle = low / 2 + high / 2
    scaled = np.where(coarse, middle / scale, middle * scale)
    nearest = np.rint(scaled)
    other = np.where(scaled >= nearest, 1.0, -1.0)
    value = np.empty(len(low))
    found = np.zeros(len(low), dtype=bool)
    for step in (np.zeros(len(low)), other, -other):
        count = nearest + step
        candidate = np.where(coarse, count * scale, count / scale)
        hit = ~found & (low <= candidate) & (candidate < high)
        value[hit] = candidate[hit]
        found |= hit
    return found, value


def _nearer(low: FloatArray, high: FloatArray, power: NDArray[np.int64], value: FloatArray) -> FloatArray:
    """Replace values that are a power of ten by a smaller number of one digit where that is nearer to the middle.

    Only there can a finer power of ten give as few digits: 8 in [5.8, 10.01), where 10 is the coarsest multiple.
    """
    lone = np.flatnonzero((np.abs(value) == _decimal_power(power)) & (power > -_LARGEST_EXACT_POWER))
    found, finer = _nearest_multiple(low[lone], high[lone], power[lone] - 1)
    better = found & (np.abs(finer) < np.abs(value[lone]))
    value[lone[better]] = finer[better]
    return value


def _decimal_power(power: NDArray[np.int64]) -> FloatArray:
    """The float nearest to ``10**power``."""
    scale = _POWERS[np.abs(power)]
    return np.where(power >= 0, scale, 1 / scale)


def _shortest_decimal_exact(low: float, high: float) -> float:
    """`shortest_decimals` for one range by exact fractions: for huge, tiny and (nearly) adjacent floats."""
    middle = (Fraction(low) + Fraction(high)) / 2
    power = math.floor(math.log10(max(abs(low), abs(high)))) + 1
    while True:
        count = _count_in_range(low, high, middle, power)
        if count is None:
            power -= 1
            continue
        finer = _count_in_range(low, high, middle, power - 1) if abs(count) == 1 else None
        if finer is not None and abs(finer) < 10:
            return float(f"{finer}e{power - 1}")
        return float(f"{count}e{power}")


def _count_in_range(low: float, high: float, middle: Fraction, power: int) -> int | None:
    """The multiple of ``10**power`` in ``[low, high)`` that is nearest to the middle, None without any."""
    scaled = middle / Fraction(10) ** power
    floor = math.floor(scaled)
    for count in sorted(range(floor - 1, floor + 3), key=lambda k: abs(k - scaled)):
        if low <= float(f"{count}e{power}") < high:
            return count
    return None
