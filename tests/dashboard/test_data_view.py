"""The Data page: examples, uploads good and bad, what is assumed and changed, and the way to training."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import sample_data
from dashboard import charts, session
from dashboard.session import Session
from dashboard.splitting import make_split, plan_split
from tmcore.table import Table, TableError, read_table

VIEW = Path(session.__file__).parent / "views" / "data.py"
HOSTILE = "<img src=x onerror=alert(1)> **x** $y$ :red[z]"


@pytest.fixture
def page() -> AppTest:
    """The Data page in a new session."""
    return AppTest.from_file(str(VIEW), default_timeout=60).run()


def held(page: AppTest) -> Session:
    """The page's session."""
    found = page.session_state[session.KEY]
    assert isinstance(found, Session)
    return found


def upload(page: AppTest, name: str, source: bytes) -> AppTest:
    """Put a file into the page's uploader."""
    return page.file_uploader[0].upload(name, source, "text/csv").run()


def box(page: AppTest, label: str) -> Any:
    """The select box with a label."""
    return next(box for box in page.selectbox if box.label == label)


def shown(page: AppTest) -> str:
    """All text of the page in one, without the backslashes that make it plain."""
    parts = [*page.title, *page.subheader, *page.markdown, *page.caption]
    return (
        "\n".join(str(part.value) for part in parts)
        .replace("\\", "")
        .replace("\u2060", "")
        .replace("\u00a0", " ")
    )


def test_starts_empty_with_one_sentence_and_an_example(page: AppTest) -> None:
    assert not page.exception
    assert "No data yet. Upload a CSV or open an example." in shown(page)
    assert page.button[0].label == "Open Heart"


def test_one_click_opens_an_example(page: AppTest) -> None:
    page.button[0].click().run()
    assert not page.exception
    # 150 of the 270 patients have no disease
    assert "270 rows, 13 columns, 2 classes: 56 % no disease" in shown(page)
    assert "216 rows to train on, 54 kept aside, both with the same class shares." in shown(page)


@pytest.mark.parametrize("sample", sample_data.samples(), ids=lambda sample: sample.key)
def test_every_example_can_be_trained_on(sample: sample_data.Sample) -> None:
    table = sample_data.load(sample.key)
    split = make_split(table, 0.2, 0)
    labelled = table.frame[sample.target].notna().sum()
    assert len(split.y_train) + len(split.y_test) == labelled
    assert len(split.y_test) == round(0.2 * labelled)
    if split.task == "classes":
        assert set(split.y_test) == set(split.y_train)
    else:
        assert np.array_equal(np.sort([*split.y_test, *split.y_train]), np.sort(table.frame[sample.target]))


BAD = {
    "empty": (b"", "empty"),
    "header": (b"a,b,class\n", "row"),
    "one row": (b"a,b,class\n1,2,x\n", "row"),
    "one class": (b"a,class\n" + b"".join(b"%d,x\n" % i for i in range(40)), "Every row has the same target"),
    "picture": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00" + bytes(range(256)) * 4, "."),
    "duplicate names": (b"a,a,class\n1,2,x\n2,3,y\n3,1,x\n4,5,y\n5,5,x\n6,7,y\n", "a"),
    "ragged": (b"a,b,class\n1,2,x\n1,2,y,9,9\n3,4,y\n", "row"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_upload_is_one_sentence_and_the_old_data_stay(page: AppTest, case: str) -> None:
    page.button[0].click().run()
    source, word = BAD[case]
    before = held(page).table
    upload(page, f"{case}.csv", source)
    assert not page.exception
    now = held(page).table
    text = shown(page)
    if now is before:
        assert ":red[:material/error:]" in text
        assert text.count("Still showing Heart.") == 1
    else:
        # It could be read: then training is either possible or refused with the reason on the page.
        button = next(button for button in page.button if button.label == "Train on this")
        assert not button.disabled or ":red[:material/error:]" in text
    assert word in text


def test_too_large_a_file_is_refused_and_changes_nothing() -> None:
    current = Session()
    current.open_upload(b"a,class\n1,x\n2,y\n3,x\n", "small.csv")
    before = current.table
    with pytest.raises(TableError, match=r"big.csv has 200.0 MB, and the limit is 200 MB"):
        current.open_upload(bytes(200 * 2**20 + 1), "big.csv")
    assert current.table is before
    assert current.name == "small.csv"


def test_two_thousand_columns_work(page: AppTest) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 9, (60, 2000)), columns=[f"c{i}" for i in range(2000)])
    frame["class"] = np.where(frame["c3"] > 4, "high", "low")
    upload(page, "wide.csv", frame.to_csv(index=False).encode())
    assert not page.exception
    assert "60 rows, 2,000 columns, 2 classes" in shown(page)


def test_target_with_gaps_trains_on_the_rows_that_have_one(page: AppTest) -> None:
    rows = [f"{i},{'' if i % 5 == 0 else 'xy'[i % 2]}" for i in range(50)]
    upload(page, "gaps.csv", ("a,class\n" + "\n".join(rows)).encode())
    assert not page.exception
    assert "32 rows to train on, 8 kept aside" in shown(page)


def test_hostile_names_are_plain_text(page: AppTest) -> None:
    rows = [f"{i % 7},{i % 3},{'<b>A</b>' if i % 2 else '[x](http://y)'}" for i in range(60)]
    upload(page, "h.csv", f'"{HOSTILE}",b,"{HOSTILE} class"\n'.encode() + "\n".join(rows).encode())
    box(page, "Column to predict").select(f"{HOSTILE} class").run()
    assert not page.exception
    texts = [str(part.value) for part in [*page.title, *page.subheader, *page.markdown, *page.caption]]
    marked = [text for text in texts if "img" in text or "<b" in text or "http" in text]
    assert len(marked) >= 3  # the sentence, what it predicts, the balance
    for text in marked:
        active = re.sub(r"\\.", "", text)  # what is left when escaped signs are taken out
        assert not set("<$*`") & set(active)
        assert "](" not in active


def test_numbers_as_classes_are_named_with_their_column(page: AppTest) -> None:
    rows = [f"{i % 9},{int(i % 4 > 0)}" for i in range(40)]
    upload(page, "n.csv", ("a,won\n" + "\n".join(rows)).encode())
    assert "40 rows, 1 column, 2 classes: 75 % with won 1" in shown(page)


def test_changing_the_target_changes_the_sentence(page: AppTest) -> None:
    page.button[0].click().run()
    box(page, "Column to predict").select("sex").run()
    assert "2 classes: 68 % male" in shown(page)  # 183 of 270
    assert "predicting sex" in shown(page)


def test_last_change_can_be_undone(page: AppTest) -> None:
    page.button[0].click().run()
    before = held(page).table
    box(page, "Column to predict").select("sex").run()
    next(button for button in page.button if button.label == "Undo the last change").click().run()
    assert not page.exception
    assert held(page).table is before
    assert box(page, "Column to predict").value == "diagnosis"
    assert "Undo the last change" not in [button.label for button in page.button]


def test_the_class_to_predict_is_a_choice(page: AppTest) -> None:
    page.button[0].click().run()
    # 120 of the 270 patients have the disease
    assert "'disease' is the class to predict, since fewer rows have it (120 of 270)." in shown(page)
    assert "predicting diagnosis: disease" in shown(page)
    choice = box(page, "Class to predict")
    assert (choice.options, choice.value) == (["disease", "no disease"], "disease")
    held(page).train_on()
    split = held(page).split
    assert split is not None
    assert split.positive_class == "disease"
    choice.select("no disease").run()
    assert not page.exception
    assert "is the class to predict" not in shown(page)  # it is not assumed any more
    assert "predicting diagnosis: no disease" in shown(page)
    assert not held(page).is_current  # another class to predict is another run
    held(page).train_on()
    assert held(page).split.positive_class == "no disease"


def test_the_class_to_predict_is_chosen_of_two_only(page: AppTest) -> None:
    rows = [f"{i % 9},{'xyz'[i % 3]}" for i in range(40)]
    upload(page, "n.csv", ("a,class\n" + "\n".join(rows)).encode())
    assert "Class to predict" not in [one.label for one in page.selectbox]
    assert held(page).table.positive_class is None


@pytest.mark.parametrize(("first", "second"), [("True", "False"), ("1", "0"), ("1", "-1"), ("b", "a")])
def test_the_class_to_predict_may_be_a_number_or_a_truth_value(
    page: AppTest, first: str, second: str
) -> None:
    rows = [f"{i % 9},{first if i % 4 else second}" for i in range(40)]
    upload(page, "n.csv", ("a,class\n" + "\n".join(rows)).encode())
    assert not page.exception
    assert f"predicting class: {second}" in shown(page)  # 10 of the 40 rows
    box(page, "Class to predict").select_index([*sorted([first, second])].index(first)).run()
    assert not page.exception
    assert f"predicting class: {first}" in shown(page)
    counts = page.session_state[session.KEY].table.labels().value_counts()
    assert dict(counts.astype(int)) == {held(page).table.positive_class: 30, counts.index[1]: 10}


def test_classes_are_drawn_in_the_colours_of_a_run(page: AppTest) -> None:
    page.button[0].click().run()
    drawn = json.loads(page.get("plotly_chart")[0].proto.spec)["data"][0]
    assert drawn["y"] == ["● no disease", "▲ disease"]  # class 1 is the one to predict


def test_reading_differently_keeps_the_class_to_predict(page: AppTest) -> None:
    rows = [f"{i % 11};{i % 9},5;{'xyy'[i % 3]}" for i in range(40)]
    upload(page, "s.csv", ("a;b;class\n" + "\n".join(rows)).encode())
    box(page, "Class to predict").select("y").run()
    box(page, "Decimal").select("point").run()
    assert not page.exception
    assert box(page, "Class to predict").value == "y"


def test_reading_differently_keeps_the_class_of_two_numbers_chosen_to_be_classes() -> None:
    source = ("a,b\n" + "\n".join(f"{i % 11},{i % 3 % 2}" for i in range(40))).encode()
    current = Session()
    current.open_upload(source, "two.csv")
    assert current.table is not None
    assert current.table.with_target("b").positive_class == 1  # the rarer
    current.edit(current.table.with_target("b").with_task("classes").with_positive_class(0))
    current.reread({"separator": ","})
    assert current.table is not None
    assert (current.table.chosen_task, current.table.positive_class) == ("classes", 0)


def test_a_class_chosen_by_hand_outlives_what_a_link_asked_for() -> None:
    source = ("a,b\n" + "\n".join(f"{i % 11},{'xyy'[i % 3]}" for i in range(40))).encode()
    current = Session()
    current.ask_for_class("y")
    table = read_table(source, target="b")
    current.open_table(table, "kept", None)  # a kept run's table comes as it was
    current.edit(table.with_positive_class("x"))
    assert current.table is not None
    assert current.table.positive_class == "x"
    current.ask_for_class("nobody")
    assert len(current.past) == 1  # there is nothing to undo where nothing changed
    current.ask_for_class("y")
    assert current.table.positive_class == "y"


def test_reading_differently_reads_the_kept_bytes_again(page: AppTest) -> None:
    rows = [f"{i % 11};{i % 9},5;{'xy'[i % 2]}" for i in range(40)]
    upload(page, "s.csv", ("a;b;class\n" + "\n".join(rows)).encode())
    assert "40 rows, 2 columns, 2 classes" in shown(page)
    box(page, "Decimal").select("point").run()
    assert not page.exception
    table = held(page).table
    assert table is not None
    assert table.frame["b"].iloc[0] == "0,5"  # with a decimal point this is not a number
    assert table.target == "class"


def test_levels_can_be_put_in_order(page: AppTest) -> None:
    page.button[0].click().run()
    raises = [button for button in page.button if str(button.key).startswith("raise-")]
    raises[1].click().run()
    assert not page.exception
    table = held(page).table
    assert table is not None
    assert list(table.features()["ST slope"].cat.categories) == ["flat", "upsloping", "downsloping"]


@pytest.fixture
def table() -> Table:
    rows = [f"{i},{i % 4},{'xy'[i % 4 == 0]}" for i in range(100)]
    return read_table(("a,b,class\n" + "\n".join(rows)).encode())


def test_split_keeps_shares_is_seeded_and_leaves_no_row_out(table: Table) -> None:
    split = make_split(table, 0.2, 7)
    assert split.stratified
    assert (split.y_test == "y").sum() == 5  # a quarter of 20
    assert sorted([*split.X_train.index, *split.X_test.index]) == sorted(table.features().index)
    again, other = make_split(table, 0.2, 7), make_split(table, 0.2, 8)
    assert list(again.X_test.index) == list(split.X_test.index)
    assert list(other.X_test.index) != list(split.X_test.index)


def test_split_plan_tells_why_it_is_not_by_class() -> None:
    plan = plan_split(pd.Series({"x": 30, "rare": 1}), 0.2)
    assert (plan.n_train, plan.n_test, plan.stratified) == (25, 6, False)
    assert "not by class, since rare has only 1 row." in plan.text
    plan = plan_split(pd.Series(dict.fromkeys("abcdef", 3)), 0.2)
    assert "not by class, since 4 rows cannot hold all 6 classes." in plan.text


@pytest.mark.parametrize("counts", [{"x": 30}, {"x": 1, "y": 1}, {}])
def test_split_of_too_little_is_refused(counts: dict[str, int]) -> None:
    with pytest.raises(TableError):
        plan_split(pd.Series(counts, dtype="int64"), 0.2)


@pytest.mark.parametrize(
    ("counts", "finding"),
    [
        ({"no": 150, "yes": 120}, "56\u00a0% of rows are no"),
        ({"a": 50, "b": 49, "c": 51}, "The 3 classes are nearly even"),
        ({"a": 5}, "Every row is a"),
    ],
)
def test_balance_finding(counts: dict[str, int], finding: str) -> None:
    assert charts.balance_finding(pd.Series(counts)) == finding
