"""The app as a whole: it starts, its pages hang together, and in a real browser names stay text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import session, style
from dashboard.session import Session
from tmcore.parameters import Parameters
from tmcore.table import read_table

APP = Path(session.__file__).parent / "app.py"
HOSTILE = "<img src=x onerror=alert(1)> **x** $y$ :red[z] -> www.a.org"


class FakeJob:
    """What a session needs of a run."""

    def __init__(self, epoch: float) -> None:
        self.latest = type("Snapshot", (), {"step": 1, "epoch": epoch})()
        self.settled = self.keeper = None
        self.closed = False

    def close(self) -> None:
        self.closed = True


def csv(n_rows: int = 40) -> bytes:
    return ("a,class\n" + "\n".join(f"{i % 7},{'xy'[i % 2]}" for i in range(n_rows))).encode()


def test_starts_on_the_data_page() -> None:
    app = AppTest.from_file(str(APP), default_timeout=60).run()
    assert not app.exception
    assert "No data yet" in app.title[0].value


def test_every_page_opens_empty_without_an_error() -> None:
    for name in ("data", "train", "rules"):
        app = AppTest.from_file(str(APP.parent / "views" / f"{name}.py"), default_timeout=60).run()
        assert not app.exception, name
        assert app.button, name


def test_training_on_other_data_closes_the_run_with_a_word() -> None:
    current = Session()
    current.open_table(read_table(csv()), "first", csv())
    current.train_on()
    job: Any = FakeJob(epoch=3.66)
    current.start(job)
    current.open_table(read_table(csv(60)), "second", csv(60))
    assert current.job is job  # looking at other data costs nothing
    assert current.unsaved == "the run on first at epoch 3.7"
    current.train_on()
    assert job.closed
    assert current.job is None
    notice = "Closed the run on first at epoch 3.7, because the data changed. It is not kept."
    assert current.take_notices() == [notice]
    assert current.take_notices() == [notice]  # a page drawn twice in a row still shows it
    current.shown_since[notice] -= session.NOTICE_SECONDS
    assert current.take_notices() == []
    assert current.split is not None
    assert len(current.split.y_train) == 48


def test_training_on_the_same_data_keeps_the_run() -> None:
    current = Session()
    current.open_table(read_table(csv()), "first", csv())
    current.train_on()
    job: Any = FakeJob(epoch=1.0)
    current.start(job)
    current.train_on()
    assert current.job is job
    assert not job.closed
    current.seed = 5
    current.train_on()
    assert job.closed


@pytest.mark.parametrize("usual", [Parameters(), Parameters(s=4.0)])
def test_other_data_start_from_the_usual_settings_and_edited_data_keep_theirs(usual: Parameters) -> None:
    current = Session(usual=usual, parameters=usual)  # of a link, or the defaults
    current.open_table(read_table(csv()), "first", csv())
    current.train_on()
    assert current.parameters == usual
    current.set_parameters(usual.replace(T=45, s=6.0))
    current.seed = 5
    current.train_on()
    current.reread({"separator": ","})
    current.train_on()
    assert (current.parameters.T, current.parameters.s) == (45, 6.0)
    current.open_table(read_table(csv(60)), "second", csv(60))
    assert current.parameters.s == 6.0  # the run that is there goes on
    current.train_on()
    assert current.parameters == usual
    assert "The settings start anew with the new data." in current.take_notices()


def test_data_that_cannot_be_trained_on_change_nothing() -> None:
    current = Session()
    current.open_table(read_table(csv()), "first", csv())
    current.train_on()
    split = current.split
    current.open_table(read_table(csv(60)), "second", csv(60))
    current.test_share = 0.001
    with pytest.raises(ValueError, match="too few"):
        current.train_on()
    assert current.split is split


@pytest.mark.parametrize(
    ("text", "escaped"),
    [("a", "a"), ("*a*", r"\*a\*"), ("1. x", r"1\. x"), ("$y$", r"\$y\$"), (":red[z]", r"\:red\[z\]")],
)
def test_plain_escapes_every_sign(text: str, escaped: str) -> None:
    assert style.plain(text) == escaped


@pytest.mark.parametrize("text", ["->", "<-", "--", ">=", "<=", "~=", "http://a", "www.a.org", "a@b.org"])
def test_plain_splits_what_would_become_an_arrow_or_a_link(text: str) -> None:
    assert "\u2060" in style.plain(text)
    assert re.sub(r"[\u2060\\]", "", style.plain(text)) == text


def test_numbers_as_printed() -> None:
    assert style.count(1204, "row") == "1,204\u00a0rows"
    assert style.count(1, "class", "classes") == "1\u00a0class"
    assert style.percent(0.854) == "85\u00a0%"
    assert style.percent(1.0) == "100\u00a0%"
    assert style.percent(0.998) == "99.8\u00a0%"
    assert style.percent(0.00004) == "0.004\u00a0%"
    assert style.size(9114) == "8.9\u00a0KB"
    assert style.size(1_300_000) == "1.2\u00a0MB"
    numbers = {
        1234567.8: "1,234,568",
        12.345678: "12.35",
        -0.00123456: "\u22120.001235",
        0.1 + 0.2: "0.3",
        0: "0",
    }
    assert [style.figure(number) for number in numbers] == list(numbers.values())
    assert style.signed(-1.166) == "\u22121.17"


@pytest.fixture
def tab(browser: Any, dashboard_url: str) -> Iterator[Any]:
    """A browser tab on the dashboard that fails the test on dialogs."""
    page = browser.new_page(viewport={"width": 1280, "height": 1600})
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(dashboard_url)
    page.get_by_role("button", name="Open Heart").wait_for(timeout=60_000)
    yield page
    page.close()
    assert dialogs == []


@pytest.mark.browser
def test_from_a_hostile_csv_to_its_rules(tab: Any) -> None:
    rng = np.random.default_rng(0)
    kind = rng.choice(["<b>bold</b>", "[l](http://z)", "c"], 120)
    frame = pd.DataFrame({HOSTILE: kind, "n": rng.integers(0, 9, 120)})
    frame["class"] = np.where(kind == "c", "<i>yes</i>", "no")
    upload = {"name": f"{HOSTILE[:20]}.csv".replace("/", ""), "mimeType": "text/csv"}
    tab.set_input_files("input[type=file]", {**upload, "buffer": frame.to_csv(index=False).encode()})
    tab.get_by_role("heading", name="120 rows, 2 columns, 2 classes").wait_for(timeout=30_000)
    tab.get_by_role("button", name="Train on this").click()
    tab.get_by_role("button", name=re.compile("^One epoch")).click(timeout=120_000)
    tab.get_by_text(re.compile(r"Epoch 1(\.0)? of")).first.wait_for(timeout=60_000)
    tab.get_by_role("link", name="Rules").click()
    tab.get_by_role("button", name="Settle now").click(timeout=30_000)
    tab.get_by_role("heading", name=re.compile("of unseen rows right")).wait_for(timeout=30_000)
    tab.get_by_text("START", exact=True).wait_for(timeout=30_000)
    sentences = "\n".join(tab.locator(".sentence").all_inner_texts())
    assert HOSTILE in sentences
    assert "<i>yes</i>" in sentences
    assert tab.locator("img[src=x], .sentence b b, .sentence i").count() == 0


@pytest.mark.browser
def test_a_file_over_the_limit_is_one_sentence(tab: Any, tmp_path: Path) -> None:
    big = tmp_path / "big.csv"
    with big.open("wb") as file:
        file.write(b"a,class\n1,x\n")
        file.truncate(200 * 2**20 + 1)
    tab.set_input_files("input[type=file]", str(big))
    tab.get_by_text(re.compile("200.*MB or smaller")).wait_for(timeout=30_000)
    assert tab.get_by_role("button", name="Open Heart").is_visible()
