"""Ranks, cuts and categories."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tmcore.cuts import choose_levels, shortest_decimals
from tmcore.encode import MISSING, Encoder
from tmcore.units import split_unit

finite = st.floats(allow_nan=False, allow_infinity=False)


def test_table_2_of_the_ssl_paper() -> None:
    data = np.array([[5.779, 25.7], [10.008, 56.1], [5.779, 11.6], [3.834, 32.4]])
    encoder = Encoder(shorten_cuts=False).fit(data)
    assert encoder.features[0].cuts == (3.834, 5.779)
    assert encoder.features[1].cuts == (11.6, 25.7, 32.4)
    codes = encoder.transform(data)
    # The last threshold of each feature (10.008 and 56.1) is the open bound: true for every row.
    bits = np.stack([codes[:, 0] <= 0, codes[:, 0] <= 1, codes[:, 0] <= 2], axis=1).astype(int)
    assert bits.tolist() == [[0, 1, 1], [0, 0, 1], [0, 1, 1], [1, 1, 1]]
    bits = np.stack([codes[:, 1] <= t for t in range(4)], axis=1).astype(int)
    assert bits.tolist() == [[0, 1, 1, 1], [0, 0, 0, 1], [1, 1, 1, 1], [0, 0, 1, 1]]
    assert Encoder().fit(data).features[0].cuts == (5.0, 8.0)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(finite, min_size=1, max_size=30),
    st.lists(finite, min_size=1, max_size=20),
    st.sampled_from([2, 5, 255, None]),
    st.booleans(),
)
def test_ranks_compare_with_every_cut_as_values_do(
    train: list[float], unseen: list[float], max_levels: int | None, shorten: bool
) -> None:
    encoder = Encoder(max_levels, shorten).fit(np.array(train)[:, None])
    feature = encoder.features[0]
    values = np.array([*train, *unseen, *feature.cuts, *np.nextafter(feature.cuts, np.inf)])
    codes = encoder.transform(values[:, None])
    assert codes.max() < feature.n_ranks == len(feature.cuts) + 1
    for t, cut in enumerate(feature.cuts):
        assert np.array_equal(codes[:, 0] <= t, values <= cut)  # upper bound hi = t
        assert np.array_equal(codes[:, 0] >= t + 1, values > cut)  # lower bound lo = t + 1


def brute_shortest(low: float, high: float) -> float:
    """Of all decimals of fewest digits in [low, high) the one nearest to the middle, by trying them all."""
    if low <= 0 < high:
        return 0.0
    top = math.floor(math.log10(max(abs(low), abs(high))))
    for digits in range(1, 5):
        counts = range(10 ** (digits - 1), 10**digits)
        every = (
            float(f"{sign}{count}e{top - digits + 1 - down}")
            for sign in "+-"
            for count in counts
            for down in range(9)
        )
        inside = [number for number in every if low <= number < high]
        if inside:
            return min(inside, key=lambda number: abs(number - (low + high) / 2))
    raise AssertionError("more than four digits")


def significant_digits(number: float) -> int:
    mantissa = np.format_float_scientific(number, unique=True, trim="-").split("e")[0]
    return 0 if number == 0 else len(mantissa.replace("-", "").replace(".", "").rstrip("0"))


def test_shortest_decimals_against_brute_force() -> None:
    ends = "-1200 -97.5 -12.3 -1 -0.95 -0.0321 0 0.00012 0.099 0.1 0.95 1 7.5 8 13 99.9 101"
    for low, high in itertools.combinations(map(float, ends.split()), 2):
        cut = float(shortest_decimals(np.array([low]), np.array([high]))[0])
        best = brute_shortest(low, high)
        assert low <= cut < high
        assert significant_digits(cut) == significant_digits(best), (low, high, cut)
        middle = (low + high) / 2  # two decimals may be equally near to it
        assert abs(cut - middle) == pytest.approx(abs(best - middle)), (low, high, cut)


@pytest.mark.parametrize(
    ("low", "high", "cut"),
    [
        (5, 6, 5.0),
        (54, 58, 56.0),
        (48, 53, 50.0),
        (8, 12, 10.0),
        (5.779, 10.008, 8.0),
        (-10.008, -5.779, -8.0),
        (95, 1000.5, 500.0),
        (5.8e-25, 1.01e-24, 8e-25),
        (0.7, 1.6, 1.0),
        (-3.2, 4.0, 0.0),
        (-2.0, 0.0, -1.0),
        (0.0, 0.5, 0.0),
        (0.1, np.nextafter(0.1, 1), 0.1),
        (-5.5, -5.25, -5.4),
        (1e300, 2.5e300, 2e300),
        (5e-324, 1e-323, 5e-324),
        (3e-310, 7e-310, 5e-310),
        (1.7976931348623155e308, 1.7976931348623157e308, 1.7976931348623155e308),
        (-1.5e308, 1.6e308, 0.0),
        (2.0**53, 2.0**53 + 2, 9007199254740992.0),
        (1234.5678, 1234.5679, 1234.5678),
    ],
)
def test_shortest_decimal_of_known_ranges(low: float, high: float, cut: float) -> None:
    assert shortest_decimals(np.array([low], dtype=float), np.array([high], dtype=float))[0] == cut


@settings(max_examples=300, deadline=None)
@given(finite, finite, st.booleans())
def test_no_decimal_with_fewer_digits_lies_between(a: float, b: float, adjacent: bool) -> None:
    low, high = sorted((a, math.nextafter(a, math.inf) if adjacent else b))
    if not low < high or math.isinf(high):
        return
    cut = float(shortest_decimals(np.array([low]), np.array([high]))[0])
    assert low <= cut < high
    digits = significant_digits(cut)
    for fewer in range(1, digits):
        for end in (low, cut, high):
            rounded = float(f"{end:.{fewer - 1}e}")
            assert not low <= rounded < high, (low, high, cut, rounded)


def test_quantile_cap_keeps_both_ends_and_only_real_values() -> None:
    values = np.random.default_rng(3).normal(size=5000)
    levels = choose_levels(values, 100)
    assert len(levels) == 100
    assert set(levels) <= set(values)
    assert (levels[0], levels[-1]) == (values.min(), values.max())
    counts = np.histogram(values, levels)[0]
    assert counts.max() <= 53  # 5,000 rows in 99 steps, about 50.5 each
    assert Encoder(100).fit(values[:, None]).features[0].n_ranks == 100


def test_quantile_cap_does_not_waste_levels_on_a_frequent_value() -> None:
    values = np.concatenate([np.zeros(9000), np.arange(1, 1001)])
    levels = choose_levels(values, 50)
    assert len(levels) == 50
    assert (levels[0], levels[-1]) == (0, 1000)


def test_all_values_are_levels_without_cap() -> None:
    values = np.arange(1000.0)
    encoder = Encoder(None).fit(values[:, None])
    assert encoder.features[0].n_ranks == 1000
    codes = encoder.transform(np.array([[0.0], [999.0], [np.nan], [-5.0], [1e9]]))
    assert codes.dtype == np.uint16
    assert codes[:, 0].tolist() == [0, 999, 65535, 0, 999]


def test_missing_code_and_gaps() -> None:
    frame = pd.DataFrame({"a": [1.0, None, 3.0], "b": [1, 2, 3], "c": ["x", "y", None], "d": ["x", "y", "z"]})
    encoder = Encoder().fit(frame)
    codes = encoder.transform(frame)
    assert codes.dtype == np.uint8
    assert codes.flags.c_contiguous
    assert MISSING[codes.dtype] == 255
    assert codes[1].tolist() == [255, 1, 1, 0, 1, 0]
    assert codes[2, 2] == 255
    assert encoder.has_gaps.tolist() == [True, False, True, False, False, False]
    assert encoder.n_ranks.tolist() == [2, 3, 2, 2, 2, 2]
    assert [column.n_missing for column in encoder.columns] == [1, 0, 1, 0]
    later = frame.assign(b=[np.nan, 2, 3], d=pd.Series([None, "x", "x"]))
    assert encoder.transform(later)[0].tolist() == [0, 255, 0, 255, 255, 255]


def test_roles_and_features_from_dtypes() -> None:
    order = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame(
        {
            "number": [0, 1, 0, 1],
            "flag": [True, False, True, True],
            "sex": ["male", "female", "male", None],
            "pair": pd.Categorical(["b", "a", "b", "b"], categories=["b", "a"]),
            "kind": ["q", "p", "r", "p"],
            "size": pd.Series(["mid", "low", "mid", "low"], dtype=order),
        }
    )
    encoder = Encoder().fit(frame)
    assert [c.role for c in encoder.columns] == [
        "numeric",
        "boolean",
        "boolean",
        "boolean",
        "nominal",
        "ordinal",
    ]
    assert [f.kind for f in encoder.features] == ["numeric", *["boolean"] * 3, *["category"] * 3, "ordinal"]
    assert encoder.features[1].labels == ("False", "True")
    assert encoder.features[2].labels == ("female", "male")
    assert encoder.features[3].labels == ("b", "a")
    assert [f.category for f in encoder.features[4:7]] == ["p", "q", "r"]
    assert encoder.columns[4].features == (4, 5, 6)
    assert encoder.features[7].labels == ("low", "mid", "high")
    assert encoder.features[7].n_ranks == 3
    assert encoder.transform(frame)[0].tolist() == [0, 1, 1, 0, 0, 1, 0, 1]


def test_unseen_categories() -> None:
    frame = pd.DataFrame({"kind": ["a", "b", "c"], "sex": ["f", "m", "m"]})
    encoder = Encoder().fit(frame)
    later = pd.DataFrame({"sex": ["other", "f"], "kind": ["new", "c"]})  # also in another order
    assert encoder.transform(later).tolist() == [[0, 0, 0, 255], [0, 0, 1, 0]]


def test_numbers_as_categories_are_one_category_however_written() -> None:
    encoder = Encoder().fit(pd.DataFrame({"code": pd.Categorical([1, 2, 3])}))
    assert encoder.columns[0].categories == ("1", "2", "3")
    assert encoder.transform(pd.DataFrame({"code": [2.0, 3.0]})).tolist() == [[0, 1, 0], [0, 0, 1]]
    assert encoder.transform(pd.DataFrame({"code": ["2", "3"]})).tolist() == [[0, 1, 0], [0, 0, 1]]


def test_nullable_and_arrow_dtypes() -> None:
    frame = pd.DataFrame(
        {
            "a": pd.array([1, None, 3], dtype="Int64"),
            "b": pd.array([True, None, False], dtype="boolean"),
            "c": pd.Series([1.5, None, 2.5], dtype="double[pyarrow]"),
        }
    )
    encoder = Encoder().fit(frame)
    assert encoder.transform(frame).tolist() == [[0, 1, 0], [255, 255, 255], [1, 0, 1]]


@pytest.mark.parametrize(
    ("later", "message"),
    [
        (pd.DataFrame({"a": [1.0]}), "Column 'b' is missing"),
        (pd.DataFrame({"a": [1.0, "x"], "b": [1, 2]}), "'a' must hold numbers, but data row 2 holds 'x'"),
        (
            pd.DataFrame({"a": [1.0, 2.0, np.inf], "b": [1, 2, 3]}),
            "'a' holds an infinite value .* data row 3",
        ),
        (np.zeros((3, 5)), "5 columns; the model was trained on 2"),
        (np.zeros(3), "2D"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "Two columns are called 'a'"),
    ],
)
def test_wrong_data_are_refused_with_the_place(later: pd.DataFrame, message: str) -> None:
    encoder = Encoder().fit(pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4]}))
    with pytest.raises(ValueError, match=message):
        encoder.transform(later)


def test_fit_refuses_what_it_cannot_read() -> None:
    with pytest.raises(ValueError, match="dates"):
        Encoder().fit(pd.DataFrame({"when": pd.to_datetime(["2020-01-01", "2021-01-01"])}))
    with pytest.raises(ValueError, match="no rows"):
        Encoder().fit(pd.DataFrame({"a": []}))
    with pytest.raises(ValueError, match="no columns"):
        Encoder().fit(np.empty((3, 0)))
    with pytest.raises(ValueError, match="max_levels"):
        Encoder(1)
    levels = pd.CategoricalDtype([str(i) for i in range(300)], ordered=True)
    with pytest.raises(ValueError, match="300 ordered levels; the most is 255"):
        Encoder().fit(pd.DataFrame({"a": pd.Series(["1", "2"], dtype=levels)}))


def test_saved_encoder_is_the_same() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "x (mm)": rng.normal(size=50) / 3,
            "kind": rng.choice(["a", "ü", "<b>"], 50),
            "size": pd.Categorical(rng.choice(["s", "m"], 50), categories=["s", "m", "l"], ordered=True),
            "flag": rng.random(50) > 0.5,
        }
    )
    frame.loc[3, ["x (mm)", "kind"]] = None
    encoder = Encoder(20, shorten_cuts=False).fit(frame)
    again = Encoder.from_dict(json.loads(json.dumps(encoder.to_dict())))
    assert again.features == encoder.features
    assert again.columns == encoder.columns
    assert np.array_equal(again.transform(frame), encoder.transform(frame))


def test_damaged_saved_encoder_is_refused() -> None:
    saved = Encoder().fit(np.array([[1.0], [2.0], [3.0]])).to_dict()
    saved["columns"][0]["features"][0]["cuts"] = [2.0, 1.0]
    with pytest.raises(ValueError, match="damaged"):
        Encoder.from_dict(saved)
    with pytest.raises(ValueError, match="damaged"):
        Encoder.from_dict({"max_levels": 255})


def test_constant_and_empty_columns_have_one_rank() -> None:
    frame = pd.DataFrame({"same": [4.0, 4.0], "none": [np.nan, np.nan]})
    encoder = Encoder().fit(frame)
    assert encoder.n_ranks.tolist() == [1, 1]
    assert encoder.transform(frame).tolist() == [[0, 255], [0, 255]]
    assert (encoder.columns[0].minimum, encoder.columns[1].minimum) == (4.0, None)


@pytest.mark.parametrize(
    ("name", "label", "unit"),
    [
        ("age (years)", "age", "years"),
        ("resting BP [mm Hg]", "resting BP", "mm Hg"),
        ("bill_length_mm", "bill_length", "mm"),
        ("body_mass_g", "body_mass", "g"),
        ("glucose_mg_dl", "glucose", "mg/dl"),
        ("BMI (kg/m2)", "BMI", "kg/m²"),
        ("glucose (mg/dL)", "glucose", "mg/dL"),
        ("SBP (mmHg)", "SBP", "mmHg"),
        ("pressure (bar)", "pressure", "bar"),
        ("HbA1c [mmol/mol]", "HbA1c", "mmol/mol"),
        ("Age (in years)", "Age", "years"),
        ("Heart rate (BPM)", "Heart rate", "bpm"),
        ("WEIGHT (KG)", "WEIGHT", "kg"),
        ("crp_mg_l", "crp", "mg/l"),
        ("creatinine (μmol/L)", "creatinine", "µmol/L"),
        ("balance_eur", "balance", "EUR"),
        ("rate (% p.a.)", "rate", "% p.a."),
        ("body temperature (C)", "body temperature", "°C"),
        ("lung volume (L)", "lung volume", "L"),
        ("Duration (min)", "Duration", "min"),
        ("snack_bar", "snack_bar", None),
        ("hepatitis (C)", "hepatitis (C)", None),
        ("temp (min)", "temp (min)", None),
        ("grip strength (L)", "grip strength (L)", None),
        ("heart rate (HR)", "heart rate (HR)", None),
        ("multiple myeloma (MM)", "multiple myeloma (MM)", None),
        ("pneumonia (PSI)", "pneumonia (PSI)", None),
        ("coronary disease (CAD)", "coronary disease (CAD)", None),
        ("coagulation (INR)", "coagulation (INR)", None),
        ("score (old)", "score (old)", None),
        ("plan_b", "plan_b", None),
        ("mm", "mm", None),
        ("(mm)", "(mm)", None),
        ("_mm", "_mm", None),
    ],
)
def test_units_in_headers(name: str, label: str, unit: str | None) -> None:
    assert split_unit(name) == (label, unit)


def test_units_are_for_numbers_only() -> None:
    encoder = Encoder().fit(pd.DataFrame({"x_mm": [1.0, 2.0], "y_mm": ["a", "b"]}))
    assert [(c.label, c.unit) for c in encoder.columns] == [("x", "mm"), ("y_mm", None)]
    assert (encoder.columns[0].minimum, encoder.columns[0].maximum) == (1.0, 2.0)
