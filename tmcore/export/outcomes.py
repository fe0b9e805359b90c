"""What rules do to the answer, in the report: speak for a class, or add to a number. HTML, all texts escaped."""

from __future__ import annotations

from abc import ABC, abstractmethod
from html import escape

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tmcore.conditions import visible, weight_text
from tmcore.export.about import About
from tmcore.export.glyphs import hue, mark
from tmcore.labels import class_indices
from tmcore.rule import Rule, as_tuple
from tmcore.ruleset import RuleSet
from tmcore.units import split_unit

NO_BREAK = "\u00a0"


def text(thing: object) -> str:
    """Any text of the data as HTML that shows it."""
    return escape(visible(thing))


def marked(index: int) -> str:
    """The shape that stands for a class, in its colour."""
    return f'<span style="color: {hue(index)}">{mark(index)}</span>'


class Outcomes(ABC):
    """What a report says of a rule set besides the conditions of its rules.

    Attributes
    ----------
    last : str
        What the last column of the table is called.
    two : bool
        Whether a weight below 0 has the colour of the first side, and one above 0 that of the second.
    n_outputs : int
        Sums that there are pictures of.
    heaviest : float
        What the longest bar stands for, above 0.
    """

    last: str
    two: bool
    n_outputs: int
    heaviest: float

    def __init__(self, rules: RuleSet, about: About) -> None:
        self.rules = rules

    @abstractmethod
    def groups(self, y: pd.Series) -> NDArray[np.int64]:
        """The group of each row, 0 and on, that pictures tell apart."""

    @property
    @abstractmethod
    def n_groups(self) -> int:
        """How many groups there are."""

    @abstractmethod
    def how(self) -> str:
        """How the rules add up to an answer, in words."""

    @abstractmethod
    def then(self, rule: Rule) -> str:
        """What follows where a rule holds."""

    @abstractmethod
    def own(self, rule: Rule) -> float:
        """The weight of a rule that its bar shows."""

    @abstractmethod
    def covered(self, number: int, rule: Rule) -> tuple[str, str]:
        """The cells of the rows that a rule covers, and of what they are."""

    @abstractmethod
    def start(self) -> tuple[int, float | None, str, str]:
        """Side of the start, its size beside the rules' weights where it has one, its text, and more to say of it."""

    @abstractmethod
    def adds(self, output: int) -> str:
        """What being above and below zero means in the pictures of a sum."""


class ClassOutcomes(Outcomes):
    """Rules speak for and against classes."""

    last = "precision"

    def __init__(self, rules: RuleSet, about: About) -> None:
        super().__init__(rules, about)
        self.two = len(rules.classes) == 2
        self.n_outputs = 1 if self.two else len(rules.classes)
        starts = as_tuple(rules.intercept)
        self.heaviest = max([*map(abs, starts), *(rule.magnitude for rule in rules)]) or 1.0

    def groups(self, y: pd.Series) -> NDArray[np.int64]:
        """See `Outcomes.groups`; the class index, -1 for a class that the rules do not know."""
        return class_indices(y, self.rules.classes)

    @property
    def n_groups(self) -> int:
        """See `Outcomes.n_groups`."""
        return len(self.rules.classes)

    def how(self) -> str:
        """See `Outcomes.how`."""
        return self.rules.to_text().split("\n", 1)[0]

    def then(self, rule: Rule) -> str:
        """See `Outcomes.then`; the class, and what the rule adds to others."""
        index, weights = rule.speaks_for[0], as_tuple(rule.weights)
        others = [
            f"{text(name)} {weight_text(weight)}"
            for k, (name, weight) in enumerate(zip(self.rules.class_names, weights, strict=False))
            if len(weights) > 1 and k != index and weight
        ]
        more = f"<small>and adds {', '.join(others)}</small>" if others else ""
        said = f"{marked(index)} {text(self.rules.class_text(rule))}"
        return f'<span class="condition"><b>THEN</b> {said}</span>{more}'

    def own(self, rule: Rule) -> float:
        """See `Outcomes.own`; that of the class it speaks for."""
        weights = as_tuple(rule.weights)
        return weights[0] if len(weights) == 1 else weights[rule.speaks_for[0]]

    def covered(self, number: int, rule: Rule) -> tuple[str, str]:
        """See `Outcomes.covered`; rows of each class, and the share that is of the rule's class."""
        precision = "" if rule.precision is None else f"{100 * rule.precision:.0f}{NO_BREAK}%"
        if not rule.covered or not self.rules.n_rows:
            return "", precision
        index, _ = rule.speaks_for
        order = sorted(range(len(rule.covered)), key=lambda k: (k != index, k))
        bar = rows_bar([(rule.covered[k] / self.rules.n_rows, hue(k)) for k in order])
        words = " ".join(
            f'<span class="condition" title="{text(self.rules.class_names[k])}">{rule.covered[k]:,} {marked(k)}</span>'
            for k in order
        )
        return f"{bar}<small>{sum(rule.covered):,} rows: {words}</small>", precision

    def start(self) -> tuple[int, float | None, str, str]:
        """See `Outcomes.start`; with more than two classes the heaviest one, and all in words."""
        starts = as_tuple(self.rules.intercept)
        if self.two:
            return int(starts[0] >= 0), starts[0], weight_text(starts[0]), ""
        own = max(starts, key=abs)
        each = zip(self.rules.class_names, starts, strict=False)
        more = ": " + ", ".join(f"{name} {weight_text(start)}" for name, start in each)
        return starts.index(own), own, weight_text(own), more

    def adds(self, output: int) -> str:
        """See `Outcomes.adds`."""
        name = text(self.rules.class_names[1 if self.two else output])
        return f"up or right speaks for {name}, down or left against"


class NumberOutcomes(Outcomes):
    """Rules add to a number; rows are told apart by whether theirs is above the median."""

    two = True
    n_outputs = 1
    n_groups = 2

    def __init__(self, rules: RuleSet, about: About) -> None:
        super().__init__(rules, about)
        self.heaviest = max((rule.magnitude for rule in rules), default=0.0) or 1.0
        self._median, self._means = 0.0, [np.nan] * len(rules)
        named = "number"
        if about.labels is not None and about.rows is not None:
            self._median = float(about.labels.median())
            self._means = rules.statistics(about.rows, about.labels)["mean"].tolist()
            named = str(about.labels.name or named)
        self.label, self.unit = split_unit(named)
        self.last = f"mean {visible(self.label)} there" if about.labels is not None else ""

    def groups(self, y: pd.Series) -> NDArray[np.int64]:
        """See `Outcomes.groups`; the half of every row."""
        return (y.to_numpy(np.float64) > self._median).astype(np.int64)

    def how(self) -> str:
        """See `Outcomes.how`."""
        unit = f" in {self.unit}" if self.unit else ""
        first = self.rules.to_text().split("\n", 1)[0]
        return f"{first} The sum is the predicted {self.label}{unit}."

    def then(self, rule: Rule) -> str:
        """See `Outcomes.then`; which way it moves the number."""
        direction = "raises" if self.own(rule) >= 0 else "lowers"
        return f'<span class="condition"><b>THEN</b> {direction} {text(self.label)}</span>'

    def own(self, rule: Rule) -> float:
        """See `Outcomes.own`."""
        return as_tuple(rule.weights)[0]

    def covered(self, number: int, rule: Rule) -> tuple[str, str]:
        """See `Outcomes.covered`; how many, and the mean of their numbers where rows are known."""
        mean = self._means[number - 1]
        shown = "" if np.isnan(mean) else self._amount(mean)
        if rule.support is None or not self.rules.n_rows:
            return "", shown
        bar = rows_bar([(rule.support, hue(rule.speaks_for[0]))])
        n_rows = round(rule.support * self.rules.n_rows)
        return f"{bar}<small>{n_rows:,} row{'s' * (n_rows != 1)}</small>", shown

    def start(self) -> tuple[int, float | None, str, str]:
        """See `Outcomes.start`; a number and no change of one, so it has no bar."""
        return 0, None, self._amount(as_tuple(self.rules.intercept)[0]), ""

    def _amount(self, number: float) -> str:
        return text(self.rules.shown(number).removeprefix("+"))

    def adds(self, output: int) -> str:
        """See `Outcomes.adds`."""
        unit = f", in {text(self.unit)}" if self.unit else ""
        return f"up or right raises {text(self.label)}, down or left lowers it{unit}"


def rows_bar(parts: list[tuple[float, str]]) -> str:
    """A bar over all training rows: shares of them with their colours."""
    left, drawn = 0.0, []
    for share, fill in parts:
        drawn.append(f'<rect x="{left:.4g}" y="0" width="{100 * share:.4g}" height="8" fill="{fill}"/>')
        left += 100 * share
    return (
        '<svg class="support" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="100" height="8" fill="var(--surface)"/>{"".join(drawn)}</svg>'
    )


def outcomes_of(rules: RuleSet, about: About) -> Outcomes:
    """What these rules do to the answer."""
    return ClassOutcomes(rules, about) if len(rules.classes) else NumberOutcomes(rules, about)
