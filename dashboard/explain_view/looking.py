"""The row being looked at, the values it is given, and what the visitor asks for. No Streamlit here."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from tmcore.explain import Domain, Value, domains, row_values, wrong_rows
from tmcore.flips import Search, find_flips
from tmcore.ruleset import RuleSet

FLIP_SECONDS = 0.8


@dataclass
class Looking:
    """One row of the test rows, or of the training rows where there are none.

    Attributes
    ----------
    place : int
        The row's position among `X`.
    given : dict
        What each column used by rules is given; starts as the row's own values.
    locked : set of str
        Columns left alone when looking for a flip.
    focus : int or None
        Class whose votes are drawn, with more than two; None is the predicted one.
    """

    rules: RuleSet
    refitted: bool
    train: tuple[pd.DataFrame, pd.Series]
    test: tuple[pd.DataFrame, pd.Series]
    place: int = 0
    locked: set[str] = field(default_factory=set)
    focus: int | None = None
    search: Search | None = None

    def __post_init__(self) -> None:
        self.kept: tuple[object, ...] = ()
        self.go(0)

    @property
    def is_test(self) -> bool:
        """Whether the rows are ones the machine has not seen."""
        return len(self.test[1]) > 0

    @property
    def rows(self) -> tuple[pd.DataFrame, pd.Series]:
        """The rows walked through."""
        return self.test if self.is_test else self.train

    @cached_property
    def domains(self) -> dict[str, Domain]:
        """What each column was in training."""
        return domains(self.rules, self.train[0])

    @cached_property
    def wrong(self) -> np.ndarray:
        """Positions of the rows that the rules get wrong."""
        return wrong_rows(self.rules, *self.rows)

    @property
    def columns(self) -> list[str]:
        """The columns the rules read, in order."""
        return list(self.domains)

    @property
    def is_changed(self) -> bool:
        """Whether any value differs from the row's own."""
        return self.given != self.own

    def go(self, step: int) -> None:
        """Step to another row, around the end."""
        self.place = (self.place + step) % len(self.rows[1])
        self.own = row_values(self.rules, self.rows[0], self.place)
        self.given = dict(self.own)
        self.focus = None

    def go_wrong(self) -> None:
        """Go to the next row that the rules get wrong, around the end; stay where there is none."""
        if len(self.wrong):
            later = self.wrong[self.wrong > self.place]
            self.go(int(later[0] if len(later) else self.wrong[0]) - self.place)

    def set(self, column: str, value: Value) -> None:
        """Give a column another value.

        Raises
        ------
        ValueError
            If it is neither the row's own nor one the column had in training.
        """
        own = self.own[column]
        self.given[column] = own if value == own else self.domains[column].check(value)

    def flips(self) -> Search:
        """The smallest changes that flip the class, searched once for the same values and locks."""
        asked = (tuple(self.given.items()), frozenset(self.locked))
        if self.search is None or self.kept != asked:
            self.search = find_flips(
                self.rules, self.given, self.domains, self.locked, max_columns=3, seconds=FLIP_SECONDS
            )
            self.kept = asked
        return self.search

    def obey(self, name: Any, value: Any) -> None:
        """Carry out a command of the page; one that makes no sense changes nothing."""
        columns = self.columns
        if name == "go" and value in (-1, 1):
            self.go(value)
        elif name == "wrong":
            self.go_wrong()
        elif name == "own":
            self.given = dict(self.own)
        elif name == "focus" and value in range(len(self.rules.classes)):
            self.focus = value
        elif name == "lock" and value in range(len(columns)):
            self.locked ^= {columns[value]}
        elif name == "set" and isinstance(value, list):
            for item in value:
                if isinstance(item, list) and len(item) == 2 and item[0] in range(len(columns)):
                    self._try(columns[item[0]], item[1])

    def _try(self, column: str, value: Any) -> None:
        if value is None or isinstance(value, int | float | str):
            try:
                self.set(column, value)
            except ValueError:
                return
