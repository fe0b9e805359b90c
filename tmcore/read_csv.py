"""From the bytes of a CSV file to its cells as text.

Nothing is interpreted beyond what the file needs to be read: encoding, separator, header, missing markers,
decimal mark. Rows are numbered as in a spreadsheet, the header being row 1.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import charset_normalizer
import numpy as np
import pandas as pd

from tmcore.problems import Problem, TableError, counted, quoted
from tmcore.texts import MISSING_MARKERS, VALUES_ELSEWHERE, decimal_vote, meant_as_values, parse_numbers

MAX_BYTES = 200 * 1024 * 1024
MAX_ROWS = 2_000_000
MAX_COLUMNS = 5_000

Source = str | os.PathLike[str] | bytes | IO[Any]

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}

_SIGNATURES = [
    (b"PK\x03\x04", "an Excel workbook or a zip archive"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF", "a PDF document"),
    (b"PAR1", "a Parquet file"),
    (b"SQLite format 3", "an SQLite database"),
]
EXCEL_SEPARATOR = re.compile(r"\"?sep=([^\"\r\n])\"?[ ,;\t]*\r?\n", re.IGNORECASE)
"""A first line with which Excel is told the separator."""
_SNIFFED_CHARACTERS = 200_000
_SNIFFED_ROWS = 200


@dataclass(frozen=True)
class RawTable:
    """The cells of a file as text.

    Attributes
    ----------
    frame : DataFrame of str columns, NaN where missing; the index holds spreadsheet row numbers
    separator, encoding, decimal : as found or given
    markers : missing markers that occur, with how many cells hold each ("" for empty cells)
    problems : what was repaired on the way
    doubtful : by column the texts of missing cells that may be values elsewhere, see `meant_as_values`; a model that
        has such a value takes them for it
    """

    frame: pd.DataFrame
    separator: str
    encoding: str
    decimal: str
    markers: dict[str, int]
    problems: tuple[Problem, ...]
    doubtful: Mapping[str, pd.Series] = field(default_factory=dict)


def read_raw(
    source: Source, separator: str | None = None, encoding: str | None = None, decimal: str | None = None
) -> RawTable:
    """Read a CSV file into text cells.

    Parameters
    ----------
    source : path, bytes (also gzip-compressed), or file object
    separator : one character; None finds it among comma, semicolon, tab and vertical bar
    encoding : a Python codec name; None finds it
    decimal : "." or ","; None finds it

    Raises
    ------
    TableError
        The file cannot be read as a table; the sentence says why, where and what to do.
    """
    if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
        raise TableError(f"The separator must be one character, not {quoted(separator)}.")
    if decimal not in (None, ".", ","):
        raise TableError(f"The decimal mark must be a point or a comma, not {quoted(decimal)}.")
    text, encoding = _decode(_read_bytes(source), encoding)
    if not text.strip():
        raise TableError("The file is empty.")
    declared = EXCEL_SEPARATOR.match(text)
    if declared:  # a spreadsheet hides this line and starts to count below it
        text, separator = text[declared.end() :], separator or declared[1]
    separator = separator or _find_separator(text)
    header, row_numbers = _check_shape(text, separator)
    if len(header) == 1:
        _check_title(text, header[0])
    names, problems = _column_names(header)
    cells = _parse(text, separator, len(header), row_numbers)
    frame, markers, doubtful = _mark_missing(cells, names)
    if decimal is None:
        votes = Counter(_decimal_votes(frame))
        decimal = "," if votes[","] > votes["."] else "."
    return RawTable(frame, separator, encoding, decimal, markers, tuple(problems), doubtful)


def _read_bytes(source: Source) -> bytes:
    if isinstance(source, bytes):
        data = source
    elif isinstance(source, str | os.PathLike):
        path = Path(source)
        if not path.is_file():
            raise TableError(f"There is no file {quoted(path.name)}.")
        if path.stat().st_size > MAX_BYTES:
            raise _too_large(path.stat().st_size)
        data = path.read_bytes()
    else:
        content = source.read(MAX_BYTES + 1)
        data = content.encode("utf-8") if isinstance(content, str) else bytes(content)
    if len(data) > MAX_BYTES:
        raise _too_large(len(data))
    if data.startswith(b"\x1f\x8b"):
        try:
            with gzip.open(io.BytesIO(data)) as file:
                data = file.read(MAX_BYTES + 1)
        except (OSError, EOFError) as error:
            raise TableError(f"The gzip file is damaged ({error}); compress it again.") from error
        if len(data) > MAX_BYTES:
            raise _too_large(len(data))
    return data


def _too_large(size: int) -> TableError:
    return TableError(
        f"The file has more than {MAX_BYTES // 1024**2} MB"
        f" ({size // 1024**2} MB or more), the most that is read; take a sample of its rows."
    )


def _decode(data: bytes, encoding: str | None) -> tuple[str, str]:
    """The text and the name of its encoding."""
    for signature, kind in _SIGNATURES:
        if data.startswith(signature):
            raise TableError(f"The file is {kind}, not text; save the table as CSV and open that.")
    if encoding is None and data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    if encoding is None:
        try:
            text, encoding = data.decode("utf-8-sig"), "utf-8"
        except UnicodeDecodeError as error:
            encoding = _guess_encoding(data, error.start)
            text = data.decode(encoding, errors="replace")
    else:
        try:
            text = data.decode("utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding)
        except LookupError as error:
            raise TableError(f"There is no encoding called {quoted(encoding)}.") from error
        except UnicodeDecodeError as error:
            raise TableError(
                f"The file cannot be read as {encoding} (byte {error.start + 1}); try another encoding."
            ) from error
    sample = text[:_SNIFFED_CHARACTERS]
    odd = sum(character < " " and character not in "\t\r\n\f\v" for character in sample)
    if "\0" in text or odd > 0.01 * len(sample):
        raise TableError("The file holds binary data, not text; save the table as CSV and open that.")
    return text, encoding


def _guess_encoding(data: bytes, first_odd: int) -> str:
    """An encoding for bytes that are not UTF-8, judged around the first byte that shows it."""
    sample = data[max(0, first_odd - 20_000) : first_odd + 60_000]
    best = charset_normalizer.from_bytes(sample).best()
    western = charset_normalizer.from_bytes(sample, cp_isolation=["cp1252"]).best()
    # Short texts fit many code pages equally well; the commonest one then is the best guess.
    if western is not None and (best is None or western.chaos <= best.chaos):
        return "cp1252"
    return best.encoding if best is not None else "cp1252"


def _records(text: str, separator: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator)


def _find_separator(text: str) -> str:
    """The separator that gives most rows as many cells as the header has; a comma if none splits the header."""
    sample = text[:_SNIFFED_CHARACTERS]
    best, best_score = ",", (0.0, 0)
    for separator in SEPARATORS:
        widths = []
        try:
            for record in _records(sample, separator):
                if any(cell.strip() for cell in record):
                    widths.append(len(record))
                if len(widths) > _SNIFFED_ROWS:
                    break
        except csv.Error:
            continue
        if len(widths) > 1 and len(sample) < len(text):
            widths.pop()  # may be cut off
        if not widths or widths[0] < 2:
            continue
        score = (sum(width == widths[0] for width in widths[1:]) / max(len(widths) - 1, 1), widths[0])
        if score > best_score:
            best, best_score = separator, score
    return best


def _check_shape(text: str, separator: str) -> tuple[list[str], list[int]]:
    """The header's cells and the spreadsheet numbers of the data rows; blank lines are passed over.

    Raises TableError where a row has another number of cells than the header.
    """
    header: list[str] = []
    row_numbers: list[int] = []
    number = 0
    try:
        for number, record in enumerate(_records(text, separator), start=1):
            if not record or (len(record) == 1 and not record[0].strip()):
                continue
            if not header:
                header = record
                if len(header) > MAX_COLUMNS:
                    raise TableError(
                        f"The file has {len(header):,} columns; at most {MAX_COLUMNS:,} can be read. "
                        "Keep the columns that matter, or check the separator."
                    )
                continue
            if len(record) != len(header):
                if len(header) == 1 and not row_numbers:
                    raise _title_above(header[0], len(record))
                raise _ragged(number, record, len(header))
            row_numbers.append(number)
    except csv.Error as error:
        if "field limit" in str(error):
            raise TableError(
                f"Row {number + 1} holds a cell of more than {csv.field_size_limit():,} characters; shorten it, or"
                " close the quotation mark that may be open there."
            ) from error
        raise TableError(
            f"Row {number + 1} cannot be read; a quotation mark may be open there. Close or remove it."
        ) from error
    if not row_numbers:
        raise TableError("The file has a header but no rows.")
    if len(row_numbers) > MAX_ROWS:
        raise TableError(f"The file has more than {MAX_ROWS:,} rows, the most that is read; take a sample.")
    return header, row_numbers


def _ragged(number: int, record: list[str], width: int) -> TableError:
    if any("\n" in cell for cell in record):
        return TableError(f"A quotation mark is opened in row {number} and never closed; close or remove it.")
    return TableError(
        f"Row {number} has {counted(len(record), 'cell')}, the header has {width}. Check the separator."
    )


def _check_title(text: str, first: str) -> None:
    """Raise TableError where the first row is one cell and those below hold as many as each other."""
    sample = text[:_SNIFFED_CHARACTERS].partition("\n")[2]
    for separator in SEPARATORS:
        widths = Counter(len(record) for record in _records(sample, separator) if any(record))
        (width, count), *_ = widths.most_common(1) or [(0, 0)]
        if width > 1 and count >= 0.9 * widths.total():
            raise _title_above(first, width)


def _title_above(first: str, width: int) -> TableError:
    return TableError(
        f"The first row has one cell, {quoted(first)}, and rows below it have {width}; delete what stands above the "
        "column names."
    )


def _column_names(header: list[str]) -> tuple[list[str], list[Problem]]:
    """Stripped names; blank ones numbered, repeated ones made unique."""
    names: list[str] = []
    problems: list[Problem] = []
    given = [cell.strip() for cell in header]
    taken = set(given)
    used: set[str] = set()
    for position, name in enumerate(given, start=1):
        base = name or f"column {position}"
        unique, count = base, 2
        while unique in used or (unique != name and unique in taken):
            unique, count = f"{base} ({count})", count + 1
        if name and unique != name:
            message = (
                f"Two columns are called {quoted(name)}; "
                f"the one at position {position} is now called {quoted(unique)}."
            )
            problems.append(Problem("warning", unique, message))
        used.add(unique)
        names.append(unique)
    if len(given) > 1 and not np.isnan(parse_numbers(given, ".")).any():
        message = "The first row holds numbers only; it is read as column names. Add a row of names above it."
        problems.append(Problem("warning", None, message))
    return names, problems


def _parse(text: str, separator: str, width: int, row_numbers: list[int]) -> pd.DataFrame:
    """All cells below the header as text, indexed by spreadsheet row numbers."""
    try:
        cells = pd.read_csv(
            io.StringIO(text, newline=""),
            sep=separator,
            header=None,
            names=list(range(width)),
            index_col=False,
            dtype=str,
            keep_default_na=False,
            na_filter=False,
            skip_blank_lines=True,
            engine="c",
            low_memory=False,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        match = re.search(r"starting at row (\d+)", str(error))
        where = f"the one in row {int(match[1]) + 1} or before" if match else "one"
        raise TableError(
            f"A quotation mark is opened and never closed ({where}); close or remove it."
        ) from error
    cells = cells.iloc[1:]
    if len(cells) != len(row_numbers):
        raise TableError(
            f"The file can be read as {len(row_numbers)} or as {len(cells)} rows; check its quotation marks."
        )
    return cells.set_axis(pd.Index(row_numbers, name="row"), axis=0)


def _mark_missing(
    cells: pd.DataFrame, names: list[str]
) -> tuple[pd.DataFrame, dict[str, int], dict[str, pd.Series]]:
    """Cells without surrounding blanks, missing ones as NaN; how often each marker stood; and doubtful ones."""
    columns: dict[str, pd.Series] = {}
    doubtful: dict[str, pd.Series] = {}
    markers: Counter[str] = Counter()
    for position, name in enumerate(names):
        column = cells.iloc[:, position]
        codes, uniques = pd.factorize(column)
        words = uniques.tolist()
        texts = [text.strip() for text in words]
        values = meant_as_values(texts)
        missing = np.array([text in MISSING_MARKERS and text not in values for text in texts], dtype=bool)
        if missing.any() or texts != words:
            counts = np.bincount(codes, minlength=len(texts))
            for i in np.flatnonzero(missing):
                markers[texts[i]] += int(counts[i])
            replaced = np.array(texts, dtype=object)
            if doubts := VALUES_ELSEWHERE.intersection(replaced[missing]):
                doubtful[name] = column[
                    np.isin(codes, [k for k in np.flatnonzero(missing) if texts[k] in doubts])
                ].str.strip()
            replaced[missing] = np.nan
            column = pd.Series(replaced[codes], index=cells.index, dtype="str")
        columns[name] = column
    return pd.DataFrame(columns, index=cells.index), dict(markers), doubtful


def _decimal_votes(frame: pd.DataFrame) -> Iterator[str]:
    for name in frame.columns:
        texts = frame[name].head(_SNIFFED_ROWS).dropna().unique().tolist()
        vote = decimal_vote(texts) if texts else None
        if vote:
            yield vote
