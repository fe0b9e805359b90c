"""Rules as CSV for a spreadsheet: the intercept as a first row called START, then one row a rule.

Columns: number, rule, class, weight (or one for each of many classes), literals, support, precision; class and
precision are empty where the rules predict a number. UTF-8 with the mark that spreadsheets need to recognise it.
Weights have all their digits.
"""

from __future__ import annotations

import csv
import io

from tmcore.export.about import NOTHING, About
from tmcore.rule import as_tuple
from tmcore.ruleset import RuleSet

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""A text that begins so may run as a formula in a spreadsheet."""


def to_csv(rules: RuleSet, about: About = NOTHING) -> bytes:
    """Return `rules` as the bytes of a CSV file, which has no room for `about`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    head = ["number", "rule", "class", *rules.weight_names(), "literals", "support", "precision"]
    writer.writerow([neutral(name) for name in head])
    writer.writerow(["START", "", "", *map(repr, as_tuple(rules.intercept)), 0, "", ""])
    for number, rule in enumerate(rules, start=1):
        measures = ["" if value is None else repr(float(value)) for value in (rule.support, rule.precision)]
        speaks_for = rules.class_text(rule) if len(rules.classes) else ""
        words = [neutral(rule.text()), neutral(speaks_for)]
        writer.writerow([number, *words, *map(repr, as_tuple(rule.weights)), rule.n_literals, *measures])
    return out.getvalue().encode("utf-8-sig")


def neutral(text: str) -> str:
    """Return a text cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
