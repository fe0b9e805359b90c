"""The regressor: scikit-learn's contract, rules equal to the machine, known step functions, files, refusals."""

import csv
import io
import json
import math
import sqlite3
import subprocess
import sys
from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import r2_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import tmcore
from tmcore import NumberRules, RuleSet, TsetlinClassifier, TsetlinRegressor
from tmcore.experiments import engines
from tmcore.export import FORMATS, pmml_reader
from tmcore.export.checks import run_sql
from tmcore.export.proof import MODEL, prove
from tmcore.rules import Condition, Rule, RuleColumn
from tmcore.simplify import prune

# No check is exempted. Votes alone fit loosely, so that one configuration says so by its tag; the others do not.
CONFIGURATIONS = [
    TsetlinRegressor(),
    TsetlinRegressor(n_clauses=60, representation="thresholds", max_levels=None, early_stopping=True),
    TsetlinRegressor(n_clauses=20, epochs=5, weights="real"),
]


@parametrize_with_checks(CONFIGURATIONS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def mixed(n_rows=200, seed=0):
    """Numbers with gaps and a category; the target is a sum of three rules and a little noise."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, 2)).round(2), columns=["a", "b"])
    X["c"] = pd.Categorical(rng.choice(["x", "y", "z"], n_rows))
    X.loc[rng.random(n_rows) < 0.1, "b"] = np.nan
    y = 10 + 30.0 * (X["a"] > 0) - 12.5 * (X["c"] == "z") + 7.25 * (X["b"] <= 0.5)
    return X, y.to_numpy() + rng.normal(scale=0.5, size=n_rows)


def unseen(X, seed=1):
    """Rows with numbers at, between and beyond the levels, a category never seen, and missing cells."""
    rng = np.random.default_rng(seed)
    rows = X.sample(300, replace=True, random_state=seed).reset_index(drop=True)
    rows["a"] = np.where(rng.random(300) < 0.5, rng.normal(scale=4, size=300), rows["a"])
    rows["c"] = rows["c"].astype(object).where(rng.random(300) < 0.8, "never seen")
    return rows.mask(rng.random(rows.shape) < 0.1)


@settings(max_examples=15, deadline=None)
@given(
    weights=st.sampled_from(["refit", "none", "real", "integer"]),
    representation=st.sampled_from(["intervals", "thresholds"]),
    scale=st.sampled_from([1e-310, 1e-9, 1.0, 1 / 3, 1e12, 1e290]),
    offset=st.sampled_from([0.0, -40.0, 1e6]),
    seed=st.integers(0, 1000),
)
def test_rules_predict_the_same_floats_as_the_machine_in_any_order(
    weights, representation, scale, offset, seed
):
    X, y = mixed(80, seed)
    model = TsetlinRegressor(
        n_clauses=20, epochs=3, weights=weights, representation=representation, random_state=seed
    ).fit(X, (y + offset) * scale)
    rules = model.rules_
    turned = NumberRules(rules.classes, rules.intercept, rules.rules[::-1], rules.columns)
    for rows in (X, unseen(X, seed)):
        predicted = model.predict(rows)
        np.testing.assert_array_equal(rules.predict(rows), predicted)
        np.testing.assert_array_equal(turned.predict(rows), predicted)
        np.testing.assert_array_equal(RuleSet.from_json(rules.export("json")).predict(rows), predicted)
    assert math.frexp(model.unit_)[0] == 0.5
    exact = Fraction(rules.intercept) + sum(
        (Fraction(rule.weights) for rule, holds in zip(rules, rules.outputs(X)[0], strict=True) if holds),
        Fraction(0),
    )
    assert Fraction(model.predict(X)[0]) == exact
    numbers = [rules.intercept, *(rule.weights for rule in rules)]
    assert all((Fraction(number) / Fraction(model.unit_)).denominator == 1 for number in numbers)


def test_votes_predict_lowest_plus_share_of_the_range_without_a_clamp():
    X, y = mixed()
    model = TsetlinRegressor(n_clauses=20, T=1, epochs=20, weights="none", random_state=0).fit(X, y)
    votes = model.machine_.votes(model.machine_.prepare(model.encoder_.transform(X)))[:, 0] / 65536
    np.testing.assert_allclose(model.predict(X), y.min() + votes * (y.max() - y.min()), rtol=1e-8)
    assert model.predict(X).max() > y.max() + 50


def test_a_step_function_gives_its_own_rules():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 20, size=(600, 3)), columns=["height", "width", "depth"])
    y = 100.0 + 50.0 * (X["height"] > 11) - 20.0 * (X["width"] <= 4)
    rules = TsetlinRegressor(random_state=0).fit(X, y).rules_
    heavy = {rule.text(): rule.weights for rule in rules if rule.magnitude > 1}
    assert heavy == pytest.approx({"height > 11": 50, "width > 4": 20}, abs=0.5)
    assert {one.column for rule in rules for one in rule.conditions} == {"height", "width"}
    corners = pd.DataFrame({"height": [11, 12, 11, 12], "width": [5, 5, 4, 4], "depth": 0})
    np.testing.assert_allclose(rules.predict(corners), [100, 150, 80, 130], atol=1.0)


def test_support_is_the_share_of_training_rows_and_score_is_r2():
    X, y = mixed()
    model = TsetlinRegressor(n_clauses=40, epochs=10, random_state=0).fit(X, y)
    shares = model.rules_.outputs(X).mean(axis=0)
    np.testing.assert_allclose([rule.support for rule in model.rules_], shares)
    assert model.score(X, y) == r2_score(y, model.predict(X)) > 0.8
    measured = model.rules_.statistics(X, y)
    holds = model.rules_.outputs(X)[:, 0]
    assert measured.loc[1, "n_rows"] == holds.sum()
    assert measured.loc[1, "mean"] == pytest.approx(y[holds].mean())
    with pytest.raises(ValueError, match="200 rows but 199 targets"):
        model.rules_.statistics(X, y[:-1])


AGE = Condition("age", "age", "numeric", lower=40.0)
OLD = Condition("age", "age", "numeric", lower=60.0)
HAND_MADE = NumberRules(
    classes=np.array([], dtype=object),
    intercept=152.125,
    rules=(Rule((AGE,), 12.25, 0.5), Rule((OLD,), -3.0, 0.25), Rule((OLD,), -0.015625)),
    columns=(RuleColumn("age", "age", None, "numeric", ()),),
)


def test_texts_tables_and_explanations_of_a_hand_made_set():
    assert HAND_MADE.to_text() == (
        "Start at 152.1 and add the weight of every rule that holds.\n"
        "1. IF age > 40 THEN +12.2\n"
        "2. IF age > 60 THEN −3.0\n"
        "3. IF age > 60 THEN −0.016\n"
    )
    frame = HAND_MADE.to_frame()
    assert list(frame.columns) == ["rule", "weight", "literals", "support"]
    assert frame["weight"].tolist() == [12.25, -3.0, -0.015625]
    np.testing.assert_array_equal(frame["support"], [0.5, 0.25, np.nan])
    ages = pd.DataFrame({"age": [30.0, 50.0, 70.0, np.nan]})
    assert HAND_MADE.predict(ages).tolist() == [152.125, 164.375, 161.359375, 152.125]
    assert HAND_MADE.votes(ages).shape == (4, 1)
    why = HAND_MADE.explain({"age": 50.0})
    assert (why.predicted, why.votes, why.intercept) == (164.375, 164.375, 152.125)
    assert [(one.number, one.contribution) for one in why.fired] == [(1, 12.25)]
    assert [one.number for one in why.near_misses] == [2, 3]
    short = HAND_MADE.simplify()
    assert [(rule.text(), rule.weights) for rule in short] == [("age > 40", 12.25), ("age > 60", -3.015625)]


@pytest.mark.parametrize(
    ("weight", "shown"),
    [(50123.4, "50123"), (0.01234, "0.0123"), (3e-12, "3e-12"), (2e20, "2e+20"), (9.996, "10.00")],
)
def test_weights_of_every_size_can_be_read(weight, shown):
    rules = NumberRules(HAND_MADE.classes, 0.0, (Rule((AGE,), weight),), HAND_MADE.columns)
    assert rules.sentence(rules[0]) == f"IF age > 40 THEN +{shown}"


def test_exports_of_numbers():
    document = json.loads(HAND_MADE.export("json"))
    assert document["classes"] == []
    assert document["decision"].endswith("The sum is the predicted number.")
    assert [rule["class"] for rule in document["rules"]] == ["higher", "lower", "lower"]
    again = RuleSet.from_json(HAND_MADE.export("json"))
    assert isinstance(again, NumberRules)
    assert (again.rules, again.intercept) == (HAND_MADE.rules, HAND_MADE.intercept)
    rows = list(csv.DictReader(io.StringIO(HAND_MADE.export("csv").decode("utf-8-sig"))))
    assert [row["weight"] for row in rows] == ["152.125", "12.25", "-3.0", "-0.015625"]
    assert {row["class"] for row in rows} == {""}


def test_pmml_of_numbers_is_a_regression_whose_table_is_the_sum_by_hand():
    data = HAND_MADE.export("pmml")
    space = {"p": "http://www.dmg.org/PMML-4_4"}
    root = ElementTree.fromstring(data)
    model = root.find("p:RegressionModel", space)
    assert (model.get("functionName"), model.get("normalizationMethod")) == ("regression", "none")
    (table,) = model.findall("p:RegressionTable", space)
    assert "targetCategory" not in table.attrib
    target = root.find("p:DataDictionary/p:DataField[@name='number']", space)
    assert (target.get("optype"), target.get("dataType")) == ("continuous", "double")
    scored = pmml_reader.score(data, pd.DataFrame({"age": [30.0, 50.0, 70.0, np.nan]}))
    assert scored.predicted.tolist() == [152.125, 164.375, 161.359375, 152.125]


def test_written_sql_python_and_markdown_give_the_numbers_worked_out_by_hand(tmp_path):
    ages = [30.0, 50.0, 70.0, None]
    wanted = [152.125, 164.375, 161.359375, 152.125]
    (tmp_path / "rules.py").write_bytes(HAND_MADE.export("python"))
    code = f"import runpy; m = runpy.run_path('rules.py'); print([m['predict']({{'age': age}}) for age in {ages}])"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == wanted
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE data (age REAL)")
        database.executemany("INSERT INTO data VALUES (?)", [(age,) for age in ages])
        found = database.execute(HAND_MADE.export("sql").decode())
        assert [column[0] for column in found.description] == ["age", "predicted_number"]
        assert found.fetchall() == list(zip(ages, wanted, strict=True))
    lines = HAND_MADE.export("markdown").decode().splitlines()
    assert "| | START | 152.125 | | 0 | | |" in lines
    assert "| 2 | IF age > 60 | -3.0 | lower | 1 | 25.0 % |  |" in lines


@pytest.mark.parametrize(("scale", "weights"), [(1.0, "refit"), (1e-7, "none"), (1e12, "refit")])
def test_every_format_for_numbers_is_proven(scale, weights):
    X, y = mixed(120)
    model = TsetlinRegressor(n_clauses=20, epochs=4, weights=weights, random_state=1).fit(X, y * scale)
    for name in (*FORMATS, MODEL):
        proof = prove(model.rules_, name, X, model, n_generated=1000)
        assert proof.equal, (name, proof.sentence, proof.examples)
        if name in ("csv", "markdown", "html"):
            assert proof.badge == "Read back"
        else:
            assert proof.sentence.endswith(
                "the same numbers as the model on all 120 rows and 1,000 generated ones."
            )


def test_duckdb_gives_the_same_numbers():
    pytest.importorskip("duckdb")
    X, y = mixed(120)
    model = TsetlinRegressor(n_clauses=20, epochs=4, random_state=1).fit(X, y)
    check = ("DuckDB ran the SQL", engines.run_duckdb)
    proof = prove(model.rules_, "sql", X, model, n_generated=1000, check=check)
    assert proof.equal, (proof.sentence, proof.examples)


def test_pruning_by_support_sends_to_the_dial():
    with pytest.raises(ValueError, match=r"predict a number are not pruned by support; TsetlinRegressor\.at"):
        prune(HAND_MADE, 0.1, pd.DataFrame({"age": [50.0]}), [150.0])


def test_a_file_with_other_numbers_is_not_handed_out():
    def spoilt(task):
        answer = run_sql(task)
        answer.votes[1] += 1e-3
        return answer

    rows = pd.DataFrame({"age": [50.0, 70.0]})
    proof = prove(HAND_MADE, "sql", rows, n_generated=10, check=("It ran", spoilt))
    assert (proof.equal, proof.differing, proof.badge) == (False, (1,), "Not equal on 1 row")
    assert proof.examples.loc[0, "numbers, file"] == "[161.360375]"
    assert "and numbers are not those of the rules" in proof.sentence


def test_a_file_gives_the_same_model_back_settled_or_not(tmp_path):
    X, y = mixed()
    path = tmp_path / "model"
    model = TsetlinRegressor(n_clauses=20, epochs=3, random_state=0).fit(X, y)
    model.save(path)
    again = tmcore.load(path)
    assert isinstance(again, TsetlinRegressor)
    np.testing.assert_array_equal(again.predict(unseen(X)), model.predict(unseen(X)))
    assert again.rules_.to_text() == model.rules_.to_text()
    model.partial_fit(X, y).save(path)
    again = tmcore.load(path)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.partial_fit(X, y).predict(X), model.partial_fit(X, y).predict(X))
    classifier = TsetlinClassifier(n_clauses=20, epochs=3, random_state=0).fit(X, y > 20)
    classifier.save(path)
    assert isinstance(tmcore.load(path), TsetlinClassifier)
    np.testing.assert_array_equal(tmcore.load(path).predict(X), classifier.predict(X))


def test_batches_and_settling_equal_fit():
    X, y = mixed()
    whole = TsetlinRegressor(n_clauses=20, epochs=4, random_state=3).fit(X, y)
    batches = TsetlinRegressor(n_clauses=20, random_state=3)
    for _ in range(4):
        batches.partial_fit(X, y, target_range=(y.min(), y.max()))
    assert not hasattr(batches, "rules_")
    by_votes = TsetlinRegressor(n_clauses=20, epochs=4, weights="none", random_state=3).fit(X, y)
    np.testing.assert_array_equal(batches.predict(X), by_votes.predict(X))
    np.testing.assert_array_equal(batches.settle(X, y).predict(X), whole.predict(X))
    with pytest.raises(ValueError, match="give partial_fit a target_range"):
        TsetlinRegressor().partial_fit(X[:1], y[:1])


def test_columns_of_0_and_1_dense_or_sparse():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(300, 8))
    y = 5.0 + 3.0 * X[:, 0] - 2.0 * (X[:, 1] & X[:, 2])
    dense = TsetlinRegressor(representation="boolean", random_state=0).fit(X, y)
    rows = sparse.csr_matrix(X)
    again = TsetlinRegressor(representation="boolean", random_state=0).fit(rows, y)
    np.testing.assert_array_equal(again.predict(rows), dense.predict(X))
    np.testing.assert_array_equal(dense.rules_.predict(X), dense.predict(X))
    assert dense.score(X, y) > 0.9


def test_early_stopping_keeps_the_best_epoch_and_settles_on_all_rows():
    X, y = mixed()
    model = TsetlinRegressor(n_clauses=40, epochs=200, early_stopping=True, random_state=0).fit(X, y)
    assert 1 <= model.best_epoch_ < 190
    assert model.machine_.state.step == model.best_epoch_ * 160
    assert model.rules_.n_rows == 200


@pytest.mark.parametrize("constant", [0.1, -1e9, 0.0])
def test_a_constant_target_is_predicted_exactly(constant):
    X, _ = mixed(20)
    for weights in ("refit", "none"):
        model = TsetlinRegressor(n_clauses=10, epochs=1, weights=weights).fit(X, np.full(20, constant))
        assert set(model.predict(X)) == {constant}
        assert len(model.rules_) == 0


def test_three_rows_keep_the_votes_and_say_why():
    model = TsetlinRegressor(n_clauses=10, epochs=1).fit([[1], [2], [3]], [1, 2, 3])
    assert "there are 3 rows" in model.settle_reason_


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, np.nan, 2.0], "NaN in row 2"),
        ([1.0, 2.0, np.inf], "infinity or a number that is too large in row 3"),
        ([1.0, 2.0, -1e301], "too large in row 3"),
        ([1.0, "2", 3.0], "y holds '(1.0|2)' in row"),
        (pd.Series([1, None, 3], dtype="Int64"), "NaN in row 2"),
        ([1.0, 2.0], "y holds 2 numbers for 3 rows"),
        (None, "requires y to be passed"),
    ],
)
def test_targets_that_are_no_numbers_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        TsetlinRegressor().fit([[1], [2], [3]], y)
