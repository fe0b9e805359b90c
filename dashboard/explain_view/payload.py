"""What the Explain component is sent: texts, places and names of colours, nothing else."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import expit

from dashboard.explain_view.looking import Looking
from dashboard.file_rows import file_rows
from dashboard.rule_list.payload import Painter
from dashboard.style import count, hue, mark, percent, short
from tmcore.conditions import number_text, visible, weight_text
from tmcore.explain import Domain, Value, explain_values, nearest_missed
from tmcore.flips import Flip
from tmcore.rule import Explanation, FiredRule, Rule, as_tuple

MOST_FIRED = 40
MOST_MISSED = 4
MISSING_TEXT = "missing"


class ExplainPainter:
    """Turns a row being looked at into the component's data; reads each column of the training rows once."""

    flippable = True
    what_if = (
        "Change a value; the votes follow at once. A locked column is left alone when looking for a flip."
    )

    def __init__(self, looking: Looking) -> None:
        self.looking = looking
        self.rules = looking.rules
        self._painter = Painter(self.rules, *looking.train)
        self.names = self._painter.names
        self.two = len(self.names) == 2
        self._steps = {
            name: _step(domain.numbers) for name, domain in looking.domains.items() if domain.numbers
        }
        self._bins = {name: self._behind(domain) for name, domain in looking.domains.items()}

    def build(self, with_flips: bool = True) -> dict[str, Any]:
        """The whole page. Without flips their search is left out, for while a slider moves."""
        explained = explain_values(self.rules, self.looking.given)
        predicted = self.rules.classes.tolist().index(explained.predicted)
        focus = 1 if self.two else (predicted if self.looking.focus is None else self.looking.focus)
        return self._told(explained, focus, predicted, with_flips)

    def _told(self, explained: Explanation, focus: int, predicted: int, with_flips: bool) -> dict[str, Any]:
        looking, sums = self.looking, as_tuple(explained.votes)
        return {
            **self._head(predicted, sums),
            "flippable": self.flippable,
            "whatIf": self.what_if,
            "fields": [self._field(place, name) for place, name in enumerate(looking.columns)],
            "unread": self._unread(),
            "changed": looking.is_changed,
            "waterfall": self._waterfall(explained.fired, sums, focus, predicted),
            "flips": self._flips() if with_flips else None,
            "missed": self._missed(focus),
        }

    # The row -----------------------------------------------------------------------------------------------------

    def _head(self, predicted: int, sums: tuple[float, ...]) -> dict[str, Any]:
        looking = self.looking
        shares = self._shares(sums)
        with_these = "With these values the" if looking.is_changed else "The"
        sure = "" if shares is None else f", {percent(shares[predicted])} sure"
        y = looking.rows[1]
        recorded = visible(y.iloc[looking.place])
        verdict = f"so this is {'wrong' if looking.place in looking.wrong else 'right'}"
        if looking.is_changed:
            verdict = "edited"
        below = f"{self._where()} · recorded as {short(recorded)} · {verdict}"
        n_wrong = len(looking.wrong)
        wrong = (
            f"{count(n_wrong, 'row')} of {len(y):,} wrong"
            if n_wrong
            else f"none of the {len(y):,} rows is wrong"
        )
        return {
            "title": f"{with_these} rules say {self.names[predicted]}{sure}",
            "sub": f"{below} · {wrong}",
            "nWrong": n_wrong,
            "wrongWord": "Next wrong row",
            "verdict": self._verdict(shares, sums),
        }

    def _where(self) -> str:
        """Which row it is."""
        looking = self.looking
        y = looking.rows[1]
        kind = "Test" if looking.is_test else "Training"
        (number,) = file_rows(y.index[[looking.place]])
        where = f" · row {int(number):,} of the data" if number else ""
        return f"{kind} row {looking.place + 1:,} of {len(y):,}{where}"

    def _shares(self, sums: tuple[float, ...]) -> list[float] | None:
        """Probabilities of the classes; None where votes are not log-odds."""
        if not self.looking.refitted:
            return None
        if self.two:
            positive = float(expit(sums[0]))
            return [1 - positive, positive]
        each = expit(np.array(sums))
        return (each / each.sum()).tolist() if each.sum() > 0 else None

    def _verdict(self, shares: list[float] | None, sums: tuple[float, ...]) -> list[dict[str, Any]]:
        order = [1, 0] if self.two else list(range(len(self.names)))
        parts = []
        for index in order:
            text = f"{mark(index)} {self.names[index]}"
            if shares is not None:
                text += f" {percent(shares[index])}"
                text += "" if self.two else f" (sum {weight_text(sums[index])})"
            elif not self.two:
                text += f" {weight_text(sums[index])}"
            parts.append(
                {"text": text, "hue": hue(index), "share": None if shares is None else shares[index]}
            )
        return parts

    # What if -----------------------------------------------------------------------------------------------------

    def _behind(self, domain: Domain) -> dict[str, Any] | None:
        if domain.column.kind != "numeric":
            return None
        behind = self._painter.backdrop_of(domain.column.name)
        if behind is None:
            return None
        up = 1 if self.two else 0
        rest = np.delete(behind.counts, up, axis=0).sum(axis=0)
        if not self.two:
            rest, upward = np.zeros_like(rest), behind.counts.sum(axis=0)
        else:
            upward = behind.counts[up]
        hues = ("c1", "c0") if self.two else ("axis", "axis")
        return {"up": upward.tolist(), "down": rest.tolist(), "hues": hues}

    def _field(self, place: int, name: str) -> dict[str, Any]:
        looking = self.looking
        domain, value, own = looking.domains[name], looking.given[name], looking.own[name]
        entry = {
            "place": place,
            "label": short(domain.column.label),
            "unit": short(domain.column.unit) if domain.column.unit else "",
            "value": value,
            "text": self._text(value),
            "was": f"was {self._text(own)}" if value != own else "",
            "locked": name in looking.locked,
            "numeric": domain.column.kind == "numeric",
        }
        if domain.column.kind == "numeric":
            numbers = domain.numbers
            if not numbers:
                return entry | {"min": 0.0, "max": 0.0, "step": 1.0, "behind": None, "middle": None}
            middle = numbers[len(numbers) // 2]
            step = self._steps[name]
            return entry | {
                "min": numbers[0],
                "max": numbers[-1],
                "step": step,
                "behind": self._bins[name],
                "middle": middle,
            }
        names = list(domain.names)
        options: list[dict[str, Any]] = [{"value": one, "text": short(one)} for one in names]
        for extra in dict.fromkeys((own, value)):
            if extra is not None and extra not in names:
                options.append({"value": extra, "text": f"{self._text(extra)} (never seen)"})
        options.append({"value": None, "text": MISSING_TEXT})
        chosen = next(k for k, option in enumerate(options) if option["value"] == value)
        return entry | {"options": options, "chosen": chosen}

    def _text(self, value: Value) -> str:
        if value is None:
            return MISSING_TEXT
        return short(value) if isinstance(value, str) else number_text(value)

    def _unread(self) -> str:
        read = set(self.looking.columns)
        names = [short(column.label) for column in self.rules.columns if column.name not in read]
        if not names:
            return ""
        shown = ", ".join(names[:12]) + (f" and {len(names) - 12:,} more" if len(names) > 12 else "")
        return f"No rule reads {shown}."

    # Votes -------------------------------------------------------------------------------------------------------

    def _sign_hue(self, weight: float, focus: int) -> str:
        if self.two:
            return hue(1 if weight > 0 else 0)
        return "for" if weight > 0 else "against"

    def _waterfall(
        self, fired: tuple[FiredRule, ...], sums: tuple[float, ...], focus: int, predicted: int
    ) -> dict[str, Any]:
        output = 0 if self.two else focus
        start = as_tuple(self.rules.intercept)[output]
        speaking = [(one, as_tuple(one.contribution)[output]) for one in fired]
        speaking = sorted((item for item in speaking if item[1]), key=lambda item: -abs(item[1]))
        shown, rest = speaking[:MOST_FIRED], speaking[MOST_FIRED:]
        at = start
        points = [0.0, start]
        rows = [self._bar(0.0, start, focus) | {"word": "START", "text": "before any rule", "conditions": []}]
        for one, weight in shown:
            rows.append(
                self._bar(at, at + weight, focus) | {"conditions": self._conditions(one.rule, weight, focus)}
            )
            at += weight
            points.append(at)
        if rest:
            more = sum(weight for _, weight in rest)
            text = f"{count(len(rest), 'lighter rule')} together"
            rows.append(self._bar(at, at + more, focus) | {"word": "MORE", "text": text, "conditions": []})
            points.append(at + more)
        total = sums[output]
        name, told = self.names[focus], self.names[predicted] if self.two else self.names[focus]
        turned = self.two and predicted == 0
        favour = sum((weight < 0) if turned else (weight > 0) for _, weight in speaking)
        speak = "rule speaks" if favour == 1 else "rules speak"
        return {
            "title": f"{favour} {speak} for {told}, {len(speaking) - favour} against",
            "caption": self._caption(focus, sums),
            "left": f"{mark(0)} {self.names[0]}" if self.two else f"against {name}",
            "right": f"{name} {mark(focus)}" if self.two else f"for {name}",
            "hues": [hue(0) if self.two else "against", hue(1) if self.two else "for"],
            "low": min(points),
            "high": max(points),
            "rows": rows,
            "total": self._bar(0.0, total, focus) | self._total(total, focus, predicted, sums),
            "choices": [] if self.two else [f"{mark(k)} {one}" for k, one in enumerate(self.names)],
            "focus": focus,
        }

    def _caption(self, focus: int, sums: tuple[float, ...]) -> str:
        """What the sum is, which one wins, and how it becomes a probability."""
        name, unit = self.names[focus], "Log-odds" if self.looking.refitted else "Votes"
        if self.two:
            return f"{unit}. A rule that holds pushes the sum right for {name}, left for {self.names[0]}."
        text = (
            f"{unit}. A rule that holds pushes the sum right for {name}, left against it. "
            "Every class has such a sum and the largest wins, even one below 0."
        )
        if self._shares(sums) is None:
            return text
        alone = percent(float(expit(sums[focus])))
        return (
            f"{text} This sum alone would mean {alone} against all other classes; "
            "these percentages of all classes, scaled to add up to 100\u00a0%, are the probabilities."
        )

    def _total(self, total: float, focus: int, predicted: int, sums: tuple[float, ...]) -> dict[str, Any]:
        shares = self._shares(sums)
        note = "" if shares is None else f"probability of {self.names[focus]} {shares[focus]:.2f}"
        if self.two:
            return {
                "text": f"Sum: {mark(predicted)} {self.names[predicted]}",
                "note": note,
                "hue": hue(predicted),
            }
        largest = f"{mark(predicted)} {self.names[predicted]} wins with {weight_text(sums[predicted])}"
        wins = "the largest, so it wins" if predicted == focus else largest
        return {
            "text": f"Sum for {mark(focus)} {self.names[focus]}",
            "note": " · ".join(filter(None, (wins, note))),
            "hue": hue(focus),
        }

    def _bar(self, before: float, after: float, focus: int) -> dict[str, Any]:
        weight = after - before
        return {
            "from": before,
            "to": after,
            "hue": self._sign_hue(weight, focus),
            "weight": weight_text(weight),
        }

    def _conditions(self, rule: Rule, weight: float, focus: int) -> list[dict[str, Any]]:
        index = (1 if weight > 0 else 0) if self.two else focus
        return [self._painter.condition(one, index) for one in rule.conditions]

    # What would change it ----------------------------------------------------------------------------------------

    def _flips(self) -> dict[str, Any]:
        search = self.looking.flips()
        caption = "Fewest columns first, then fewest levels."
        return {"title": search.text, "caption": caption, "rows": [self._flip(flip) for flip in search.flips]}

    def _flip(self, flip: Flip) -> dict[str, Any]:
        columns = self.looking.columns
        index = self.rules.classes.tolist().index(flip.predicted)
        changes = [
            {
                "label": short(self.looking.domains[change.column].column.label),
                "before": self._text(change.before),
                "after": self._text(change.after),
                "chip": isinstance(change.after, str),
            }
            for change in flip.changes
        ]
        return {
            "changes": changes,
            "set": [[columns.index(change.column), change.after] for change in flip.changes],
            "to": "" if self.two else f"{mark(index)} {self.names[index]}",
            "levels": count(flip.levels, "level"),
        }

    def _missed(self, focus: int) -> list[dict[str, Any]]:
        looking = self.looking
        entries = []
        for missed in nearest_missed(self.rules, looking.given, MOST_MISSED):
            weights = as_tuple(missed.rule.weights)
            weight = weights[0] if self.two else max(weights, key=abs)
            index = (1 if weight > 0 else 0) if self.two else weights.index(weight)
            has = ", ".join(self._text(looking.given[one.column]) for one in missed.failed)
            adds = self._adds(weight, index)
            others = len(missed.rule.conditions) - len(missed.failed)
            entries.append(
                {
                    "conditions": [self._painter.condition(one, index) for one in missed.failed],
                    "hue": hue(index),
                    "note": f"is {has} · {adds}",
                    "rest": _others_held(others),
                }
            )
        return entries

    def _adds(self, weight: float, index: int) -> str:
        """What a rule would add, and to which class."""
        return weight_text(weight) if self.two else f"{mark(index)} {weight_text(weight)}"


def _others_held(number: int) -> str:
    if number == 0:
        return ""
    return "its other condition held" if number == 1 else f"its other {number} conditions held"


def _step(numbers: tuple[float, ...]) -> float:
    """A slider's step: one of the last decimal that training values have, but at most 2,000 steps in all."""
    decimals = max(
        (len(repr(number).split(".")[-1]) for number in numbers if not number.is_integer()), default=0
    )
    finest = 10.0 ** -min(decimals, 6)
    span = numbers[-1] - numbers[0]
    coarsest = 10.0 ** math.floor(math.log10(span / 1000)) if span > 0 else finest
    return max(finest, coarsest)
