"""The Compare page: what it says and counts where classes are predicted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from beans import HOSTILE, bean_split, choose, open_page, press, settled_job, text_of
from sklearn.metrics import f1_score, roc_auc_score

from dashboard.background import Task
from dashboard.compare_view import judging, models, other_run
from dashboard.compare_view.state import HALF, Beside, Comparing, comparing
from dashboard.compare_view.words import ClassWords
from dashboard.jobs import Job
from dashboard.session import Session
from dashboard.splitting import Split
from tmcore.compare import difference
from tmcore.thresholds import confusion
from tmcore.uncertainty import share_interval


@pytest.fixture(scope="module")
def split() -> Split:
    return bean_split()


@pytest.fixture(scope="module")
def job(split: Split) -> Iterator[Job]:
    run = settled_job(split)
    yield run
    run.close()


@pytest.fixture
def current(job: Job, split: Split) -> Session:
    return Session(job=job, split=split, trained_name="beans.csv")


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
    assert "30 test rows leave much open" in text


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
    for rows in judging.splits_of(judging.Divide(kind, values, "red", 5), split, y):
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
    shares = model.rule_probabilities(job.X_test)[:, 1]
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
    words = ClassWords(split)
    frame = models.as_frame(measured, words)
    assert list(frame.index[:4]) == ["Intervals", "Thresholds", "Weighted intervals", "Commonest class"]
    assert frame.loc["Intervals", f"F1 of {HOSTILE}"] == measured[0].scores["F1"]
    assert models.finding(measured, words) in text_of(page)
    for one in measured:  # whatever the model, F1 is of the class to predict, here the first in sorted order
        said = np.where(one.answers.predicted == 1, HOSTILE, "small")
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
    scores: Any = None
    for k in range(10):
        held.keep(Beside(str(k), model, scores))
    assert [one.name for one in held.beside] == [str(k) for k in range(2, 10)]


def three_kinds(owls_to_test: int) -> Split:
    """Rows of three classes of 40, of the last so many among the 30 test rows."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame({"a": rng.normal(size=120), "b": rng.normal(size=120)})
    y = pd.Series(np.where(X["a"] > 0.4, "cat", np.where(X["b"] > 0, "dog", "owl")))
    owls = np.flatnonzero(y == "owl")
    others = np.flatnonzero(y != "owl")
    test = np.concatenate([owls[:owls_to_test], others[: 30 - owls_to_test]])
    train = np.setdiff1d(np.arange(120), test)
    return Split(X.iloc[train], y.iloc[train], X.iloc[test], y.iloc[test], 0, 0.25, False, "")


def test_scores_of_three_classes_are_named_and_those_of_scikit_learn() -> None:
    split = three_kinds(10)
    job = settled_job(split)
    page = open_page("compare.py", Session(job=job, split=split, trained_name="kinds"))
    assert not page.exception
    assert job.settled is not None
    table = page.dataframe[0].value
    assert table.index.tolist() == [
        "accuracy", "balanced accuracy", "F1, mean over classes", "AUC, one class against the rest"
    ]  # fmt: skip
    expected = f1_score(split.y_test, job.settled.predict(split.X_test), average="macro")
    assert table.loc["F1, mean over classes", "score"] == round(expected, 3)
    shares = job.settled.predict_proba(split.X_test)
    expected = roc_auc_score(split.y_test, shares, multi_class="ovr", average="macro")
    assert table.loc["AUC, one class against the rest", "score"] == round(expected, 3)
    low, high = table.loc["AUC, one class against the rest", ["95 % from", "95 % to"]]
    assert low < expected < high
    assert "Worked out for each of the 3 classes" in text_of(page)
    job.close()


def test_why_there_is_no_auc_is_one_sentence() -> None:
    split = three_kinds(0)
    job = settled_job(split)
    page = open_page("compare.py", Session(job=job, split=split, trained_name="kinds"))
    assert not page.exception
    said = "AUC, one class against the rest cannot be computed: no test row is 'owl'."
    assert said in text_of(page)
    job.close()
