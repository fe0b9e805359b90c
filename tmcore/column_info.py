"""What is known about one column of a table."""

from __future__ import annotations

from dataclasses import dataclass

from tmcore.guess import TableRole


@dataclass(frozen=True)
class ColumnInfo:
    """What is known about one column.

    Attributes
    ----------
    name : verbatim from the file, without surrounding blanks
    role : "numeric", "boolean", "nominal", "ordinal" or "ignored"
    n_missing, n_unique : missing cells, and different values among the others
    note : why it is left out, or what to know about it; often ""
    """

    name: str
    role: TableRole
    n_missing: int
    n_unique: int
    note: str
