"""Whether a table's target is predicted as a class or as a number."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tmcore.table import Table, TableError, read_table


def table(target: list[object], **given: object) -> Table:
    frame = pd.DataFrame({"a": np.arange(len(target)) % 7, "y": target})
    return read_table(frame.to_csv(index=False).encode(), target="y", **given)  # type: ignore[arg-type]


def test_more_numbers_than_classes_are_a_number_to_predict() -> None:
    found = table([i * 1.5 for i in range(21)])
    assert found.task == "numbers"
    assert found.possible_tasks == ("numbers",)
    assert found.labels().tolist() == [i * 1.5 for i in range(21)]
    assert "'y' has 21 different numbers, so a number is predicted and not a class." in found.assumptions
    assert found.positive_class is None
    assert not [problem for problem in found.problems if problem.severity == "error"]
    assert table([i % 20 for i in range(60)]).task == "classes"


def test_either_may_be_chosen_where_both_make_sense() -> None:
    few = table([i % 3 for i in range(30)])
    assert few.possible_tasks == ("classes", "numbers")
    assert table([i % 2 for i in range(30)]).possible_tasks == ("classes",)
    as_numbers = few.with_task("numbers")
    assert as_numbers.labels().dtype == np.float64
    assert as_numbers.with_target("a").task == "classes"  # another column, another choice
    assert as_numbers.with_task("classes").labels().dtype == np.int64
    assert table([i % 3 for i in range(30)], task="numbers").task == "numbers"


def test_what_is_no_number_is_named_with_its_row() -> None:
    mixed = table([f"{i}.5" if i != 3 else "four" for i in range(30)])
    assert mixed.task == "classes"
    assert mixed.possible_tasks == ()
    assert "holds 'four' in row 5, which is no number" in mixed.problems[0].message
    with pytest.raises(TableError, match=r"'y' holds 'four' in row 5, which is no number"):
        mixed.with_task("numbers")


def test_rows_without_a_number_are_left_out_with_a_word() -> None:
    gaps = table([None if i in (2, 9) else i * 1.5 for i in range(40)])
    assert len(gaps.labels()) == len(gaps.features()) == 38
    assert "2 rows without a number in the target 'y' are left out." in [p.message for p in gaps.problems]


def test_many_numbers_as_classes_are_refused_with_advice() -> None:
    (problem,) = [
        p for p in table([i * 1.5 for i in range(40)]).with_task("classes").problems if p.severity == "error"
    ]
    assert problem.message == (
        "The target 'y' has 40 different values and can have at most 20 classes here. Predict a number instead."
    )


def test_a_column_that_is_the_target_in_another_unit_is_pointed_out() -> None:
    rng = np.random.default_rng(0)
    inches = rng.normal(70, 3, 60)
    frame = pd.DataFrame({"cm": inches * 2.54, "noise": rng.normal(size=60), "height": inches})
    told = [p for p in Table.from_frame(frame, "height").problems if "rises and falls" in p.message]
    assert [p.column for p in told] == ["cm"]
