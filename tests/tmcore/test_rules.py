"""Rules predict exactly as the machine they were read from, in words that say what they do."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.clause_banks import ONE, bank_of
from tmcore.encode import MISSING, Encoder
from tmcore.machine.state import ClauseBank
from tmcore.rules import RuleSet, extract

DAYS = ["mon", "tue", "wed", "thu"]


def training_frame(gaps: bool) -> pd.DataFrame:
    """One column of every kind, with or without missing values in training."""
    frame = pd.DataFrame(
        {
            "size (mm)": [-1.5, 0.0, 0.1, 2.0, 3.25, 7.0],
            "count": pd.array([1, 2, 3, 4, 5, 9], dtype="Int64"),
            "constant": [4.0] * 6,
            "sex": ["male", "female", "male", "female", "male", "male"],
            "smoker": pd.array([True, False, True, True, False, True], dtype="boolean"),
            "pain": ["a", "b", "c", "a", "b", "c"],
            "day": pd.Categorical(["mon", "tue", "wed", "thu", "mon", "tue"], categories=DAYS, ordered=True),
        }
    )
    return pd.concat([frame, frame.iloc[[0]].map(lambda _: None)], ignore_index=True) if gaps else frame


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """Give concatenated columns back their dtypes."""
    return frame.astype(
        {
            "size (mm)": float,
            "count": "Int64",
            "constant": float,
            "smoker": "boolean",
            "day": pd.CategoricalDtype([*DAYS, "sun"], ordered=True),
        }
    )


def fitted(gaps: bool) -> Encoder:
    frame = typed(training_frame(gaps))
    frame["day"] = frame["day"].cat.set_categories(DAYS)
    return Encoder().fit(frame)


def raw_values(encoder: Encoder) -> dict[str, list]:
    """Values of every kind for each column: on, between and beyond cuts, unseen, missing."""
    values: dict[str, list] = {}
    for column in encoder.columns:
        if column.role == "numeric":
            cuts = encoder.features[column.features[0]].cuts
            near = [v for c in cuts for v in (c, np.nextafter(c, -np.inf), np.nextafter(c, np.inf))]
            values[column.name] = [*near, -1e9, 1e9, 0.0, 2.5, None]
        elif column.role == "boolean" and column.name == "smoker":
            values[column.name] = [True, False, None]
        else:
            values[column.name] = [*column.categories, "sun", None]
    values["count"] = [1, 2, 3, 4, 5, 6, 9, -100, 10**6, None]
    return values


def raw_rows(encoder: Encoder, rng: np.random.Generator, n_rows: int) -> pd.DataFrame:
    choices = raw_values(encoder)
    columns = {
        name: [pool[i] for i in rng.integers(len(pool), size=n_rows)] for name, pool in choices.items()
    }
    return typed(pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()}))


def random_bank(
    encoder: Encoder, rng: np.random.Generator, n_machines: int, n_clauses: int, density: float
) -> ClauseBank:
    shape = (n_machines, n_clauses, len(encoder.features))
    n_ranks = encoder.n_ranks
    ends = rng.random(shape) < 0.4
    lower = np.where(ends, 0, rng.integers(0, n_ranks, size=shape)).astype(np.uint8)
    upper = np.where(ends, n_ranks - 1, rng.integers(0, n_ranks, size=shape)).astype(np.uint8)
    return bank_of(
        lower,
        upper,
        rng.random(shape) < density,
        rng.random(shape) < density,
        rng.integers(1, 5 * ONE, size=(n_machines, n_clauses)),
    )


def clause_by_hand(encoder: Encoder, bank: ClauseBank, machine: int, clause: int, row: np.ndarray) -> bool:
    """One clause on one row of ranks, word for word from the definition."""
    any_included = False
    for feature, rank in zip(encoder.features, row.tolist(), strict=True):
        missing = rank == MISSING[row.dtype]
        k = feature.index
        lower, upper = int(bank.lower[machine, clause, k]), int(bank.upper[machine, clause, k])
        if bank.lower_included[machine, clause, k]:
            any_included = True
            tests_nothing = lower == 0 and not feature.has_gaps
            if not tests_nothing and (missing or rank < lower):
                return False
        if bank.upper_included[machine, clause, k]:
            any_included = True
            tests_nothing = upper == feature.n_ranks - 1 and not feature.has_gaps
            if not tests_nothing and (missing or rank > upper):
                return False
    return any_included


def outputs_by_hand(encoder: Encoder, bank: ClauseBank, codes: np.ndarray) -> np.ndarray:
    n_machines, n_clauses = bank.weights.shape
    return np.array(
        [
            [[clause_by_hand(encoder, bank, q, j, row) for j in range(n_clauses)] for q in range(n_machines)]
            for row in codes
        ]
    )


def votes_by_hand(bank: ClauseBank, outputs: np.ndarray) -> np.ndarray:
    return (outputs * (bank.polarity * bank.weights / ONE)).sum(axis=2)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    gaps=st.booleans(),
    n_machines=st.sampled_from([1, 3]),
    density=st.sampled_from([0.03, 0.12, 0.3]),
)
def test_votes_equal_the_machines_on_any_raw_value(seed, gaps, n_machines, density):
    rng = np.random.default_rng(seed)
    encoder = fitted(gaps)
    bank = random_bank(encoder, rng, n_machines, 12, density)
    raw = raw_rows(encoder, rng, 40)
    expected = votes_by_hand(bank, outputs_by_hand(encoder, bank, encoder.transform(raw)))
    rules = extract(encoder, bank, ["no", "yes"] if n_machines == 1 else ["a", "b", "c"])
    for rule_set in (rules, rules.simplify(), RuleSet.from_json(rules.export("json"))):
        assert np.array_equal(rule_set.votes(raw), expected)
    winners = (expected[:, 0] >= 0).astype(int) if n_machines == 1 else expected.argmax(axis=1)
    assert rules.predict(raw).tolist() == rules.classes[winners].tolist()


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), gaps=st.booleans(), n_outputs=st.sampled_from([1, 3]))
def test_refit_weights_count_the_kept_clauses_only(seed, gaps, n_outputs):
    rng = np.random.default_rng(seed)
    encoder = fitted(gaps)
    n_machines = n_outputs
    bank = random_bank(encoder, rng, n_machines, 8, 0.1)
    kept = [(int(k) // 8, int(k) % 8) for k in rng.choice(n_machines * 8, size=5, replace=False)]
    weights = rng.integers(-3 * ONE, 3 * ONE, size=(5, n_outputs))
    intercept = rng.integers(-ONE, ONE, size=n_outputs)
    raw = raw_rows(encoder, rng, 30)
    outputs = outputs_by_hand(encoder, bank, encoder.transform(raw))
    columns = np.stack([outputs[:, q, j] for q, j in kept], axis=1)
    expected = (columns.astype(int) @ weights + intercept) / ONE
    classes = ["no", "yes"] if n_outputs == 1 else ["a", "b", "c"]
    rules = extract(encoder, bank, classes, weights, intercept, kept)
    assert np.array_equal(rules.votes(raw), expected)
    assert np.array_equal(rules.simplify().votes(raw), expected)


@pytest.mark.parametrize("gaps", [False, True])
def test_simplify_keeps_the_votes_in_every_cell_between_cuts(gaps):
    frame = pd.DataFrame(
        {"x": [1.0, 2.0, 3.0, 4.0], "y": [10.0, 20.0, 30.0, 30.0], "pain": ["a", "b", "c", "a"]}
    )
    if gaps:
        frame = pd.concat(
            [frame, pd.DataFrame({"x": [np.nan], "y": [np.nan], "pain": [None]})], ignore_index=True
        )
    encoder = Encoder().fit(frame)
    cells = itertools.product(
        [-5.0, 1.0, 1.9, 2.5, 3.5, 99.0, np.nan],
        [0.0, 15.0, 20.0, 31.0, np.nan],
        ["a", "b", "c", "new", None],
    )
    grid = pd.DataFrame(list(cells), columns=["x", "y", "pain"])
    bank = random_bank(encoder, np.random.default_rng(5), 1, 400, 0.12)
    rules = extract(encoder, bank, [0, 1])
    simple = rules.simplify()
    assert len(simple) < len(rules)
    assert len({frozenset(rule.conditions) for rule in simple}) == len(simple)
    expected = votes_by_hand(bank, outputs_by_hand(encoder, bank, encoder.transform(grid)))
    assert np.array_equal(rules.votes(grid), expected)
    assert np.array_equal(simple.votes(grid), expected)
