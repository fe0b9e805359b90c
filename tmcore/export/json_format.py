"""Rules as JSON, complete: what `read_json` returns predicts as what was written.

Schema, version 1. UTF-8; every number reads back as the same float64.

    format      "tsetlin-rules"
    version     1
    decision    how to predict, in words
    by_name     whether columns are found by name (else by position, in the order of "features")
    features    list of {name, label, unit, kind, categories}: kind is "numeric", "boolean", "ordinal" or
                "nominal"; categories (levels in order) is empty for numeric; unit may be null
    classes     list of {type, value}: type is "integer", "boolean", "string" or "number"; empty for rules that
                predict a number, which is the sum itself
    intercept   list of numbers: one with two classes or none, else one per class
    n_rows      training rows that support refers to, or null
    edited      true where somebody changed the rules by hand; may be left out
    about       where the rules come from, may be left out: title, checked (what was run to check this file),
                scores, settings and card (what is needed to repeat the run), each names and texts
    rules       list, heaviest first, of
        if          list of conditions that must all hold; each has "feature" and one kind of test:
                        lower (exclusive) and upper (inclusive), numbers, null where open     numeric
                        is                 a category                                         boolean, nominal
                        is_any_of          levels allowed, in order                           ordinal
                        is_none_of         categories; a category never seen is none of them  nominal
                        is_known: true     a value is there                                   all kinds
                    no condition holds for a missing value; in a boolean or ordinal feature a value that is
                    not among its categories counts as missing
        weights     list of numbers, as many as in intercept
        class       the class it speaks for, in words; "higher" or "lower" without classes
        text        the rule in words
        literals    number of bounds
        support     share of training rows it covers, or null
        precision   share of those that are of its class, or null
        covered     training rows it covers of each class; empty if not known
        source      [machine, clause] or null

A category is compared as text: whole numbers without ".0", booleans as "True" and "False".
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmcore.conditions import Condition, RuleColumn
from tmcore.export.about import NOTHING, About
from tmcore.number_rules import NumberRules
from tmcore.rule import Rule, Weight, as_tuple
from tmcore.ruleset import RuleSet

FORMAT = "tsetlin-rules"
VERSION = 1
TYPES: dict[str, type] = {"boolean": bool, "integer": int, "number": float, "string": str}

DECIDE_TWO = (
    "Start at the intercept and add the weight of every rule that holds. "
    "0 or more: the second class; less than 0: the first class."
)
DECIDE_NUMBER = (
    "Start at the intercept and add the weight of every rule that holds. The sum is the predicted number."
)
DECIDE_MANY = (
    "Start at the intercept and add the weights of every rule that holds, class by class. "
    "The class with the largest sum; of equal sums, the first class."
)


def to_json(rules: RuleSet, about: About = NOTHING) -> bytes:
    """Return `rules` as the bytes of a JSON file."""
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "decision": _decision(rules),
        "by_name": rules.by_name,
        "features": [
            {
                "name": column.name,
                "label": column.label,
                "unit": column.unit,
                "kind": column.kind,
                "categories": list(column.categories),
            }
            for column in rules.columns
        ],
        "classes": [_typed(label) for label in rules.classes.tolist()],
        "intercept": list(as_tuple(rules.intercept)),
        "n_rows": rules.n_rows,
        "edited": rules.edited,
        "rules": [_rule(rules, rule) for rule in rules],
    }
    if about is not NOTHING:
        document["about"] = {
            "title": about.title,
            "checked": about.proof,
            **{name: dict(getattr(about, name)) for name in ("scores", "settings", "card")},
        }
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False, default=_plain)
    # A lone surrogate from a broken file becomes its JSON escape.
    return text.encode("utf-8", errors="backslashreplace")


def _decision(rules: RuleSet) -> str:
    if not len(rules.classes):
        return DECIDE_NUMBER
    return DECIDE_TWO if isinstance(rules.intercept, float) else DECIDE_MANY


def _plain(value: object) -> object:
    """Return a NumPy scalar as the Python number it holds."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _typed(label: object) -> dict[str, Any]:
    plain = label.item() if isinstance(label, np.generic) else label
    for name, kind in TYPES.items():
        if isinstance(plain, kind):
            return {"type": name, "value": plain}
    return {"type": "string", "value": str(plain)}


def _rule(rules: RuleSet, rule: Rule) -> dict[str, Any]:
    return {
        "if": [_condition(condition) for condition in rule.conditions],
        "weights": list(as_tuple(rule.weights)),
        "class": rules.class_text(rule),
        "text": rules.sentence(rule),
        "literals": rule.n_literals,
        "support": rule.support,
        "precision": rule.precision,
        "covered": list(rule.covered),
        "source": None if rule.source is None else list(rule.source),
    }


def _condition(condition: Condition) -> dict[str, Any]:
    test: dict[str, Any]
    if condition.known:
        test = {"is_known": True}
    elif condition.kind == "numeric":
        test = {"lower": condition.lower, "upper": condition.upper}
    elif condition.kind == "ordinal":
        test = {"is_any_of": list(condition.levels)}
    elif condition.not_in:
        test = {"is_none_of": list(condition.not_in)}
    else:
        test = {"is": condition.value if condition.kind == "boolean" else condition.is_in}
    return {"feature": condition.column, **test}


def read_json(data: bytes | str) -> RuleSet:
    """Read back what `to_json` wrote.

    Raises
    ------
    ValueError
        If `data` is not a rule file of this version, or is damaged.
    """
    try:
        document = json.loads(data)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"This is not a JSON file ({error}).") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f'This is not a rule file: it does not say "format": "{FORMAT}".')
    if document.get("version") != VERSION:
        raise ValueError(f"This rule file has version {document.get('version')}; only {VERSION} can be read.")
    try:
        return _read(document)
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"This rule file is damaged ({type(error).__name__}: {error}).") from error


def _read(document: dict[str, Any]) -> RuleSet:
    columns = tuple(
        RuleColumn(item["name"], item["label"], item["unit"], item["kind"], tuple(item["categories"]))
        for item in document["features"]
    )
    by_name = {column.name: column for column in columns}
    intercept = _read_weight(document["intercept"])
    n_classes = len(document["classes"])
    if len(as_tuple(intercept)) != (n_classes if n_classes > 2 else 1):
        raise ValueError("the intercept does not fit the classes")
    rules = []
    for item in document["rules"]:
        weights = _read_weight(item["weights"])
        if len(as_tuple(weights)) != len(as_tuple(intercept)):
            raise ValueError("a rule has more or fewer weights than the intercept")
        rules.append(
            Rule(
                conditions=tuple(_read_condition(condition, by_name) for condition in item["if"]),
                weights=weights,
                support=item["support"],
                precision=item["precision"],
                covered=tuple(item["covered"]),
                source=None if item["source"] is None else (item["source"][0], item["source"][1]),
            )
        )
    return (RuleSet if n_classes else NumberRules)(
        classes=_read_classes(document["classes"]),
        intercept=intercept,
        rules=tuple(rules),
        columns=columns,
        n_rows=document["n_rows"],
        by_name=bool(document["by_name"]),
        edited=bool(document.get("edited", False)),
    )


def _read_weight(numbers: list[float]) -> Weight:
    values = tuple(float(number) for number in numbers)
    return values[0] if len(values) == 1 else values


def _read_classes(items: list[dict[str, Any]]) -> NDArray[Any]:
    values = [TYPES[item["type"]](item["value"]) for item in items]
    if len({item["type"] for item in items}) == 1:
        return np.array(values)
    classes = np.empty(len(values), dtype=object)
    classes[:] = values
    return classes


def _read_condition(item: dict[str, Any], columns: dict[str, RuleColumn]) -> Condition:
    column = columns[item["feature"]]
    test: dict[str, Any]
    if "is_known" in item:
        test = {"known": True}
    elif column.kind == "numeric":
        test = {side: None if item[side] is None else float(item[side]) for side in ("lower", "upper")}
    elif column.kind == "ordinal":
        test = {"levels": tuple(item["is_any_of"])}
    elif "is_none_of" in item:
        test = {"not_in": tuple(item["is_none_of"])}
    else:
        test = {"value" if column.kind == "boolean" else "is_in": item["is"]}
    if column.kind in ("boolean", "ordinal"):
        test["all_levels"] = column.categories
    return Condition(column.name, column.label, column.kind, unit=column.unit, **test)
