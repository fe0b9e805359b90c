"""Fewer and shorter rules with the same votes for every possible input, and pruning that says what it loses.

What is lossless follows from one identity at a time: rules with equal conditions add up; rules that differ in one
column only add up to a function of that column's value, which the fewest literals then say again; a rule that can
never hold adds nothing; a rule without a condition is part of the intercept. Weights are whole multiples of 2**-16, so
the sums are exact.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tmcore.cells import Cell, cells_of, condition_for, used_columns
from tmcore.conditions import Condition, RuleColumn
from tmcore.rule import Rule, Weight, add, as_tuple, heaviest_first, like, with_counts

if TYPE_CHECKING:
    from tmcore.ruleset import RuleSet

Vector = tuple[float, ...]
Piece = tuple[Condition, Vector]
Span = tuple[int, int, Vector]
"""Cells from, to (exclusive), and the weight there."""

MOST_SUBSETS = 10
"""Cuts up to which every choice of directions is tried."""

MOST_COUNTED = 6
"""Rules up to which the rows of a joined rule are looked for among sums and differences of theirs."""


def simplify(rules: RuleSet) -> RuleSet:
    """Return the fewest rules found with the same votes for every possible input, heaviest first.

    Bounds that exclude nothing go, rules that can never hold and rules without weight go, rules with equal conditions
    become one, rules without a condition go into the intercept, and rules that differ in one column only are joined
    where that takes fewer literals in no more rules, or as many in fewer rules: 1 < x ≤ 3 and 3 < x ≤ 7 of equal
    weights become 1 < x ≤ 7, and x > 1 beside x > 3 of opposite weights 1 < x ≤ 3.
    """
    columns = used_columns(rules)
    kept, intercept = _merge((_canonical(rule, columns) for rule in rules), rules.intercept)
    while True:
        before = kept
        for column in columns.values():
            joined = _join(kept, column)
            if joined is not None:
                kept, intercept = _merge(joined, intercept)
        if _size(kept) == _size(before):
            break
    return replace(rules, intercept=intercept, rules=heaviest_first(kept))


def _size(rules: Sequence[Rule]) -> tuple[int, int]:
    return sum(rule.n_literals for rule in rules), len(rules)


def _canonical(rule: Rule, columns: dict[str, RuleColumn]) -> Rule | None:
    """The rule with every condition in its one form, None where it can never hold."""
    if any(condition.impossible for condition in rule.conditions):
        return None
    conditions = tuple(_canonical_condition(one, columns[one.column]) for one in rule.conditions)
    return replace(rule, conditions=conditions)


def _canonical_condition(condition: Condition, column: RuleColumn) -> Condition:
    """Names in the column's order, each once; all levels of an ordinal column ask only for a value."""
    if condition.not_in:
        place = {name: k for k, name in enumerate(column.categories)}
        names = sorted(set(condition.not_in), key=lambda name: (place.get(name, len(place)), name))
        return replace(condition, not_in=tuple(names))
    if condition.kind == "ordinal" and condition.levels == condition.all_levels:
        return replace(condition, levels=(), known=True)
    return condition


def _merge(rules: Iterable[Rule | None], intercept: Weight) -> tuple[list[Rule], Weight]:
    """Add up rules with equal conditions; those without a condition are the intercept's."""
    merged: dict[frozenset[Condition], Rule] = {}
    for rule in rules:
        if rule is None:
            continue
        if not rule.conditions:
            intercept = add(intercept, rule.weights)
            continue
        key = frozenset(rule.conditions)
        first = merged.get(key)
        merged[key] = replace(first, weights=add(first.weights, rule.weights)) if first else rule
    kept = [rule for rule in merged.values() if rule.magnitude > 0]
    return [
        with_counts(rule, rule.covered, sum(rule.covered)) if rule.covered else rule for rule in kept
    ], intercept


def _join(rules: Sequence[Rule], column: RuleColumn) -> list[Rule] | None:
    """Join rules that differ in this column only, where that saves literals or rules; None where it never does."""
    groups: dict[frozenset[Condition], list[int]] = defaultdict(list)
    for place, rule in enumerate(rules):
        if any(one.column == column.name for one in rule.conditions):
            groups[frozenset(one for one in rule.conditions if one.column != column.name)].append(place)
    result: dict[int, list[Rule]] = {}
    for places in groups.values():
        joined = _join_group([rules[place] for place in places], column) if len(places) > 1 else None
        if joined is not None:
            result |= {place: [] for place in places}
            result[places[0]] = joined
    if not result:
        return None
    return [made for place, rule in enumerate(rules) for made in result.get(place, [rule])]


def _join_group(group: list[Rule], column: RuleColumn) -> list[Rule] | None:
    """Rules that add up to the same function of the column, None where they are not fewer."""
    asked = [next(one for one in rule.conditions if one.column == column.name) for rule in group]
    cells = cells_of(column, asked)
    n_outputs = len(as_tuple(group[0].weights))
    meets = np.array([[cell.meets(one) for cell in cells] for one in asked])
    weights = np.array([as_tuple(rule.weights) for rule in group], dtype=np.float64).reshape(-1, n_outputs)
    values = [tuple(row) for row in (meets.T.astype(np.float64) @ weights).tolist()]
    make = _nominal_pieces if column.kind == "nominal" else _step_pieces
    pieces = make(asked[0], cells, values)
    others = group[0].n_literals - asked[0].n_literals  # every rule repeats its conditions on other columns
    size = sum(one.n_literals + others for one, _ in pieces), len(pieces)
    if len(pieces) > len(asked) or size >= (sum(one.n_literals + others for one in asked), len(asked)):
        return None
    return [_replaced(group, asked, meets, cells, piece) for piece in pieces]


def _replaced(
    group: list[Rule], asked: list[Condition], meets: NDArray[np.bool_], cells: tuple[Cell, ...], piece: Piece
) -> Rule:
    """The group's first rule with another condition on the column; counts where they follow from the group's."""
    condition, weights = piece
    model = group[asked.index(condition)] if condition in asked else group[0]
    conditions = tuple(condition if one.column == condition.column else one for one in model.conditions)
    made = replace(model, conditions=conditions, weights=like(weights, model.weights))
    if condition in asked:
        return made
    blank = replace(made, support=None, precision=None, covered=())
    if len(group) > MOST_COUNTED or any(not rule.covered or rule.support is None for rule in group):
        return blank
    wanted = np.array([cell.meets(condition) for cell in cells], dtype=np.int64)
    for signs in product((1, 0, -1), repeat=len(group)):
        if (np.array(signs) @ meets == wanted).all():
            counts = np.array(signs) @ np.array([rule.covered for rule in group])
            support = sum(sign * (rule.support or 0.0) for sign, rule in zip(signs, group, strict=True))
            return replace(made, covered=tuple(counts.tolist()), support=support)
    return blank


def _nominal_pieces(pattern: Condition, cells: tuple[Cell, ...], values: list[Vector]) -> list[Piece]:
    """A category never seen gets the base; categories without a vote leave it, others have their difference."""
    base = values[-2]
    zero = tuple(0.0 for _ in base)
    pieces: list[Piece] = []
    if base != zero:
        allowed = (*(value != zero for value in values[:-2]), True, False)
        condition = condition_for(pattern, cells, allowed)
        assert condition is not None  # all but some categories is one condition
        pieces.append((condition, base))
    for place, value in enumerate(values[:-2]):
        if value not in (zero, base):
            only = condition_for(pattern, cells, tuple(k == place for k in range(len(cells))))
            assert only is not None  # one category is one condition
            pieces.append((only, _minus(value, base)))
    return pieces


def _step_pieces(pattern: Condition, cells: tuple[Cell, ...], values: list[Vector]) -> list[Piece]:
    """A function of an ordered column as bounds: each jump takes one literal, opposite jumps may pair to an interval.

    Every literal makes one jump, so there are at least as many literals as jumps. A jump d at a cut is x > cut with
    weight d or x ≤ cut with weight -d, which also adds -d to the left end; what is missing there is a rule for every
    known value. The directions are chosen to need none where that is possible.
    """
    *steps, _ = values
    jumps = {k: _minus(steps[k], steps[k - 1]) for k in range(1, len(steps)) if steps[k] != steps[k - 1]}
    choices = (_spans(jumps, _pairs(jumps), steps[0], len(steps)), _spans(jumps, [], steps[0], len(steps)))
    made = []
    for spans in choices:
        pieces = []
        for start, stop, weight in spans:
            allowed = (*(start <= k < stop for k in range(len(steps))), False)
            condition = condition_for(pattern, cells, allowed)
            assert condition is not None  # neighbouring cells are one condition
            pieces.append((condition, weight))
        made.append(pieces)
    return min(made, key=lambda pieces: (sum(one.n_literals for one, _ in pieces), len(pieces)))


def _spans(jumps: dict[int, Vector], pairs: list[Span], left: Vector, n_steps: int) -> list[Span]:
    """Spans of cells and their weights that add up to a step function with these jumps and this left end."""
    alone = {k: jump for k, jump in jumps.items() if not any(k in span[:2] for span in pairs)}
    turned = _turned(list(alone.items()), left)
    spans = list(pairs)
    for k, jump in alone.items():
        if k in turned:
            opposite = tuple(-number for number in jump)
            spans.append((0, k, opposite))
            left = _minus(left, opposite)
        else:
            spans.append((k, n_steps, jump))
    return [*spans, (0, n_steps, left)] if any(left) else spans


def _pairs(jumps: dict[int, Vector]) -> list[Span]:
    """Each jump with the next one that undoes it: (first, second, jump)."""
    left = dict(jumps)
    found = []
    for k, jump in jumps.items():
        opposite = tuple(-number for number in jump)
        partner = next((j for j, other in left.items() if j > k and other == opposite), None)
        if k in left and partner is not None:
            found.append((k, partner, jump))
            del left[k], left[partner]
    return found


def _turned(jumps: list[tuple[int, Vector]], left: Vector) -> set[int]:
    """The jumps to say as x ≤ cut, so that they add up to the left end if any choice does."""
    wanted = tuple(-number for number in left)
    if len(jumps) > MOST_SUBSETS:
        total = np.sum([jump for _, jump in jumps], axis=0)
        return {k for k, _ in jumps} if tuple(total.tolist()) == wanted else set()
    for chosen in sorted(product((False, True), repeat=len(jumps)), key=sum):
        picked = [jump for (_, jump), take in zip(jumps, chosen, strict=True) if take]
        if tuple(sum(column) for column in zip(*picked, strict=True)) == wanted or (
            not picked and not any(left)
        ):
            return {k for (k, _), take in zip(jumps, chosen, strict=True) if take}
    return set()


def _minus(first: Vector, second: Vector) -> Vector:
    return tuple(a - b for a, b in zip(first, second, strict=True))


@dataclass(frozen=True)
class Pruning:
    """What leaving out rules costs on some labelled rows.

    Attributes
    ----------
    rules : RuleSet
        Those that are left.
    n_dropped : int
    n_changed : int
        Rows that are now predicted differently.
    accuracy_before, accuracy_after : float
        Share of the rows that are right; NaN without rows.
    largest_change : float
        The most that any vote sum of a row moved.
    """

    rules: RuleSet
    n_dropped: int
    n_changed: int
    accuracy_before: float
    accuracy_after: float
    largest_change: float

    @property
    def text(self) -> str:
        """The loss in one sentence."""
        if not self.n_dropped:
            return "No rule is left out."
        points = 100 * (self.accuracy_after - self.accuracy_before)
        loss = "no accuracy" if not round(points, 1) else f"{abs(points):.1f} points of accuracy"
        word = "gains" if round(points, 1) > 0 else "loses"
        rules = "rule" if self.n_dropped == 1 else "rules"
        rows = "row is" if self.n_changed == 1 else "rows are"
        return f"Leaving out {self.n_dropped} {rules} {word} {loss}; {self.n_changed} {rows} predicted differently."


def prune(rules: RuleSet, min_support: float, X: pd.DataFrame | NDArray[Any], y: Any) -> Pruning:
    """Leave out the rules that cover less than a share of the given rows, and measure the loss on them.

    Parameters
    ----------
    min_support : float
        Share of the rows, 0 to 1, a rule must cover to stay.
    X, y : raw rows and their labels

    Raises
    ------
    ValueError
        If `min_support` is not between 0 and 1, `X` and `y` differ in length, or the rules predict a number.
    """
    if not len(rules.classes):
        raise ValueError(
            "Rules that predict a number are not pruned by support; TsetlinRegressor.at(max_rules=...) leaves out rules"
            " and settles the weights of the others anew."
        )
    if not 0 <= min_support <= 1:
        raise ValueError(f"min_support is {min_support}; give a share of the rows between 0 and 1.")
    labels = np.asarray(y)
    if len(labels) != X.shape[0]:
        raise ValueError(f"There are {X.shape[0]} rows but {len(labels)} labels; give one label per row.")
    support = rules.outputs(X).mean(axis=0) if len(labels) else np.ones(len(rules))
    kept = tuple(rule for rule, share in zip(rules, support.tolist(), strict=True) if share >= min_support)
    left = replace(rules, rules=kept)
    before, after = rules.predict(X), left.predict(X)
    moved = np.abs(rules.votes(X) - left.votes(X))
    return Pruning(
        rules=left,
        n_dropped=len(rules) - len(kept),
        n_changed=int((before != after).sum()),
        accuracy_before=float((before == labels).mean()) if len(labels) else float("nan"),
        accuracy_after=float((after == labels).mean()) if len(labels) else float("nan"),
        largest_change=float(moved.max()) if moved.size else 0.0,
    )
