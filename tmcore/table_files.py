"""A table in one Parquet file: its cells, and what was guessed, assumed and chosen about it."""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from tmcore import files
from tmcore.guess import Guess
from tmcore.problems import Problem
from tmcore.table import Table

FORMAT_VERSION = 1
KEY, CHECKSUM = b"tmcore-table", b"tmcore-checksum"
ROW = "row"

_UNFIT = (pa.ArrowException, TypeError, OverflowError)
"""What pyarrow raises for cells of several types, of none that it knows, or too large."""


def write_table(table: Table, path: str | Path) -> None:
    """Write a table to one file, atomically; `read_table_file` gives an equal one.

    Columns are stored by their position, so that no name can be in the way of another.

    Raises
    ------
    ValueError
        A column holds cells that Parquet has no type for.
    OSError
        The file cannot be written.
    """
    frame = table.frame
    known = {f.name: getattr(table, f.name) for f in fields(table) if f.name != "frame"}
    meta = {"version": FORMAT_VERSION, "columns": list(frame.columns), "table": known}
    text = json.dumps(meta, default=_plain, allow_nan=False).encode()
    arrow = _arrow(frame).append_column(ROW, pa.array(frame.index))
    described = {KEY: text, CHECKSUM: str(zlib.crc32(text)).encode()}
    arrow = arrow.replace_schema_metadata({**(arrow.schema.metadata or {}), **described})
    with files.replacing(path) as file:
        parquet.write_table(arrow, file, compression="zstd", write_page_checksum=True)


def _arrow(frame: pd.DataFrame) -> pa.Table:
    cells = frame.set_axis([str(place) for place in range(frame.shape[1])], axis=1)
    try:
        return pa.Table.from_pandas(cells, preserve_index=False)
    except _UNFIT as error:
        name = next(name for name, place in zip(frame, cells, strict=True) if not _fits(cells[place]))
        raise ValueError(f"Column '{name}' cannot be written to a file: {error.args[0]}.") from error


def _fits(cells: pd.Series) -> bool:
    try:
        pa.array(cells)
    except _UNFIT:
        return False
    return True


def read_table_file(path: str | Path) -> Table:
    """Read a file of `write_table`.

    Raises
    ------
    ValueError
        The file is something else, of a newer version, or damaged.
    OSError
        There is no such file.
    """
    with open(path, "rb") as file:
        try:
            arrow = parquet.read_table(file, page_checksum_verification=True)
            described = arrow.schema.metadata
            text, checksum = described[KEY], int(described[CHECKSUM])
            meta = json.loads(text) if zlib.crc32(text) == checksum else {}
            if meta["version"] <= FORMAT_VERSION:
                return _table(arrow, meta)
        except Exception as error:  # where bytes are damaged, readers raise nearly anything
            raise ValueError(f"{path} is not a table that tmcore wrote, or it is damaged.") from error
    raise ValueError(f"{path} was written by a newer tmcore; update tmcore to read it.")


def _table(arrow: pa.Table, meta: dict[str, Any]) -> Table:
    rows = pd.Index(arrow.column(ROW).to_numpy(), name=ROW)
    frame = arrow.drop_columns([ROW]).to_pandas().set_axis(meta["columns"], axis=1).set_axis(rows, axis=0)
    known = meta["table"]
    known |= {
        "_guesses": {name: Guess(**_tuples(guess)) for name, guess in known["_guesses"].items()},
        "_orders": {name: tuple(order) for name, order in known["_orders"].items()},
        "_read_problems": tuple(Problem(**_tuples(problem)) for problem in known["_read_problems"]),
    }
    return Table(frame, **_tuples(known))


def _tuples(values: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, np.generic):
        return value.item()
    raise ValueError(f"{type(value).__name__} cannot be kept in a file.")
