"""Files as spreadsheets and databases export them: signs in numbers, marks between thousands, odd first lines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tmcore import cli
from tmcore.encode import Encoder
from tmcore.new_rows import fit_columns
from tmcore.read_csv import read_raw
from tmcore.table import Table, TableError, read_table
from tmcore.texts import are_dates, parse_numbers, without_sign


def read(name: str, cells: list[str], separator: str = ";") -> Table:
    """A table of a column with these cells, and a class."""
    rows = [f"{cell}{separator}{'xy'[k % 2]}" for k, cell in enumerate(cells)]
    return read_table("\n".join([f"{name}{separator}class", *rows]).encode())


@pytest.mark.parametrize(
    ("cells", "numbers", "sign"),
    [
        (["1,5%", "12 %", "-0,5\u00a0%"], [1.5, 12, -0.5], "%"),
        (["$1,200.50", "-$5.00", "$ 7"], [1200.5, -5, 7], "$"),
        (["1.200,50 €", "5,25 €", "-7,00 €"], [1200.5, 5.25, -7], "€"),
        (["EUR 1.200,50", "EUR 3,10", "EUR -2,00"], [1200.5, 3.1, -2], "EUR"),
    ],
)
def test_a_sign_that_all_numbers_carry_is_left_out_and_said(
    cells: list[str], numbers: list[float], sign: str
) -> None:
    table = read("a", cells * 4)
    assert table.frame["a"].tolist() == numbers * 4
    assert f"In 'a' the sign '{sign}' is left out of the numbers." in table.assumptions


@pytest.mark.parametrize(
    "cells", [["5%", "5", "7%"], ["$5", "€5", "$7"], ["5%", "$5%", "6%"], ["a%", "b%", "%"]]
)
def test_signs_that_differ_are_no_numbers(cells: list[str]) -> None:
    assert without_sign(cells) == (cells, "")
    assert read("a", cells * 4).frame["a"].tolist() == cells * 4


def test_a_cell_that_is_no_number_among_signed_ones_is_named() -> None:
    table = read("a", [*(f"{k},5%" for k in range(30)), "see note"])
    assert table.role("a") == "numeric"
    assert np.nanmax(table.features()["a"]) == 29.5
    assert "Column 'a' holds 'see note' in row 32, not a number" in "\n".join(
        p.message for p in table.problems
    )


@pytest.mark.parametrize("gap", [" ", "\u00a0", "\u202f", "'", "\u2019"])
def test_blanks_and_apostrophes_group_thousands(gap: str) -> None:
    cells = [f"1{gap}234,50", f"12{gap}345{gap}678,00", "9,25"]
    table = read("a", cells * 4)
    assert table.frame["a"].tolist() == [1234.5, 12345678, 9.25] * 4
    said = "a blank groups" if gap.isspace() else f"the mark '{gap}' groups"
    assert f"In 'a' {said} thousands." in table.assumptions


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["(12.50)", "3.75", "(1,200.00)"], [-12.5, 3.75, -1200]),
        (["12,50-", "3,75", "1.200,00 -"], [-12.5, 3.75, -1200]),
        (["12.50-", "3.75", "1,200.00-"], [-12.5, 3.75, -1200]),
        (["($12.50)", "$3.75", "($1,200.00)"], [-12.5, 3.75, -1200]),
        (["(12,50 €)", "3,75 €", "-1,25 €"], [-12.5, 3.75, -1.25]),
    ],
)
def test_negative_numbers_as_accountants_write_them(cells: list[str], numbers: list[float]) -> None:
    table = read("a", cells * 4)
    assert table.frame["a"].tolist() == numbers * 4
    assert "In 'a' numbers in brackets, or with a minus behind them, are negative." in table.assumptions


@pytest.mark.parametrize(
    "cells", [["(1)", "(2)", "(3)"], ["5-", "6", "7"], ["(a)", "1", "2"], ["(1, 2]", "3", "4"]]
)
def test_other_brackets_are_no_negative_numbers(cells: list[str]) -> None:
    assert read("a", cells * 4).frame["a"].tolist() == cells * 4


def test_cells_of_many_blanks_are_read_at_once() -> None:
    blanks = " " * 200_000  # minutes, were they tried one by one
    cells = ["5 %", f"1{blanks}x", f"-{blanks}x"]
    assert parse_numbers(cells, ".").tolist() == pytest.approx([5, np.nan, np.nan], nan_ok=True)


def test_what_only_looks_like_a_grouped_number_stays_text() -> None:
    texts = ["12 34", "1 2345", "1 234'567", "0 123", "12 345 67"]
    assert np.isnan(parse_numbers(texts, ".")).all()


def test_the_line_that_tells_excel_the_separator_is_no_row(tmp_path: Path) -> None:
    rows = "a|class\n" + "\n".join(f"{k % 9}|{'xy'[k % 9 > 4]}" for k in range(60))
    for first in ("sep=|\n", '"sep=|"\r\n', "\ufeffSEP=|\n"):
        table = read_table((first + rows).encode())
        assert list(table.frame.columns) == ["a", "class"]
        assert table.frame.index[0] == 2  # as the spreadsheet counts, which hides the line
    path = tmp_path / "rows.csv"
    path.write_text("sep=|\n" + rows)
    words = ["train", str(path), "-o", str(tmp_path / "model"), "--batches", "20", "--epochs", "1"]
    assert cli.main(words) == 0


@pytest.mark.parametrize("marker", ["#DIV/0!", "#VALUE!", "N.A.", "(blank)", "\\N"])
def test_errors_of_spreadsheets_and_markers_of_databases_are_missing_and_said(marker: str) -> None:
    table = read("a", ["1", marker, "2", "3"] * 5)
    assert table.frame["a"].isna().sum() == 5
    assert f"5 cells with '{marker}' count as missing." in table.assumptions


def test_many_kinds_of_missing_cells_are_one_sentence() -> None:
    table = read("a", ["1", "", "?", "NA", "n/a", "#DIV/0!", "2", "3"] * 3)
    assert (
        "15 cells count as missing: 3 empty, 3 with '#DIV/0!', 3 with '?', 3 with 'NA' and 3 with 'n/a'."
        in (table.assumptions)
    )


def test_none_is_a_value_beside_words_and_a_minus_beside_pluses() -> None:
    words = read("a", ["None", "Mild", "Severe", "Mild"] * 5)
    assert list(words.features()["a"].cat.categories) == ["None", "Mild", "Severe"]  # also their order
    assert words.frame["a"].notna().all()
    signs = read("a", ["+", "-", "+++"] * 5)
    assert signs.frame["a"].tolist() == ["+", "-", "+++"] * 5
    for others in (["1,5", "2"], ["1.5", "see note", "3"], ["2024-01-05", "2024-01-06"]):
        assert read("a", ["None", *others] * 5).frame["a"].isna().sum() == 5
    assert read("a", ["-", "mild"] * 5).frame["a"].isna().sum() == 5


def test_new_rows_are_read_as_training_was() -> None:
    rows = [
        f"{word},{k % 9},{k % 9 + k % 2}%,{'xy'[k % 9 > 4]}"
        for k, word in enumerate(["None", "Mild", "Odd"] * 20)
    ]
    table = read_table("\n".join(["a,b,c,class", *rows]).encode())
    encoder = Encoder().fit(table.features())
    frame, notes = fit_columns(read_raw(b"a,b,c\nNone,3,1.5%\nNone,3,2%\n"), encoder)
    assert frame["a"].tolist() == ["None", "None"]  # nothing here but the training tells that it is a value
    assert frame["c"].tolist() == [1.5, 2]
    assert notes == ["Column 'c': the sign '%' is left out of the numbers."]
    assert fit_columns(read_raw(b"a,b,c\nNA,None,5\n"), encoder)[0].isna().iloc[0].tolist() == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize("separator", [",", ";"])
def test_a_title_above_the_column_names_is_one_sentence(separator: str) -> None:
    table = [["a", "b", "class"], *([["1", "2", "x"], ["3", "4", "y"]] * 9)]
    rows = "\n".join(separator.join(row) for row in table)
    with pytest.raises(
        TableError, match="The first row has one cell, 'Ward 3', and rows below it have 3; delete"
    ):
        read_table(f"Ward 3\n\n{rows}".encode())
    assert read_table(b"a\n1\n2\n1;2\n").frame.shape == (3, 1)


@pytest.mark.parametrize(
    "texts", [["05-Jan-2023", "17-DEC-2024"], ["5 March 2023"], ["Mar 5, 2023"], ["1.2.24"]]
)
def test_dates_with_names_of_months(texts: list[str]) -> None:
    assert are_dates(texts)
    assert not are_dates([*texts, "5 apples 20"])


@pytest.mark.parametrize("name", ["MRN", "patient", "Account"])
def test_numbers_of_patients_and_accounts_are_identifiers(name: str) -> None:
    cells = [str(700_000 + 37 * k * k) for k in range(20)]
    assert read(name, cells).role(name) == "ignored"
    assert read(name, ["1", "2", "3", "4"] * 5).role(name) == "numeric"
