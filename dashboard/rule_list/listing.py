"""Rules with what is told about each of them. No Streamlit here."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dashboard.rule_list.counting import Counter, Cover
from dashboard.rule_list.outcomes import AnyPart
from tmcore.rule import Rule
from tmcore.ruleset import RuleSet

FLAGS = ("never true", "always true", "equal cover", "contradictory", "low support")
LOW_SHARE = 0.01
LOW_ROWS = 5
MOST_NAMED = 3


@dataclass(frozen=True)
class Flag:
    """A peculiarity of a rule, one of `FLAGS`, and what is shown of it."""

    kind: str
    text: str


@dataclass(frozen=True)
class Listed:
    """One rule and its counts.

    Attributes
    ----------
    number : int
        Its place in the rule set as learned, from 1.
    class_index, against : int, bool
        The class it speaks for; ``against`` says that it speaks against that class only.
    weight : float
        With two classes the signed weight, else the weight for ``class_index``.
    covered : tuple of int
        Covered training rows of each class.
    """

    number: int
    rule: Rule
    class_index: int
    against: bool
    weight: float
    covered: tuple[int, ...]
    train: AnyPart
    test: AnyPart
    flags: tuple[Flag, ...] = ()


def list_rules(base: RuleSet, rules: Mapping[int, Rule], counter: Counter) -> tuple[Listed, ...]:
    """Count every rule on the training rows and, apart, on the test rows.

    Parameters
    ----------
    base : RuleSet
        Whose classes and columns count; its rules do not.
    rules : the rules by their number
    counter : Counter
    """
    covers = counter.covers(replace(base, rules=tuple(rules.values())))
    listed = tuple(
        _listed(number, rule, cover, counter)
        for (number, rule), cover in zip(rules.items(), covers, strict=True)
    )
    return with_flags(listed, covers, sum(counter.totals[0]), counter.outcomes.opposite)


def _listed(number: int, rule: Rule, cover: Cover, counter: Counter) -> Listed:
    index, against = rule.speaks_for
    train, test = counter.totals
    part = counter.outcomes.part
    return Listed(
        number=number,
        rule=rule,
        class_index=index,
        against=against,
        weight=rule.weights if isinstance(rule.weights, float) else rule.weights[index],
        covered=cover.train,
        train=part(rule, cover.train, cover.n_train, train, cover.sums[0]),
        test=part(rule, cover.test, cover.n_test, test, cover.sums[1]),
    )


def with_flags(
    listed: Sequence[Listed], covers: Sequence[Cover], n_train: int, opposite: str
) -> tuple[Listed, ...]:
    """The same rules with what is peculiar about their training rows, ``n_train`` of them.

    ``opposite`` says what another rule for the same rows says, where it says something else.
    """
    alike: dict[bytes, list[Listed]] = defaultdict(list)
    for one, cover in zip(listed, covers, strict=True):
        alike[cover.same].append(one)
    return tuple(
        replace(one, flags=tuple(_flags(one, alike[cover.same], n_train, opposite)))
        for one, cover in zip(listed, covers, strict=True)
    )


def _flags(one: Listed, alike: Sequence[Listed], n_train: int, other_side: str) -> Iterable[Flag]:
    n_rows = one.train.n_rows
    if not n_rows:
        yield Flag("never true", "never true")
        return
    if n_rows == n_train:
        yield Flag("always true", "always true")
    side = (one.class_index, one.against)
    same = [
        other.number for other in alike if other is not one and (other.class_index, other.against) == side
    ]
    opposite = [other.number for other in alike if (other.class_index, other.against) != side]
    if same:
        yield Flag("equal cover", f"equal cover: same rows as {_named(same)}")
    if opposite:
        yield Flag("contradictory", f"contradictory: same rows as {_named(opposite)}, {other_side}")
    if n_rows < max(LOW_ROWS, LOW_SHARE * n_train):
        yield Flag("low support", "low support")


def _named(numbers: Sequence[int]) -> str:
    shown = ", ".join(str(number) for number in numbers[:MOST_NAMED])
    more = f" and {len(numbers) - MOST_NAMED:,} more" if len(numbers) > MOST_NAMED else ""
    return f"{'rule' if len(numbers) == 1 else 'rules'} {shown}{more}"


def safe_file_name(name: str, ending: str) -> str:
    """A file name of letters, digits, dots, dashes and underscores made from any text: "heart_rules.json"."""
    without_ending = re.sub(r"\.(csv|tsv|txt)$", "", name, flags=re.IGNORECASE)
    stem = re.sub(r"[^A-Za-z0-9_-]+", "_", without_ending).strip("_-")[:60]
    return f"{stem or 'tsetlin'}_rules.{ending}"
