"""Rows of odd kinds are read as what they mean, or refused with one sentence on one line."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from tmcore import TsetlinClassifier, TsetlinRegressor

X = np.random.default_rng(0).normal(size=(60, 3))
y = (X[:, 0] > 0).astype(int)
BITS = (np.random.default_rng(1).random((60, 4)) > 0.5).astype(float)
ESTIMATORS = [TsetlinClassifier, TsetlinRegressor]


def damaged(make, indices):
    matrix = make(BITS)
    matrix.indices[:] = indices
    return matrix


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([[1], [2], [3]] * 20, "Column 'n' holds a list in data row 1"),
        (["a", {}, "b"] * 20, "Column 'n' holds a dict in data row 2"),
        (pd.period_range("2020", periods=60), "Column 'n' holds dates"),
        (pd.Series(list(pd.date_range("2020", periods=60).date), dtype=object), "Column 'n' holds dates"),
        (pd.interval_range(0, 60), "Column 'n' holds intervals"),
        ([1, 10**400, 2] * 20, r"Column 'n' holds an infinite value \(inf\) in data row 2"),
        ([1, -(10**400), None] * 20, "Column 'n' holds an infinite value .* in data row 2"),
    ],
)
def test_cells_that_are_neither_numbers_nor_texts_are_refused(kind, column, expected):
    with pytest.raises(ValueError, match=expected):
        kind(n_clauses=10, epochs=1).fit(pd.DataFrame({"a": X[:, 0], "n": column}), y)


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (X + 1j, "Complex data not supported"),
        (X[0], r"Expected 2D array, got 1D array. Reshape your data"),
        (np.asmatrix(X), "np.matrix is not supported"),
        (sparse.csr_matrix(X), "Sparse data go with"),
        (np.ma.masked_array(X, X > 1), "masked array.*fill the masked cells"),
        (pd.DataFrame(X, columns=["a", 1, 2]), "names are neither all texts nor all numbers.*'a', 1, 2"),
    ],
)
def test_rows_that_are_no_table_are_refused_on_one_line(kind, rows, expected):
    with pytest.raises(ValueError, match=expected) as error:
        kind(n_clauses=10, epochs=1).fit(rows, y)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_column_without_any_value_says_nothing(kind):
    settings = {"n_clauses": 10, "epochs": 3, "random_state": 0}
    frame = pd.DataFrame({"a": X[:, 0], "empty": pd.Series([None] * 60, dtype=object)})
    model = kind(**settings).fit(frame, y)
    expected = kind(**settings).fit(frame[["a"]], y)
    np.testing.assert_array_equal(model.predict(frame), expected.predict(frame[["a"]]))
    np.testing.assert_array_equal(model.rules_.predict(frame), model.predict(frame))


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        (damaged(sparse.csr_matrix, 100_000), "sparse matrix is damaged"),
        (damaged(sparse.csc_matrix, 100_000), "sparse matrix is damaged"),
        (damaged(sparse.csr_matrix, -5), "sparse matrix is damaged"),
        (BITS.astype(int).astype(str), "Column 'x0' holds .* in data row 1; Boolean input must be 0 or 1"),
        (np.where(BITS > 0, pd.NA, 0), "holds None in data row .*; Boolean input must be 0 or 1"),
    ],
)
def test_boolean_rows_that_are_not_0_and_1_are_refused(matrix, expected):
    model = TsetlinClassifier(representation="boolean", n_clauses=10, epochs=1).fit(BITS, y)
    with pytest.raises(ValueError, match=expected):
        model.predict(matrix)
    with pytest.raises(ValueError, match=expected):
        model.fit(matrix, y)
