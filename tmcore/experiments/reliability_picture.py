"""Reliability curves as an SVG: one panel per data set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tmcore.experiments.svg_parts import AXIS, INK, INK3, LINE, Points, circle, figure, line, square, text

Curve = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
"""Mean probability, share of class 1 and share of rows, by bin."""

SIZE, GAP, LEFT, TOP, PER_ROW = 190, 58, 50, 92, 4
CAPTION = (
    "Share of held-out rows of class 1 (up) against the predicted probability (right), in ten groups of equal size. "
    "On the diagonal both agree."
)
LINES = {
    "votes": ("#C04F00", "5 4"),
    "votes, calibrated": ("#C04F00", ""),
    "refit": ("#1F6FB8", ""),
    "refit, calibrated": ("#1A2130", "1.5 3"),
}
"""Colour and dashes of each method."""

MARKS = {"votes": "square", "votes, calibrated": "square", "refit": "circle", "refit, calibrated": ""}


def picture(title: str, names: Sequence[str], curves: dict[tuple[str, str], Curve]) -> str:
    """SVG text with a panel per name; `curves` are by (name, method)."""
    n_rows = -(-len(names) // PER_ROW)
    width = LEFT + PER_ROW * (SIZE + GAP)
    height = TOP + n_rows * (SIZE + 66)
    parts = [text(LEFT, 26, title, INK, 16, weight=650), text(LEFT, 46, CAPTION, INK3)]
    x = LEFT
    for method in LINES:
        parts += [_line([(x, 68), (x + 30, 68)], method), text(x + 36, 72, method, INK)]
        x += 52 + 7 * len(method)
    for i, name in enumerate(names):
        row, column = divmod(i, PER_ROW)
        parts += _panel(LEFT + column * (SIZE + GAP), TOP + 22 + row * (SIZE + 66), name, curves)
    return figure(width, height, "Reliability curves of votes and refit, before and after calibration", parts)


def _panel(left: float, top: float, name: str, curves: dict[tuple[str, str], Curve]) -> list[str]:
    parts = [text(left, top - 8, name, INK, 13, weight=650)]
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = top + SIZE * (1 - share)
        parts.append(f'<path d="M{left} {y:.1f}h{SIZE}" stroke="{LINE}" fill="none"/>')
        parts.append(text(left - 6, y + 4, f"{100 * share:.0f} %", INK3, 10.5, "end"))
        parts.append(text(left + SIZE * share, top + SIZE + 16, f"{100 * share:.0f} %", INK3, 10.5, "middle"))
    parts.append(f'<path d="M{left} {top + SIZE}l{SIZE} -{SIZE}" stroke="{AXIS}" fill="none"/>')
    for method in LINES:
        predicted, found, _ = curves[name, method]
        points = [
            (left + SIZE * p, top + SIZE * (1 - f))
            for p, f in zip(predicted.tolist(), found.tolist(), strict=True)
        ]
        parts.append(_line(points, method))
        parts += [_mark(x, y, method) for x, y in points if MARKS[method]]
    return parts


def _line(points: Points, method: str) -> str:
    return line(points, *LINES[method])


def _mark(x: float, y: float, method: str) -> str:
    colour, dashes = LINES[method]
    fill = "#FFFFFF" if dashes else colour
    return circle(x, y, colour, fill) if MARKS[method] == "circle" else square(x, y, colour, fill)
