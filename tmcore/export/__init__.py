"""Rule sets as files: one module a format. `tmcore.export.proof` runs what they wrote and compares."""

from __future__ import annotations

from collections.abc import Callable

from tmcore.export.about import NOTHING, About
from tmcore.export.csv_format import to_csv
from tmcore.export.html_format import to_html
from tmcore.export.json_format import read_json, to_json
from tmcore.export.markdown_format import to_markdown
from tmcore.export.pmml_format import to_pmml
from tmcore.export.python_format import to_python
from tmcore.export.sql_format import to_spark, to_sql
from tmcore.ruleset import RuleSet

__all__ = ["ENDINGS", "FORMATS", "About", "read_json", "write"]

FORMATS: dict[str, Callable[[RuleSet, About], bytes]] = {
    "json": to_json,
    "csv": to_csv,
    "markdown": to_markdown,
    "python": to_python,
    "sql": to_sql,
    "spark": to_spark,
    "pmml": to_pmml,
    "html": to_html,
}
"""Writers by the name of their format."""

ENDINGS = {
    "json": "json",
    "csv": "csv",
    "markdown": "md",
    "python": "py",
    "sql": "sql",
    "spark": "spark.sql",
    "pmml": "pmml",
    "html": "html",
}
"""How a file of each format is called."""


def write(rules: RuleSet, format: str, about: About = NOTHING) -> bytes:  # noqa: A002 - the public name
    """Return the bytes of a file that holds `rules`.

    Parameters
    ----------
    format : a name in FORMATS
    about : what the file tells about where the rules come from

    Raises
    ------
    ValueError
        If `format` is not one of FORMATS, or cannot hold a text of the data.
    """
    if format not in FORMATS:
        raise ValueError(f"Rules can be exported as {' or '.join(FORMATS)}, not as {format!r}.")
    return FORMATS[format](rules, about)
