"""The interval glyph as SVG text: what a condition asks of a column, before the training rows where there are any.

Colours are CSS variables; nothing of the data's texts gets into a picture.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tmcore.conditions import Condition
from tmcore.ruleset import RuleSet

CLASS_MARKS = ("●", "▲", "■", "◆", "▼", "★", "✚", "▰", "▮", "◣", "◥", "⧗")
WIDTH, HEIGHT = 60, 22
MIDDLE = HEIGHT / 2
N_BINS = 12
FEW_VALUES = 5
MOST_CELLS = 8
CELL = 14


@dataclass(frozen=True)
class Axis:
    """The horizontal axis of a numeric column.

    Attributes
    ----------
    low, high : float
        Its ends; low < high.
    slots : tuple of float
        The values of a column with few of them, which get equal room; else empty, and the axis is linear.
    counts : int array (n_groups, n_bins)
        Training rows of each class, or below and above the median number, in each bin; no bins where there are no rows.
    """

    low: float
    high: float
    slots: tuple[float, ...]
    counts: NDArray[np.int64]

    def place(self, cut: float) -> float:
        """Return where a cut stands, from 0 to 1."""
        if self.slots:
            return float(np.searchsorted(self.slots, cut, side="right")) / len(self.slots)
        return min(1.0, max(0.0, (cut - self.low) / (self.high - self.low)))


def axes(
    rules: RuleSet, rows: pd.DataFrame | None, groups: NDArray[np.int64] | None, n_groups: int
) -> dict[str, Axis]:
    """Return the axis of every numeric column that has a bound in a rule; ``groups`` are those of the rows."""
    cuts: dict[str, list[float]] = {}
    for condition in (condition for rule in rules for condition in rule.conditions):
        bounds = [bound for bound in (condition.lower, condition.upper) if bound is not None]
        if bounds:
            cuts.setdefault(condition.column, []).extend(bounds)
    return {
        column: _axis(bounds, rows[column] if rows is not None and column in rows else None, groups, n_groups)
        for column, bounds in cuts.items()
    }


def _axis(
    cuts: Sequence[float], values: pd.Series | None, groups: NDArray[np.int64] | None, n_groups: int
) -> Axis:
    numbers = np.empty(0) if values is None else values.to_numpy(dtype=float, na_value=math.nan)
    known = np.isfinite(numbers)
    if groups is None or not known.any():
        low, high = min(cuts), max(cuts)
        room = (high - low) / 4 or max(1.0, abs(low) / 4)
        return Axis(low - room, high + room, (), np.zeros((n_groups, 0), dtype=np.int64))
    found = np.unique(numbers[known])
    few = len(found) <= FEW_VALUES
    edges = np.append(found, np.inf) if few else np.linspace(found[0], found[-1], N_BINS + 1)
    counts = [np.histogram(numbers[known & (groups == k)], bins=edges)[0] for k in range(n_groups)]
    return Axis(float(found[0]), float(found[-1]), tuple(found.tolist()) if few else (), np.array(counts))


def glyph(condition: Condition, known: dict[str, Axis], categories: Sequence[str], class_index: int) -> str:
    """Return the picture of a condition in a rule that speaks for a class; empty for "is known"."""
    if condition.known:
        return ""
    if condition.kind == "numeric":
        return _interval(condition, known[condition.column], class_index)
    asked: Sequence[str | None] = (
        condition.not_in or condition.levels or (condition.value or condition.is_in,)
    )
    shown = condition.all_levels or tuple(categories)
    cells = [name in asked for name in shown]
    if len(cells) > MOST_CELLS:
        cells = [True] * min(MOST_CELLS, sum(cells))
    return _cells(cells, bool(condition.not_in), class_index)


def hue(class_index: int) -> str:
    """Return the CSS colour of a class; classes beyond the twelfth are neutral."""
    return f"var(--c{class_index})" if class_index < len(CLASS_MARKS) else "var(--axis)"


def mark(class_index: int) -> str:
    """Return the shape that stands for a class beside its colour; beyond the twelfth it has its number."""
    return CLASS_MARKS[class_index] if class_index < len(CLASS_MARKS) else f"#{class_index + 1}"


def _svg(width: float, parts: Sequence[str]) -> str:
    return (
        f'<svg class="glyph" width="{width:g}" height="{HEIGHT}" viewBox="0 0 {width:g} {HEIGHT}" '
        f'aria-hidden="true">{"".join(parts)}</svg>'
    )


def _rect(x: float, y: float, width: float, height: float, fill: str, more: str = "") -> str:
    return f'<rect x="{x:.4g}" y="{y:.4g}" width="{width:.4g}" height="{height:.4g}" fill="{fill}"{more}/>'


def _interval(condition: Condition, axis: Axis, class_index: int) -> str:
    low = 0.0 if condition.lower is None else axis.place(condition.lower)
    high = 1.0 if condition.upper is None else axis.place(condition.upper)
    parts = _bars(axis, low, high, class_index)
    parts.append(_rect(0, MIDDLE - 0.5, WIDTH, 1, "var(--line)"))
    span = max(1.0, (high - low) * WIDTH)
    parts.append(_rect(low * WIDTH, MIDDLE - 3, span, 6, hue(class_index), ' stroke="var(--bg)"'))
    for bound, place in ((condition.lower, low), (condition.upper, high)):
        if bound is not None:
            parts.append(_rect(min(WIDTH - 2.0, max(0.0, place * WIDTH - 1)), 1, 2, HEIGHT - 2, "var(--ink)"))
    return _svg(WIDTH, parts)


def _bars(axis: Axis, low: float, high: float, class_index: int) -> list[str]:
    """Return the rows behind an interval: one class upwards, the others downwards."""
    two = len(axis.counts) == 2
    up = 1 if two else class_index
    upward, downward = axis.counts[up], np.delete(axis.counts, up, axis=0).sum(axis=0)
    n_bins = axis.counts.shape[1]
    tallest = max([1, *upward.tolist(), *downward.tolist()])
    parts = []
    for k in range(n_bins):
        strength = 0.62 if low < (k + 0.5) / n_bins < high else 0.26
        for count, is_up in ((int(upward[k]), True), (int(downward[k]), False)):
            tall = count / tallest * (MIDDLE - 1)
            if tall:
                fill = hue(up) if is_up else hue(0) if two else "var(--axis)"
                top = MIDDLE - tall if is_up else MIDDLE
                room = WIDTH / n_bins
                parts.append(_rect(k * room, top, room - 0.6, tall, fill, f' opacity="{strength}"'))
    return parts


def _cells(cells: Sequence[bool], negated: bool, class_index: int) -> str:
    width = max(WIDTH, CELL * len(cells))
    left, parts = width - CELL * len(cells), []
    for k, asked in enumerate(cells):
        x = left + CELL * (k + 0.5)
        if not asked:
            parts.append(f'<circle cx="{x:g}" cy="{MIDDLE:g}" r="1.8" fill="var(--axis)" opacity="0.6"/>')
        elif negated:
            box = f"M{x - 4.5:g} {MIDDLE - 4.5:g}h9v9h-9zM{x - 4.5:g} {MIDDLE + 4.5:g}l9 -9"
            parts.append(f'<path d="{box}" fill="none" stroke="{hue(class_index)}" stroke-width="1.5"/>')
        else:
            parts.append(_rect(x - 4.5, MIDDLE - 4.5, 9, 9, hue(class_index), ' rx="2.5"'))
    return _svg(width, parts)
