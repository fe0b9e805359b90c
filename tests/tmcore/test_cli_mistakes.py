"""Files and places that are not fit for a command: one sentence, the exit code 2, and nothing half written."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from tmcore import cli

SETTINGS = ["--n-clauses", "10", "--epochs", "2"]


def table(n_rows: int = 400) -> str:
    rng = np.random.default_rng(0)
    rows = (
        f"{x:.3f},{'uvw'[k % 3]},{'yes' if x > 0 else 'no'}" for k, x in enumerate(rng.normal(size=n_rows))
    )
    return "a,n,y\n" + "\n".join(rows) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rows.csv").write_text(table())
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    code = cli.main([str(word) for word in words])
    return code, capsys.readouterr().err


def train(folder: Path, *words: object) -> list[object]:
    return ["train", folder / "rows.csv", "--target", "y", "-o", folder / "model", *SETTINGS, *words]


def test_whole_numbers_may_be_written_as_floats(folder, capsys):
    code, _ = run(capsys, *train(folder, "--n-clauses", "1e1", "--epochs", "2.0", "--max-levels", "16.0"))
    first = (folder / "model").read_bytes()
    assert code == 0
    code, _ = run(capsys, *train(folder, "--n-clauses", "10", "--epochs", "2", "--max-levels", "16"))
    assert (code, (folder / "model").read_bytes()) == (0, first)


@pytest.mark.parametrize(
    ("content", "words", "expected"),
    [
        (gzip.compress(table().encode())[:-30], ["--batches", "100"], "gzip file 'rows.csv' is damaged"),
        (table().encode(), ["--batches", "1"], "--batches is 1; learn at least 2 rows"),
        (
            (table(90_000) + "1,ä,yes\n").encode("latin-1"),
            ["--batches", "40000", "--encoding", "utf-8"],
            "utf-8 through",
        ),
        (
            (table() + "1," + "x" * 200_000 + ",yes\n").encode(),
            [],
            "Row 402 holds a cell of more than 131,072",
        ),
        (
            (table() + "1," + "x" * 200_000 + ",yes\n").encode(),
            ["--batches", "50"],
            "Row 402 holds a cell of more",
        ),
        (table().encode(), ["--jobs", "0"], "n_jobs is 0; use a whole number of threads"),
    ],
)
def test_files_and_words_that_cannot_be_trained_on(folder, capsys, content, words, expected):
    (folder / "rows.csv").write_bytes(content)
    code, said = run(capsys, *train(folder, *words))
    assert code == 2
    assert expected in said
    assert said.count("\n") == 1
    assert os.listdir(folder) == ["rows.csv"]


def test_a_model_never_takes_the_place_of_a_pipe(folder, capsys):
    os.mkfifo(folder / "pipe")
    code, said = run(capsys, *train(folder, "-o", folder / "pipe"))
    assert (code, "is a device or a pipe" in said) == (2, True)
    assert (folder / "pipe").is_fifo()


def test_results_are_written_whole_and_readable_by_whom_the_user_allows(folder, capsys, monkeypatch):
    run(capsys, *train(folder))
    result = folder / "result.csv"
    words = ["predict", folder / "model", folder / "rows.csv", "-o", result]
    mask = os.umask(0o027)
    try:
        assert run(capsys, *words)[0] == 0
    finally:
        os.umask(mask)
    assert result.stat().st_mode & 0o777 == 0o640
    before = result.read_bytes()

    def half(file, rows, ending):
        file.write("row,prediction\n1,")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tmcore.commands.predict.write_csv", half)
    code, said = run(capsys, *words)
    assert (code, "No space left on device." in said) == (2, True)
    assert result.read_bytes() == before
    assert sorted(os.listdir(folder)) == ["model", "result.csv", "rows.csv"]


def test_a_device_is_written_to_as_it_is(folder, capsys):
    run(capsys, *train(folder))
    assert run(capsys, "predict", folder / "model", folder / "rows.csv", "-o", "/dev/null")[0] == 0
    assert run(capsys, "rules", folder / "model", "--format", "json", "-o", "/dev/null")[0] == 0
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["experiment", "calibration", "--nope"], "Unrecognized arguments: --nope"),
        (["experiment", "defaults", "--trials", "0"], "'0' is not a whole number above 0"),
        (["experiment", "regression", "--splits", "-3"], "'-3' is not a whole number above 0"),
        (["benchmark", "nope"], "invalid choice: 'nope'"),
    ],
)
def test_words_of_experiments_and_benchmarks_are_refused_in_one_line(capsys, words, expected):
    with pytest.raises(SystemExit) as stopped:
        cli.main(words)
    said = capsys.readouterr().err
    assert (stopped.value.code, said.count("\n")) == (2, 1)
    assert expected in said


@pytest.mark.parametrize("words", [["experiment", "exports", "--csv"], ["benchmark", "memory", "--out"]])
def test_experiments_and_benchmarks_see_where_they_cannot_write_before_they_start(capsys, folder, words):
    code, said = run(capsys, *words, folder / "no" / "file")
    assert (code, said) == (2, f"There is no folder {folder / 'no'}; make it first or write elsewhere.\n")
