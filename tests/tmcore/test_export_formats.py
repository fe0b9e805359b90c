"""Every format says what the rules say, for any names, and runs nothing it should not."""

from __future__ import annotations

import ast
import dataclasses
import json
import sqlite3
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from tmcore.export import FORMATS, About, write
from tmcore.export.about import data_hash, describe
from tmcore.export.checks import read_html
from tmcore.export.sql_format import result_names, spellings
from tmcore.number_rules import NumberRules
from tmcore.parameters import Parameters
from tmcore.rules import Condition, Rule, RuleColumn, RuleSet

IMAGE = "<img src=x onerror=alert(1)>"
DOSE = RuleColumn("dose (mg)", "dose", "mg", "numeric", ())
GROUP = RuleColumn(IMAGE, IMAGE, None, "nominal", ("a", "it's", "\n-- x"))
GRADE = RuleColumn("grade", "grade", None, "ordinal", ("low", "mid", "top"))
SMOKER = RuleColumn("smoker", "smoker", None, "boolean", ("False", "True"))
COLUMNS = (DOSE, GROUP, GRADE, SMOKER)

HIGH_DOSE = Condition("dose (mg)", "dose", "numeric", unit="mg", lower=0.1)
DOSE_BETWEEN = Condition("dose (mg)", "dose", "numeric", unit="mg", lower=0.1, upper=0.3)
NOT_A = Condition(IMAGE, IMAGE, "nominal", not_in=("a",))
ITS = Condition(IMAGE, IMAGE, "nominal", is_in="it's")
NOT_TWO = Condition(IMAGE, IMAGE, "nominal", not_in=("it's", "\n-- x"))
MID_UP = Condition("grade", "grade", "ordinal", levels=("mid", "top"), all_levels=("low", "mid", "top"))
GRADE_KNOWN = Condition("grade", "grade", "ordinal", all_levels=("low", "mid", "top"), known=True)
SMOKES = Condition("smoker", "smoker", "boolean", value="True", all_levels=("False", "True"))

TWO = RuleSet(
    np.array(["no", "y'es"]),
    -0.25,
    (
        Rule((HIGH_DOSE,), 1.0),
        Rule((NOT_A, SMOKES), -0.5),
        Rule((DOSE_BETWEEN, ITS, MID_UP), 2.0**-16),
        Rule((GRADE_KNOWN, NOT_TWO), 0.25),
    ),
    COLUMNS,
)
ROWS: list[dict[str, Any]] = [
    {"dose (mg)": 0.2, IMAGE: "it's", "grade": "mid", "smoker": True},
    {"dose (mg)": 0.1, IMAGE: "a", "grade": "low", "smoker": False},
    {"dose (mg)": None, IMAGE: None, "grade": None, "smoker": None},
    {"dose (mg)": float("nan"), IMAGE: "new", "grade": "never seen", "smoker": True},
    {"dose (mg)": 9.0, IMAGE: "\n-- x", "grade": "top", "smoker": None},
]
# By hand: start -0.25; row 1 +1 -0.5 +2**-16; row 2 +0.25; row 3 nothing; row 4 -0.5; row 5 +1.
VOTES = [0.25 + 2.0**-16, 0.0, -0.25, -0.75, 0.75]
LABELS = ["y'es", "y'es", "no", "no", "y'es"]


def three() -> RuleSet:
    """Three classes; a row without any rule ties between the first two."""
    rules = (Rule((HIGH_DOSE,), (0.0, 0.5, 0.5)), Rule((ITS,), (1.0, 0.0, 0.25)))
    return RuleSet(np.array([7, -1, 3]), (0.5, 0.5, 0.0), rules, COLUMNS)


def run_python(data: bytes, rows: list[dict[str, Any]], folder: Path) -> tuple[list[Any], list[Any]]:
    (folder / "rules.py").write_bytes(data)
    code = "import json, runpy, sys; m = runpy.run_path('rules.py'); rows = json.loads(sys.argv[1])\n"
    code += "print(repr([[m['votes'](r) for r in rows], [m['predict'](r) for r in rows]]))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, json.dumps(rows)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    votes, labels = ast.literal_eval(done.stdout)
    return votes, labels


def test_python_by_hand(tmp_path: Path) -> None:
    assert run_python(write(TWO, "python"), ROWS, tmp_path) == (VOTES, LABELS)


def test_python_reads_numbers_and_truth_values_as_categories(tmp_path: Path) -> None:
    column = RuleColumn("code", "code", None, "nominal", ("1", "2.5", "True"))
    rules = tuple(
        Rule((Condition("code", "code", "nominal", is_in=name),), weight)
        for name, weight in (("1", 1.0), ("2.5", 2.0), ("True", 4.0))
    )
    data = write(RuleSet(np.array([False, True]), 0.0, rules, (column,)), "python")
    rows = [{"code": value} for value in (1, 1.0, "1", 2.5, "2.5", True, "True", 3, "1.0")]
    votes, labels = run_python(data, rows, tmp_path)
    assert votes == [1.0, 1.0, 1.0, 2.0, 2.0, 4.0, 4.0, 0.0, 0.0]
    assert labels == [True] * 9


def test_python_ties_go_to_the_first_class(tmp_path: Path) -> None:
    votes, labels = run_python(write(three(), "python"), ROWS, tmp_path)
    assert votes == [[1.5, 1.0, 0.75], [0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.5, 1.0, 0.5]]
    assert labels == [7, 7, 7, 7, -1]


def test_python_refuses_a_text_for_a_number_and_a_missing_column(tmp_path: Path) -> None:
    for row, message in ((ROWS[0] | {"dose (mg)": "0.2"}, "not the text '0.2'"), ({}, "KeyError")):
        with pytest.raises(subprocess.CalledProcessError) as caught:
            run_python(write(TWO, "python"), [row], tmp_path)
        assert message in caught.value.stderr


def run_sqlite(data: bytes, rules: RuleSet, rows: list[dict[str, Any]], table: str = "data") -> list[Any]:
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in ("id", *rows[0]))
    quoted = '"' + table.replace('"', '""') + '"'
    votes, label = result_names(rules)
    with sqlite3.connect(":memory:") as database:
        database.row_factory = sqlite3.Row
        database.execute(f"CREATE TABLE {quoted} ({names})")
        for number, row in enumerate(rows):
            marks = ", ".join("?" * (len(row) + 1))
            database.execute(f"INSERT INTO {quoted} VALUES ({marks})", [number, *row.values()])
        found = database.execute(data.decode()).fetchall()
    database.close()
    return [[[row[name] for name in votes], row[label]] for row in sorted(found, key=lambda row: row["id"])]


def test_sql_by_hand() -> None:
    expected = [[[votes], label] for votes, label in zip(VOTES, LABELS, strict=True)]
    assert run_sqlite(write(TWO, "sql"), TWO, ROWS) == expected


def test_sql_ties_go_to_the_first_class_and_the_table_has_any_name() -> None:
    rules, name = three(), 'my "table"; --'
    found = run_sqlite(write(rules, "sql", About(table=name)), rules, ROWS, name)
    assert [label for _, label in found] == [7, 7, 7, 7, -1]
    assert found[4][0] == [0.5, 1.0, 0.5]


def test_sql_in_duckdb_takes_native_types_and_nan() -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as database:
        database.execute(
            f'CREATE TABLE data (id INT, "dose (mg)" DOUBLE, "{IMAGE}" TEXT, grade TEXT, smoker BOOL)'
        )
        for number, row in enumerate(ROWS):
            database.execute("INSERT INTO data VALUES (?, ?, ?, ?, ?)", [number, *row.values()])
        assert database.execute('SELECT count(*) FROM data WHERE isnan("dose (mg)")').fetchone() == (1,)
        query = f"SELECT predicted_votes, predicted_class FROM ({write(TWO, 'sql').decode()}) ORDER BY id"
        assert database.execute(query).fetchall() == list(zip(VOTES, LABELS, strict=True))


def test_sql_result_names_avoid_columns() -> None:
    column = RuleColumn("Predicted_Votes", "x", None, "numeric", ())
    assert result_names(RuleSet(np.array([0, 1]), 0.0, (), (column,))) == (
        ("predicted_votes_",),
        "predicted_class_",
    )


def test_sql_of_two_thousand_rules_stays_shallow() -> None:
    rules = tuple(
        Rule((Condition("dose (mg)", "dose", "numeric", lower=float(k)),), 1.0) for k in range(2000)
    )
    many = RuleSet(np.array([0, 1]), -1000.0, rules, COLUMNS)
    rows = [{"dose (mg)": 1234.5}, {"dose (mg)": 1.0}]
    assert run_sqlite(write(many, "sql"), many, rows) == [[[235.0], 1], [[-999.0], 0]]


def test_spellings_are_what_databases_print() -> None:
    assert spellings("1", ("1", "2")) == ["1", "1.0"]
    assert spellings("1", ("1", "1.0")) == ["1"]
    assert spellings("True", ("False", "True")) == ["True", "true", "1"]
    assert spellings("True", ("Maybe", "True")) == ["True"]
    assert spellings("01", ("01",)) == ["01"]


def test_spark_writes_its_own_quotes() -> None:
    text = write(TWO, "spark", About(table="da`ta")).decode()
    assert "FROM `da``ta` AS r" in text
    assert f"r.`{IMAGE}` = 'it\\'s'" in text
    assert "CAST(r.`smoker` AS STRING) IN ('True', 'true', '1')" in text


def test_pmml_names_every_class_and_lets_the_second_win_ties() -> None:
    root = ElementTree.fromstring(write(TWO, "pmml"))
    space = "{http://www.dmg.org/PMML-4_4}"
    tables = [table.get("targetCategory") for table in root.iter(f"{space}RegressionTable")]
    assert tables == ["y'es", "no"]
    assert {field.get("name") for field in root.iter(f"{space}DataField")} == {
        "dose (mg)", IMAGE, "grade", "smoker", "class"
    }  # fmt: skip
    categories = {item.text for item in root.iter(f"{space}Constant") if item.get("dataType") == "string"}
    assert categories == {"a", "it's", "\n-- x", "low", "mid", "top", "True"}


def test_pmml_keeps_carriage_returns_and_refuses_what_xml_cannot_hold() -> None:
    def named(name: str) -> RuleSet:
        return RuleSet(np.array([0, 1]), 0.0, (Rule((Condition("g", "g", "nominal", is_in=name),), 1.0),), ())

    root = ElementTree.fromstring(write(named("a\r\nb"), "pmml"))
    assert "a\r\nb" in [item.text for item in root.iter("{http://www.dmg.org/PMML-4_4}Constant")]
    with pytest.raises(ValueError, match=r"U\+0000 in 'a.x00b'; rename"):
        write(named("a\0b"), "pmml")


class Tags(HTMLParser):
    """Tags and texts of a page."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_report_shows_hostile_names_as_text() -> None:
    about = About("</title><script>alert(1)</script>", settings=((IMAGE, IMAGE),), proof="<b>")
    page = Tags(write(TWO, "html", about))
    assert not {"script", "img", "link", "iframe"} & set(page.tags)
    assert page.texts.count(IMAGE) >= 4
    assert "</title><script>alert(1)</script>" in page.texts


def test_report_draws_what_each_value_adds() -> None:
    grade = RuleColumn("g", IMAGE, None, "nominal", ("a", "<b>"))
    size = RuleColumn("s", "size", "mm", "numeric", ())
    rules = RuleSet(
        np.array(["no", "yes"]),
        0.0,
        (
            Rule((Condition("s", "size", "numeric", "mm", lower=3.0),), 1.5),
            Rule((Condition("s", "size", "numeric", "mm", upper=7.0),), -0.5),
            Rule((Condition("g", IMAGE, "nominal", is_in="<b>"),), 0.25),
        ),
        (size, grade),
    )
    rows = pd.DataFrame({"s": np.arange(1.0, 12.0), "g": ["a"] * 11})
    page = write(rules, "html", About(rows=rows, labels=pd.Series(["no", "yes"] * 5 + ["no"]))).decode()
    # up to 3 only the second rule holds, up to 7 both, above 7 the first: on an axis of 260 px from 1 to 11
    assert 'aria-label="≤ 3: −0.50; 3 &lt; x ≤ 7: +1.00; &gt; 7: +1.50"' in page
    for x, wide in (("0", "52"), ("52", "104"), ("156", "104")):
        assert f'<rect x="{x}" y=' in page
        assert f'width="{wide}"' in page
    assert 'aria-label="a: +0.00; &lt;b&gt;: +0.25"' in page
    assert "<b>" not in page.split("<h2>What each value adds")[1].split("</section>")[0]
    assert "<img" not in page


def test_report_of_numbers_says_what_rules_add_and_the_mean_of_the_rows_they_cover() -> None:
    target = f"{IMAGE} (EUR)"
    rows = pd.DataFrame({"s": np.arange(1.0, 12.0)})
    y = pd.Series([10.0] * 3 + [20.0] * 4 + [40.0] * 4, name=target)
    above, below = (
        Condition("s", "size", "numeric", "mm", **ends) for ends in ({"lower": 3.0}, {"upper": 7.0})
    )
    rules = NumberRules(
        np.array([]),
        17.5,
        (Rule((above,), 15.0), Rule((below,), -7.5)),
        (RuleColumn("s", "size", "mm", "numeric", ()),),
    ).with_statistics(rows, y)
    page = Tags(write(rules, "html", About(rows=rows, labels=y)))
    assert not {"script", "img"} & set(page.tags)
    words = " ".join(" ".join(page.texts).split()).replace("\u00a0", " ")
    assert (
        f"Start at 17.5 and add the weight of every rule that holds. The sum is the predicted {IMAGE} in EUR."
        in words
    )
    # size > 3 covers rows 4 to 11: four of 20, four of 40; size <= 7 covers three of 10, four of 20
    assert f"size > 3 mm THEN raises {IMAGE} 8 rows 30.0" in words
    assert f"size ≤ 7 mm THEN lowers {IMAGE} 7 rows 15.7" in words
    assert "17.5 START every row begins here" in words
    text = write(rules, "html", About(rows=rows, labels=y)).decode()
    assert 'aria-label="≤ 3: −7.5; 3 &lt; x ≤ 7: +7.5; &gt; 7: +15.0"' in text
    assert read_html(text.encode()) == [[15.0], [-7.5], [17.5]]
    bare = " ".join(Tags(write(rules, "html")).texts)  # on the command line no rows are known
    assert "THEN raises number" in " ".join(bare.split())


def test_markdown_escapes_marks_but_not_numbers() -> None:
    lines = write(TWO, "markdown", About("a|b *c*")).decode().split("\n")
    assert lines[0] == "# a\\|b \\*c\\*"
    assert "| 1 | IF dose > 0.1 mg | 1.0 | y'es | 1 |  |  |" in lines
    assert any("\\<img src=x onerror=alert(1)>" in line for line in lines)


@pytest.mark.parametrize("name", ["python", "sql", "spark"])
def test_comments_cannot_end_early(name: str) -> None:
    title = 'x"""\n__import__("os").abort()\u2028 DROP TABLE data; \r*/'
    text = write(TWO, name, About(title, settings=(("a\nb", "c\r\nd"),), proof="p\n")).decode()
    mark = "#" if name == "python" else "--"
    holding = [line for line in text.splitlines() if "abort" in line or "DROP" in line]
    assert len(holding) == 1
    assert holding[0].startswith(mark)
    if name == "python":
        ast.parse(text)


def test_files_tell_where_they_come_from() -> None:
    rows = pd.DataFrame({"a": [1.0, 2.0]})
    about = dataclasses.replace(
        describe("Heart", Parameters(random_state=7), rows, pd.Series([0, 1]), (("right", "89 %"),)),
        proof="Checked.",
    )
    digest = dict(about.card)["training data, SHA-256"]
    edited = dataclasses.replace(TWO, edited=True)
    for name in set(FORMATS) - {"csv"}:
        text = write(edited, name, about).decode()
        assert all(part in text for part in ("Heart", "Checked.", digest, "89 %")), name
        assert ("dited by hand" in text) or json.loads(text)["edited"] is True


def test_data_hash_knows_values_names_and_labels() -> None:
    rows, labels = pd.DataFrame({"a": [1.0, np.nan], "b": ["x", "y"]}), pd.Series([0, 1])
    same = data_hash(rows.set_axis([5, 6]), labels)
    assert data_hash(rows, labels) == same
    assert len(same) == 64
    for other in (rows.rename(columns={"a": "c"}), rows.replace("x", "z"), rows.iloc[::-1]):
        assert data_hash(other, labels) != same
    assert data_hash(rows, pd.Series([1, 1])) != same
