"""Rule sets as files: one module a format."""

from __future__ import annotations

from tmcore.export.csv_format import to_csv
from tmcore.export.json_format import read_json, to_json
from tmcore.ruleset import RuleSet

__all__ = ["FORMATS", "read_json", "write"]

FORMATS = {"json": to_json, "csv": to_csv}
"""Writers by the name of their format."""


def write(rules: RuleSet, format: str) -> bytes:  # noqa: A002 - the public name
    """Return the bytes of a file that holds `rules`.

    Raises
    ------
    ValueError
        If `format` is not one of FORMATS.
    """
    if format not in FORMATS:
        raise ValueError(f"Rules can be exported as {' or '.join(FORMATS)}, not as {format!r}.")
    return FORMATS[format](rules)
