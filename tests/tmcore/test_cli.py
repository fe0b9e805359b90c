"""The command ``tmcore``: results checked against the estimator, and mistakes that end in one sentence."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import SETTINGS, refused, train
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

import tmcore
import tmcore.export.proof
from tmcore import cli
from tmcore.export import FORMATS, read_json
from tmcore.export.about import About
from tmcore.parameters import PARAMETERS
from tmcore.ruleset import RuleSet

HOSTILE = "=cmd|' /C calc'!A0"


def people(n_rows: int = 120, seed: int = 0) -> pd.DataFrame:
    """A column of numbers with gaps, a nominal one with a hostile name, a boolean one, and what they decide."""
    rng = np.random.default_rng(seed)
    age, colour = rng.integers(18, 80, n_rows), rng.choice(["red", "green", "blue"], n_rows)
    ill = np.where((age > 50) ^ (colour == "red"), "ill", "well")
    frame = pd.DataFrame(
        {"age": age.astype(float), HOSTILE: colour, "smokes": rng.choice(["no", "yes"], n_rows), "state": ill}
    )
    frame.loc[::10, "age"] = np.nan
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds people.csv and the model trained on it."""
    return train(tmp_path_factory.mktemp("cli"), "people.csv", people(), "state")


def predictions(text: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text), dtype={"rules": str}, keep_default_na=False)


def test_model_is_the_one_the_estimator_trains_on_the_same_rows(folder: Path) -> None:
    table = tmcore.read_table(folder / "people.csv", target="state")
    X, y = table.features(), table.labels()
    X_train, X_test, y_train, _ = train_test_split(X, y, test_size=24, random_state=3, stratify=y)
    expected = tmcore.TsetlinClassifier(n_clauses=20, epochs=5, random_state=3).fit(X_train, y_train)
    model = tmcore.load(folder / "model")
    assert model.predict_proba(X_test).tolist() == expected.predict_proba(X_test).tolist()
    assert model.rules_.to_text() == expected.rules_.to_text()


def test_train_reports_scores_before_and_after_settling(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["train", str(folder / "people.csv"), "--target", "state", "-o", str(folder / "again"), *SETTINGS]
    assert cli.main(words) == 0
    out = capsys.readouterr().out
    table = tmcore.read_table(folder / "people.csv", target="state")
    X, y = table.features(), table.labels()
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=24, random_state=3, stratify=y)
    settled = tmcore.TsetlinClassifier(n_clauses=20, epochs=5, random_state=3).fit(X_train, y_train)
    votes = tmcore.TsetlinClassifier(n_clauses=20, epochs=5, weights="none", random_state=3).fit(
        X_train, y_train
    )
    assert f"before settling: accuracy {accuracy_score(y_test, votes.predict(X_test)):.3f}" in out
    assert f"after settling: accuracy {accuracy_score(y_test, settled.predict(X_test)):.3f}" in out
    assert f"{len(settled.rules_)} rules with {settled.rules_.n_literals} literals." in out
    assert "96 rows to train on, 24 rows held out." in out
    assert "\r" not in out
    assert "\x1b" not in out


def test_predictions_equal_the_estimators(folder: Path) -> None:
    new = people(40, seed=1).drop(columns="state")
    new.to_csv(folder / "new.csv", index=False)
    assert (
        cli.main(["predict", str(folder / "model"), str(folder / "new.csv"), "-o", str(folder / "p.csv")])
        == 0
    )
    found = pd.read_csv(folder / "p.csv", dtype={"rules": str}, keep_default_na=False)
    model = tmcore.load(folder / "model")
    assert found["prediction"].tolist() == model.predict(new).tolist()
    shares = found[["probability ill", "probability well"]].to_numpy()
    assert shares.tolist() == model.predict_proba(new).tolist()
    assert found["row"].tolist() == list(range(2, 42))
    for position, text in enumerate(found["rules"]):
        explained = model.rules_.explain(new.iloc[[position]])
        assert text == "; ".join(str(fired.number) for fired in explained.fired)
        assert found["votes"][position] == explained.votes


def test_new_files_may_have_other_columns_orders_and_ways_to_write_numbers(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = people(30, seed=2).drop(columns="state")
    expected = tmcore.load(folder / "model").predict(new).tolist()
    changed = new[["smokes", HOSTILE, "age"]].assign(extra="x")
    changed["age"] = [("" if np.isnan(v) else f"{v:.1f}".replace(".", ",")) for v in new["age"]]
    changed.to_csv(folder / "changed.csv", index=False, sep=";", encoding="cp1252")
    assert cli.main(["predict", str(folder / "model"), str(folder / "changed.csv")]) == 0
    captured = capsys.readouterr()
    assert predictions(captured.out)["prediction"].tolist() == expected
    assert captured.err == "Column 'extra' is ignored; the model does not use it.\n"


def test_unseen_categories_are_noted_and_unknown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = people(10, seed=4).drop(columns="state")
    new.loc[[2, 5], "smokes"] = "perhaps"
    new.loc[3, HOSTILE] = "violet"
    new.to_csv(folder / "unseen.csv", index=False)
    assert cli.main(["predict", str(folder / "model"), str(folder / "unseen.csv")]) == 0
    captured = capsys.readouterr()
    assert captured.err.splitlines() == [
        f"Column '{HOSTILE}': 'violet' (1 row) was not seen in training and counts as unknown.",
        "Column 'smokes': 'perhaps' (2 rows) was not seen in training and counts as unknown.",
    ]
    new.loc[[2, 5], "smokes"] = None
    assert (
        predictions(captured.out)["prediction"].tolist()
        == tmcore.load(folder / "model").predict(new).tolist()
    )


def test_codes_read_as_text_in_one_file_and_as_numbers_in_another_are_the_same(tmp_path: Path) -> None:
    codes = ["1", "2", "3", "x"] * 10
    train = pd.DataFrame({"code": codes, "y": ["a" if c in "12" else "b" for c in codes]})
    train.to_csv(tmp_path / "train.csv", index=False)
    words = [
        "train",
        str(tmp_path / "train.csv"),
        "--target",
        "y",
        "--role",
        "code=nominal",
        "--test-share",
        "0",
    ]
    assert cli.main([*words, "-o", str(tmp_path / "model")]) == 0
    (tmp_path / "new.csv").write_text("code,z\n1.0,0\n2.0,0\n3.0,0\n")
    assert (
        cli.main(
            ["predict", str(tmp_path / "model"), str(tmp_path / "new.csv"), "-o", str(tmp_path / "p.csv")]
        )
        == 0
    )
    assert pd.read_csv(tmp_path / "p.csv")["prediction"].tolist() == ["a", "a", "b"]


def test_missing_columns_are_named_with_what_they_may_be_called_now(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = people(5).rename(columns={"age": "Age (years)", "smokes": "Smokes"}).drop(columns="state")
    new.rename(columns={"Age (years)": "AGE"}).to_csv(folder / "renamed.csv", index=False)
    assert refused(["predict", folder / "model", folder / "renamed.csv"], capsys) == (
        "The file has no columns 'age' and 'smokes', which the model was trained on; "
        "'AGE' may be 'age' and 'Smokes' may be 'smokes': rename what is the same."
    )
    new[[HOSTILE, "Smokes"]].rename(columns={"Smokes": "smokes"}).to_csv(folder / "less.csv", index=False)
    assert refused(["predict", folder / "model", folder / "less.csv"], capsys) == (
        "The file has no column 'age', which the model was trained on; add what is missing."
    )
    new.rename(columns={"Smokes": "smokes", "Age (years)": "tenure"}).to_csv(
        folder / "other.csv", index=False
    )
    assert refused(["predict", folder / "model", folder / "other.csv"], capsys) == (
        "The file has no column 'age', which the model was trained on; of the file's columns 'tenure' is not used: "
        "rename what is the same, or say tmcore predict --column TRAINED=GIVEN."
    )


def test_columns_called_otherwise_are_read_as_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = people(8, seed=4)
    new.rename(columns={"age": "Years", "smokes": "a=b"}).to_csv(folder / "otherwise.csv", index=False)
    words = ["predict", str(folder / "model"), str(folder / "otherwise.csv")]
    assert cli.main([*words, "--column", "age=Years", "--column", "smokes=a=b"]) == 0
    captured = capsys.readouterr()
    expected = tmcore.load(folder / "model").predict(new.drop(columns="state")).tolist()
    assert predictions(captured.out)["prediction"].tolist() == expected
    assert "Read under another name: 'Years' as 'age' and 'a=b' as 'smokes'." in captured.err
    assert "'Year' to read as 'age'" in refused([*words, "--column", "age=Year"], capsys)
    assert "'age' is not TRAINED=GIVEN" in refused([*words, "--column", "age"], capsys)


def test_no_cell_of_the_predictions_can_run_as_a_formula(tmp_path: Path) -> None:
    frame = people().replace({"state": {"ill": "=1+1", "well": "@SUM(A1)"}})
    frame.to_csv(tmp_path / "formula.csv", index=False)
    words = [
        "train",
        str(tmp_path / "formula.csv"),
        "--target",
        "state",
        "-o",
        str(tmp_path / "m"),
        *SETTINGS,
    ]
    assert cli.main(words) == 0
    assert (
        cli.main(
            ["predict", str(tmp_path / "m"), str(tmp_path / "formula.csv"), "-o", str(tmp_path / "p.csv")]
        )
        == 0
    )
    with (tmp_path / "p.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    expected = tmcore.load(tmp_path / "m").predict(frame.drop(columns="state"))
    assert [row["prediction"] for row in rows] == [f"'{label}" for label in expected]


def test_terminal_codes_in_names_are_not_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = people().rename(columns={"age": "age\x1b[31m", "smokes": "--help"})
    frame.to_csv(tmp_path / "odd.csv", index=False)
    words = ["train", str(tmp_path / "odd.csv"), "--target", "state", "-o", str(tmp_path / "m"), *SETTINGS]
    assert cli.main([*words, "--role=--help=ignored"]) == 0
    assert cli.main(["predict", str(tmp_path / "m"), str(tmp_path / "odd.csv")]) == 0
    captured = capsys.readouterr()
    assert "\x1b" not in captured.out + captured.err
    assert "Columns '--help' and 'state' are ignored" in captured.err


def test_rules_read_back_equal_the_models(folder: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    rules = tmcore.load(folder / "model").rules_
    assert cli.main(["rules", str(folder / "model"), "--format", "json"]) == 0
    read = read_json(capsysbinary.readouterr().out)
    assert [(rule.conditions, rule.weights) for rule in read] == [
        (rule.conditions, rule.weights) for rule in rules
    ]
    assert read.votes(people(50, seed=5)).tolist() == rules.votes(people(50, seed=5)).tolist()
    assert cli.main(["rules", str(folder / "model")]) == 0
    assert capsysbinary.readouterr().out.decode() == rules.to_text()


def test_a_proven_file_is_written_and_gives_the_models_votes(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tmcore.export.proof.MOST_TESTS", 2000)
    words = ["rules", str(folder / "model"), "--format", "sql", "--prove", str(folder / "people.csv")]
    assert cli.main([*words, "-o", str(tmp_path / "r.sql")]) == 0
    said = capsys.readouterr().err
    assert "Proven equal. SQLite ran the SQL" in said
    assert "on all 120 rows and" in said
    sql = (tmp_path / "r.sql").read_text()
    assert "gave the same votes as the model on all 120 rows" in sql
    rows = people()
    with sqlite3.connect(":memory:") as database:
        rows.to_sql("data", database, index=False)
        found = pd.read_sql_query(sql, database).filter(like="votes")
    expected = tmcore.load(folder / "model").rules_.votes(rows)[:, 0]
    assert found.to_numpy()[:, 0] == pytest.approx(expected, abs=1e-9)


def test_a_file_that_is_not_equal_is_not_written(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tmcore.export.proof.MOST_TESTS", 2000)
    right = tmcore.export.proof.write

    def wrong(rules: RuleSet, name: str, about: About) -> bytes:
        return right(replace(rules, rules=rules.rules[1:]), name, about)

    monkeypatch.setattr("tmcore.export.proof.write", wrong)
    words = ["rules", str(folder / "model"), "--format", "sql", "--prove", str(folder / "people.csv")]
    assert cli.main([*words, "-o", str(tmp_path / "r.sql")]) == 1
    assert not (tmp_path / "r.sql").exists()
    said = capsys.readouterr().err
    assert "Not equal on" in said
    assert "Nothing was written." in said


def test_text_cannot_be_proven(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["rules", folder / "model", "--prove", folder / "people.csv"]
    assert "Text is for reading only and cannot be proven" in refused(words, capsys)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_written_as_the_rules_export_it(folder: Path, name: str) -> None:
    path = folder / f"rules.{name}"
    assert cli.main(["rules", str(folder / "model"), "--format", name, "-o", str(path)]) == 0
    assert path.read_bytes() == tmcore.load(folder / "model").rules_.export(name)


def test_settings_reach_the_model(folder: Path) -> None:
    words = [
        "train",
        str(folder / "people.csv"),
        "--target",
        "state",
        "-o",
        str(folder / "set"),
        "--test-share",
        "0",
    ]
    given = [
        "--n-clauses",
        "10",
        "--T",
        "4",
        "--s",
        "3.5",
        "--weights",
        "none",
        "--max-levels",
        "none",
        "--epochs",
        "1",
    ]
    assert (
        cli.main([*words, *given, "--boost-true-positive", "--class-weight", "balanced", "--seed", "7"]) == 0
    )
    found = tmcore.load(folder / "set").machine_.parameters
    assert found == tmcore.Parameters(
        n_clauses=10, T=4, s=3.5, weights="none", max_levels=None, epochs=1, boost_true_positive=True,
        class_weight="balanced", random_state=7,
    )  # fmt: skip


def test_help_says_what_each_setting_means(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["train", "--help"])
    assert stop.value.code == 0
    words = " ".join(capsys.readouterr().out.split())
    for name, info in PARAMETERS.items():
        assert info.meaning in words, name


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["train", "none.csv", "-o", "m"], "There is no file 'none.csv'."),
        (["train", "none.csv", "-o", "m", "--batches", "10"], "There is no file 'none.csv'."),
        (["train", "people.csv", "-o", "nowhere/m"], "There is no folder nowhere; make it first or write elsewhere."),
        (["train", "people.csv", "-o", "."], ". is a folder; name a file to write."),
        (["train", "people.csv", "-o", "m", "--target", "sex"], "There is no column 'sex'."),
        (["train", "people.csv", "-o", "m", "--n-clauses", "7"],
         "n_clauses is 7; use an even number, half of it votes for each side."),
        (["train", "people.csv", "-o", "m", "--s", "much"], "s is 'much'; use a number from 1 to 1000."),
        (["train", "people.csv", "-o", "m", "--test-share", "2"],
         "Argument --test-share: '2' is not a share; use a number from 0 to below 1; see tmcore train --help."),
        (["train", "people.csv", "-o", "m", "--role", "age=big"],
         "Argument --role: 'age=big' is not NAME=ROLE with one of numeric, boolean, nominal, ordinal, ignored; "
         "see tmcore train --help."),
        (["train", "people.csv", "-o", "m", "--target", "state", "--representation", "boolean"],
         f"Column '{HOSTILE}' holds other values than 0 and 1; use --representation intervals or ignore it."),
        (["train", "people.csv", "-o", "m", "--target", "state", "--early-stopping", "--batches", "50"],
         "Early stopping needs all rows in memory; leave out --early-stopping or --batches."),
        (["train", "people.csv"], "The following arguments are required: -o/--output; see tmcore train --help."),
        (["predict", "none", "people.csv"], "No such file or directory: none."),
        (["predict", "people.csv", "people.csv"], "people.csv is not a file that tmcore wrote, or it is damaged."),
        (["rules", "model", "-o", "."], ". is a folder; name a file to write."),
        (["experiment", "nothing"], "There is no experiment 'nothing'; the experiments are"),
    ],
)  # fmt: skip
def test_mistakes_end_in_one_sentence(
    words: list[str],
    sentence: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    assert refused([*words], capsys).startswith(sentence)


def test_a_table_that_cannot_be_trained_on_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.csv").write_text("a,y\n1,yes\n2,yes\n3,yes\n")
    said = refused(["train", tmp_path / "one.csv", "--target", "y", "-o", tmp_path / "m"], capsys)
    assert said.startswith("Every row has the same target, 'yes', in 'y'")
    assert not (tmp_path / "m").exists()


def test_interrupting_ends_with_one_sentence_and_130(folder: Path) -> None:
    words = ["train", "people.csv", "--target", "state", "-o", "endless", "--epochs", "100000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tmcore.cli", *words],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    while "held out" not in process.stdout.readline():
        assert process.poll() is None
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "Stopped; nothing more was written.\n")
    assert not (folder / "endless").exists()


def test_a_reader_that_has_had_enough_is_no_mistake(folder: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-m", "tmcore.cli", "rules", "model"]
    done = subprocess.run(words, cwd=folder, stdout=writer, stderr=subprocess.PIPE, timeout=60)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_experiments_are_those_with_a_main(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["experiment"]) == 0
    out = capsys.readouterr().out
    assert "ssl_paper: The SSL paper's own machine" in out
    assert "defaults: The product's defaults" in out
    assert "datasets" not in out
    with pytest.raises(SystemExit) as stop:
        cli.main(["experiment", "defaults", "--help"])
    assert stop.value.code == 0
    assert capsys.readouterr().out.startswith("usage: tmcore experiment defaults")


def test_batches_cover_the_whole_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Class and levels that stand only at the end of the file are learned, and held-out rows are scored."""
    n = 600
    x = np.arange(n) + np.random.default_rng(0).permutation(n) / 1000
    frame = pd.DataFrame(
        {"size": x, "noise": np.random.default_rng(1).random(n), "y": np.where(x < 450, 1, 2)}
    )
    with gzip.open(tmp_path / "long.csv.gz", "wt") as file:
        frame.to_csv(file, index=False)
    words = [
        "train",
        str(tmp_path / "long.csv.gz"),
        "--target",
        "y",
        "-o",
        str(tmp_path / "m"),
        "--epochs",
        "10",
    ]
    assert cli.main([*words, "--batches", "100", "--test-share", "0.25"]) == 0
    out = capsys.readouterr().out
    assert "600 rows with a target" in out
    model = tmcore.load(tmp_path / "m")
    assert model.classes_.tolist() == [1, 2]
    assert accuracy_score(frame["y"], model.predict(frame.drop(columns="y"))) > 0.97
    levels = model.encoder_.features[0].cuts
    assert min(levels) < 60
    assert max(levels) > 540
    shown = next(line for line in out.splitlines() if line.startswith("On "))
    held_out = np.concatenate([np.random.default_rng([0, k]).random(100) < 0.25 for k in range(6)])
    assert shown == f"On {held_out.sum()} held-out rows:"
    right = accuracy_score(frame["y"][held_out], model.predict(frame.drop(columns="y")[held_out]))
    assert f"after settling: accuracy {right:.3f}" in out


def test_batches_of_the_same_file_give_the_same_model(folder: Path) -> None:
    words = ["train", str(folder / "people.csv"), "--target", "state", "--batches", "50", *SETTINGS]
    for name in ("first", "second"):
        assert cli.main([*words, "-o", str(folder / name)]) == 0
    first, second = (tmcore.load(folder / name).rules_.export("json") for name in ("first", "second"))
    assert first == second
    assert len(json.loads(first)["rules"]) > 0


def test_zeros_and_ones_go_through_the_boolean_representation(tmp_path: Path) -> None:
    bits = pd.DataFrame(np.random.default_rng(2).integers(0, 2, (200, 4)), columns=list("abcd"))
    bits.assign(y=bits["a"] ^ bits["b"]).to_csv(tmp_path / "bits.csv", index=False)
    words = ["train", str(tmp_path / "bits.csv"), "--target", "y", "-o", str(tmp_path / "m"), "--seed", "1"]
    assert cli.main([*words, "--representation", "boolean", "--test-share", "0"]) == 0
    assert (
        cli.main(["predict", str(tmp_path / "m"), str(tmp_path / "bits.csv"), "-o", str(tmp_path / "p.csv")])
        == 0
    )
    assert pd.read_csv(tmp_path / "p.csv")["prediction"].tolist() == (bits["a"] ^ bits["b"]).tolist()


def test_suggested_settings_are_used(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["train", str(folder / "people.csv"), "--target", "state", "-o", str(folder / "sought")]
    assert cli.main([*words, "--suggest", "0.5", *SETTINGS]) == 0
    assert "of settings by log loss on rows of the training part held out" in capsys.readouterr().out
    assert (folder / "sought").is_file()
