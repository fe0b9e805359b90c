"""``tmcore rules``: a model's rules as text or in any of the export formats, proven before they are written."""

from __future__ import annotations

import argparse

from tmcore.commands.output import check_output, note, write_bytes
from tmcore.export.proof import Model, prove
from tmcore.model_files import load
from tmcore.new_rows import fit_columns
from tmcore.read_csv import read_raw

NOT_EQUAL = 1


def run(options: argparse.Namespace) -> int:
    """Write the rules to a file or stdout."""
    check_output(options.output)
    if options.prove is not None and options.format == "text":
        raise ValueError("Text is for reading only and cannot be proven; choose another --format.")
    model = load(options.model)
    if not hasattr(model, "rules_"):
        raise ValueError(
            f"{options.model} was trained on batches and not settled; call settle(X, y) in Python first."
        )
    if options.prove is not None:
        return _prove(model, options)
    if options.format == "text":
        data = model.rules_.to_text().encode("utf-8", errors="backslashreplace")
    else:
        data = model.rules_.export(options.format)
    write_bytes(data, options.output)
    return 0


def _prove(model: Model, options: argparse.Namespace) -> int:
    """Run the file and say what came out on stderr; it is written only where it is equal."""
    raw = read_raw(options.prove, options.separator, options.encoding, options.decimal)
    frame, notes = fit_columns(raw, model.encoder_)
    for line in (*(problem.message for problem in raw.problems), *notes):
        note(line)
    rows = frame if model.encoder_.by_name else frame.to_numpy(dtype=object)
    proof = prove(model.rules_, options.format, rows, model)
    note(f"{proof.badge}. {proof.sentence}")
    if not proof.equal:
        note("Nothing was written.")
        return NOT_EQUAL
    write_bytes(proof.data, options.output)
    return 0
