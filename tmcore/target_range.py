"""The numbers to predict, their range, and the way from numbers to votes and back."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tmcore.labels import target_array
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

    def numbers(self, votes: NDArray[np.int64], vote_target: float) -> NDArray[np.float64]:
        """The numbers that vote sums in units of 2**-16 predict; sums below 0 and above T lie outside of the range."""
        return self.lowest + votes.astype(np.float64) * (self.width / vote_target * WEIGHT_UNIT)

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


def read_targets(y: Any, n_rows: int) -> NDArray[np.float64]:
    """The numbers to predict, float64 of shape (n_rows,).

    Raises
    ------
    ValueError
        A target is a text, missing, infinite or beyond LARGEST, the sentence names its row; or their number is not the
        rows'.
    """
    if y is None:
        raise ValueError(
            "This regressor requires y to be passed, but the target y is None; give one number a row."
        )
    values = target_array(y)
    if values.dtype.kind not in "biuf":
        for row, value in enumerate(values.tolist(), start=1):
            if not (isinstance(value, numbers.Real) or value is None or value is pd.NA):
                raise ValueError(f"y holds {value!r} in row {row}; a regressor needs numbers.")
        values = pd.array(values.tolist(), dtype="Float64").to_numpy(dtype=np.float64, na_value=np.nan)
    targets = values.astype(np.float64)
    wrong = ~(np.abs(targets) <= LARGEST)
    if wrong.any():
        row = int(wrong.argmax())
        found = "NaN" if np.isnan(targets[row]) else "infinity or a number that is too large"
        raise ValueError(
            f"Input y contains {found} in row {row + 1}; give a finite number or leave that row out."
        )
    if len(targets) != n_rows:
        raise ValueError(f"y holds {len(targets)} numbers for {n_rows} rows; give one number a row.")
    return targets


def _exponent(number: float) -> int:
    return math.frexp(number)[1]


def _whole(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.rint(numbers).astype(np.int64)
