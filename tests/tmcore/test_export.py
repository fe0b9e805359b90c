"""Exported files hold the rules complete and harmless."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tmcore.export import FORMATS, read_json
from tmcore.rules import Condition, Rule, RuleColumn, RuleSet

COLUMNS = (
    RuleColumn("dose (mg)", "dose", "mg", "numeric", ()),
    RuleColumn("=group", "=group", None, "nominal", ("a", "@b", 'ü,\n"{}"')),
    RuleColumn("grade", "grade", None, "ordinal", ("low", "mid", "top")),
    RuleColumn("smoker", "smoker", None, "boolean", ("False", "True")),
)
DOSE = Condition("dose (mg)", "dose", "numeric", unit="mg", lower=0.1, upper=0.30000000000000004)
LOW_DOSE = Condition("dose (mg)", "dose", "numeric", unit="mg", upper=-1e-300)
DOSE_KNOWN = Condition("dose (mg)", "dose", "numeric", unit="mg", known=True)
IN_GROUP = Condition("=group", "=group", "nominal", is_in='ü,\n"{}"')
NOT_IN_GROUP = Condition("=group", "=group", "nominal", not_in=("a", "@b"))
GRADE = Condition("grade", "grade", "ordinal", levels=("mid", "top"), all_levels=("low", "mid", "top"))
GRADE_KNOWN = Condition("grade", "grade", "ordinal", all_levels=("low", "mid", "top"), known=True)
SMOKER = Condition("smoker", "smoker", "boolean", value="True", all_levels=("False", "True"))


def rule_set(classes: object = ("no", "yes")) -> RuleSet:
    return RuleSet(
        classes=np.asarray(classes),
        intercept=-0.25,
        rules=(
            Rule((DOSE, IN_GROUP, GRADE, SMOKER), 2.0 + 2.0**-16, 0.3, 2 / 3, (1, 2), (0, 4)),
            Rule((LOW_DOSE, NOT_IN_GROUP), -1.5),
            Rule((DOSE_KNOWN, GRADE_KNOWN), 0.5, 0.0, None, (0, 0)),
        ),
        columns=COLUMNS,
        n_rows=10,
    )


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "dose (mg)": [0.1, np.nextafter(0.1, 1), 0.30000000000000004, 0.5, -1.0, np.nan, 0.2],
            "=group": ["a", 'ü,\n"{}"', 'ü,\n"{}"', "@b", "new", None, 'ü,\n"{}"'],
            "grade": ["low", "mid", "top", "top", "top", "mid", "never seen"],
            "smoker": [True, True, True, False, None, False, True],
        }
    )


def test_json_reads_back_with_equal_rules_and_votes():
    rules = rule_set()
    again = RuleSet.from_json(rules.export("json"))
    assert again.rules == rules.rules
    assert again.columns == rules.columns
    assert (again.intercept, again.n_rows, again.by_name) == (-0.25, 10, True)
    # By hand: rule 1 holds for rows 2, 3; rule 2 for row 5; rule 3 wherever dose and a known grade are there.
    expected = [0.25, 2.25 + 2.0**-16, 2.25 + 2.0**-16, 0.25, -1.25, -0.25, -0.25]
    assert again.votes(frame())[:, 0].tolist() == expected
    assert again.predict(frame()).tolist() == ["yes", "yes", "yes", "yes", "no", "no", "no"]


def test_json_follows_its_schema():
    document = json.loads(rule_set().export("json"))
    assert (document["format"], document["version"]) == ("tsetlin-rules", 1)
    assert document["features"][0] == {
        "name": "dose (mg)", "label": "dose", "unit": "mg", "kind": "numeric", "categories": []
    }  # fmt: skip
    assert document["classes"] == [{"type": "string", "value": "no"}, {"type": "string", "value": "yes"}]
    assert document["intercept"] == [-0.25]
    assert "0 or more: the second class" in document["decision"]
    first = document["rules"][0]
    assert first["if"] == [
        {"feature": "dose (mg)", "lower": 0.1, "upper": 0.30000000000000004},
        {"feature": "=group", "is": 'ü,\n"{}"'},
        {"feature": "grade", "is_any_of": ["mid", "top"]},
        {"feature": "smoker", "is": "True"},
    ]
    assert (first["weights"], first["class"], first["literals"]) == ([2.0000152587890625], "yes", 5)
    assert (first["support"], first["precision"], first["covered"], first["source"]) == (
        0.3,
        2 / 3,
        [1, 2],
        [0, 4],
    )
    assert document["rules"][1]["if"][1] == {"feature": "=group", "is_none_of": ["a", "@b"]}
    assert document["rules"][2]["if"][0] == {"feature": "dose (mg)", "is_known": True}


@pytest.mark.parametrize(
    ("classes", "dtype"),
    [
        ([3, -7], np.dtype(np.int64)),
        ([False, True], np.dtype(bool)),
        ([0.5, 2.0], np.dtype(np.float64)),
        (np.array(["1", 2], dtype=object), np.dtype(object)),
        (np.array([np.int64(1), np.bool_(True)], dtype=object), np.dtype(object)),
        (np.array(["a", "b"], dtype=object), None),
    ],
)
def test_classes_keep_their_types(classes, dtype):
    again = read_json(rule_set(classes).export("json")).classes
    assert again.tolist() == [c.item() if isinstance(c, np.generic) else c for c in classes]
    assert [type(c) for c in again.tolist()] == [
        type(c.item() if isinstance(c, np.generic) else c) for c in classes
    ]
    assert dtype is None or again.dtype == dtype


def test_many_classes_and_numpy_numbers_survive():
    half: Any = np.float64(0.5)
    quarter: Any = np.float32(0.25)
    count: Any = np.int64(12)
    rules = RuleSet(
        classes=np.array([0, 1, 2]),
        intercept=(0.5, 0.0, -1.0),
        rules=(Rule((GRADE,), (1.0, 0.0, -2.5), half, quarter, (count, 2, 3)),),
        columns=COLUMNS,
        n_rows=count,
        by_name=False,
    )
    again = read_json(rules.export("json"))
    assert again.rules == rules.rules
    assert (again.intercept, again.n_rows, again.by_name) == ((0.5, 0.0, -1.0), 12, False)
    assert again.votes(frame())[:2].tolist() == [[0.5, 0.0, -1.0], [1.5, 0.0, -3.5]]
    assert "the first class" in json.loads(rules.export("json"))["decision"]


def test_a_broken_character_survives_json():
    name = "x\udc80"
    rules = RuleSet(
        np.array([0, 1]),
        0.0,
        (Rule((Condition(name, name, "nominal", is_in="\ud800"),), 1.0),),
        (RuleColumn(name, name, None, "nominal", ("\ud800",)),),
    )
    assert read_json(rules.export("json")).rules[0].conditions == rules.rules[0].conditions
    assert "x<U+DC80> is <U+D800>" in rules.export("csv").decode("utf-8")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "does not say"),
        ({"version": 2}, "has version 2; only 1 can be read"),
        ({"rules": [{}]}, "damaged"),
        ({"intercept": [0.0, 1.0, 2.0]}, "intercept does not fit"),
        ({"features": []}, "damaged"),
    ],
)
def test_files_that_are_not_rules_are_refused(change, message):
    document = json.loads(rule_set().export("json")) | change
    with pytest.raises(ValueError, match=message):
        read_json(json.dumps(document))


def test_what_is_not_json_is_refused():
    for data in (b"a,b\n1,2", b"\xff\xfe\x00", b"[1]"):
        with pytest.raises(ValueError, match=r"not a (JSON|rule) file"):
            read_json(data)


def test_unknown_formats_are_refused():
    assert set(FORMATS) == {"json", "csv", "markdown", "python", "sql", "spark", "pmml", "html"}
    with pytest.raises(ValueError, match="pmml or html, not as 'xml'"):
        rule_set().export("xml")


def rows_of(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_csv_has_the_start_and_a_row_a_rule():
    rows = rows_of(rule_set().export("csv"))
    assert rows[0] == ["number", "rule", "class", "weight", "literals", "support", "precision"]
    assert rows[1] == ["START", "", "", "-0.25", "0", "", ""]
    assert rows[2] == [
        "1",
        '0.1 < dose ≤ 0.30000000000000004 mg AND =group is "ü,↵"{}"" AND grade is at least mid AND smoker is True',
        "yes",
        "2.0000152587890625",
        "5",
        "0.3",
        "0.6666666666666666",
    ]
    assert rows[3][2:5] == ["no", "-1.5", "3"]
    assert rows[4][5:] == ["0.0", ""]


def test_csv_texts_are_no_formulas_and_numbers_stay_numbers():
    formula = Condition("=1+1", "=1+1", "nominal", is_in="x")
    rules = RuleSet(
        np.array(["@no", "-2"]),
        0.0,
        (Rule((formula,), -0.5), Rule((Condition("+c", "+c", "numeric", lower=1.0),), 0.25)),
        (),
    )
    rows = rows_of(rules.export("csv"))
    assert rows[2][1:4] == ["'=1+1 is x", "'@no", "-0.5"]
    assert rows[3][1:4] == ["'+c > 1", "'-2", "0.25"]
    assert pd.read_csv(io.BytesIO(rules.export("csv")))["weight"].tolist() == [0.0, -0.5, 0.25]
