"""Rules as one Python module without dependencies: ``votes(row)`` and ``predict(row)`` for a row as a dict."""

from __future__ import annotations

from tmcore.conditions import Condition, visible
from tmcore.export.about import NOTHING, About, header
from tmcore.export.asked import allowed_values, used_columns
from tmcore.export.labels import plain_labels
from tmcore.rule import Rule, as_tuple
from tmcore.ruleset import RuleSet

_MODULE = '''\
{header}
"""Rules that predict {what}. A row is a dict from column name to value; None and NaN are missing."""

from numbers import Real
{answer}


def votes(row):
    """{meaning}"""
{values}
{start}
{rules}
    return total


def _missing(value):
    try:
        return value is None or bool(value != value)  # NaN differs from itself
    except TypeError:  # pandas.NA
        return True


def _number(value):
    """A float, NaN where missing; every comparison with NaN is false."""
    if _missing(value):
        return float("nan")
    if isinstance(value, str):
        raise ValueError(f"A number is needed, not the text {{value!r}}.")
    return float(value)


def _category(value):
    """A category's name: whole numbers without ".0", booleans as "True" and "False"; None where missing."""
    if _missing(value):
        return None
    if isinstance(value, Real) and not isinstance(value, bool) and value == value // 1:
        return str(int(value))
    return str(value)
'''
_CLASS = '''
CLASSES = {classes}


def predict(row):
    """The class of a row, one of CLASSES."""
{decision}'''
_NUMBER = '''

def predict(row):
    """The predicted number of a row."""
    return votes(row)'''
_SUM = "The intercept plus the weight of every rule that holds."
_ONE_SUM = "The intercept plus the weight of every rule that holds: 0 or more speaks for CLASSES[1]."
_MANY_SUMS = "One sum for each of CLASSES: its intercept plus the weights of the rules that hold."


def to_python(rules: RuleSet, about: About = NOTHING) -> bytes:
    """Return `rules` as the bytes of a Python module.

    Texts of the data stand in it as string literals and, made visible, on lines of comments.
    """
    start, kinds = as_tuple(rules.intercept), used_columns(rules)
    names = {column: f"x{number}" for number, column in enumerate(kinds, start=1)}
    readers, n_classes = {"numeric": "_number"}, len(rules.classes)
    text = _MODULE.format(
        header="\n".join(f"# {line}" for line in header(rules, about)),
        what="a class" if n_classes else "a number",
        answer=_CLASS.format(classes=repr(plain_labels(rules)), decision=_decision(rules))
        if n_classes
        else _NUMBER,
        meaning=_SUM if not n_classes else _ONE_SUM if len(start) == 1 else _MANY_SUMS,
        values="\n".join(
            f"    {name} = {readers.get(kinds[column], '_category')}(row[{column!r}])"
            for column, name in names.items()
        ),
        start=f"    total = {start[0]!r}" if len(start) == 1 else f"    total = {list(start)!r}",
        rules="\n".join(_rule(rules, number, rule, names) for number, rule in enumerate(rules, start=1)),
    )
    return text.encode()


def _decision(rules: RuleSet) -> str:
    if len(rules.classes) == 1:
        return "    return CLASSES[0]"
    if isinstance(rules.intercept, float):
        return "    return CLASSES[1] if votes(row) >= 0 else CLASSES[0]"
    return "    sums = votes(row)\n    return CLASSES[sums.index(max(sums))]  # of equal sums, the first"


def _rule(rules: RuleSet, number: int, rule: Rule, names: dict[str, str]) -> str:
    tests = [_test(condition, names[condition.column]) for condition in rule.conditions]
    lines = [f"    # {number}. {visible(rules.sentence(rule))}", f"    if {' and '.join(tests) or 'True'}:"]
    if isinstance(rule.weights, float):
        lines.append(f"        total += {rule.weights!r}")
    else:
        lines += [f"        total[{k}] += {weight!r}" for k, weight in enumerate(rule.weights)]
    return "\n".join(lines)


def _test(condition: Condition, name: str) -> str:
    """Return a test that is false where `name` is missing: NaN, or None for a category."""
    if condition.kind == "numeric":
        if condition.known:
            return f"{name} == {name}"
        if condition.upper is None:
            return f"{name} > {condition.lower!r}"
        lower = "" if condition.lower is None else f"{condition.lower!r} < "
        return f"{lower}{name} <= {condition.upper!r}"
    if len(condition.not_in) == 1:
        return f"{name} is not None and {name} != {condition.not_in[0]!r}"
    if condition.not_in:
        return f"{name} is not None and {name} not in {condition.not_in!r}"
    allowed = allowed_values(condition)
    if allowed is None:
        return f"{name} is not None"
    return f"{name} == {allowed[0]!r}" if len(allowed) == 1 else f"{name} in {allowed!r}"
