"""Rows made up to try a rule set: values at, between and beyond its cuts, missing ones, unseen categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tmcore.conditions import Condition, RawColumn
from tmcore.export.asked import used_columns
from tmcore.ruleset import RuleSet

UNSEEN = ("never seen", "", 'it\'s "new"', "two\nlines", "\N{SNOWMAN}", "-3", "NULL", "\\", ";--")
"""Categories that no rule asks for, most of them trouble for someone who quotes carelessly."""

MISSING_SHARE = 0.08


def generate(rules: RuleSet, n_rows: int, seed: int = 0) -> pd.DataFrame:
    """Return made-up rows with every column of the rule set.

    One half draws every value on its own. The other half aims at a rule: its conditions are met, but for
    every third row one of them is not.

    Returns
    -------
    DataFrame, shape (n_rows, n_columns): float64 for numeric columns, else texts and None
    """
    rng = np.random.default_rng(seed)
    conditions: dict[str, dict[Condition, None]] = {}
    for rule in rules:
        for condition in rule.conditions:
            conditions.setdefault(condition.column, {})[condition] = None
    kinds = used_columns(rules)
    columns: dict[str, NDArray[Any]] = {}
    choices: dict[str, pd.Series] = {}
    for column in rules.columns:
        asked = list(conditions.get(column.name, ()))
        kind = kinds.get(column.name, column.kind)
        choices[column.name] = _numbers(asked) if kind == "numeric" else _texts(column.categories, asked)
        columns[column.name] = rng.choice(choices[column.name].to_numpy(), n_rows)
        missing = np.nan if kind == "numeric" else None
        columns[column.name][rng.random(n_rows) < MISSING_SHARE] = missing
    if len(rules):
        _aim(rules, columns, choices, rng, n_rows)
    return pd.DataFrame({name: pd.Series(cells, dtype=cells.dtype) for name, cells in columns.items()})


def _numbers(asked: Sequence[Condition]) -> pd.Series:
    cuts = np.unique(
        np.array(
            [bound for c in asked for bound in (c.lower, c.upper) if bound is not None] or [0.0], dtype=float
        )
    )
    far = max(1.0, float(np.abs(cuts).max()))
    values = [
        cuts,
        np.nextafter(cuts, np.inf),
        np.nextafter(cuts, -np.inf),
        (cuts[:-1] + cuts[1:]) / 2,
        np.array([cuts[0] - 1, cuts[-1] + 1, -2 * far, 2 * far, 0.0, -1e300, 1e300]),
    ]
    return pd.Series(np.concatenate(values))


def _texts(categories: Sequence[str], asked: Sequence[Condition]) -> pd.Series:
    named = [name for c in asked for name in (*c.all_levels, *c.not_in, c.is_in, c.value) if name is not None]
    known = list(dict.fromkeys([*categories, *named]))
    return pd.Series([*known * 3, *(name for name in UNSEEN if name not in known)], dtype=object)


def _aim(
    rules: RuleSet,
    columns: dict[str, NDArray[Any]],
    choices: dict[str, pd.Series],
    rng: np.random.Generator,
    n_rows: int,
) -> None:
    """Let the second half of the rows meet rules, or all of one but a condition."""
    aimed = np.arange(n_rows // 2, n_rows)
    chosen = rng.integers(len(rules), size=len(aimed))
    spared = np.where(rng.random(len(aimed)) < 1 / 3, rng.random(len(aimed)), 2.0)
    raw: dict[str, RawColumn] = {}
    meeting: dict[Condition, NDArray[np.bool_]] = {}
    order = np.argsort(chosen, kind="stable")
    ends = np.searchsorted(chosen[order], np.arange(len(rules)), side="right")
    for rule, group in zip(rules, np.split(order, ends[:-1]), strict=True):
        places, n = aimed[group], len(rule.conditions)
        for number, condition in enumerate(rule.conditions):
            name = condition.column
            if condition not in meeting:
                raw.setdefault(name, RawColumn.read(choices[name], condition.kind))
                meeting[condition] = condition.holds(raw[name])
            values, meets = choices[name].to_numpy(), meeting[condition]
            fails = (spared[group] * n).astype(int) == number
            for wanted, rows in ((meets, places[~fails]), (~meets, places[fails])):
                if len(rows) and wanted.any():
                    columns[name][rows] = rng.choice(values[wanted], len(rows))
