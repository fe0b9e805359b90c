"""Reading CSV files: what is guessed, what is found wrong, what is refused."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tmcore import read_csv
from tmcore.table import Table, TableError, read_table
from tmcore.texts import natural_order


def csv(rows: Iterable[Iterable[object]], separator: str = ",") -> bytes:
    return ("\n".join(separator.join(map(str, row)) for row in rows) + "\n").encode()


def many(n_rows: int = 40, **columns: Sequence[object]) -> bytes:
    """A file with a number column x, a class column, and the columns given (repeated to fill the rows)."""
    rng = np.random.default_rng(0)
    names = ["x", *columns, "class"]
    rows = [
        [i * 0.5 + 0.25, *(values[i % len(values)] for values in columns.values()), rng.choice(["a", "b"])]
        for i in range(n_rows)
    ]
    return csv([names, *rows])


def roles(table: Table) -> dict[str, str]:
    return {column.name: column.role for column in table.columns}


def messages(table: Table, severity: str) -> str:
    return "\n".join(p.message for p in table.problems if p.severity == severity)


def test_source_kinds_give_the_same_table(tmp_path: Path) -> None:
    data = many()
    path = tmp_path / "rows.csv"
    path.write_bytes(data)
    frame = read_table(data).frame
    for source in (path, str(path), io.BytesIO(data), io.StringIO(data.decode()), gzip.compress(data)):
        pd.testing.assert_frame_equal(read_table(source).frame, frame)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("Größe,class\n1,ä\n2,b\n".encode(), "utf-8"),
        ("Größe,class\n1,ä\n2,b\n".encode("utf-8-sig"), "utf-8"),
        ("Größe,class\n1,ä\n2,b\n".encode("cp1252"), "cp1252"),
        ("Größe,class\n1,ä\n2,b\n".encode("utf-16"), "utf-16"),
    ],
)
def test_encodings(data: bytes, encoding: str) -> None:
    table = read_table(data)
    assert list(table.frame.columns) == ["Größe", "class"]
    assert table.labels().tolist() == ["ä", "b"]
    assert encoding.upper() in table.assumptions[0]


def test_cyrillic_code_page() -> None:
    text = "Имя;Город\nИван;Москва\nОльга;Казань\nПётр;Самара\nАнна;Москва\n"
    assert read_table(text.encode("cp1251")).frame["Город"].tolist() == [
        "Москва",
        "Казань",
        "Самара",
        "Москва",
    ]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_are_found_although_quoted_cells_hold_others(separator: str) -> None:
    rows = [["name", "note", "class"], ["1", '"a,b;c|d\te"', "x"], ["2", '"say ""hi"", now"', "y"]]
    frame = read_table(csv(rows, separator)).frame
    assert frame["note"].tolist() == ["a,b;c|d\te", 'say "hi", now']


def test_decimal_comma() -> None:
    table = read_table(b"a;b;class\n1,5;1.234,5;x\n2;7;y\n-0,25;8;x\n")
    assert table.frame["a"].tolist() == [1.5, 2.0, -0.25]
    assert table.frame["b"].tolist() == [1234.5, 7.0, 8.0]
    assert "decimal comma" in table.assumptions[0]
    assert any("'b'" in sentence and "groups thousands" in sentence for sentence in table.assumptions)
    given = read_table(b"a;class\n1,5;x\n2;y\n", decimal=".", separator=";")
    assert given.frame["a"].tolist() == ["1,5", "2"]


def test_thousands_groups_do_not_make_a_decimal_comma() -> None:
    table = read_table(b"a;class\n1,234;x\n12,345;y\n7;x\n")
    assert table.frame["a"].tolist() == [1234, 12345, 7]


def test_every_number_is_the_float_nearest_to_its_decimal() -> None:
    texts = ["0.1", "5.779", "1e-7", "123456.789012345", "2.675", ".5", "-3.", "+4"]
    frame = read_table(csv([["a", "class"], *([text, "xy"[i % 2]] for i, text in enumerate(texts))])).frame
    assert frame["a"].tolist() == [float(text) for text in texts]


def test_missing_markers_and_blanks() -> None:
    table = read_table(many(n_rows=42, m=["?", " 3.5 ", "NA", "", "n/a", "7", "nan"]))
    column = next(c for c in table.columns if c.name == "m")
    assert (column.role, column.n_missing, column.n_unique) == ("numeric", 30, 2)
    said = "30 cells count as missing: 6 empty, 6 with '?', 6 with 'NA', 6 with 'n/a' and 6 with 'nan'."
    assert said in table.assumptions
    assert "Column 'm' is empty in 71 % of the rows." in messages(table, "warning")


def test_roles() -> None:
    table = read_table(
        many(
            n_rows=60,
            code=[0, 1],
            two=["red", "blue"],
            age=["10-14", "5-9", ">=60", "<5", "15-19"],
            level=["High", "low", "Medium"],
            colour=["red", "green", "blue"],
            few=[1, 2, 3],
            when=["2019-04-26", "2020-05-01", "2021-01-31"],
            day=["26.04.2019", "1.5.2020", "31.1.2021"],
            same=["k"],
            zip=["01234", "04321", "10115"],
            none=[""],
        )
    )
    assert roles(table) == {
        "x": "numeric",
        "code": "boolean",
        "two": "boolean",
        "age": "ordinal",
        "level": "ordinal",
        "colour": "nominal",
        "few": "numeric",
        "when": "ignored",
        "day": "ignored",
        "same": "ignored",
        "zip": "nominal",
        "none": "ignored",
        "class": "boolean",
    }
    features = table.features()
    assert list(features["age"].cat.categories) == ["<5", "5-9", "10-14", "15-19", ">=60"]
    assert list(features["level"].cat.categories) == ["low", "Medium", "High"]
    assert features["age"].cat.ordered
    assert not features["colour"].cat.ordered
    assert list(features["code"].cat.categories) == ["0", "1"]
    assert features["few"].dtype == np.float64
    assert list(features["zip"].cat.categories) == ["01234", "04321", "10115"]
    assert not {"when", "same", "none", "class"} & set(features.columns)


@pytest.mark.parametrize(
    ("texts", "order"),
    [
        (["10-14", "5-9", "100-200"], ["5-9", "10-14", "100-200"]),
        (["3+", "0", "2", "1"], ["0", "1", "2", "3+"]),
        (["(2, 3]", "(1, 2]", "(10, 20]"], ["(1, 2]", "(2, 3]", "(10, 20]"]),
        (["over 60", "under 20", "20 to 60"], ["under 20", "20 to 60", "over 60"]),
        (["1.5–2", "≤1.5", ">2"], ["≤1.5", "1.5–2", ">2"]),
        (["L", "S", "M", "XL"], ["S", "M", "L", "XL"]),
        (["red", "low", "high"], None),
        (["20-10", "30-40", "50-60"], None),
    ],
)
def test_natural_order(texts: list[str], order: list[str] | None) -> None:
    assert natural_order(texts) == order


def test_identifiers_and_free_text_are_left_out() -> None:
    columns = {
        "line": range(1, 241),
        "name": [f"person {i}" for i in range(240)],
        "patient_id": [1000 + (i * 7) % 240 for i in range(240)],
        "customer": [f"C{i // 2}" for i in range(240)],
        "comment": [f"comment {i % 25} that goes on for longer than a category would" for i in range(240)],
        "time": [i * i for i in range(240)],
        "y": [i % 2 for i in range(240)],
    }
    table = Table.from_frame(pd.DataFrame(columns))
    assert {c.name: c.note for c in table.columns if c.role == "ignored"} == {
        "line": "counts the rows",
        "name": "a different text in every row",
        "patient_id": "looks like an identifier",
        "customer": "120 different texts",
        "comment": "free text",
    }
    assert "Column 'comment' is left out: free text." in messages(table, "info")
    assert any(s.startswith("Left out: 'line' (counts the rows), 'name'") for s in table.assumptions)


def test_almost_numeric_column_names_its_cells() -> None:
    table = read_table(many(n_rows=50, age=[*range(20, 45), *range(20, 37), "unknown", *range(40, 46), 9]))
    assert roles(table)["age"] == "numeric"
    assert "Column 'age' holds 'unknown' in row 44, not a number" in messages(table, "warning")
    assert table.frame["age"].iloc[42] == "unknown"
    ages = table.features()["age"]
    assert np.isnan(ages.loc[44])
    assert ages.notna().sum() == 49
    assert table.with_role("age", "nominal").features()["age"].loc[44] == "unknown"


@pytest.mark.parametrize(
    ("header", "target"),
    [
        (["class", "a", "b"], "class"),
        (["a", "Survived", "b"], "Survived"),
        (["two_year_recid", "a", "b"], "two_year_recid"),
        (["a", "b", "c"], "c"),
    ],
)
def test_target_is_guessed_and_said(header: list[str], target: str) -> None:
    table = read_table(csv([header, *([i % 2, i % 3, i % 2] for i in range(12))]))
    assert table.target == target
    assert any(f"'{target}' is the column to predict" in sentence for sentence in table.assumptions)


def test_labels_keep_their_type() -> None:
    def labels(values: Sequence[object]) -> list[object]:
        return read_table(many(20, y=values), target="y").labels().tolist()

    assert labels([0, 1])[:2] == [0, 1]
    assert labels(["1.0", "2.0"])[:2] == [1, 2]
    assert labels(["0.5", "1.5"])[:2] == ["0.5", "1.5"]
    assert labels(["yes", "no"])[:2] == ["yes", "no"]
    frame = pd.DataFrame({"a": [1.0, 2.0], "t": [True, False]})
    assert Table.from_frame(frame, target="t").labels().dtype == bool


def test_rows_without_target_are_left_out_and_rows_keep_their_numbers() -> None:
    table = read_table(b"x,class\n1,a\n2,\n\n3,b\n4,a\n5,b\n")
    assert table.n_rows == 5
    assert table.features().index.tolist() == table.labels().index.tolist() == [2, 5, 6, 7]
    assert "1 row without a value in the target 'class' is left out." in messages(table, "warning")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "The file is empty"),
        (b"\n \n", "The file is empty"),
        (b"a,b,c\n", "The file has a header but no rows"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "a PNG picture, not text"),
        (b"PK\x03\x04rest", "Excel workbook"),
        (bytes(range(256)) * 4, "binary data"),
        (b"a,b\n1,2\n3,\x00\n", "binary data"),
        (b"\x1f\x8bnonsense", "gzip file is damaged"),
        (b'a,b\n1,"2\n3,4\n', "quotation mark"),
        (b'a,b\n1,2\n"3,4\n5,6\n', "quotation mark is opened in row 3"),
    ],
)
def test_files_that_are_no_table(data: bytes, message: str) -> None:
    with pytest.raises(TableError, match=message):
        read_table(data)


def test_ragged_row_is_named() -> None:
    rows = [["c"] * 14, *(["1"] * 14 for _ in range(39)), ["1"] * 9, ["1"] * 14]
    with pytest.raises(TableError) as error:
        read_table(csv(rows))
    assert str(error.value) == "Row 41 has 9 cells, the header has 14. Check the separator."


def test_too_large(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    data = many()
    (tmp_path / "big.csv").write_bytes(data)
    monkeypatch.setattr(read_csv, "MAX_BYTES", 100)
    for source in (data, tmp_path / "big.csv", io.BytesIO(data), gzip.compress(data)):
        with pytest.raises(TableError, match="take a sample of its rows"):
            read_table(source)
    monkeypatch.undo()
    monkeypatch.setattr(read_csv, "MAX_ROWS", 10)
    with pytest.raises(TableError, match="more than 10 rows"):
        read_table(data)
    monkeypatch.setattr(read_csv, "MAX_COLUMNS", 1)
    with pytest.raises(TableError, match="2 columns; at most 1"):
        read_table(data)


def test_no_such_file_encoding_or_decimal() -> None:
    with pytest.raises(TableError, match=r"no file 'nowhere\.csv'"):
        read_table("nowhere.csv")
    with pytest.raises(TableError, match="no encoding called 'klingon'"):
        read_table(b"a,b\n1,2\n", encoding="klingon")
    with pytest.raises(TableError, match="byte 3"):
        read_table("ab\xe4,b\n1,2\n".encode("latin-1"), encoding="utf-8")
    with pytest.raises(TableError, match="decimal mark"):
        read_table(b"a,b\n1,2\n", decimal="x")
    with pytest.raises(TableError, match="one character"):
        read_table(b"a,b\n1,2\n", separator=",,")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a,class\n1,x\n", "one row of data"),
        (b"a,class\n1,x\n2,x\n3,x\n", "Every row has the same target, 'x'"),
        (b"a,class\n1,\n2,\n3,\n", "has no values"),
        (b"class\nx\ny\nx\n", "one column only, 'class'. Check the separator."),
        (b"a,class\nk,x\nk,y\nk,x\n", "No column is left to learn from"),
        (csv([["a", "class"], *([i % 7, f"t{i % 30}"] for i in range(90))]), "at most 20 classes"),
        (csv([["a", "b"], *([i * 1.5, i * 2.5] for i in range(40))]), "choose the column to predict"),
    ],
)
def test_what_cannot_be_learned_from_is_an_error(data: bytes, message: str) -> None:
    table = read_table(data)
    assert table.problems[0].severity == "error"
    assert message in messages(table, "error")


def test_repeated_and_blank_column_names() -> None:
    table = read_table(b"a,a, ,a (2),class\n1,2,3,4,x\n3,4,4,6,y\n")
    assert list(table.frame.columns) == ["a", "a (3)", "column 3", "a (2)", "class"]
    assert "Two columns are called 'a'; the one at position 2 is now called 'a (3)'." in messages(
        table, "warning"
    )


def test_two_thousand_columns() -> None:
    numbers = np.random.default_rng(0).integers(0, 9, (30, 2000))
    rows = [
        [*(f"c{i}" for i in range(2000)), "class"],
        *([*row, "ab"[i % 2]] for i, row in enumerate(numbers)),
    ]
    table = read_table(csv(rows))
    assert table.features().shape == (30, 2000)
    assert not messages(table, "error")


def test_header_of_numbers_is_doubted() -> None:
    table = read_table(b"1,2,3\n4,5,0\n6,5,1\n")
    assert "The first row holds numbers only" in messages(table, "warning")


def test_choices_return_changed_copies() -> None:
    table = read_table(many(code=[1, 2, 3], size=["s", "m", "l"]))
    changed = table.with_role("code", "nominal").with_order("size", ["l", "m", "s"]).with_target("code")
    assert roles(table)["code"] == "numeric"
    assert table.target == "class"
    assert changed.target == "code"
    assert list(changed.features()["size"].cat.categories) == ["l", "m", "s"]
    assert list(table.with_role("code", "nominal").features()["code"].cat.categories) == ["1", "2", "3"]
    assert list(table.with_role("code", "ordinal").features()["code"].cat.categories) == ["1", "2", "3"]
    given = read_table(many(code=[1, 2, 3]), roles={"code": "ignored"}, target="class")
    assert list(given.features()) == ["x"]


def test_choices_that_do_not_fit_are_refused() -> None:
    table = read_table(many(colour=["red", "green", "blue"]))
    for change, message in (
        (lambda: table.with_role("colour", "numeric"), "cannot be numeric: row 2 holds 'red'"),
        (lambda: table.with_role("colour", "boolean"), "3 different values"),
        (
            lambda: table.with_role("colour", "vast"),  # type: ignore[arg-type]
            "no role 'vast'",
        ),
        (lambda: table.with_role("height", "numeric"), "no column 'height'"),
        (lambda: table.with_target("height"), "no column 'height'"),
        (lambda: table.with_order("colour", ["red", "green"]), "leaves out 'blue'"),
        (lambda: table.with_order("colour", ["red", "red", "green", "blue"]), "twice"),
        (lambda: Table.from_frame(pd.DataFrame()), "empty"),
        (lambda: Table.from_frame(pd.DataFrame([[1, 2]], columns=["a", "a"])), "Two columns are called 'a'"),
    ):
        with pytest.raises(TableError, match=message):
            change()


def test_from_frame_follows_dtypes() -> None:
    frame = pd.DataFrame(
        {
            "flag": [True, False, True],
            "size": pd.Categorical(["m", "s", "m"], categories=["s", "m"], ordered=True),
            "when": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"]),
            "number": [1.5, np.inf, 2.5],
            "class": ["a", "b", "a"],
        }
    )
    table = Table.from_frame(frame)
    assert roles(table) == {
        "flag": "boolean",
        "size": "ordinal",
        "when": "ignored",
        "number": "numeric",
        "class": "boolean",
    }
    assert table.features()["number"].isna().tolist() == [False, True, False]
    assert "'inf' in row 3" in messages(table, "warning")


def test_hostile_names_and_cells_stay_verbatim() -> None:
    names = [
        "<img src=x onerror=alert(1)>",
        "=cmd|' /C calc'!A0",
        'say "hi", ok',
        "two\nlines",
        "🐧 = 1",
        "class",
    ]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    cells = "".join(f"{i},{i % 3},{i % 4},<b>{i % 5}</b>,=1+{i % 3},{'ab'[i % 2]}\n" for i in range(30))
    table = read_table((header + "\n" + cells).encode())
    assert list(table.frame.columns) == names
    assert table.frame.index[0] == 2  # a line break inside a cell makes no new row
    assert table.frame["two\nlines"].iloc[1] == "<b>1</b>"
    assert all("\n" not in p.message for p in table.problems)
    assert list(table.features()["🐧 = 1"].cat.categories) == ["=1+0", "=1+1", "=1+2"]
