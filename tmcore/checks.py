"""Checks of a table before training: what is missing, constant, repeated, lopsided, or too good to be true."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tmcore import label_choices
from tmcore.column_info import ColumnInfo
from tmcore.columns import category_codes
from tmcore.guess import MAX_CLASSES
from tmcore.problems import Problem, counted, listed, number_said, quoted
from tmcore.typed import limits_said

MUCH_MISSING = 0.3
SMALL_CLASS_SHARE = 0.05
FEW_ROWS_IN_CLASS = 10
MOST_SPELLINGS = 5
_LEAK_ROWS = 20
_LEAK_REDUCTION = 0.95
_LEAK_CORRELATION = 0.999


def target_problems(name: str, values: pd.Series, answers: pd.Series) -> Iterator[Problem]:
    """Whether the column `values` can be the target, and how the classes of its `answers` are spread."""
    left_out = int(values.isna().sum())
    counts = answers.value_counts()
    counts = counts[counts > 0]
    if len(counts) == 0:
        yield Problem("error", name, f"The target {quoted(name)} has no values; choose another target.")
        return
    if len(counts) == 1:
        only = quoted(counts.index[0])
        message = (
            f"Every row has the same target, {only}, in {quoted(name)}; choose a target with two or more."
        )
        yield Problem("error", name, message)
        return
    if len(counts) > MAX_CLASSES:
        numbers = pd.api.types.is_numeric_dtype(values.dtype)
        advice = "Predict a number instead" if numbers else "Choose another target or join its rare values"
        message = (
            f"The target {quoted(name)} has {len(counts):,} different values and can have at most {MAX_CLASSES} "
            f"classes here. {advice}."
        )
        yield Problem("error", name, message, label_choices.joinable(counts))
        return
    if left_out:
        verb = "is" if left_out == 1 else "are"
        message = f"{counted(left_out, 'row')} without a value in the target {quoted(name)} {verb} left out."
        yield Problem("warning", name, message)
    yield from label_choices.problems(name, counts)
    yield from _class_sizes(name, counts)


def _class_sizes(name: str, counts: pd.Series) -> Iterator[Problem]:
    """The smallest of the classes that have rows enough to train and test on."""
    n_rows = int(counts.sum())
    enough = counts[counts >= label_choices.FEWEST_ROWS]
    if enough.empty:
        return
    label, smallest = enough.index[-1], int(enough.iloc[-1])
    if label != counts.index[0] and (smallest < FEW_ROWS_IN_CLASS or smallest / n_rows < SMALL_CLASS_SHARE):
        share, largest = 100 * smallest / n_rows, 100 * counts.iloc[0] / n_rows
        message = (
            f"Class {quoted(label)} has {counted(smallest, 'row')} of {n_rows:,} ({share:.2g} %). Always answering "
            f"{quoted(counts.index[0])} is right in {largest:.3g} %, so look at F1 more than at accuracy."
        )
        yield Problem("warning", name, message)


def missing_problems(name: str, n_missing: int, n_rows: int) -> Iterator[Problem]:
    """A column with many missing cells."""
    if n_missing / n_rows >= MUCH_MISSING:
        share = 100 * n_missing / n_rows
        yield Problem("warning", name, f"Column {quoted(name)} is empty in {share:.0f} % of the rows.")


def spelling_problems(name: str, values: pd.Series) -> Iterator[Problem]:
    """Categories that differ only in case, blanks or a full stop."""
    spellings: dict[str, list[str]] = {}
    for text in category_codes(values)[1]:
        spellings.setdefault(label_choices.spelt_alike(text), []).append(text)
    if several := [listed([*map(quoted, texts)]) for texts in spellings.values() if len(texts) > 1]:
        message = (
            f"In {quoted(name)} these are different categories as written: {'; '.join(several[:MOST_SPELLINGS])}. If "
            "they mean the same, write them alike in the file."
        )
        yield Problem("info", name, message)


def spoilt_problem(name: str, spoilt: pd.Series) -> Problem:
    """The cells of a numeric column that are no numbers, by spreadsheet row."""
    cells = listed([f"{quoted(value)} in row {row}" for row, value in spoilt.items()])
    message = (
        f"Column {quoted(name)} holds {cells}, not {'a number' if len(spoilt) == 1 else 'numbers'}; "
        f"counted as missing. Correct the file, or choose nominal to keep {'it' if len(spoilt) == 1 else 'them'}."
    )
    return Problem("warning", name, message)


def limit_problems(name: str, limits: pd.Series) -> Iterator[Problem]:
    """The cells of a numeric column that are limits such as ``<5``."""
    if len(limits):
        yield Problem("info", name, f"{limits_said(limits, f' of {quoted(name)}')}.")


def left_out_problems(columns: Iterable[ColumnInfo]) -> Iterator[Problem]:
    """The columns left out for a reason; those with the same reason together where they are many."""
    reasons: dict[str, list[str]] = {}
    for info in columns:
        if info.role == "ignored" and info.note:
            reasons.setdefault(info.note, []).append(info.name)
    for note, names in reasons.items():
        if len(names) > 3:
            yield Problem(
                "info",
                None,
                f"{len(names)} columns are left out: {note} ({listed([*map(quoted, names)])}).",
            )
        else:
            for name in names:
                yield Problem("info", name, f"Column {quoted(name)} is left out: {note}.")


def hidden_missing_problems(name: str, numbers: NDArray[np.float64]) -> Iterator[Problem]:
    """A number such as 0 or -999 that stands far from all others and may mean "not known"."""
    known = np.sort(numbers[~np.isnan(numbers)])
    unique, counts = np.unique(known, return_counts=True)
    if len(unique) < 10 or counts[0] < 3 or counts[0] > 0.6 * len(known):
        return
    lowest, others = unique[0], unique[1:]
    lonely = others[0] - lowest >= 5 * np.median(np.diff(others))
    zeros = lowest == 0 and others[0] >= 0.1 * np.median(known[known > 0])
    negative = lowest in (-1, -9, -99, -999, -9999) and others[0] >= 0
    if lonely and (zeros or negative):
        low = number_said(lowest)
        message = (
            f"Column {quoted(name)} is {low} in {counted(int(counts[0]), 'row')} and otherwise at least "
            f"{number_said(others[0])}; {low} may stand for a missing value. If so, empty these cells in the file."
        )
        yield Problem("info", name, message)


def duplicate_problems(features: pd.DataFrame, labels: pd.Series) -> Iterator[Problem]:
    """Rows that repeat an earlier row in every column used and in the target."""
    hashes = pd.util.hash_pandas_object(features, index=False)
    classes = category_codes(labels)[0]
    repeated = pd.DataFrame({"row": hashes.to_numpy(), "class": classes}).duplicated().to_numpy()
    count = int(repeated.sum())
    if not count:
        return
    first = features.index[int(np.argmax(repeated))]
    message = (
        f"{counted(count, 'row repeats', 'rows repeat')} an earlier row in every column used (the first is row "
        f"{first}); rows that stand in both training and test data flatter the test score."
    )
    yield Problem("warning" if count > 0.05 * len(features) else "info", None, message)


def leak_problems(features: pd.DataFrame, labels: pd.Series) -> Iterator[Problem]:
    """Columns that give the target away alone."""
    classes, names = category_codes(labels)
    counts = np.bincount(classes, minlength=len(names))
    if len(labels) < _LEAK_ROWS or len(names) < 2:
        return
    for name, values in features.items():
        if pd.api.types.is_numeric_dtype(values.dtype):
            verdict = _numbers_tell(values.to_numpy(), classes)
        else:
            verdict = _categories_tell(category_codes(values)[0], classes, counts)
        if verdict:
            message = (
                f"Column {quoted(name)} {verdict}. If it is known only after the target is, leave it out: "
                "set its role to ignored."
            )
            yield Problem("warning", str(name), message)


def number_leak_problems(features: pd.DataFrame, targets: pd.Series) -> Iterator[Problem]:
    """Columns of numbers that lie on one line with the target's, or nearly so."""
    for name, values in features.items():
        if (
            len(targets) < _LEAK_ROWS
            or not pd.api.types.is_numeric_dtype(values.dtype)
            or values.nunique() < 3
        ):
            continue
        if values.notna().sum() >= _LEAK_ROWS and abs(values.corr(targets)) >= _LEAK_CORRELATION:
            message = (
                f"Column {quoted(name)} rises and falls with the target almost exactly. If it is known only after the "
                "target is, leave it out: set its role to ignored."
            )
            yield Problem("warning", str(name), message)


def _numbers_tell(numbers: NDArray[np.float64], classes: NDArray[np.intp]) -> str | None:
    """Whether every class is one interval of the numbers."""
    known = ~np.isnan(numbers)
    if known.sum() < max(_LEAK_ROWS, 0.5 * len(numbers)):
        return None
    order = np.lexsort((classes[known], numbers[known]))
    ordered, labels = numbers[known][order], classes[known][order]
    changes = np.flatnonzero(labels[1:] != labels[:-1])
    n_classes = len(np.unique(labels))
    if n_classes < 2 or len(changes) != n_classes - 1 or (ordered[changes] == ordered[changes + 1]).any():
        return None
    return "alone tells the classes apart: each class is one range of its values"


def _categories_tell(
    codes: NDArray[np.intp], classes: NDArray[np.intp], counts: NDArray[np.intp]
) -> str | None:
    """Whether the category determines the class, always or nearly so."""
    known = codes >= 0
    n_known = int(known.sum())
    n_categories = int(codes.max()) + 1
    if n_known < max(_LEAK_ROWS, 0.5 * len(codes)) or n_categories > n_known / 5:
        return None
    table = np.zeros((n_categories, len(counts)), dtype=np.int64)
    np.add.at(table, (codes[known], classes[known]), 1)
    right = int(table.max(axis=1).sum())
    majority = int(table.sum(axis=0).max())
    if majority == n_known:
        return None
    if right == n_known:
        one_to_one = bool(((table > 0).sum(axis=0) == 1).all()) and n_categories == len(counts)
        return "says the same as the target" if one_to_one else "alone determines the target"
    if (right - majority) / (n_known - majority) >= _LEAK_REDUCTION:
        return f"alone determines the target in {100 * right / n_known:.1f} % of the rows"
    return None
