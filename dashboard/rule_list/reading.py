"""The rules of one `Editing` as the page shows them; each part is worked out when it is needed. No Streamlit here."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.editing import Draft, Editing
from dashboard.goals import AnyScores
from dashboard.rule_list.counting import Counter, Tally
from dashboard.rule_list.listing import Listed, list_rules
from dashboard.rule_list.payload import Body, Painter
from tmcore.rule import Rule
from tmcore.ruleset import RuleSet


class Reading:
    """What is read of some rules and their edits.

    Parameters
    ----------
    editing : Editing
    counter : Counter
        Of the rows the rules were learned from; readings of other points of the dial share it.
    painter : Painter
        Likewise shared.
    """

    def __init__(self, editing: Editing, counter: Counter, painter: Painter) -> None:
        self.editing, self.counter, self.painter = editing, counter, painter
        base = editing.learned.rules
        self._tallies = Tally(base, counter.train), Tally(base, counter.test)
        self._draft: Draft | None = None
        self._listed: tuple[Mapping[int, Rule], tuple[Listed, ...]] | None = None
        self._body: tuple[tuple[Listed, ...], Body] | None = None

    @property
    def rules(self) -> RuleSet:
        """The rules in use; the same object until the next edit."""
        self._follow()
        return self._rules

    @property
    def scores(self) -> AnyScores:
        """How good the rules in use are on the training and the test rows."""
        self._follow()
        return self._scores

    @property
    def listed(self) -> tuple[Listed, ...]:
        """Every rule that is not deleted, those switched off too."""
        rules = self.editing.draft.rules
        if self._listed is None or self._listed[0] is not rules:
            self._listed = rules, list_rules(self.editing.learned.rules, rules, self.counter)
        return self._listed[1]

    @property
    def body(self) -> Body:
        """What the list of rules is sent of `listed`."""
        listed = self.listed
        if self._body is None or self._body[0] is not listed:
            self._body = listed, self.painter.body(listed, self.editing.learned.rules, self.counter)
        return self._body[1]

    def _follow(self) -> None:
        draft = self.editing.draft
        if self._draft is draft:
            return
        used = {number: rule for number, rule in draft.rules.items() if number not in draft.off}
        self._draft, self._rules = draft, self.editing.rules()
        votes = tuple(tally.votes(used) for tally in self._tallies)
        answers = self.counter.train[1], self.counter.test[1]
        self._scores = self.counter.outcomes.scores(self.editing.learned.rules, votes, answers)
