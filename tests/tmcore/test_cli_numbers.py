"""``tmcore train``, ``predict`` and ``rules`` where the target is a number."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import SETTINGS, refused, train
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import train_test_split

import tmcore
from tmcore import cli


def houses(n_rows: int = 120, seed: int = 0) -> pd.DataFrame:
    """Rooms with gaps, a place, and a price that they decide, with cents."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"rooms": rng.integers(1, 9, n_rows).astype(float)})
    frame["place"] = rng.choice(["town", "hill", "shore"], n_rows)
    price = 100 + 80.0 * (frame["rooms"] > 4) + 45.5 * (frame["place"] == "shore")
    frame["price"] = (price + rng.normal(scale=5, size=n_rows)).round(2)
    frame.loc[::11, "rooms"] = np.nan
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(tmp_path_factory.mktemp("numbers"), "houses.csv", houses(), "price")


def test_the_model_is_the_regressors_and_its_scores_are_scikit_learns(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["train", str(folder / "houses.csv"), "--target", "price", "-o", str(folder / "again"), *SETTINGS]
    assert cli.main(words) == 0
    out = capsys.readouterr().out
    table = tmcore.read_table(folder / "houses.csv", target="price")
    X, y = table.features(), houses()["price"]
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=24, random_state=3)
    settings = {"n_clauses": 20, "epochs": 5, "random_state": 3}
    settled = tmcore.TsetlinRegressor(**settings).fit(X_train, y_train)
    by_votes = tmcore.TsetlinRegressor(**settings, weights="none").fit(X_train, y_train)
    model = tmcore.load(folder / "again")
    assert isinstance(model, tmcore.TsetlinRegressor)
    assert model.predict(X).tolist() == settled.predict(X).tolist()
    for name, one in (("before settling", by_votes), ("after settling", settled)):
        predicted = one.predict(X_test)
        mae, r2 = mean_absolute_error(y_test, predicted), r2_score(y_test, predicted)
        assert f"{name}: mean absolute error {mae:.4g}, R2 {r2:.3f}\n" in out
    mean = y_train.mean()
    error = mean_absolute_error(y_test, np.full(24, mean))
    assert (
        f"always answering the mean of the training rows, {mean:.4g}: mean absolute error {error:.4g}" in out
    )
    assert f"'price' has {y.nunique()} different numbers, so a number is predicted and not a class" in out
    assert "On 24 held-out rows:" in out
    assert "Epoch 5 of 5: " in out
    assert "Warning" not in out


def test_predictions_and_rules_are_the_models(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = houses(30, seed=1).drop(columns="price")
    new.to_csv(folder / "new.csv", index=False)
    assert cli.main(["predict", str(folder / "model"), str(folder / "new.csv")]) == 0
    found = pd.read_csv(io.StringIO(capsys.readouterr().out), dtype={"rules": str}, keep_default_na=False)
    assert list(found.columns) == ["row", "prediction", "rules"]
    model = tmcore.load(folder / "model")
    assert found["prediction"].tolist() == model.predict(new).tolist()
    for position, text in enumerate(found["rules"]):
        fired = model.rules_.explain(new.iloc[[position]]).fired
        assert text == "; ".join(str(one.number) for one in fired)
    assert cli.main(["rules", str(folder / "model")]) == 0
    assert capsys.readouterr().out == model.rules_.to_text()
    words = ["rules", str(folder / "model"), "--format", "sql", "--prove", str(folder / "new.csv")]
    assert cli.main([*words, "-o", str(folder / "rules.sql")]) == 0
    assert (
        "Proven equal. SQLite ran the SQL and gave the same numbers as the model" in capsys.readouterr().err
    )
    assert b'AS "predicted_number"' in (folder / "rules.sql").read_bytes()
    assert cli.main(["rules", str(folder / "model"), "--format", "html", "-o", str(folder / "r.html")]) == 0
    assert "every row begins here" in (folder / "r.html").read_text()


def test_few_numbers_are_classes_unless_the_task_says_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = houses().assign(price=lambda x: (x["price"] // 40).astype(int))
    frame.to_csv(tmp_path / "few.csv", index=False)
    words = ["train", str(tmp_path / "few.csv"), "--target", "price", "-o", str(tmp_path / "m"), *SETTINGS]
    assert cli.main(words) == 0
    assert isinstance(tmcore.load(tmp_path / "m"), tmcore.TsetlinClassifier)
    assert cli.main([*words, "--task", "numbers", "--early-stopping"]) == 0
    assert isinstance(tmcore.load(tmp_path / "m"), tmcore.TsetlinRegressor)
    assert "Early stopping kept epoch" in capsys.readouterr().out
    frame.assign(price="3,5").to_csv(tmp_path / "same.csv", index=False)
    words = ["train", tmp_path / "same.csv", "--target", "price", "--task", "numbers", "-o", tmp_path / "m"]
    assert "Every row has the same number in 'price'" in refused([*words, "--decimal", ","], capsys)


def test_what_numbers_cannot_do_is_one_sentence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["train", folder / "houses.csv", "-o", folder / "no"]
    price = [*words, "--target", "price"]
    said = refused([*words, "--target", "place", "--task", "numbers"], capsys)
    assert "The target 'place' holds " in said
    assert "in row 2, which is no number" in said
    assert "Predict a number instead" in refused([*price, "--task", "classes"], capsys)
    assert "--suggest compares settings for classes" in refused([*price, "--suggest", "5"], capsys)
    assert "--batches learns classes only" in refused(
        [*price, "--task", "numbers", "--batches", "50"], capsys
    )
    assert "class_weight weighs classes" in refused([*price, "--class-weight", "balanced"], capsys)
    assert not (folder / "no").exists()
