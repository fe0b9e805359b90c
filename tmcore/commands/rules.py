"""``tmcore rules``: a model's rules as text or in any of the export formats."""

from __future__ import annotations

import argparse

from tmcore.commands.output import check_output, write_bytes
from tmcore.estimators import load


def run(options: argparse.Namespace) -> int:
    """Write the rules to a file or stdout."""
    check_output(options.output)
    model = load(options.model)
    if not hasattr(model, "rules_"):
        raise ValueError(
            f"{options.model} was trained on batches and not settled; call settle(X, y) in Python first."
        )
    if options.format == "text":
        data = model.rules_.to_text().encode("utf-8", errors="backslashreplace")
    else:
        data = model.rules_.export(options.format)
    write_bytes(data, options.output)
    return 0
