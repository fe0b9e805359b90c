"""``tmcore predict``: a model's answers for the rows of a CSV, with the rules behind each."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from tmcore.commands.new_rows import fit_columns
from tmcore.commands.output import check_output, note, text_file, write_rows
from tmcore.estimators import TsetlinClassifier, load
from tmcore.read_csv import read_raw


def run(options: argparse.Namespace) -> int:
    """Predict and write; notes go to stderr."""
    check_output(options.output)
    model = load(options.model)
    raw = read_raw(options.data, options.separator, options.encoding, options.decimal)
    frame, notes = fit_columns(raw, model.encoder_)
    for line in [*(problem.message for problem in raw.problems), *notes]:
        note(line)
    if not hasattr(model, "rules_"):
        note("This model has not been settled: it predicts by votes, and no rules are named.")
    with text_file(options.output) as file:
        write_rows(file, _rows(model, frame))
    if options.output is not None:
        note(f"Wrote {len(frame):,} predictions to {options.output}.")
    return 0


def _rows(model: TsetlinClassifier, frame: pd.DataFrame) -> Iterator[list[Any]]:
    """A heading, then the row's number in the file, prediction, probabilities, votes, and numbers of the rules."""
    X = frame if model.encoder_.by_name else frame.to_numpy(dtype=object)
    predicted, probabilities = model.predict(X).tolist(), model.predict_proba(X)
    names = [str(label) for label in model.classes_]
    settled = hasattr(model, "rules_")
    votes = model.rules_.votes(X) if settled else model.decision_function(X).reshape(len(frame), -1)
    fired = model.rules_.outputs(X) if settled else np.zeros((len(frame), 0), bool)
    vote_names = ["votes"] if votes.shape[1] == 1 else [f"votes {name}" for name in names]
    yield ["row", "prediction", *(f"probability {name}" for name in names), *vote_names, "rules"]
    cells = zip(frame.index, predicted, probabilities.tolist(), votes.tolist(), fired, strict=True)
    for row, label, shares, sums, holds in cells:
        yield [row, label, *shares, *sums, "; ".join(str(k + 1) for k in np.flatnonzero(holds))]
