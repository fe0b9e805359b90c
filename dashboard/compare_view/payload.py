"""What the list of compared rules is sent: texts, shares and names of colours, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from dashboard.rule_list.payload import Painter
from dashboard.style import count, hue, mark, percent
from tmcore.compare import Difference, Recurring, Stability, bounds
from tmcore.conditions import Condition, number_text
from tmcore.rule import Rule, as_tuple
from tmcore.ruleset import RuleSet


class ComparePainter:
    """Turns compared rules into the component's data.

    Parameters
    ----------
    rules : RuleSet
        The run's own.
    X, y : training rows, drawn behind the glyphs
    """

    def __init__(self, rules: RuleSet, X: pd.DataFrame, y: pd.Series) -> None:
        self.rules = rules
        self._painter = Painter(rules, X, y)

    def difference(self, other: RuleSet, found: Difference, most: int | None = None) -> list[dict[str, Any]]:
        """Rows of both rule sets in groups, at most so many each: a moved bound, only in one, the same."""
        top = max([rule.magnitude for rule in (*self.rules, *other)], default=1.0)
        both = [
            [(self.rules[p.first - 1], other[p.second - 1]) for p in part]
            for part in (found.moved, found.same)
        ]
        groups: list[tuple[str, Sequence[tuple[Rule | None, Rule | None]]]] = [
            ("Moved a bound", both[0]),
            ("Only in this run", [(self.rules[k - 1], None) for k in found.only_first]),
            ("Only in the other", [(None, other[k - 1]) for k in found.only_second]),
            ("Same in both", both[1]),
        ]
        return [
            {
                "title": f"{title}: {count(len(rules), 'rule')}",
                "rows": [self._both(first, second, top) for first, second in rules[:most]],
            }
            for title, rules in groups
            if rules
        ]

    def _both(self, first: Rule | None, second: Rule | None, top: float) -> dict[str, Any]:
        rule = first or second
        assert rule is not None
        row = self._row(rule)
        if first is not None and second is not None:
            theirs = {condition.column: condition for condition in second.conditions}
            for shown, condition in zip(row["conditions"], first.conditions, strict=True):
                self._overlay(shown, condition, theirs[condition.column], row["index"])
        row["weights"] = [
            None
            if one is None
            else {"text": self._painter.outcomes.weight(self._weight(one)), "share": self._weight(one) / top}
            for one in (first, second)
        ]
        return row

    def _overlay(self, shown: dict[str, Any], ours: Condition, theirs: Condition, index: int) -> None:
        """Where the other rule has its bounds, as ticks over the glyph and in words."""
        if bounds(ours) == bounds(theirs):
            return
        if theirs.kind == "ordinal":
            shown["other"] = {"words": theirs.text()}
            return
        glyph = self._painter.condition(theirs, index)["glyph"]
        pieces = [number_text(bound) for bound in bounds(theirs)]
        places = [] if glyph is None else [one for one in (glyph["from"], glyph["to"]) if one is not None]
        shown["other"] = {"places": places, "words": " and ".join(pieces)}

    def stability(self, found: Stability, shown: Sequence[Recurring]) -> list[dict[str, Any]]:
        """Rows of rules with the share of seeds they came back in: the run's own, then others."""
        own = [one for one in shown if one.number is not None]
        others = [one for one in shown if one.number is None]
        groups = (("This run's rules", own), ("Not in this run, but in others", others))
        return [
            {
                "title": f"{title}: {count(len(listed), 'rule')}",
                "rows": [self._back(one, found) for one in listed],
            }
            for title, listed in groups
            if listed
        ]

    def _back(self, one: Recurring, found: Stability) -> dict[str, Any]:
        row = self._row(one.example)
        share = one.n_seeds / found.n_seeds
        row["back"] = {
            "share": share,
            "low": one.low,
            "high": one.high,
            "text": f"{one.n_seeds} of {found.n_seeds}",
            "small": f"{100 * one.low:.0f}–{percent(one.high)}",
        }
        notes = []
        for condition in one.example.conditions:
            if condition.kind == "numeric":
                for low, high in one.ranges.get(condition.column, []):
                    if low < high:
                        notes.append(f"{condition.label} from {number_text(low)} to {number_text(high)}")
        row["note"] = f"bounds: {', '.join(notes)}" if notes else ""
        return row

    def _weight(self, rule: Rule) -> float:
        weights = as_tuple(rule.weights)
        return weights[0] if len(weights) == 1 else weights[rule.speaks_for[0]]

    def _row(self, rule: Rule) -> dict[str, Any]:
        index, _ = rule.speaks_for
        return {
            "index": index,
            "hue": hue(index),
            "mark": mark(index),
            "markHue": hue(index),
            "outcome": self._painter.outcomes.side(self.rules, rule),
            "others": [],
            "conditions": [self._painter.condition(one, index) for one in rule.conditions],
        }
