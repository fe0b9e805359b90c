"""Labels of the target that the options ``--read-as`` and ``--leave-out`` are about."""

from __future__ import annotations

import argparse

import pandas as pd

from tmcore.columns import category_codes
from tmcore.commands.words import cut
from tmcore.label_choices import LabelChoices, chosen
from tmcore.problems import TableError, quoted
from tmcore.table import Table


def choose(table: Table, options: argparse.Namespace) -> Table:
    """The table with the labels of its target, and then the class to predict, as the options say.

    Raises
    ------
    TableError
        As in `choices`, `Table.with_label` and `Table.with_positive_class`.
    """
    values = pd.Series(dtype="str") if table.target is None else table.frame[table.target]
    if table.target is None or table.task == "numbers":
        for _ in [*options.read_as, *options.leave_out]:
            table = table.with_label("", None)  # which says why not
    for label, read_as in choices(values, options).items():
        table = table.with_label(label, read_as)
    return table if options.positive is None else table.with_positive_class(options.positive)


def choices(values: pd.Series, options: argparse.Namespace) -> LabelChoices:
    """What the options say of the labels in a target's column as read.

    Raises
    ------
    TableError
        Two options say something else of a label, or the column has no such label; see `label_choices.chosen`.
    """
    known = category_codes(values)[1]
    pairs: list[tuple[str, str | None]] = [cut(pair, known, known, "--read-as") for pair in options.read_as]
    told: dict[str, str | None] = {}
    found: LabelChoices = {}
    for label, other in [*pairs, *((label.strip(), None) for label in options.leave_out)]:
        if told.setdefault(label, other) != other:
            raise TableError(
                f"{quoted(label)} in {quoted(values.name)} is both {_fate(told[label])} and {_fate(other)}; choose one."
            )
        found = chosen(values, found, label, other)
    return found


def _fate(read_as: str | None) -> str:
    return "left out" if read_as is None else f"read as {quoted(read_as)}"
