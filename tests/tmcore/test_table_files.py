"""A table in a file: equal when it comes back, and damage is one sentence."""

from __future__ import annotations

import random
from pathlib import Path

import pandas as pd
import pytest

import sample_data
from tmcore.problems import TableError
from tmcore.table import Table, read_table
from tmcore.table_files import read_table_file, write_table

ODD = """row;row ;1;__index_level_0__;a,"b";wert (mm);class
1;x;007;2024-01-02;ja;1,5;u
2;?;010;2024-01-03;nein;abc;v

3;x;011;;ja;2,25;u
4;y;012;2024-01-05;;-0,0;v
"""


def same(one: Table, other: Table) -> None:
    pd.testing.assert_frame_equal(one.frame, other.frame)
    pd.testing.assert_frame_equal(one.features(), other.features())
    pd.testing.assert_series_equal(one.labels(), other.labels())
    assert (one.target, one.columns, one.problems, one.assumptions) == (
        other.target,
        other.columns,
        other.problems,
        other.assumptions,
    )


@pytest.mark.parametrize("sample", sample_data.samples(), ids=lambda sample: sample.key)
def test_examples_come_back_equal(tmp_path: Path, sample: sample_data.Sample) -> None:
    table = read_table(sample.read(), **sample.overrides)
    write_table(table, tmp_path / "table")
    same(table, read_table_file(tmp_path / "table"))


def test_choices_made_by_hand_and_odd_names_come_back(tmp_path: Path) -> None:
    table = read_table(ODD.encode(), separator=";", decimal=",").with_role("wert (mm)", "nominal")
    table = table.with_order("1", ["012", "007", "011", "010"]).with_target("class")
    write_table(table, tmp_path / "table")
    found = read_table_file(tmp_path / "table")
    same(table, found)
    assert list(found.features()["1"].cat.categories) == ["012", "007", "011", "010"]
    assert found.frame.index.tolist() == [2, 3, 5, 6]
    same(table.with_role("wert (mm)", "numeric"), found.with_role("wert (mm)", "numeric"))
    with pytest.raises(TableError, match="no column 'nowhere'"):
        found.with_target("nowhere")


@pytest.mark.parametrize("cell", [7, 2**70])
def test_cells_that_parquet_cannot_hold_are_one_sentence(tmp_path: Path, cell: int) -> None:
    table = Table.from_frame(pd.DataFrame({"a": [1.0, 2.0, 3.0], "y": ["u", "v", "u"]}), target="y")
    table.frame["y"] = pd.Series(["u", cell, "u"], table.frame.index, dtype=object)
    with pytest.raises(ValueError, match="Column 'y' cannot be written to a file"):
        write_table(table, tmp_path / "table")
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_or_foreign_file_is_one_sentence(tmp_path: Path) -> None:
    table = read_table(ODD.encode(), separator=";", decimal=",")
    write_table(table, tmp_path / "table")
    whole, choose = (tmp_path / "table").read_bytes(), random.Random(0)
    for _ in range(60):
        bytes_ = bytearray(whole)
        for _ in range(3):
            bytes_[choose.randrange(len(bytes_))] ^= 1 << choose.randrange(8)
        (tmp_path / "table").write_bytes(bytes_)
        try:
            found = read_table_file(tmp_path / "table")
        except ValueError as error:
            assert "damaged" in str(error)  # noqa: PT017
        else:
            same(table, found)
    table.frame.to_parquet(tmp_path / "table")
    with pytest.raises(ValueError, match="not a table that tmcore wrote"):
        read_table_file(tmp_path / "table")
    with pytest.raises(FileNotFoundError):
        read_table_file(tmp_path / "nowhere")
