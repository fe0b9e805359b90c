"""Boolean columns straight into the literal machine: 0/1 arrays, DataFrames, or wide sparse matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from tmcore.encode import Column, Feature

LABELS = ("0", "1")


class BooleanEncoder:
    """Checks 0/1 data and names their columns; the counterpart of `Encoder` for `representation="boolean"`.

    Attributes
    ----------
    features, columns : tuple of Feature and Column, after `fit`
        One of each per column.
    n_ranks : int64 array, shape (n_columns,)
        All 2.
    has_gaps : bool array, shape (n_columns,)
        All False.
    by_name : bool
        Whether it was fitted on a DataFrame, whose columns are found by name.
    """

    def fit(self, data: Any) -> BooleanEncoder:
        """Take the columns' names; `data` is a 0/1 DataFrame, array or scipy sparse matrix."""
        self.by_name = isinstance(data, pd.DataFrame)
        self._set(
            [str(name) for name in data.columns] if self.by_name else [f"x{k}" for k in range(data.shape[1])]
        )
        self.transform(data)
        return self

    def _set(self, names: list[str]) -> None:
        self.features = tuple(
            Feature(k, name, "boolean", None, (), 2, False, LABELS) for k, name in enumerate(names)
        )
        self.columns = tuple(
            Column(name, "boolean", name, None, LABELS, (k,), None, None, 0) for k, name in enumerate(names)
        )
        self.n_ranks = np.full(len(names), 2, np.int64)
        self.has_gaps = np.zeros(len(names), bool)

    def transform(self, data: Any) -> Any:
        """The same values, checked.

        Returns
        -------
        uint8 array or scipy CSR matrix, shape (n_rows, n_columns)
            A sparse matrix stays sparse.

        Raises
        ------
        ValueError
            A value is neither 0 nor 1, or a column is missing; the sentence names the column and the row.
        """
        if sparse.issparse(data):
            return self._sparse(data)
        if isinstance(data, pd.DataFrame) and self.by_name:
            data = self._by_name(data)
        values = np.asarray(data)
        if values.dtype.kind not in "biuf":  # compared as objects, a text or a date is simply neither 0 nor 1
            values = values.astype(object)
            values[pd.isna(values)] = None
        self._check_width(values.shape[1])
        codes = np.zeros(values.shape, np.uint8)
        ones = values == 1
        wrong = ~(ones | (values == 0))
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            raise self._wrong(column, row, values[row, column])
        codes[ones] = 1
        return codes

    def fit_transform(self, data: Any) -> Any:
        """`fit`, then `transform` of the same data."""
        return self.fit(data).transform(data)

    def _sparse(self, data: Any) -> sparse.csr_matrix:
        check_sparse(data)
        matrix = sparse.csr_matrix(data)
        self._check_width(matrix.shape[1])
        matrix.sum_duplicates()
        wrong = (matrix.data != 0) & (matrix.data != 1)
        if wrong.any():
            at = int(wrong.argmax())
            raise self._wrong(
                matrix.indices[at], int(np.searchsorted(matrix.indptr, at, "right")) - 1, matrix.data[at]
            )
        matrix.eliminate_zeros()
        return matrix

    def _by_name(self, frame: pd.DataFrame) -> pd.DataFrame:
        frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
        for column in self.columns:
            count = int((frame.columns == column.name).sum())
            if count != 1:
                problem = "is missing" if count == 0 else f"is there {count} times"
                raise ValueError(f"Column '{column.name}' {problem}; give it once.")
        return frame[[column.name for column in self.columns]]

    def _check_width(self, width: int) -> None:
        if width != len(self.columns):
            raise ValueError(
                f"The data have {width} columns, but the model was made for {len(self.columns)}."
            )

    def _wrong(self, column: int, row: int, value: Any) -> ValueError:
        return ValueError(
            f"Column '{self.columns[column].name}' holds {value!s} in data row {row + 1}; Boolean input must be 0 or 1 "
            '(use representation="intervals" or "thresholds" for other values).'
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-able."""
        return {"boolean": [column.name for column in self.columns], "by_name": self.by_name}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> BooleanEncoder:
        """Back from `to_dict`."""
        encoder = cls()
        encoder.by_name = bool(data["by_name"])
        encoder._set(list(data["boolean"]))
        return encoder


def check_sparse(matrix: Any) -> None:
    """Raise ValueError for indices that point outside of a sparse matrix; code that uses them would write anywhere."""
    try:
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"The sparse matrix is damaged ({error}); make it anew.") from None
