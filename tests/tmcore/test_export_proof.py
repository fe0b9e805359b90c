"""Files are run before they are handed out, and a file that is wrong is found out."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

import sample_data
from tmcore import TsetlinClassifier
from tmcore.experiments import engines
from tmcore.experiments.hostile_table import IMAGE, SMILE, hostile_table
from tmcore.export import FORMATS
from tmcore.export.about import NOTHING
from tmcore.export.asked import used_columns
from tmcore.export.checks import CheckError, Task, run_json, run_pmml, run_python, run_sql
from tmcore.export.generated import UNSEEN, generate
from tmcore.export.proof import MODEL, Proof, plain_rows, prove
from tmcore.rules import Condition, Rule, RuleColumn, RuleSet

N_GENERATED = 1500


@cache
def trained(
    table: str, representation: str = "intervals", weights: str = "refit"
) -> tuple[TsetlinClassifier, pd.DataFrame]:
    if table.startswith("hostile"):
        X, y = hostile_table(int(table[-1]), 200)
    else:
        sample = sample_data.load(table)
        X, y = sample.features(), sample.labels()
    model = TsetlinClassifier(20, epochs=4, representation=representation, weights=weights, random_state=1)
    return model.fit(X, y), X


CASES = [
    ("hostile 2", "intervals", "refit"),
    ("hostile 2", "thresholds", "none"),
    ("hostile 3", "thresholds", "real"),
    ("hostile 4", "intervals", "none"),
    ("titanic", "intervals", "real"),
    ("penguins", "thresholds", "refit"),
]


@pytest.mark.parametrize(("table", "representation", "weights"), CASES)
def test_every_format_is_proven(table: str, representation: str, weights: str) -> None:
    model, X = trained(table, representation, weights)
    for name in (*FORMATS, MODEL):
        proof = prove(model.rules_, name, X, model, n_generated=N_GENERATED)
        assert proof.equal, (name, proof.sentence, proof.examples)
        if name in ("csv", "markdown", "html"):
            assert proof.badge == "Read back"
        else:
            assert proof.badge == "Proven equal"
            assert proof.sentence.endswith(
                f"same votes as the model on all {len(X):,} rows and {N_GENERATED:,} generated ones."
            )


@pytest.mark.parametrize("table", ["hostile 2", "hostile 3"])
def test_duckdb_gives_the_same_votes(table: str) -> None:
    pytest.importorskip("duckdb")
    model, X = trained(table)
    check = ("DuckDB ran the SQL", engines.run_duckdb)
    proof = prove(model.rules_, "sql", X, model, n_generated=N_GENERATED, check=check)
    assert proof.equal, (proof.sentence, proof.examples)


@pytest.mark.parametrize("table", ["hostile 2", "hostile 3"])
def test_jpmml_gives_the_same_votes(table: str) -> None:
    pytest.importorskip("jpmml_evaluator", reason="jpmml-evaluator is not installed")
    model, X = trained(table)
    check = ("JPMML scored the PMML", engines.run_jpmml)
    proof = prove(model.rules_, "pmml", X, model, n_generated=N_GENERATED, check=check)
    assert proof.equal, (proof.sentence, proof.examples)


def test_the_sentence_stands_in_the_file_that_was_run() -> None:
    model, X = trained("hostile 2")
    for name in ("python", "sql", "spark", "pmml", "json"):
        proof = prove(model.rules_, name, X, model, n_generated=50)
        assert proof.equal
        assert proof.sentence in proof.data.decode()


DOSE = Condition("dose", "dose", "numeric", lower=1.0)
IN_A = Condition("group", "group", "nominal", is_in="a")
SMALL = RuleSet(
    np.array(["no", "yes"]),
    -0.5,
    (Rule((DOSE,), 1.0), Rule((IN_A,), 0.25)),
    (
        RuleColumn("dose", "dose", None, "numeric", ()),
        RuleColumn("group", "group", None, "nominal", ("a", "b")),
    ),
)
ROWS = pd.DataFrame({"dose": [0.0, 1.0, 1.5, np.nan], "group": ["a", "b", "b", "a"]})


@pytest.mark.parametrize(
    ("name", "run", "right", "wrong"),
    [
        ("python", run_python, b"x1 > 1.0", b"x1 >= 1.0"),
        ("sql", run_sql, b"> 1e0 AND", b">= 1e0 AND"),
        ("pmml", run_pmml, b'"greaterThan"', b'"isIn"'),
        ("json", run_json, b'"lower": 1.0', b'"lower": 0.5'),
    ],
)
def test_a_wrong_file_is_found_out(name, run, right: bytes, wrong: bytes) -> None:
    def spoilt(task: Task):
        assert right in task.data
        return run(Task(task.data.replace(right, wrong), task.rules, task.frame, task.about))

    proof = prove(SMALL, name, ROWS, n_generated=400, check=("It ran", spoilt))
    assert not proof.equal
    assert 1 in proof.differing  # the row with the dose of 1
    assert 0 not in proof.differing
    assert proof.badge == f"Not equal on {len(proof.differing)} rows"
    assert proof.examples["row"].iloc[0] == "row 2"
    assert proof.sentence.startswith("It ran on all 4 rows and 400 generated ones, and")


def test_a_wrong_class_is_found_out_too() -> None:
    def swapped(task: Task):
        answer = run_sql(task)
        return type(answer)(answer.votes, list(reversed(answer.predicted)))

    assert not prove(SMALL, "sql", ROWS, n_generated=10, check=("It ran", swapped)).equal


def test_a_file_that_cannot_run_is_not_checked() -> None:
    def stops(task: Task):
        return run_sql(Task(b"SELECT absent", task.rules, task.frame, task.about))

    proof = prove(SMALL, "sql", ROWS, n_generated=10, check=("It ran", stops))
    assert (proof.equal, proof.badge) == (False, "Not checked")
    assert proof.sentence.startswith("SQLite stopped: no such column")


def test_names_that_sqlite_takes_for_one_are_not_proven() -> None:
    conditions = (Condition("A", "A", "numeric", lower=1.0), Condition("a", "a", "numeric", lower=1.0))
    columns = tuple(RuleColumn(name, name, None, "numeric", ()) for name in ("A", "a"))
    rules = RuleSet(np.array([0, 1]), 0.0, (Rule(conditions, 1.0),), columns)
    proof = prove(rules, "sql", pd.DataFrame({"A": [1.0], "a": [2.0]}), n_generated=10)
    assert (proof.badge, proof.reason) == ("Not checked", "SQLite stopped: duplicate column name: a")


def test_python_that_runs_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tmcore.export.checks.SECONDS", 0.5)
    with pytest.raises(CheckError, match="Python took more than"):
        run_python(Task(b"while True: pass", SMALL, plain_rows(SMALL, ROWS), NOTHING))


def test_python_sees_nothing_of_this_process(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('shadowed')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert prove(SMALL, "python", ROWS, n_generated=10).equal


def test_without_a_model_the_rules_are_compared_with() -> None:
    assert "same votes as the rules on" in prove(SMALL, "json", ROWS, n_generated=10).sentence
    with pytest.raises(ValueError, match="cannot be proven"):
        prove(SMALL, MODEL, ROWS)


def test_rules_of_an_array_are_proven() -> None:
    X = np.random.default_rng(0).normal(size=(80, 3))
    model = TsetlinClassifier(10, epochs=3, random_state=0).fit(X, (X[:, 0] > 0).astype(int))
    for name in (*FORMATS, MODEL):
        assert prove(model.rules_, name, X, model, n_generated=100).equal, name


def test_only_so_many_rows_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tmcore.export.proof.MOST_TESTS", 4000)  # two rules: 2,000 rows
    many = pd.concat([ROWS] * 1000, ignore_index=True)
    proof = prove(SMALL, "json", many, n_generated=100)
    assert "on 2,000 of 4,000 rows and 100 generated ones" in proof.sentence


def test_generated_rows_are_at_between_and_beyond_cuts_missing_and_unseen() -> None:
    rows = generate(SMALL, 2000, seed=3)
    dose = rows["dose"].to_numpy()
    assert {1.0, np.nextafter(1.0, 2), np.nextafter(1.0, 0), 0.0, 2.0} <= set(dose)
    assert np.isnan(dose).mean() == pytest.approx(0.08, abs=0.04)
    groups = set(rows["group"])
    assert {"a", "b", *UNSEEN, None} <= groups
    assert rows.equals(generate(SMALL, 2000, seed=3))


def test_generated_rows_aim_at_every_rule() -> None:
    model, _ = trained("hostile 3")
    rows = generate(model.rules_, 20 * len(model.rules_))
    assert model.rules_.outputs(rows).any(axis=0).all()


def test_plain_rows_are_floats_and_texts() -> None:
    model, X = trained("hostile 2")
    plain = plain_rows(model.rules_, X)
    assert list(plain) == list(used_columns(model.rules_))
    assert plain[SMILE].map(type).isin([str, type(None)]).all()
    assert plain["select"].dtype == np.float64
    assert IMAGE not in plain or set(plain[IMAGE].dropna()) == {"1", "2", "10"}


def test_proof_texts() -> None:
    proof = Proof("sql", b"", False, 4, 4, 10, "It ran", differing=(3,))
    assert proof.badge == "Not equal on 1 row"
