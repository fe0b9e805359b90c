"""The cells of a column: ranges of values that no condition of some rules tells apart.

Whatever a rule set does on one value of every cell of every column, it does on all possible inputs: numbers between
and beyond the cuts, every category, a category never seen, a missing value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tmcore.conditions import Condition, RuleColumn, number_text, visible

if TYPE_CHECKING:
    from tmcore.ruleset import RuleSet


@dataclass(frozen=True)
class Cell:
    """Values of one column that are treated alike.

    Attributes
    ----------
    kind : {"interval", "name", "unseen", "missing"}
        An interval of numbers, one category or level, every category never seen, no value.
    lower, upper : float or None
        Interval: lower < x <= upper, None is open.
    name : str or None
        The category or level.
    """

    kind: str
    lower: float | None = None
    upper: float | None = None
    name: str | None = None

    def meets(self, condition: Condition) -> bool:
        """Whether the cell's values meet a condition; an interval must not straddle its bounds."""
        if self.kind == "missing":
            return False
        if self.kind == "unseen":
            return condition.kind == "nominal" and condition.is_in is None
        if self.name is not None:
            return condition.allows(self.name)
        above = condition.lower is None or (self.lower is not None and self.lower >= condition.lower)
        below = condition.upper is None or (self.upper is not None and self.upper <= condition.upper)
        return above and below

    def text(self) -> str:
        """The values in words: "1.3 < x ≤ 2", "> 2", "typical", "never seen", "missing"."""
        if self.kind != "interval":
            return (
                visible(self.name)
                if self.name is not None
                else {"unseen": "never seen"}.get(self.kind, "missing")
            )
        if self.lower is None:
            return "any number" if self.upper is None else f"≤ {number_text(self.upper)}"
        if self.upper is None:
            return f"> {number_text(self.lower)}"
        return f"{number_text(self.lower)} < x ≤ {number_text(self.upper)}"


MISSING = Cell("missing")
UNSEEN = Cell("unseen")


def used_columns(rules: RuleSet) -> dict[str, RuleColumn]:
    """The columns that rules have conditions on, by name, in the order of the rule set's columns."""
    used = {one.column: one for rule in rules for one in rule.conditions}
    listed = {column.name: column for column in rules.columns if column.name in used}
    rest = (one for one in used.values() if one.column not in listed)
    return listed | {
        one.column: RuleColumn(one.column, one.label, one.unit, one.kind, one.all_levels) for one in rest
    }


def cells_of(column: RuleColumn, conditions: Iterable[Condition]) -> tuple[Cell, ...]:
    """All cells of a column under some conditions on it, in order, the missing value last.

    A value that is no level of a boolean or ordinal column counts as missing, so only nominal columns have a cell for
    categories never seen.
    """
    asked = list(conditions)
    if column.kind == "numeric":
        bounds = (bound for one in asked for bound in (one.lower, one.upper))
        cuts = sorted({bound + 0.0 for bound in bounds if bound is not None})
        edges = [None, *cuts, None]
        intervals = (Cell("interval", edges[k], edges[k + 1]) for k in range(len(edges) - 1))
        return (*intervals, MISSING)
    named = [name for one in asked for name in (one.is_in, *one.not_in, *one.all_levels) if name is not None]
    names = tuple(Cell("name", name=name) for name in dict.fromkeys((*column.categories, *named)))
    return (*names, UNSEEN, MISSING) if column.kind == "nominal" else (*names, MISSING)


def condition_for(pattern: Condition, cells: tuple[Cell, ...], allowed: tuple[bool, ...]) -> Condition | None:
    """The condition that exactly the allowed cells meet.

    Parameters
    ----------
    pattern : Condition
        Any condition on the column; its names and levels are taken over.
    cells : all cells of the column, as `cells_of` orders them
    allowed : for each cell, whether it is to meet the condition

    Returns
    -------
    Condition or None where no single condition says it
    """
    *values, missing = allowed
    if missing or not any(values):
        return None
    blank = replace(pattern, lower=None, upper=None, value=None, levels=(), is_in=None, not_in=(), known=True)
    if all(values):
        return blank
    picked = [cell for cell, chosen in zip(cells, allowed, strict=True) if chosen]
    if pattern.kind == "nominal":
        return _nominal(blank, cells, picked)
    first = values.index(True)
    if not all(values[first : first + len(picked)]):
        return None
    if pattern.kind == "numeric":
        return replace(blank, lower=picked[0].lower, upper=picked[-1].upper, known=False)
    names = tuple(cell.name for cell in picked if cell.name is not None)
    if pattern.kind == "boolean":
        return replace(blank, value=names[0], known=False)
    return replace(blank, levels=names, known=False)


def _nominal(blank: Condition, cells: tuple[Cell, ...], picked: list[Cell]) -> Condition | None:
    if UNSEEN not in picked:
        return replace(blank, is_in=picked[0].name, known=False) if len(picked) == 1 else None
    left_out = tuple(cell.name for cell in cells if cell.name is not None and cell not in picked)
    return replace(blank, not_in=left_out, known=False)
