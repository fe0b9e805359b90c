"""What single values and pairs of values add to the votes, and the whole model as one short decision.

A rule set is additive up to its rules over several columns: the rules over one column add up to a function of that
column's value, which the value map gives exactly, and the rules over two columns to a function of both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tmcore.cells import Cell, cells_of, condition_for, used_columns
from tmcore.conditions import Condition, RuleColumn
from tmcore.rule import Rule, as_tuple

if TYPE_CHECKING:
    from tmcore.ruleset import RuleSet

MOST_CELLS = 100_000
MOST_WORK = 20_000_000
"""Limits of `decision`: combinations of cells, and combinations times rules."""


@dataclass(frozen=True, eq=False)
class ColumnMap:
    """What every value of a column adds, by the rules over that column alone.

    Attributes
    ----------
    column : RuleColumn
    cells : tuple of Cell
        Every possible value, in order, the missing one last.
    sums : float64 array (n_cells, n_outputs)
        One output with two classes (above 0 speaks for class 1), else one per class.
    n_rules : int
    """

    column: RuleColumn
    cells: tuple[Cell, ...]
    sums: NDArray[np.float64]
    n_rules: int

    @property
    def range(self) -> float:
        """The largest difference that the column's value makes to an output."""
        return float(np.ptp(self.sums, axis=0).max())


@dataclass(frozen=True, eq=False)
class PairMap:
    """What every pair of values of two columns adds, by the rules that ask no other column.

    Attributes
    ----------
    first, second : RuleColumn
    first_cells, second_cells : tuple of Cell
    sums : float64 array (n_first, n_second, n_outputs)
    n_rules : int
    n_others : int
        Rules that ask both columns and more, which are in no sum here.
    """

    first: RuleColumn
    second: RuleColumn
    first_cells: tuple[Cell, ...]
    second_cells: tuple[Cell, ...]
    sums: NDArray[np.float64]
    n_rules: int
    n_others: int


def value_map(rules: RuleSet) -> tuple[ColumnMap, ...]:
    """Return what each value adds, for every column with a rule of its own, the most telling column first."""
    own: dict[str, list[Rule]] = defaultdict(list)
    for rule in rules:
        if len(rule.conditions) == 1:
            own[rule.conditions[0].column].append(rule)
    columns = used_columns(rules)
    maps = []
    for name, group in own.items():
        cells = cells_of(columns[name], (rule.conditions[0] for rule in group))
        meets = np.array(
            [[cell.meets(rule.conditions[0]) for rule in group] for cell in cells], dtype=np.float64
        )
        maps.append(ColumnMap(columns[name], cells, meets @ _weights(group), len(group)))
    return tuple(sorted(maps, key=lambda one: -one.range))


def pairs(rules: RuleSet) -> dict[tuple[str, str], int]:
    """Return how many rules there are over exactly two columns, by their names in the rule set's order."""
    order = {name: k for k, name in enumerate(used_columns(rules))}
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for rule in rules:
        if len(rule.conditions) == 2:
            first, second = sorted((one.column for one in rule.conditions), key=lambda name: order[name])
            counts[first, second] += 1
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def telling_pair(rules: RuleSet) -> tuple[str, str] | None:
    """Return the two columns that most rules join alone; else those whose own rules differ most; None without two."""
    joined = pairs(rules)
    if joined:
        return next(iter(joined))
    alone = [one.column.name for one in value_map(rules)[:2]]
    return (alone[0], alone[1]) if len(alone) == 2 else None


def pair_map(rules: RuleSet, first: str, second: str) -> PairMap:
    """Return what each pair of values of two columns adds, by the rules over one of them or both and no other.

    Raises
    ------
    ValueError
        If the columns are the same, or the rules ask nothing of one of them.
    """
    columns = used_columns(rules)
    if first == second or not {first, second} <= columns.keys():
        raise ValueError(
            f"'{first}' and '{second}' are not two columns that the rules ask; choose two of those."
        )
    asked = [(rule, {one.column: one for one in rule.conditions}) for rule in rules]
    group = [(rule, by_name) for rule, by_name in asked if by_name and by_name.keys() <= {first, second}]
    sides = []
    for name in (first, second):
        cells = cells_of(columns[name], (by_name[name] for _, by_name in group if name in by_name))
        meets = [[name not in by_name or cell.meets(by_name[name]) for _, by_name in group] for cell in cells]
        sides.append((cells, np.array(meets, dtype=np.float64).reshape(len(cells), len(group))))
    (first_cells, left), (second_cells, right) = sides
    weights = _weights([rule for rule, _ in group]).reshape(len(group), len(as_tuple(rules.intercept)))
    sums = np.einsum("ir,jr,rk->ijk", left, right, weights)
    n_both = sum({first, second} <= by_name.keys() for _, by_name in asked)
    n_others = n_both - sum(len(by_name) == 2 for _, by_name in group)
    return PairMap(columns[first], columns[second], first_cells, second_cells, sums, len(group), n_others)


def _weights(rules: Sequence[Rule]) -> NDArray[np.float64]:
    """Weights, (n_rules, n_outputs)."""
    return np.array([as_tuple(rule.weights) for rule in rules], dtype=np.float64)


def _conditions_by_column(rules: Iterable[Rule]) -> dict[str, list[Condition]]:
    asked: dict[str, list[Condition]] = defaultdict(list)
    for rule in rules:
        for condition in rule.conditions:
            asked[condition.column].append(condition)
    return asked


def decision(rules: RuleSet) -> str | None:
    """Return the whole model as one short decision, where it is one.

    Parameters
    ----------
    rules : RuleSet

    Returns
    -------
    str or None
        Like SSL paper, eq. 18: "Bankruptcy if competitiveness is negative, otherwise Non-bankruptcy", equal to
        `RuleSet.predict` for every possible input; "Always Bankruptcy" where no input changes the class. None where
        more than two classes are predicted, where neither class is one conjunction of conditions, or where there are
        too many combinations of values to look at.
    """
    columns = list(used_columns(rules).values())
    asked = _conditions_by_column(rules)
    patterns = [asked[column.name] for column in columns]
    cells: list[tuple[Cell, ...]] = []
    n_cells = 1
    for column, conditions in zip(columns, patterns, strict=True):
        cells.append(cells_of(column, conditions))
        n_cells *= len(cells[-1])
        if n_cells > MOST_CELLS or n_cells * len(rules) > MOST_WORK:
            return None
    predicted = _predict_cells(rules, columns, cells)
    found = np.unique(predicted)
    names = rules.class_names
    if len(found) == 1:
        return f"Always {names[found[0]]}"
    if len(found) > 2:
        return None
    texts = []
    for index, other in ((found[0], found[1]), (found[1], found[0])):
        box = _box(predicted == index, cells, [asked[0] for asked in patterns])
        if box is not None:
            words = " and ".join(condition.text() for condition in box)
            n_literals = sum(condition.n_literals for condition in box)
            texts.append((n_literals, f"{names[index]} if {words}, otherwise {names[other]}"))
    return min(texts)[1] if texts else None


def _predict_cells(
    rules: RuleSet, columns: list[RuleColumn], cells: list[tuple[Cell, ...]]
) -> NDArray[np.intp]:
    """The predicted class index for every combination of cells, one axis a column."""
    shape = tuple(len(one) for one in cells)
    votes = np.zeros((*shape, len(as_tuple(rules.intercept)))) + np.array(as_tuple(rules.intercept))
    place = {column.name: axis for axis, column in enumerate(columns)}
    for rule in rules:
        holds = np.ones((1,) * len(shape), dtype=bool)
        for condition in rule.conditions:
            axis = place[condition.column]
            along = np.array([cell.meets(condition) for cell in cells[axis]])
            holds = holds & along.reshape([-1 if k == axis else 1 for k in range(len(shape))])
        votes += holds[..., None] * np.array(as_tuple(rule.weights))
    return rules.winners(votes.reshape(-1, votes.shape[-1])).reshape(shape)


def _box(
    inside: NDArray[np.bool_], cells: list[tuple[Cell, ...]], patterns: list[Condition]
) -> list[Condition] | None:
    """The conditions whose conjunction holds exactly inside, None where no conjunction does."""
    sides = [
        inside.any(axis=tuple(k for k in range(inside.ndim) if k != axis)) for axis in range(inside.ndim)
    ]
    if inside.sum() != np.prod([side.sum() for side in sides]):
        return None
    box = []
    for side, values, pattern in zip(sides, cells, patterns, strict=True):
        if side.all():
            continue
        condition = condition_for(pattern, values, tuple(np.asarray(side).tolist()))
        if condition is None:
            return None
        box.append(condition)
    return box
