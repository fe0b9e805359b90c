"""What the picture of two columns is sent: shaded parts of the plane, the training rows as points, and the scale."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.rule_list.outcomes import Outcomes
from dashboard.rule_list.payload import Backdrop, backdrop
from dashboard.style import mark, short
from dashboard.value_view.payload import Text, axis_of, sign_hue
from tmcore.cells import Cell
from tmcore.columns import as_floats, category_codes
from tmcore.conditions import RuleColumn
from tmcore.value_map import PairMap

MOST_POINTS = 600
SPREAD = 0.7
"""How much of a slot its points are spread over."""
TURNS = 0.7548776662, 0.5698402910
"""Multiples of these two spread evenly over a square."""


class Axis:
    """One column as an axis from 0 to 1: linear for numbers, equal slots for few values and for names."""

    def __init__(self, column: RuleColumn, cells: tuple[Cell, ...], values: pd.Series) -> None:
        self.column = column
        self._values = values
        self.cells = [k for k, cell in enumerate(cells) if cell.kind in ("interval", "name")]
        self._names = [cells[k].name for k in self.cells]
        numeric = column.kind == "numeric"
        everyone = pd.Series([0] * len(values), index=values.index)
        self._behind: Backdrop | None = backdrop(values, everyone, [0]) if numeric else None
        self._spans = [self._span(cells[k], place) for place, k in enumerate(self.cells)]
        self.cuts = [cell.upper for cell in cells if cell.upper is not None]

    def _span(self, cell: Cell, place: int) -> tuple[float, float]:
        """Where a cell begins and ends."""
        if self._behind is None:
            return place / len(self.cells), (place + 1) / len(self.cells)
        low = 0.0 if cell.lower is None else self._behind.place(cell.lower)
        return low, 1.0 if cell.upper is None else self._behind.place(cell.upper)

    @property
    def spans(self) -> list[tuple[float, float]]:
        """Where each of `cells` begins and ends."""
        return self._spans

    def points(self, turn: float) -> NDArray[np.float64]:
        """Where each row stands, NaN where it has no value; `turn` spreads the rows that share a slot."""
        spread = SPREAD * ((np.arange(len(self._values)) * turn) % 1 - 0.5)
        if self._behind is not None:
            numbers = as_floats(self._values, self.column.name)
            if not self._behind.slots:
                low, high = self._behind.low, self._behind.high
                return (numbers - low) / (high - low)
            n = len(self._behind.slots)
            slots = np.searchsorted(self._behind.slots, numbers).astype(float)
            return np.where(np.isnan(numbers), np.nan, (slots + 0.5 + spread) / n)
        codes, names = category_codes(self._values)
        places = np.array(
            [self._names.index(name) if name in self._names else np.nan for name in names] + [np.nan]
        )
        return (places[codes] + 0.5 + spread) / max(1, len(self._names))

    def told(self) -> dict[str, Any]:
        """Title and ticks."""
        unit = f", {short(self.column.unit)}" if self.column.unit else ""
        title = short(self.column.label) + unit
        if self._behind is not None:
            return {"title": title, **axis_of(self.cuts, self._behind)}
        n = len(self._names)
        ticks = [{"at": (k + 0.5) / n, "text": short(name)} for k, name in enumerate(self._names)]
        return {"title": title, "ticks": ticks, "ends": [], "lines": False}


def plane(
    one: PairMap, output: int, X: pd.DataFrame, groups: pd.Series, outcomes: Outcomes, unit: str
) -> dict[str, Any]:
    """Two columns' picture: the sum of votes at every place, and the training rows.

    Parameters
    ----------
    output : int
        The class in focus, 0 with two classes.
    unit : str
        What votes are counted in.
    """
    two, text = len(outcomes.names) == 2, outcomes.weight
    across = Axis(one.first, one.first_cells, X[one.first.name])
    up = Axis(one.second, one.second_cells, X[one.second.name])
    sums = one.sums[np.ix_(across.cells, up.cells)][:, :, output]
    top = float(np.abs(sums).max(initial=0.0)) or 1.0
    points, n_known = _points(across, up, groups.to_numpy())
    sides = (0, 1) if two else (output, output)
    words = [outcomes.ends[k] if outcomes.ends else outcomes.names[k] for k in sides]
    if not two:
        words = [f"{how} {name}" for how, name in zip(("against", "for"), words, strict=True)]
    return {
        "x": across.told(),
        "y": up.told(),
        "parts": list(_parts(across, up, sums, top, two, text)),
        "points": points,
        "classes": outcomes.sides(),
        "scale": {
            "ends": [text(-top), text(top)],
            "hues": [sign_hue(-1, two), sign_hue(1, two)],
            "words": words,
            "marks": [mark(k) if two else "" for k in sides],
            "unit": unit,
        },
        "shown": len(points),
        "known": n_known,
    }


def _parts(across: Axis, up: Axis, sums: NDArray[np.float64], top: float, two: bool, text: Text) -> Any:
    """Rectangles of equal sum, neighbours along the first axis joined."""
    for row, (bottom, above) in enumerate(up.spans):
        if above <= bottom:
            continue
        line = sums[:, row].tolist()
        for value, run in groupby(range(len(line)), key=line.__getitem__):
            places = list(run)
            left, right = across.spans[places[0]][0], across.spans[places[-1]][1]
            if right > left:
                yield {
                    "box": [left, bottom, right, above],
                    "share": abs(value) / top,
                    "hue": sign_hue(value, two),
                    "text": text(value) if value else "0",
                }


def _points(across: Axis, up: Axis, labels: NDArray[Any]) -> tuple[list[list[float]], int]:
    """Rows with a value in both columns, evenly thinned: place across, place up, class; and how many there are."""
    x_places, y_places = across.points(TURNS[0]), up.points(TURNS[1])
    known = np.flatnonzero(np.isfinite(x_places) & np.isfinite(y_places) & (labels >= 0))
    some = known[np.linspace(0, max(0, len(known) - 1), min(MOST_POINTS, len(known))).astype(int)]
    points = [[round(float(x_places[k]), 4), round(float(y_places[k]), 4), int(labels[k])] for k in some]
    return points, len(known)
