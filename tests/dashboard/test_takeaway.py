"""The Rules page hands out files that were run, and a link that carries settings only."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import sample_data
from dashboard import session, settings_link, style, takeaway
from dashboard.jobs import Job
from dashboard.session import Session
from tmcore.experiments.hostile_table import IMAGE, hostile_table
from tmcore.export import FORMATS, write
from tmcore.export.about import describe
from tmcore.export.outcomes import marked
from tmcore.export.proof import MODEL, Proof
from tmcore.parameters import Parameters

VIEW = Path(session.__file__).parent / "views" / "rules.py"
APP = Path(session.__file__).parent / "app.py"


@pytest.fixture(scope="module")
def job() -> Iterator[Job]:
    """A settled run on 120 rows."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"size_mm": rng.integers(0, 40, 120).astype(float), "noise": rng.normal(size=120)})
    y = pd.Series(np.where(X["size_mm"] > 19, "<b>large", "small"))
    run = Job(X[:90], y[:90], X[90:], y[90:], Parameters(n_clauses=10, epochs=4), "beans & co.csv")
    run.set_speed("max")
    run.play()
    assert run.wait_until_idle(120)
    run.settle()
    assert run.wait_until_idle(120)
    yield run
    run.close()


@pytest.fixture(autouse=True)
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make up a few hundred rows only."""
    monkeypatch.setattr("tmcore.export.proof.MOST_TESTS", 2000)


def open_page(job: Job) -> AppTest:
    page = AppTest.from_file(str(VIEW), default_timeout=60)
    page.session_state[session.KEY] = Session(job=job, trained_name="beans")
    return page.run()


def text_of(page: AppTest) -> str:
    parts = [*page.markdown, *page.caption]
    return "\n".join(str(part.value) for part in parts).replace("\\", "").replace("\u00a0", " ")


def test_every_format_is_offered() -> None:
    assert set(takeaway.CHOICES) == {*FORMATS, MODEL}


def test_each_format_is_run_and_shown(job: Job) -> None:
    page = open_page(job)
    assert not page.exception
    words = {
        "sql": "SQLite ran the SQL",
        "python": "A Python process",
        "html": "was read back",
        MODEL: "tmcore.load",
    }
    for name, sentence in words.items():
        page.radio(key="takeaway_format").set_value(name).run()
        assert not page.exception
        assert sentence in text_of(page)
        proof = page.session_state[takeaway.MEMO].proofs[name]
        assert proof.equal
        if name == "sql":
            assert "same votes as the model on all 120 rows" in proof.sentence
        if name != MODEL:
            assert page.code[0].value == takeaway.preview(proof.data)[0]
    assert b'FROM "beans_co" AS r' in page.session_state[takeaway.MEMO].proofs["sql"].data


def test_a_failed_proof_disables_the_download_and_shows_the_rows(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = pd.DataFrame({"row": ["row 2", "row 5", "generated 1"]})
    failed = Proof("sql", b"x", False, 120, 120, 10, "SQLite ran the SQL", "the model", (1, 4, 120), examples)
    monkeypatch.setattr(takeaway, "prove", lambda *_: failed)
    page = open_page(job)
    assert not page.exception
    assert "Not equal on 3 rows" in text_of(page)
    assert list(page.dataframe[-1].value["row"]) == ["row 2", "row 5", "generated 1"]
    button = next(item for item in page.get("download_button") if item.proto.label == "Download SQL")
    assert button.proto.disabled
    assert not page.code


def test_rules_that_are_not_the_models_are_compared_with_themselves(job: Job) -> None:
    assert job.outcome is not None
    estimator = job.outcome.estimator
    edited = replace(estimator.rules_, rules=estimator.rules_.rules[:1], edited=True)
    proof = takeaway._prove("json", takeaway.Proven(edited, estimator, ()), job)
    assert proof.equal
    assert "same votes as the rules on" in proof.sentence
    assert json.loads(proof.data)["edited"] is True
    assert takeaway._prove(MODEL, takeaway.Proven(edited, estimator, ()), job).equal


def test_preview_is_cut_where_a_file_is_long() -> None:
    assert takeaway.preview(b"a\nb\n") == ("a\nb", "")
    shown, more = takeaway.preview(b"line\n" * 1000)
    assert shown.count("line") == takeaway.MOST_LINES
    assert more == "The first 300 of 1,000 lines; the download has them all."


@pytest.mark.parametrize(
    ("name", "table"), [("Heart", "heart"), ("beans & co.csv", "beans_co"), ('";DROP', "drop"), ("…", "data")]
)
def test_table_names_are_plain(name: str, table: str) -> None:
    assert takeaway.table_name(name) == table


# The link ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [
        Parameters(),
        Parameters(n_clauses=40, T=7.5, s=3.25, weights="real", max_levels=None, random_state=2**62),
        Parameters(boost_true_positive=True, class_weight="balanced", max_literals=4, early_stopping=True),
    ],
)
def test_settings_go_through_a_link(parameters: Parameters) -> None:
    from urllib.parse import parse_qsl

    assert settings_link.from_query(dict(parse_qsl(settings_link.to_query(parameters)))) == parameters


def test_of_classes_a_link_names_only_the_one_to_predict() -> None:
    weighted = Parameters(class_weight={"secret": 2.0})
    assert settings_link.to_query(weighted) == ""
    assert settings_link.to_query(weighted, "a&b") == "positive_class=a%26b"


def test_the_class_of_a_link_is_predicted_once_data_have_it() -> None:
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params["positive_class"] = "no disease"
    app.run()
    assert not app.exception
    assert any("the class to predict, no disease" in str(item.value).replace("\\", "") for item in app.info)
    current = app.session_state[session.KEY]
    current.open_upload(b"a,b\n1,x\n2,y\n", "other.csv")
    assert (current.table.chosen_class, current.class_asked) == (None, "no disease")
    heart = sample_data.load("heart")
    assert heart.positive_class == "disease"
    current.open_table(heart, "Heart", b"")
    assert current.table.positive_class == "no disease"
    current.edit(current.table.with_positive_class("disease"))  # the link has had its say
    assert current.table.positive_class == "disease"


def test_arriving_with_a_link_sets_the_settings_once() -> None:
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params.update({"n_clauses": "40", "weights": "none", "page": "x"})
    app.run()
    assert not app.exception
    assert app.session_state[session.KEY].parameters == Parameters(n_clauses=40, weights="none")
    assert any("The settings come from the link" in str(item.value) for item in app.info)


@pytest.mark.parametrize(
    ("query", "message"),
    [({"s": "x"}, "no number"), ({"n_clauses": "7"}, "even number"), ({"weights": "a"}, "a")],
)
def test_a_spoilt_link_says_so_and_changes_nothing(query: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        settings_link.from_query(query)
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params.update(query)
    app.run()
    assert not app.exception
    assert app.session_state[session.KEY].parameters == Parameters()


# In a browser ------------------------------------------------------------------------------------------------------


def test_the_report_has_the_colours_and_shapes_of_the_pages() -> None:
    light, dark = (
        files("tmcore.export")
        .joinpath("report.css")
        .read_text("utf-8")
        .split("@media (prefers-color-scheme: dark)")
    )
    for name, by_day, by_night in re.findall(
        r"--([\w-]+): light-dark\((#\w+), (#\w+)\)", style.text_of("tokens.css")
    ):
        if re.fullmatch(r"c\d+|bg|ink\d?|for|against", name):
            assert f"--{name}: {by_day};" in light
            assert f"--{name}: {by_night};" in dark
    assert "var(--c11)" in marked(11)
    assert style.mark(11) in marked(11)


@pytest.mark.browser
def test_the_report_shows_a_hostile_column_as_text(browser: Any, tmp_path: Path) -> None:
    from tmcore import TsetlinClassifier

    X, y = hostile_table(3, 200)
    rules = TsetlinClassifier(40, epochs=6, random_state=1).fit(X, y).rules_
    assert any(condition.column == IMAGE for rule in rules for condition in rule.conditions)
    about = describe(f"</title>{IMAGE}", Parameters(), X, y)
    file = tmp_path / "report.html"
    file.write_bytes(write(rules, "html", about))
    page = browser.new_page()
    seen: list[str] = []
    page.on("dialog", lambda dialog: (seen.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: seen.append(request.url))
    page.on("console", lambda message: seen.append(message.text))
    page.goto(file.as_uri())
    page.wait_for_timeout(300)
    assert seen == [file.as_uri()]  # no dialog, no other request, nothing blocked by the page's policy
    assert page.locator("img, script").count() == 0
    assert page.get_by_text(IMAGE, exact=True).count() > 0
    assert page.locator("h1").inner_text().startswith(f"</title>{IMAGE}")
    assert page.locator("svg.glyph").count() >= sum(
        not condition.known for rule in rules for condition in rule.conditions
    )
    page.close()


@pytest.mark.browser
def test_downloads_in_the_running_app_are_the_files_shown(browser: Any, dashboard_url: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 1600})
    page.goto(dashboard_url)
    page.get_by_role("button", name="Open Heart").click(timeout=60_000)
    page.get_by_role("button", name="Train on this").click(timeout=30_000)
    page.get_by_role("button", name=re.compile("^One epoch")).click(timeout=120_000)
    page.get_by_text(re.compile(r"Epoch 1(\.0)? of")).first.wait_for(timeout=60_000)
    page.get_by_role("link", name="Rules").click()
    page.get_by_role("button", name="Settle now").click(timeout=30_000)
    page.get_by_role("button", name="Download SQL").wait_for(timeout=90_000)
    page.get_by_role("button", name=re.compile("^Every rule")).wait_for(timeout=120_000)
    for label, begins in (("SQL", b"--"), ("JSON", b"{")):
        page.locator(".st-key-takeaway_format label", has_text=re.compile(f"^{label}")).first.click()
        button = page.get_by_role("button", name=f"Download {label}", exact=True)
        button.wait_for(timeout=60_000)
        with page.expect_download(timeout=30_000) as waiting:
            button.click()
        data = Path(waiting.value.path()).read_bytes()
        assert data.startswith(begins)
        if label == "JSON":
            n_rules = len(json.loads(data)["rules"])
            assert page.locator("h1").first.inner_text().replace("\u00a0", " ").startswith(f"{n_rules} rule")
        else:
            assert b"gave the same votes as the model on all 270 rows" in data
    page.close()


def test_files_of_many_rules_are_made_when_asked_for(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(takeaway, "MOST_UNASKED", 0)
    page = open_page(job)
    assert not page.exception
    assert page.session_state[takeaway.MEMO].proofs == {}
    page.button(key="takeaway_make_sql").click().run()
    assert not page.exception
    assert list(page.session_state[takeaway.MEMO].proofs) == ["sql"]
    assert page.session_state[takeaway.MEMO].proofs["sql"].equal
