"""What rules ask of the data, in the two questions every writer has."""

from __future__ import annotations

from tmcore.conditions import Condition
from tmcore.ruleset import RuleSet


def used_columns(rules: RuleSet) -> dict[str, str]:
    """Return the columns that rules test with their kinds, in the order of the data."""
    tested = {condition.column: condition.kind for rule in rules for condition in rule.conditions}
    order = {column.name: place for place, column in enumerate(rules.columns)}
    return dict(sorted(tested.items(), key=lambda item: order.get(item[0], len(order))))


def allowed_values(condition: Condition) -> tuple[str, ...] | None:
    """Return the categories that meet a condition that is no "is not"; None where every one does."""
    if condition.kind == "nominal":
        return None if condition.is_in is None else (condition.is_in,)
    if condition.known:
        return condition.all_levels
    return condition.levels if condition.kind == "ordinal" else (str(condition.value),)
