"""Columns of numbers that are not all written alike: what is read, what is left out, and that it is said."""

from __future__ import annotations

import numpy as np
import pytest

from tmcore.table import Table, read_table
from tmcore.texts import range_key

NUMBERS = [f"{k * 1.3:.2f}" for k in range(40)]


def table_of(cells: list[str]) -> Table:
    rows = "\n".join(f"{cell};{k / 2};{'ab'[k % 2]}" for k, cell in enumerate(cells))
    return read_table(f"a;b;class\n{rows}".encode(), target="class")


def about_a(table: Table) -> list[str]:
    return [problem.message for problem in table.problems if problem.column == "a"]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([f"{one} %" for one in NUMBERS[:-1]] + ["n.k."], "In 'a' the sign '%' is left out of the numbers."),
        (
            [*NUMBERS[:-2], "(1.50)", "not known"],
            "In 'a' numbers in brackets, or with a minus behind them, are negative.",
        ),
    ],
)
def test_what_is_read_of_numbers_is_said_beside_a_cell_that_is_none(cells: list[str], said: str) -> None:
    table = table_of(cells)
    assert table.role("a") == "numeric"
    assert said in table.assumptions
    assert not any("groups thousands" in line for line in table.assumptions)  # the blank in "not known"


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        (
            [*[f"{one} %" for one in NUMBERS[:-1]], "5"],
            "numbers written in different ways, such as '0.00 %' and '5'",
        ),
        (
            [f"{one} {'€' if k % 2 else '$'}" for k, one in enumerate(NUMBERS)],
            "numbers written in different ways, such as '0.00 $' and '1.30 €'",
        ),
        (
            [one.replace(".", ",") for one in NUMBERS],
            "numbers with a decimal comma such as '0,00', where the file has a decimal point",
        ),
    ],
)
def test_numbers_that_are_none_beside_each_other_are_left_out_with_the_reason(
    cells: list[str], why: str
) -> None:
    assert about_a(table_of(cells)) == [f"Column 'a' is left out: {why}; write them alike."]


def test_texts_and_codes_are_left_out_as_before() -> None:
    assert about_a(table_of([f"word {k}" for k in range(40)])) == [
        "Column 'a' is left out: a different text in every row."
    ]
    assert about_a(table_of([f"{k:04d}" for k in range(40)])) == [
        "Column 'a' is left out: a different text in every row."
    ]


def test_one_decimal_comma_among_points_is_no_range() -> None:
    table = table_of([*NUMBERS[:-1], "3,5"])
    assert table.role("a") == "numeric"
    assert about_a(table)[0].startswith("Column 'a' holds '3,5' in row 41, not a number; counted as missing.")
    assert range_key("3,5") is None
    assert range_key("(3, 5]") == (3.0, 5.0)
    assert range_key("3-5") == range_key("3 to 5") == (3.0, 5.0)


def test_a_printed_minus_is_one() -> None:
    table = table_of([f"\N{MINUS SIGN}{one}" if k % 3 == 0 else one for k, one in enumerate(NUMBERS)])
    expected = [-float(one) if k % 3 == 0 else float(one) for k, one in enumerate(NUMBERS)]
    np.testing.assert_array_equal(table.features()["a"], expected)
