"""Example data sets that come with the package, each with its source and licence (``manifest.json``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from tmcore.guess import TableRole
from tmcore.table import Table, read_table


@dataclass(frozen=True)
class Sample:
    """One example data set.

    Attributes
    ----------
    key, file : short name in code, and the file's name
    title, about : name on screen, and one line of what it is
    source, citation, licence : where it comes from, whom to cite, "licence not stated" where the source has none
    target : the column to predict
    n_rows, n_columns : size, the target included
    roles, orders : roles and orders of levels that a look at the values alone would not give
    positive_class : of two classes the one to predict, where it is not the rarer
    """

    key: str
    file: str
    title: str
    about: str
    source: str
    citation: str
    licence: str
    target: str
    n_rows: int
    n_columns: int
    roles: Mapping[str, TableRole] = field(default_factory=dict)
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    positive_class: str | None = None

    def read(self) -> bytes:
        """The bytes of the CSV file."""
        return (files(__name__) / self.file).read_bytes()

    @property
    def overrides(self) -> dict[str, Any]:
        """What `read_table` should be told besides the bytes: target, class to predict, roles and orders."""
        return {
            "target": self.target,
            "positive_class": self.positive_class,
            "roles": self.roles,
            "orders": self.orders,
        }


@cache
def samples() -> tuple[Sample, ...]:
    """All example data sets, the first one to open first."""
    manifest = json.loads((files(__name__) / "manifest.json").read_text(encoding="utf-8"))
    return tuple(Sample(**item) for item in manifest)


def load(key: str) -> Table:
    """One example data set as a table.

    Raises
    ------
    ValueError
        There is no such example.
    """
    for sample in samples():
        if sample.key == key:
            return read_table(sample.read(), **sample.overrides)
    known = ", ".join(sample.key for sample in samples())
    raise ValueError(f"There is no example '{key}'; the examples are {known}.")
