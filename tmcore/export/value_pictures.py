"""What each value adds, as SVG in the report: steps along an axis for numbers, a bar a name for the rest."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import groupby

from tmcore.cells import Cell
from tmcore.conditions import number_text, visible
from tmcore.export.glyphs import Axis, hue
from tmcore.export.outcomes import Outcomes
from tmcore.ruleset import RuleSet
from tmcore.value_map import ColumnMap, value_map

MOST_COLUMNS = 12
MOST_NAMES = 12
LONGEST_NAME = 28
WIDTH, TALL, LINE = 260, 56, 20


def section(rules: RuleSet, known: dict[str, Axis], outcomes: Outcomes) -> str:
    """Return the section as HTML, empty where no rule is over one column alone. Every text is escaped."""
    maps = value_map(rules)
    if not maps:
        return ""
    rest = len(rules) - sum(one.n_rules for one in maps)
    left_out = (
        ""
        if not rest
        else f" {rest:,} rule{' is' if rest == 1 else 's are'} over several columns, not in it."
    )
    parts = []
    for output in range(outcomes.n_outputs):
        top = max(abs(value) for one in maps for value in one.sums[:, output].tolist()) or 1.0
        telling = [one for one in maps if one.sums[:, output].any()]
        pictures = "".join(_figure(one, output, known, top, outcomes) for one in telling[:MOST_COLUMNS])
        parts.append(
            f"<p>Sum of the one-column rules at every value; {outcomes.adds(output)}.{left_out}</p>\n"
            f'<div class="values">{pictures}</div>'
        )
    more = len(maps) - MOST_COLUMNS
    also = f"<p>{more:,} more column{'s' * (more != 1)} with less to add.</p>" if more > 0 else ""
    return f"<section><h2>What each value adds</h2>\n{''.join(parts)}{also}</section>\n"


def _figure(one: ColumnMap, output: int, known: dict[str, Axis], top: float, outcomes: Outcomes) -> str:
    title = visible(one.column.label) + (f", {visible(one.column.unit)}" if one.column.unit else "")
    sums = one.sums[:, output].tolist()
    if one.column.kind == "numeric" and one.column.name in known:
        picture = _steps(one, sums, known[one.column.name], top, outcomes)
    else:
        picture = _names(one, sums, top, outcomes)
    return f"<figure><figcaption>{escape(title)}</figcaption>{picture}</figure>"


def _hue(value: float, two: bool) -> str:
    return hue(int(value > 0)) if two else "var(--for)" if value > 0 else "var(--against)"


def _svg(height: float, parts: list[str], words: list[str]) -> str:
    return (
        f'<svg class="map" width="{WIDTH}" height="{height:g}" viewBox="0 0 {WIDTH} {height:g}" role="img" '
        f'aria-label="{escape("; ".join(words))}">{"".join(parts)}</svg>'
    )


def _text(x: float, y: float, text: str, anchor: str = "middle", kind: str = "") -> str:
    kind = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.4g}" y="{y:.4g}" text-anchor="{anchor}"{kind}>{escape(text)}</text>'


def _runs(one: ColumnMap, sums: list[float]) -> Iterator[tuple[Cell, float]]:
    """The intervals with their sums, neighbours of equal sum as one."""
    places = [k for k, cell in enumerate(one.cells) if cell.kind == "interval"]
    for value, group in groupby(places, key=lambda k: sums[k]):
        run = list(group)
        yield Cell("interval", one.cells[run[0]].lower, one.cells[run[-1]].upper), value


def _steps(one: ColumnMap, sums: list[float], axis: Axis, top: float, outcomes: Outcomes) -> str:
    runs = list(_runs(one, sums))
    up = max(0.0, *(value for _, value in runs), 0.0) / top * TALL
    down = max(0.0, *(-value for _, value in runs), 0.0) / top * TALL
    zero, bottom = 16 + up, 16 + up + down + (16 if down else 4)
    parts, words, taken = [], [], [(-1.0, 40.0), (WIDTH - 40.0, WIDTH + 1.0)]
    for cell, value in runs:
        left = 0.0 if cell.lower is None else axis.place(cell.lower) * WIDTH
        right = float(WIDTH) if cell.upper is None else axis.place(cell.upper) * WIDTH
        words.append(f"{cell.text()}: {outcomes.rules.shown(value)}")
        tall = value / top * TALL
        if value:
            fill = _hue(value, outcomes.two)
            box = f'x="{left:.4g}" y="{min(zero, zero - tall):.4g}" width="{right - left:.4g}" height="{abs(tall):.4g}"'
            line = f'x="{left:.4g}" y="{zero - tall - 1:.4g}" width="{right - left:.4g}" height="2"'
            parts += [f'<rect {box} fill="{fill}" opacity="0.3"/>', f'<rect {line} fill="{fill}"/>']
            if right - left >= 34:
                parts.append(
                    _text(
                        (left + right) / 2,
                        zero - tall + (-5 if tall > 0 else 13),
                        outcomes.rules.shown(value),
                        kind="sum",
                    )
                )
        if (
            cell.upper is not None
            and not axis.slots
            and all(right + 20 < low or right - 20 > high for low, high in taken)
        ):
            taken.append((right - 20, right + 20))
            stem = f'x="{right - 0.5:.4g}" y="{zero:.4g}" width="1" height="{bottom - zero + 2:.4g}"'
            parts.append(f'<rect {stem} fill="var(--axis)"/>')
            parts.append(_text(right, bottom + 13, number_text(cell.upper)))
    parts.append(f'<rect x="0" y="{zero - 0.5:.4g}" width="{WIDTH}" height="1" fill="var(--axis)"/>')
    if axis.slots:
        room = WIDTH / len(axis.slots)
        parts += [
            _text((k + 0.5) * room, bottom + 13, number_text(value)) for k, value in enumerate(axis.slots)
        ]
    else:
        parts.append(_text(0, bottom + 13, number_text(axis.low), "start"))
        parts.append(_text(WIDTH, bottom + 13, number_text(axis.high), "end"))
    return _svg(bottom + 18, parts, words)


def _names(one: ColumnMap, sums: list[float], top: float, outcomes: Outcomes) -> str:
    told = [
        (cell.text(), value)
        for cell, value in zip(one.cells, sums, strict=True)
        if cell.kind == "name" or value
    ]
    zero, scale = 170.0, 52 / top
    parts, words = [], [f"{name}: {outcomes.rules.shown(value)}" for name, value in told]
    for k, (name, value) in enumerate(told[:MOST_NAMES]):
        middle, long = LINE * (k + 0.5), abs(value) * scale
        shown = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
        parts.append(_text(0, middle + 4, shown, "start"))
        if value:
            left = zero if value > 0 else zero - long
            box = f'x="{left:.4g}" y="{middle - 6:.4g}" width="{long:.4g}" height="12"'
            parts.append(f'<rect {box} fill="{_hue(value, outcomes.two)}"/>')
            at = zero + long + 4 if value > 0 else zero + 4
            parts.append(_text(at, middle + 4, outcomes.rules.shown(value), "start", "sum"))
    rows = min(len(told), MOST_NAMES)
    parts.append(f'<rect x="{zero - 0.5:g}" y="0" width="1" height="{LINE * rows}" fill="var(--axis)"/>')
    height = LINE * rows
    if len(told) > MOST_NAMES:
        height += LINE
        parts.append(_text(0, height - 6, f"and {len(told) - MOST_NAMES:,} more", "start"))
    return _svg(height, parts, words)
