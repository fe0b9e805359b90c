"""Limits such as "<5" among numbers, and cells of new rows that are read by themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tmcore import cli
from tmcore.encode import Encoder
from tmcore.model_files import load
from tmcore.new_rows import fit_columns
from tmcore.read_csv import read_raw
from tmcore.table import Table, TableError, read_table
from tmcore.table_files import read_table_file, write_table

NUMBERS = [f"{5 + k * 0.7:.1f}" for k in range(30)]
SAID = "3 cells of 'CRP (mg/l)' are limits such as '<5', read as 5."


def table_of(cells: list[str], target: str = "class") -> Table:
    rows = "\n".join(f"{cell};{k % 7 / 2};{'ab'[k % 2]}" for k, cell in enumerate(cells))
    return read_table(f"CRP (mg/l);b;class\n{rows}".encode(), target=target)


def messages(table: Table) -> list[str]:
    return [problem.message for problem in table.problems]


def test_limits_among_many_numbers_are_read_as_the_number_they_name_and_said(tmp_path: Path) -> None:
    table = table_of(["<5", "<5", *NUMBERS, "> 100"])
    expected = [5.0, 5.0, *map(float, NUMBERS), 100.0]
    assert table.role("CRP (mg/l)") == "numeric"
    assert table.features()["CRP (mg/l)"].tolist() == expected
    assert SAID in messages(table)
    assert "In 'CRP (mg/l)' limits such as '<5' are read as the number they name, 5." in table.assumptions
    assert table.columns[0].note == "3 cells are limits such as '<5', read as 5"
    write_table(table, tmp_path / "table")
    assert read_table_file(tmp_path / "table").features()["CRP (mg/l)"].tolist() == expected
    nominal = table.with_role("CRP (mg/l)", "nominal")
    assert "<5" in nominal.features()["CRP (mg/l)"].cat.categories
    assert SAID not in messages(nominal)


@pytest.mark.parametrize("limit", ["<0,5", "≤ 0,5", ">=0,5", "≥0,5", "<= 0,5"])
def test_every_form_of_a_limit_with_a_decimal_comma(limit: str) -> None:
    cells = [limit, *NUMBERS]
    rows = "\n".join(f"{cell.replace('.', ',')};{'ab'[k % 2]}" for k, cell in enumerate(cells))
    table = read_table(f"CRP (mg/l);class\n{rows}".encode())
    assert table.features()["CRP (mg/l)"].iloc[0] == 0.5
    one = f"1 cell of 'CRP (mg/l)' is a limit, '{limit}', read as 0,5."
    assert one in messages(table)


def test_a_cell_that_is_neither_is_still_named() -> None:
    table = table_of(["<5", "<5", *NUMBERS, "n.k."])
    assert table.columns[0].note == "1 cell is not a number; 2 cells are limits such as '<5', read as 5"
    assert np.isnan(table.features()["CRP (mg/l)"].iloc[-1])


@pytest.mark.parametrize(
    "cells",
    [["<5", "5", "6", "7", ">7"], ["<18", "18-30", ">30"], ["<5", "<10", "<20"], ["0", "1", "2", ">2"]],
)
def test_ranges_and_few_numbers_stay_a_scale(cells: list[str]) -> None:
    table = table_of(cells * 5)
    assert table.role("CRP (mg/l)") == "ordinal"
    assert table.features()["CRP (mg/l)"].cat.categories.tolist() == cells


def test_limits_alone_cannot_be_numbers() -> None:
    with pytest.raises(TableError, match="cannot be numeric: row 2 holds '<5'"):
        table_of(["<5", ">5", "<9"] * 5).with_role("CRP (mg/l)", "numeric")
    assert table_of(["<5", ">5"] * 9).role("CRP (mg/l)") == "boolean"


def test_a_target_with_limits_is_predicted_as_a_number() -> None:
    table = table_of(["<5", "<5", *NUMBERS, "> 100"], target="CRP (mg/l)")
    assert table.task == "numbers"
    assert table.labels().tolist() == [5.0, 5.0, *map(float, NUMBERS), 100.0]
    assert SAID in messages(table)


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("(12.50)", -12.5),
        ("5 %", 5),
        ("€ 5", 5),
        ("12.50-", -12.5),
        ('"12,50-"', -12.5),
        ('"(12,50)"', -12.5),
        ("<5", 5),
        ("> 5 %", 5),
        ("\N{MINUS SIGN}3.5", -3.5),
        ("(€ 1.50)", -1.5),
        ("see note", np.nan),
    ],
)
@pytest.mark.parametrize("others", [[], ["3", "4 %", "7 $", "word"]])
def test_a_cell_of_new_rows_is_read_by_itself(cell: str, number: float, others: list[str]) -> None:
    encoder = Encoder().fit(table_of(NUMBERS).features()[["CRP (mg/l)"]].set_axis(["a"], axis=1))
    decimal = "," if cell.startswith('"') else "."
    frame, _ = fit_columns(
        read_raw("\n".join(["a", cell, *others]).encode(), separator=";", decimal=decimal), encoder
    )
    np.testing.assert_equal(frame["a"].iloc[0], number)


def test_the_decimal_mark_of_one_cell_is_found() -> None:
    for cell in ("12,50-", "(12,50)", "<12,50"):
        assert read_raw(f"a;b\n{cell};x\n".encode()).decimal == ","


def test_what_was_read_of_new_rows_is_said() -> None:
    encoder = Encoder().fit(table_of(NUMBERS).features())
    notes = fit_columns(read_raw(b"CRP (mg/l),b\n<5,\n5 %,\n5 $,\n"), encoder)[1]
    assert notes == [
        "Column 'CRP (mg/l)': the signs '$' and '%' are left out of the numbers.",
        "Column 'CRP (mg/l)': 1 cell is a limit, '<5', read as 5.",
        "Column 'b' holds no value here and counts as unknown in every row.",
    ]


def test_training_in_parts_reads_limits_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rows.csv"
    cells = (["<5"] * 20 + [f"{20 + k}.5" for k in range(20)]) * 2
    path.write_text("\n".join(["CRP,class", *(f"{one},{'yn'[one != '<5']}" for one in cells)]))
    words = [
        "train",
        str(path),
        "-o",
        str(tmp_path / "model"),
        "--n-clauses",
        "4",
        "--epochs",
        "2",
        "--batches",
        "60",
    ]
    assert cli.main(words) == 0
    assert "cells of 'CRP' are limits such as '<5', read as 5." in capsys.readouterr().out
    (column,) = load(tmp_path / "model").encoder_.columns
    assert (column.role, column.minimum, column.n_missing) == ("numeric", 5, 0)


def test_a_last_column_of_many_numbers_is_the_target_and_the_other_is_named() -> None:
    rows = [f"{k % 4},{k % 9},{k * 0.7 % 11:.1f}" for k in range(60)]
    table = read_table("\n".join(["Previous stays,Age,Length of stay", *rows]).encode())
    assert (table.target, table.task) == ("Length of stay", "numbers")
    assert (
        "'Length of stay' is the column to predict, because it is the last column and holds many different numbers; "
        "if a class is meant, it may be 'Age'." in table.assumptions
    )
    for last in ("Customer ID", "Date"):
        cells = [f"2024-01-{k % 28 + 1:02d}" if last == "Date" else str(700 + k % 30) for k in range(60)]
        lines = [f"{k % 4},{cell}" for k, cell in enumerate(cells)]
        assert read_table("\n".join([f"stays,{last}", *lines]).encode()).target == "stays"
    named = "\n".join(["survived,fare", *(f"{k % 2},{k * 0.7:.1f}" for k in range(60))])
    assert read_table(named.encode()).target == "survived"
