"""``tmcore predict``: a model's answers for the rows of a CSV, with the rules behind each."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import chain

from tmcore.commands.output import check_output, note, text_file
from tmcore.commands.words import cut
from tmcore.model_files import load
from tmcore.read_csv import read_raw
from tmcore.scoring import score, write_csv


def run(options: argparse.Namespace) -> int:
    """Predict and write; notes go to stderr."""
    check_output(options.output)
    model = load(options.model)
    raw = read_raw(options.data, options.separator, options.encoding, options.decimal)
    needed, given = [column.name for column in model.encoder_.columns], list(raw.frame.columns)
    renamed = read_columns(options.column, needed, given)
    scored = score(raw, model.encoder_, getattr(model, "rules_", None), model, renamed=renamed)
    for line in scored.notes:
        note(line)
    if not hasattr(model, "rules_"):
        note("This model has not been settled: it predicts by votes, and no rules are named.")
    with text_file(options.output) as file:
        write_csv(file, chain([scored.head()], scored.cells()), "\n" if file is sys.stdout else "\r\n")
    if options.output is not None:
        note(f"Wrote {len(scored):,} predictions to {options.output}.")
    return 0


def read_columns(pairs: Sequence[str], needed: Sequence[str], given: Sequence[str]) -> dict[str, str]:
    """Pairs "TRAINED=GIVEN" as columns of the training to columns of the file; see `cut`.

    Raises
    ------
    ValueError
        A column of the training is named twice, or a pair means two things.
    """
    found: dict[str, str] = {}
    for pair in pairs:
        trained, column = cut(pair, needed, given, "--column")
        if trained in found:
            raise ValueError(f"--column names {trained!r} twice; name one column of the file for it.")
        found[trained] = column
    return found
