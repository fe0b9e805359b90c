"""One rule, its weight, and what an explanation of one row is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tmcore.conditions import Condition

Weight = float | tuple[float, ...]
"""One signed number with two classes (above 0 speaks for class 1) and in regression, else one number per class."""


def as_tuple(weight: Weight) -> tuple[float, ...]:
    """Return the numbers of a weight or of an intercept."""
    return (weight,) if isinstance(weight, float) else weight


def like(numbers: Iterable[float], pattern: Weight) -> Weight:
    """Return `numbers` in the shape of `pattern`."""
    values = tuple(numbers)
    return values[0] if isinstance(pattern, float) else values


def add(first: Weight, second: Weight) -> Weight:
    """Return the sum of two weights."""
    return like((a + b for a, b in zip(as_tuple(first), as_tuple(second), strict=True)), first)


@dataclass(frozen=True)
class Rule:
    """One rule.

    Attributes
    ----------
    conditions : tuple of Condition
        At most one per column; all must hold. Without any the rule holds for every row.
    weights : float or tuple of float
        See `Weight`.
    support : float or None
        Share of training rows the rule covers.
    precision : float or None
        Share of the covered training rows that are of the class it speaks for; None where it covers none.
    covered : tuple of int
        Covered training rows of each class, empty when not known.
    source : (int, int) or None
        The machine and clause it was read from; the first of them for merged rules.
    """

    conditions: tuple[Condition, ...]
    weights: Weight
    support: float | None = None
    precision: float | None = None
    covered: tuple[int, ...] = ()
    source: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        columns = [condition.column for condition in self.conditions]
        if len(set(columns)) < len(columns):
            raise ValueError(f"A rule has two conditions on one column (columns {', '.join(columns)}).")

    @property
    def n_literals(self) -> int:
        """Number of included bounds."""
        return sum(condition.n_literals for condition in self.conditions)

    @property
    def magnitude(self) -> float:
        """The largest absolute weight."""
        return max(abs(weight) for weight in as_tuple(self.weights))

    @property
    def speaks_for(self) -> tuple[int, bool]:
        """Index of the class it speaks for, and whether it only speaks against that class ("not X").

        Two classes: by the sign. More: the class of the largest weight; when no weight is above 0, "not" the
        class of the smallest.
        """
        if isinstance(self.weights, float):
            return (1 if self.weights >= 0 else 0), False
        if max(self.weights) > 0:
            return self.weights.index(max(self.weights)), False
        return self.weights.index(min(self.weights)), True

    def text(self) -> str:
        """Return the left side in words: "1.3 < ST depression ≤ 2.4 mm AND chest pain is asymptomatic"."""
        return " AND ".join(condition.text() for condition in self.conditions) or "always"


@dataclass(frozen=True)
class FiredRule:
    """A rule that holds for a row: its number in the rule set (from 1) and what it adds to the votes."""

    number: int
    rule: Rule
    contribution: Weight


@dataclass(frozen=True)
class NearMiss:
    """A rule that fails for a row by one condition only."""

    number: int
    rule: Rule
    condition: Condition


@dataclass(frozen=True)
class Explanation:
    """Why a row gets its class: `votes` is the intercept plus the contributions of the rules that hold."""

    predicted: Any
    votes: Weight
    intercept: Weight
    fired: tuple[FiredRule, ...]
    near_misses: tuple[NearMiss, ...]


def n_correct(rule: Rule, covered: Sequence[int], n_rows: int) -> int:
    """Return how many of the covered rows (`covered` of each class) are of the class `rule` speaks for."""
    index, against = rule.speaks_for
    own = covered[min(index, len(covered) - 1)]
    return n_rows - own if against else own


def with_counts(rule: Rule, covered: tuple[int, ...], n_rows: int) -> Rule:
    """Return `rule` with its covered rows of each class and the precision that follows."""
    precision = n_correct(rule, covered, n_rows) / n_rows if n_rows else None
    return replace(rule, covered=covered, precision=precision)


def heaviest_first(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Return the rules by falling magnitude, equal ones as they came."""
    return tuple(sorted(rules, key=lambda rule: -rule.magnitude))
