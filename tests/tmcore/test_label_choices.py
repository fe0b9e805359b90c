"""Labels with too few rows, labels that look alike, and what may be chosen about them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tmcore
from tmcore import TsetlinClassifier, cli, dial
from tmcore.label_choices import doubts, thin_classes
from tmcore.refit import refit
from tmcore.table import Table, TableError, read_table
from tmcore.table_files import read_table_file, write_table


def table_of(**rows: int) -> Table:
    """A table with so many rows of each label, in which ``x`` counts them."""
    labels = [label for label, n in rows.items() for _ in range(n)]
    return Table.from_frame(
        pd.DataFrame({"x": np.arange(len(labels)) / 2, "answer": labels}), target="answer"
    )


def about_labels(table: Table) -> list[str]:
    return [problem.message for problem in table.problems if problem.labels]


@pytest.mark.parametrize(("n_rows", "settles"), [(1, False), (2, True)])
def test_settling_needs_the_rows_that_are_said_to_be_needed(n_rows: int, settles: bool) -> None:
    labels = np.array([0] * 20 + [1] * 20 + [2] * n_rows)
    outputs = np.random.default_rng(0).random((len(labels), 8)) < 0.5
    found = refit(outputs, labels, np.ones(8, np.int64), 3, 0)
    assert (found.reason is None) == settles


@pytest.mark.parametrize(("n_rows", "checked"), [(2, False), (3, True)])
def test_so_does_checking_by_retraining(n_rows: int, checked: bool) -> None:
    labels = np.array([0] * 20 + [1] * 20 + [2] * n_rows)
    outputs = np.random.default_rng(0).random((len(labels), 8)) < 0.5
    lengths = np.ones(8, np.int64)
    points = dial.path(outputs, labels, lengths, 3, 0)
    scored = dial.score_path(
        points, lambda train, held_out: (outputs[train], outputs[held_out], lengths), labels, 3, 0
    )
    assert points
    assert all((point.scores is not None) == checked for point in scored)


def test_too_few_rows_are_said_with_their_labels_and_what_they_look_like() -> None:
    table = table_of(Yes=60, No=50, Yess=1, maybe=2, later=4)
    (sentence,) = about_labels(table)
    assert sentence == (
        "Too few rows of 'maybe' (2 rows) and 'Yess' (1 row) in 'answer': for rules to be settled and "
        "checked a class needs three to train on, and one to test on. 'Yess' looks like 'Yes' (60 rows)."
    )
    assert about_labels(table_of(Yes=4, No=4)) == []


def test_labels_in_other_case_are_asked_about_however_many_rows_they_have() -> None:
    (sentence,) = about_labels(table_of(Yes=60, No=50, yes=40))
    assert sentence == (
        "In 'answer' one label may be written in several ways. 'yes' looks like 'Yes' (60 rows)."
    )


@pytest.mark.parametrize(
    ("label", "other", "alike"),
    [
        ("Yess", "Yes", True),
        ("YES", "Yes", True),
        ("no  disease", "No disease", True),
        ("nodisease", "no disease", True),
        ("<=50K.", "<=50K", True),
        ("benigm", "benign", True),
        ("diseese", "disease", True),
        ("hmoe", "home", True),
        ("dicsharged", "discharged", True),
        ("ohme", "home", False),
        ("stage II", "stage I", False),
        ("group A", "group B", False),
        ("IIIa", "IIIb", False),
        ("grade 1", "grade 2", False),
        ("<=50K", ">50K", False),
        ("atypical", "typical", False),
        ("abnormal", "normal", False),
        ("unknown", "known", False),
        ("female", "male", False),
        ("negative", "positive", False),
        ("+", "-", False),
        ("No", "Yes", False),
    ],
)
def test_what_looks_alike(label: str, other: str, alike: bool) -> None:
    (doubt,) = (one for one in doubts(pd.Series({other: 90, "xyz": 80, label: 1})) if one.label == label)
    assert doubt.alike == (other if alike else None)


def test_of_too_many_labels_those_to_join_are_named_with_the_error() -> None:
    rows = {f"kind {chr(97 + k)}{chr(97 + k)}": 5 for k in range(20)}
    table = table_of(**rows, **{"Kind AA": 4, "odd": 1})
    (error,) = (problem for problem in table.problems if problem.severity == "error")
    assert error.message.startswith("The target 'answer' has 22 different values")
    assert error.labels == ("Kind AA", "odd")
    joined = table.with_label("Kind AA", "kind aa").with_label("odd", None)
    assert not [problem for problem in joined.problems if problem.severity == "error"]


def test_numbers_are_never_alike_and_a_common_label_is_no_typing_error() -> None:
    assert [one.alike for one in doubts(pd.Series({1111: 50, 1112: 1}))] == [None]
    assert doubts(pd.Series({"approve": 50, "approved": 40})) == []


def test_long_codes_are_not_compared_letter_by_letter() -> None:
    codes = ["".join(np.random.default_rng(k).choice(list("acgt"), 2000)) for k in range(40)]
    found = doubts(pd.Series(dict.fromkeys(codes, 1)))  # takes minutes otherwise
    assert {one.alike for one in found} == {None}
    (doubt,) = doubts(pd.Series({codes[0]: 50, codes[0].upper(): 9}))
    assert doubt.alike == codes[0]


def test_a_label_read_as_another_joins_its_class() -> None:
    table = table_of(Yes=60, No=50, Yess=1)
    joined = table.with_label("Yess", "Yes")
    assert joined.labels().value_counts().to_dict() == {"Yes": 61, "No": 50}
    assert len(joined.features()) == 111
    assert joined.positive_class == "No"
    assert "1 row with 'Yess' in 'answer' is read as 'Yes', as chosen." in joined.assumptions
    assert about_labels(joined) == []
    assert joined.frame["answer"].tolist().count("Yess") == 1  # cells stay as read
    assert table.label_choices == {}
    assert joined.with_label("Yess", "Yess").labels().tolist() == table.labels().tolist()


def test_rows_left_out_are_in_neither_features_nor_labels() -> None:
    table = table_of(Yes=4, Yess=1, No=5).with_label("Yess", None)
    assert table.features().index.tolist() == table.labels().index.tolist() == [2, 3, 4, 5, 7, 8, 9, 10, 11]
    assert table.features()["x"].tolist() == [0, 0.5, 1, 1.5, 2.5, 3, 3.5, 4, 4.5]
    assert table.assumptions[-1] == "1 row with 'Yess' in 'answer' is left out, as chosen."


def test_labels_that_are_numbers_or_truth_values_stay_so() -> None:
    for values, label, left in (([1, 2, 2, 9], "9", [1, 2, 2]), ([True, False, True], "False", [True, True])):
        frame = pd.DataFrame({"x": range(len(values)), "y": values})
        labels = Table.from_frame(frame, target="y").with_label(label, None).labels()
        assert labels.tolist() == left
        assert labels.dtype == pd.Series(left).dtype
    numbers = Table.from_frame(pd.DataFrame({"x": [1, 2, 3], "y": [1.0, 2.0, 9.0]}), target="y")
    assert numbers.with_label("9", "2").labels().tolist() == [1, 2, 2]


def test_choices_follow_each_other() -> None:
    table = table_of(Yes=5, yes=3, yess=1, No=4).with_label("yess", "yes").with_label("yes", "Yes")
    assert table.labels().value_counts().to_dict() == {"Yes": 9, "No": 4}
    with pytest.raises(TableError, match="'No' cannot be read as 'yes', which is itself read as another"):
        table.with_label("No", "yes")


def test_choices_that_do_not_fit_are_one_sentence() -> None:
    table = table_of(Yes=5, No=4)
    with pytest.raises(TableError, match="The target 'answer' has no label 'Yess'; it has 'Yes' and 'No'"):
        table.with_label("Yess", None)
    with pytest.raises(TableError, match="has no label 'Yess'"):
        table.with_label("Yes", "Yess")
    numbers = Table.from_frame(pd.DataFrame({"x": range(30), "y": np.arange(30) / 4}), target="y")
    with pytest.raises(TableError, match="where a class is predicted"):
        numbers.with_label("1", None)


def test_another_target_or_task_forgets_them_and_a_class_that_is_gone_is_not_predicted() -> None:
    table = table_of(Yes=5, No=4, odd=1).with_label("odd", None).with_positive_class("Yes")
    assert table.with_target("x").with_target("answer").label_choices == {}
    assert table.with_label("odd", "odd").positive_class is None  # three classes again
    assert table.with_label("odd", "No").positive_class == "Yes"


def test_choices_are_kept_with_the_table(tmp_path: Path) -> None:
    table = table_of(Yes=5, No=4, odd=1, Yess=1).with_label("odd", None).with_label("Yess", "Yes")
    write_table(table, tmp_path / "table")
    read = read_table_file(tmp_path / "table")
    assert read.label_choices == table.label_choices == {"odd": None, "Yess": "Yes"}
    pd.testing.assert_series_equal(read.labels(), table.labels())
    assert read.assumptions == table.assumptions


def test_a_division_that_leaves_a_class_too_few_rows_to_train_on_is_said() -> None:
    labels = pd.Series(["a"] * 8 + ["b"] * 4)
    assert thin_classes(labels, labels[[0, 1, 2, 8, 9, 10]]) is None
    found = thin_classes(labels, labels[[0, 1, 2, 8]])
    assert found is not None
    assert found.startswith(
        "Only 1 of 4 rows of 'b' would be trained on; for rules to be settled and checked"
    )


def test_the_command_line_has_the_same_choices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=120).round(2)
    labels = np.where(x > 0, "Yes", "No").astype(object)
    labels[0], labels[1] = "Yess", "no idea"
    path = tmp_path / "answers.csv"
    pd.DataFrame({"x": x, "z": rng.normal(size=120).round(2), "answer": labels}).to_csv(path, index=False)
    settings = ["--n-clauses", "10", "--epochs", "3", "-o", str(tmp_path / "model"), "--target", "answer"]
    choices = ["--read-as", "Yess=Yes", "--leave-out", "no idea"]
    assert cli.main(["train", str(path), *settings, *choices]) == 0
    out = capsys.readouterr().out
    assert "1 row with 'Yess' in 'answer' is read as 'Yes', as chosen." in out
    assert "1 row with 'no idea' in 'answer' is left out, as chosen." in out
    assert "95 rows to train on, 24 rows held out." in out
    model = tmcore.load(tmp_path / "model")
    assert isinstance(model, TsetlinClassifier)
    assert sorted(model.classes_) == ["No", "Yes"]
    table = read_table(path, target="answer", labels={"Yess": "Yes", "no idea": None})
    assert table.labels().tolist() == ["Yes", *labels[2:]]
    assert cli.main(["train", str(path), *settings, *choices, "--batches", "50"]) == 0
    out = capsys.readouterr().out
    assert "1 row with 'Yess' in 'answer' is read as 'Yes', as chosen." in out
    assert "1 row with 'no idea' in 'answer' is left out, as chosen." in out
    assert "119 rows with a target" in out
    in_parts = tmcore.load(tmp_path / "model")
    assert isinstance(in_parts, TsetlinClassifier)
    assert sorted(in_parts.classes_) == ["No", "Yes"]
    assert cli.main(["train", str(path), *settings, "--leave-out", "nobody", "--batches", "50"]) == 2
    assert "The target 'answer' has no label 'nobody'" in capsys.readouterr().err


def written(path: Path, labels: list[str]) -> list[str]:
    """The words of a short training on a file with these labels in a random order, four times each."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"x": rng.normal(size=4 * len(labels)).round(2), "answer": rng.permutation(labels * 4)}
    )
    frame.to_csv(path, index=False)
    return [
        "train",
        str(path),
        "--n-clauses",
        "4",
        "--epochs",
        "1",
        "--target",
        "answer",
        "-o",
        f"{path}.model",
    ]


def classes_of(path: Path) -> list[object]:
    model = tmcore.load(Path(f"{path}.model"))
    assert isinstance(model, TsetlinClassifier)
    return model.classes_.tolist()


@pytest.mark.parametrize("batches", [[], ["--batches", "30"]])
def test_a_number_is_left_out_however_it_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], batches: list[str]
) -> None:
    words = written(tmp_path / "a.csv", ["0"] * 9 + ["1"] * 9 + ["2"] * 3 + ["2.0"] * 3)
    assert cli.main([*words, "--leave-out", "2", *batches]) == 0
    assert "24 rows with '2' in 'answer' are left out, as chosen." in capsys.readouterr().out
    assert classes_of(tmp_path / "a.csv") == [0, 1]


@pytest.mark.parametrize("batches", [[], ["--batches", "30"]])
def test_labels_beside_text_are_the_same_in_parts(tmp_path: Path, batches: list[str]) -> None:
    words = written(tmp_path / "a.csv", ["0"] * 9 + ["1"] * 9 + ["1.0"] * 5 + ["x"] * 2)
    assert cli.main([*words, "--leave-out", "x", *batches]) == 0
    assert classes_of(tmp_path / "a.csv") == ["0", "1", "1.0"]


def test_of_many_labels_in_parts_those_left_out_do_not_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = written(tmp_path / "a.csv", [f"k{k}" for k in range(22)])
    words += ["--batches", "60", "--read-as", "k21=k20"]
    assert cli.main(words) == 2
    assert "more than 20 different values" in capsys.readouterr().err
    assert cli.main([*words, "--leave-out", "k19"]) == 0
    assert classes_of(tmp_path / "a.csv") == sorted(f"k{k}" for k in [*range(19), 20])


@pytest.mark.parametrize("batches", [[], ["--batches", "30"]])
def test_labels_on_the_command_line_may_hold_equals_signs(tmp_path: Path, batches: list[str]) -> None:
    words = written(tmp_path / "a.csv", ["a=b"] * 9 + ["c"] * 9 + ["c=d"] * 2)
    assert cli.main([*words, "--read-as", "c=d=a=b", *batches]) == 0
    assert sorted(map(str, classes_of(tmp_path / "a.csv"))) == ["a=b", "c"]


@pytest.mark.parametrize("batches", [[], ["--batches", "30"]])
@pytest.mark.parametrize("second", [["--leave-out", "x"], ["--read-as", "x=b"]])
def test_two_choices_about_a_label_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], batches: list[str], second: list[str]
) -> None:
    words = written(tmp_path / "a.csv", ["a"] * 9 + ["b"] * 9 + ["x"] * 2)
    assert cli.main([*words, "--read-as", "x=a", *second, *batches]) == 2
    fate = "left out" if second[0] == "--leave-out" else "read as 'b'"
    assert f"'x' in 'answer' is both read as 'a' and {fate}; choose one." in capsys.readouterr().err


@pytest.mark.parametrize("odd", ["Yes\u200b", "\ufeffYes", "Cafe\u0301", "two\u00a0words"])
def test_labels_that_differ_in_what_cannot_be_seen_are_told(odd: str) -> None:
    plain = {"Cafe\u0301": "Caf\u00e9", "two\u00a0words": "two words"}.get(odd, "Yes")
    (sentence,) = about_labels(table_of(**{plain: 40, "No": 39, odd: 20}))
    assert "(40 rows, written with other signs that cannot be seen)." in sentence


def test_so_are_numbers_that_are_written_in_two_ways() -> None:
    (sentence,) = about_labels(table_of(**{"1": 40, "no": 39, "1.0": 20, "10": 20}))
    assert sentence == "In 'answer' one label may be written in several ways. '1.0' looks like '1' (40 rows)."
