"""Rules as PMML 4.4 for scoring engines.

Every rule is a DerivedField of 1 and 0 (0 where a value it asks for is missing); the votes of a class are
DerivedFields too, and can be read as outputs. A RegressionModel has one RegressionTable a class. Tables stand
in the order that decides ties: with two classes the second one first, because it wins at 0 votes. Rules that predict
a number make a RegressionModel for regression, whose one table is the sum of the votes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree

from tmcore.conditions import Condition
from tmcore.export.about import DISTRIBUTION, NOTHING, About, header
from tmcore.export.asked import allowed_values, used_columns
from tmcore.export.labels import Label, plain_labels
from tmcore.rule import as_tuple
from tmcore.ruleset import RuleSet

NAMESPACE = "http://www.dmg.org/PMML-4_4"
MOST_VOTES = 512.0
"""Softmax overflows a little above: larger sums are scaled by a power of two, which keeps their order."""

_TYPES: dict[type, tuple[str, str]] = {
    bool: ("categorical", "boolean"),
    int: ("categorical", "integer"),
    float: ("categorical", "double"),
    str: ("categorical", "string"),
}
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Element = ElementTree.Element


def to_pmml(rules: RuleSet, about: About = NOTHING) -> bytes:
    """Return `rules` as the bytes of a PMML file.

    Raises
    ------
    ValueError
        A column, category or class has a character that XML cannot hold.
    """
    names = _Names(rules)
    root = Element("PMML", {"xmlns": NAMESPACE, "version": "4.4"})
    _header(root, rules, about)
    _dictionary(root, rules, names)
    _model(root, rules, names)
    _check_characters(root)
    ElementTree.indent(root, " ")
    text = ElementTree.tostring(root, encoding="unicode").replace("\r", "&#13;")
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + text.encode() + b"\n"


class _Names:
    """Names of the fields the file adds, none of them a column of the data."""

    def __init__(self, rules: RuleSet) -> None:
        taken = {column.name for column in rules.columns} | set(used_columns(rules))
        sums = [f"votes {k}" for k in range(1, len(as_tuple(rules.intercept)) + 1)]
        answer = "class" if len(rules.classes) else "number"
        own = [answer, f"predicted {answer}", *(f"rule {n}" for n in range(1, len(rules) + 1)), *sums]
        own += [f"predicted {name}" for name in sums]
        ending = ""
        while not taken.isdisjoint(name + ending for name in own):
            ending += "'"
        self.target, self.predicted = f"{answer}{ending}", f"predicted {answer}{ending}"
        self.rules = [f"rule {n}{ending}" for n in range(1, len(rules) + 1)]
        self.votes = [name + ending for name in sums]
        self.outputs = [f"predicted {name}{ending}" for name in sums]


def _add(parent: Element, tag: str, **attributes: str) -> Element:
    return ElementTree.SubElement(parent, tag, attributes)


def _header(root: Element, rules: RuleSet, about: About) -> None:
    first, *more = header(rules, about)
    top = _add(root, "Header", description=first)
    for line in more:
        _add(top, "Extension", extender=DISTRIBUTION, name="about", value=line)
    _add(top, "Application", name=DISTRIBUTION)


def _dictionary(root: Element, rules: RuleSet, names: _Names) -> None:
    used = used_columns(rules)
    fields = _add(root, "DataDictionary", numberOfFields=str(len(used) + 1))
    for column, kind in used.items():
        if kind == "numeric":
            _add(fields, "DataField", name=column, optype="continuous", dataType="double")
        else:  # without a list of values, so that a category never seen is valid
            _add(fields, "DataField", name=column, optype="categorical", dataType="string")
    optype, data_type = _target_type(rules)
    target = _add(fields, "DataField", name=names.target, optype=optype, dataType=data_type)
    for label in plain_labels(rules):
        _add(target, "Value", value=_label(label))


def _target_type(rules: RuleSet) -> tuple[str, str]:
    """The optype and dataType of what is predicted."""
    return _TYPES[type(plain_labels(rules)[0])] if len(rules.classes) else ("continuous", "double")


def _model(root: Element, rules: RuleSet, names: _Names) -> None:
    two = isinstance(rules.intercept, float)
    model = _add(
        root,
        "RegressionModel",
        modelName="Tsetlin machine rules",
        functionName="classification" if len(rules.classes) else "regression",
        normalizationMethod="none" if not len(rules.classes) else "logit" if two else "softmax",
    )
    schema = _add(model, "MiningSchema")
    _add(schema, "MiningField", name=names.target, usageType="target")
    for column in used_columns(rules):
        _add(schema, "MiningField", name=column, missingValueTreatment="asIs", invalidValueTreatment="asIs")
    output = _add(model, "Output")
    optype, data_type = _target_type(rules)
    _add(
        output,
        "OutputField",
        name=names.predicted,
        optype=optype,
        dataType=data_type,
        feature="predictedValue",
    )
    for name, votes in zip(names.outputs, names.votes, strict=True):
        field = _add(
            output,
            "OutputField",
            name=name,
            optype="continuous",
            dataType="double",
            feature="transformedValue",
        )
        _add(field, "FieldRef", field=votes)
    transformations = _add(model, "LocalTransformations")
    _rules(transformations, rules, names)
    _votes(transformations, rules, names)
    _tables(model, rules, names, two)


def _rules(parent: Element, rules: RuleSet, names: _Names) -> None:
    for name, rule in zip(names.rules, rules, strict=True):
        field = _derived(parent, name, rules.sentence(rule))
        held = _add(field, "Apply", function="if")
        tests = [test for condition in rule.conditions for test in _tests(condition)]
        if not tests:
            tests = [_apply("equal", _constant(1.0), _constant(1.0))]
        held.append(tests[0] if len(tests) == 1 else _apply("and", *tests))
        held.append(_constant(1.0))
        held.append(_constant(0.0))


def _votes(parent: Element, rules: RuleSet, names: _Names) -> None:
    for k, name in enumerate(names.votes):
        parts = [_constant(as_tuple(rules.intercept)[k])]
        for rule_name, rule in zip(names.rules, rules, strict=True):
            weight = as_tuple(rule.weights)[k]
            if weight:
                parts.append(_apply("*", _constant(weight), _field(rule_name)))
        _derived(parent, name, "votes").append(_apply("sum", *parts))


def _tables(model: Element, rules: RuleSet, names: _Names, two: bool) -> None:
    labels = [_label(label) for label in plain_labels(rules)]
    if not labels:
        table = _add(model, "RegressionTable", intercept="0")
        _add(table, "NumericPredictor", name=names.votes[0], coefficient="1")
        return
    if two:
        table = _add(model, "RegressionTable", intercept="0", targetCategory=labels[-1])
        _add(table, "NumericPredictor", name=names.votes[0], coefficient="1")
        for label in labels[:-1]:
            _add(model, "RegressionTable", intercept="0", targetCategory=label)
        return
    scale = repr(_scale(rules))
    for label, votes in zip(labels, names.votes, strict=True):
        table = _add(model, "RegressionTable", intercept="0", targetCategory=label)
        _add(table, "NumericPredictor", name=votes, coefficient=scale)


def _scale(rules: RuleSet) -> float:
    """Return the largest power of two, at most 1, that keeps every possible sum within `MOST_VOTES`."""
    sums = zip(*(as_tuple(weight) for weight in [rules.intercept, *(r.weights for r in rules)]), strict=True)
    most = max(sum(abs(weight) for weight in weights) for weights in sums)
    return 2.0 ** min(0, math.floor(math.log2(MOST_VOTES / most))) if most else 1.0


def _derived(parent: Element, name: str, meaning: str) -> Element:
    return _add(
        parent, "DerivedField", name=name, displayName=meaning, optype="continuous", dataType="double"
    )


def _apply(function: str, *arguments: Element, **attributes: str) -> Element:
    made = Element("Apply", {"function": function, **attributes})
    made.extend(arguments)
    return made


def _asked(function: str, *arguments: Element) -> Element:
    return _apply(function, *arguments, mapMissingTo="false")


def _field(name: str) -> Element:
    return Element("FieldRef", {"field": name})


def _constant(value: float | str) -> Element:
    made = Element("Constant", {"dataType": "string" if isinstance(value, str) else "double"})
    made.text = value if isinstance(value, str) else repr(value)
    return made


def _tests(condition: Condition) -> Iterable[Element]:
    """Return what must all be true; each is false where the value is missing."""
    name = condition.column
    if condition.kind == "numeric" and not condition.known:
        if condition.lower is not None:
            yield _asked("greaterThan", _field(name), _constant(condition.lower))
        if condition.upper is not None:
            yield _asked("lessOrEqual", _field(name), _constant(condition.upper))
        return
    if condition.not_in:
        yield _asked("isNotIn", _field(name), *(_constant(value) for value in condition.not_in))
        return
    allowed = None if condition.kind == "numeric" else allowed_values(condition)
    if allowed is None:
        yield _apply("isNotMissing", _field(name))
    elif len(allowed) == 1:
        yield _asked("equal", _field(name), _constant(allowed[0]))
    else:
        yield _asked("isIn", _field(name), *(_constant(value) for value in allowed))


def _label(label: Label) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def _check_characters(root: Element) -> None:
    texts: Iterable[Any] = (
        text for element in root.iter() for text in (element.text, *element.attrib.values())
    )
    for text in texts:
        found = _NOT_XML.search(text or "")
        if found:
            raise ValueError(
                f"PMML cannot hold the character U+{ord(found[0]):04X} in {text[:40]!r}; "
                "rename the column, category or class, or take another format."
            )
