"""What the list of compared rules is sent: bounds laid over each other, and how often rules come back."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from dashboard.compare_view.payload import ComparePainter
from tmcore.compare import difference, recurring
from tmcore.conditions import Condition, RuleColumn
from tmcore.number_rules import NumberRules
from tmcore.rule import Rule
from tmcore.ruleset import RuleSet
from tmcore.uncertainty import share_interval

HOSTILE = "<b>large :red[x]"
SIZE = RuleColumn("size_mm", "size", "mm", "numeric", ())
TOWN = RuleColumn(HOSTILE, HOSTILE, None, "nominal", ("a", "b"))


def above(cut: float) -> Condition:
    return Condition("size_mm", "size", "numeric", "mm", lower=cut)


def rules(*listed: Rule) -> RuleSet:
    return RuleSet(np.array(["ill", "well"]), 0.0, listed, (SIZE, TOWN))


def test_moved_bounds_are_laid_over_each_other() -> None:
    town = Rule((Condition(HOSTILE, HOSTILE, "nominal", is_in="a"),), 2.0)
    first, second = (
        rules(Rule((above(10),), 1.0), town),
        rules(Rule((above(20),), 0.5), Rule((above(5),), -1.0)),
    )
    X = pd.DataFrame({"size_mm": np.arange(41.0), HOSTILE: ["a", "b"] * 20 + ["a"]})
    painter = ComparePainter(first, X, pd.Series(["ill"] * 20 + ["well"] * 21))
    groups = json.loads(json.dumps(painter.difference(second, difference(first, second)), allow_nan=False))
    assert [group["title"].replace("\u00a0", " ") for group in groups] == [
        "Moved a bound: 1 rule",
        "Only in this run: 1 rule",
        "Only in the other: 1 rule",
    ]
    moved = groups[0]["rows"][0]
    assert moved["conditions"][0]["glyph"]["from"] == 0.25
    assert moved["conditions"][0]["other"] == {"places": [0.5], "words": "20"}
    assert [weight["text"] for weight in moved["weights"]] == ["+1.00", "+0.50"]
    assert [weight["share"] for weight in moved["weights"]] == [0.5, 0.25]
    assert groups[1]["rows"][0]["conditions"][0]["parts"][0] == ["feature", HOSTILE]
    assert groups[1]["rows"][0]["weights"][1] is None
    assert [len(group["rows"]) for group in painter.difference(second, difference(first, second), 0)] == [
        0,
        0,
        0,
    ]
    assert (groups[2]["rows"][0]["outcome"], groups[2]["rows"][0]["weights"][0]) == ("ill", None)


def test_stability_rows_say_how_often_and_where() -> None:
    own = rules(Rule((above(10),), 1.0))
    found = recurring(own, [rules(Rule((above(8),), 1.0)), rules(Rule((above(12),), 1.0)), rules(), rules()])
    X = pd.DataFrame({"size_mm": np.arange(41.0), HOSTILE: "a"})
    (group,) = ComparePainter(own, X, pd.Series(["ill", "well"] * 20 + ["ill"])).stability(found, found.rules)
    (row,) = group["rows"]
    assert (row["back"]["share"], row["back"]["text"]) == (0.5, "2 of 4")
    assert (row["back"]["low"], row["back"]["high"]) == share_interval(2, 4)
    assert row["note"] == "bounds: size from 8 to 12"


def test_rules_of_numbers_say_which_way_they_move_it() -> None:
    def numbers(*listed: Rule) -> NumberRules:
        return NumberRules(np.array([]), 100.0, listed, (SIZE,))

    first, second = numbers(Rule((above(10),), 12.25)), numbers(Rule((above(20),), 3.0))
    X, y = pd.DataFrame({"size_mm": np.arange(41.0)}), pd.Series(np.arange(41.0), name="price (EUR)")
    (group,) = ComparePainter(first, X, y).difference(second, difference(first, second))
    (row,) = group["rows"]
    assert row["outcome"] == "higher price"
    assert [weight["text"] for weight in row["weights"]] == ["+12.2", "+3.00"]
    assert row["conditions"][0]["other"]["words"] == "20"
