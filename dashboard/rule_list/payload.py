"""What the rule list component is sent: texts, shares and names of colours, nothing else."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dashboard.rule_list.counting import Counter
from dashboard.rule_list.listing import FLAGS, Listed
from dashboard.rule_list.outcomes import AnyPart, outcomes_of
from dashboard.style import hue, short
from tmcore.conditions import Condition, visible, weight_text
from tmcore.rule import as_tuple
from tmcore.rules import RuleSet

N_BINS = 12
FEW_VALUES = 5
MOST_CELLS = 8
ABOUT = "Rules keep the numbers they were learned with, however the list is sorted; files and the Score page use them."
SEVERAL = (
    "A rule adds its weight to its class and is no verdict of its own: the class with the largest sum wins."
)


@dataclass(frozen=True)
class Backdrop:
    """What lies behind a numeric condition: where values stand on an axis from 0 to 1, and the rows of each class.

    ``slots`` holds the values of a column with few of them, which get equal room; otherwise the axis is linear from
    ``low`` to ``high``. ``counts`` has shape (n_classes, n_bins).
    """

    low: float
    high: float
    slots: tuple[float, ...]
    counts: np.ndarray

    def place(self, cut: float) -> float:
        """Where a cut stands on the axis, from 0 to 1."""
        if self.slots:
            return float(np.searchsorted(self.slots, cut, side="right")) / len(self.slots)
        return min(1.0, max(0.0, (cut - self.low) / (self.high - self.low)))


def backdrop(values: pd.Series, labels: pd.Series, classes: Iterable[Any]) -> Backdrop | None:
    """The backdrop of a numeric column, None where it has no value."""
    numbers = values.to_numpy(dtype=float, na_value=math.nan)
    known = np.isfinite(numbers)
    if not known.any():
        return None
    found = np.unique(numbers[known])
    few = len(found) <= FEW_VALUES
    edges = np.append(found, np.inf) if few else np.linspace(found[0], found[-1], N_BINS + 1)
    counts = [np.histogram(numbers[known & (labels == label).to_numpy()], bins=edges)[0] for label in classes]
    return Backdrop(float(found[0]), float(found[-1]), tuple(found.tolist()) if few else (), np.array(counts))


@dataclass(frozen=True)
class Body:
    """What the list of rules shows, as JSON, and a name that other content does not have."""

    name: str
    data: bytes


class Painter:
    """Turns listed rules into the component's data; reads each column of the training rows once."""

    def __init__(self, rules: RuleSet, X: pd.DataFrame, y: pd.Series) -> None:
        self.rules = rules
        self.outcomes = outcomes_of(rules.classes, y)
        self.names = self.outcomes.names
        self._categories = {column.name: column.categories for column in rules.columns}
        self._X, self._groups = X, pd.Series(self.outcomes.groups(y), index=X.index)
        self._backdrops: dict[str, Backdrop | None] = {}
        self._texts: dict[Condition, str] = {}

    def body(self, listed: Sequence[Listed], base: RuleSet, counter: Counter) -> Body:
        """What the list shows of some rules: texts, places and counts. `base` has the start they add to."""
        starts = as_tuple(base.intercept)
        heaviest = max((abs(one.weight) for one in listed), default=0.0)
        top = (max(heaviest, *map(abs, starts)) if len(self.rules.classes) else heaviest) or 1.0
        told = {
            "classes": self.outcomes.sides(),
            "numbers": not len(self.rules.classes),
            "measures": self.outcomes.measures,
            "sorts": self.outcomes.sorts,
            "heads": self.outcomes.heads,
            "totals": [sum(total) for total in counter.totals],
            "top": top,
            "starts": [
                dict(zip(("weight", "share"), self.outcomes.start(start, top), strict=True))
                for start in starts
            ],
            "kinds": FLAGS,
            "about": ABOUT if len(starts) == 1 else f"{ABOUT} {SEVERAL}",
        }
        entries = [self._entry(one) for one in listed]
        used = dict.fromkeys(condition.column for one in listed for condition in one.rule.conditions)
        columns = [{"name": visible(name), "behind": self._behind(name)} for name in used]
        parts = [
            json.dumps(told, allow_nan=False)[:-1],
            f'"columns": {json.dumps(columns, allow_nan=False)}',
            f'"rules": [{", ".join(entries)}]}}',
        ]
        data = ", ".join(parts).encode()
        return Body(hashlib.blake2b(data, digest_size=8).hexdigest(), data)

    def _entry(self, one: Listed) -> str:
        """One rule as JSON; the conditions come as text that is kept."""
        told = {
            "number": one.number,
            "weight": one.weight,
            "weightText": self.outcomes.weight(one.weight),
            "index": one.class_index,
            "outcome": self.outcomes.outcome(self.rules, one.rule),
            "others": self._others(one),
            "note": self._note(one),
            "literals": one.rule.n_literals,
            "covered": one.covered,
            "train": _numbers(one.train),
            "test": _numbers(one.test),
            "flags": [[flag.kind, flag.text] for flag in one.flags],
        }
        conditions = ", ".join(map(self._condition_text, one.rule.conditions))
        return f'{json.dumps(told, allow_nan=False)[:-1]}, "conditions": [{conditions}]}}'

    def _condition_text(self, condition: Condition) -> str:
        if condition not in self._texts:
            glyph = self._places(condition)
            told = {"column": visible(condition.column), "parts": condition.parts(), "glyph": glyph}
            self._texts[condition] = json.dumps(told, allow_nan=False)
        return self._texts[condition]

    def _others(self, listed: Listed) -> list[list[Any]]:
        """What a rule adds to other classes: index and text."""
        weights = as_tuple(listed.rule.weights)
        return [
            [index, f"{short(self.names[index])} {weight_text(weight)}"]
            for index, weight in enumerate(weights)
            if len(weights) > 1 and index != listed.class_index and weight != 0
        ]

    def _note(self, listed: Listed) -> str:
        """Where most covered training rows are of another class than the one a rule adds to: which."""
        if len(self.rules.classes) < 2 or listed.against:
            return ""
        most = int(np.argmax(listed.covered))
        if listed.covered[most] <= listed.covered[listed.class_index]:
            return ""
        own = short(self.names[listed.class_index])
        return f"adds to {own}, though more of its rows are {short(self.names[most])}"

    def _behind(self, name: str) -> list[list[int]] | None:
        """Rows of each class along a numeric column's axis."""
        behind = self.backdrop_of(name)
        return None if behind is None else behind.counts.tolist()

    def backdrop_of(self, name: str) -> Backdrop | None:
        """The backdrop of a column, None where it is not numeric."""
        if name not in self._backdrops:
            numeric = any(column.name == name and column.kind == "numeric" for column in self.rules.columns)
            self._backdrops[name] = (
                backdrop(self._X[name], self._groups, range(len(self.names))) if numeric else None
            )
        return self._backdrops[name]

    def condition(self, condition: Condition, class_index: int) -> dict[str, Any]:
        """A condition's words with their roles, and its glyph in a class's colour."""
        return {
            "parts": [list(part) for part in condition.parts()],
            "glyph": self._glyph(condition, class_index),
        }

    def _glyph(self, condition: Condition, class_index: int) -> dict[str, Any] | None:
        glyph = self._places(condition)
        behind = self.backdrop_of(condition.column) if glyph is not None and "from" in glyph else None
        if glyph is None or behind is None:
            return glyph
        two = len(self.names) == 2
        up = 1 if two else class_index
        rest = np.delete(behind.counts, up, axis=0).sum(axis=0)
        return glyph | {
            "up": behind.counts[up].tolist(),
            "down": rest.tolist(),
            "upHue": hue(up),
            "downHue": hue(0) if two else "axis",
        }

    def _places(self, condition: Condition) -> dict[str, Any] | None:
        """Where a condition's bounds stand on its axis, or what it asks of each category."""
        if condition.known:
            return None
        if condition.kind == "numeric":
            behind = self.backdrop_of(condition.column)
            if behind is None:
                return None
            lower, upper = condition.lower, condition.upper
            return {
                "from": None if lower is None else behind.place(lower),
                "to": None if upper is None else behind.place(upper),
            }
        asked: tuple[str | None, ...]
        if condition.kind == "nominal" and condition.is_in is None:
            asked, kind, names = condition.not_in, "not", self._categories[condition.column]
        elif condition.kind == "nominal":
            asked, kind, names = (condition.is_in,), "is", self._categories[condition.column]
        else:
            asked = (condition.value,) if condition.kind == "boolean" else condition.levels
            kind, names = "is", condition.all_levels
        cells = [kind if name in asked else "dot" for name in names]
        if len(cells) > MOST_CELLS:
            cells = [cell for cell in cells if cell != "dot"][:MOST_CELLS]
        return {"cells": cells}


def _numbers(part: AnyPart) -> list[float | None]:
    """Covered rows, and the measures of the outcomes; None where there is nothing to divide by."""
    return [part.n_rows, *(None if math.isnan(share) else float(f"{share:.6g}") for share in part.told)]
