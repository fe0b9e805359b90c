"""Two rule sets side by side, and how often rules come back when a machine is trained again with other seeds.

Two rules have the same shape when they speak for the same class, or both raise or both lower a number, and ask the same
columns in the same direction: a lower bound, an upper bound or both, a category, a set of excluded categories. Rules of
one shape are the same rule when they are equal, and the same rule with a moved bound otherwise.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import delayed
from scipy.optimize import linear_sum_assignment

from tmcore.conditions import Condition
from tmcore.judge import Progress, fit, in_threads
from tmcore.labels import chosen_positive
from tmcore.number_rules import SIDES
from tmcore.parameters import Parameters
from tmcore.predicted import TaskName
from tmcore.rule import Rule
from tmcore.ruleset import RuleSet
from tmcore.uncertainty import share_interval

Shape = tuple[Hashable, ...]


def direction(condition: Condition) -> Hashable:
    """What a condition asks of its column, but for where its bounds are."""
    if condition.known:
        return "known"
    if condition.kind == "numeric":
        return condition.lower is not None, condition.upper is not None
    if condition.kind == "ordinal":
        return condition.levels[0] != condition.all_levels[0], condition.levels[-1] != condition.all_levels[
            -1
        ]
    if condition.kind == "boolean" or condition.is_in is not None:
        return condition.value or condition.is_in
    return tuple(sorted(condition.not_in))


def sides(rules: RuleSet) -> tuple[str, ...]:
    """What rules speak for: the classes, or lower and higher numbers."""
    return rules.class_names or SIDES


def shape(rule: Rule, names: Sequence[str]) -> Shape:
    """What a rule speaks for, one of `sides`, and its columns with their directions in a fixed order."""
    index, against = rule.speaks_for
    asked = sorted(((one.column, direction(one)) for one in rule.conditions), key=repr)
    return names[min(index, len(names) - 1)], against, *asked


def bounds(condition: Condition) -> list[float]:
    """Where a condition's bounds are; an ordinal level counts by its place among the levels."""
    if condition.kind == "ordinal" and not condition.known:
        levels, place = condition.all_levels, condition.all_levels.index
        ends = (condition.levels[0], levels[0]), (condition.levels[-1], levels[-1])
        return [float(place(end)) for end, opened in ends if end != opened]
    return [bound for bound in (condition.lower, condition.upper) if bound is not None]


def spans(rules: Sequence[RuleSet], X: pd.DataFrame | None = None) -> dict[str, float]:
    """The range of values of each column with bounds: that of its rows where they are given, and of all bounds."""
    found: dict[str, list[float]] = defaultdict(list)
    for one in (condition for ruleset in rules for rule in ruleset for condition in rule.conditions):
        if one.kind == "ordinal":
            found[one.column] += [0.0, len(one.all_levels) - 1.0]
        elif one.kind == "numeric" and not one.known:
            if X is not None and one.column not in found:
                values = X[one.column].to_numpy(dtype=float, na_value=np.nan)
                found[one.column] += values[~np.isnan(values)].tolist()
            found[one.column] += bounds(one)
    return {column: (max(values) - min(values)) or 1.0 for column, values in found.items()}


@dataclass(frozen=True)
class Pair:
    """Two rules of one shape, by number from 1, and how far apart their bounds are.

    `distance` is the mean over bounds, as shares of the columns' ranges; 0 for equal rules.
    """

    first: int
    second: int
    distance: float


@dataclass(frozen=True)
class Difference:
    """Every rule of two sets, by number from 1, once: in both, in both with a moved bound, or in one only."""

    same: tuple[Pair, ...]
    moved: tuple[Pair, ...]
    only_first: tuple[int, ...]
    only_second: tuple[int, ...]


def difference(first: RuleSet, second: RuleSet, ranges: Mapping[str, float] | None = None) -> Difference:
    """Pair the rules of two sets so that the bounds of the pairs are as close as possible.

    Parameters
    ----------
    first, second : RuleSet
    ranges : mapping, optional
        From `spans`; by default made from the bounds of both sets.

    Raises
    ------
    ValueError
        One set predicts classes, the other a number.
    """
    if (len(first.classes) == 0) != (len(second.classes) == 0):
        raise ValueError("One set of rules predicts classes, the other a number; compare two of a kind.")
    ranges = ranges or spans([first, second])
    groups: tuple[dict[Shape, list[int]], dict[Shape, list[int]]] = defaultdict(list), defaultdict(list)
    for rules, group in zip((first, second), groups, strict=True):
        for number, rule in enumerate(rules, start=1):
            group[shape(rule, sides(rules))].append(number)
    pairs: list[Pair] = []
    for form in groups[0].keys() & groups[1].keys():
        ours, theirs = groups[0][form], groups[1][form]
        costs = np.array([[_distance(first[a - 1], second[b - 1], ranges) for b in theirs] for a in ours])
        # An equal pair is worth more than any closeness of the others.
        for a, b in zip(*linear_sum_assignment(np.where(costs == 0, -len(costs) * 2.0, costs)), strict=True):
            pairs.append(Pair(ours[a], theirs[b], float(costs[a, b])))
    pairs.sort(key=lambda pair: pair.first)
    taken = {pair.first for pair in pairs}, {pair.second for pair in pairs}
    return Difference(
        tuple(pair for pair in pairs if pair.distance == 0),
        tuple(pair for pair in pairs if pair.distance > 0),
        tuple(number for number in range(1, len(first) + 1) if number not in taken[0]),
        tuple(number for number in range(1, len(second) + 1) if number not in taken[1]),
    )


def _distance(a: Rule, b: Rule, ranges: Mapping[str, float]) -> float:
    """Mean distance of the bounds of two rules of one shape."""
    theirs = {condition.column: condition for condition in b.conditions}
    gaps = [
        abs(x - y) / ranges.get(condition.column, 1.0)
        for condition in a.conditions
        for x, y in zip(bounds(condition), bounds(theirs[condition.column]), strict=True)
    ]
    return float(np.mean(gaps)) if gaps else 0.0


@dataclass(frozen=True)
class Recurring:
    """A shape of rules, and how often it came back.

    Attributes
    ----------
    form : tuple
        See `shape`.
    example : Rule
        The rule of the reference if it has one of the shape, else the heaviest found.
    number : int or None
        Number in the reference of its heaviest rule of the shape.
    n_seeds : int
        Seeds with at least one rule of the shape.
    low, high : float
        Wilson's interval of the share of seeds.
    ranges : dict of column to list of (lowest, highest)
        Where each bound of the column was in the heaviest rule of each seed.
    """

    form: Shape
    example: Rule
    number: int | None
    n_seeds: int
    low: float
    high: float
    ranges: dict[str, list[tuple[float, float]]]


@dataclass(frozen=True)
class Stability:
    """How often rules come back over seeds: those of the reference first in its order, then others by frequency."""

    n_seeds: int
    rules: tuple[Recurring, ...]
    sets: tuple[RuleSet, ...]
    complete: bool

    @property
    def n_usual(self) -> int:
        """Shapes of the reference that came back in more than half of the seeds."""
        return sum(one.number is not None and 2 * one.n_seeds > self.n_seeds for one in self.rules)


def stability(
    X: pd.DataFrame,
    y: Any,
    parameters: Parameters,
    seeds: Sequence[int],
    reference: RuleSet,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> Stability:
    """Train on the same rows with each seed, and count how often every rule comes back.

    Parameters
    ----------
    reference : RuleSet
        Rules to look for, of classes or of numbers, whose positive class the machines take too; its own training is
        not one of the seeds.
    progress, stop : as in `tmcore.judge.judge`

    Raises
    ------
    ValueError
        If it was stopped before the first machine was trained.
    """
    task: TaskName = "classes" if len(reference.classes) else "numbers"
    about = stop, chosen_positive(reference.classes), task
    jobs = (delayed(fit)(X, y, parameters.replace(random_state=seed), *about) for seed in seeds)
    models = [model for model in in_threads(jobs, len(seeds), n_jobs, progress) if model is not None]
    if not models:
        raise ValueError("Stopped before the first machine was trained.")
    return recurring(reference, [model.rules_ for model in models], len(models) == len(seeds))


def recurring(reference: RuleSet, sets: Sequence[RuleSet], complete: bool = True) -> Stability:
    """Count in how many of `sets` every shape of rules occurs."""
    found: dict[Shape, list[Rule]] = defaultdict(list)
    for rules in sets:
        heaviest: dict[Shape, Rule] = {}
        for rule in rules:
            form = shape(rule, sides(rules))
            if form not in heaviest or rule.magnitude > heaviest[form].magnitude:
                heaviest[form] = rule
        for form, rule in heaviest.items():
            found[form].append(rule)
    own: dict[Shape, int] = {}
    for number, rule in enumerate(reference, start=1):
        form = shape(rule, sides(reference))
        if form not in own or rule.magnitude > reference[own[form] - 1].magnitude:
            own[form] = number
    others = sorted(
        (form for form in found if form not in own), key=lambda form: (-len(found[form]), repr(form))
    )
    listed = [
        Recurring(
            form,
            reference[own[form] - 1] if form in own else max(found[form], key=lambda rule: rule.magnitude),
            own.get(form),
            len(found[form]),
            *share_interval(len(found[form]), len(sets)),
            _ranges(found[form]),
        )
        for form in [*own, *others]
    ]
    return Stability(len(sets), tuple(listed), tuple(sets), complete)


def _ranges(rules: Sequence[Rule]) -> dict[str, list[tuple[float, float]]]:
    seen: dict[str, list[list[float]]] = defaultdict(list)
    for rule in rules:
        for condition in rule.conditions:
            if places := bounds(condition):
                seen[condition.column].append(places)
    return {
        column: [(min(ends), max(ends)) for ends in zip(*places, strict=True)]
        for column, places in seen.items()
    }
