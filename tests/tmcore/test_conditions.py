"""One condition: what it tests on raw values and how it reads."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tmcore.conditions import Condition, RawColumn, number_text, visible, weight_text

LEVELS = ("low", "medium", "high", "top")


def numeric(lower: float | None = None, upper: float | None = None, unit: str | None = None) -> Condition:
    return Condition("x", "x", "numeric", unit=unit, lower=lower, upper=upper)


def ordinal(*levels: str) -> Condition:
    return Condition("grade", "grade", "ordinal", levels=levels, all_levels=LEVELS)


@pytest.mark.parametrize(
    ("condition", "text", "n_literals"),
    [
        (Condition("o", "ST depression", "numeric", unit="mm", lower=1.3), "ST depression > 1.3 mm", 1),
        (numeric(upper=0.0), "x ≤ 0", 1),
        (numeric(upper=-2.5), "x ≤ −2.5", 1),
        (numeric(114.0, 167.0, "bpm"), "114 < x ≤ 167 bpm", 2),
        (Condition("x", "x", "numeric", unit="mm", known=True), "x is known", 1),
        (Condition("s", "sex", "boolean", value="male", all_levels=("female", "male")), "sex is male", 1),
        (ordinal("low"), "grade is low", 1),
        (ordinal("medium"), "grade is medium", 2),
        (ordinal("medium", "high"), "grade is from medium to high", 2),
        (ordinal("medium", "high", "top"), "grade is at least medium", 1),
        (ordinal("low", "medium", "high"), "grade is at most high", 1),
        (Condition("t", "thal", "nominal", is_in="normal"), "thal is normal", 1),
        (Condition("t", "thal", "nominal", not_in=("normal",)), "thal is not normal", 1),
        (Condition("t", "thal", "nominal", not_in=("a", "b")), "thal is not in {a, b}", 2),
        (Condition("t", "thal", "nominal", not_in=("a, b", "c")), 'thal is not in {"a, b", c}', 2),
        (Condition("t", "two\nlines", "nominal", is_in="a\tb\r"), "two↵lines is a␉b␍", 1),
        (Condition("t", "t", "nominal", is_in=""), 't is ""', 1),
    ],
)
def test_words_and_literals(condition, text, n_literals):
    assert condition.text() == text
    assert condition.n_literals == n_literals


def test_parts_name_what_each_piece_is():
    assert numeric(114.0, 167.5, "bpm").parts() == (
        ("number", "114"),
        ("operator", "<"),
        ("feature", "x"),
        ("operator", "≤"),
        ("number", "167.5"),
        ("unit", "bpm"),
    )


def test_lower_excludes_and_upper_includes_its_number():
    values = pd.Series([1.0, np.nextafter(1.0, 2.0), 2.0, np.nextafter(2.0, 3.0), np.nan, 1e300])
    assert numeric(1.0, 2.0).test(values).tolist() == [False, True, True, False, False, False]
    assert numeric(lower=1.0).test(values).tolist() == [False, True, True, True, False, True]
    assert numeric(upper=2.0).test(values).tolist() == [True, True, True, False, False, False]


@pytest.mark.parametrize(
    "series",
    [
        pd.Series([1, 2, None], dtype="Int64"),
        pd.Series([1, 2.0, None], dtype=object),
        pd.Series([1.0, 2.0, np.nan], dtype="float32"),
        pd.Series([1.0, 2.0, None], dtype="float64[pyarrow]"),
    ],
)
def test_numbers_of_any_dtype(series):
    assert numeric(lower=1.5).test(series).tolist() == [False, True, False]
    assert Condition("x", "x", "numeric", known=True).test(series).tolist() == [True, True, False]


def test_text_in_a_numeric_column_is_refused_with_its_place():
    with pytest.raises(ValueError, match=r"'height'.*row 2.*'tall'"):
        Condition("height", "height", "numeric", lower=1.0).test(pd.Series([1.0, "tall"], name="height"))


def test_a_category_never_seen_is_in_no_list():
    values = pd.Series(["a", "b", "new", None])
    assert Condition("t", "t", "nominal", is_in="a").test(values).tolist() == [True, False, False, False]
    assert Condition("t", "t", "nominal", not_in=("a",)).test(values).tolist() == [False, True, True, False]
    assert Condition("t", "t", "nominal", known=True).test(values).tolist() == [True, True, True, False]


def test_a_level_never_seen_is_missing():
    values = pd.Series(["low", "top", "new", None])
    assert ordinal("low", "medium").test(values).tolist() == [True, False, False, False]
    known = Condition("grade", "grade", "ordinal", all_levels=LEVELS, known=True)
    assert known.test(values).tolist() == [True, True, False, False]
    sex = Condition("sex", "sex", "boolean", all_levels=("f", "m"), value="m")
    assert sex.test(pd.Series(["m", "f", "x", None])).tolist() == [True, False, False, False]


def test_categories_are_compared_as_text():
    asked = Condition("t", "t", "nominal", is_in="1")
    assert asked.test(pd.Series([1, 2])).tolist() == [True, False]
    assert asked.test(pd.Series([1.0, np.nan])).tolist() == [True, False]
    assert asked.test(pd.Series(pd.Categorical(["1", "2"]))).tolist() == [True, False]
    true = Condition("b", "b", "boolean", value="True", all_levels=("False", "True"))
    assert true.test(pd.Series([True, False, None], dtype="boolean")).tolist() == [True, False, False]


def test_no_rows_give_no_answers():
    assert numeric(lower=1.0).test(pd.Series([], dtype=float)).tolist() == []
    assert Condition("t", "t", "nominal", is_in="a").test(pd.Series([], dtype=object)).tolist() == []


def test_prepared_values_serve_many_conditions():
    values = RawColumn.read(pd.Series(["b", None, "a", "b"]), "nominal")
    assert [Condition("t", "t", "nominal", is_in=name).holds(values).tolist() for name in "ab"] == [
        [False, False, True, False],
        [True, False, False, True],
    ]


def test_impossible_means_no_number_fits():
    assert numeric(2.0, 2.0).impossible
    assert numeric(3.0, 2.0).impossible
    assert not numeric(1.0, 2.0).impossible
    assert not numeric(lower=1.0).impossible


@pytest.mark.parametrize(
    "arguments",
    [
        {"kind": "numeric"},
        {"kind": "numeric", "lower": 1.0, "known": True},
        {"kind": "numeric", "is_in": "a"},
        {"kind": "nominal", "is_in": "a", "not_in": ("b",)},
        {"kind": "nominal", "lower": 1.0},
        {"kind": "boolean", "value": "x", "all_levels": ("a", "b")},
        {"kind": "ordinal", "levels": ("low", "high"), "all_levels": LEVELS},
        {"kind": "ordinal", "levels": ("none",), "all_levels": LEVELS},
        {"kind": "date", "known": True},
    ],
)
def test_a_condition_asks_one_thing_its_kind_can_answer(arguments):
    with pytest.raises(ValueError, match='condition on "x"'):
        Condition("x", "x", **arguments)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.3, "1.3"),
        (2.0, "2"),
        (-0.0, "0"),
        (-1.25, "−1.25"),
        (1e-7, "1e−07"),
        (123456.0, "123456"),
        (0.1 + 0.2, "0.30000000000000004"),
    ],
)
def test_numbers_have_the_fewest_digits_that_read_back(value, text):
    assert number_text(value) == text
    assert float(text.replace("−", "-")) == value


@pytest.mark.parametrize(
    ("weight", "text"),
    [
        (1.3, "+1.30"),
        (-0.364, "−0.36"),
        (0.0, "+0.00"),
        (0.0049, "+0.0049"),
        (-0.0041, "−0.0041"),
        (2**-16, "+0.000015"),
        (12.0, "+12.00"),
    ],
)
def test_small_weights_are_shown_as_such(weight, text):
    assert weight_text(weight) == text


def test_what_cannot_be_seen_is_made_visible():
    assert visible("a\u202eb") == "a<U+202E>b"
    assert visible("\ud800") == "<U+D800>"
    assert visible(" a b ") == "␣a b␣"
    assert visible("  ") == "␣␣"
    assert visible("\x00\x7f\x85\u2028") == "␀␡<U+0085>↵"
    assert visible("Größe 年") == "Größe 年"
