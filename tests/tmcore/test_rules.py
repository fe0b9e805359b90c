"""Rules predict exactly as the machine they were read from, in words that say what they do."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tmcore.encode import MISSING, Encoder
from tmcore.machine.state import ClauseBank
from tmcore.rules import Condition, Rule, RuleSet, extract

ONE = 2**16
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


def bank_of(
    lower: np.ndarray, upper: np.ndarray, has_lower: np.ndarray, has_upper: np.ndarray, weights: np.ndarray
) -> ClauseBank:
    return ClauseBank(
        lower=lower,
        upper=upper,
        lower_included=has_lower,
        upper_included=has_upper,
        literals=has_lower.sum(axis=2) + has_upper.sum(axis=2),
        weights=weights,
        polarity=np.where(np.arange(weights.shape[1]) % 2 == 0, 1, -1).astype(np.int8),
        step=0,
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


# ---- hand-worked examples -------------------------------------------------------------------------------------------


def hand_encoder() -> Encoder:
    """Cuts of "ST depression (mm)": 1.3 and 2.4, by choice of the levels."""
    frame = pd.DataFrame(
        {
            "ST depression (mm)": [1.3, 2.4, 3.0],
            "chest pain": pd.Categorical(["asymptomatic", "typical", "atypical"]),
        }
    )
    return Encoder(shorten_cuts=False).fit(frame)


def hand_bank(
    *clauses: dict[int, tuple[int | None, int | None]],
    n_features: int = 4,
    ranks: tuple[int, ...] = (3, 2, 2, 2),
) -> ClauseBank:
    """Clauses as {feature: (lower, upper)}, None where the bound is not included; one vote each."""
    shape = (1, len(clauses), n_features)
    lower, upper = np.zeros(shape, np.uint8), np.tile(np.array(ranks, np.uint8) - 1, (1, len(clauses), 1))
    has_lower, has_upper = np.zeros(shape, bool), np.zeros(shape, bool)
    for j, clause in enumerate(clauses):
        for k, (low, high) in clause.items():
            if low is not None:
                lower[0, j, k], has_lower[0, j, k] = low, True
            if high is not None:
                upper[0, j, k], has_upper[0, j, k] = high, True
    return bank_of(lower, upper, has_lower, has_upper, np.full((1, len(clauses)), ONE))


def test_a_clause_reads_as_a_sentence():
    # Category features in order of the categories: 1 asymptomatic, 2 atypical, 3 typical.
    bank = hand_bank({0: (1, 1), 1: (1, None)}, {0: (None, 0), 2: (None, 0), 3: (None, 0)}, {0: (2, None)})
    rules = extract(
        hand_encoder(),
        bank,
        ["no disease", "disease"],
        weights=np.array([[round(1.3 * ONE)], [round(-0.36 * ONE)], [80]]),
        intercept=np.array([round(0.29 * ONE)]),
        kept=[(0, 0), (0, 1), (0, 2)],
    )
    assert rules.to_text() == (
        "Start at +0.29 and add the weight of every rule that holds: 0 or more means disease, less means no disease.\n"
        "1. IF 1.3 < ST depression ≤ 2.4 mm AND chest pain is asymptomatic THEN disease, +1.30\n"
        "2. IF ST depression ≤ 1.3 mm AND chest pain is not in {atypical, typical} THEN no disease, −0.36\n"
        "3. IF ST depression > 2.4 mm THEN disease, +0.0012\n"
    )
    assert [rule.n_literals for rule in rules] == [3, 3, 1]
    assert rules.n_literals == 7
    assert rules.intercept == round(0.29 * ONE) / ONE
    assert [rule.source for rule in rules] == [(0, 0), (0, 1), (0, 2)]


def test_contradictions_go_and_what_always_holds_is_the_intercept():
    bank = hand_bank(
        {1: (1, None), 2: (1, None)},  # is asymptomatic and is atypical: never
        {0: (2, 0)},  # x > 2.4 and x <= 1.3: never
        {1: (1, 0)},  # is asymptomatic and is not asymptomatic: never
        {},  # no included bound: 0 when predicting
        {0: (0, 2)},  # both bounds at their open ends, no gaps: always
        {0: (0, None), 1: (1, None), 2: (None, 0)},  # "is A" makes "is not B" and the open end say nothing
    )
    rules = extract(hand_encoder(), bank, [0, 1])
    assert rules.intercept == 1.0
    assert [(rule.text(), rule.weights, rule.n_literals) for rule in rules] == [
        ("chest pain is asymptomatic", -1.0, 1)
    ]


def test_an_open_end_asks_for_a_value_where_training_had_gaps():
    frame = pd.DataFrame({"age": [20.0, 30.0, np.nan]})
    encoder = Encoder().fit(frame)
    rules = extract(encoder, hand_bank({0: (0, None)}, n_features=1, ranks=(2,)), [0, 1])
    assert rules[0].text() == "age is known"
    assert rules[0].n_literals == 1
    assert rules.votes(pd.DataFrame({"age": [-5.0, np.nan]})).tolist() == [[1.0], [0.0]]


def test_equal_rules_merge_and_their_class_follows_the_sum():
    encoder = hand_encoder()
    bank = hand_bank({0: (2, None)}, {0: (2, None)}, {0: (2, None)}, {0: (1, None)}, {0: (1, None)})
    frame = pd.DataFrame({"ST depression (mm)": [1.0, 2.0, 3.0, 3.0], "chest pain": ["typical"] * 4})
    rules = extract(
        encoder,
        bank,
        [0, 1],
        weights=np.array([[ONE], [-3 * ONE], [ONE // 2], [ONE], [-ONE]]),
        intercept=np.array([0]),
        kept=[(0, j) for j in range(5)],
        frame=frame,
        labels=[0, 0, 0, 1],
    ).simplify()
    assert [(rule.text(), rule.weights) for rule in rules] == [("ST depression > 2.4 mm", -1.5)]
    # Covers rows 3 and 4; it speaks for class 0, which is right for row 3 only.
    assert (rules[0].support, rules[0].precision, rules[0].covered) == (0.5, 0.5, (1, 1))
    assert rules.n_rows == 4


def three_class_rules() -> RuleSet:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]})
    encoder = Encoder().fit(frame)
    bank = hand_bank({0: (1, None)}, {0: (2, None)}, {0: (None, 1)}, n_features=1, ranks=(4,))
    weights = np.array([[ONE, -ONE // 2, 0], [-2 * ONE, -ONE, 0], [0, 0, 3 * ONE]])
    return extract(
        encoder, bank, ["red", "green", "blue"], weights, np.array([0, ONE // 4, 0]), [(0, 0), (0, 1), (0, 2)]
    )


def test_many_classes_have_a_weight_each():
    rules = three_class_rules()
    assert rules.to_text() == (
        "Start at red +0.00, green +0.25, blue +0.00 and add the weights of every rule that holds: the class with "
        "the largest sum is the answer, the first of them if equal.\n"
        "1. IF x ≤ 2 THEN blue, +3.00\n"
        "2. IF x > 2 THEN not red, −2.00 (green −1.00)\n"
        "3. IF x > 1 THEN red, +1.00 (green −0.50)\n"
    )
    frame = pd.DataFrame({"x": [0.0, 1.5, 2.5]})
    assert rules.votes(frame).tolist() == [[0.0, 0.25, 3.0], [1.0, -0.25, 3.0], [-1.0, -1.25, 0.0]]
    assert rules.predict(frame).tolist() == ["blue", "blue", "blue"]


def test_ties_go_to_the_first_class_and_zero_votes_to_class_one():
    columns = three_class_rules().columns
    frame = pd.DataFrame({"x": [1.0]})
    assert RuleSet(np.array(["a", "b", "c"]), (0.0, 1.0, 1.0), (), columns).predict(frame).tolist() == ["b"]
    assert RuleSet(np.array(["a", "b"]), 0.0, (), columns).predict(frame).tolist() == ["b"]
    assert RuleSet(np.array(["a", "b"]), -(2.0**-16), (), columns).predict(frame).tolist() == ["a"]


def test_statistics_by_hand():
    rules = three_class_rules()
    frame = pd.DataFrame({"x": [0.0, 1.5, 2.5, 3.5, np.nan]})
    table = rules.statistics(frame, ["blue", "red", "red", "green", "blue"])
    # Rule 1, x <= 2 for blue: rows 1, 2; blue is row 1. Rule 2, x > 2, not red: rows 3, 4; not red is row 4.
    # Rule 3, x > 1, red: rows 2, 3, 4; red are 2, 3.
    assert table["n_rows"].tolist() == [2, 2, 3]
    assert table["support"].tolist() == [0.4, 0.4, 0.6]
    assert table["n_correct"].tolist() == [1, 1, 2]
    assert table["precision"].tolist() == [0.5, 0.5, 2 / 3]
    assert table[["covered red", "covered green", "covered blue"]].to_numpy().tolist() == [
        [1, 0, 1],
        [1, 1, 0],
        [2, 1, 0],
    ]
    empty = rules.statistics(frame.iloc[:0], [])
    assert empty["n_rows"].tolist() == [0, 0, 0]
    assert empty["precision"].isna().all()


def test_statistics_needs_a_label_per_row():
    with pytest.raises(ValueError, match="2 rows but 1 labels"):
        three_class_rules().statistics(pd.DataFrame({"x": [1.0, 2.0]}), ["red"])


def test_explain_lists_what_holds_and_what_nearly_does():
    encoder = hand_encoder()
    bank = hand_bank({0: (1, 1), 1: (1, None)}, {0: (2, None), 2: (1, None)}, {0: (1, None)}, {1: (None, 0)})
    rules = extract(encoder, bank, ["no", "yes"])
    row = {"ST depression (mm)": 2.0, "chest pain": "typical"}
    explanation = rules.explain(row)
    assert [(f.number, f.rule.text(), f.contribution) for f in explanation.fired] == [
        (3, "ST depression > 1.3 mm", 1.0),
        (4, "chest pain is not asymptomatic", -1.0),
    ]
    # Rule 1 fails by its second condition only; rule 2 fails by both.
    assert [(m.number, m.condition.text()) for m in explanation.near_misses] == [
        (1, "chest pain is asymptomatic")
    ]
    assert (explanation.votes, explanation.intercept, explanation.predicted) == (0.0, 0.0, "yes")
    assert rules.explain(pd.Series(row)) == explanation
    assert rules.explain(pd.DataFrame([row])) == explanation
    with pytest.raises(ValueError, match="One row"):
        rules.explain(pd.DataFrame([row, row]))


def test_to_frame_is_sortable():
    frame = three_class_rules().to_frame()
    assert list(frame.columns) == [
        "rule", "class", "weight red", "weight green", "weight blue", "literals", "support", "precision"
    ]  # fmt: skip
    assert frame.index.tolist() == [1, 2, 3]
    assert frame["class"].tolist() == ["blue", "not red", "red"]
    assert frame.sort_values("weight red")["rule"].tolist() == ["x > 2", "x ≤ 2", "x > 1"]
    assert frame["support"].isna().all()


def test_arrays_go_by_position_and_frames_by_name():
    by_position = extract(
        Encoder().fit(np.array([[1.0, 5.0], [2.0, 6.0]])),
        hand_bank({1: (1, None)}, n_features=2, ranks=(2, 2)),
        [False, True],
    )
    assert by_position.votes(np.array([[0.0, 6.0], [9.0, 5.0]])).tolist() == [[1.0], [0.0]]
    assert by_position.votes(pd.DataFrame([[0.0, 6.0]], columns=["p", "q"])).tolist() == [[1.0]]
    assert by_position.explain(np.array([0.0, 6.0])).votes == 1.0
    with pytest.raises(ValueError, match="3 columns, but the rules were made for 2"):
        by_position.votes(np.zeros((1, 3)))
    by_name = three_class_rules()
    assert by_name.votes(pd.DataFrame({"other": ["?"], "x": [1.5]})).tolist() == [[1.0, -0.25, 3.0]]
    with pytest.raises(ValueError, match="Column 'x' is missing"):
        by_name.votes(pd.DataFrame({"other": [1.0]}))
    with pytest.raises(ValueError, match="Column 'x' is there 2 times"):
        by_name.votes(pd.DataFrame([[1.0, 2.0]], columns=["x", "x"]))


def test_two_columns_that_read_the_same_keep_their_full_names():
    frame = pd.DataFrame({"size (mm)": [1.0, 2.0], "size [mm]": [1.0, 2.0]})
    bank = hand_bank({0: (1, None), 1: (1, None)}, n_features=2, ranks=(2, 2))
    assert extract(Encoder().fit(frame), bank, [0, 1])[0].text() == "size (mm) > 1 AND size [mm] > 1"


def test_many_rows_are_evaluated_in_parts(monkeypatch):
    monkeypatch.setattr("tmcore.ruleset.ROWS_AT_ONCE", 7)
    frame = pd.DataFrame({"x": np.arange(40) / 8})
    rules = three_class_rules()
    x = frame["x"].to_numpy()
    red = (x > 1) * 1.0 + (x > 2) * -2.0
    assert rules.votes(frame)[:, 0].tolist() == red.tolist()
    assert rules.outputs(frame).sum(axis=0).tolist() == [(x <= 2).sum(), (x > 2).sum(), (x > 1).sum()]
    assert rules.statistics(frame, ["red"] * 40)["covered red"].tolist() == [17, 23, 31]
    with pytest.raises(ValueError, match="row 31"):
        rules.votes(pd.DataFrame({"x": [*([1.0] * 30), "one"]}))


def test_extract_wants_the_refit_complete():
    with pytest.raises(ValueError, match="give all three or none"):
        extract(hand_encoder(), hand_bank({0: (1, None)}), [0, 1], weights=np.array([[1]]))
    with pytest.raises(ValueError, match="2 clauses kept but 1 rows"):
        extract(
            hand_encoder(),
            hand_bank({0: (1, None)}),
            [0, 1],
            np.array([[1]]),
            np.array([0]),
            [(0, 0), (0, 0)],
        )


def test_a_rule_has_one_condition_per_column():
    condition = Condition("x", "x", "numeric", lower=1.0)
    with pytest.raises(ValueError, match="two conditions on one column"):
        Rule((condition, Condition("x", "x", "numeric", upper=2.0)), 1.0)


def test_impossible_and_unconditional_rules_simplify_away():
    never = Condition("x", "x", "numeric", lower=2.0, upper=2.0)
    rules = RuleSet(
        np.array([0, 1]),
        0.5,
        (Rule((never,), 4.0), Rule((), -0.25), Rule((), 1.0)),
        three_class_rules().columns,
    )
    simple = rules.simplify()
    assert (len(simple), simple.intercept) == (0, 1.25)
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, np.nan]})
    assert rules.votes(frame).tolist() == simple.votes(frame).tolist() == [[1.25]] * 4
