"""Checks before training: leaks, lopsided classes, repeated rows, zeros that hide missing values."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tmcore.table import Table


def messages(table: Table, severity: str) -> str:
    return "\n".join(p.message for p in table.problems if p.severity == severity)


def test_leaks() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 100)
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=100),
            "copy": np.where(y == 1, "sick", "well"),
            "finer": np.where(y == 1, rng.choice(["a", "b"], 100), rng.choice(["c", "d"], 100)),
            "nearly": np.where(np.arange(100) == 3, 1 - y, y) + 10,
            "score": y * 5 + rng.random(100),
            "honest": rng.choice(["p", "q"], 100),
            "y": y,
        }
    )
    table = Table.from_frame(frame, target="y")
    found = {p.column: p.message for p in table.problems if p.severity == "warning"}
    assert set(found) == {"copy", "finer", "nearly", "score"}
    assert "says the same as the target" in found["copy"]
    assert "alone determines the target." in found["finer"]
    assert "in 99.0 % of the rows" in found["nearly"]
    assert "one range of its values" in found["score"]


def test_skewed_and_tiny_classes() -> None:
    labels = ["fine"] * 97 + ["fraud"] * 2 + ["odd"]
    table = Table.from_frame(pd.DataFrame({"x": np.arange(100) % 9, "class": labels}))
    found = messages(table, "warning")
    assert (
        "Too few rows of 'fraud' (2 rows) and 'odd' (1 row) in 'class': for rules to be settled and checked a "
        "class needs three to train on, and one to test on." in found
    )
    labels = ["fine"] * 96 + ["fraud"] * 4
    table = Table.from_frame(pd.DataFrame({"x": np.arange(100) % 9, "class": labels}))
    found = messages(table, "warning")
    assert "Class 'fraud' has 4 rows of 100 (4 %). Always answering 'fine' is right in 96 %" in found
    assert "Too few rows" not in found


def test_categories_in_other_case_are_told() -> None:
    frame = pd.DataFrame(
        {"sex": ["M", "m", "F", "X", "m ", "f"], "x": [1, 2, 3, 4, 5, 6], "class": list("ababab")}
    )
    assert (
        "In 'sex' these are different categories as written: 'M', 'm' and 'm'; 'F' and 'f'. If they mean"
        in (messages(Table.from_frame(frame), "info"))
    )


def test_duplicate_rows_are_counted() -> None:
    frame = pd.DataFrame({"x": [1, 2, 3, 1, 2, 1], "class": ["a", "b", "a", "a", "a", "a"]})
    assert "2 rows repeat an earlier row in every column used (the first is row 5)" in messages(
        Table.from_frame(frame), "warning"
    )


def test_zeros_that_hide_missing_values() -> None:
    rng = np.random.default_rng(2)
    pressure = rng.integers(60, 120, 100)
    pressure[:7], pressure[7] = 0, 60
    frame = pd.DataFrame(
        {"pressure": pressure, "visits": rng.integers(0, 15, 100), "class": rng.choice(["a", "b"], 100)}
    )
    found = messages(Table.from_frame(frame), "info")
    assert "Column 'pressure' is 0 in 7 rows and otherwise at least 60" in found
    assert "'visits'" not in found


def test_many_columns_left_out_for_one_reason_are_one_problem() -> None:
    frame = pd.DataFrame({**{f"c{i}": ["k"] * 4 for i in range(8)}, "x": [1, 2, 3, 5], "y": [0, 1, 0, 1]})
    found = [problem for problem in Table.from_frame(frame).problems if "left out" in problem.message]
    assert [p.message for p in found] == [
        "8 columns are left out: only one value ('c0', 'c1', 'c2', 'c3', 'c4' and 3 more)."
    ]
