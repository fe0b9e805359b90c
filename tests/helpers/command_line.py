"""The command ``tmcore`` in tests: a small model, and mistakes."""

from pathlib import Path

import pandas as pd
import pytest

from tmcore import cli

SETTINGS = ["--n-clauses", "20", "--epochs", "5", "--seed", "3"]


def train(folder: Path, data: str, frame: pd.DataFrame, target: str) -> Path:
    """Write rows to a CSV and train ``model`` on it; the folder that holds both."""
    frame.to_csv(folder / data, index=False)
    words = ["train", str(folder / data), "--target", target, "-o", str(folder / "model"), *SETTINGS]
    assert cli.main(words) == 0
    return folder


def refused(words: list[object], capsys: pytest.CaptureFixture[str]) -> str:
    """The one sentence that a mistake ends in."""
    try:
        code = cli.main([str(word) for word in words])
    except SystemExit as stop:  # by argparse
        code = int(stop.code or 0)
    captured = capsys.readouterr()
    assert code == 2
    lines = captured.err.splitlines()
    assert len(lines) == 1
    assert lines[0].endswith(".")
    return lines[0]
