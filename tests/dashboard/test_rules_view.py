"""The Rules page: what it counts, sorts, draws and hands out."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session
from dashboard.editing import Editing, Learned
from dashboard.jobs import Job
from dashboard.rule_list import Asking
from dashboard.rule_list.counting import Counter
from dashboard.rule_list.listing import Listed, list_rules, safe_file_name
from dashboard.rule_list.payload import Painter, backdrop
from dashboard.rule_list.reading import Reading
from dashboard.rule_list.rows import CoveredRows
from tmcore.conditions import Condition, RuleColumn
from tmcore.parameters import Parameters
from tmcore.rule import Rule
from tmcore.rules import RuleSet
from tmcore.scores import Scores
from tmcore.table import read_table

VIEW = Path(session.__file__).parent / "views" / "rules.py"
HOSTILE = "<img src=x onerror=alert(1)>"

AGE = RuleColumn("age (years)", "age", "years", "numeric", ())
THAL = RuleColumn(HOSTILE, HOSTILE, None, "nominal", ("fixed", "normal", "reversible"))
OLD = Condition(AGE.name, "age", "numeric", "years", lower=50.0)
YOUNG = Condition(AGE.name, "age", "numeric", "years", lower=20.0, upper=30.0)
NOT_FIXED = Condition(HOSTILE, HOSTILE, "nominal", not_in=("fixed",))


@pytest.fixture
def rules() -> RuleSet:
    listed = (Rule((OLD,), 1.5), Rule((YOUNG, NOT_FIXED), -2.0), Rule((NOT_FIXED,), 0.25))
    return RuleSet(np.array(["ill", "well"]), -0.5, listed, (AGE, THAL))


@pytest.fixture
def train() -> tuple[pd.DataFrame, pd.Series]:
    X = pd.DataFrame(
        {
            AGE.name: [25.0, 25.0, 40.0, 60.0, 70.0, 80.0],
            HOSTILE: ["normal", "fixed", "fixed", "normal", "reversible", "fixed"],
        }
    )
    return X, pd.Series(["ill", "well", "ill", "well", "well", "ill"])


@pytest.fixture
def unseen_rows() -> tuple[pd.DataFrame, pd.Series]:
    X = pd.DataFrame({AGE.name: [55.0, 56.0, 10.0], HOSTILE: ["fixed", "fixed", "normal"]})
    return X, pd.Series(["well", "ill", "well"])


@pytest.fixture
def counter(rules: RuleSet, train: Any, unseen_rows: Any) -> Counter:
    return Counter(rules.classes, train, unseen_rows)


def numbered(rules: RuleSet) -> dict[int, Rule]:
    return dict(enumerate(rules, start=1))


@pytest.fixture
def listed(rules: RuleSet, counter: Counter) -> tuple[Listed, ...]:
    return list_rules(rules, numbered(rules), counter)


def body_of(listed: tuple[Listed, ...], rules: RuleSet, counter: Counter) -> dict[str, Any]:
    body = json.loads(Painter(rules, *counter.train).body(listed, rules, counter).data)
    assert isinstance(body, dict)
    return body


def test_counts_by_hand_on_training_and_test_rows_apart(listed: tuple[Listed, ...]) -> None:
    old, young, not_fixed = listed
    # age > 50 speaks for "well": rows 60, 70, 80, of which two of the three well; test rows 55 and 56, one well of two
    assert (old.train.n_rows, old.covered, old.train.precision) == (3, (1, 2), pytest.approx(2 / 3))
    assert (old.train.support, old.train.lift, old.train.coverage) == pytest.approx((3 / 6, 4 / 3, 2 / 3))
    assert (old.test.n_rows, old.test.support, old.test.precision) == (2, pytest.approx(2 / 3), 0.5)
    assert (old.test.lift, old.test.coverage) == pytest.approx((0.5 / (2 / 3), 1 / 2))
    # 20 < age ≤ 30 and not fixed speaks for "ill": the first row only, and no test row
    assert (young.class_index, young.train.n_rows, young.train.precision) == (0, 1, 1.0)
    assert (young.test.n_rows, young.test.coverage) == (0, 0.0)
    assert math.isnan(young.test.precision)
    assert (not_fixed.train.n_rows, not_fixed.test.n_rows) == (3, 1)


def many_rows(seed: int, n_rows: int, classes: list[str]) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({AGE.name: rng.integers(18, 90, n_rows).astype(float)})
    X[HOSTILE] = rng.choice(["fixed", "normal", "reversible"], n_rows)
    X.loc[rng.random(n_rows) < 0.1, AGE.name] = np.nan
    X.index.name = "row"
    return X, pd.Series(rng.choice(classes, n_rows))


def test_measures_are_those_of_pandas_with_three_classes() -> None:
    classes = ["a", "b", "c"]
    train, test = many_rows(0, 300, classes), many_rows(1, 90, classes)
    against = Rule((OLD,), (-1.0, -0.5, 0.0))
    kept = (Rule((YOUNG, NOT_FIXED), (0.0, 2.0, -1.0)), against)
    rules = RuleSet(np.array(classes), (0.0, 0.0, 0.0), kept, (AGE, THAL))
    found = list_rules(rules, numbered(rules), Counter(rules.classes, train, test))
    for part, (X, y) in (("train", train), ("test", test)):
        masks = [X[AGE.name].gt(20) & X[AGE.name].le(30) & X[HOSTILE].ne("fixed"), X[AGE.name].gt(50)]
        for one, mask, own in zip(found, masks, (y == "b", y != "a"), strict=True):
            told = getattr(one, part)
            expected = (mask.mean(), own[mask].mean(), own[mask].mean() / own.mean(), mask[own].mean())
            assert told.n_rows == mask.sum()
            assert (told.support, told.precision, told.lift, told.coverage) == pytest.approx(expected)
    assert [(one.class_index, one.against) for one in found] == [(1, False), (0, True)]


def test_flags_by_hand(train: Any, unseen_rows: Any) -> None:
    fixed = Condition(HOSTILE, HOSTILE, "nominal", is_in="fixed")
    known = Condition(AGE.name, "age", "numeric", "years", known=True)
    ages = [Condition(AGE.name, "age", "numeric", "years", lower=low) for low in (50.0, 55.0, 90.0)]
    kept = tuple(
        Rule((one,), weight)
        for one, weight in (
            (ages[0], 1.0),
            (ages[1], 2.0),
            (ages[2], 1.0),
            (known, 1.0),
            (fixed, 1.0),
            (fixed, -1.0),
        )
    )
    rules = RuleSet(np.array(["ill", "well"]), 0.0, kept, (AGE, THAL))
    large = pd.concat([train[0]] * 2, ignore_index=True), pd.concat([train[1]] * 2, ignore_index=True)
    found = list_rules(rules, numbered(rules), Counter(rules.classes, large, unseen_rows))
    # ages are 25, 25, 40, 60, 70, 80: above 50 and above 55 are the same rows, above 90 is nobody
    assert [[flag.kind for flag in one.flags] for one in found] == [
        ["equal cover"], ["equal cover"], ["never true"], ["always true"], ["contradictory"], ["contradictory"],
    ]  # fmt: skip
    assert found[0].flags[0].text == "equal cover: same rows as rule 2"
    assert found[5].flags[0].text == "contradictory: same rows as rule 5, another class"
    small = list_rules(rules, numbered(rules), Counter(rules.classes, train, unseen_rows))
    assert [flag.kind for flag in small[0].flags] == [
        "equal cover",
        "low support",
    ]  # three rows are fewer than five


def test_body_says_what_the_rules_say(listed: tuple[Listed, ...], rules: RuleSet, counter: Counter) -> None:
    body = body_of(listed, rules, counter)
    old, young, not_fixed = body["rules"]
    assert [text for _, text in old["conditions"][0]["parts"]] == ["age", ">", "50", "years"]
    assert (old["weightText"], old["index"], old["outcome"], body["top"]) == ("+1.50", 1, "well", 2.0)
    assert (young["weightText"], young["test"][:3]) == ("−2.00", [0, 0.0, None])
    assert (old["covered"], old["train"][0]) == ([1, 2], 3)
    assert not_fixed["conditions"][0]["glyph"]["cells"] == ["not", "dot", "dot"]
    assert not_fixed["conditions"][0]["parts"][0] == ["feature", HOSTILE]
    assert [(start["weight"], start["share"]) for start in body["starts"]] == [("−0.50", -0.25)]


def test_interval_stands_where_it_belongs_on_the_axis(
    listed: tuple[Listed, ...], rules: RuleSet, counter: Counter
) -> None:
    body = body_of(listed, rules, counter)
    glyph = body["rules"][1]["conditions"][0]["glyph"]
    # Five different ages get five equal slots: no age is at most 20, one is at most 30
    assert (glyph["from"], glyph["to"]) == (0.0, 0.2)
    behind = {column["name"]: column["behind"] for column in body["columns"]}
    assert behind == {AGE.name: [[1, 1, 0, 0, 1], [1, 0, 1, 1, 0]], HOSTILE: None}
    drawn = Painter(rules, *counter.train).condition(YOUNG, 0)["glyph"]
    assert (drawn["from"], drawn["to"], drawn["up"], drawn["down"]) == (0.0, 0.2, *behind[AGE.name][::-1])


def test_axis_of_a_column_with_many_values_is_linear() -> None:
    behind = backdrop(pd.Series(np.arange(101.0)), pd.Series(["a", "b"] * 50 + ["a"]), ["a", "b"])
    assert behind is not None
    assert behind.place(25.0) == 0.25
    assert (behind.place(-5.0), behind.place(500.0)) == (0.0, 1.0)
    assert behind.counts.shape == (2, 12)
    assert behind.counts.sum() == 101


def test_more_than_two_classes_tell_every_weight() -> None:
    X = pd.DataFrame({AGE.name: np.arange(20.0, 80.0)})
    y = pd.Series(np.repeat(["a", "b", "c"], 20))
    rules = RuleSet(np.array(["a", "b", "c"]), (0.0, 0.5, 0.0), (Rule((OLD,), (-1.0, 0.0, 2.0)),), (AGE,))
    counter = Counter(rules.classes, (X, y), (X, y))
    body = body_of(list_rules(rules, numbered(rules), counter), rules, counter)
    rule = body["rules"][0]
    assert (rule["outcome"], rule["weightText"], rule["index"]) == ("c", "+2.00", 2)
    assert rule["others"] == [[0, "a −1.00"]]
    assert [start["weight"] for start in body["starts"]] == ["+0.00", "+0.50", "+0.00"]
    assert rule["note"] == ""  # of ages above 50 most are c
    assert body["about"].endswith("the class with the largest sum wins.")
    young = replace(rules, rules=(Rule((YOUNG,), (0.0, 0.0, 2.0)),))  # ages up to 30 are all a
    body = body_of(list_rules(young, numbered(young), counter), young, counter)
    assert body["rules"][0]["note"] == "adds to c, though more of its rows are a"


def test_rows_of_a_rule_are_those_of_pandas(rules: RuleSet) -> None:
    train, test = many_rows(2, 900, ["ill", "well"]), many_rows(3, 50, ["ill", "well"])
    counter = Counter(rules.classes, train, test)
    old = list_rules(rules, numbered(rules), counter)[0]
    covered = CoveredRows(old, rules, counter, "=state")
    X, y = train
    expected = X[X[AGE.name] > 50]
    right = y[expected.index] == "well"
    on_test = test[0][AGE.name] > 50
    assert covered.title.replace("\u00a0", " ") == (
        f"Rule 1 covers {len(expected)} of 900 training rows, {right.sum()} right and {on_test.sum()} of 50 test rows, "
        f"{(on_test & (test[1] == 'well')).sum()} right"
    )
    payload = json.loads(json.dumps(covered.payload(), allow_nan=False))
    first = payload["parts"][0]
    assert payload["heads"] == ["row", "rule is", "=state", "age, years", HOSTILE]
    assert (first["total"], first["wrong"], len(first["rows"])) == (len(expected), (~right).sum(), 200)
    order = [*expected.index[~right], *expected.index[right]][:200]
    assert first["rows"] == [str(index) for index in order]
    assert first["right"] == [bool(right[index]) for index in order]
    assert first["cells"] == [
        [str(int(X.loc[i, AGE.name])) for i in order],
        [X.loc[i, HOSTILE] for i in order],
    ]


def test_rows_file_has_every_row_and_no_formula(rules: RuleSet) -> None:
    X = pd.DataFrame({AGE.name: [60.0, 70.5, 10.0], HOSTILE: ["=cmd()", "@x", "-y"]})
    X.index = pd.Index([7, 3, 9], name="row")
    y = pd.Series(["well", "ill", "well"], index=X.index)
    counter = Counter(rules.classes, (X, y), (X[:0], y[:0]))
    old = list_rules(rules, numbered(rules), counter)[0]
    lines = CoveredRows(old, rules, counter, "=state").csv().decode("utf-8-sig").split("\r\n")
    assert lines == [
        f"part,row,rule is,'=state,{AGE.name},{HOSTILE}",
        "training,3,wrong,ill,70.5,'@x",
        "training,7,right,well,60,'=cmd()",
        "",
    ]


def test_rows_of_a_table_have_their_number_in_the_file(rules: RuleSet) -> None:
    lines = [f"{AGE.name},{HOSTILE},state", "10,fixed,ill", "60,normal,well", "55,fixed,ill", "20,x,well"]
    table = read_table("\n".join(lines).encode(), target="state", roles={AGE.name: "numeric"})
    X, y = table.features(), table.labels()
    counter = Counter(rules.classes, (X, y), (X[:0], y[:0]))
    covered = CoveredRows(list_rules(rules, numbered(rules), counter)[0], rules, counter, "state")
    # The header is row 1 in a spreadsheet, so that the wrong one, 55, stands in row 4 and the right one in row 3.
    assert covered.payload()["parts"][0]["rows"] == ["4", "3"]
    assert [line.split(b",")[1] for line in covered.csv().split(b"\r\n")[1:3]] == [b"4", b"3"]


@pytest.fixture
def reading(rules: RuleSet, counter: Counter) -> Reading:
    return Reading(Editing(Learned(rules, rules, True)), counter, Painter(rules, *counter.train))


def test_scores_follow_every_edit_as_a_full_prediction_would(rules: RuleSet) -> None:
    train, test = many_rows(4, 400, ["ill", "well"]), many_rows(5, 100, ["ill", "well"])
    counter = Counter(rules.classes, train, test)
    editing = Editing(Learned(rules, rules, True))
    reading = Reading(editing, counter, Painter(rules, *train))
    edits: list[Any] = [
        lambda: editing.switch(1, on=False),
        lambda: editing.set_weight(2, 0, 0.75),
        lambda: editing.leave_out([2, 3]),
        lambda: editing.set_condition(3, 0, Condition(HOSTILE, HOSTILE, "nominal", is_in="normal")),
        editing.undo,
        lambda: editing.delete(3),
        editing.undo,
        editing.reset,
    ]
    seen = set()
    for edit in [lambda: None, *edits]:
        edit()
        expected = [float((editing.rules().predict(X) == y.to_numpy()).mean()) for X, y in (train, test)]
        scores = reading.scores
        assert isinstance(scores, Scores)
        assert (scores.train_accuracy, scores.test_accuracy) == tuple(expected)
        assert len(reading.rules) == len(editing.numbers())
        seen.add(expected[0])
    assert len(seen) > 2


def test_a_body_the_browser_holds_is_not_sent_again(reading: Reading) -> None:
    asking = Asking()
    line, body = asking.told(reading).split(b"\n")
    told = json.loads(line)
    assert json.loads(body)["rules"][1]["number"] == 2
    asking.obey({"name": "off", "off": [2, "x", 99], "number": 1, "held": told["body"]}, reading)
    assert (asking.edited, reading.editing.numbers()) == (True, (1, 3))
    line, body = asking.told(reading).split(b"\n")
    assert (json.loads(line)["off"], json.loads(line)["answered"], body) == ([2], 1, b"")
    assert len(asking.told(reading).split(b"\n")[1]) > 100  # nothing is known of what the browser holds now
    asking.obey({"name": "undo", "number": 2, "held": told["body"]}, reading)
    assert (asking.edited, reading.editing.numbers()) == (True, (1, 2, 3))
    again = {"name": "off", "off": [2], "number": 1, "held": told["body"]}
    asking.obey(again, reading)  # Streamlit may bring an ask twice
    assert reading.editing.numbers() == (1, 2, 3)
    asking.obey({"name": "rows", "rule": 3, "number": 3, "held": told["body"]}, reading)
    assert (asking.edited, asking.chosen) == (False, 3)
    no_list = {"name": "off", "off": 3, "number": 4, "held": told["body"]}
    for nonsense in (None, "off", {"name": "off"}, no_list):
        asking.obey(nonsense, reading)
    assert reading.editing.numbers() == (1, 2, 3)


def test_an_ask_about_rules_no_longer_shown_changes_nothing(
    rules: RuleSet, reading: Reading, counter: Counter
) -> None:
    fewer = replace(rules, rules=rules.rules[1:])
    now = Reading(Editing(Learned(fewer, fewer, True)), counter, reading.painter)
    asking = Asking()
    # Rule 1 of the list that the browser still shows is none of those that the dial has brought meanwhile.
    asking.obey({"name": "off", "off": [1], "number": 1, "held": reading.body.name}, now)
    assert (now.editing.numbers(), asking.edited, asking.answered) == ((1, 2), False, 1)
    assert asking.told(now).split(b"\n")[1] == now.body.data


def test_rules_switched_off_stay_in_the_list(reading: Reading) -> None:
    body = reading.body
    reading.editing.switch(2, on=False)
    assert (len(reading.rules), [one.number for one in reading.listed]) == (2, [1, 2, 3])
    assert reading.body is body
    reading.editing.set_weight(1, 0, -3.0)
    assert [one.weight for one in reading.listed] == [-3.0, -2.0, 0.25]
    assert reading.body.name != body.name


# The page ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def job() -> Iterator[Job]:
    """A short run on 120 rows whose class is told by one column."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"size_mm": rng.integers(0, 40, 120).astype(float), "noise": rng.normal(size=120)})
    y = pd.Series(np.where(X["size_mm"] > 19, "<b>large", "small"))
    run = Job(X[:90], y[:90], X[90:], y[90:], Parameters(n_clauses=10, epochs=4), "beans & co.csv")
    run.set_speed("max")
    run.play()
    assert run.wait_until_idle(120)
    yield run
    run.close()


def open_page(job: Job | None) -> AppTest:
    page = AppTest.from_file(str(VIEW), default_timeout=60)
    page.session_state[session.KEY] = session.Session(job=job, trained_name="beans")
    return page.run()


def text_of(page: AppTest) -> str:
    parts = [*page.title, *page.subheader, *page.markdown, *page.caption]
    return "\n".join(str(part.value) for part in parts).replace("\\", "").replace("\u00a0", " ")


def test_without_a_run_there_is_one_sentence_and_one_button() -> None:
    page = open_page(None)
    assert not page.exception
    assert "No rules yet. Train a machine, then settle it." in text_of(page)
    assert [button.label for button in page.button] == ["Choose data"]


def test_unsettled_then_settled(job: Job) -> None:
    page = open_page(job)
    assert not page.exception
    assert "Not settled: these are the clauses as they vote now." in text_of(page)
    next(button for button in page.button if button.label == "Settle now").click().run()
    assert job.wait_until_idle(60)
    page.run()
    assert not page.exception
    outcome = job.outcome
    assert outcome is not None
    rules = outcome.estimator.rules_
    right = float(np.mean(rules.predict(job.X_test) == job.y_test.to_numpy()))
    n_rules, n_literals = len(rules), sum(rule.n_literals for rule in rules)
    text = text_of(page)
    assert f"{n_rules} rule" in text
    assert f"with {n_literals} literal" in text
    assert f"{100 * right:.0f} % of unseen rows right" in text
    assert "Not settled" not in text


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("Heart", "Heart_rules.json"),
        ("beans & co.csv", "beans_co_rules.json"),
        ("../../etc/passwd", "etc_passwd_rules.json"),
        ("…", "tsetlin_rules.json"),
        ("a" * 300, "a" * 60 + "_rules.json"),
    ],
)
def test_file_names_are_safe(name: str, file: str) -> None:
    assert safe_file_name(name, "json") == file
