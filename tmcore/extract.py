"""From the clauses of a machine to rules on raw values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tmcore.conditions import Condition, RuleColumn
from tmcore.number_rules import NumberRules
from tmcore.rule import Rule, Weight, heaviest_first
from tmcore.ruleset import RuleSet

if TYPE_CHECKING:
    from tmcore.encode import Feature
    from tmcore.encoders import AnyEncoder
    from tmcore.machine.state import ClauseBank


WEIGHT_UNIT = 2.0**-16


@dataclass(frozen=True)
class Bounds:
    """What a clause asks of one feature, bounds that exclude nothing left out.

    Attributes
    ----------
    lower, upper : int or None
        Holds where lower <= rank <= upper, SSL paper, eq. 11-13; None is open.
    known : bool
        Whether it only asks that a value is there.
    """

    lower: int | None
    upper: int | None
    known: bool = False


def extract(
    encoder: AnyEncoder,
    bank: ClauseBank,
    classes: Sequence[Any] | NDArray[Any],
    weights: NDArray[np.int64] | None = None,
    intercept: NDArray[np.int64] | None = None,
    kept: Sequence[tuple[int, int]] | None = None,
    frame: pd.DataFrame | NDArray[Any] | None = None,
    labels: Any = None,
    unit: float = WEIGHT_UNIT,
) -> RuleSet:
    """Read the rules out of a machine, heaviest first.

    Parameters
    ----------
    encoder : fitted Encoder
    bank : ClauseBank
    classes : (n_classes,)
        Labels; with two, class 1 is y = 1; none for rules that predict a number.
    weights, intercept, kept : int64 (n_kept, n_outputs), int64 (n_outputs,), list of (machine, clause)
        Weights of a refit in multiples of `unit`, for the clauses kept. Without them every clause votes with its
        own weight, its polarity's sign, for the class of its machine.
    frame, labels : raw training rows and their labels
        Fill support and precision.
    unit : float
        A power of two.

    Returns
    -------
    RuleSet
        Votes as the machine does: clauses without an included bound and clauses that can never hold are left
        out, those that always hold are in the intercept.

    Raises
    ------
    ValueError
        If only some of `weights`, `intercept`, `kept` are given, or their lengths differ.
    """
    if len({weights is None, intercept is None, kept is None}) > 1:
        raise ValueError("weights, intercept and kept belong together; give all three or none.")
    if weights is None or intercept is None or kept is None:
        kept, weights, intercept = _own_votes(bank)
    if len(kept) != len(weights):
        raise ValueError(f"There are {len(kept)} clauses kept but {len(weights)} rows of weights.")
    columns = rule_columns(encoder)
    named = {column.name: column for column in columns}
    start = np.array(intercept, dtype=np.int64)
    rules: list[Rule] = []
    for (machine, clause), units in zip(kept, np.asarray(weights, dtype=np.int64), strict=True):
        conditions = clause_conditions(encoder.features, named, bank, machine, clause)
        if conditions is None:
            continue
        if conditions:
            rules.append(Rule(conditions, _weight(units, unit), source=(int(machine), int(clause))))
        else:
            start += units
    rule_set = (RuleSet if len(classes) else NumberRules)(
        classes=np.asarray(classes),
        intercept=_weight(start, unit),
        rules=heaviest_first(rules),
        columns=columns,
        by_name=encoder.by_name,
    )
    return rule_set if frame is None else rule_set.with_statistics(frame, labels)


def _own_votes(bank: ClauseBank) -> tuple[list[tuple[int, int]], NDArray[np.int64], NDArray[np.int64]]:
    """Each clause's own signed weight, in its machine's column."""
    n_machines, n_clauses = bank.weights.shape
    kept = [(machine, clause) for machine in range(n_machines) for clause in range(n_clauses)]
    signed = bank.weights.astype(np.int64) * bank.polarity.astype(np.int64)
    weights = np.zeros((n_machines * n_clauses, n_machines), dtype=np.int64)
    for machine in range(n_machines):
        weights[machine * n_clauses : (machine + 1) * n_clauses, machine] = signed[machine]
    return kept, weights, np.zeros(n_machines, dtype=np.int64)


def _weight(units: NDArray[np.int64], unit: float) -> Weight:
    numbers = tuple((units * unit).tolist())
    return numbers[0] if len(numbers) == 1 else numbers


def rule_columns(encoder: AnyEncoder) -> tuple[RuleColumn, ...]:
    """Return the encoder's columns as rules name them.

    Two columns that would read the same once their unit is taken off keep their full names.
    """
    shown = Counter((column.label, column.unit) for column in encoder.columns)
    return tuple(
        RuleColumn(column.name, column.label, column.unit, column.role, column.categories)
        if shown[column.label, column.unit] == 1
        else RuleColumn(column.name, column.name, None, column.role, column.categories)
        for column in encoder.columns
    )


def clause_conditions(
    features: tuple[Feature, ...], columns: dict[str, RuleColumn], bank: ClauseBank, machine: int, clause: int
) -> tuple[Condition, ...] | None:
    """Return the conditions of a clause, in the order of the columns.

    Returns
    -------
    tuple of Condition, empty for a clause that always holds; None for one that never does when predicting,
    because it includes no bound (SSL paper, eq. 4) or its bounds contradict each other
    """
    has_lower, has_upper = bank.lower_included[machine, clause], bank.upper_included[machine, clause]
    included = np.flatnonzero(has_lower | has_upper)
    if not len(included):
        return None
    lower, upper = bank.lower[machine, clause], bank.upper[machine, clause]
    asked: dict[str, dict[int, Bounds]] = {}
    for index in included.tolist():
        feature = features[index]
        end = feature.n_ranks - 1
        low = int(lower[index]) if has_lower[index] else 0
        high = int(upper[index]) if has_upper[index] else end
        if low > high:
            return None
        if low > 0 or high < end or feature.has_gaps:
            known = low == 0 and high == end
            bounds = Bounds(low if low > 0 else None, high if high < end else None, known)
            asked.setdefault(feature.column, {})[index] = bounds
    conditions = [_condition(features, columns[name], bounds) for name, bounds in asked.items()]
    return None if None in conditions else tuple(condition for condition in conditions if condition)


def _condition(
    features: tuple[Feature, ...], column: RuleColumn, asked: dict[int, Bounds]
) -> Condition | None:
    """Return the one condition on a column, None if it can never hold."""
    name, label, kind, unit = column.name, column.label, column.kind, column.unit
    if kind == "nominal":
        return _nominal(Condition(name, label, kind, known=True), features, asked)
    (index, bounds), *_ = asked.items()
    feature = features[index]
    if bounds.known:
        return Condition(name, label, kind, unit=unit, known=True, all_levels=feature.labels)
    low, high = bounds.lower, bounds.upper
    if kind == "numeric":
        lower = None if low is None else feature.cuts[low - 1]
        upper = None if high is None else feature.cuts[high]
        return Condition(name, label, kind, unit=unit, lower=lower, upper=upper)
    allowed = feature.labels[low : None if high is None else high + 1]
    if kind == "boolean":
        return Condition(name, label, kind, value=allowed[0], all_levels=feature.labels)
    return Condition(name, label, kind, levels=allowed, all_levels=feature.labels)


def _nominal(known: Condition, features: tuple[Feature, ...], asked: dict[int, Bounds]) -> Condition | None:
    """Join what is asked of the 0/1 features of a column: "is A" says more than "is not B"."""
    chosen = [features[index].category for index, bounds in asked.items() if bounds.lower is not None]
    excluded = [features[index].category for index, bounds in asked.items() if bounds.upper is not None]
    if len(chosen) > 1:
        return None
    if chosen:
        return Condition(known.column, known.label, "nominal", is_in=chosen[0])
    if excluded:
        return Condition(known.column, known.label, "nominal", not_in=tuple(str(name) for name in excluded))
    return known
