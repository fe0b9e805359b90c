"""Clauses put together by hand."""

from __future__ import annotations

import numpy as np

from tmcore.machine.state import ClauseBank

ONE = 2**16
"""A weight of one vote."""


def bank_of(
    lower: np.ndarray, upper: np.ndarray, has_lower: np.ndarray, has_upper: np.ndarray, weights: np.ndarray
) -> ClauseBank:
    """Bounds, which of them are included, and weights, each with an axis of machines and one of clauses."""
    return ClauseBank(
        lower=lower,
        upper=upper,
        lower_included=has_lower,
        upper_included=has_upper,
        literals=has_lower.sum(axis=2) + has_upper.sum(axis=2),
        weights=weights,
        polarity=np.where(np.arange(weights.shape[1]) % 2 == 0, 1, -1).astype(np.int8),
        step=0,
    )
