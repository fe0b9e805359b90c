"""The Compare and Score pages: what they say, count, draw and hand out."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score
from streamlit.testing.v1 import AppTest

from dashboard import session
from dashboard.background import Task
from dashboard.compare_view import judging, models, other_run
from dashboard.compare_view.payload import ComparePainter
from dashboard.compare_view.state import HALF, Beside, Comparing, comparing
from dashboard.jobs import Job
from dashboard.session import Session, Split
from tmcore.compare import difference, recurring
from tmcore.conditions import Condition, RuleColumn
from tmcore.estimators import TsetlinClassifier
from tmcore.judge import share_interval
from tmcore.parameters import Parameters
from tmcore.rule import Rule
from tmcore.ruleset import RuleSet
from tmcore.thresholds import confusion

VIEWS = Path(session.__file__).parent / "views"
HOSTILE = "<b>large :red[x]"


@pytest.fixture(scope="module")
def split() -> Split:
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"size_mm": rng.integers(0, 40, 120).astype(float), "noise": rng.normal(size=120)})
    X["colour"] = pd.Categorical(rng.choice(["red", "blue", "=1+1"], 120))
    y = pd.Series(np.where(X["size_mm"] + 4 * rng.normal(size=120) > 19, HOSTILE, "small"))
    return Split(X[:90], y[:90], X[90:], y[90:], 0, 0.25, False, "", HOSTILE)


@pytest.fixture(scope="module")
def job(split: Split) -> Iterator[Job]:
    run = Job(
        split.X_train,
        split.y_train,
        split.X_test,
        split.y_test,
        Parameters(n_clauses=10, epochs=3),
        "beans.csv",
        positive_class=split.positive_class,
    )
    run.set_speed("max")
    run.play()
    assert run.wait_until_idle(120)
    run.settle()
    run.wait_for_commands(1)
    assert run.wait_until_idle(60)
    yield run
    run.close()


@pytest.fixture
def current(job: Job, split: Split) -> Session:
    return Session(job=job, split=split, trained_name="beans.csv")


def open_page(view: str, current: Session) -> AppTest:
    page = AppTest.from_file(str(VIEWS / view), default_timeout=60)
    page.session_state[session.KEY] = current
    return page.run()


def text_of(page: AppTest) -> str:
    parts = [*page.title, *page.subheader, *page.markdown, *page.caption]
    text = "\n".join(str(part.value) for part in parts)
    return text.replace("\\", "").replace("\u00a0", " ").replace("\u2060", "")


def choose(page: AppTest, section: str) -> AppTest:
    next(group for group in page.button_group if group.key == "compare_section").set_value(section)
    return page.run()


def press(page: AppTest, label: str, task: str) -> AppTest:
    """Press a button that starts a task, wait for its end, and look again."""
    next(button for button in page.button if button.label == label).click()
    page.run()
    held = page.session_state[session.KEY].comparing
    assert held.tasks[task].wait(120)
    assert held.tasks[task].error is None
    return page.run()


# Compare ----------------------------------------------------------------------------------------------------------


def test_without_a_run_there_is_one_sentence_and_one_button() -> None:
    for view, sentence in (
        ("compare.py", "Nothing to compare yet."),
        ("score.py", "No rules to score with yet."),
    ):
        page = open_page(view, Session())
        assert not page.exception
        assert sentence in text_of(page)
        assert [button.label for button in page.button] == ["Choose data"]


def test_headline_says_how_little_the_test_rows_say(current: Session, job: Job) -> None:
    page = open_page("compare.py", current)
    assert not page.exception
    assert job.settled is not None
    n_right = int((job.settled.predict(job.X_test) == job.y_test).sum())
    low, high = share_interval(n_right, 30)
    text = text_of(page)
    assert f"{100 * n_right / 30:.0f} % of 30 unseen rows right; of all rows it may be" in text
    assert f"it may be {100 * low:.0f} to {100 * high:.0f} %" in text
    assert "30 test rows say little" in text


def test_the_rules_at_the_dials_point_are_compared(current: Session, job: Job) -> None:
    current.rules()
    dial = current.dial
    assert dial is not None
    dial.begin()
    assert dial.task is not None
    assert dial.task.wait(60)
    assert dial.found is not None
    few = next(mark.n_rules for mark in dial.found.marks if 0 < mark.n_rules != dial.settled_rules)
    dial.choose(few)
    text = text_of(open_page("compare.py", current))
    n_right = int((dial.model.predict(job.X_test) == job.y_test.to_numpy()).sum())
    assert re.search(rf"{few} rules? gets? {100 * n_right / len(job.y_test):.0f} % of", text)
    assert "the rules at the dial's point" in text
    held = current.comparing
    assert held is not None
    held.tasks["seeds"] = Task("About the few", lambda progress, stop: None)
    dial.choose(dial.settled_rules)
    assert "dial's point" not in text_of(open_page("compare.py", current))
    assert "seeds" not in held.tasks


def test_judging_on_repeated_splits(current: Session) -> None:
    page = open_page("compare.py", current)
    page.select_slider[0].set_value(5).run()
    page = press(page, "Judge on 5 splits", "judge")
    assert not page.exception
    assert current.comparing is not None
    found = current.comparing.tasks["judge"].result.judgement
    assert len(found.trials) == 5
    row = found.intervals.loc["accuracy"]
    assert f"{100 * row['mean']:.0f} % right, give or take" in text_of(page)
    assert f"anything from {100 * row['lowest']:.0f} to {100 * row['highest']:.0f} %" in text_of(page)


@pytest.mark.parametrize(("kind", "name"), [("group", "size_mm"), ("time", "noise"), ("column", "colour")])
def test_splits_keep_their_promise(split: Split, kind: str, name: str) -> None:
    X, y = judging.all_rows(split)
    values = X[name]
    for rows in judging._splits(kind, y, values, "red", 5, 0.2):
        train, test = values.iloc[rows.train], values.iloc[rows.test]
        if kind == "group":
            assert not set(train) & set(test)
        elif kind == "time":
            assert train.max() < test.min()
        else:
            assert set(test) == {"red"}
            assert "red" not in set(train)


def test_threshold_moves_the_matrix_and_is_kept_for_the_model(current: Session, job: Job) -> None:
    page = choose(open_page("compare.py", current), "threshold")
    page = press(page, "Find the cheapest threshold", "threshold")
    assert not page.exception
    model, held = job.settled, current.comparing
    assert model is not None
    assert held is not None
    page.slider[0].set_value(0.9).run()
    shares = model.predict_proba(job.X_test)[:, 1]
    found = confusion((job.y_test == HOSTILE).to_numpy(int), shares, 0.9)
    text = text_of(page)
    assert f"At 0.90, {found.false_alarms} false alarm" in text
    assert "training rows, cross-validated" in text
    assert (held.threshold_for(model), held.threshold_for(object())) == (0.9, HALF)
    next(one for one in page.number_input if one.key == "cost_miss").set_value(0.0).run()
    next(one for one in page.number_input if one.key == "cost_false_alarm").set_value(0.0).run()
    assert "Both costs are 0" in text_of(page)


def test_models_table_holds_every_model(current: Session, split: Split) -> None:
    page = choose(open_page("compare.py", current), "models")
    page = press(page, "Compare on this split", "models")
    assert not page.exception
    assert current.comparing is not None
    measured = current.comparing.tasks["models"].result
    frame = models.as_frame(measured)
    assert list(frame.index[:4]) == ["Intervals", "Thresholds", "Weighted intervals", "Commonest class"]
    assert frame.loc["Intervals", "F1"] == measured[0].scores["F1"]
    assert models.finding(measured, f"F1 of {HOSTILE}") in text_of(page)
    for one in measured:  # whatever the model, F1 is of the class to predict, here the first in sorted order
        said = np.where(one.predicted == 1, HOSTILE, "small")
        assert one.scores["F1"] == f1_score(split.y_test, said, pos_label=HOSTILE, zero_division=0)


def test_another_run_is_trained_and_compared(current: Session, job: Job) -> None:
    page = choose(open_page("compare.py", current), "run")
    next(button for button in page.button if button.label == "Train it beside this run").click()
    page.run()
    held = current.comparing
    assert held is not None
    if "other" in held.tasks:
        assert held.tasks["other"].wait(60)
        page.run()
    assert not page.exception
    assert [one.name for one in held.beside] == ["seed 1"]
    assert job.settled is not None
    ours, theirs = job.settled.rules_, held.beside[0].model.rules_
    found = difference(ours, theirs)
    assert len(found.same) + len(found.moved) + len(found.only_first) == len(ours)
    assert other_run.finding(found) in text_of(page)


def test_other_seeds(current: Session, job: Job) -> None:
    page = choose(open_page("compare.py", current), "seeds")
    page.select_slider[0].set_value(5).run()
    page = press(page, "Train with 5 other seeds", "seeds")
    assert not page.exception
    assert job.settled is not None
    assert current.comparing is not None
    found = current.comparing.tasks["seeds"].result
    assert f"{found.n_usual} of" in text_of(page)
    assert "in most of 5 seeds" in text_of(page)


def test_a_task_goes_on_when_the_page_is_left(current: Session) -> None:
    page = open_page("compare.py", current)
    page.select_slider[0].set_value(10).run()
    next(button for button in page.button if button.label == "Judge on 10 splits").click()
    page.run()
    assert current.comparing is not None
    assert not open_page("score.py", current).exception
    assert current.comparing.tasks["judge"].wait(120)
    again = open_page("compare.py", current)
    assert "10 splits of about 30 test rows" in text_of(again)


def test_another_split_starts_afresh_and_stops_what_works(split: Split) -> None:
    current = Session(split=split)
    first = comparing(current)
    assert first is not None
    assert comparing(current) is first
    current.split = Split(split.X_train, split.y_train, split.X_test, split.y_test, 1, 0.25, False, "")
    assert comparing(current) is not first
    assert comparing(Session()) is None


def test_the_oldest_kept_model_goes(split: Split) -> None:
    held = Comparing(split)
    model: Any = None
    for k in range(10):
        held.keep(Beside(str(k), Parameters(), model, None))
    assert [one.name for one in held.beside] == [str(k) for k in range(2, 10)]


# What the list of compared rules is sent -------------------------------------------------------------------------

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


# Score ------------------------------------------------------------------------------------------------------------


def upload(page: AppTest, name: str, frame: pd.DataFrame) -> AppTest:
    return page.file_uploader[0].upload(name, frame.to_csv(index=False).encode(), "text/csv").run()


def test_new_rows_are_scored(current: Session, job: Job) -> None:
    page = open_page("score.py", current)
    assert "ready for new rows" in text_of(page)
    page = upload(page, "<i>new.csv", job.X_test.assign(colour="green"))
    assert not page.exception
    assert job.settled is not None
    expected = job.settled.predict(job.X_test.assign(colour="green"))
    text = text_of(page)
    assert f"{(expected == HOSTILE).sum()} {HOSTILE}" in text
    assert "'green' (30 rows) was not seen in training" in text
    assert "<i>new.csv through" in text
    table = page.dataframe[0].value
    assert table["prediction"].tolist() == expected.tolist()
    answer = page.session_state["tsetlin_score_page"]
    found = pd.read_csv(io.BytesIO(answer.csv))
    assert found["prediction"].tolist() == expected.tolist()


def test_the_chosen_threshold_is_used_and_named(current: Session, job: Job) -> None:
    held = comparing(current)
    model = job.settled
    assert held is not None
    assert model is not None
    held.choose(0.97, model)
    page = upload(open_page("score.py", current), "new.csv", job.X_test)
    expected = np.where(model.predict_proba(job.X_test)[:, 1] >= 0.97, HOSTILE, "small")
    assert page.dataframe[0].value["prediction"].tolist() == expected.tolist()
    assert f"{HOSTILE} from a probability of 0.97 on, the threshold from the Compare page" in text_of(page)
    assert f"The higher the votes, the more for {HOSTILE}." in text_of(page)


def test_a_threshold_at_a_point_of_the_dial_is_used_and_named(current: Session, job: Job) -> None:
    held, editing, dial = comparing(current), current.rules(), current.dial
    assert held is not None
    assert editing is not None
    assert dial is not None
    dial.begin()
    assert dial.task is not None
    assert dial.task.wait(60)
    assert dial.found is not None
    dial.choose(next(mark.n_rules for mark in dial.found.marks if 0 < mark.n_rules != dial.settled_rules))
    model = dial.model
    assert isinstance(model, TsetlinClassifier)
    held.choose(0.97, model)
    page = upload(open_page("score.py", current), "new.csv", job.X_test)
    expected = np.where(model.predict_proba(job.X_test)[:, 1] >= 0.97, HOSTILE, "small")
    assert page.dataframe[0].value["prediction"].tolist() == expected.tolist()
    assert f"{HOSTILE} from a probability of 0.97 on, the threshold from the Compare page" in text_of(page)
    dial.choose(dial.settled_rules)


def test_edited_rules_score_under_the_numbers_they_have(current: Session, job: Job) -> None:
    editing = current.rules()
    assert editing is not None
    editing.switch(1, False)
    page = upload(open_page("score.py", current), "new.csv", job.X_test)
    assert not page.exception
    table = page.dataframe[0].value
    assert table["prediction"].tolist() == editing.rules().predict(job.X_test).tolist()
    assert not any("1" in cell.split("; ") for cell in table["rules"])
    assert "probability small" not in table
    assert "edited by hand, so votes but no probabilities" in text_of(page)
    editing.switch(1, True)


def test_a_file_that_does_not_fit_is_named_in_one_sentence(current: Session, job: Job) -> None:
    page = upload(
        open_page("score.py", current), "new.csv", job.X_test.rename(columns={"size_mm": "Size (mm)"})
    )
    assert not page.exception
    text = text_of(page)
    assert "This file cannot be scored" in text
    assert "no column 'size_mm'" in text
    assert "'Size (mm)' may be 'size_mm'" in text
