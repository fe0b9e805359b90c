"""What rules say and do on clauses small enough to work out by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.helpers.clause_banks import ONE, bank_of
from tmcore.encode import Encoder
from tmcore.machine.state import ClauseBank
from tmcore.rules import Condition, Rule, RuleSet, extract


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
