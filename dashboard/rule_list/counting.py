"""What rules cover in the rows of a run, and the votes of the rules in use, each counted once. No Streamlit here."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.rule_list.outcomes import outcomes_of
from tmcore.conditions import Condition
from tmcore.rule import Rule, as_tuple, like
from tmcore.ruleset import RuleSet

Rows = tuple[pd.DataFrame, pd.Series]
CELLS_AT_ONCE = 20_000_000
MOST_KEPT = 50_000


@dataclass(frozen=True)
class Cover:
    """What some conditions cover.

    Attributes
    ----------
    train, test : tuple of int
        Covered rows of each class.
    n_train, n_test : int
        Covered rows.
    sums : (float, float)
        Of the covered rows' numbers, training and test; 0 where classes are predicted.
    same : bytes
        Equal for conditions that cover the same training rows.
    """

    train: tuple[int, ...]
    test: tuple[int, ...]
    n_train: int
    n_test: int
    sums: tuple[float, float]
    same: bytes


class Counter:
    """Counts conditions on training and test rows; conditions seen before are not counted again.

    Parameters
    ----------
    classes : ndarray (n_classes,)
        None of them where a number is predicted.
    train, test : (X, y)
        Raw rows and their labels or numbers.

    Attributes
    ----------
    outcomes : Outcomes
    labels, totals : list
        Of training and test rows the group of each, and how many are in each group; see `outcomes.groups`.
    """

    def __init__(self, classes: NDArray[np.generic], train: Rows, test: Rows) -> None:
        self.train, self.test = train, test
        self.outcomes = outcomes_of(classes, train[1])
        n_groups = len(self.outcomes.names)
        self.labels = [self.outcomes.groups(y) for _, y in (train, test)]
        self.totals = [
            tuple(np.bincount(labels[labels >= 0], minlength=n_groups).tolist()) for labels in self.labels
        ]
        self._covers: dict[tuple[Condition, ...], Cover] = {}

    def covers(self, rules: RuleSet) -> list[Cover]:
        """What each rule covers."""
        if len(self._covers) > MOST_KEPT:
            self._covers.clear()
        new = {rule.conditions: rule for rule in rules if rule.conditions not in self._covers}
        fresh = list(new.values())
        most = max(1, CELLS_AT_ONCE // max(1, len(self.train[0])))
        for start in range(0, len(fresh), most):
            self._count(replace(rules, rules=tuple(fresh[start : start + most])))
        return [self._covers[rule.conditions] for rule in rules]

    def _count(self, rules: RuleSet) -> None:
        counted = []
        for (X, y), labels, totals in zip((self.train, self.test), self.labels, self.totals, strict=True):
            outputs = np.ascontiguousarray(rules.outputs(X).T)
            of_class = [outputs[:, labels == k].sum(axis=1).tolist() for k in range(len(totals))]
            n_rows, sums = outputs.sum(axis=1).tolist(), self.outcomes.total(y, outputs)
            counted.append((outputs, list(zip(*of_class, strict=True)), n_rows, sums))
        (on_train, train, n_train, on_sum), (_, test, n_test, off_sum) = counted
        bits = np.packbits(on_train, axis=1)
        for k, rule in enumerate(rules):
            same = hashlib.blake2b(bits[k].tobytes(), digest_size=16).digest()
            self._covers[rule.conditions] = Cover(
                train[k], test[k], n_train[k], n_test[k], (on_sum[k], off_sum[k]), same
            )


class Tally:
    """Vote sums of the rules in use on some rows; after an edit only the changed rules are evaluated.

    Weights are whole multiples of one power of two, so sums are exact in any order.
    """

    def __init__(self, base: RuleSet, rows: Rows) -> None:
        self._blank = replace(
            base, rules=(), intercept=like([0.0] * len(as_tuple(base.intercept)), base.intercept)
        )
        self._X = rows[0]
        self._used: Mapping[int, Rule] = {}
        self._votes = np.tile(np.array(as_tuple(base.intercept), dtype=np.float64), (len(self._X), 1))

    def votes(self, used: Mapping[int, Rule]) -> NDArray[np.float64]:
        """Vote sums, (n_rows, n_outputs), of the rules in use by their number."""
        before = self._used
        came = [rule for number, rule in used.items() if before.get(number) is not rule]
        gone = [rule for number, rule in before.items() if used.get(number) is not rule]
        self._votes = self._votes + self._sum(came) - self._sum(gone)
        self._used = used
        return self._votes

    def _sum(self, rules: list[Rule]) -> NDArray[np.float64]:
        if not rules:
            return np.zeros_like(self._votes)
        return replace(self._blank, rules=tuple(rules)).votes(self._X)
