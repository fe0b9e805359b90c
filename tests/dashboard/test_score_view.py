"""The Score page: a second CSV, also with other names of columns, and the answers to take away."""

from __future__ import annotations

import io
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from beans import HOSTILE, bean_split, open_page, settled_job, text_of
from streamlit.testing.v1 import AppTest

from dashboard.column_choice import choice
from dashboard.compare_view.state import comparing
from dashboard.jobs import Job
from dashboard.session import Session
from dashboard.splitting import Split
from tmcore.estimators import TsetlinClassifier
from tmcore.read_csv import read_raw


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


def check_threshold(current: Session, job: Job, model: TsetlinClassifier) -> None:
    """The page answers by a threshold between the two largest of the probabilities, and names it."""
    held, shares = comparing(current), model.rule_probabilities(job.X_test)[:, 1]
    assert held is not None
    threshold = round(float(np.unique(shares)[-2:].mean()), 2)
    held.choose(threshold, model)
    page = upload(open_page("score.py", current), "new.csv", job.X_test)
    expected = np.where(shares >= threshold, HOSTILE, "small")
    assert len(set(expected)) == 2
    assert page.dataframe[0].value["prediction"].tolist() == expected.tolist()
    said = f"{HOSTILE} from a probability of {threshold:.2f} on, the threshold from the Compare page"
    assert said in text_of(page)
    assert f"The higher the votes, the more for {HOSTILE}." in text_of(page)


def test_the_chosen_threshold_is_used_and_named(current: Session, job: Job) -> None:
    assert job.settled is not None
    check_threshold(current, job, job.settled)


def test_a_threshold_at_a_point_of_the_dial_is_used_and_named(current: Session, job: Job) -> None:
    current.rules()
    dial = current.dial
    assert dial is not None
    dial.begin()
    assert dial.task is not None
    assert dial.task.wait(60)
    assert dial.found is not None
    dial.choose(next(mark.n_rules for mark in dial.found.marks if 0 < mark.n_rules != dial.settled_rules))
    model = dial.model
    assert isinstance(model, TsetlinClassifier)
    check_threshold(current, job, model)
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
    page = upload(open_page("score.py", current), "new.csv", job.X_test.drop(columns="size_mm"))
    assert not page.exception
    text = text_of(page)
    assert "This file cannot be scored" in text
    assert "no column 'size_mm', which the model was trained on; add what is missing." in text
    assert not page.selectbox


def test_columns_called_otherwise_are_chosen_and_never_guessed(current: Session, job: Job) -> None:
    renamed = job.X_test.rename(columns={"size_mm": "Size (mm)", "noise": "<b>hum"}).assign(other=1)
    page = upload(open_page("score.py", current), "new.csv", renamed)
    assert not page.exception
    assert "2 columns missing, or called otherwise" in text_of(page)
    assert not page.dataframe  # nothing is read before the visitor says so
    size, noise = page.selectbox
    assert size.value == "Size (mm)"  # proposed
    assert noise.value is None
    use = next(button for button in page.button if button.label == "Score with these columns")
    assert use.disabled
    noise.set_value("Size (mm)").run()
    assert "“Size (mm)” is chosen twice" in text_of(page)
    page.selectbox[1].set_value("<b>hum").run()
    next(button for button in page.button if button.label == "Score with these columns").click().run()
    assert not page.exception
    assert job.settled is not None
    assert page.dataframe[0].value["prediction"].tolist() == job.settled.predict(job.X_test).tolist()
    assert "Read under another name: 'Size (mm)' as 'size_mm' and '<b>hum' as 'noise'." in text_of(page)
    next(button for button in page.button if button.label == "Choose the columns again").click().run()
    assert "2 columns missing, or called otherwise" in text_of(page)


def test_a_choice_says_what_the_columns_hold(job: Job) -> None:
    assert job.run is not None
    source = b"Colour,noise,Size\nred,0.5,3\nred,0.5,4\n"
    found = choice(read_raw(source), job.run.encoder)
    largest = f"{job.X_train['size_mm'].max():g}"
    assert [(one.name, one.held) for one in found.missing] == [
        ("size_mm", f"numbers from 0 to {largest}"),
        ("colour", "=1+1, blue, red"),
    ]
    assert found.unused == {"Colour": "red, red", "Size": "3, 4"}
    assert found.possible
    assert not choice(read_raw(b"noise\n1\n2\n"), job.run.encoder).possible


def test_the_only_column_with_such_values_is_proposed(current: Session, job: Job) -> None:
    assert job.run is not None
    found = choice(read_raw(b"q,w,colour,noise\n3,x,red,1\n4,y,red,2\n"), job.run.encoder)
    assert [(one.name, one.proposed, one.similar) for one in found.missing] == [("size_mm", "q", False)]
    found = choice(read_raw(b"q,w,colour,noise\n3,5,red,1\n4,6,red,2\n"), job.run.encoder)
    assert [one.proposed for one in found.missing] == [None]  # two columns of numbers
    found = choice(read_raw(b"q,colour\n3,red\n4,red\n"), job.run.encoder)
    assert [one.proposed for one in found.missing] == [None, None]  # two columns want it
    found = choice(read_raw(b"hue,size_mm,noise,w\nred,1,1,a\nblue,2,2,b\n"), job.run.encoder)
    assert [one.proposed for one in found.missing] == ["hue"]
    page = upload(open_page("score.py", current), "new.csv", job.X_test.rename(columns={"size_mm": "qq"}))
    assert "the only column with such values is proposed, which may be wrong." in text_of(page)
    assert "similar name is proposed" not in text_of(page)
    assert page.selectbox[0].value == "qq"
