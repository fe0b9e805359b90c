"""Rules as a report: one HTML file without scripts that opens anywhere, also without a network."""

from __future__ import annotations

from html import escape
from importlib.resources import files

from tmcore.conditions import Condition, visible, weight_text
from tmcore.export import glyphs, value_pictures
from tmcore.export.about import NOTHING, About
from tmcore.export.glyphs import Axis, hue
from tmcore.rule import Rule, as_tuple
from tmcore.ruleset import RuleSet

CLASS_MARKS = ("●", "▲", "■", "◆")
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
<h1>{title}: {size}</h1>
<p>{how}</p>
{notes}<table class="rules">
<thead><tr><th>no.</th><th>weight</th><th></th><th>rule</th><th>rows covered</th><th>precision</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
{values}{lists}
</main>
</body>
</html>
"""


def to_html(rules: RuleSet, about: About = NOTHING) -> bytes:
    """Return `rules` as the bytes of an HTML page. Every text of the data is written as text."""
    known = glyphs.axes(rules, about.rows, about.labels)
    starts = as_tuple(rules.intercept)
    most = max([*(abs(start) for start in starts), *(rule.magnitude for rule in rules)]) or 1.0
    rows = [_rule(rules, number, rule, known, most) for number, rule in enumerate(rules, start=1)]
    n_rules, n_literals = len(rules), rules.n_literals
    size = f"{n_rules:,} rule{'s' * (n_rules != 1)} with {n_literals:,} literal{'s' * (n_literals != 1)}"
    notes = [text for text in ("Edited by hand after training." * rules.edited, about.proof) if text]
    lists = (("Scores", about.scores), ("Settings", about.settings), ("To repeat it", about.card))
    page = _PAGE.format(
        title=_text(about.title),
        style=files("tmcore.export").joinpath("report.css").read_text(encoding="utf-8"),
        size=size,
        how=_text(rules.to_text().split("\n", 1)[0]),
        notes="".join(f'<p class="note">{_text(note)}</p>\n' for note in notes),
        rows="\n".join([*rows, _start(rules, starts, most)]),
        values=value_pictures.section(rules, known),
        lists="\n".join(_list(title, pairs) for title, pairs in lists if pairs),
    )
    return page.encode()


def _text(text: object) -> str:
    return escape(visible(text))


def _list(title: str, pairs: tuple[tuple[str, str], ...]) -> str:
    lines = "".join(f"<dt>{_text(name)}</dt><dd>{_text(text)}</dd>" for name, text in pairs)
    return f"<section><h2>{title}</h2><dl>{lines}</dl></section>"


def _rule(rules: RuleSet, number: int, rule: Rule, known: dict[str, Axis], most: float) -> str:
    index, _ = rule.speaks_for
    categories = {column.name: column.categories for column in rules.columns}
    words = [
        f'<span class="condition"><b>{"AND" if k else "IF"}</b> '
        f"{glyphs.glyph(condition, known, categories.get(condition.column, ()), index)} {_phrase(condition)}</span>"
        for k, condition in enumerate(rule.conditions)
    ]
    outcome = f'<span class="condition"><b>THEN</b> {_mark(index)} {_text(rules.class_text(rule))}</span>'
    weights = as_tuple(rule.weights)
    own = weights[0] if len(weights) == 1 else weights[index]
    others = [
        f"{_text(name)} {weight_text(weight)}"
        for k, (name, weight) in enumerate(zip(rules.class_names, weights, strict=False))
        if len(weights) > 1 and k != index and weight
    ]
    more = f"<small>and adds {', '.join(others)}</small>" if others else ""
    precision = "" if rule.precision is None else f"{100 * rule.precision:.0f}\u00a0%"
    return (
        f"{_row(weights)}<td>{number}</td>{_weight(own, most, index)}"
        f"<td>{' '.join([*words, outcome])}{more}</td><td>{_covered(rules, rule)}</td><td>{precision}</td></tr>"
    )


def _start(rules: RuleSet, starts: tuple[float, ...], most: float) -> str:
    two = len(starts) == 1
    own = starts[0] if two else max(starts, key=abs)
    index = int(own >= 0) if two else starts.index(own)
    each = zip(rules.class_names, starts, strict=False)
    text = "" if two else ": " + ", ".join(f"{name} {weight_text(start)}" for name, start in each)
    sentence = f"<b>START</b> every row begins here, before any rule{_text(text) if text else ''}"
    return f"{_row(starts)}<td></td>{_weight(own, most, index)}<td>{sentence}</td><td></td><td></td></tr>"


def _row(weights: tuple[float, ...]) -> str:
    return f'<tr data-weights="{" ".join(map(repr, weights))}">'


def _weight(weight: float, most: float, index: int) -> str:
    """Return two cells: a bar from a zero line in the middle, and the number."""
    long = abs(weight) / most * 48
    left = 50 - long if weight < 0 else 50
    bar = (
        '<svg class="bar" viewBox="0 0 100 18" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect x="{left:.4g}" y="3" width="{max(0.8, long):.4g}" height="12" fill="{hue(index)}"/>'
        '<rect x="49.6" y="0" width="0.8" height="18" fill="var(--axis)"/></svg>'
    )
    return f'<td>{bar}</td><td class="number">{weight_text(weight)}</td>'


def _phrase(condition: Condition) -> str:
    spans = []
    for role, text in condition.parts():
        kind = "negated" if role == "operator" and text.startswith("is not") else role
        spans.append(f'<span class="{kind}">{escape(text)}</span>')
    return " ".join(spans)


def _mark(index: int) -> str:
    mark = CLASS_MARKS[index] if index < len(CLASS_MARKS) else "○"
    return f'<span style="color: {hue(index)}">{mark}</span>'


def _covered(rules: RuleSet, rule: Rule) -> str:
    """Return a bar over all training rows and the counts of each class; empty where they are not known."""
    if not rule.covered or not rules.n_rows:
        return ""
    index, _ = rule.speaks_for
    order = sorted(range(len(rule.covered)), key=lambda k: (k != index, k))
    left, parts = 0.0, []
    for k in order:
        share = 100 * rule.covered[k] / rules.n_rows
        parts.append(f'<rect x="{left:.4g}" y="0" width="{share:.4g}" height="8" fill="{hue(k)}"/>')
        left += share
    words = " ".join(
        f'<span class="condition" title="{_text(rules.class_names[k])}">{rule.covered[k]:,} {_mark(k)}</span>'
        for k in order
    )
    return (
        '<svg class="support" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="100" height="8" fill="var(--surface)"/>{"".join(parts)}</svg>'
        f"<small>{sum(rule.covered):,} rows: {words}</small>"
    )
