"""Simplified rules vote as before on every possible input, and say it with fewer literals."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tmcore.conditions import Condition, RuleColumn
from tmcore.rule import Rule
from tmcore.rules import RuleSet
from tmcore.simplify import prune

UNIT = 2.0**-16
LEVELS = ("low", "mid", "high", "top")
PARTS = ("a", "b", "c")
COLUMNS = (
    RuleColumn("x", "x", None, "numeric", ()),
    RuleColumn("part", "part", None, "nominal", PARTS),
    RuleColumn("level", "level", None, "ordinal", LEVELS),
    RuleColumn("sex", "sex", None, "boolean", ("f", "m")),
)
CUTS = (1.0, 2.5, 4.0)
EVERY_CELL = {
    # on, just above and far from every cut; every category, one never seen, and nothing
    "x": [v for c in CUTS for v in (c, float(np.nextafter(c, 9)))] + [-1e9, 1e9, None],
    "part": [*PARTS, "zebra", None],
    "level": [*LEVELS, "zebra", None],
    "sex": ["f", "m", "zebra", None],
}
GRID = pd.DataFrame(list(itertools.product(*EVERY_CELL.values())), columns=list(EVERY_CELL)).astype(
    {"x": float}
)


def x(lower: float | None, upper: float | None) -> Condition:
    return Condition("x", "x", "numeric", lower=lower, upper=upper)


def part(**asked: Any) -> Condition:
    return Condition("part", "part", "nominal", **asked)


def level(*names: str) -> Condition:
    return Condition("level", "level", "ordinal", levels=names, all_levels=LEVELS)


def sex(name: str) -> Condition:
    return Condition("sex", "sex", "boolean", value=name, all_levels=("f", "m"))


X_KNOWN = Condition("x", "x", "numeric", known=True)
KNOWN_PART = part(known=True)


def rule_set(*rules: tuple[Sequence[Condition], Any], intercept: Any = 0.0) -> RuleSet:
    made = tuple(Rule(tuple(conditions), weight) for conditions, weight in rules)
    classes = np.array(["no", "yes"]) if isinstance(intercept, float) else np.array(["a", "b", "c"])
    return RuleSet(classes, intercept, made, COLUMNS)


def votes_by_hand(rules: RuleSet, row: dict[str, Any]) -> list[float]:
    """The sum of the weights of the rules that hold, each condition read word for word."""

    def met(c: Condition) -> bool:
        value = row[c.column]
        if value is None or value != value:
            return False
        if c.kind == "numeric":
            return (c.lower is None or value > c.lower) and (c.upper is None or value <= c.upper)
        if c.kind == "nominal":
            return c.known or (value == c.is_in if c.is_in is not None else value not in c.not_in)
        allowed = (c.value,) if c.value is not None else c.levels or c.all_levels
        return value in allowed

    sums = np.atleast_1d(np.array(rules.intercept, dtype=float)).copy()
    for rule in rules:
        if all(met(c) for c in rule.conditions):
            sums += np.atleast_1d(np.array(rule.weights, dtype=float))
    return sums.tolist()


def shape(rules: RuleSet) -> set[tuple[str, Any]]:
    return {(rule.text(), rule.weights) for rule in rules}


CONDITIONS = {
    "x": [
        X_KNOWN,
        *(x(c, None) for c in CUTS),
        *(x(None, c) for c in CUTS),
        *(x(a, b) for a in CUTS for b in CUTS),  # some of them impossible
    ],
    "part": [
        KNOWN_PART,
        *(part(is_in=p) for p in PARTS),
        *(part(not_in=s) for n in (1, 2, 3) for s in itertools.permutations(PARTS, n)),
    ],
    "level": [level(*LEVELS[a:b]) for a in range(4) for b in range(a + 1, 5)],
    "sex": [sex("f"), sex("m"), Condition("sex", "sex", "boolean", known=True, all_levels=("f", "m"))],
}


@settings(max_examples=60, deadline=None)
@example(seed=32951636, n_outputs=1, n_rules=4)  # two rules that three would say with as many literals
@given(seed=st.integers(0, 2**32 - 1), n_outputs=st.sampled_from([1, 3]), n_rules=st.integers(0, 12))
def test_votes_are_equal_in_every_cell(seed: int, n_outputs: int, n_rules: int) -> None:
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(n_rules):
        used = [name for name in CONDITIONS if rng.random() < 0.45]
        conditions = [CONDITIONS[name][rng.integers(len(CONDITIONS[name]))] for name in used]
        numbers = tuple((rng.integers(-2, 3, size=n_outputs) * 7 * UNIT).tolist())
        made.append((conditions, numbers[0] if n_outputs == 1 else numbers))
    rules = rule_set(*made, intercept=0.5 if n_outputs == 1 else (0.5, 0.0, -0.25))
    simple = rules.simplify()
    before = [votes_by_hand(rules, row) for row in GRID.to_dict("records")]
    np.testing.assert_array_equal(simple.votes(GRID), before)
    assert simple.n_literals <= rules.n_literals
    assert len(simple) <= len(rules)
    again = simple.simplify()
    assert (len(again), again.n_literals) == (len(simple), simple.n_literals)


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        # neighbours of equal weight
        ([([x(1, 2.5)], 1.0), ([x(2.5, 4)], 1.0)], {("1 < x ≤ 4", 1.0)}),
        ([([x(None, 1)], 1.0), ([x(1, 4)], 1.0)], {("x ≤ 4", 1.0)}),
        ([([x(None, 1)], 1.0), ([x(1, None)], 1.0)], {("x is known", 1.0)}),
        # nested ones of opposite weight
        ([([x(1, None)], 1.0), ([x(4, None)], -1.0)], {("1 < x ≤ 4", 1.0)}),
        ([([x(1, 4)], 1.0), ([x(1, 2.5)], -1.0)], {("2.5 < x ≤ 4", 1.0)}),
        # the middle of a known value taken out again is two ends
        ([([X_KNOWN], 1.0), ([x(1, None)], -1.0), ([x(4, None)], 1.0)], {("x ≤ 1", 1.0), ("x > 4", 1.0)}),
        # unequal neighbours stay: no fewer literals say the same
        ([([x(None, 1)], 1.0), ([x(1, None)], 2.0)], {("x ≤ 1", 1.0), ("x > 1", 2.0)}),
        # categories
        ([([part(is_in="a")], 1.0), ([part(not_in=("b", "a"))], 1.0)], {("part is not b", 1.0)}),
        ([([part(is_in="a")], 1.0), ([part(not_in=("a",))], 1.0)], {("part is known", 1.0)}),
        (
            [([part(not_in=("b", "a"))], 1.0), ([part(not_in=("a", "b"))], 2.0)],
            {("part is not in {a, b}", 3.0)},
        ),
        ([([level("low")], 1.0), ([level("mid", "high")], 1.0)], {("level is at most high", 1.0)}),
        ([([level(*LEVELS)], 1.0)], {("level is known", 1.0)}),
        ([([sex("f")], 1.0), ([sex("m")], 1.0)], {("sex is known", 1.0)}),
        # with the same other condition, and not with another one
        ([([sex("f"), x(1, 2.5)], 1.0), ([x(2.5, 4), sex("f")], 1.0)], {("sex is f AND 1 < x ≤ 4", 1.0)}),
        (
            [([sex("f"), x(1, 2.5)], 1.0), ([x(2.5, 4), sex("m")], 1.0)],
            {("sex is f AND 1 < x ≤ 2.5", 1.0), ("2.5 < x ≤ 4 AND sex is m", 1.0)},
        ),
        # joined in one column, then in the next
        (
            [([sex(s), x(a, b)], 1.0) for s in "fm" for a, b in ((1, 2.5), (2.5, 4))],
            {("sex is known AND 1 < x ≤ 4", 1.0)},
        ),
        # nothing is left
        ([([x(4, 1)], 5.0), ([x(1, None)], 0.0), ([sex("f")], 2.0), ([sex("f")], -2.0)], set()),
    ],
)
def test_what_becomes_of(rules: list[Any], expected: set[tuple[str, float]]) -> None:
    assert shape(rule_set(*rules).simplify()) == expected


def test_rules_without_a_condition_are_the_intercept() -> None:
    simple = rule_set(([], 2.0), ([x(1, None)], 1.0), intercept=0.5).simplify()
    assert (simple.intercept, shape(simple)) == (2.5, {("x > 1", 1.0)})


def test_counts_of_joined_rules_add_and_subtract() -> None:
    def counted(condition: Condition, weight: float, no: int, yes: int) -> Rule:
        return Rule((condition,), weight, (no + yes) / 16, yes / (no + yes), (no, yes), (0, 3))

    rules = (counted(x(1, None), 1.0, 3, 5), counted(x(4, None), -1.0, 2, 1))
    (joined,) = RuleSet(np.array(["no", "yes"]), 0.0, rules, COLUMNS, 16).simplify()
    assert (joined.covered, joined.support, joined.precision) == ((1, 4), 5 / 16, 0.8)


def test_pruning_names_its_loss() -> None:
    rules = rule_set(([x(1, None)], 2.0), ([x(4, None)], -3.0), intercept=-1.0)
    X = pd.DataFrame({"x": [0.0, 2.0, 2.0, 3.0, 5.0]})
    # votes: -1, 1, 1, 1, -2; the second rule covers one row of five, without it the last row has 1 vote
    y = ["no", "yes", "no", "yes", "no"]
    pruned = prune(rules, 0.3, X, y)
    assert [rule.text() for rule in pruned.rules] == ["x > 1"]
    assert (pruned.n_dropped, pruned.n_changed, pruned.largest_change) == (1, 1, 3.0)
    assert (pruned.accuracy_before, pruned.accuracy_after) == (0.8, 0.6)
    assert pruned.text == "Leaving out 1 rule loses 20.0 points of accuracy; 1 row is predicted differently."
    assert prune(rules, 0.2, X, y).text == "No rule is left out."
    with pytest.raises(ValueError, match="between 0 and 1"):
        prune(rules, 2, X, y)
