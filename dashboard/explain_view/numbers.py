"""What the Explain component is sent of a row whose number is predicted: a start, and what each rule adds."""

from __future__ import annotations

from typing import Any

from dashboard.explain_view.payload import MOST_FIRED, ExplainPainter
from dashboard.rule_list.outcomes import NumberOutcomes
from dashboard.style import amount, count, hue, mark, short
from tmcore.explain import explain_values
from tmcore.rule import FiredRule, as_tuple


class NumberPainter(ExplainPainter):
    """As `ExplainPainter` for rules that add up to a number."""

    flippable = False
    what_if = "Change a value; what the rules add up to follows at once."

    @property
    def _outcomes(self) -> NumberOutcomes:
        outcomes = self._painter.outcomes
        assert isinstance(outcomes, NumberOutcomes)
        return outcomes

    def _amount(self, number: float) -> str:
        return amount(number, self._outcomes.unit)

    def build(self, with_flips: bool = True) -> dict[str, Any]:
        """The whole page."""
        return self._told(explain_values(self.rules, self.looking.given), 1, 1, with_flips)

    def _head(self, predicted: int, sums: tuple[float, ...]) -> dict[str, Any]:
        looking = self.looking
        with_these = "With these values the" if looking.is_changed else "The"
        y = looking.rows[1]
        actual = float(y.iloc[looking.place])
        verdict = f"so this is off by {self._amount(abs(actual - sums[0]))}"
        if looking.is_changed:
            verdict = "edited"
        n_wrong = len(looking.wrong)
        far = (
            f"{count(n_wrong, 'row')} of {len(y):,} missed by more than twice the mean error"
            if n_wrong
            else f"none of the {len(y):,} rows is missed by more than twice the mean error"
        )
        return {
            "title": f"{with_these} rules say {self._amount(sums[0])}",
            "sub": f"{self._where()} · recorded as {self._amount(actual)} · {verdict} · {far}",
            "nWrong": n_wrong,
            "wrongWord": "Next row far off",
            "verdict": [
                {
                    "text": f"{short(self._outcomes.label)} {self._amount(sums[0])}",
                    "hue": "ink",
                    "share": None,
                }
            ],
        }

    def _waterfall(
        self, fired: tuple[FiredRule, ...], sums: tuple[float, ...], focus: int, predicted: int
    ) -> dict[str, Any]:
        start = as_tuple(self.rules.intercept)[0]
        speaking = [(one, as_tuple(one.contribution)[0]) for one in fired]
        speaking = sorted((item for item in speaking if item[1]), key=lambda item: -abs(item[1]))
        at, points = 0.0, [0.0]  # places are told from the start on, which is where the axis has its zero
        begun = self._bar(0.0, 0.0, focus) | {"weight": amount(start)}
        rows = [begun | {"word": "START", "text": "before any rule", "conditions": []}]
        for one, weight in speaking[:MOST_FIRED]:
            rows.append(
                self._bar(at, at + weight, focus) | {"conditions": self._conditions(one.rule, weight, focus)}
            )
            at += weight
            points.append(at)
        if rest := speaking[MOST_FIRED:]:
            more = sum(weight for _, weight in rest)
            text = f"{count(len(rest), 'lighter rule')} together"
            rows.append(self._bar(at, at + more, focus) | {"word": "MORE", "text": text, "conditions": []})
            points.append(at + more)
        up = sum(weight > 0 for _, weight in speaking)
        raised, lowered = ("rule raises" if up == 1 else "rules raise"), len(speaking) - up
        unit = f", in {self._outcomes.unit}" if self._outcomes.unit else ""
        return {
            "title": f"{up} {raised} the number, {lowered} {'lowers' if lowered == 1 else 'lower'} it",
            "caption": f"What each rule that holds adds{unit}: right is more, left is less.",
            "left": "lower",
            "right": "higher",
            "hues": [hue(0), hue(1)],
            "low": min(points),
            "high": max(points),
            "rows": rows,
            "total": self._bar(0.0, sums[0] - start, focus)
            | {"text": f"Sum: {self._amount(sums[0])}", "note": "", "weight": amount(sums[0])},
            "choices": [],
            "focus": focus,
        }

    def _bar(self, before: float, after: float, focus: int) -> dict[str, Any]:
        return super()._bar(before, after, focus) | {"weight": self._outcomes.weight(after - before)}

    def _flips(self) -> dict[str, Any]:
        return {
            "title": "A number has no class to flip",
            "caption": "Change values at the side and see what the rules then add up to.",
            "rows": [],
        }

    def _adds(self, weight: float, index: int) -> str:
        return f"{mark(index)} {self._outcomes.weight(weight)}"
