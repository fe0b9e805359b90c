"""First guesses about a table: what each column holds and which one is the target."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from tmcore.columns import category_codes
from tmcore.problems import counted, quoted
from tmcore.texts import (
    are_dates,
    has_leading_zeros,
    mixed_numbers,
    natural_order,
    numbers_with_limits,
    parse_numbers,
    without_limit,
)

TableRole = Literal["numeric", "boolean", "nominal", "ordinal", "ignored"]
ROLES: tuple[TableRole, ...] = ("numeric", "boolean", "nominal", "ordinal", "ignored")

MAX_CATEGORIES = 100
"""A text column with more different values is left out until someone gives it a role."""
MAX_GUESSED_LEVELS = 60
MAX_CLASSES = 20
_FEW_NUMBERS = 10
"""Texts of ranges and no more different plain numbers are the levels of a scale; beside more, ``<5`` is a limit."""

_TARGET_NAMES = (
    "target", "class", "label", "y", "outcome", "survived", "churn", "churned", "diagnosis", "species", "default",
    "isfraud", "fraud", "attrition", "exited", "disease", "twoyearrecid", "recidivism", "diabetes", "heartdisease",
    "response", "subscribed", "deposit", "approved", "loanstatus", "spam", "income", "result", "quality", "grade",
)  # fmt: skip
_SURE_TARGET_NAMES = _TARGET_NAMES[:5]
_ID_NAME = re.compile(
    r"(?i:(.*[\s_\-.])?(id|ids|uuid|guid|index|idx|key|nr|no|number|name|rownames?|row|code|unnamed.*)"
    r"|mrn|iban|account|patient|customer|encounter|id[\s_\-.].*)|.*[a-z]I[Dd]|column 1",
)
_FREE_TEXT_LENGTH = 40


@dataclass(frozen=True)
class Guess:
    """What one column seems to hold.

    Attributes
    ----------
    role : the role to start with
    note : why it is left out, or what to know about it; "" where nothing is remarkable
    order : the levels of an ordinal column, lowest first; else empty
    """

    role: TableRole
    note: str = ""
    order: tuple[str, ...] = ()


def as_read(texts: pd.Series, decimal: str) -> pd.Series:
    """A column of text as numbers where every cell that is there is one, else unchanged.

    Codes with leading zeros stay text. Whole numbers without gaps become int64, all others float64.
    """
    codes, uniques = pd.factorize(texts)
    words: list[str] = uniques.tolist()
    if not words or has_leading_zeros(words):
        return texts
    values = parse_numbers(words, decimal)
    if np.isnan(values).any() or np.abs(values).max() >= 2.0**53:
        return texts
    numbers = np.append(values, np.nan)[codes]
    whole = not (codes < 0).any() and bool((values == np.floor(values)).all())
    return pd.Series(numbers.astype(np.int64) if whole else numbers, index=texts.index)


def guess_role(name: str, values: pd.Series, decimal: str) -> Guess:
    """The role of one column as `as_read` left it."""
    n_unique = values.nunique()
    if n_unique < 2:
        return Guess("ignored", "only one value" if n_unique else "no values")
    if isinstance(values.dtype, pd.CategoricalDtype) and values.dtype.ordered:
        return Guess("ordinal", order=tuple(map(str, values.cat.categories)))
    if pd.api.types.is_datetime64_any_dtype(values.dtype) or pd.api.types.is_timedelta64_dtype(values.dtype):
        return Guess("ignored", "dates or times")
    if pd.api.types.is_bool_dtype(values.dtype):
        return Guess("boolean")
    if pd.api.types.is_numeric_dtype(values.dtype):
        return _guess_numbers(name, values, n_unique)
    return _guess_texts(name, *category_codes(values), decimal)


def _guess_numbers(name: str, values: pd.Series, n_unique: int) -> Guess:
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    known = numbers[~np.isnan(numbers)]
    whole = bool((known == np.floor(known)).all())
    if whole and n_unique == 2:
        return Guess("boolean")
    if whole and n_unique == len(known) >= 10:
        steps = np.diff(known)
        if (steps == 1).all():
            return Guess("ignored", "counts the rows")
        if _ID_NAME.fullmatch(name):
            return Guess("ignored", "looks like an identifier")
    if whole and n_unique <= 5:
        return Guess("numeric", f"{n_unique} different whole numbers")
    return Guess("numeric")


def _guess_texts(name: str, codes: np.ndarray, texts: Sequence[str], decimal: str) -> Guess:
    if are_dates(texts):
        return Guess("ignored", "dates or times")
    if len(texts) == 2:
        return Guess("boolean")
    if _has_limits(texts, decimal):
        return Guess("numeric")
    if len(texts) <= MAX_GUESSED_LEVELS and not has_leading_zeros(texts):
        order = natural_order(texts)
        if order is not None:
            return Guess("ordinal", order=tuple(order))
    n_known = int((codes >= 0).sum())
    if _mostly_numbers(codes, texts, decimal):
        return Guess("numeric")
    if len(texts) > MAX_CLASSES and (mixed := mixed_numbers(texts, decimal)):
        return Guess("ignored", f"{mixed}; write them alike")
    if len(texts) == n_known >= 10:
        return Guess("ignored", "a different text in every row")
    if _ID_NAME.fullmatch(name) and len(texts) > n_known / 2 and len(texts) > MAX_CLASSES:
        return Guess("ignored", "looks like an identifier")
    if len(texts) > MAX_CATEGORIES:
        return Guess("ignored", f"{counted(len(texts), 'different text')}")
    if sum(map(len, texts)) / len(texts) > _FREE_TEXT_LENGTH and len(texts) > MAX_CLASSES:
        return Guess("ignored", "free text")
    return Guess("nominal")


def _has_limits(texts: Sequence[str], decimal: str) -> bool:
    """Whether all are numbers but for limits such as ``<5``, and the plain ones are too many for a scale."""
    limits = any(without_limit(text) != text for text in texts) and not has_leading_zeros(texts)
    if not limits or np.isnan(numbers_with_limits(texts, decimal)).any():
        return False
    return int((~np.isnan(parse_numbers(texts, decimal))).sum()) > _FEW_NUMBERS


def _mostly_numbers(codes: np.ndarray, texts: Sequence[str], decimal: str) -> bool:
    """Whether a few cells spoil what else is a column of numbers."""
    if has_leading_zeros(texts):
        return False
    is_number = ~np.isnan(numbers_with_limits(texts, decimal))
    cells = is_number[codes[codes >= 0]]
    return bool(cells.mean() >= 0.9 and is_number.sum() >= 4 and is_number.sum() > 2 * (~is_number).sum())


def looks_measured(name: str, values: pd.Series, role: TableRole) -> bool:
    """Whether a column holds many different numbers that are neither dates nor identifiers."""
    numbers = pd.api.types.is_numeric_dtype(values.dtype) and role == "numeric"
    return numbers and values.nunique() > MAX_CLASSES and not _ID_NAME.fullmatch(name)


def guess_target(
    names: Sequence[str], n_unique: Sequence[int], last_measured: bool
) -> tuple[str | None, str]:
    """The target and the reason in words ("" without one).

    A well-known name with 2 to 20 different values comes first, then such a name with more, then the last
    column with 2 to 20 different values, or instead the last of all where it `looks_measured`. Without any column of
    few values there is no guess.
    """
    plain = {name: re.sub(r"[^a-z0-9]", "", name.casefold()) for name in names}
    few = {name for name, count in zip(names, n_unique, strict=True) if 2 <= count <= MAX_CLASSES}
    for wanted in _TARGET_NAMES:
        for name in reversed(names):
            if plain[name] == wanted and name in few:
                return name, "because of its name"
    for wanted in _SURE_TARGET_NAMES:
        for name in names:
            if plain[name] == wanted:
                return name, "because of its name"
    last_few = next((name for name in reversed(names) if name in few), None)
    if last_few is None:
        return None, ""
    if last_measured:
        other = f"if a class is meant, it may be {quoted(last_few)}"
        return names[-1], f"because it is the last column and holds many different numbers; {other}"
    return last_few, "because it is the last column with few different values"
