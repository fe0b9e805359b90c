"""The rows of a run as points: where each lies on the axis of every column, packed small."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tmcore.encode import Column
    from tmcore.encoders import AnyEncoder

MOST_POINTS = 800
"""Rows drawn on the two-feature map; more are thinned evenly."""

FULL = 65_534
NOWHERE = 65_535


def chosen_rows(n_train: int, n_test: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which training and test rows become points: all, or evenly chosen ones in the same proportion."""
    share = min(1.0, MOST_POINTS / max(1, n_train + n_test))

    def some(n: int) -> NDArray[np.intp]:
        return np.linspace(0, max(0, n - 1), round(n * share)).astype(np.intp)

    return some(n_train), some(n_test)


def places(column: Column, encoder: AnyEncoder, codes: NDArray[Any], values: NDArray[Any], few: bool) -> str:
    """Where rows lie on a column's axis from 0 to 1, as base64 of 16-bit numbers; missing values lie nowhere.

    Parameters
    ----------
    codes : ndarray, shape (n_rows, n_features)
        Encoded rows.
    values : ndarray, shape (n_rows,)
        The column as it was read.
    few : bool
        Whether the axis has one slot a value.
    """
    features = [encoder.features[i] for i in column.features]
    if column.role == "numeric" and not few:
        low, span = column.minimum or 0.0, (column.maximum or 0.0) - (column.minimum or 0.0)
        share = (values.astype(float) - low) / (span or 1.0)
    elif column.role == "nominal":
        is_one = np.column_stack([codes[:, f.index] == 1 for f in features])
        share = np.where(is_one.any(axis=1), (is_one.argmax(axis=1) + 0.5) / len(features), np.nan)
    else:
        n_ranks = features[0].n_ranks
        ranks = codes[:, features[0].index].astype(float)
        share = np.where(ranks < n_ranks, (ranks + 0.5) / n_ranks, np.nan)
    packed = np.where(np.isfinite(share), np.clip(np.nan_to_num(share), 0, 1) * FULL, NOWHERE)
    return base64.b64encode(packed.round().astype("<u2").tobytes()).decode("ascii")
