"""How an epoch's cost grows, as an SVG: one panel per quantity, doubled four times."""

from __future__ import annotations

import math

from tmcore.experiments.svg_parts import AXIS, INK, INK3, LINE, circle, figure, line, square, text

SIZE, GAP, LEFT, TOP = 180, 62, 56, 96
COLOURS = {"intervals": "#1F6FB8", "thresholds": "#C04F00"}
MARKS = {"intervals": circle, "thresholds": square}
DOUBLINGS = 5
"""Powers of two on each axis."""

CAPTION = (
    "Times the cost of the smallest size (up) against times the smallest size (right), both on scales that double. "
    "Grey: in proportion."
)

Measured = dict[str, dict[str, list[tuple[int, float]]]]
"""By representation and quantity: sizes and seconds of an epoch."""


def growth(points: list[tuple[int, float]]) -> float:
    """The exponent e of cost ~ size**e, between the smallest and the largest size."""
    (first, cheap), (last, dear) = points[0], points[-1]
    return math.log(dear / cheap) / math.log(last / first)


def finding(measured: Measured) -> str:
    """The picture's title."""
    largest = max(growth(points) for by_name in measured.values() for points in by_name.values())
    told = "no faster than" if largest <= 1.05 else f"up to the power {largest:.2f} of"
    return f"The cost of an epoch grows {told} samples, features, clauses and levels"


def picture(measured: Measured) -> str:
    """SVG text with a panel per quantity and a line per representation."""
    names = list(next(iter(measured.values())))
    width, height = LEFT + len(names) * (SIZE + GAP), TOP + SIZE + 70
    parts = [text(LEFT, 26, finding(measured), INK, 16, weight=650), text(LEFT, 46, CAPTION, INK3)]
    x = LEFT
    for representation, colour in COLOURS.items():
        parts += [line([(x, 68), (x + 30, 68)], colour), MARKS[representation](x + 15, 68, colour, colour)]
        parts.append(text(x + 36, 72, representation, INK))
        x += 120
    for i, name in enumerate(names):
        lines = {representation: by_name[name] for representation, by_name in measured.items()}
        parts += _panel(LEFT + i * (SIZE + GAP), TOP + 14, name, lines)
    return figure(width, height, "Cost of an epoch against samples, features, clauses and levels", parts)


def _panel(left: float, top: float, name: str, lines: dict[str, list[tuple[int, float]]]) -> list[str]:
    smallest = next(iter(lines.values()))[0][0]
    parts = [text(left, top - 8, f"{name}, from {smallest:,}", INK, 13, weight=650)]

    def place(times: float, cost: float) -> tuple[float, float]:
        right, up = (SIZE * math.log2(max(value, 0.5)) / DOUBLINGS for value in (times, cost))
        return left + right, top + SIZE - up

    for power in range(DOUBLINGS + 1):
        _, y = place(1, 2**power)
        parts.append(f'<path d="M{left} {y:.1f}h{SIZE}" stroke="{LINE}" fill="none"/>')
        parts.append(text(left - 6, y + 4, f"{2**power} ×", INK3, 10.5, "end"))
        parts.append(text(place(2**power, 1)[0], top + SIZE + 16, f"{2**power} ×", INK3, 10.5, "middle"))
    parts.append(line([place(1, 1), place(2**DOUBLINGS, 2**DOUBLINGS)], AXIS, width=1))
    for representation, points in lines.items():
        colour, (size, seconds) = COLOURS[representation], points[0]
        placed = [place(n / size, cost / seconds) for n, cost in points]
        parts.append(line(placed, colour))
        parts += [MARKS[representation](x, y, colour, colour) for x, y in placed]
    return parts
