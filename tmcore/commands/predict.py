"""``tmcore predict``: a model's answers for the rows of a CSV, with the rules behind each."""

from __future__ import annotations

import argparse
import sys
from itertools import chain

from tmcore.commands.output import check_output, note, text_file
from tmcore.model_files import load
from tmcore.read_csv import read_raw
from tmcore.scoring import score, write_csv


def run(options: argparse.Namespace) -> int:
    """Predict and write; notes go to stderr."""
    check_output(options.output)
    model = load(options.model)
    raw = read_raw(options.data, options.separator, options.encoding, options.decimal)
    scored = score(raw, model.encoder_, getattr(model, "rules_", None), model)
    for line in scored.notes:
        note(line)
    if not hasattr(model, "rules_"):
        note("This model has not been settled: it predicts by votes, and no rules are named.")
    with text_file(options.output) as file:
        write_csv(file, chain([scored.head()], scored.cells()), "\n" if file is sys.stdout else "\r\n")
    if options.output is not None:
        note(f"Wrote {len(scored):,} predictions to {options.output}.")
    return 0
