"""The range of a regression's target, and the way from numbers to votes and back."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tmcore.machine.state import ONE_VOTE, WEIGHT_UNIT
from tmcore.settling import Settled

RANGE_BITS = 32
"""Weights are rounded to about this many bits below the range of the target."""

SUM_BITS = 50
"""Sums of all weights take at most this many bits; a float64 has 53, so it holds every sum, also of joined rules."""

LARGEST = 1e300
"""Targets beyond it are refused: sums of them would not be finite."""


@dataclass(frozen=True)
class TargetRange:
    """The numbers that 0 and T votes stand for.

    Attributes
    ----------
    lowest, highest : float
        lowest <= highest; where they are equal, that number is predicted always.
    """

    lowest: float
    highest: float

    @property
    def width(self) -> float:
        """highest - lowest."""
        return self.highest - self.lowest

    def votes(self, y: NDArray[np.float64], vote_target: float) -> NDArray[np.float64]:
        """The votes that predict `y`: 0 for the lowest number, T for the highest; outside of [0, T] beyond them."""
        return (y - self.lowest) / (self.width or 1.0) * vote_target

    def wanted(self, y: NDArray[np.float64], vote_target: float) -> NDArray[np.int64]:
        """What the machine learns: the votes in units of 2**-16, at least 0 and at most T."""
        votes = np.clip(self.votes(y, vote_target), 0.0, vote_target)
        return np.rint(votes * ONE_VOTE).astype(np.int64)

    def in_numbers(self, settled: Settled, vote_target: float) -> tuple[Settled, float]:
        """Weights and intercept in votes as weights and intercept in numbers, and the power of two they are units of.

        The sum v of votes predicts lowest + v / T * width, and v is not clamped. The unit is 2**-32 of the range, or
        coarser where the sum of all weights could not be held exactly otherwise.
        """
        per_unit = self.width / vote_target * WEIGHT_UNIT
        weights = settled.weights * per_unit
        intercept = self.lowest + settled.intercept * per_unit
        unit = self._unit(float(np.abs(weights).sum() + np.abs(intercept).sum()))
        return replace(settled, weights=_whole(weights / unit), intercept=_whole(intercept / unit)), unit

    def _unit(self, total: float) -> float:
        if self.width == 0:  # nothing is added to the one number, which keeps all its bits
            exponent = _exponent(self.lowest) - 53
        else:
            exponent = max(_exponent(self.width) - RANGE_BITS, _exponent(total) - SUM_BITS)
        return math.ldexp(1.0, max(exponent, -1074))


def _exponent(number: float) -> int:
    return math.frexp(number)[1]


def _whole(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.rint(numbers).astype(np.int64)
