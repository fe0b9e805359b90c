"""Scoring new rows: what is written is what the model and its rules say, one by one."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pytest

from tmcore.commands.predict import read_columns
from tmcore.estimators import TsetlinClassifier
from tmcore.new_rows import Unmatched, unmatched
from tmcore.read_csv import RawTable, read_raw
from tmcore.scoring import Scored, score
from tmcore.table import TableError

FORMULA = "=1+1"


def people(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"age": rng.integers(20, 80, n).astype(float), "town": rng.choice(["a", "b", FORMULA], n)}
    )
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    return frame


@pytest.fixture(scope="module")
def model() -> TsetlinClassifier:
    X = people(200, 0)
    y = np.where((X["age"] > 50) | (X["town"] == "a"), FORMULA, "young")
    return TsetlinClassifier(n_clauses=20, epochs=5, random_state=0).fit(X, y)


def raw_of(frame: pd.DataFrame) -> RawTable:
    return read_raw(frame.to_csv(index=False).encode())


def scored(model: TsetlinClassifier, frame: pd.DataFrame, **more: float) -> Scored:
    return score(raw_of(frame), model.encoder_, model.rules_, model, **more)


def test_every_row_says_what_the_model_and_explain_say(model: TsetlinClassifier) -> None:
    new = people(60, 1)
    found = scored(model, new)
    assert found.predicted == model.predict(new).tolist()
    assert found.probabilities is not None
    assert found.probabilities.tolist() == model.predict_proba(new).tolist()
    for k, cells in enumerate(found.cells()):
        explained = model.rules_.explain(new.iloc[[k]])
        assert cells[0] == k + 2
        assert cells[-2] == explained.votes
        assert cells[-1] == "; ".join(str(fired.number) for fired in explained.fired)


def test_csv_holds_all_digits_and_no_formula(model: TsetlinClassifier) -> None:
    new = people(30, 2)
    rows = list(csv.reader(io.StringIO(scored(model, new).to_csv().decode("utf-8-sig"))))
    assert rows[0] == ["row", "prediction", f"probability {FORMULA}", "probability young", "votes", "rules"]
    assert not any(cell.startswith("=") for row in rows for cell in row)
    assert [float(row[3]) for row in rows[1:]] == model.predict_proba(new)[:, 1].tolist()
    assert {row[1] for row in rows[1:]} == {f"'{FORMULA}", "young"}


@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.9, 1.0])
def test_threshold_decides_instead_of_the_votes(model: TsetlinClassifier, threshold: float) -> None:
    new = people(60, 3)
    expected = [model.classes_[int(p >= threshold)] for p in model.predict_proba(new)[:, 1]]
    assert scored(model, new, threshold=threshold).predicted == expected


def test_rules_alone_predict_without_probabilities_under_their_own_numbers(model: TsetlinClassifier) -> None:
    new = people(20, 4)
    numbers = range(11, 11 + len(model.rules_))
    found = score(raw_of(new), model.encoder_, model.rules_, numbers=tuple(numbers))
    assert found.probabilities is None
    assert found.predicted == model.predict(new).tolist()
    assert found.head() == ["row", "prediction", "votes", "rules"]
    fired = [int(number) for cells in found.cells() for number in cells[-1].split("; ") if number]
    assert fired
    assert set(fired) <= set(numbers)


def test_names_what_does_not_fit(model: TsetlinClassifier) -> None:
    new = people(5, 5)
    new.loc[[0, 3], "town"] = "elsewhere"
    assert scored(model, new).notes == (
        "Column 'town': 'elsewhere' (2 rows) was not seen in training and counts as unknown.",
    )
    with pytest.raises(TableError, match=r"no column 'age', which .*'Age \(y\)' may be 'age'"):
        scored(model, new.rename(columns={"age": "Age (y)"}))
    with pytest.raises(ValueError, match="rules, the model, or both"):
        score(raw_of(new), model.encoder_, None)


def test_columns_called_otherwise_are_read_as_told(model: TsetlinClassifier) -> None:
    new = people(40, 6)
    renamed = new.rename(columns={"age": "Alter (Jahre)", "town": "Ort"}).assign(age=1.0)[
        ["Ort", "age", "Alter (Jahre)"]
    ]
    raw = raw_of(renamed)
    found = score(raw, model.encoder_, model.rules_, model, renamed={"age": "Alter (Jahre)", "town": "Ort"})
    assert found.predicted == model.predict(new).tolist()
    assert found.notes == (
        "Read under another name: 'Alter (Jahre)' as 'age' and 'Ort' as 'town'.",
        "Column 'age' is ignored; the model does not use it.",
    )
    swapped = raw_of(new.rename(columns={"age": "town", "town": "age"}))
    again = score(swapped, model.encoder_, model.rules_, model, renamed={"age": "town", "town": "age"})
    assert again.predicted == found.predicted


def test_what_is_absent_is_found_with_what_it_may_be(model: TsetlinClassifier) -> None:
    raw = raw_of(people(3, 7).rename(columns={"age": "AGE_", "town": "place"}).assign(more=1))
    assert unmatched(raw, model.encoder_) == Unmatched(
        ("age", "town"), ("AGE_", "place", "more"), {"age": "AGE_"}
    )
    assert unmatched(raw_of(people(3, 7)), model.encoder_).absent == ()
    raw = raw_of(
        people(3, 7).rename(columns={"age": "Aged", "town": "home town"}).assign(**{"Age (years)": 1})
    )
    assert unmatched(raw, model.encoder_).alike == {"age": "Age (years)"}  # the same but for the unit


@pytest.mark.parametrize(
    ("renamed", "said"),
    [
        ({"height": "Ort"}, "not trained on a column 'height'"),
        ({"town": "place"}, "no column 'place' to read as 'town'"),
        ({"town": "age"}, "'age' cannot be read as 'town' and as 'age'"),
    ],
)
def test_columns_that_do_not_fit_are_refused(
    model: TsetlinClassifier, renamed: dict[str, str], said: str
) -> None:
    raw = raw_of(people(3, 8).rename(columns={"town": "Ort"}))
    with pytest.raises(TableError, match=said):
        score(raw, model.encoder_, model.rules_, model, renamed=renamed)


def test_another_unit_of_a_column_called_otherwise_is_said() -> None:
    X = pd.DataFrame({"dose (mg)": np.arange(40.0), "town": ["a", "b"] * 20})
    model = TsetlinClassifier(n_clauses=4, epochs=1, random_state=0).fit(X, np.arange(40) % 2)
    for given, said in {"dose (g)": True, "Dose (mg)": False, "dose": False}.items():
        raw = raw_of(X.rename(columns={"dose (mg)": given}))
        notes = score(raw, model.encoder_, model.rules_, model, renamed={"dose (mg)": given}).notes
        sentence = "Column 'dose (g)' is in g, but 'dose (mg)' was in mg in training; no number is converted"
        assert any(note.startswith(sentence) for note in notes) == said


def test_pairs_on_the_command_line_may_hold_equals_signs() -> None:
    assert read_columns(["a=b=c", "x=y"], ["a=b", "x"], ["c", "y"]) == {"a=b": "c", "x": "y"}
    assert read_columns(["a=b=c"], ["a"], ["b=c"]) == {"a": "b=c"}
    assert read_columns(["a=b=zz"], ["a=b"], ["a", "q"]) == {
        "a=b": "zz"
    }  # so that "zz" is said to be missing
    assert read_columns(["x= y "], ["x"], ["y"]) == {"x": "y"}
    with pytest.raises(ValueError, match="--column a=b=c means two things"):
        read_columns(["a=b=c"], ["a", "a=b"], ["b=c", "c"])
    with pytest.raises(ValueError, match="names 'a' twice"):
        read_columns(["a=b", "a=c"], ["a"], ["b", "c"])
