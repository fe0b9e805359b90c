"""Rules as one SQL SELECT: every column of a table, the votes, and the predicted class; or the predicted number.

One text runs in DuckDB, SQLite and PostgreSQL; Spark quotes names and texts its own way and gets its own.
Numbers are written with an exponent, which makes them floats and not decimals; sums of weights are exact in
them. A missing value, NULL or NaN, meets no condition.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tmcore.conditions import Condition, visible
from tmcore.export.about import NOTHING, About, header
from tmcore.export.asked import allowed_values, used_columns
from tmcore.export.labels import Label, plain_labels
from tmcore.rule import as_tuple
from tmcore.ruleset import RuleSet

MOST_TERMS = 100
"""Operands side by side before they are grouped: SQLite and DuckDB refuse expressions 1,000 deep."""

LARGEST = "1.7976931348623157e308"
_WHOLE = re.compile(r"-?(0|[1-9]\d*)")


@dataclass(frozen=True)
class Dialect:
    """How a family of databases writes names, texts and the type of texts."""

    identifier: Callable[[str], str]
    text: Callable[[str], str]
    text_type: str


def _backslashed(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


STANDARD = Dialect(
    lambda name: '"' + name.replace('"', '""') + '"',
    lambda text: "'" + text.replace("'", "''") + "'",
    "VARCHAR",
)
SPARK = Dialect(lambda name: "`" + name.replace("`", "``") + "`", _backslashed, "STRING")


def to_sql(rules: RuleSet, about: About = NOTHING) -> bytes:
    """Return `rules` as the bytes of a SELECT for DuckDB, SQLite and PostgreSQL."""
    return _write(rules, about, STANDARD)


def to_spark(rules: RuleSet, about: About = NOTHING) -> bytes:
    """Return `rules` as the bytes of a SELECT for Spark."""
    return _write(rules, about, SPARK)


def result_names(rules: RuleSet) -> tuple[tuple[str, ...], str]:
    """Return the names of the vote columns and of the class column, none of them a column of the data.

    Of rules that predict a number the sum is the answer: both are the same one name.
    """
    taken = {column.name.casefold() for column in rules.columns} | {
        name.casefold() for name in used_columns(rules)
    }
    n_sums = len(as_tuple(rules.intercept))
    ending = ""
    while True:
        votes = ("votes",) if n_sums == 1 else tuple(f"votes_{k}" for k in range(1, n_sums + 1))
        answers = (*votes, "class") if len(rules.classes) else ("number", "number")
        names = [f"predicted_{name}{ending}" for name in answers]
        if taken.isdisjoint(names):
            return tuple(names[:-1]), names[-1]
        ending += "_"


def _write(rules: RuleSet, about: About, dialect: Dialect) -> bytes:
    votes, label = result_names(rules)
    quoted = [dialect.identifier(name) for name in votes]
    sums = ",\n".join(
        f"    {_sum(rules, k, dialect)}\n    AS {name}" for k, name in enumerate(quoted)
    )  # one sum a class, or one with two classes
    lines = [f"-- {line}" for line in _comments(rules, about, votes)]
    scored = f"SELECT r.*,\n{sums}\n  FROM {dialect.identifier(about.table)} AS r"
    if len(rules.classes):
        decision = f"{_decision(rules, quoted, dialect)} AS {dialect.identifier(label)}"
        lines += [f"SELECT scored.*,\n  {decision}", f"FROM (\n  {scored}\n) AS scored"]
    else:
        lines.append(scored)
    # A lone surrogate of a broken file is in no database, so its escape meets nothing either.
    return ("\n".join(lines) + "\n").encode("utf-8", errors="backslashreplace")


def _comments(rules: RuleSet, about: About, votes: Sequence[str]) -> list[str]:
    lines = header(rules, about)
    if len(votes) > 1:
        lines += [f"{name}: {label}" for name, label in zip(votes, rules.class_names, strict=True)]
    lines.append(
        "Columns read: " + ", ".join(f"{visible(c)} ({kind})" for c, kind in used_columns(rules).items())
    )
    lines.append(f"NULL and NaN are missing and meet no condition; NaN counts as more than {LARGEST}.")
    lines.append("Replace the table's name by yours.")
    return lines


def _sum(rules: RuleSet, k: int, dialect: Dialect) -> str:
    categories = {column.name: column.categories for column in rules.columns}
    terms = [_number(as_tuple(rules.intercept)[k])]
    for rule in rules:
        weight = as_tuple(rule.weights)[k]
        if weight:
            tests = [_test(c, categories.get(c.column, ()), dialect) for c in rule.conditions]
            held = _joined(tests, " AND ") if tests else "1 = 1"
            terms.append(f"CASE WHEN {held} THEN {_number(weight)} ELSE 0e0 END")
    return _joined(terms, "\n    + ")


def _joined(terms: Sequence[str], operator: str) -> str:
    """Join with an operator, in groups where there are many, so that the expression stays shallow."""
    while len(terms) > MOST_TERMS:
        groups = [terms[start : start + MOST_TERMS] for start in range(0, len(terms), MOST_TERMS)]
        terms = [f"({operator.join(group)})" for group in groups]
    return operator.join(terms)


def _number(number: float) -> str:
    digits = repr(number).removesuffix(".0")
    return digits if "e" in digits else f"{digits}e0"


def _test(condition: Condition, categories: Sequence[str], dialect: Dialect) -> str:
    name = f"r.{dialect.identifier(condition.column)}"
    if condition.kind == "numeric":
        lower = [] if condition.lower is None else [f"{name} > {_number(condition.lower)}"]
        # Many databases hold NaN to be larger than any number, so an open upper end must still have one.
        upper = LARGEST if condition.upper is None else _number(condition.upper)
        return " AND ".join([*lower, f"{name} <= {upper}"])
    if any(_is_stored_otherwise(category) for category in categories):
        name = f"CAST({name} AS {dialect.text_type})"
    values = condition.not_in or allowed_values(condition)
    if values is None:
        return f"{name} IS NOT NULL"
    texts = [dialect.text(spelling) for value in values for spelling in spellings(value, categories)]
    if len(texts) == 1:
        return f"{name} {'<>' if condition.not_in else '='} {texts[0]}"
    return f"{name} {'NOT IN' if condition.not_in else 'IN'} ({', '.join(texts)})"


def _is_stored_otherwise(category: str) -> bool:
    """Whether a table may hold the category as a number or as a truth value."""
    return category in ("True", "False") or bool(re.fullmatch(r"-?\d+(\.\d+)?", category))


def spellings(category: str, categories: Sequence[str]) -> list[str]:
    """Return a category and how databases print it where a column holds numbers or truth values.

    A spelling that is a category of its own stays that category.
    """
    also: tuple[str, ...] = ()
    if _WHOLE.fullmatch(category):
        also = (f"{category}.0",)
    elif set(categories) == {"False", "True"}:
        also = ("true", "1") if category == "True" else ("false", "0")
    return [category, *(spelling for spelling in also if spelling not in categories)]


def _decision(rules: RuleSet, votes: Sequence[str], dialect: Dialect) -> str:
    labels = [_label(label, dialect) for label in plain_labels(rules)]
    if len(labels) == 1:
        return labels[0]
    if len(votes) == 1:
        return f"CASE WHEN {votes[0]} >= 0 THEN {labels[1]} ELSE {labels[0]} END"
    # The first class that no later one beats has the largest sum, and of equal ones it is the first.
    whens = [
        f"WHEN {_joined([f'{name} >= {other}' for other in votes[k + 1 :]], ' AND ')} THEN {labels[k]}"
        for k, name in enumerate(votes[:-1])
    ]
    return "CASE " + "\n    ".join(whens) + f"\n    ELSE {labels[-1]} END"


def _label(label: Label, dialect: Dialect) -> str:
    if isinstance(label, str):
        return dialect.text(label)
    if isinstance(label, bool):
        return "TRUE" if label else "FALSE"
    return _number(label) if isinstance(label, float) else str(label)
