"""The rules as learned, and a person's edits of them with undo. No Streamlit here.

Rules keep the number they had when learned, whatever is switched off or deleted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tmcore.conditions import Condition
from tmcore.extract import WEIGHT_UNIT
from tmcore.rule import Rule, as_tuple, like
from tmcore.ruleset import RuleSet
from tmcore.settling import rules_by_votes

if TYPE_CHECKING:
    from dashboard.goals import Model
    from dashboard.jobs import Job

LARGEST_WEIGHT = 1e6


@dataclass(frozen=True)
class Learned:
    """What a run has learned.

    Attributes
    ----------
    of : object
        The settled outcome or the snapshot the rules were read from; the same object means the same rules.
    rules : RuleSet
    refitted : bool
        Whether vote sums are log-odds.
    model : Model or None
        The settled model whose rules they are.
    """

    of: object
    rules: RuleSet
    refitted: bool
    model: Model | None = None


def learned(job: Job) -> Learned | None:
    """The rules of the clauses as they vote now; None before there are any."""
    snapshot = job.latest
    if snapshot is None or job.run is None or not snapshot.step:
        return None
    return Learned(snapshot, rules_by_votes(job.run, snapshot.bank), False)


@dataclass(frozen=True)
class Draft:
    """The rules that are not deleted, by number from 1, and the numbers switched off."""

    rules: Mapping[int, Rule]
    off: frozenset[int] = frozenset()


@dataclass
class Editing:
    """A rule set being edited; `past` holds the drafts before each edit, `version` grows with every change."""

    learned: Learned
    past: list[Draft] = field(default_factory=list)
    version: int = 0

    def __post_init__(self) -> None:
        self.draft = self.first

    @cached_property
    def first(self) -> Draft:
        """The rules as learned."""
        return Draft(dict(enumerate(self.learned.rules, start=1)))

    @property
    def is_edited(self) -> bool:
        """Whether the rules in use differ from those learned."""
        return self.draft != self.first

    def rules(self) -> RuleSet:
        """The rules in use, marked as edited if they are; then support and precision are not known."""
        base = self.learned.rules
        if not self.is_edited:
            return base
        used = tuple(rule for number, rule in self.draft.rules.items() if number not in self.draft.off)
        return replace(base, rules=used, edited=True)

    def numbers(self) -> tuple[int, ...]:
        """The number of every rule in use, in the order of `rules`."""
        return tuple(number for number in self.draft.rules if number not in self.draft.off)

    def switch_off(self, numbers: Iterable[int]) -> None:
        """Leave several rules out as one edit."""
        self._become(replace(self.draft, off=self.draft.off | frozenset(numbers)))

    def switch(self, number: int, on: bool) -> None:
        """Use a rule or leave it out."""
        off = self.draft.off - {number} if on else self.draft.off | {number}
        self._become(replace(self.draft, off=off))

    def leave_out(self, numbers: Iterable[int]) -> None:
        """Leave out exactly these rules, as one edit; numbers that no rule has are ignored."""
        self._become(replace(self.draft, off=frozenset(numbers) & self.draft.rules.keys()))

    def delete(self, number: int) -> None:
        """Take a rule away."""
        rules = {other: rule for other, rule in self.draft.rules.items() if other != number}
        self._become(Draft(rules, self.draft.off - {number}))

    def set_weight(self, number: int, output: int, weight: float) -> None:
        """Give a rule another weight for one class, rounded so that sums stay exact, see `RuleSet.weight_step`.

        Raises
        ------
        ValueError
            If the weight is not a number of moderate size.
        """
        step = self.learned.rules.weight_step
        largest = LARGEST_WEIGHT * max(1.0, step / WEIGHT_UNIT)
        if not math.isfinite(weight) or abs(weight) > largest:
            raise ValueError(f"A weight must be a number from −{largest:,.0f} to {largest:,.0f}.")
        rule = self.draft.rules[number]
        weights = list(as_tuple(rule.weights))
        weights[output] = round(weight / step) * step
        self._replace(number, replace(rule, weights=like(weights, rule.weights)))

    def set_condition(self, number: int, place: int, condition: Condition | None) -> None:
        """Ask something else of one column, or nothing.

        Raises
        ------
        ValueError
            If no value could meet the condition, or the rule would be left without any.
        """
        rule = self.draft.rules[number]
        if condition is not None and condition.impossible:
            raise ValueError("The lower bound must be less than the upper one; with these no row is covered.")
        if condition is None and len(rule.conditions) == 1:
            raise ValueError("This is the rule's only condition; delete the rule instead.")
        parts = (condition if k == place else one for k, one in enumerate(rule.conditions))
        self._replace(number, replace(rule, conditions=tuple(one for one in parts if one is not None)))

    def undo(self) -> None:
        """Take the last edit back, if there is one."""
        if self.past:
            self.draft = self.past.pop()
            self.version += 1

    def reset(self) -> None:
        """Go back to the rules as learned; undo brings the edits back."""
        self._become(self.first)

    def _replace(self, number: int, rule: Rule) -> None:
        blank = replace(rule, support=None, precision=None, covered=())
        self._become(replace(self.draft, rules={**self.draft.rules, number: blank}))

    def _become(self, draft: Draft) -> None:
        if draft != self.draft:
            self.past.append(self.draft)
            self.draft = draft
            self.version += 1
