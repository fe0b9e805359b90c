"""A target that is a number, on the pages after learning: what is shown is what scikit-learn and the rules say."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from beans import VIEWS
from houses import PARAMETERS, by_hand, csv, houses, learned, opened
from streamlit.testing.v1 import AppTest

from dashboard import editing, keeping, session, your_runs
from dashboard.explain_view.looking import Looking
from dashboard.explain_view.numbers import NumberPainter
from dashboard.rule_list.counting import Counter
from dashboard.rule_list.listing import list_rules
from dashboard.rule_list.outcomes import NumberPart
from dashboard.rule_list.payload import Painter
from dashboard.session import Session
from dashboard.store import Store
from dashboard.style import amount
from tmcore.table import Table, read_table

PAGES = ("data", "train", "rules", "explain", "compare", "score")


@pytest.fixture(scope="module")
def trained() -> Iterator[Session]:
    current = learned()
    yield current
    assert current.job is not None
    current.job.close()


def test_listed_rules_have_their_support_and_mean_target(trained: Session) -> None:
    job = trained.job
    assert job is not None
    draft = trained.rules()
    assert draft is not None
    rules = draft.learned.rules
    counter = Counter(rules.classes, (job.X_train, job.y_train), (job.X_test, job.y_test))
    found = list_rules(rules, dict(enumerate(rules, start=1)), counter)
    body = json.loads(Painter(rules, job.X_train, job.y_train).body(found, rules, counter).data)
    assert body["measures"] == [["support", "percent"], ["mean", "size"]]
    for one, sent in zip(found, body["rules"], strict=True):
        for part, X, y in ((one.train, job.X_train, job.y_train), (one.test, job.X_test, job.y_test)):
            holds = np.logical_and.reduce([c.test(X[c.column]) for c in one.rule.conditions])
            assert isinstance(part, NumberPart)
            assert (part.n_rows, part.support) == (holds.sum(), pytest.approx(holds.mean()))
            if holds.any():
                assert part.mean == pytest.approx(y[holds].mean())
        assert isinstance(one.rule.weights, float)
        sign = "−" if one.rule.weights < 0 else "+"
        assert sent["outcome"] == f"adds {sign}{amount(abs(one.rule.weights))}\u00a0EUR"


def test_a_row_is_explained_as_start_and_rules(trained: Session) -> None:
    job = trained.job
    assert job is not None
    draft = trained.rules()
    assert draft is not None
    rules = draft.learned.rules
    looking = Looking(rules, True, (job.X_train, job.y_train), (job.X_test, job.y_test))
    told = NumberPainter(looking).build()
    json.dumps(told, allow_nan=False)
    predicted = rules.predict(job.X_test.iloc[[0]])[0]
    assert told["title"] == f"The rules say {amount(predicted, 'EUR')}"
    assert told["waterfall"]["rows"][0]["weight"] == amount(rules.intercept)  # type: ignore[arg-type]
    assert told["waterfall"]["total"]["to"] == pytest.approx(predicted - rules.intercept)
    errors = np.abs(job.y_test.to_numpy() - rules.predict(job.X_test))
    assert looking.wrong.tolist() == np.flatnonzero(errors > 2 * errors.mean()).tolist()
    assert told["flips"]["rows"] == []


def drawn(current: Session, page: str, seconds: float = 60) -> AppTest:
    app = AppTest.from_file(str(VIEWS / f"{page}.py"), default_timeout=seconds)
    app.session_state[session.KEY] = current
    app.run()
    assert not app.exception, (page, app.exception)
    return app


@pytest.mark.parametrize("page", PAGES)
def test_every_page_draws_numbers_at_every_stage(page: str) -> None:
    current = opened()
    drawn(current, page)
    if current.job is None:
        current.start(keeping.new_job(current, current.parameters))
    job = current.job
    assert job is not None
    assert job.wait_until_idle(60)
    drawn(current, page)
    job.one_epoch()
    assert job.wait_until_idle(30)
    drawn(current, page)
    job.settle()
    assert job.wait_until_idle(60)
    app = drawn(current, page)
    words = " ".join(one.value for one in [*app.title, *app.subheader, *app.caption]).replace("\\", "")
    if page in ("rules", "compare"):
        assert re.search(r"miss(es)? (30 )?unseen rows by", words)
    if page == "train":
        assert "Settled: " in words
    job.close()


def test_new_rows_are_scored_as_the_rules_say(trained: Session) -> None:
    job, draft = trained.job, trained.rules()
    assert job is not None
    assert draft is not None
    rules = draft.learned.rules
    app = AppTest.from_file(str(VIEWS / "score.py"), default_timeout=60)
    app.session_state[session.KEY] = trained
    app.session_state["score_file"] = ("new.csv", "new", job.X_test.to_csv(index=False).encode())
    app.run()
    assert not app.exception
    predicted = rules.predict(job.X_test)
    assert amount(predicted.mean(), "EUR") in app.title[0].value.replace("\\", "")
    (table,) = app.dataframe
    assert table.value["prediction"].tolist() == predicted.tolist()
    for number in (1, 2):  # edited rules answer as well
        draft.switch(number, on=False)
        app.run()
        assert not app.exception
        (table,) = app.dataframe
        assert table.value["prediction"].tolist() == draft.rules().predict(job.X_test).tolist()
    draft.reset()


def test_the_data_page_offers_both_where_both_make_sense() -> None:
    frame = houses().assign(stars=np.arange(150) % 5 + 1)
    current = Session()
    source = frame.to_csv(index=False).encode()
    current.open_table(read_table(source, target="stars"), "stars", source)
    app = drawn(current, "data")
    (box,) = [one for one in app.selectbox if one.label == "Predict it as"]
    assert box.options == ["a class", "a number"]
    box.select("numbers").run()
    assert not app.exception
    table = current.table
    assert isinstance(table, Table)
    assert table.task == "numbers"
    assert "stars from 1 to 5" in app.title[0].value.replace("\\", "")
    current.train_on()
    assert current.split is not None
    assert current.split.task == "numbers"


def test_a_kept_run_on_numbers_comes_back(kept: Store, until: Callable[..., None]) -> None:
    current = opened("ann")
    current.start(keeping.new_job(current, current.parameters))
    job = current.job
    assert job is not None
    assert job.wait_until_idle(60)
    job.one_epoch()
    assert job.wait_until_idle(30)
    until(lambda: kept.runs("ann") and kept.runs("ann")[0].step == 120)
    job.close()
    for lost in (False, True):
        (line,) = kept.runs("ann")
        if lost:  # only the encoded rows are left
            for name in ("table", "split"):
                (kept.folder / "runs" / line.id / name).unlink()
        mae, r2 = by_hand(job)["test"]
        assert (line.test_mae, line.test_r2) == (pytest.approx(mae), pytest.approx(r2))
        told = f"misses unseen rows by {amount(mae, 'EUR')}, R² {r2:.2f}".replace("-", "\N{MINUS SIGN}")
        assert told in your_runs.about(line)
        again = Session(owner="ann")
        keeping.open_run(again, line.id)
        back = again.job
        assert back is not None
        assert back.wait_until_idle(60)
        assert (back.task, back.state) == ("numbers", "paused")
        assert back.y_train.name == "price (EUR)"
        assert again.parameters == PARAMETERS  # T is "auto" still
        assert back.y_train.tolist() == job.y_train.tolist()
        assert editing.learned(back) is not None
        for page in PAGES:
            drawn(again, page)
        back.close()


@pytest.mark.browser
def test_from_an_upload_to_scored_rows_in_the_browser(make_server: Any, new_tab: Any) -> None:
    tab = new_tab(make_server(20.0).address)
    page = tab.page
    upload = {"name": "houses.csv", "mimeType": "text/csv", "buffer": csv()}
    page.locator("input[type=file]").wait_for(state="attached", timeout=60_000)
    page.set_input_files("input[type=file]", upload)
    choice = page.get_by_role("combobox", name=re.compile("Column to predict"))
    choice.wait_for(timeout=30_000)
    choice.click()
    choice.fill("price")
    page.get_by_role("option", name="price (EUR)").click()
    page.get_by_role("heading", name=re.compile("price from .* EUR")).wait_for(timeout=30_000)
    page.get_by_role("button", name="Train on this").click()
    tab.is_ready()
    page.keyboard.press("3")
    page.keyboard.press(" ")
    tab.shows("root.dataset.confirmed == 'finished'", 60)
    tab.shows("root.querySelector('h1').textContent.includes('miss unseen rows by')", 30)
    tab.shows(
        "/^Test rows are missed by/.test(root.querySelector('.stack section:nth-child(2) h2').textContent)"
    )
    page.get_by_role("button", name="Settle", exact=True).first.click()
    page.get_by_role("heading", name=re.compile("Settled: .* on average")).wait_for(timeout=60_000)
    page.get_by_role("link", name="Rules").click()
    page.get_by_role("heading", name=re.compile("rules? with .* unseen rows by")).wait_for(timeout=30_000)
    page.get_by_text("START", exact=True).wait_for(timeout=30_000)
    assert "adds" in page.locator(".sentence").first.inner_text()
    with page.expect_download(timeout=60_000) as download:
        page.get_by_role("button", name="Download SQL").click(timeout=60_000)
    assert 'AS "predicted_number"' in Path(download.value.path()).read_text()
    page.get_by_role("link", name="Score").click()
    page.get_by_role("button", name="Try it with the test rows").click(timeout=30_000)
    page.get_by_role("heading", name=re.compile("30 new rows: price from")).wait_for(timeout=30_000)
    page.get_by_role("heading", name="All 30 rows").wait_for(timeout=30_000)
