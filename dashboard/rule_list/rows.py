"""The rows that one rule covers, on raw values: those it is wrong about first. No Streamlit here."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.file_rows import file_rows
from dashboard.rule_list.counting import Counter
from dashboard.rule_list.listing import Listed
from dashboard.style import count, hue, mark, short
from tmcore.conditions import number_text
from tmcore.ruleset import RuleSet
from tmcore.scoring import write_csv

MOST_ROWS = 200
MOST_COLUMNS = 40
"""Rows of each part and columns in the table on the page; the file has them all."""

PARTS = ("training", "test")


@dataclass(frozen=True)
class CoveredRows:
    """The training and test rows that a rule covers.

    Parameters
    ----------
    listed : Listed
    base : RuleSet
        Whose classes and columns the rule has.
    counter : Counter
        It has the rows; their labels are shown, which in a `Table` are row numbers of the file.
    target : str
        Heading of the classes.
    """

    listed: Listed
    base: RuleSet
    counter: Counter
    target: str

    @cached_property
    def parts(self) -> tuple[tuple[NDArray[np.intp], NDArray[np.bool_]], ...]:
        """For the training and the test rows the places of the covered ones, wrong ones first, and which are right."""
        found = []
        for (X, _), labels in zip((self.counter.train, self.counter.test), self.counter.labels, strict=True):
            holds = np.ones(len(X), dtype=bool)
            for condition in self.listed.rule.conditions:
                holds &= condition.test(self._column(X, condition.column))
            places = np.flatnonzero(holds)
            right = self.counter.outcomes.verdicts(self.listed.rule, labels[places])
            order = np.argsort(right, kind="stable")
            found.append((places[order], right[order]))
        return tuple(found)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The rule's own columns, then the others."""
        own = [condition.column for condition in self.listed.rule.conditions]
        return (*own, *(column.name for column in self.base.columns if column.name not in own))

    @property
    def title(self) -> str:
        """The counts in one sentence."""
        words = []
        for (places, right), rows, name in zip(
            self.parts, (self.counter.train, self.counter.test), PARTS, strict=True
        ):
            if len(rows[0]):
                of = f"{len(places):,} of {count(len(rows[0]), f'{name} row')}"
                word = self.counter.outcomes.verdict_words[0]
                words.append(f"{of}, {int(right.sum()):,} {word}" if len(places) else of)
        return f"Rule {self.listed.number} covers {' and '.join(words)}"

    def payload(self) -> dict[str, Any]:
        """What the table of rows is sent, at most `MOST_ROWS` of each part."""
        shown = self.columns[:MOST_COLUMNS]
        n_own = len(self.listed.rule.conditions)
        labels = {column.name: column for column in self.base.columns}
        heads = [_heading(labels[name].label, labels[name].unit) for name in shown]
        return {
            "heads": ["row", self.counter.outcomes.heads[2], short(self.target), *heads],
            "verdicts": self.counter.outcomes.verdict_words,
            "own": n_own,
            "parts": [
                self._part(k, shown)
                for k, rows in enumerate((self.counter.train, self.counter.test))
                if len(rows[0])
            ],
            "more": f"{len(self.columns) - len(shown):,} more columns are in the file."
            if len(shown) < len(self.columns)
            else "",
        }

    def _part(self, k: int, shown: tuple[str, ...]) -> dict[str, Any]:
        places, right = self.parts[k]
        X, y = (self.counter.train, self.counter.test)[k]
        some = places[:MOST_ROWS]
        cells = [[cell_text(value) for value in self._column(X, name).iloc[some].tolist()] for name in shown]
        classes = self.counter.labels[k][some].tolist()
        return {
            "name": PARTS[k],
            "total": len(places),
            "wrong": int((~right).sum()),
            "right": right[:MOST_ROWS].tolist(),
            "classes": [
                [mark(index), hue(index), cell_text(label)]
                for index, label in zip(classes, y.iloc[some], strict=True)
            ],
            "rows": file_rows(X.index[some]),
            "cells": cells,
        }

    def csv(self) -> bytes:
        """Every covered row as CSV; no cell can be taken for a formula."""
        out = io.StringIO()
        write_csv(out, self._lines())
        return out.getvalue().encode("utf-8-sig")

    def _lines(self) -> Iterator[list[Any]]:
        yield ["part", "row", self.counter.outcomes.heads[2], self.target, *self.columns]
        for name, (X, y), (places, right) in zip(
            PARTS, (self.counter.train, self.counter.test), self.parts, strict=True
        ):
            cells = [map(_plain, self._column(X, column).iloc[places].tolist()) for column in self.columns]
            labels = map(_plain, y.iloc[places].tolist())
            told = (self.counter.outcomes.verdict_words[0 if one else 1] for one in right)
            for row in zip(file_rows(X.index[places]), told, labels, *cells, strict=True):
                yield [name, *row]

    def _column(self, X: pd.DataFrame, name: str) -> pd.Series:
        if not self.base.by_name:
            return X.iloc[:, [column.name for column in self.base.columns].index(name)]
        return X.iloc[:, [str(column) for column in X.columns].index(name)]


def _heading(label: str, unit: str | None) -> str:
    return short(label) + (f", {short(unit)}" if unit else "")


def _plain(value: Any) -> int | float | str:
    """A cell for a file: numbers stay numbers, a missing value is empty."""
    if pd.isna(value):
        return ""
    if isinstance(value, float | np.floating):
        return int(value) if float(value).is_integer() else float(value)
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else str(value)


def cell_text(value: Any) -> str:
    """A raw value as the page prints it; a missing one is empty."""
    plain = _plain(value)
    if isinstance(plain, str):
        return short(plain) if plain else ""
    return number_text(plain)
