"""What the value map's component is sent: for every column the sum of its own rules at each value."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

import numpy as np

from dashboard.rule_list.payload import Backdrop
from dashboard.style import figure, hue, short
from tmcore.cells import Cell
from tmcore.conditions import number_text, weight_text
from tmcore.value_map import ColumnMap, PairMap

MOST_NAMES = 12
MOST_TICKS = 4

Text = Callable[[float], str]
"""How a sum is printed."""


def sign_hue(value: float, two: bool) -> str:
    """The colour of votes for and against: the classes' own with two of them."""
    if two:
        return hue(1 if value > 0 else 0)
    return "for" if value > 0 else "against"


def column_chart(
    one: ColumnMap, output: int, behind: Backdrop | None, top: float, two: bool, text: Text = weight_text
) -> dict[str, Any]:
    """One column's picture: steps along an axis for numbers, bars for names; `top` is the largest sum of all."""
    unit = f", {short(one.column.unit)}" if one.column.unit else ""
    sums = one.sums[:, output].tolist()
    entries = [{"text": text(value), "share": value / top, "hue": sign_hue(value, two)} for value in sums]
    chart: dict[str, Any] = {"title": short(one.column.label) + unit}
    if one.column.kind != "numeric" or behind is None:
        named = [
            entry | {"name": short(cell.text())}
            for cell, entry, value in zip(one.cells, entries, sums, strict=True)
            if cell.kind == "name" or value
        ]
        more = len(named) - MOST_NAMES
        return chart | {"bars": named[:MOST_NAMES], "more": f"and {more:,} more" if more > 0 else ""}
    runs = [list(run) for _, run in groupby(range(len(sums) - 1), key=lambda k: sums[k])]
    steps, cuts = [], []
    for run in runs:
        first, last = one.cells[run[0]], one.cells[run[-1]]
        start = 0.0 if first.lower is None else behind.place(first.lower)
        end = 1.0 if last.upper is None else behind.place(last.upper)
        entry, where = entries[run[0]], Cell("interval", first.lower, last.upper).text()
        steps.append(entry | {"from": start, "to": end, "title": f"{where}: {entry['text']}"})
        if last.upper is not None:
            cuts.append(last.upper)
    return chart | {"steps": steps, **axis_of(cuts, behind)}


def axis_of(cuts: list[float], behind: Backdrop) -> dict[str, Any]:
    """Numbers along an axis: every value of a column with few of them, else some of the cuts and both ends."""
    if behind.slots:
        n = len(behind.slots)
        middles = [{"at": (k + 0.5) / n, "text": number_text(value)} for k, value in enumerate(behind.slots)]
        return {"ticks": middles, "ends": [], "lines": False}
    places = sorted({round(k) for k in np.linspace(0, len(cuts) - 1, MOST_TICKS).tolist()}) if cuts else []
    ticks = [{"at": behind.place(cuts[k]), "text": number_text(cuts[k])} for k in places]
    return {"ticks": ticks, "ends": [figure(behind.low), figure(behind.high)], "lines": True}


def pair_grid(one: PairMap, output: int, two: bool, text: Text = weight_text) -> dict[str, Any]:
    """Two columns' picture: a table whose cells are shaded by their sum."""
    sums = one.sums[:, :, output]
    rows = [k for k, cell in enumerate(one.first_cells) if cell.kind != "missing"]
    columns = [k for k, cell in enumerate(one.second_cells) if cell.kind != "missing"]
    top = float(np.abs(sums).max()) or 1.0
    cells = [
        [
            {
                "text": text(value) if value else "",
                "share": abs(value) / top,
                "hue": sign_hue(value, two),
            }
            for value in sums[row, columns].tolist()
        ]
        for row in rows
    ]
    return {
        "corner": f"{short(one.first.label)} / {short(one.second.label)}",
        "rows": [_head(one.first_cells[k]) for k in rows],
        "columns": [_head(one.second_cells[k]) for k in columns],
        "cells": cells,
    }


def _head(cell: Cell) -> str:
    return short(cell.text())
