"""The class to predict of two: every result is that of the same data with labels renamed so that it sorts second."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import f1_score, log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_score

import tmcore
from tmcore import cli
from tmcore.compare import stability
from tmcore.contenders import baselines, compare_models, machines
from tmcore.estimators import TsetlinClassifier
from tmcore.export import FORMATS, write
from tmcore.export.about import describe
from tmcore.export.proof import MODEL, prove
from tmcore.judge import cross_validated_shares, judge
from tmcore.labels import class_order
from tmcore.parameters import Parameters
from tmcore.read_csv import read_raw
from tmcore.scores import Scores
from tmcore.scoring import score
from tmcore.splits import random_splits
from tmcore.suggest import suggest_settings
from tmcore.table import TableError, read_table
from tmcore.training import TrainingRun

SMALL = Parameters(n_clauses=10, epochs=3, random_state=5)
QUICK = SMALL.replace(weights="none")
LABELS: dict[str, list[Any]] = {
    "texts": ["disease", "no disease"],
    "counts": [0, 1],
    "signs": [-1, 1],
    "truth values": [False, True],
}
KINDS = [(name, first) for name in LABELS for first in (True, False)]
NAMES = [f"{name}, {'first' if first else 'second'}" for name, first in KINDS]


def table(kind: str, first: bool, n: int = 90) -> tuple[pd.DataFrame, np.ndarray, Any, np.ndarray]:
    """Rows, labels, the positive class (the first in sorted order or the second), and the labels renamed."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.choice(["x", "y", "z"], n)})
    ill = (X["a"] + (X["b"] == "x") + rng.normal(scale=0.5, size=n) > 0.6).to_numpy()
    positive, other = LABELS[kind] if first else LABELS[kind][::-1]
    y = np.where(ill, positive, other)
    return X, y.astype(object) if kind == "texts" else y, positive, np.where(ill, "b", "a")


def fitted(kind: str, first: bool, **settings: Any) -> tuple[Any, Any, pd.DataFrame, np.ndarray, Any]:
    """The classifier with a positive class, the one on renamed labels, and rows, labels, class."""
    X, y, positive, renamed = table(kind, first)
    given = {"n_clauses": 10, "epochs": 3, "random_state": 5} | settings
    chosen = TsetlinClassifier(**given, positive_class=positive).fit(X, y)
    return chosen, TsetlinClassifier(**given).fit(X, renamed), X, y, positive


@pytest.mark.parametrize(("kind", "first"), KINDS, ids=NAMES)
@pytest.mark.parametrize("settings", [{}, {"weights": "none"}, {"early_stopping": True}], ids=str)
def test_the_classifier(kind: str, first: bool, settings: dict[str, Any], tmp_path: Path) -> None:
    chosen, plain, X, y, positive = fitted(kind, first, **settings)
    assert chosen.rule_classes_.tolist()[1] == positive
    assert chosen.classes_.tolist() == sorted(chosen.rule_classes_.tolist())
    assert (chosen.rule_probabilities(X) == plain.predict_proba(X)).all()
    assert (chosen.vote_sums(X) == plain.vote_sums(X)).all()
    assert ((chosen.predict(X) == positive) == (plain.predict(X) == "b")).all()
    assert [rule.weights for rule in chosen.rules_] == [rule.weights for rule in plain.rules_]
    assert [rule.covered for rule in chosen.rules_] == [rule.covered for rule in plain.rules_]
    assert chosen.score(X, y) == np.mean(chosen.predict(X) == y)
    chosen.save(tmp_path / "model")
    again = tmcore.load(tmp_path / "model")
    assert (again.rule_classes_ == chosen.rule_classes_).all()
    assert (again.predict_proba(X) == chosen.predict_proba(X)).all()
    assert (again.rules_.predict(X) == chosen.predict(X)).all()
    assert (clone(again).fit(X, y).rule_classes_ == chosen.rule_classes_).all()


@pytest.mark.parametrize(("kind", "first"), KINDS, ids=NAMES)
@pytest.mark.parametrize("weights", ["refit", "none"])
def test_scikit_learn_takes_it_like_its_own(kind: str, first: bool, weights: str) -> None:
    """Areas and losses by scikit-learn's scorers are those computed from the positive class's probabilities."""
    X, y, positive, _ = table(kind, first)
    y = np.array(y.tolist())
    model = TsetlinClassifier(10, epochs=3, random_state=5, positive_class=positive, weights=weights)
    folds = StratifiedKFold(3)
    found = {
        name: cross_val_score(model, X, y, scoring=name, cv=folds) for name in ("roc_auc", "neg_log_loss")
    }
    for k, (train, test) in enumerate(folds.split(X, y)):
        one = clone(model).fit(X.iloc[train], y[train])
        own = one.rule_probabilities(X.iloc[test])[:, 1]
        ill = y[test] == positive
        assert found["roc_auc"][k] == pytest.approx(roc_auc_score(ill, own))
        assert found["neg_log_loss"][k] == pytest.approx(-log_loss(ill, own))
        above = one.decision_function(X.iloc[test]) > 0
        assert (one.classes_[above.astype(int)] == one.predict(X.iloc[test])).all()
        assert (one.classes_[one.predict_proba(X.iloc[test]).argmax(1)] == one.predict(X.iloc[test])).all()
    assert found["roc_auc"].min() > 0.6
    calibrated = CalibratedClassifierCV(model, cv=folds).fit(X, y)
    column = calibrated.classes_.tolist().index(positive)
    assert roc_auc_score(y == positive, calibrated.predict_proba(X)[:, column]) > 0.8


@pytest.mark.parametrize(("kind", "first"), KINDS, ids=NAMES)
def test_learning_in_batches(kind: str, first: bool) -> None:
    X, y, positive, renamed = table(kind, first)
    chosen = TsetlinClassifier(10, random_state=5, positive_class=positive)
    plain = TsetlinClassifier(10, random_state=5)
    chosen.partial_fit(X[:50], y[:50], classes=LABELS[kind]).partial_fit(X[50:], y[50:]).settle(X, y)
    plain.partial_fit(X[:50], renamed[:50]).partial_fit(X[50:], renamed[50:]).settle(X, renamed)
    assert (chosen.rule_probabilities(X) == plain.predict_proba(X)).all()


@pytest.mark.parametrize(("kind", "first"), KINDS, ids=NAMES)
def test_a_run_and_its_files(kind: str, first: bool, tmp_path: Path) -> None:
    X, y, positive, renamed = table(kind, first)
    run = TrainingRun(X[:60], y[:60], SMALL, (X[60:], y[60:]), positive_class=positive)
    plain = TrainingRun(X[:60], renamed[:60], SMALL, (X[60:], renamed[60:]))
    run.save(tmp_path / "run")
    found, expected = run.advance(epochs=2), plain.advance(epochs=2)
    assert found.scores == expected.scores
    assert isinstance(found.scores, Scores)
    said = run.classes[(found.votes[:, 0] >= 0).astype(int)]
    assert found.scores.train_f1 == pytest.approx(f1_score(y[:60], said, pos_label=positive))
    run.save_progress(tmp_path / "progress")
    again = TrainingRun.load(tmp_path / "run", tmp_path / "progress")
    for one in (again, run.restart(SMALL), run.branch(60)):
        assert one.classes.tolist() == run.classes.tolist()
    assert (again.settle().rule_probabilities(X) == plain.settle().predict_proba(X)).all()


@pytest.mark.parametrize("name", [*FORMATS, MODEL])
@pytest.mark.parametrize(("kind", "first"), KINDS, ids=NAMES)
def test_every_file_says_what_the_model_says(kind: str, first: bool, name: str) -> None:
    chosen, _, X, _, _ = fitted(kind, first)
    proof = prove(chosen.rules_, name, X, chosen, n_generated=300)
    assert proof.equal, proof.sentence


def test_files_tell_the_class_to_predict() -> None:
    chosen, _, X, y, _ = fitted("texts", True)
    about = describe("Heart", SMALL, X, pd.Series(y), positive_class="disease")
    assert dict(about.card)["class to predict"] == "disease"
    assert "class to predict</dt><dd>disease" in write(chosen.rules_, "html", about).decode()
    speaking = [rule for rule in chosen.rules_ if chosen.rules_.class_text(rule) == "disease"]
    assert speaking == [rule for rule in chosen.rules_ if rule.weights > 0]


@pytest.mark.parametrize(("kind", "first"), KINDS, ids=NAMES)
def test_scoring_a_file_at_a_threshold(kind: str, first: bool) -> None:
    chosen, _, X, _, positive = fitted(kind, first)
    scored = score(
        read_raw(X.to_csv(index=False).encode()), chosen.encoder_, chosen.rules_, chosen, threshold=0.2
    )
    other = LABELS[kind][1 if first else 0]
    assert scored.head()[2:5] == [f"probability {other}", f"probability {positive}", "votes"]
    share = pd.read_csv(io.BytesIO(scored.to_csv()))[f"probability {positive}"].to_numpy()
    assert share == pytest.approx(chosen.rule_probabilities(X)[:, 1], abs=1e-15)
    assert [label == positive for label in scored.predicted] == (share >= 0.2).tolist()


@pytest.mark.parametrize(("kind", "first"), KINDS, ids=NAMES)
def test_judging(kind: str, first: bool) -> None:
    X, y, positive, renamed = table(kind, first)
    splits = random_splits(renamed, 3)
    columns = ["accuracy", "balanced accuracy", "F1", "AUC", "rules"]
    found = judge(X, y, QUICK, splits, positive_class=positive).trials[columns]
    pd.testing.assert_frame_equal(found, judge(X, renamed, QUICK, splits).trials[columns])
    test = splits[0].test
    model = TsetlinClassifier(10, epochs=3, weights="none", random_state=5, positive_class=positive)
    model.fit(X.iloc[splits[0].train], y[splits[0].train])
    f1 = f1_score(y[test], model.predict(X.iloc[test]), pos_label=positive)
    assert found.loc[0, "F1"] == pytest.approx(f1)
    shares = model.rule_probabilities(X.iloc[test])
    for k, label in enumerate(model.rule_classes_):  # the area is the same for either class
        own, rest = shares[y[test] == label, k], shares[y[test] != label, k]
        wins = (own[:, None] > rest).mean() + (own[:, None] == rest).mean() / 2
        assert found.loc[0, "AUC"] == pytest.approx(wins)


@pytest.mark.parametrize(("kind", "first"), KINDS, ids=NAMES)
def test_cross_validated_shares(kind: str, first: bool) -> None:
    X, y, positive, renamed = table(kind, first)
    shares = cross_validated_shares(X, y, QUICK, 3, positive_class=positive)
    plain = cross_validated_shares(X, renamed, QUICK, 3)
    assert shares is not None
    assert plain is not None
    assert (shares == plain).all()
    assert roc_auc_score(y == positive, shares[:, 1]) > 0.6


@pytest.mark.parametrize(("kind", "first"), KINDS, ids=NAMES)
def test_comparing_models(kind: str, first: bool) -> None:
    X, y, positive, renamed = table(kind, first)

    def compared(labels: np.ndarray, chosen: Any) -> list[Any]:
        y = pd.Series(labels)
        models = [*machines(QUICK, chosen), *baselines()[:3]]
        return compare_models((X[:60], y[:60]), (X[60:], y[60:]), models, positive_class=chosen)

    found = compared(y, positive)
    for one, plain in zip(found, compared(renamed, None), strict=True):
        assert one.scores == pytest.approx(plain.scores, nan_ok=True), one.name
        said = np.where(one.answers.predicted == 1, "b", "a")
        assert one.scores["F1"] == f1_score(renamed[60:], said, pos_label="b", zero_division=0), one.name
    assert found[0].scores["AUC"] > 0.7


def test_warming_up_takes_class_weights_too() -> None:
    X, y, positive, _ = table("texts", True)
    weighted = SMALL.replace(class_weight={"disease": 3.0})
    train = X, pd.Series(y)
    found = compare_models(train, train, machines(weighted, positive)[:1], positive_class=positive)
    assert found[0].scores["accuracy"] > 0.7


@pytest.mark.parametrize(("kind", "first"), KINDS, ids=NAMES)
def test_other_seeds_take_the_class_of_the_rules(kind: str, first: bool) -> None:
    chosen, plain, X, y, _ = fitted(kind, first, weights="none")
    found = stability(X, y, QUICK, [1, 2], chosen.rules_)
    expected = stability(X, table(kind, first)[3], QUICK, [1, 2], plain.rules_)
    assert [one.n_seeds for one in found.rules] == [one.n_seeds for one in expected.rules]
    assert all(rules.classes.tolist() == chosen.rule_classes_.tolist() for rules in found.sets)


def test_suggesting(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, positive, _ = table("texts", True)
    seen, settle = [], TrainingRun.settle

    def noted(run: TrainingRun) -> Any:
        seen.append(run.classes[1])
        return settle(run)

    monkeypatch.setattr(TrainingRun, "settle", noted)
    suggest_settings(X, y, 0.2, parameters=SMALL, positive_class=positive)
    assert seen
    assert set(seen) == {positive}


# What cannot be ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "positive", "message"),
    [
        (["a", "b"], "c", r"positive_class is 'c', which is no label of y; choose one of 'a', 'b'\."),
        ([0, 1], "1", r"positive_class is '1', which is no label of y; choose one of 0, 1\."),
        (["a", "b", "c"], "b", r"positive_class chooses between two classes, and y holds 3; leave it out\."),
    ],
)
def test_a_class_that_cannot_be_chosen_is_one_sentence(
    labels: list[Any], positive: Any, message: str
) -> None:
    X, y = pd.DataFrame({"a": np.arange(30.0)}), labels * (30 // len(labels))
    with pytest.raises(ValueError, match=message):
        TrainingRun(X, y, SMALL, positive_class=positive)
    with pytest.raises(ValueError, match=message):
        TsetlinClassifier(positive_class=positive).fit(X, y)
    with pytest.raises(ValueError, match=message):
        judge(X, y, SMALL, random_splits(y, 2), positive_class=positive)


def test_order_without_a_choice_is_sorted() -> None:
    classes = np.array(["a", "b", "c"])
    assert class_order(classes) is classes
    assert class_order(classes[:2], "b").tolist() == ["a", "b"]
    assert class_order(classes[:2], "a").tolist() == ["b", "a"]


# The table ---------------------------------------------------------------------------------------------------------


def csv(*labels: str) -> bytes:
    return ("a,class\n" + "\n".join(f"{i},{label}" for i, label in enumerate(labels))).encode()


def test_the_rarer_class_is_predicted_unless_another_is_chosen() -> None:
    made = read_table(csv("ill", "ill", "well", "well", "well"), target="class")
    assert made.positive_class == "ill"
    assert "'ill' is the class to predict, since fewer rows have it (2 of 5)." in made.assumptions
    other = made.with_positive_class("well")
    assert other.positive_class == "well"
    assert not any("class to predict" in sentence for sentence in other.assumptions)
    assert other.with_target("class").positive_class == "ill"  # a target chosen anew begins anew


def test_of_equally_frequent_classes_the_second_in_order_is_predicted() -> None:
    made = read_table(csv("well", "ill", "ill", "well"), target="class")
    assert made.positive_class == "well"
    words = "'well' is the class to predict, the second in order, since both have as many rows."
    assert words in made.assumptions


@pytest.mark.parametrize(
    ("labels", "text", "label"), [(("0", "1"), "0", 0), (("True", "False"), "True", "True")]
)
def test_the_class_may_be_given_as_its_text(labels: tuple[str, str], text: str, label: Any) -> None:
    made = read_table(csv(*labels * 3), target="class", positive_class=text)
    assert made.positive_class == label


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("xxyy", "The target 'class' has no class 'z'; choose 'x' or 'y'."),
        (
            "xxyyww",
            "The class to predict can be chosen where the target has two classes; choose such a target.",
        ),
    ],
)
def test_a_class_that_the_target_has_not(labels: str, message: str) -> None:
    with pytest.raises(TableError) as error:
        read_table(csv(*labels), target="class", positive_class="z")
    assert str(error.value) == message
    assert read_table(csv(*labels), target="class").with_target("a").positive_class is None


# The command line --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [[], ["--batches", "40"], ["--early-stopping"]], ids=str)
@pytest.mark.parametrize("asked", [None, "disease", "no disease"])
def test_tmcore_train(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], asked: str | None, more: list[str]
) -> None:
    X, y, _, _ = table("texts", True)
    X.assign(state=y).to_csv(tmp_path / "rows.csv", index=False)
    words = ["train", str(tmp_path / "rows.csv"), "--target", "state", "-o", str(tmp_path / "model"), *more]
    words += [
        "--n-clauses",
        "10",
        "--epochs",
        "3",
        "--test-share",
        "0",
        *(["--positive", asked] if asked else []),
    ]
    assert cli.main(words) == 0
    model = tmcore.load(tmp_path / "model")
    expected = asked or pd.Series(y).value_counts().idxmin()
    assert model.rule_classes_[1] == expected
    said = f1_score(y, model.predict(X), pos_label=expected)
    heard = capsys.readouterr().out + capsys.readouterr().err
    assert f"F1 of {expected} {said:.3f}" in heard
    assert roc_auc_score(y == expected, model.rule_probabilities(X)[:, 1]) > 0.7


def test_tmcore_train_refuses_a_class_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rows.csv").write_bytes(csv(*"xy" * 20))
    for more in ([], ["--batches", "10"]):
        words = ["train", str(tmp_path / "rows.csv"), "-o", str(tmp_path / "model"), "--positive", "z", *more]
        assert cli.main(words) == cli.USER_ERROR
        assert capsys.readouterr().err == "The target 'class' has no class 'z'; choose 'x' or 'y'.\n"
