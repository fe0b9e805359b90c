"""What single columns hold: their role by dtype, their numbers, their categories as text."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sized
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Role = Literal["numeric", "boolean", "nominal", "ordinal"]

_NUMBER_CONTENT = {"integer", "floating", "mixed-integer-float", "decimal"}
_TIME_CONTENT = {"datetime64", "datetime", "date", "timedelta64", "timedelta", "time", "period"}


def category_text(value: object) -> str:
    """The name of a category as people read it: 1, 1.0 and "1" are all ``"1"``, ``True`` is ``"True"``."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def role_of(values: pd.Series, name: str) -> Role:
    """The role that a column's dtype, or the content of an object column, stands for.

    Raises
    ------
    ValueError
        The column holds dates, durations, intervals, complex numbers, or cells that are lists and the like.
    """
    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        if dtype.ordered:
            return "ordinal"
        return "boolean" if len(dtype.categories) == 2 else "nominal"
    if pd.api.types.is_bool_dtype(dtype):
        return "boolean"
    if pd.api.types.is_complex_dtype(dtype):
        raise ValueError(f"Column '{name}' holds complex numbers; use their real or imaginary part.")
    if pd.api.types.is_numeric_dtype(dtype):
        return "numeric"
    content = pd.api.types.infer_dtype(values, skipna=True) if pd.api.types.is_object_dtype(dtype) else None
    if _is_time(dtype) or content in _TIME_CONTENT:
        raise ValueError(f"Column '{name}' holds dates or times; leave it out or turn it into numbers.")
    if isinstance(dtype, pd.IntervalDtype):
        raise ValueError(f"Column '{name}' holds intervals; turn them into numbers or texts.")
    if content in _NUMBER_CONTENT:
        return "numeric"
    if content is not None:
        _refuse_containers(values, name)
    return "boolean" if len(category_codes(values)[1]) == 2 else "nominal"


def _is_time(dtype: Any) -> bool:
    known = pd.api.types.is_datetime64_any_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype)
    return known or isinstance(dtype, pd.PeriodDtype)


def _refuse_containers(values: pd.Series, name: str) -> None:
    """Lists and the like are no category: their texts would differ with the order of what they hold."""
    for row, value in enumerate(values, start=1):
        if isinstance(value, Sized) and not isinstance(value, str | bytes):
            kind = type(value).__name__
            raise ValueError(
                f"Column '{name}' holds a {kind} in data row {row}; give every cell one number or one text."
            )


def as_floats(values: pd.Series, name: str) -> NDArray[np.float64]:
    """A column's numbers with NaN where missing, shape (n_rows,).

    Raises
    ------
    ValueError
        A cell is not a number or is infinite; the sentence names the column and the row.
    """
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "fiub":
        floats = values.to_numpy(dtype=np.float64)
    else:
        _refuse_texts(values, name)
        try:
            floats = values.to_numpy(dtype=np.float64, na_value=np.nan)
        except OverflowError:  # a whole number beyond the range of floats
            floats = np.array([_nearest_float(value) for value in values])
    infinite = np.isinf(floats)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise ValueError(
            f"Column '{name}' holds an infinite value (inf) in data row {row + 1}; "
            "replace it by a number or leave the cell empty."
        )
    return floats


def _nearest_float(value: Any) -> float:
    try:
        return math.nan if _is_missing(value) else float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _refuse_texts(values: pd.Series, name: str) -> None:
    if pd.api.types.is_numeric_dtype(values.dtype):
        return
    for row, value in enumerate(values):
        if not isinstance(value, numbers.Number) and not _is_missing(value):
            raise ValueError(
                f"Column '{name}' must hold numbers, but data row {row + 1} holds {str(value)[:40]!r}; "
                "correct the cell or leave it empty."
            )


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value)


def category_codes(values: pd.Series) -> tuple[NDArray[np.intp], list[str]]:
    """Which category each cell holds.

    Returns
    -------
    codes : int array, shape (n_rows,); positions in the list, -1 where the cell is missing
    texts : the distinct category names that occur, each once
    """
    if isinstance(values.dtype, pd.CategoricalDtype):
        raw: NDArray[np.intp] = values.cat.codes.to_numpy().astype(np.intp)
        uniques: Any = values.cat.categories
    else:
        try:
            raw, uniques = pd.factorize(values)
        except TypeError:  # a cell such as a list or dict, which has no hash, where training had texts
            raw, uniques = pd.factorize(values.map(str, na_action="ignore"))
    present = np.zeros(len(uniques), dtype=bool)
    present[raw[raw >= 0]] = True
    place: dict[str, int] = {}
    lookup = np.full(len(uniques) + 1, -1, dtype=np.intp)
    for i, (value, occurs) in enumerate(zip(uniques.tolist(), present.tolist(), strict=True)):
        if occurs:
            text = value if isinstance(value, str) else category_text(value)
            lookup[i] = place.setdefault(text, len(place))
    return lookup[raw], list(place)
