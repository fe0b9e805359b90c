"""Rules with what is told about each of them, and the ways to sort and filter them. No Streamlit here."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from tmcore.rules import Rule, RuleSet


@dataclass(frozen=True)
class Listed:
    """One rule and its counts.

    Attributes
    ----------
    number : int
        Its place in the rule set, from 1.
    class_index, against : int, bool
        The class it speaks for; ``against`` says that it speaks against that class only.
    weight : float
        With two classes the signed weight, else the weight for ``class_index``.
    covered : tuple of int
        Covered training rows of each class.
    n_train, n_test : int
        Covered rows.
    precision_train, precision_test : float
        Share of the covered rows it is right about, NaN where it covers none.
    base_rate : float
        Share of all training rows it would be right about if it covered them all.
    """

    number: int
    rule: Rule
    class_index: int
    against: bool
    weight: float
    covered: tuple[int, ...]
    n_train: int
    n_test: int
    precision_train: float
    precision_test: float
    base_rate: float

    @property
    def lift(self) -> float:
        """How many times the training precision is the base rate, NaN where it covers nothing."""
        return self.precision_train / self.base_rate if self.base_rate else math.nan


def list_rules(
    rules: RuleSet, train: tuple[pd.DataFrame, pd.Series], test: tuple[pd.DataFrame, pd.Series]
) -> tuple[Listed, ...]:
    """Count every rule on the training rows and, apart, on the test rows."""
    on_train, on_test = rules.statistics(*train), rules.statistics(*test)
    totals = [int((train[1] == label).sum()) for label in rules.classes]
    covered = on_train[[column for column in on_train if str(column).startswith("covered ")]].to_numpy()
    listed = []
    for place, rule in enumerate(rules):
        index, against = rule.speaks_for
        right = sum(totals) - totals[index] if against else totals[index]
        listed.append(
            Listed(
                number=place + 1,
                rule=rule,
                class_index=index,
                against=against,
                weight=rule.weights if isinstance(rule.weights, float) else rule.weights[index],
                covered=tuple(int(count) for count in covered[place]),
                n_train=int(on_train["n_rows"].iloc[place]),
                n_test=int(on_test["n_rows"].iloc[place]),
                precision_train=float(on_train["precision"].iloc[place]),
                precision_test=float(on_test["precision"].iloc[place]),
                base_rate=right / sum(totals),
            )
        )
    return tuple(listed)


def _precision(listed: Listed) -> float:
    return -1.0 if math.isnan(listed.precision_train) else listed.precision_train


SORTS: dict[str, Callable[[Listed], Any]] = {
    "Heaviest first": lambda listed: -listed.rule.magnitude,
    "Most rows first": lambda listed: -listed.n_train,
    "Purest first": lambda listed: -_precision(listed),
    "Fewest literals first": lambda listed: listed.rule.n_literals,
}


def choose(rules: Iterable[Listed], class_index: int | None, column: str | None, sort: str) -> list[Listed]:
    """The rules that speak for or against a class and test a column, in the order asked for.

    Equal rules under ``sort`` stay heaviest first. None asks nothing.
    """
    kept = [
        listed
        for listed in rules
        if (class_index is None or listed.class_index == class_index)
        and (column is None or any(condition.column == column for condition in listed.rule.conditions))
    ]
    kept.sort(key=SORTS["Heaviest first"])
    kept.sort(key=SORTS[sort])
    return kept


def to_table(rules: Sequence[Listed], rule_set: RuleSet) -> pd.DataFrame:
    """One row per rule with every number that is told about it; shares are percentages, the index is its number."""
    columns: dict[str, list[Any]] = {
        "weight": [listed.weight for listed in rules],
        "class": [rule_set.class_text(listed.rule) for listed in rules],
        "rule": [listed.rule.text() for listed in rules],
        "literals": [listed.rule.n_literals for listed in rules],
        "training rows": [listed.n_train for listed in rules],
        "precision, training": [100 * listed.precision_train for listed in rules],
        "lift, training": [listed.lift for listed in rules],
        "test rows": [listed.n_test for listed in rules],
        "precision, test": [100 * listed.precision_test for listed in rules],
    }
    return pd.DataFrame(columns, index=pd.Index([listed.number for listed in rules], name="no."))


def safe_file_name(name: str, ending: str) -> str:
    """A file name of letters, digits, dots, dashes and underscores made from any text: "heart_rules.json"."""
    without_ending = re.sub(r"\.(csv|tsv|txt)$", "", name, flags=re.IGNORECASE)
    stem = re.sub(r"[^A-Za-z0-9_-]+", "_", without_ending).strip("_-")[:60]
    return f"{stem or 'tsetlin'}_rules.{ending}"
