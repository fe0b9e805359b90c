"""Questions about one row: which values it could have, which rules nearly hold, where the model is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tmcore.cells import MISSING, Cell, used_columns
from tmcore.columns import as_floats, category_codes
from tmcore.conditions import Condition, RuleColumn
from tmcore.rule import Explanation, FiredRule, NearMiss, Rule, add, as_tuple

if TYPE_CHECKING:
    from tmcore.ruleset import RuleSet

Value = float | str | None
"""A number, the name of a category, or None where the value is missing."""


@dataclass(frozen=True)
class Domain:
    """The values a column took in training.

    Attributes
    ----------
    column : RuleColumn
    numbers : tuple of float
        Numeric: the distinct values, ascending.
    names : tuple of str
        Other kinds: the categories or levels, in the column's order.
    has_gaps : bool
        Whether a value was missing.
    """

    column: RuleColumn
    numbers: tuple[float, ...] = ()
    names: tuple[str, ...] = ()
    has_gaps: bool = False

    def check(self, value: Value) -> Value:
        """Return a value as the rules read it.

        Raises
        ------
        ValueError
            If it is outside the training range, or no category of the column.
        """
        if value is None:
            return None
        if self.column.kind != "numeric":
            if value not in self.names:
                raise ValueError(
                    f"Column '{self.column.name}' has no category {str(value)[:40]!r}; choose another."
                )
            return value
        if (
            isinstance(value, bool | str)
            or not self.numbers
            or not self.numbers[0] <= value <= self.numbers[-1]
        ):
            raise ValueError(
                f"Column '{self.column.name}' was not {str(value)[:40]} in training; stay in its range."
            )
        return float(value)

    def steps(self, start: Value, end: Value) -> int:
        """Number of levels from one value to another.

        Numbers and ordinal levels: the training values passed, the one arrived at included, which is the number of
        cuts crossed. Other changes, and to or from a missing value: 1.
        """
        if start == end:
            return 0
        if start is None or end is None or self.column.kind in ("nominal", "boolean"):
            return 1
        if self.column.kind == "ordinal":
            return abs(self.names.index(str(start)) - self.names.index(str(end)))
        first, last = as_number(start), as_number(end)
        numbers = np.array(self.numbers)
        passed = (
            (numbers > first) & (numbers <= last) if last > first else (numbers >= last) & (numbers < first)
        )
        return max(1, int(passed.sum()))


def as_number(value: Value) -> float:
    """A value of a numeric column that is not missing."""
    assert isinstance(value, float | int)
    return float(value)


def domains(rules: RuleSet, frame: pd.DataFrame) -> dict[str, Domain]:
    """Return the values that each column used by rules took in some rows, by column name."""
    found = {}
    for name, column in used_columns(rules).items():
        series = frame[name]
        if column.kind == "numeric":
            numbers = as_floats(series, name)
            known = np.unique(numbers[~np.isnan(numbers)]) + 0.0
            found[name] = Domain(column, tuple(known.tolist()), (), bool(np.isnan(numbers).any()))
        else:
            codes, _ = category_codes(series)
            found[name] = Domain(column, (), column.categories, bool((codes < 0).any()))
    return found


def row_values(rules: RuleSet, frame: pd.DataFrame, place: int) -> dict[str, Value]:
    """Return what one row holds in the columns used by rules, by column name."""
    row = frame.iloc[[place]]
    values: dict[str, Value] = {}
    for name, column in used_columns(rules).items():
        if column.kind == "numeric":
            number = float(as_floats(row[name], name)[0])
            values[name] = None if np.isnan(number) else number + 0.0
        else:
            codes, names = category_codes(row[name])
            values[name] = names[codes[0]] if codes[0] >= 0 else None
    return values


def as_row(rules: RuleSet, values: Mapping[str, Value]) -> pd.DataFrame:
    """Return one row of raw values, of the columns used by rules, for `RuleSet.predict` and the like."""
    cells = {}
    for name, column in used_columns(rules).items():
        dtype = "float64" if column.kind == "numeric" else "object"
        cells[name] = pd.Series([values[name]], dtype=dtype)
    return pd.DataFrame(cells, index=[0])


@dataclass(frozen=True)
class Missed:
    """A rule that does not hold for a row: its number in the rule set (from 1), and the conditions not met."""

    number: int
    rule: Rule
    failed: tuple[Condition, ...]


def point(kind: str, value: Value) -> Cell:
    """Return the smallest cell that holds a value of a column of some kind."""
    if value is None:
        return MISSING
    if kind == "numeric":
        return Cell("interval", float(np.nextafter(as_number(value), -np.inf)), as_number(value))
    return Cell("name", name=str(value))


def failed_conditions(rules: RuleSet, values: Mapping[str, Value]) -> list[tuple[Condition, ...]]:
    """Return for each rule the conditions that a row does not meet; without any, the rule holds."""
    points = {name: point(column.kind, values[name]) for name, column in used_columns(rules).items()}
    return [tuple(one for one in rule.conditions if not points[one.column].meets(one)) for rule in rules]


def explain_values(rules: RuleSet, values: Mapping[str, Value]) -> Explanation:
    """Explain a row given by its values, as `RuleSet.explain` explains a raw row, but faster."""
    failed = failed_conditions(rules, values)
    numbered = list(enumerate(zip(rules, failed, strict=True), start=1))
    fired = tuple(FiredRule(number, rule, rule.weights) for number, (rule, missed) in numbered if not missed)
    near = tuple(NearMiss(number, rule, missed[0]) for number, (rule, missed) in numbered if len(missed) == 1)
    votes = rules.intercept
    for one in fired:
        votes = add(votes, one.contribution)
    answer = rules.answers(np.array([as_tuple(votes)]))[0]
    return Explanation(answer, votes, rules.intercept, fired, near)


def nearest_missed(rules: RuleSet, values: Mapping[str, Value], at_most: int) -> tuple[Missed, ...]:
    """Return the rules that came closest to holding: fewest conditions not met, then heaviest."""
    numbered = enumerate(zip(rules, failed_conditions(rules, values), strict=True), start=1)
    missed = [Missed(number, rule, failed) for number, (rule, failed) in numbered if failed]
    missed.sort(key=lambda one: (len(one.failed), -one.rule.magnitude))
    return tuple(missed[:at_most])


def wrong_rows(rules: RuleSet, X: pd.DataFrame, y: pd.Series) -> NDArray[np.intp]:
    """Return the positions of the rows that are predicted wrongly, ascending.

    Of numbers, those that are missed by more than twice the mean error.
    """
    predicted: Any = rules.predict(X)
    if not len(rules.classes) and len(y):
        errors = np.abs(np.asarray(y, np.float64) - predicted)
        return np.flatnonzero(errors > 2 * errors.mean())
    return np.flatnonzero(predicted != np.asarray(y))
