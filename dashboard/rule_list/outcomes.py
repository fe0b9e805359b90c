"""What rules say of rows, classes or numbers, and what the list of rules tells about it. No Streamlit here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.style import MINUS, amount, hue, mark, short
from tmcore.conditions import weight_text
from tmcore.labels import class_indices
from tmcore.rule import Rule, n_correct
from tmcore.ruleset import RuleSet
from tmcore.scores import NumberScores, Scores, accuracy_and_f1, mae_and_r2
from tmcore.units import split_unit

Measure = tuple[str, str]
"""What a column of the table is called, and how its values are printed: percent, times or size."""

Sort = tuple[str, int, bool]
"""What an order is called, the place of the measure that it goes by, and whether large ones come first."""


@dataclass(frozen=True)
class Part:
    """What a rule covers of the training or of the test rows; shares are NaN where there is nothing to divide by.

    Attributes
    ----------
    n_rows : int
        Covered rows.
    support : float
        Their share of all rows.
    precision : float
        Share of the covered rows it is right about.
    lift : float
        How many times the precision is the share of rows that any rule for this class would be right about.
    coverage : float
        Share of the rows of its class that it covers; of the rows not of that class where it speaks against it.
    """

    n_rows: int
    support: float
    precision: float
    lift: float
    coverage: float

    @property
    def told(self) -> tuple[float, ...]:
        """In the order of `ClassOutcomes.measures`."""
        return self.support, self.precision, self.lift, self.coverage


@dataclass(frozen=True)
class NumberPart:
    """The same for rules of numbers: covered rows, their share of all, and the mean of their numbers, NaN of none."""

    n_rows: int
    support: float
    mean: float

    @property
    def told(self) -> tuple[float, ...]:
        """In the order of `NumberOutcomes.measures`."""
        return self.support, self.mean


AnyPart = Part | NumberPart


def ratio(part: float, whole: float) -> float:
    """A share, NaN of nothing."""
    return part / whole if whole else math.nan


class ClassOutcomes:
    """Rules speak for classes; a covered row is right where it is of the rule's class."""

    measures: tuple[Measure, ...] = (
        ("support", "percent"),
        ("precision", "percent"),
        ("lift", "times"),
        ("coverage", "percent"),
    )
    sorts: tuple[Sort, ...] = (
        ("Purest first", 1, True),
        ("Highest lift first", 2, True),
        ("Widest coverage first", 3, True),
    )
    heads = ("right", "for", "rule is")
    verdict_words = ("right", "wrong")
    opposite = "another class"
    ends: tuple[str, str] | None = None
    """What less and more mean, where that is not the two groups."""

    def __init__(self, classes: NDArray[Any]) -> None:
        self.classes = classes
        self.names = [short(name) for name in classes]

    def groups(self, y: pd.Series) -> NDArray[np.int64]:
        """The class index of every row, -1 for a class unseen in training."""
        return class_indices(y, self.classes)

    def weight(self, weight: float) -> str:
        """A rule's weight."""
        return weight_text(weight)

    def start(self, start: float, top: float) -> tuple[str, float]:
        """The start as it is printed, and its share of the heaviest weight, for its bar."""
        return weight_text(start), start / top

    def direction(self, index: int) -> str:
        """What a sum above 0 does."""
        return f"speaks for {self.names[index]}"

    def adds_in(self, refitted: bool) -> str:
        """What sums are counted in."""
        return "log-odds" if refitted else "votes"

    def sum_of(self, index: int, refitted: bool) -> str:
        """What sums are counted in, and what for."""
        return f"{self.adds_in(refitted)} for {self.names[index]}"

    def outcome(self, rules: RuleSet, rule: Rule) -> str:
        """What a rule says, after THEN."""
        return rules.class_text(rule)

    def side(self, rules: RuleSet, rule: Rule) -> str:
        """What a rule speaks for, whatever its weight."""
        return rules.class_text(rule)

    def scores(self, base: RuleSet, votes: tuple[NDArray[np.float64], ...], y: tuple[Any, ...]) -> Scores:
        """Accuracy and F1 by the vote sums of training rows and, where there are any, of test rows."""
        found: list[float] = []
        for sums, labels in zip(votes, y, strict=True):
            if len(labels):
                found += accuracy_and_f1(
                    self.groups(pd.Series(labels)), base.winners(sums), len(self.classes)
                )
        return Scores(*found)

    def verdicts(self, rule: Rule, groups: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Of some rows, which ones the rule is right about."""
        index, against = rule.speaks_for
        right: NDArray[np.bool_] = (groups == index) != against
        return right

    def part(
        self, rule: Rule, covered: tuple[int, ...], n_rows: int, totals: tuple[int, ...], total: float
    ) -> Part:
        """What is told of the covered rows, of which so many are of each class."""
        n_all = sum(totals)
        right, own = n_correct(rule, covered, n_rows), n_correct(rule, totals, n_all)
        precision = ratio(right, n_rows)
        shares = ratio(n_rows, n_all), precision, ratio(precision, ratio(own, n_all)), ratio(right, own)
        return Part(n_rows, *shares)

    def total(self, y: pd.Series, holds: NDArray[np.bool_]) -> list[float]:
        """Classes have no sum."""
        return [0.0] * len(holds)

    def sides(self) -> list[dict[str, str]]:
        """The classes as the list shows them."""
        return [{"name": name, "mark": mark(k), "hue": hue(k)} for k, name in enumerate(self.names)]


@dataclass(frozen=True)
class NumberOutcomes:
    """Rules add to a number; rows are in two halves, at most the training median and above it.

    Attributes
    ----------
    median : float
        Of the training rows.
    label, unit : str
        Of the target.
    """

    median: float
    label: str
    unit: str

    measures = (("support", "percent"), ("mean", "size"))
    sorts = (("Highest mean first", 1, True), ("Lowest mean first", 1, False))
    heads = ("mean there", "adds", "it moves")
    verdict_words = ("right way", "wrong way")
    opposite = "the other way"
    ends = ("lower", "higher")

    @property
    def names(self) -> list[str]:
        """The two halves."""
        middle = amount(self.median, self.unit)
        return [f"{self.label} ≤ {middle}", f"{self.label} > {middle}"]

    def groups(self, y: pd.Series) -> NDArray[np.int64]:
        """The half of every row."""
        return (y.to_numpy(np.float64) > self.median).astype(np.int64)

    def weight(self, weight: float) -> str:
        """What a rule adds, without the unit."""
        return f"{MINUS if weight < 0 else '+'}{amount(abs(weight))}"

    def start(self, start: float, top: float) -> tuple[str, float]:
        """The start as it is printed; it is a number and no change of one, so it has no bar."""
        return amount(start), 0.0

    def direction(self, index: int) -> str:
        """What a sum above 0 does."""
        return f"raises {self.label}"

    def adds_in(self, refitted: bool) -> str:
        """What sums are counted in."""
        return self.unit or f"units of {self.label}"

    def sum_of(self, index: int, refitted: bool) -> str:
        """What sums are counted in, and what for."""
        return f"{self.unit} of {self.label}".lstrip()

    def outcome(self, rules: RuleSet, rule: Rule) -> str:
        """What a rule says, after THEN: "adds +12.3 mg"."""
        assert isinstance(rule.weights, float)
        return f"adds {self.weight(rule.weights)}" + (f"\u00a0{self.unit}" if self.unit else "")

    def side(self, rules: RuleSet, rule: Rule) -> str:
        """Which way a rule moves the number: "higher price"."""
        return f"{rules.class_text(rule)} {self.label}"

    def scores(
        self, base: RuleSet, votes: tuple[NDArray[np.float64], ...], y: tuple[Any, ...]
    ) -> NumberScores:
        """MAE and R2 by the sums of training rows and, where there are any, of test rows."""
        found: list[float | None] = []
        for sums, targets in zip(votes, y, strict=True):
            if len(targets):
                found += mae_and_r2(np.asarray(targets, np.float64), sums[:, 0])
        return NumberScores(*found)  # type: ignore[arg-type]  # the first is no None

    def verdicts(self, rule: Rule, groups: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Of some rows, which ones are in the half that the rule pushes towards."""
        right: NDArray[np.bool_] = groups == rule.speaks_for[0]
        return right

    def part(
        self, rule: Rule, covered: tuple[int, ...], n_rows: int, totals: tuple[int, ...], total: float
    ) -> NumberPart:
        """What is told of the covered rows, whose numbers add up to ``total``."""
        return NumberPart(n_rows, ratio(n_rows, sum(totals)), ratio(total, n_rows))

    def total(self, y: pd.Series, holds: NDArray[np.bool_]) -> list[float]:
        """The sum of the numbers that each of some rules covers; ``holds`` has shape (n_rules, n_rows)."""
        found: list[float] = (holds @ y.to_numpy(np.float64)).tolist()
        return found

    def sides(self) -> list[dict[str, str]]:
        """The halves as the list shows them."""
        return [{"name": name, "mark": mark(k), "hue": hue(k)} for k, name in enumerate(self.names)]


Outcomes = ClassOutcomes | NumberOutcomes


def outcomes_of(classes: NDArray[Any], y_train: pd.Series) -> Outcomes:
    """The outcomes of rules with these classes, of numbers without any."""
    if len(classes):
        return ClassOutcomes(classes)
    label, unit = split_unit(str(y_train.name if y_train.name is not None else "number"))
    return NumberOutcomes(float(y_train.median()), short(label), short(unit) if unit else "")
