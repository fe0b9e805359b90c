"""What the rule list component is sent: texts, shares and names of colours, nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dashboard.rule_list.listing import Listed
from dashboard.style import CLASS_MARKS, count, hue, mark, percent
from tmcore.conditions import Condition, weight_text
from tmcore.rule import as_tuple
from tmcore.rules import RuleSet

N_BINS = 12
FEW_VALUES = 5
MOST_CELLS = 8


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


class Painter:
    """Turns listed rules into the component's data; reads each column of the training rows once."""

    def __init__(self, rules: RuleSet, X: pd.DataFrame, y: pd.Series) -> None:
        self.rules = rules
        self.names = rules.class_names
        self._categories = {column.name: column.categories for column in rules.columns}
        self._X, self._y = X, y
        self._backdrops: dict[str, Backdrop | None] = {}

    def build(self, listed: Sequence[Listed], with_start: bool) -> dict[str, Any]:
        """The data of the component: a head, one entry per rule, and the intercept as the row START."""
        weights = [abs(one.weight) for one in listed]
        starts = as_tuple(self.rules.intercept)
        top = max([*weights, *(abs(start) for start in starts if with_start)], default=1.0) or 1.0
        entries = [self._rule(one, top) for one in listed]
        if with_start:
            entries += self._start_rows(starts, top)
        two = f"{mark(0)} weight {mark(1)}"
        return {
            "head": {
                "weight": two if len(starts) == 1 else "weight",
                "support": f"training rows it covers, of {len(self._y):,}",
                "precision": "precision",
            },
            "rules": entries,
        }

    def _rule(self, listed: Listed, top: float) -> dict[str, Any]:
        index = listed.class_index
        return {
            "weight": weight_text(listed.weight),
            "share": listed.weight / top,
            "hue": hue(index),
            "mark": mark(index),
            "markHue": hue(index),
            "outcome": self.rules.class_text(listed.rule),
            "others": self._others(listed),
            "conditions": [self.condition(condition, index) for condition in listed.rule.conditions],
            "covered": count(listed.n_train, "row"),
            "support": self._support(listed),
            "precision": percent(listed.precision_train) if listed.n_train else "no rows",
            "testPrecision": f"test {percent(listed.precision_test)}" if listed.n_test else "no test row",
            "testTitle": count(listed.n_test, "test row"),
        }

    def _start_rows(self, starts: tuple[float, ...], top: float) -> list[dict[str, Any]]:
        two = len(starts) == 1
        rows = []
        for place, start in enumerate(starts):
            index = int(start >= 0) if two else place
            text = "every row begins here, before any rule"
            rows.append(
                {
                    "weight": weight_text(start),
                    "share": start / top,
                    "hue": hue(index),
                    "conditions": [],
                    "others": [],
                    "text": text if two else f"{self.names[place]}: {text}",
                    "support": None,
                }
            )
        return rows

    def _others(self, listed: Listed) -> list[dict[str, str]]:
        weights = as_tuple(listed.rule.weights)
        if len(weights) == 1:
            return []
        return [
            {"mark": mark(index), "hue": hue(index), "text": f"{self.names[index]} {weight_text(weight)}"}
            for index, weight in enumerate(weights)
            if index != listed.class_index and weight != 0
        ]

    def _support(self, listed: Listed) -> list[dict[str, Any]]:
        order = list(range(len(self.names)))
        order.remove(listed.class_index)
        order = [1, 0] if len(self.names) == 2 else [listed.class_index, *order]
        total = max(1, len(self._y))
        shown = order if len(self.names) <= len(CLASS_MARKS) else order[:1]
        parts = [
            {
                "hue": hue(index),
                "mark": mark(index),
                "name": self.names[index],
                "count": f"{listed.covered[index]:,}",
                "share": listed.covered[index] / total,
            }
            for index in shown
        ]
        if len(shown) < len(order):
            rest = sum(listed.covered) - listed.covered[listed.class_index]
            parts.append(
                {"hue": "ink3", "mark": "other", "name": "other", "count": f"{rest:,}", "share": rest / total}
            )
        return parts

    def condition(self, condition: Condition, class_index: int) -> dict[str, Any]:
        """A condition's words with their roles, and its glyph in a class's colour."""
        return {
            "parts": [list(part) for part in condition.parts()],
            "glyph": self._glyph(condition, class_index),
        }

    def _glyph(self, condition: Condition, class_index: int) -> dict[str, Any] | None:
        if condition.known:
            return None
        if condition.kind == "numeric":
            return self._interval(condition, class_index)
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

    def _interval(self, condition: Condition, class_index: int) -> dict[str, Any] | None:
        if condition.column not in self._backdrops:
            self._backdrops[condition.column] = backdrop(
                self._X[condition.column], self._y, self.rules.classes
            )
        behind = self._backdrops[condition.column]
        if behind is None:
            return None
        two = len(self.names) == 2
        up = 1 if two else class_index
        rest = np.delete(behind.counts, up, axis=0).sum(axis=0)
        return {
            "from": None if condition.lower is None else behind.place(condition.lower),
            "to": None if condition.upper is None else behind.place(condition.upper),
            "up": behind.counts[up].tolist(),
            "down": rest.tolist(),
            "upHue": hue(up),
            "downHue": hue(0) if two else "axis",
        }
