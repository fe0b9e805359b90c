"""What may be wrong with a table, as sentences people can act on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""Worst first."""


class TableError(ValueError):
    """A file or a choice that cannot be used; the message says what, where and what to do."""


@dataclass(frozen=True)
class Problem:
    """One finding about a table.

    Attributes
    ----------
    severity : "error" (training is not possible), "warning" or "info"
    column : the column it is about, None for the whole table
    message : one or two plain sentences
    labels : texts of the target's labels that it is about, where rows of them may be left out or read differently
    """

    severity: Severity
    column: str | None
    message: str
    labels: tuple[str, ...] = ()


def quoted(text: object, most: int = 40) -> str:
    """A cell or name from the file inside a sentence: in quotes, on one line, shortened."""
    line = " ".join(str(text).split())
    return f"'{line if len(line) <= most else line[: most - 1] + '…'}'"


def listed(items: list[str], most: int = 5) -> str:
    """``a, b and c``, or ``a, b, c, d, e and 7 more``."""
    if len(items) > most:
        return f"{', '.join(items[:most])} and {len(items) - most} more"
    return " and ".join([", ".join(items[:-1]), items[-1]]) if len(items) > 1 else "".join(items)


def number_said(number: float) -> str:
    """A number from a table: ``1,234,567``, ``0.5``, with at most six digits where it is not whole."""
    return f"{number:,.0f}" if float(number).is_integer() and abs(number) < 1e15 else f"{number:,.6g}"


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """``1 row``, ``1,200 rows``."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"
