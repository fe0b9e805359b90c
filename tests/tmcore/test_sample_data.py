"""The example data sets: they load, they are what they say, and their origin is stated."""

from __future__ import annotations

import pytest

import sample_data
from tmcore.encode import Encoder

# Rows, columns, and rows per class or mean number as published with the originals.
EXPECTED: dict[str, tuple[int, int, object]] = {
    "heart": (270, 14, {"no disease": 150, "disease": 120}),
    "breast_cancer": (286, 10, {"no-recurrence-events": 201, "recurrence-events": 85}),
    "balance_scale": (625, 5, {"L": 288, "B": 49, "R": 288}),
    "liver": (345, 6, {"yes": 176, "no": 169}),
    "pima": (768, 9, {"tested_negative": 500, "tested_positive": 268}),
    "titanic": (891, 10, {0: 549, 1: 342}),
    "penguins": (344, 8, {"Adelie": 152, "Chinstrap": 68, "Gentoo": 124}),
    "compas": (6172, 7, {0: 3363, 1: 2809}),
    "wine": (178, 14, {"class_0": 59, "class_1": 71, "class_2": 48}),
    "telco_churn": (7043, 20, {"No": 5174, "Yes": 1869}),
    "diabetes": (442, 11, pytest.approx(152.13348416)),
}


def test_all_are_there() -> None:
    assert [sample.key for sample in sample_data.samples()] == list(EXPECTED)
    with pytest.raises(ValueError, match="no example 'iris'"):
        sample_data.load("iris")


@pytest.mark.parametrize("sample", sample_data.samples(), ids=lambda sample: sample.key)
def test_loads_as_described(sample: sample_data.Sample) -> None:
    n_rows, n_columns, answers = EXPECTED[sample.key]
    table = sample_data.load(sample.key)
    assert table.frame.shape == (n_rows, n_columns) == (sample.n_rows, sample.n_columns)
    labels = table.labels()
    assert answers == (labels.mean() if table.task == "numbers" else labels.value_counts().to_dict())
    assert not [problem for problem in table.problems if problem.severity == "error"]
    assert Encoder().fit_transform(table.features()).shape[0] == n_rows
    for text in (sample.title, sample.about, sample.source, sample.citation, sample.licence):
        assert text
        assert "http" not in text


def test_heart_reads_in_words() -> None:
    table = sample_data.load("heart")
    columns = {column.label: column for column in Encoder().fit(table.features()).columns}
    assert columns["age"].unit == "years"
    assert columns["resting BP"].unit == "mm Hg"
    assert columns["cholesterol"].unit == "mg/dl"
    assert columns["max heart rate"].unit == "bpm"
    assert columns["thal"].categories == ("fixed defect", "normal", "reversible")
    assert columns["ST slope"].categories == ("upsloping", "flat", "downsloping")
    assert columns["sex"].categories == ("female", "male")
    first = table.frame.iloc[0]  # 70,1,4,130,322,0,2,109,0,2.4,2,3,3,2 in the original
    assert first.tolist() == [
        70, "male", "asymptomatic", 130, 322, "no", "hypertrophy", 109, "no", 2.4, "flat", 3, "normal", "disease",
    ]  # fmt: skip


def test_roles_where_guessing_matters() -> None:
    roles = {
        key: {column.name: column.role for column in sample_data.load(key).columns}
        for key in ("titanic", "breast_cancer", "telco_churn", "balance_scale")
    }
    assert roles["titanic"]["Name"] == "ignored"
    assert roles["titanic"]["Pclass"] == "numeric"
    assert {roles["breast_cancer"][name] for name in ("age", "tumor-size", "inv-nodes")} == {"ordinal"}
    assert roles["breast_cancer"]["deg-malig"] == "numeric"
    assert roles["telco_churn"]["contract"] == "ordinal"
    assert set(roles["balance_scale"].values()) == {"numeric", "nominal"}
    assert list(sample_data.load("breast_cancer").features()["tumor-size"].cat.categories)[:3] == [
        "0-4",
        "5-9",
        "10-14",
    ]


def test_liver_leaves_out_what_gives_the_target_away() -> None:
    names = [column.name for column in sample_data.load("liver").columns]
    assert names == ["mcv (fl)", "alkphos (U/l)", "sgpt (U/l)", "sgot (U/l)", "gammagt (U/l)", "drinks >= 3"]


def test_zeros_of_pima_are_pointed_out() -> None:
    hinted = {
        p.column for p in sample_data.load("pima").problems if "may stand for a missing value" in p.message
    }
    assert hinted == {
        "glucose (mg/dl)",
        "blood pressure (mm Hg)",
        "skin fold (mm)",
        "insulin (µU/ml)",
        "BMI (kg/m²)",
    }
