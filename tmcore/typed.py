"""Columns as read, turned into the dtypes that carry their roles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tmcore.columns import category_codes
from tmcore.guess import TableRole
from tmcore.problems import counted, quoted
from tmcore.texts import default_order, numbers_with_limits, without_limit


def is_number_column(values: pd.Series) -> bool:
    """Whether a column was read as numbers, truth values apart."""
    return pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_bool_dtype(values.dtype)


def numbers_of(values: pd.Series, decimal: str) -> NDArray[np.float64]:
    """A column's numbers, shape (n_rows,); NaN where a cell is missing or holds something else."""
    if pd.api.types.is_numeric_dtype(values.dtype):
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
        return np.where(np.isinf(numbers), np.nan, numbers)
    codes, texts = category_codes(values)
    return np.append(numbers_with_limits(texts, decimal), np.nan)[codes]


def spoilt_cells(values: pd.Series, decimal: str) -> pd.Series:
    """The cells of a numeric column that hold something but no finite number, by spreadsheet row."""
    spoilt = np.isnan(numbers_of(values, decimal)) & values.notna().to_numpy()
    return values[spoilt]


def limit_cells(values: pd.Series, decimal: str) -> pd.Series:
    """The cells of a numeric column that are limits such as ``<5``, read as the number they name."""
    if pd.api.types.is_numeric_dtype(values.dtype):
        return values[:0]
    codes, texts = category_codes(values)
    limits = np.array([without_limit(text) != text for text in texts] + [False], dtype=bool)
    return values[limits[codes] & ~np.isnan(numbers_of(values, decimal))]


def limits_said(cells: pd.Series, where: str = "") -> str:
    """Words for cells that are limits; `where` is put behind their number."""
    usual = str(cells.value_counts().index[0])
    are, such_as = ("is a limit", "") if len(cells) == 1 else ("are limits", " such as")
    return f"{counted(len(cells), 'cell')}{where} {are}{such_as or ','} {quoted(usual)}, read as {without_limit(usual)}"


def number_note(values: pd.Series, decimal: str) -> str:
    """What to know about the cells of a numeric column; "" where all are plain numbers."""
    spoilt, limits = spoilt_cells(values, decimal), limit_cells(values, decimal)
    said = [f"{counted(len(spoilt), 'cell is', 'cells are')} not a number"] if len(spoilt) else []
    return "; ".join([*said, limits_said(limits)] if len(limits) else said)


def levels_of(values: pd.Series) -> list[str]:
    """The category names of a column that is read as categories, in their default order."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        used = set(category_codes(values)[1])
        return [text for text in map(str, values.cat.categories) if text in used]
    return default_order(category_codes(values)[1])


def typed(values: pd.Series, role: TableRole, decimal: str, order: Sequence[str]) -> pd.Series:
    """The column in the dtype of its role: float64, or categories (ordered when ordinal).

    Parameters
    ----------
    order : the category names in order; empty takes the default order. Cells not in it become missing.
    """
    if role == "numeric":
        return pd.Series(numbers_of(values, decimal), index=values.index, name=values.name)
    codes, texts = category_codes(values)
    categories = list(order) or levels_of(values)
    place = {category: k for k, category in enumerate(categories)}
    lookup = np.array([place.get(text, -1) for text in texts] + [-1], dtype=np.intp)
    dtype = pd.CategoricalDtype(pd.Index(categories, dtype="str"), ordered=role == "ordinal")
    return pd.Series(
        pd.Categorical.from_codes(lookup[codes], dtype=dtype), index=values.index, name=values.name
    )


def as_labels(values: pd.Series) -> pd.Series:
    """A target's values as class labels: whole numbers int64, truth values bool, all others text.

    Parameters
    ----------
    values : Series without missing cells
    """
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(values.cat.categories.dtype)
    if pd.api.types.is_bool_dtype(values.dtype):
        return values.astype(bool)
    if pd.api.types.is_numeric_dtype(values.dtype):
        numbers = values.to_numpy(dtype=np.float64)
        if (numbers == np.floor(numbers)).all():
            return values.astype(np.int64)
    return values.map(str).astype("str")
