"""A target that is a number, on every page: what is shown is what scikit-learn and the rules say."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import train_test_split
from streamlit.testing.v1 import AppTest

from dashboard import keeping, session, your_runs
from dashboard.editing import learned
from dashboard.explain_view.looking import Looking
from dashboard.explain_view.numbers import NumberPainter
from dashboard.jobs import Job
from dashboard.live.facts import facts
from dashboard.live.memory import Memory
from dashboard.live.points import FULL
from dashboard.rule_list.counting import Counter
from dashboard.rule_list.listing import list_rules
from dashboard.rule_list.outcomes import NumberPart
from dashboard.rule_list.payload import Painter
from dashboard.session import Session
from dashboard.store import Store
from dashboard.style import amount
from tmcore.number_contenders import compare_numbers
from tmcore.parameters import Parameters
from tmcore.table import Table, read_table

VIEWS = Path(session.__file__).parent / "views"
PAGES = ("data", "train", "rules", "explain", "compare", "score")
PARAMETERS = Parameters(n_clauses=20, epochs=4, s=3.0, random_state=2)


def houses(n_rows: int = 150) -> pd.DataFrame:
    """Rooms with gaps, a place, and a price in EUR that they decide."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"rooms": rng.integers(1, 9, n_rows).astype(float)})
    frame["<b>place</b>"] = rng.choice(["town", "hill", "shore"], n_rows)
    frame["area (m2)"] = rng.uniform(20, 200, n_rows).round(1)
    price = 100 + 80.0 * (frame["rooms"] > 4) + 45.5 * (frame["<b>place</b>"] == "shore")
    frame["price (EUR)"] = (price + 0.3 * frame["area (m2)"] + rng.normal(scale=9, size=n_rows)).round(2)
    frame.loc[::11, "rooms"] = np.nan
    return frame


def csv() -> bytes:
    return houses().to_csv(index=False).encode()


def opened(owner: str = "") -> Session:
    current = Session(owner=owner, parameters=PARAMETERS)
    current.open_table(read_table(csv(), target="price (EUR)"), "houses", csv())
    current.train_on()
    return current


@pytest.fixture(scope="module")
def trained() -> Iterator[Session]:
    """A session whose run has learned and is settled."""
    current = opened()
    current.start(keeping.new_job(current, current.parameters))
    job = current.job
    assert job is not None
    job.set_speed("max")
    job.play()
    assert job.wait_until_idle(60)
    yield current
    job.close()


@pytest.fixture
def memory(trained: Session) -> Iterator[Memory]:
    assert trained.job is not None
    made = Memory(trained.job)
    made.refresh()
    yield made
    made.close()


def by_hand(job: Job) -> dict[str, tuple[float, float]]:
    """MAE and R2 of the votes, by scikit-learn: lowest + votes / T * width."""
    run = job.run
    assert run is not None
    span = run.target_range
    assert span is not None
    found = {}
    for part, codes, y in (
        ("train", run.codes, job.y_train),
        ("test", run.encoder.transform(job.X_test), job.y_test),
    ):
        votes = run.machine.votes(run.machine.prepare(codes))[:, 0] / 2**16
        predicted = span.lowest + votes / job.parameters.vote_target * span.width
        found[part] = mean_absolute_error(y, predicted), r2_score(y, predicted)
    return found


def test_rows_are_divided_at_random_with_the_seed() -> None:
    split = opened().split
    assert split is not None
    frame = houses()
    _, expected = train_test_split(frame["price (EUR)"], test_size=30, random_state=0)
    assert split.y_test.tolist() == expected.tolist()
    assert (split.task, split.stratified) == ("numbers", False)
    assert split.note == "120 rows to train on, 30 kept aside, drawn at random."


def test_a_frame_says_mae_and_r2_as_scikit_learn_does(trained: Session, memory: Memory) -> None:
    job = trained.job
    assert job is not None
    told = memory.frame()
    json.dumps(told, allow_nan=False)
    for part, (mae, r2) in by_hand(job).items():
        assert told[part] == pytest.approx(mae, rel=1e-4)
        assert told[f"{part}R2"] == pytest.approx(r2, abs=1e-4)
        assert told["history"][part][-1] == pytest.approx(mae, rel=1e-4)
        assert told["history"][f"{part}R2"][-1] == pytest.approx(1000 * r2, abs=0.5)
    assert told["T"] == PARAMETERS.n_clauses  # "auto" is all clauses
    assert told["sides"] == [20, 0]


def test_the_fit_and_the_residuals_are_those_of_the_votes(trained: Session, memory: Memory) -> None:
    job = trained.job
    assert job is not None
    assert job.run is not None
    memory.view.wants = ("standing",)
    told = memory.frame()["standing"]
    y = np.concatenate([job.y_train, job.y_test])
    places = np.frombuffer(base64.b64decode(told["actual"]), "<u2") / FULL
    assert told["low"] + places * (told["high"] - told["low"]) == pytest.approx(y, abs=0.01)
    assert told["train"] == 120
    places = np.frombuffer(base64.b64decode(told["predicted"]), "<u2") / FULL
    predicted = told["low"] + places * (told["high"] - told["low"])
    assert mean_absolute_error(job.y_test, predicted[120:]) == pytest.approx(
        by_hand(job)["test"][0], abs=0.01
    )
    missed = np.abs(job.y_test - predicted[120:])
    assert told["halfMissed"] == pytest.approx(np.median(missed), abs=0.01)
    assert [sum(counts) for counts in told["residuals"]] == [120, 30]


def test_frames_do_without_what_only_facts_need(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def median(numbers: object) -> float:
        raise AssertionError("a median of all rows for one frame")

    monkeypatch.setattr(np, "median", median)
    assert "testR2" in memory.frame()


def test_facts_divide_the_rows_at_the_median(trained: Session) -> None:
    job = trained.job
    assert job is not None
    assert job.run is not None
    told = facts(job.run, job)
    middle = float(np.median(job.y_train))
    assert told["classes"] == [f"price ≤ {amount(middle, 'EUR')}", f"price > {amount(middle, 'EUR')}"]
    numbers = told["numbers"]
    assert (numbers["unit"], numbers["lowest"]) == ("EUR", job.y_train.min())
    mean = job.y_train.mean()
    assert numbers["meanMisses"] == pytest.approx(mean_absolute_error(job.y_test, np.full(30, mean)))
    area = next(c for c in told["columns"] if c["label"] == "area")
    upper = job.X_train["area (m2)"][job.y_train > middle]
    assert sum(area["counts"][1]) == len(upper)
    assert told["points"]["labels"][:120] == (job.y_train > middle).astype(int).tolist()


def test_going_back_asking_why_and_branching(trained: Session) -> None:
    job = trained.job
    assert job is not None
    assert job.run is not None
    made = Memory(job)
    made.refresh()
    made.take({"number": 1, "commands": [{"id": "a", "name": "go", "value": 77}]})
    told = made.frame()
    assert told["past"]
    assert told["step"] == 77
    made.take({"number": 2, "commands": [{"id": "b", "name": "why", "value": None}]})
    why = made.frame()["why"]
    row = why["row"]
    assert why["target"] == job.y_train.iloc[row]
    span = job.run.target_range
    assert span is not None
    wanted = (why["target"] - span.lowest) / span.width * 20
    assert why["wanted"] == pytest.approx(wanted, abs=1e-3)
    assert why["chance"] == pytest.approx(abs(wanted - min(why["v"], 20)) / 20, abs=1e-4)
    assert any("is too" in line for line in why["clause"]["words"]) or why["chance"] == 0
    made.take({"number": 3, "commands": [{"id": "c", "name": "last_move", "value": None}]})
    json.dumps(made.frame(), allow_nan=False)
    branch = job.run.branch(77, s=2.0)
    assert (branch.step, branch.task.name) == (77, "numbers")
    made.close()


def test_settling_measures_before_and_after(trained: Session) -> None:
    job = trained.job
    assert job is not None
    votes = by_hand(job)
    job.settle()
    assert job.wait_until_idle(60)
    assert job.outcome is not None
    model = job.outcome.estimator
    predicted = model.predict(job.X_test)
    mae, r2 = mean_absolute_error(job.y_test, predicted), r2_score(job.y_test, predicted)
    lines = {name: (before, after) for name, before, after in job.goal.lines(
        job.outcome.before.scores, job.outcome.after.scores)}  # fmt: skip
    assert lines["Unseen rows, mean error (MAE)"] == (amount(votes["test"][0], "EUR"), amount(mae, "EUR"))
    assert lines["Unseen rows, R²"] == (f"{votes['test'][1]:.2f}".replace("-", "−"), f"{r2:.2f}")
    miss = mean_absolute_error(job.y_test, np.full(30, job.y_train.mean()))
    assert amount(miss, "EUR") in job.goal.baseline(job.y_test)


def test_listed_rules_have_their_support_and_mean_target(trained: Session) -> None:
    job = trained.job
    assert job is not None
    editing = trained.rules()
    assert editing is not None
    rules = editing.learned.rules
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
    editing = trained.rules()
    assert editing is not None
    rules = editing.learned.rules
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


def test_the_usual_models_are_scored_on_the_same_rows(trained: Session) -> None:
    job = trained.job
    assert job is not None
    found = {one.name: one for one in compare_numbers(
        (job.X_train, job.y_train), (job.X_test, job.y_test), 0)}  # fmt: skip
    assert list(found) == ["Mean", "Shallow tree", "Ridge", "Forest"]
    mean = np.full(30, job.y_train.mean())
    assert found["Mean"].mae == pytest.approx(mean_absolute_error(job.y_test, mean))
    assert found["Mean"].r2 == pytest.approx(r2_score(job.y_test, mean))
    assert found["Forest"].mae < found["Mean"].mae


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
        assert "miss unseen rows by" in words or "misses unseen rows by" in words
    if page == "train":
        assert "Settled: " in words
    job.close()


def test_new_rows_are_scored_as_the_rules_say(trained: Session) -> None:
    job, editing = trained.job, trained.rules()
    assert job is not None
    assert editing is not None
    rules = editing.learned.rules
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
        editing.switch(number, on=False)
        app.run()
        assert not app.exception
        (table,) = app.dataframe
        assert table.value["prediction"].tolist() == editing.rules().predict(job.X_test).tolist()
    editing.reset()


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
        assert learned(back) is not None
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
