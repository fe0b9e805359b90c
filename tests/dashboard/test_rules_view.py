"""The Rules page: what it counts, sorts, draws and hands out."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session
from dashboard.jobs import Job
from dashboard.rule_list.listing import Listed, choose, list_rules, safe_file_name, to_table
from dashboard.rule_list.payload import Painter, backdrop
from tmcore.conditions import Condition, RuleColumn
from tmcore.parameters import Parameters
from tmcore.rule import Rule
from tmcore.rules import RuleSet

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
def listed(rules: RuleSet, train: Any, unseen_rows: Any) -> tuple[Listed, ...]:
    return list_rules(rules, train, unseen_rows)


def test_counts_by_hand_on_training_and_test_rows_apart(listed: tuple[Listed, ...]) -> None:
    old, young, not_fixed = listed
    # age > 50 speaks for "well": rows 60, 70, 80, of which two are well; test rows 55 and 56, one well
    assert (old.n_train, old.covered, old.precision_train) == (3, (1, 2), pytest.approx(2 / 3))
    assert (old.n_test, old.precision_test, old.base_rate) == (2, 0.5, 0.5)
    assert old.lift == pytest.approx(4 / 3)
    # 20 < age ≤ 30 and not fixed speaks for "ill": the first row only, and no test row
    assert (young.class_index, young.n_train, young.precision_train, young.n_test) == (0, 1, 1.0, 0)
    assert math.isnan(young.precision_test)
    assert (not_fixed.n_train, not_fixed.n_test) == (3, 1)


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("Heaviest first", [2, 1, 3]),
        ("Most rows first", [1, 3, 2]),
        ("Purest first", [2, 1, 3]),
        ("Fewest literals first", [1, 3, 2]),
    ],
)
def test_sorts(listed: tuple[Listed, ...], sort: str, order: list[int]) -> None:
    assert [one.number for one in choose(listed, None, None, sort)] == order


def test_filters_by_class_and_feature(listed: tuple[Listed, ...]) -> None:
    assert [one.number for one in choose(listed, 1, None, "Heaviest first")] == [1, 3]
    assert [one.number for one in choose(listed, None, HOSTILE, "Heaviest first")] == [2, 3]
    assert [one.number for one in choose(listed, 0, AGE.name, "Heaviest first")] == [2]


def test_table_holds_every_number(listed: tuple[Listed, ...], rules: RuleSet) -> None:
    table = to_table(listed, rules)
    assert list(table["weight"]) == [1.5, -2.0, 0.25]
    assert list(table["class"]) == ["well", "ill", "well"]
    assert list(table["literals"]) == [1, 3, 1]
    assert list(table["training rows"]) == [3, 1, 3]
    assert table.loc[1, "precision, test"] == 50.0


def test_payload_is_json_and_says_what_the_rule_says(
    listed: tuple[Listed, ...], rules: RuleSet, train: Any
) -> None:
    payload = json.loads(json.dumps(Painter(rules, *train).build(listed, with_start=True), allow_nan=False))
    old, young, not_fixed, start = payload["rules"]
    assert [text for _, text in old["conditions"][0]["parts"]] == ["age", ">", "50", "years"]
    assert (old["weight"], old["share"], old["mark"], old["outcome"]) == ("+1.50", 0.75, "▲", "well")
    assert young["weight"] == "−2.00"
    assert young["testPrecision"] == "no test row"
    assert young["share"] == -1.0
    assert [part["count"] for part in old["support"]] == ["2", "1"]  # class 1 first, as the bar shows it
    assert not_fixed["conditions"][0]["glyph"]["cells"] == ["not", "dot", "dot"]
    assert not_fixed["conditions"][0]["parts"][0] == ["feature", HOSTILE]
    assert (start["weight"], start["conditions"]) == ("−0.50", [])


def test_interval_stands_where_it_belongs_on_the_axis(
    listed: tuple[Listed, ...], rules: RuleSet, train: Any
) -> None:
    glyph = Painter(rules, *train).build(listed, with_start=False)["rules"][1]["conditions"][0]["glyph"]
    # Five different ages get five equal slots: no age is at most 20, one is at most 30
    assert (glyph["from"], glyph["to"]) == (0.0, 0.2)
    assert glyph["up"] == [1, 0, 1, 1, 0]
    assert glyph["down"] == [1, 1, 0, 0, 1]


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
    payload = Painter(rules, X, y).build(list_rules(rules, (X, y), (X, y)), with_start=True)
    rule = payload["rules"][0]
    assert (rule["outcome"], rule["weight"], rule["hue"]) == ("c", "+2.00", "c2")
    assert [other["text"] for other in rule["others"]] == ["a −1.00"]
    assert [row["text"].split(":")[0] for row in payload["rules"][1:]] == ["a", "b", "c"]


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
    assert len(page.dataframe[0].value) == n_rules


def test_page_filters_the_table(job: Job) -> None:
    if job.outcome is None:
        job.settle()
        assert job.wait_until_idle(60)
    assert job.outcome is not None
    page = open_page(job)
    for index, name in enumerate(["<b>large", "small"]):
        page.button_group(key="rules_class").set_value(index).run()
        assert not page.exception
        expected = [rule for rule in job.outcome.estimator.rules_ if rule.speaks_for[0] == index]
        assert list(page.dataframe[0].value["class"]) == [name] * len(expected)


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
