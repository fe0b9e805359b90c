"""Whether a target's column is predicted as one of a few classes or as a number, and the numbers it holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import pandas as pd

from tmcore.guess import MAX_CLASSES
from tmcore.problems import Problem, TableError, counted, quoted
from tmcore.typed import is_number_column, limit_cells, numbers_of, spoilt_cells

TaskName = Literal["classes", "numbers"]
TASKS: tuple[TaskName, ...] = ("classes", "numbers")


def usual_task(values: pd.Series, decimal: str) -> TaskName:
    """What to predict unless somebody says: numbers where there are more of them than there may be classes."""
    if values.nunique() <= MAX_CLASSES:
        return "classes"
    limits_only = len(limit_cells(values, decimal)) > 0 and not len(spoilt_cells(values, decimal))
    return "numbers" if is_number_column(values) or limits_only else "classes"


def possible_tasks(values: pd.Series, decimal: str) -> tuple[TaskName, ...]:
    """What it makes sense to predict a column as; two numbers are classes, since a miss of one is always as large."""
    n_unique = values.nunique()
    tasks: list[TaskName] = ["classes"] if n_unique <= MAX_CLASSES else []
    if (
        n_unique >= 3
        and not pd.api.types.is_bool_dtype(values.dtype)
        and not len(spoilt_cells(values, decimal))
    ):
        tasks.append("numbers")
    return tuple(tasks)


def read_numbers(name: str, values: pd.Series, decimal: str) -> pd.Series:
    """The numbers of a target, float64, for the rows that have one.

    Raises
    ------
    TableError
        A cell holds something else; the sentence names it and its row.
    """
    known = values.dropna()
    spoilt = spoilt_cells(known, decimal)
    if len(spoilt):
        raise TableError(
            f"The target {quoted(name)} holds {quoted(spoilt.iloc[0])} in row {spoilt.index[0]}, which is "
            "no number; correct the file, or predict classes."
        )
    return pd.Series(numbers_of(known, decimal), index=known.index, name=known.name)


def assumption(name: str, values: pd.Series) -> str:
    """Why a number is predicted, as a sentence."""
    return f"{quoted(name)} has {values.nunique():,} different numbers, so a number is predicted and not a class."


def spoilt_problem(name: str, values: pd.Series, decimal: str) -> Problem | None:
    """The first cell that is no number in a column of too many values for classes; None where all are numbers."""
    try:
        read_numbers(name, values, decimal)
    except TableError as error:
        return Problem("error", name, str(error))
    return None


def number_problems(name: str, values: pd.Series) -> Iterator[Problem]:
    """Whether the column `values` can be predicted as a number, and what to know about it."""
    known = values.dropna()
    if known.nunique() < 2:
        message = f"Every row has the same number in {quoted(name)}; choose a target with two or more."
        if known.empty:
            message = f"The target {quoted(name)} has no values; choose another target."
        yield Problem("error", name, message)
    elif left_out := len(values) - len(known):
        verb = "is" if left_out == 1 else "are"
        message = f"{counted(left_out, 'row')} without a number in the target {quoted(name)} {verb} left out."
        yield Problem("warning", name, message)
