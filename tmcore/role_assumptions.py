"""What was assumed about the columns of a table, in plain sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from tmcore.column_info import ColumnInfo
from tmcore.problems import listed, quoted
from tmcore.texts import without_limit


def role_assumptions(
    guessed: Sequence[ColumnInfo], orders: Mapping[str, Sequence[str]], switches: Sequence[str]
) -> Iterator[str]:
    """Sentences about columns whose role nobody gave.

    Parameters
    ----------
    guessed : the columns
    orders : the guessed levels of those that are ordinal, lowest first
    switches : names of those that hold two numbers only
    """
    left_out = [f"{quoted(i.name)} ({i.note})" for i in guessed if i.role == "ignored"]
    if left_out:
        yield f"Left out: {listed(left_out)}."
    for name, levels in orders.items():
        shown = levels if len(levels) <= 6 else (*levels[:2], "…", *levels[-2:])
        yield f"{quoted(name)} is in order: {' < '.join(map(quoted, shown)).replace(quoted('…'), '…')}."
    codes = [quoted(i.name) for i in guessed if i.role == "numeric" and i.note.endswith("whole numbers")]
    if codes:
        yield (
            f"{listed(codes)} {'is' if len(codes) == 1 else 'are'} read as numbers with an order; "
            "if the numbers are codes, choose nominal."
        )
    if switches:
        verb = (
            "is read as a yes-or-no column, having" if len(switches) == 1 else "are yes-or-no columns, having"
        )
        yield f"{listed(list(map(quoted, switches)))} {verb} two numbers only."


def limit_assumptions(limits: Mapping[str, pd.Series]) -> Iterator[str]:
    """A sentence about each numeric column some cells of which are limits such as ``<5``."""
    for name, cells in limits.items():
        if len(cells):
            usual = str(cells.value_counts().index[0])
            yield (
                f"In {quoted(name)} limits such as {quoted(usual)} are read as the number they name, "
                f"{without_limit(usual)}."
            )
