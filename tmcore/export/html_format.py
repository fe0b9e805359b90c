"""Rules as a report: one HTML file without scripts that opens anywhere, also without a network."""

from __future__ import annotations

from html import escape
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from tmcore.conditions import Condition
from tmcore.export import glyphs, value_pictures
from tmcore.export.about import NOTHING, About
from tmcore.export.glyphs import Axis, hue
from tmcore.export.outcomes import Outcomes, outcomes_of, text
from tmcore.rule import Rule, as_tuple
from tmcore.ruleset import RuleSet

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
<thead><tr><th>no.</th><th>weight</th><th></th><th>rule</th><th>rows covered</th><th>{last}</th></tr></thead>
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
    outcomes = outcomes_of(rules, about)
    known = glyphs.axes(rules, about.rows, _groups(outcomes, about), outcomes.n_groups)
    rows = [_rule(rules, number, rule, known, outcomes) for number, rule in enumerate(rules, start=1)]
    n_rules, n_literals = len(rules), rules.n_literals
    size = f"{n_rules:,} rule{'s' * (n_rules != 1)} with {n_literals:,} literal{'s' * (n_literals != 1)}"
    notes = [note for note in ("Edited by hand after training." * rules.edited, about.proof) if note]
    lists = (("Scores", about.scores), ("Settings", about.settings), ("To repeat it", about.card))
    page = _PAGE.format(
        title=text(about.title),
        style=files("tmcore.export").joinpath("report.css").read_text(encoding="utf-8"),
        size=size,
        how=text(outcomes.how()),
        notes="".join(f'<p class="note">{text(note)}</p>\n' for note in notes),
        last=text(outcomes.last),
        rows="\n".join([*rows, _start(rules, outcomes)]),
        values=value_pictures.section(rules, known, outcomes),
        lists="\n".join(_list(title, pairs) for title, pairs in lists if pairs),
    )
    return page.encode()


def _groups(outcomes: Outcomes, about: About) -> NDArray[np.int64] | None:
    return None if about.labels is None else outcomes.groups(about.labels)


def _list(title: str, pairs: tuple[tuple[str, str], ...]) -> str:
    lines = "".join(f"<dt>{text(name)}</dt><dd>{text(said)}</dd>" for name, said in pairs)
    return f"<section><h2>{title}</h2><dl>{lines}</dl></section>"


def _rule(rules: RuleSet, number: int, rule: Rule, known: dict[str, Axis], outcomes: Outcomes) -> str:
    index, _ = rule.speaks_for
    categories = {column.name: column.categories for column in rules.columns}
    words = [
        f'<span class="condition"><b>{"AND" if k else "IF"}</b> '
        f"{glyphs.glyph(condition, known, categories.get(condition.column, ()), index)} {_phrase(condition)}</span>"
        for k, condition in enumerate(rule.conditions)
    ]
    own = outcomes.own(rule)
    covered, told = outcomes.covered(number, rule)
    return (
        f"{_row(as_tuple(rule.weights))}<td>{number}</td><td>{_bar(own / outcomes.heaviest, index)}</td>"
        f'<td class="number">{rules.shown(own)}</td>'
        f"<td>{' '.join([*words, outcomes.then(rule)])}</td><td>{covered}</td><td>{told}</td></tr>"
    )


def _start(rules: RuleSet, outcomes: Outcomes) -> str:
    index, size, shown, more = outcomes.start()
    bar = "" if size is None else _bar(size / outcomes.heaviest, index)
    return (
        f'{_row(as_tuple(rules.intercept))}<td></td><td>{bar}</td><td class="number">{shown}</td>'
        f"<td><b>START</b> every row begins here, before any rule{text(more) if more else ''}</td>"
        "<td></td><td></td></tr>"
    )


def _row(weights: tuple[float, ...]) -> str:
    return f'<tr data-weights="{" ".join(map(repr, weights))}">'


def _bar(share: float, index: int) -> str:
    """Return a bar from a zero line in the middle; ``share`` is that of the heaviest weight, with its sign."""
    long = abs(share) * 48
    left = 50 - long if share < 0 else 50
    return (
        '<svg class="bar" viewBox="0 0 100 18" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect x="{left:.4g}" y="3" width="{max(0.8, long):.4g}" height="12" fill="{hue(index)}"/>'
        '<rect x="49.6" y="0" width="0.8" height="18" fill="var(--axis)"/></svg>'
    )


def _phrase(condition: Condition) -> str:
    spans = []
    for role, part in condition.parts():
        kind = "negated" if role == "operator" and part.startswith("is not") else role
        spans.append(f'<span class="{kind}">{escape(part)}</span>')
    return " ".join(spans)
