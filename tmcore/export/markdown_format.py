"""Rules as Markdown, for a document: how to add up, one table, and what is needed to repeat the run."""

from __future__ import annotations

import re

from tmcore.conditions import visible
from tmcore.export.about import NOTHING, About
from tmcore.rule import as_tuple
from tmcore.ruleset import RuleSet

_SIGNS = re.compile(r"([\\`*_{}\[\]<#|~$&@]|:(?=//)|(?<=www)\.)", re.IGNORECASE)
"""What would become a mark-up, a formula, a link or the end of a cell."""


def to_markdown(rules: RuleSet, about: About = NOTHING) -> bytes:
    """Return `rules` as the bytes of a Markdown file. Weights have all their digits."""
    how = rules.to_text().split("\n", 1)[0]
    lines = [f"# {plain(about.title)}", "", plain(how), ""]
    if rules.edited:
        lines += ["Edited by hand after training.", ""]
    weights = plain(", ".join(rules.weight_names()))
    speaks_for = "class" if len(rules.classes) else "direction"
    lines += [
        f"| | rule | {weights} | {speaks_for} | literals | support | precision |",
        "|--:|---|--:|---|--:|--:|--:|",
    ]
    start = " ".join(map(repr, as_tuple(rules.intercept)))
    lines.append(f"| | START | {start} | | 0 | | |")
    for number, rule in enumerate(rules, start=1):
        cells = [
            str(number),
            plain(f"IF {rule.text()}"),
            " ".join(map(repr, as_tuple(rule.weights))),
            plain(rules.class_text(rule)),
            str(rule.n_literals),
            *(_percent(share) for share in (rule.support, rule.precision)),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    for title, pairs in (
        ("Scores", about.scores),
        ("Settings", about.settings),
        ("To repeat it", about.card),
    ):
        if pairs:
            lines += ["", f"## {title}", "", *(f"- {plain(name)}: {plain(text)}" for name, text in pairs)]
    if about.proof:
        lines += ["", plain(about.proof)]
    return ("\n".join(lines) + "\n").encode()


def plain(text: str) -> str:
    """Return `text` on one line as Markdown that shows exactly these characters."""
    return _SIGNS.sub(r"\\\1", visible(text))


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"
