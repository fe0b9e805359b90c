"""Rows of a file in the form a trained model expects, and notes on what does not fit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
import pandas as pd

from tmcore.boolean import BooleanEncoder
from tmcore.columns import category_text
from tmcore.encode import Column
from tmcore.encoders import AnyEncoder
from tmcore.problems import TableError, counted, listed, quoted
from tmcore.read_csv import RawTable
from tmcore.texts import cell_numbers, parse_numbers, signs_of, without_limit
from tmcore.typed import limits_said
from tmcore.units import split_unit


@dataclass(frozen=True)
class Unmatched:
    """The columns of the training that a file does not have under their names.

    Attributes
    ----------
    absent : tuple of str
        Their names.
    unused : tuple of str
        Columns of the file that the training did not have.
    alike : dict of str to str
        For some absent columns the unused one whose name is most like it, each proposed once.
    """

    absent: tuple[str, ...]
    unused: tuple[str, ...]
    alike: dict[str, str]


def unmatched(raw: RawTable, encoder: AnyEncoder) -> Unmatched:
    """Compare a file's columns with those of the training by name; nothing is absent where they go by position."""
    names, needed = list(raw.frame.columns), [column.name for column in encoder.columns]
    if not encoder.by_name:
        return Unmatched((), (), {})
    absent = [name for name in needed if name not in names]
    unused = [name for name in names if name not in needed]
    return Unmatched(tuple(absent), tuple(unused), dict(_alike(absent, unused)))


def fit_columns(
    raw: RawTable, encoder: AnyEncoder, renamed: Mapping[str, str] | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """The columns a model was trained on, in its order, from a file's cells.

    Parameters
    ----------
    renamed : mapping, optional
        Columns of the training to the columns of the file to read for them, where their names differ.

    Returns
    -------
    frame : DataFrame
        Numbers as float64, categories as text under the names of training; missing cells are NaN. An unseen
        category of a nominal column stays as it is, which is none of those known; of other columns it is missing.
    notes : list of str
        Columns read for others, unseen categories, cells that are limits or no numbers, columns without any value, and
        columns the model does not use.

    Raises
    ------
    TableError
        Columns are missing; all are named, with what they may be called now. Or `renamed` names a column that the
        training or the file does not have, or one column of the file for two.
    """
    cells, sources = raw.frame, {column.name: column.name for column in encoder.columns} | dict(renamed or {})
    if renamed:
        _check_renamed(renamed, sources, cells, encoder)
    if encoder.by_name:
        _check_names(unmatched(raw, encoder), sources)
    elif cells.shape[1] != len(encoder.columns):
        raise TableError(
            f"The file has {counted(cells.shape[1], 'column')}; the model takes {len(encoder.columns)} by position."
        )
    read_as = [f"{quoted(given)} as {quoted(name)}" for name, given in (renamed or {}).items()]
    notes = [f"Read under another name: {listed(read_as)}."] if read_as else []
    notes += _other_units(encoder, sources)
    columns: dict[str, pd.Series] = {}
    empty: list[str] = []
    for position, column in enumerate(encoder.columns):
        texts = cells[sources[column.name]] if encoder.by_name else cells.iloc[:, position]
        if column.role == "numeric" or isinstance(encoder, BooleanEncoder):
            columns[column.name] = _numbers(texts, raw.decimal, column.name, notes)
        else:
            if (doubtful := raw.doubtful.get(str(texts.name))) is not None:
                texts = texts.fillna(doubtful[doubtful.isin(column.categories)])
            columns[column.name] = _categories(texts, raw.decimal, column, notes)
        empty += [quoted(column.name)] if texts.isna().all() else []
    if empty:
        notes.append(
            f"{'Column' if len(empty) == 1 else 'Columns'} {listed(empty)} {'holds' if len(empty) == 1 else 'hold'} "
            f"no value here and {'counts' if len(empty) == 1 else 'count'} as unknown in every row."
        )
    if encoder.by_name:
        extra = [name for name in cells.columns if name not in sources.values()]
        if extra:
            notes.append(
                f"{'Column' if len(extra) == 1 else 'Columns'} {listed([quoted(name) for name in extra])} "
                f"{'is' if len(extra) == 1 else 'are'} ignored; the model does not use "
                f"{'it' if len(extra) == 1 else 'them'}."
            )
    return pd.DataFrame(columns, index=cells.index), notes


def _other_units(encoder: AnyEncoder, sources: Mapping[str, str]) -> Iterator[str]:
    """Columns of numbers whose names say another unit than those of the training."""
    for column in encoder.columns:
        unit = split_unit(sources[column.name])[1]
        if column.role == "numeric" and unit and column.unit and unit != column.unit:
            yield (
                f"Column {quoted(sources[column.name])} is in {unit}, but {quoted(column.name)} was in {column.unit} "
                "in training; no number is converted, so do that in the file."
            )


def _check_renamed(
    renamed: Mapping[str, str], sources: Mapping[str, str], cells: pd.DataFrame, encoder: AnyEncoder
) -> None:
    if not encoder.by_name:
        raise TableError("The model takes its columns by position, so none can be read under another name.")
    needed = {column.name for column in encoder.columns}
    for name, given in renamed.items():
        if name not in needed:
            raise TableError(f"The model was not trained on a column {quoted(name)}; name one that it was.")
        if given not in cells.columns:
            raise TableError(
                f"The file has no column {quoted(given)} to read as {quoted(name)}; name one that it has."
            )
        twice = [other for other, source in sources.items() if source == given and other != name]
        if twice:
            raise TableError(
                f"Column {quoted(given)} cannot be read as {quoted(name)} and as {quoted(twice[0])}; choose another."
            )


def _check_names(found: Unmatched, sources: Mapping[str, str]) -> None:
    absent = [name for name in found.absent if sources[name] == name]
    if not absent:
        return
    likely = [f"{quoted(found.alike[name])} may be {quoted(name)}" for name in absent if name in found.alike]
    hint = f"{listed(likely)}: rename what is the same." if likely else "add what is missing."
    unused = [quoted(name) for name in found.unused if name not in sources.values()]
    if unused and not likely:
        hint = (
            f"of the file's columns {listed(unused, 4)} {'is' if len(unused) == 1 else 'are'} not used: rename what is "
            "the same, or say tmcore predict --column TRAINED=GIVEN."
        )
    raise TableError(
        f"The file has no {'column' if len(absent) == 1 else 'columns'} {listed([quoted(n) for n in absent])}, "
        f"which the model was trained on; {hint}"
    )


def _alike(absent: Sequence[str], extra: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pairs of a missing name and the unused name most like it."""
    forms = {form: name for name in extra for form in _forms(name)}
    waiting = list(absent)
    for cutoff in (1.0, 0.7):  # what is the same but for its unit and signs comes first
        for name in tuple(waiting):
            found = [
                one for form in _forms(name) for one in get_close_matches(form, forms, n=1, cutoff=cutoff)
            ]
            if found:
                given = forms[found[0]]
                forms = {form: other for form, other in forms.items() if other != given}
                waiting.remove(name)
                yield name, given


def _forms(name: str) -> list[str]:
    """A name in small letters without signs, as it is and without its unit."""
    return [re.sub(r"[\W_]+", " ", part).strip().casefold() for part in (name, split_unit(name)[0])]


def _numbers(texts: pd.Series, decimal: str, name: str, notes: list[str]) -> pd.Series:
    codes, uniques = pd.factorize(texts)
    words = uniques.tolist()
    values = np.append(cell_numbers(words, decimal), np.nan)[codes]
    if signs := [quoted(sign) for sign in signs_of(words)]:
        said = "the sign {} is" if len(signs) == 1 else "the signs {} are"
        notes.append(f"Column {quoted(name)}: {said.format(listed(signs))} left out of the numbers.")
    limits = np.array([without_limit(word) != word for word in words] + [False])[codes] & ~np.isnan(values)
    if limits.any():
        notes.append(f"Column {quoted(name)}: {limits_said(texts[limits])}.")
    spoilt = np.isnan(values) & (codes >= 0)
    if spoilt.any():
        at = int(spoilt.argmax())
        notes.append(
            f"Column {quoted(name)}: {counted(int(spoilt.sum()), 'cell is', 'cells are')} not a number, the first "
            f"{quoted(words[codes[at]])} in row {texts.index[at]}, and {'counts' if spoilt.sum() == 1 else 'count'} "
            "as unknown."
        )
    return pd.Series(values, index=texts.index)


def _categories(texts: pd.Series, decimal: str, column: Column, notes: list[str]) -> pd.Series:
    """Texts as training saw them: a number may be written in another way, as 1.0 for 1."""
    codes, uniques = pd.factorize(texts)
    known = set(column.categories)
    words: list[str] = uniques.tolist()
    read = [
        word if word in known or np.isnan(number) else category_text(float(number))
        for word, number in zip(words, parse_numbers(words, decimal), strict=True)
    ]
    names = [name if name in known else word for name, word in zip(read, words, strict=True)]
    unseen = [name for name in names if name not in known]
    if unseen:
        n_rows = int(np.isin(codes, [k for k, name in enumerate(names) if name not in known]).sum())
        notes.append(
            f"Column {quoted(column.name)}: {listed([quoted(name) for name in unseen])} "
            f"({counted(n_rows, 'row')}) {'was' if len(unseen) == 1 else 'were'} not seen in training and "
            f"{'counts' if len(unseen) == 1 else 'count'} as unknown."
        )
    return pd.Series(np.array([*names, None], dtype=object)[codes], index=texts.index)
