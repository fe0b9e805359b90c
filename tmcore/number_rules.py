"""A set of rules that together predict a number: the sum of the weights of the rules that hold, on top of a start.

All weights and the start are whole multiples of one power of two, so sums are exact in any order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tmcore.conditions import MINUS
from tmcore.rule import Rule, as_tuple
from tmcore.ruleset import Labels, RuleSet

DIGITS = 3
"""Digits of the heaviest weight that texts show; other numbers get as many decimals. Exports have all digits."""

SIDES = ("lower", "higher")
"""What a rule does to the sum: by a weight below 0, and by one of 0 or more."""

STEP_BITS = 20
"""A typed weight is rounded to this many bits below the heaviest one."""


@dataclass(frozen=True, eq=False)
class NumberRules(RuleSet):
    """Rules of a regression: `classes` is empty, every rule has one weight, precision and covered are not known."""

    def answers(self, votes: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `RuleSet.answers`; the sums themselves."""
        return votes[:, 0]

    @property
    def weight_step(self) -> float:
        """See `RuleSet.weight_step`; it follows the size of the weights."""
        return math.ldexp(1.0, max(-1074, math.frexp(self._largest)[1] - STEP_BITS))

    @property
    def _largest(self) -> float:
        """The heaviest weight, or the start where no rule has any."""
        heaviest = max((rule.magnitude for rule in self.rules), default=0.0)
        return heaviest or abs(as_tuple(self.intercept)[0])

    def class_text(self, rule: Rule) -> str:
        """Return which way a rule moves the sum: "higher" or "lower"."""
        return SIDES[rule.speaks_for[0]]

    def statistics(self, X: pd.DataFrame | NDArray[Any], y: Labels) -> pd.DataFrame:
        """Count what each rule covers in rows with known targets, for example test rows.

        Returns
        -------
        DataFrame, one row per rule, index `number` from 1
            n_rows covered; support, their share of all rows; mean, the mean target of the covered rows, NaN where
            nothing is covered.

        Raises
        ------
        ValueError
            If `X` and `y` differ in length.
        """
        targets = np.asarray(y, dtype=np.float64)
        if len(targets) != X.shape[0]:
            raise ValueError(
                f"There are {X.shape[0]} rows but {len(targets)} targets; give one number per row."
            )
        n_rows, sums = np.zeros(len(self), dtype=np.int64), np.zeros(len(self))
        start = 0
        for outputs in self._outputs_in_parts(X):
            n_rows += outputs.sum(axis=0)
            sums += targets[start : start + len(outputs)] @ outputs
            start += len(outputs)
        frame = pd.DataFrame({"n_rows": n_rows}, index=self._numbers())
        frame["support"] = n_rows / len(targets) if len(targets) else np.nan
        frame["mean"] = sums / frame["n_rows"].where(frame["n_rows"] > 0)
        return frame

    def with_statistics(self, X: pd.DataFrame | NDArray[Any], y: Labels) -> NumberRules:
        """Return the same rules with the support that they have in these rows."""
        measured = self.statistics(X, y)["support"].tolist()
        shares = [None if math.isnan(share) else share for share in measured]
        rules = (replace(rule, support=share) for rule, share in zip(self.rules, shares, strict=True))
        return replace(self, rules=tuple(rules), n_rows=X.shape[0])

    def sentence(self, rule: Rule) -> str:
        """Return one rule in words: "IF ... THEN +12.3"."""
        return f"IF {rule.text()} THEN {self.shown(as_tuple(rule.weights)[0])}"

    def to_text(self) -> str:
        """Return how to add up, the start, and every rule as a numbered sentence, one per line."""
        shown = self.shown(as_tuple(self.intercept)[0]).removeprefix("+")
        lines = (f"{number}. {self.sentence(rule)}" for number, rule in enumerate(self.rules, start=1))
        return "\n".join([f"Start at {shown} and add the weight of every rule that holds.", *lines]) + "\n"

    def to_frame(self) -> pd.DataFrame:
        """Return one row per rule, index `number` from 1: rule (in words), weight, literals, support."""
        frame = super().to_frame()
        return frame[["rule", "weight", "literals", "support"]]

    def shown(self, number: float) -> str:
        """See `RuleSet.shown`."""
        return f"{MINUS if number < 0 else '+'}{self._digits(abs(number))}"

    def _digits(self, size: float) -> str:
        """A number of at least 0 with the decimals that give the heaviest weight DIGITS digits, or two digits."""
        largest = self._largest
        if not 1e-6 <= largest < 1e15 or 0 < size < 1e-6 or size >= 1e15:
            return f"{size:.{DIGITS}g}"
        decimals = max(0, DIGITS - 1 - math.floor(math.log10(largest)))
        if 0 < size < 0.5 * 10.0**-decimals:
            decimals = 1 - math.floor(math.log10(size))
        return f"{size:.{decimals}f}"
