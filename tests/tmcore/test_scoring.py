"""Scoring new rows: what is written is what the model and its rules say, one by one."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pytest

from tmcore.estimators import TsetlinClassifier
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
