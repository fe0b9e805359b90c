"""A small settled run on beans, and the pages it is looked at on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest

from dashboard import session
from dashboard.jobs import Job
from dashboard.session import Session
from dashboard.splitting import Split
from tmcore.parameters import Parameters

VIEWS = Path(session.__file__).parent / "views"
HOSTILE = "<b>large :red[x]"


def bean_split() -> Split:
    """90 rows to train on and 30 to test on, of two sizes."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"size_mm": rng.integers(0, 40, 120).astype(float), "noise": rng.normal(size=120)})
    X["colour"] = pd.Categorical(rng.choice(["red", "blue", "=1+1"], 120))
    y = pd.Series(np.where(X["size_mm"] + 4 * rng.normal(size=120) > 19, HOSTILE, "small"))
    return Split(X[:90], y[:90], X[90:], y[90:], 0, 0.25, False, "", HOSTILE)


def settled_job(split: Split, name: str = "beans.csv") -> Job:
    """A run on a split that has learned and is settled."""
    run = Job(
        split.X_train,
        split.y_train,
        split.X_test,
        split.y_test,
        Parameters(n_clauses=10, epochs=3),
        name,
        positive_class=split.positive_class,
        task=split.task,
    )
    run.set_speed("max")
    run.play()
    assert run.wait_until_idle(120)
    run.settle()
    run.wait_for_commands(1)
    assert run.wait_until_idle(60)
    return run


def open_page(view: str, current: Session) -> AppTest:
    """A page as a session sees it."""
    page = AppTest.from_file(str(VIEWS / view), default_timeout=60)
    page.session_state[session.KEY] = current
    return page.run()


def text_of(page: AppTest) -> str:
    """What a page says, without the signs that keep it plain."""
    parts = [*page.title, *page.subheader, *page.markdown, *page.caption]
    text = "\n".join(str(part.value) for part in parts)
    return text.replace("\\", "").replace("\u00a0", " ").replace("\u2060", "")


def choose(page: AppTest, section: str) -> AppTest:
    """Go to a section of the Compare page."""
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
