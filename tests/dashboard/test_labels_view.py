"""Labels with too few rows on the Data page: said up front, mended with a click, undone, and kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import keeping, session, splitting
from dashboard.session import Session
from dashboard.store import Store
from tmcore.table import Table, read_table

VIEW = Path(session.__file__).parent / "views" / "data.py"


def csv(last: str = "Yess") -> bytes:
    """40 Yes, 39 No, one of another label and one "maybe"."""
    labels = ["Yes"] * 40 + ["No"] * 39 + [last, "maybe"]
    return ("a,class\n" + "\n".join(f"{k % 7},{label}" for k, label in enumerate(labels))).encode()


@pytest.fixture
def page() -> AppTest:
    """The Data page with such a table."""
    page = AppTest.from_file(str(VIEW), default_timeout=60).run()
    return page.file_uploader[0].upload("answers.csv", csv(), "text/csv").run()


def press(page: AppTest, label: str) -> None:
    next(
        button for button in page.button if button.label.replace("\u00a0", " ").replace("\\", "") == label
    ).click().run()
    assert not page.exception


def words(page: AppTest) -> str:
    return (
        "\n".join(str(one.value) for one in [*page.title, *page.markdown])
        .replace("\\", "")
        .replace("\u00a0", " ")
    )


def counts(page: AppTest) -> dict[str, int]:
    table = page.session_state[session.KEY].table
    assert isinstance(table, Table)
    return table.labels().value_counts().to_dict()


def test_labels_are_mended_one_after_the_other_and_taken_back(page: AppTest) -> None:
    assert "Too few rows of 'Yess' (1 row) and 'maybe' (1 row) in 'class'" in words(page)
    assert "'Yess' looks like 'Yes' (40 rows)." in words(page)
    press(page, "Read 'Yess' as 'Yes'")
    assert counts(page) == {"Yes": 41, "No": 39, "maybe": 1}
    assert "1 row with 'Yess' in 'class' is read as 'Yes', as chosen." in words(page)
    assert "Too few rows of 'maybe' (1 row) in 'class'" in words(page)
    press(page, "Leave out 1 row")
    assert counts(page) == {"Yes": 41, "No": 39}
    assert "1 row with 'maybe' in 'class' is left out, as chosen." in words(page)
    assert "80 of 81 rows, 1 column, 2 classes" in words(page)
    assert "Too few rows" not in words(page)
    next(button for button in page.button if button.label == "Undo").click().run()  # the first choice alone
    assert counts(page) == {"Yes": 40, "No": 39, "Yess": 1}
    press(page, "Undo the last change")
    assert counts(page) == {"Yes": 41, "No": 39}


def test_rows_of_all_rare_labels_are_left_out_together(page: AppTest) -> None:
    press(page, "Leave out 2 rows")
    assert counts(page) == {"Yes": 40, "No": 39}
    current = page.session_state[session.KEY]
    current.train_on()
    assert len(current.split.y_train) + len(current.split.y_test) == 79
    assert current.split.stratified


def test_nothing_is_offered_that_leaves_one_class(page: AppTest) -> None:
    source = b"a,class\n" + b"".join(b"%d,Yes\n" % (k % 7) for k in range(40)) + b"3,yes\n"
    page.file_uploader[0].upload("two.csv", source, "text/csv").run()
    assert "'yes' looks like 'Yes' (40 rows)" in words(page)
    offered = [button.label for button in page.button if button.label.startswith(("Read ", "Leave out"))]
    assert offered == []


@pytest.mark.parametrize("odd", [["x" * 80 + one for one in "ab"], ["a\u00a0b", "a\u2003b"]])
def test_labels_that_read_the_same_are_mended_and_taken_back_one_by_one(
    page: AppTest, odd: list[str]
) -> None:
    labels = ["Yes"] * 40 + ["No"] * 39 + odd
    source = "a,class\n" + "\n".join(f"{k % 7},{label}" for k, label in enumerate(labels))
    page.file_uploader[0].upload("same.csv", source.encode(), "text/csv").run()
    assert not page.exception
    press(page, "Leave out 2 rows")
    assert counts(page) == {"Yes": 40, "No": 39}
    undo = [button for button in page.button if button.label == "Undo"]
    assert len(undo) == 2
    undo[1].click().run()
    assert not page.exception
    assert counts(page) == {"Yes": 40, "No": 39, odd[1]: 1}


def test_buttons_for_labels_that_read_the_same_are_told_apart(page: AppTest) -> None:
    labels = ["Yes"] * 40 + ["No"] * 39 + ["x" * 80] * 9 + ["X" * 80 + one for one in (" ", ".", "..")]
    labels += ["x" * 79 + "X"]
    source = "a,class\n" + "\n".join(f"{k % 7},{label}" for k, label in enumerate(labels))
    page.file_uploader[0].upload("long.csv", source.encode(), "text/csv").run()
    assert not page.exception
    assert len([button for button in page.button if button.label.startswith("Read ")]) == 4


def test_choices_outlive_reading_the_file_differently() -> None:
    current = Session()
    current.open_upload(csv(), "answers.csv")
    assert current.table is not None
    current.edit(current.table.with_label("Yess", "Yes"))
    current.reread({"encoding": "cp1252"})
    assert current.table.label_choices == {"Yess": "Yes"}


def test_choices_are_kept_with_a_run(kept: Store, made_up: Any, until: Any) -> None:
    current = Session(owner="ann")
    table = read_table(csv()).with_label("Yess", "Yes").with_label("maybe", None)
    current.open_table(table, "answers", csv())
    current.train_on()
    current.start(keeping.new_job(current, made_up.PARAMETERS))
    assert current.job is not None
    assert current.job.wait_until_idle(120)
    current.job.one_epoch()
    assert current.job.wait_until_idle(10)
    current.drop_job("the test goes on")
    until(lambda: kept.runs("ann") and kept.runs("ann")[0].step == 64)
    again = Session(owner="ann")
    keeping.open_run(again, kept.runs("ann")[0].id)
    assert again.table is not None
    assert again.table.label_choices == {"Yess": "Yes", "maybe": None}
    assert again.split is not None
    assert sorted(again.split.y_train.unique()) == ["No", "Yes"]
    again.drop_job("the test ends")


def test_a_split_that_leaves_a_class_too_few_training_rows_is_said() -> None:
    labels = ["a"] * 40 + ["b"] * 4
    table = read_table(("x,class\n" + "\n".join(f"{k % 7},{one}" for k, one in enumerate(labels))).encode())
    assert splitting.thin_classes(table, 0.2, 0) is None
    for seed in range(8):
        learned = int((splitting.make_split(table, 0.5, seed).y_train == "b").sum())
        assert (splitting.thin_classes(table, 0.5, seed) is None) == (learned >= 3)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_the_quick_answer_is_that_of_the_division(share: float) -> None:
    rng = np.random.default_rng(1)
    labels = [*rng.choice(["a", "b", "c"], 60, p=[0.6, 0.3, 0.1]), "d", "d", "d", "d"]
    table = read_table(("x,class\n" + "\n".join(f"{k % 7},{one}" for k, one in enumerate(labels))).encode())
    for seed in range(5):
        learned = splitting.make_split(table, share, seed).y_train.value_counts()
        expected = any(
            learned.get(label, 0) < 3 for label, n in table.labels().value_counts().items() if n >= 4
        )
        assert (splitting.thin_classes(table, share, seed) is not None) == expected
