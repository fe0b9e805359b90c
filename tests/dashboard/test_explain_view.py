"""The Explain page, the edits of rules and the value map: what they count, draw and carry out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session
from dashboard.editing import Editing, Learned
from dashboard.explain_view.looking import Looking
from dashboard.explain_view.payload import ExplainPainter
from dashboard.jobs import Job
from dashboard.rule_list.payload import backdrop
from dashboard.value_view.payload import column_chart, pair_grid
from tmcore.conditions import Condition, RuleColumn
from tmcore.parameters import Parameters
from tmcore.rule import Rule
from tmcore.rules import RuleSet
from tmcore.table import read_table
from tmcore.value_map import pair_map, value_map

VIEWS = Path(session.__file__).parent / "views"
HOSTILE = "<img src=x onerror=alert(1)>"

AGE = RuleColumn("age (years)", "age", "years", "numeric", ())
PART = RuleColumn(HOSTILE, HOSTILE, None, "nominal", ("a", "b"))
IDLE = RuleColumn("idle", "idle", None, "numeric", ())


def age(lower: float | None, upper: float | None) -> Condition:
    return Condition(AGE.name, "age", "numeric", "years", lower=lower, upper=upper)


OLD, YOUNG, IS_A = age(50.0, None), age(None, 30.0), Condition(HOSTILE, HOSTILE, "nominal", is_in="a")
RULES = RuleSet(
    np.array(["ill", "<b>well"]),
    0.5,
    (Rule((OLD, IS_A), -2.0), Rule((OLD,), 1.0), Rule((YOUNG,), -0.75)),
    (AGE, PART, IDLE),
)
TRAIN = (
    pd.DataFrame({AGE.name: [20.0, 40.0, 60.0, 80.0], HOSTILE: ["a", "b", "a", "b"], "idle": 0.0}),
    pd.Series(["ill", "<b>well", "ill", "<b>well"]),
)
TEST = (
    # votes: 0.5 - 2 + 1 = -0.5, ill; 0.5 - 0.75 = -0.25, ill; 1.5, well; without an age 0.5, well
    pd.DataFrame({AGE.name: [60.0, 25.0, 70.0, np.nan], HOSTILE: ["a", "a", "b", "zebra"], "idle": 0.0}),
    pd.Series(["ill", "<b>well", "<b>well", "ill"]),
)


@pytest.fixture
def looking() -> Looking:
    return Looking(RULES, True, TRAIN, TEST)


def build(looking: Looking) -> dict[str, Any]:
    return json.loads(json.dumps(ExplainPainter(looking).build(), allow_nan=False))


def test_a_row_of_a_table_has_its_number_in_the_file() -> None:
    lines = [f"{AGE.name},{HOSTILE},idle,state", *["20,a,0,ill", "40,b,1,well", "60,a,0,ill", "80,b,1,well"]]
    table = read_table("\n".join(lines).encode(), target="state", roles={AGE.name: "numeric"})
    X, y = table.features(), table.labels()
    looking = Looking(RULES, True, (X[:2], y[:2]), (X[2:], y[2:]))
    assert "Test row 1 of 2 · row 4 of the data · " in build(looking)["sub"]  # the header is row 1


def test_a_row_in_numbers(looking: Looking) -> None:
    page = build(looking)
    # the logistic function of -0.5 is 0.3775
    assert page["title"] == "The rules say ill, 62\u00a0% sure"
    below = "Test row 1 of 4 · recorded as ill · so this is right · 2\u00a0rows of 4 wrong"
    assert page["sub"] == below
    fall = page["waterfall"]
    assert fall["title"] == "1 rule speaks for ill, 1 against"
    assert [(row["from"], row["to"], row["weight"]) for row in fall["rows"]] == [
        (0.0, 0.5, "+0.50"),
        (0.5, -1.5, "−2.00"),
        (-1.5, -0.5, "+1.00"),
    ]
    assert (fall["low"], fall["high"]) == (-1.5, 0.5)
    assert (fall["total"]["to"], fall["total"]["note"]) == (-0.5, "probability of <b>well 0.38")
    assert page["unread"] == "No rule reads idle."
    assert [part["hue"] for part in page["verdict"]] == ["c1", "c0"]


def test_flips_and_near_misses(looking: Looking) -> None:
    page = build(looking)
    # part a to b, or age 60 to 40, one level each: 1.5 and 0.5 votes
    assert page["flips"]["title"] == "One change would flip it"
    assert [flip["set"] for flip in page["flips"]["rows"]] == [[[0, 40.0]], [[1, "b"]]]
    assert page["flips"]["rows"][1]["changes"][0]["label"] == HOSTILE
    (missed,) = page["missed"]
    assert (missed["note"], missed["rest"]) == ("is 60 · −0.75", "")
    looking.obey("lock", 0)
    assert [flip["set"] for flip in build(looking)["flips"]["rows"]] == [[[1, "b"]]]
    looking.obey("lock", 1)
    assert build(looking)["flips"]["title"] == "No column is free to change"


def test_wrong_rows_are_walked_through(looking: Looking) -> None:
    places = []
    for _ in range(3):
        looking.obey("wrong", None)
        places.append(looking.place)
    assert places == [1, 3, 1]
    looking.obey("go", -1)
    assert looking.place == 0
    looking.obey("go", -1)
    assert looking.place == 3


def test_what_if_stays_within_training_and_goes_back(looking: Looking) -> None:
    looking.obey("set", [[0, 40.0], [1, "b"]])
    assert looking.given == {AGE.name: 40.0, HOSTILE: "b"}
    page = build(looking)
    assert page["title"].startswith("With these values the rules say <b>well")
    assert (page["fields"][0]["was"], page["changed"]) == ("was 60", True)
    for nonsense in ([[0, 81.0]], [[0, "x"]], [[1, "zebra"]], [[9, 1.0]], "x", [[0]], [[0, True]]):
        looking.obey("set", nonsense)
    assert looking.given == {AGE.name: 40.0, HOSTILE: "b"}
    looking.obey("set", [[0, None]])
    assert build(looking)["waterfall"]["total"]["to"] == 0.5
    looking.obey("own", None)
    assert looking.given == looking.own == {AGE.name: 60.0, HOSTILE: "a"}


def test_values_of_the_row_that_training_never_had_can_be_kept(looking: Looking) -> None:
    looking.obey("go", -1)
    assert looking.own == {AGE.name: None, HOSTILE: "zebra"}
    looking.obey("set", [[1, "a"]])
    looking.obey("set", [[1, "zebra"]])
    assert not looking.is_changed
    options = build(looking)["fields"][1]["options"]
    assert [option["text"] for option in options] == ["a", "b", "zebra (never seen)", "missing"]


def test_more_classes_have_one_in_focus() -> None:
    rules = RuleSet(np.array(["a", "b", "c"]), (0.0, 0.5, 0.0), (Rule((OLD,), (2.0, 0.0, -1.0)),), (AGE,))
    y = pd.Series(["a", "b", "c", "a"])
    looking = Looking(rules, False, (TRAIN[0], y), (TRAIN[0][:0], y[:0]))
    looking.obey("go", -1)
    page = build(looking)
    assert page["title"] == "The rules say a"
    assert page["sub"].startswith("Training row 4 of 4")
    assert page["waterfall"]["title"] == "1 rule speaks for a, 0 against"
    assert [part["text"] for part in page["verdict"]] == ["● a +2.00", "▲ b +0.50", "■ c −1.00"]
    looking.obey("focus", 2)
    page = build(looking)
    assert page["waterfall"]["title"] == "0 rules speak for c, 1 against"
    assert (page["waterfall"]["choices"], page["waterfall"]["focus"]) == (["● a", "▲ b", "■ c"], 2)
    assert page["flips"]["rows"][0]["to"] == "▲ b"
    assert page["waterfall"]["total"]["note"] == "● a wins with +2.00"


def test_the_largest_sum_wins_below_nothing_too_and_how_that_is_a_probability_is_said() -> None:
    starts = (-1.0, -0.2, -3.0)
    rules = RuleSet(np.array(["a", "b", "c"]), starts, (Rule((OLD,), (2.0, 0.0, -1.0)),), (AGE,))
    y = pd.Series(["a", "b", "c", "a"])
    page = build(Looking(rules, True, (TRAIN[0], y), (TRAIN[0][:0], y[:0])))
    # logistic values at -1, -0.2, -3: 0.2689, 0.4502, 0.0474; their sum is 0.7665, so b has 0.5873
    assert page["title"] == "The rules say b, 59\u00a0% sure"
    assert [part["text"].replace("\u00a0", " ") for part in page["verdict"]] == [
        "● a 35 % (sum −1.00)",
        "▲ b 59 % (sum −0.20)",
        "■ c 6 % (sum −3.00)",
    ]
    fall = page["waterfall"]
    assert (fall["total"]["text"], fall["total"]["hue"]) == ("Sum for ▲ b", "c1")
    assert fall["total"]["note"] == "the largest, so it wins · probability of b 0.59"
    assert "the largest wins, even one below 0. This sum alone would mean 45\u00a0%" in fall["caption"]
    assert (fall["left"], fall["right"]) == ("against b", "for b")


# Edits -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def editing() -> Editing:
    return Editing(Learned(object(), RULES, True))


def test_edits_change_the_votes_and_can_be_undone(editing: Editing) -> None:
    assert editing.rules() is RULES
    editing.switch(1, False)
    assert editing.rules().votes(TEST[0]).ravel().tolist() == [1.5, -0.25, 1.5, 0.5]
    assert (editing.rules().edited, editing.numbers()) == (True, (2, 3))
    editing.delete(2)
    assert editing.rules().votes(TEST[0]).ravel().tolist() == [0.5, -0.25, 0.5, 0.5]
    editing.set_weight(3, 0, 0.1)
    assert editing.rules()[0].weights == round(0.1 * 2**16) / 2**16
    editing.set_condition(3, 0, age(None, 65.0))
    assert editing.rules().votes(TEST[0])[0, 0] == 0.5 + round(0.1 * 2**16) / 2**16
    for _ in range(3):
        editing.undo()
    assert editing.numbers() == (2, 3)
    editing.switch(1, True)
    assert not editing.is_edited
    editing.undo()
    editing.reset()
    assert editing.rules() is RULES


def test_edits_that_make_no_sense_are_refused(editing: Editing) -> None:
    with pytest.raises(ValueError, match="lower bound must be less"):
        editing.set_condition(1, 0, age(9.0, 3.0))
    with pytest.raises(ValueError, match="only condition"):
        editing.set_condition(2, 0, None)
    with pytest.raises(ValueError, match="must be a number"):
        editing.set_weight(2, 0, float("inf"))
    assert not editing.is_edited
    editing.set_condition(1, 0, None)
    assert editing.rules()[0].conditions == (IS_A,)


# What each value adds ----------------------------------------------------------------------------------------------


def test_value_map_pictures() -> None:
    (one,) = value_map(RULES)
    behind = backdrop(
        pd.Series(np.arange(101.0)), pd.Series(["ill", "<b>well"] * 50 + ["ill"]), RULES.classes
    )
    chart = column_chart(one, 0, behind, 1.0, True)
    assert [(step["from"], step["to"], step["share"]) for step in chart["steps"]] == [
        (0.0, 0.3, -0.75),
        (0.3, 0.5, 0.0),
        (0.5, 1.0, 1.0),
    ]
    assert [tick["text"] for tick in chart["ticks"]] == ["30", "50"]
    assert (chart["title"], chart["ends"]) == ("age, years", ["0", "100"])
    grid = pair_grid(pair_map(RULES, AGE.name, HOSTILE), 0, True)
    assert (grid["rows"], grid["columns"]) == (["≤ 30", "30 < x ≤ 50", "> 50"], ["a", "b", "never seen"])
    assert [[cell["text"] for cell in row] for row in grid["cells"]] == [
        ["−0.75", "−0.75", "−0.75"], ["", "", ""], ["−1.00", "+1.00", "+1.00"],
    ]  # fmt: skip


# The pages ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def job() -> Iterator[Job]:
    """A settled run on 120 rows whose class is told by one column."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"size_mm": rng.integers(0, 40, 120).astype(float), "noise": rng.normal(size=120)})
    y = pd.Series(np.where(X["size_mm"] > 19, "<b>large", "small"))
    run = Job(X[:90], y[:90], X[90:], y[90:], Parameters(n_clauses=10, epochs=4), "beans")
    run.set_speed("max")
    run.play()
    assert run.wait_until_idle(120)
    run.settle()
    assert run.wait_until_idle(60)
    yield run
    run.close()


def open_page(job: Job | None, name: str) -> AppTest:
    page = AppTest.from_file(str(VIEWS / f"{name}.py"), default_timeout=60)
    page.session_state[session.KEY] = session.Session(job=job, trained_name="beans")
    return page.run()


def test_without_a_run_there_is_one_sentence_and_one_button() -> None:
    page = open_page(None, "explain")
    assert not page.exception
    assert "Nothing to explain yet" in page.title[0].value
    assert [button.label for button in page.button] == ["Choose data"]


def test_page_opens_and_follows_edits(job: Job) -> None:
    page = open_page(job, "explain")
    assert not page.exception
    assert not page.caption
    current: session.Session = page.session_state[session.KEY]
    editing = current.rules()
    assert editing is not None
    editing.switch(1, False)
    page.run()
    assert not page.exception
    assert page.caption[0].value == "These are the rules as edited on the Rules page."


def test_rules_page_scores_the_edited_rules(job: Job) -> None:
    page = open_page(job, "rules")
    current: session.Session = page.session_state[session.KEY]
    editing = current.rules()
    assert editing is not None
    for number in editing.first.rules:
        editing.switch(number, False)
    page.run()
    assert not page.exception
    start = editing.rules().intercept
    right = np.mean(job.y_test == ("small" if start >= 0 else "<b>large"))
    assert (
        page.title[0]
        .value.replace("\\", "")
        .replace("\u00a0", " ")
        .startswith(f"0 rules with 0 literals get {100 * right:.0f} % of unseen rows right")
    )
    next(button for button in page.button if button.label == "Undo").click().run()
    assert not page.exception
    assert len(editing.numbers()) == 1
    next(button for button in page.button if button.label == "Back to the rules as learned").click().run()
    assert not editing.is_edited


@pytest.mark.browser
def test_a_slider_a_flip_and_the_next_wrong_row_in_a_browser(dashboard_url: str, browser: Any) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 1400})
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("dialog", lambda dialog: problems.append(dialog.message))
    rng = np.random.default_rng(0)
    size, part = rng.integers(0, 40, 160), rng.choice(["a", "<b>b</b>"], 160)
    table = pd.DataFrame(
        {HOSTILE: size, "part": part, "class": np.where(size + rng.normal(0, 6, 160) > 19, "l", "s")}
    )
    page.goto(dashboard_url)
    page.locator("input[type=file]").first.set_input_files(
        files=[{"name": "sizes.csv", "mimeType": "text/csv", "buffer": table.to_csv(index=False).encode()}]
    )
    page.get_by_role("button", name="Train on this").first.click()
    page.get_by_role("button", name=re.compile("One epoch")).first.click()
    page.get_by_role("button", name="Settle").first.click(timeout=60_000)
    page.get_by_role("button", name="Read the rules").first.click(timeout=60_000)
    page.get_by_role("link", name="Explain").first.click()
    heading = page.locator(".explain h1")
    heading.wait_for(timeout=30_000)
    slider = page.locator(".explain input[type=range]").first
    assert slider.get_attribute("aria-label") == HOSTILE
    said = set()
    for key in ("Home", "End"):
        slider.press(key)
        page.wait_for_function(
            "() => [...document.querySelectorAll('*')].some(e => e.shadowRoot && "
            "/^With these values/.test(e.shadowRoot.querySelector('.explain h1')?.textContent))"
        )
        page.wait_for_timeout(1000)
        said.add(re.sub(r",.*", "", heading.inner_text()))
    assert said == {"With these values the rules say s", "With these values the rules say l"}
    page.get_by_role("button", name="Back to the row's own values").click()
    page.wait_for_timeout(1000)
    before = heading.inner_text()
    page.get_by_role("button", name="Try").first.click()
    page.wait_for_timeout(1500)
    assert heading.inner_text().startswith("With these values")
    assert before.split("say ")[1][0] != heading.inner_text().split("say ")[1][0]
    page.locator(".explain h2").first.click()
    page.keyboard.press("w")
    page.wait_for_timeout(1500)
    assert "so this is wrong" in page.locator(".explain .sub").inner_text()
    assert not problems
    page.close()
