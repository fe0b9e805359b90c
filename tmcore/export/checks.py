"""Runs what was written: each check takes a file's bytes and rows, and returns the file's votes and classes.

Nothing of a file is evaluated in this process: Python runs in a process of its own, SQL in SQLite's memory.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tmcore.export.about import About
from tmcore.export.json_format import read_json
from tmcore.export.labels import plain_labels
from tmcore.export.pmml_reader import score
from tmcore.export.sql_format import STANDARD, result_names
from tmcore.ruleset import RuleSet

SECONDS = 60.0
"""What a check may take."""


class CheckError(Exception):
    """A file could not be run; the text says why."""


@dataclass(frozen=True)
class Answer:
    """What a file says of rows.

    Attributes
    ----------
    votes : float64 array (n_rows, 1) or (n_rows, n_classes)
    predicted : list of labels, plain values
    """

    votes: NDArray[np.float64]
    predicted: list[Any]


@dataclass(frozen=True)
class Task:
    """What a check works on.

    Attributes
    ----------
    frame : DataFrame of floats and texts, one column for each that rules test
    parts : the same rows as they came, with all columns
    """

    data: bytes
    rules: RuleSet
    frame: pd.DataFrame
    about: About
    parts: Sequence[pd.DataFrame | NDArray[Any]] = ()


Check = tuple[str, Callable[[Task], Answer]]
"""What runs a file, in words, and the function."""

_RUN_PYTHON = """
import json, runpy, sys
module = runpy.run_path(sys.argv[1])
with open(sys.argv[2], encoding="utf-8") as file:
    columns, n_rows = json.load(file)
rows = [dict(zip(columns, values)) for values in zip(*columns.values())] if columns else [{}] * n_rows
answer = [[module["votes"](row) for row in rows], [module["predict"](row) for row in rows]]
with open(sys.argv[3], "w", encoding="utf-8") as file:
    json.dump(answer, file)
"""


def run_python(task: Task) -> Answer:
    """Run a module in a Python process that sees neither this one nor its packages' paths from the user."""
    columns = {name: task.frame[name].astype(object).tolist() for name in task.frame.columns}
    with tempfile.TemporaryDirectory() as folder:
        module, rows, answer = (Path(folder) / name for name in ("rules.py", "rows.json", "answer.json"))
        module.write_bytes(task.data)
        rows.write_text(json.dumps([columns, len(task.frame)]), encoding="utf-8")
        command = [sys.executable, "-I", "-c", _RUN_PYTHON, str(module), str(rows), str(answer)]
        try:
            done = subprocess.run(command, capture_output=True, timeout=SECONDS, cwd=folder, check=False)
        except subprocess.TimeoutExpired as error:
            raise CheckError(f"Python took more than {SECONDS:.0f} seconds.") from error
        if done.returncode:
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
            raise CheckError(f"Python stopped: {last[0]}")
        votes, predicted = json.loads(answer.read_text(encoding="utf-8"))
    return Answer(np.array(votes, dtype=np.float64).reshape(len(task.frame), -1), predicted)


def run_sql(task: Task) -> Answer:
    """Run a SELECT in SQLite on a table in memory."""
    try:
        return _run_sqlite(task, task.data.decode("utf-8"))
    except (sqlite3.Error, ValueError) as error:
        raise CheckError(f"SQLite stopped: {error}") from error


def _run_sqlite(task: Task, query: str) -> Answer:
    votes, label = result_names(task.rules)
    number = "row number" + "_" * max((len(name) for name in task.frame.columns), default=0)
    numeric = [pd.api.types.is_numeric_dtype(dtype) for dtype in task.frame.dtypes]
    columns = [f"{STANDARD.identifier(number)} INTEGER PRIMARY KEY"]
    for name, is_number in zip(task.frame.columns, numeric, strict=True):
        columns.append(f"{STANDARD.identifier(name)} {'REAL' if is_number else 'TEXT'}")
    table = STANDARD.identifier(task.about.table)
    values = [task.frame[name].astype(object).tolist() for name in task.frame.columns]
    with sqlite3.connect(":memory:") as database:
        end = time.monotonic() + SECONDS
        database.set_progress_handler(lambda: time.monotonic() > end, 1_000_000)
        database.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
        marks = ", ".join("?" * len(columns))
        database.executemany(
            f"INSERT INTO {table} VALUES ({marks})", zip(range(len(task.frame)), *values, strict=True)
        )
        found = database.execute(query)
        place = {name[0]: k for k, name in enumerate(found.description)}
        rows = sorted(found.fetchall(), key=lambda row: row[place[number]])
    database.close()
    sums = [[row[place[name]] for name in votes] for row in rows]
    return Answer(
        np.array(sums, dtype=np.float64).reshape(len(rows), len(votes)), [row[place[label]] for row in rows]
    )


_SPARK_TOKEN = re.compile(r"--[^\n]*|`(?:[^`]|``)*`|'(?:[^'\\]|\\.)*'", re.DOTALL)


def run_spark(task: Task) -> Answer:
    """Run Spark's SELECT in SQLite after writing its names and texts with SQLite's quotes."""
    query = _SPARK_TOKEN.sub(_requoted, task.data.decode("utf-8")).replace(" AS STRING)", " AS TEXT)")
    try:
        return _run_sqlite(task, query)
    except (sqlite3.Error, ValueError) as error:
        raise CheckError(f"SQLite stopped: {error}") from error


def _requoted(token: re.Match[str]) -> str:
    text = token[0]
    if text.startswith("--"):
        return ""
    if text.startswith("`"):
        return STANDARD.identifier(text[1:-1].replace("``", "`"))
    return STANDARD.text(re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL))


def run_pmml(task: Task) -> Answer:
    """Score a PMML file with the reader that was written apart from the writer."""
    try:
        scored = score(task.data, task.frame)
    except (ValueError, KeyError, SyntaxError) as error:
        raise CheckError(f"The PMML could not be scored: {error}") from error
    if not len(task.rules.classes):
        return Answer(scored.predicted[:, None], scored.predicted.tolist())
    texts = {
        str(label).lower() if isinstance(label, bool) else str(label): label
        for label in plain_labels(task.rules)
    }
    votes = np.column_stack(list(scored.outputs.values()))
    return Answer(votes, [texts[text] for text in scored.predicted])


def run_json(task: Task) -> Answer:
    """Read rules back and let them vote."""
    again = replace(read_json(task.data), by_name=True)  # the frame's columns have the rules' names
    return Answer(again.votes(task.frame), again.predict(task.frame).tolist())


# What is for reading is read back: as many rules, in order, with the weights of the rule set. ------------------------


def read_csv(data: bytes) -> list[list[float]]:
    """Return the weights of the start and of every rule of a CSV."""
    head, *rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    return [[float(cell) for cell in row[3 : len(head) - 3]] for row in rows]


def read_markdown(data: bytes) -> list[list[float]]:
    """Return the weights in the table of a Markdown file."""
    lines = [line for line in data.decode("utf-8").split("\n") if line.startswith("| ")]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines[1:]]
    return [[float(cell) for cell in row[2].split()] for row in rows]


def read_html(data: bytes) -> list[list[float]]:
    """Return the weights in the rows of a report."""
    found: list[list[float]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
            weights = dict(attrs).get("data-weights") if tag == "tr" else None
            if weights is not None:
                found.append([float(weight) for weight in weights.split()])

    Reader().feed(data.decode("utf-8"))
    return found


RUN: dict[str, Check] = {
    "python": ("A Python process of its own ran the file", run_python),
    "sql": ("SQLite ran the SQL", run_sql),
    "spark": ("SQLite ran the SQL with its quotes rewritten from Spark's", run_spark),
    "pmml": ("A reader written apart from the writer scored the PMML", run_pmml),
    "json": ("The JSON was read back", run_json),
}
"""What checks a format, in words, and the check."""

READ: dict[str, tuple[str, Callable[[bytes], list[list[float]]]]] = {
    "csv": ("The CSV", read_csv),
    "markdown": ("The Markdown", read_markdown),
    "html": ("The report", read_html),
}
"""Formats that hold rules in words only, and what reads their weights back."""
