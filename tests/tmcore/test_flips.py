"""The smallest flip is the one an exhaustive search over all training values finds."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tmcore.conditions import Condition, RuleColumn
from tmcore.explain import (
    Domain,
    Value,
    as_row,
    domains,
    explain_values,
    nearest_missed,
    row_values,
    wrong_rows,
)
from tmcore.flips import find_flips
from tmcore.rule import Rule
from tmcore.rules import RuleSet

UNIT = 2.0**-16
LEVELS = ("low", "mid", "high")
COLUMNS = {
    "x": RuleColumn("x", "x", None, "numeric", ()),
    "z": RuleColumn("z", "z", None, "numeric", ()),
    "part": RuleColumn("part", "part", None, "nominal", ("a", "b", "c")),
    "level": RuleColumn("level", "level", None, "ordinal", LEVELS),
    "sex": RuleColumn("sex", "sex", None, "boolean", ("f", "m")),
}
NUMBERS = {"x": [0.0, 1.0, 2.0, 3.5, 5.0, 8.0], "z": [-2.0, -1.0, 0.5, 4.0]}
FRAME = pd.DataFrame(
    {
        "x": [*NUMBERS["x"], 2.0],
        "z": [*NUMBERS["z"], 0.5, 0.5, np.nan],
        "part": ["a", "b", "c", "a", "a", "b", None],
        "level": pd.Categorical([*LEVELS, *LEVELS, "low"], categories=LEVELS, ordered=True),
        "sex": ["f", "m", "f", "m", "f", "f", "f"],
    }
)


def numeric(name: str, lower: float | None, upper: float | None) -> Condition:
    return Condition(name, name, "numeric", lower=lower, upper=upper)


CONDITIONS: dict[str, list[Condition]] = {
    name: [
        *(numeric(name, c, None) for c in cuts),
        *(numeric(name, None, c) for c in cuts),
        *(numeric(name, a, b) for a, b in itertools.combinations(cuts, 2)),
    ]
    for name, cuts in (("x", (0.0, 1.5, 3.0, 6.0)), ("z", (-1.5, 0.0, 1.0)))
} | {
    "part": [
        *(Condition("part", "part", "nominal", is_in=p) for p in "abc"),
        Condition("part", "part", "nominal", not_in=("a", "b")),
        Condition("part", "part", "nominal", not_in=("c",)),
    ],
    "level": [
        Condition("level", "level", "ordinal", levels=LEVELS[a:b], all_levels=LEVELS)
        for a, b in ((0, 1), (0, 2), (1, 2), (1, 3))
    ],
    "sex": [Condition("sex", "sex", "boolean", value=s, all_levels=("f", "m")) for s in "fm"],
}


def random_rules(rng: np.random.Generator, n_rules: int, n_classes: int) -> RuleSet:
    rules = []
    for _ in range(n_rules):
        used = [name for name in CONDITIONS if rng.random() < 0.4] or ["x"]
        conditions = tuple(CONDITIONS[name][rng.integers(len(CONDITIONS[name]))] for name in used)
        weights = (rng.integers(-3, 4, size=1 if n_classes == 2 else n_classes) * UNIT).tolist()
        rules.append(Rule(conditions, weights[0] if n_classes == 2 else tuple(weights)))
    start = (rng.integers(-3, 4, size=1 if n_classes == 2 else n_classes) * UNIT).tolist()
    intercept = start[0] if n_classes == 2 else tuple(start)
    return RuleSet(np.array(list("pqr")[:n_classes]), intercept, tuple(rules), tuple(COLUMNS.values()))


def levels_moved(name: str, before: Value, after: Value) -> int:
    """Places between the two among the training values."""
    scale: Any = NUMBERS.get(name, LEVELS if name == "level" else None)
    if before is None or scale is None:
        return 1
    return abs(scale.index(before) - scale.index(after))


def every_flip(rules: RuleSet, values: dict[str, Value], locked: set[str]) -> dict[frozenset[str], int]:
    """For every set of columns that flips the class, the fewest levels, by trying all training values."""
    names = list(values)
    pools: list[list[Value]] = []
    for name in names:
        own: list[Any] = NUMBERS.get(name) or list(COLUMNS[name].categories)
        pools.append([values[name]] if name in locked else list(dict.fromkeys([values[name], *own])))
    rows = list(itertools.product(*pools))
    frame = pd.DataFrame(rows, columns=names).astype({name: float for name in names if name in NUMBERS})
    predicted = rules.predict(frame)
    before = rules.predict(as_row(rules, values))[0] if rules.rules else predicted[0]
    found: dict[frozenset[str], int] = {}
    for row, label in zip(rows, predicted, strict=True):
        if label != before:
            changed = [k for k, name in enumerate(names) if row[k] != values[name]]
            key = frozenset(names[k] for k in changed)
            cost = sum(levels_moved(names[k], values[names[k]], row[k]) for k in changed)
            found[key] = min(cost, found.get(key, 99))
    return found


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_classes=st.sampled_from([2, 3]),
    n_rules=st.integers(1, 9),
    place=st.integers(0, 6),
    locked=st.sets(st.sampled_from(sorted(COLUMNS)), max_size=2),
)
def test_smallest_flip_is_that_of_an_exhaustive_search(
    seed: int, n_classes: int, n_rules: int, place: int, locked: set[str]
) -> None:
    rules = random_rules(np.random.default_rng(seed), n_rules, n_classes)
    values = row_values(rules, FRAME, place)
    search = find_flips(rules, values, domains(rules, FRAME), locked, at_most=99, max_columns=5, seconds=60)
    every = every_flip(rules, values, locked)
    minimal = {key: cost for key, cost in every.items() if not any(other < key for other in every)}
    got = {frozenset(c.column for c in flip.changes): flip.levels for flip in search.flips}
    assert got == minimal
    assert search.in_time
    sizes = [(len(flip.changes), flip.levels) for flip in search.flips]
    assert sizes == sorted(sizes)
    for flip in search.flips:
        changed = as_row(rules, values | {c.column: c.after for c in flip.changes})
        assert rules.predict(changed)[0] == flip.predicted != rules.predict(as_row(rules, values))[0]
        assert np.atleast_1d(rules.votes(changed)[0]).tolist() == np.atleast_1d(flip.votes).tolist()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_explaining_values_is_explaining_the_raw_row(n_classes: int) -> None:
    rules = random_rules(np.random.default_rng(5), 20, n_classes)
    for place in range(len(FRAME)):
        assert explain_values(rules, row_values(rules, FRAME, place)) == rules.explain(FRAME.iloc[[place]])
    strange: dict[str, Value] = {"x": 9e9, "z": None, "part": "zebra", "level": "zebra", "sex": None}
    assert explain_values(rules, strange) == rules.explain(as_row(rules, strange))


def two_step() -> RuleSet:
    """Votes below 0 until both x > 3 and part is b."""
    both = Rule((numeric("x", 3.0, None), Condition("part", "part", "nominal", is_in="b")), 2.0)
    return RuleSet(np.array(["p", "q"]), -1.0, (both,), (COLUMNS["x"], COLUMNS["part"]))


def test_words_of_a_search() -> None:
    rules = two_step()
    known = domains(rules, FRAME)
    row: dict[str, Value] = {"x": 1.0, "part": "a"}
    search = find_flips(rules, row, known)
    (flip,) = search.flips
    changes = [(c.column, c.before, c.after, c.levels) for c in flip.changes]
    assert changes == [
        ("x", 1.0, 3.5, 2),
        ("part", "a", "b", 1),
    ]
    assert (flip.predicted, flip.votes, flip.levels, search.proven) == ("q", 1.0, 3, True)
    assert search.text == "Two changes would flip it"
    assert find_flips(rules, row, known, max_columns=1).text == "None found within one column"
    assert find_flips(rules, row, known, locked=["x"]).text == "No change of these columns flips it"
    assert find_flips(rules, row, known, locked=["x", "part"]).text == "No column is free to change"
    late = find_flips(rules, row, known, seconds=-1.0)
    assert (late.in_time, late.searched, late.proven) == (False, 0, False)


def test_stays_within_the_training_range() -> None:
    rules = RuleSet(np.array(["p", "q"]), -1.0, (Rule((numeric("x", 8.0, None),), 2.0),), (COLUMNS["x"],))
    assert find_flips(rules, {"x": 1.0}, domains(rules, FRAME)).flips == ()


def test_domains_check_values_and_count_levels() -> None:
    known = domains(random_rules(np.random.default_rng(0), 60, 2), FRAME)
    assert known["z"] == Domain(COLUMNS["z"], tuple(NUMBERS["z"]), (), True)
    assert (known["part"].names, known["part"].has_gaps, known["x"].has_gaps) == (
        ("a", "b", "c"),
        True,
        False,
    )
    assert known["x"].check(2) == 2.0
    assert known["x"].check(None) is None
    assert known["sex"].check("m") == "m"
    with pytest.raises(ValueError, match="stay in its range"):
        known["x"].check(9)
    with pytest.raises(ValueError, match="has no category 'd'"):
        known["part"].check("d")
    # from 1.2, between levels, up to 3.5: 2 and 3.5; down to 0: 1 and 0
    assert (known["x"].steps(1.2, 3.5), known["x"].steps(1.2, 0.0), known["x"].steps(1.2, 1.2)) == (2, 2, 0)
    assert (
        known["x"].steps(None, 8.0),
        known["level"].steps("low", "high"),
        known["part"].steps("a", "c"),
    ) == (1, 2, 1)


def test_nearest_missed_and_wrong_rows() -> None:
    heavy = Rule((numeric("x", 3.0, None), Condition("part", "part", "nominal", is_in="b")), 2.0)
    light = Rule((numeric("x", 3.0, None),), 0.5)
    held = Rule((numeric("x", None, 3.0),), 1.0)
    rules = RuleSet(np.array(["p", "q"]), -1.0, (heavy, held, light), (COLUMNS["x"], COLUMNS["part"]))
    missed = nearest_missed(rules, {"x": 1.0, "part": "a"}, 5)
    assert [(one.number, len(one.failed)) for one in missed] == [(3, 1), (1, 2)]
    # votes: x ≤ 3 gives 0, so q; above, part b gives 1.5, else -0.5
    X = pd.DataFrame({"x": [1.0, 5.0, 5.0], "part": ["a", "b", "a"]})
    assert wrong_rows(rules, X, pd.Series(["q", "p", "q"])).tolist() == [1, 2]


def test_a_search_that_runs_out_of_time_says_how_far_it_came() -> None:
    rng = np.random.default_rng(1)
    columns = tuple(RuleColumn(f"c{k}", f"c{k}", None, "numeric", ()) for k in range(30))
    frame = pd.DataFrame(rng.integers(0, 40, size=(300, 30)).astype(float), columns=[c.name for c in columns])
    rules = []
    for _ in range(500):
        used = rng.choice(30, size=3, replace=False)
        conditions = tuple(numeric(f"c{k}", float(rng.integers(0, 39)), None) for k in used)
        rules.append(Rule(conditions, float(rng.integers(-9, 10))))
    model = RuleSet(np.array(["p", "q"]), 400.0, tuple(rules), columns)
    values = row_values(model, frame, 0)
    known = domains(model, frame)
    search = find_flips(model, values, known, seconds=0.0)
    assert not search.in_time
    assert "when time ended" in search.text
