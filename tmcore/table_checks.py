"""Everything that is found in a table before training, in the order in which it is looked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from tmcore import checks, predicted
from tmcore.column_info import ColumnInfo
from tmcore.guess import MAX_CLASSES
from tmcore.problems import Problem, quoted
from tmcore.typed import limit_cells, numbers_of, spoilt_cells

if TYPE_CHECKING:
    from tmcore.table import Table


def find_problems(table: Table, features: pd.DataFrame, decimal: str) -> Iterator[Problem]:
    """What is wrong with a table; `features` are the columns to learn from."""
    if table.n_rows < 2:
        yield Problem(
            "error", None, "The file has one row of data; a rule needs more than one row to learn from."
        )
    if table.frame.shape[1] == 1:
        message = f"The file has one column only, {quoted(table.frame.columns[0])}. Check the separator."
        yield Problem("error", None, message)
        return
    if table.target is None:
        message = (
            f"No column has 2 to {MAX_CLASSES} different values, which would be its classes; choose the column to "
            "predict, which may also hold numbers."
        )
        yield Problem("error", None, message)
    else:
        yield from _target_problems(table, table.target, decimal)
    if features.shape[1] == 0:
        message = "No column is left to learn from; give at least one column a role other than ignored."
        yield Problem("error", None, message)
    learned = [info for info in table.columns if info.name != table.target]
    for info in learned:
        if info.role != "ignored":
            yield from _column_problems(info, table.frame[info.name], decimal)
    yield from checks.left_out_problems(learned)
    if table.target is not None and features.shape[1] and len(features):
        yield from _row_problems(table, features)


def _target_problems(table: Table, name: str, decimal: str) -> Iterator[Problem]:
    values = table.frame[name]
    if table.task == "numbers":
        yield from predicted.number_problems(name, values)
        yield from checks.limit_problems(name, limit_cells(values, decimal))
        return
    # Numbers with a few other cells among them are read as texts; what spoils them is what helps to know.
    spoilt = None
    if values.nunique() > MAX_CLASSES and table.role(name) == "numeric":
        spoilt = predicted.spoilt_problem(name, values, decimal)
    found = checks.target_problems(name, values, table.answers)
    yield from found if spoilt is None else (spoilt,)


def _column_problems(info: ColumnInfo, values: pd.Series, decimal: str) -> Iterator[Problem]:
    if info.n_unique <= 1:
        found = "no values" if info.n_unique == 0 else "the same value in every row"
        message = f"Column {quoted(info.name)} has {found}; nothing can be learned from it."
        yield Problem("warning", info.name, message)
    if info.role == "numeric":
        spoilt = spoilt_cells(values, decimal)
        if len(spoilt):
            yield checks.spoilt_problem(info.name, spoilt)
        yield from checks.limit_problems(info.name, limit_cells(values, decimal))
        yield from checks.hidden_missing_problems(info.name, numbers_of(values, decimal))
    if info.role == "nominal":
        yield from checks.spelling_problems(info.name, values)
    yield from checks.missing_problems(info.name, info.n_missing, len(values))


def _row_problems(table: Table, features: pd.DataFrame) -> Iterator[Problem]:
    """What rows tell: a column that gives the target away, rows that repeat."""
    answers = table.labels()
    if table.task == "numbers":
        yield from checks.number_leak_problems(features, answers)
    elif answers.nunique() > MAX_CLASSES:
        return
    else:
        yield from checks.leak_problems(features, answers)
    yield from checks.duplicate_problems(features, answers)
