"""The picture of two columns: its shades are the rules' votes, its points the training rows."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard.rule_list.outcomes import outcomes_of
from dashboard.value_view.plane import MOST_POINTS, plane
from tmcore.conditions import Condition, RuleColumn
from tmcore.rule import Rule
from tmcore.rules import RuleSet
from tmcore.value_map import PairMap, pair_map

AGE = RuleColumn("age (years)", "age", "years", "numeric", ())
BEANS = RuleColumn("beans", "beans", None, "nominal", ("black", "red", "<b>white"))
LEVELS = ("low", "mid", "high")
DOSE = RuleColumn("dose", "dose", None, "ordinal", LEVELS)


def old(lower: float) -> Condition:
    return Condition(AGE.name, "age", "numeric", "years", lower=lower)


def is_not(name: str) -> Condition:
    return Condition("beans", "beans", "nominal", not_in=(name,))


@pytest.fixture
def rows() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(5)
    X = pd.DataFrame({AGE.name: rng.uniform(0, 100, 1000), "beans": rng.choice(BEANS.categories, 1000)})
    X["dose"] = pd.Categorical(rng.choice(LEVELS, 1000), LEVELS, ordered=True)
    X.loc[:99, AGE.name] = np.nan
    return X, pd.Series(rng.choice(["a", "b", "c"], 1000))


def drawn(
    rules: RuleSet, pair: PairMap, output: int, X: pd.DataFrame, y: pd.Series, unit: str
) -> dict[str, Any]:
    outcomes = outcomes_of(rules.classes, y)
    return plane(pair, output, X, pd.Series(outcomes.groups(y)), outcomes, unit)


def value_at(picture: dict[str, Any], x: float, y: float) -> tuple[str, str]:
    """The text and the colour of the part that a place lies in; parts do not overlap."""
    (part,) = [
        one
        for one in picture["parts"]
        if one["box"][0] <= x < one["box"][2] and one["box"][1] <= y < one["box"][3]
    ]
    return part["text"], part["hue"]


def test_shades_are_the_votes_of_the_rules_at_every_row(rows: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = rows[0].iloc[100:], rows[1].iloc[100:].replace("c", "b")
    kept = (Rule((old(50.0),), 1.0), Rule((is_not("red"), old(20.0)), -2.5), Rule((is_not("black"),), 0.25))
    rules = RuleSet(np.array(["a", "b"]), 0.5, kept, (AGE, BEANS))
    picture = drawn(rules, pair_map(rules, AGE.name, "beans"), 0, X, y, "log-odds")
    json.dumps(picture, allow_nan=False)
    votes = rules.votes(X)[:, 0] - 0.5
    low, high = X[AGE.name].min(), X[AGE.name].max()
    for place in range(0, len(X), 37):
        x = (X[AGE.name].iloc[place] - low) / (high - low)
        slot = (BEANS.categories.index(X["beans"].iloc[place]) + 0.5) / 3
        text, hue = value_at(picture, min(x, 0.999999), slot)
        assert float(text.replace("−", "-")) == votes[place]
        assert not votes[place] or hue == ("c1" if votes[place] > 0 else "c0")
    assert (picture["x"]["title"], picture["y"]["title"]) == ("age, years", "beans")
    assert [tick["text"] for tick in picture["y"]["ticks"]] == list(BEANS.categories)
    assert picture["scale"] == {
        "ends": ["−2.50", "+2.50"], "hues": ["c0", "c1"], "words": ["a", "b"], "marks": ["●", "▲"], "unit": "log-odds",
    }  # fmt: skip


def test_points_are_the_rows_where_they_belong(rows: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = rows
    kept = (Rule((old(50.0),), (0.0, 1.0, 0.0)), Rule((is_not("red"),), (0.0, 0.0, 1.0)))
    rules = RuleSet(np.array(["a", "b", "c"]), (0.0, 0.0, 0.0), kept, (AGE, BEANS))
    picture = drawn(rules, pair_map(rules, AGE.name, "beans"), 2, X, y, "votes")
    known = X[X[AGE.name].notna()]
    assert (picture["shown"], picture["known"]) == (MOST_POINTS, len(known))
    places = np.linspace(0, len(known) - 1, MOST_POINTS).astype(int)
    span = known[AGE.name].max() - known[AGE.name].min()
    for (x, up, index), place in zip(picture["points"], places, strict=True):
        row = known.iloc[place]
        assert x == pytest.approx((row[AGE.name] - known[AGE.name].min()) / span, abs=1e-4)
        assert BEANS.categories[int(up * 3)] == row["beans"]
        assert ["a", "b", "c"][index] == y[known.index].iloc[place]
    assert {(one["text"], one["hue"]) for one in picture["parts"]} == {("+1.00", "for"), ("0", "against")}
    assert picture["scale"]["words"] == ["against c", "for c"]


def test_levels_stand_in_their_order_and_equal_neighbours_are_one_part(
    rows: tuple[pd.DataFrame, pd.Series],
) -> None:
    X, y = rows[0], rows[1].replace("c", "b")
    high = Condition("dose", "dose", "ordinal", levels=("high",), all_levels=LEVELS)
    rules = RuleSet(
        np.array(["a", "b"]), 0.0, (Rule((high,), -1.0), Rule((is_not("red"), high), 3.0)), (DOSE, BEANS)
    )
    picture = drawn(rules, pair_map(rules, "dose", "beans"), 0, X, y, "votes")
    assert [tick["text"] for tick in picture["x"]["ticks"]] == list(LEVELS)
    found = [([round(place, 3) for place in one["box"]], one["text"]) for one in picture["parts"]]
    boxes = {(left, bottom): (right, text) for (left, bottom, right, _), text in found}
    assert boxes == {
        (0.0, 0.0): (0.667, "0"), (0.667, 0.0): (1.0, "+2.00"),
        (0.0, 0.333): (0.667, "0"), (0.667, 0.333): (1.0, "−1.00"),
        (0.0, 0.667): (0.667, "0"), (0.667, 0.667): (1.0, "+2.00"),
    }  # fmt: skip
