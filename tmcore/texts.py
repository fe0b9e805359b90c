"""What the texts in a column's cells mean: missing, a number, a date, a range, a step of a scale."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tmcore.problems import quoted

MISSING_MARKERS = frozenset([
    "", "?", "NA", "N/A", "n/a", "na", "#N/A", "#NA", "<NA>", "nan", "NaN", "NAN", "-nan", "NaT",
    "null", "NULL", "Null", "None", "-", "--", ".", "N.A.", "n.a.", "(null)", "(blank)", "\\N",
    "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!",
])  # fmt: skip
"""Cells that count as missing once surrounding blanks are gone ("none" and "unknown" stay categories), except those of
`meant_as_values`."""

VALUES_ELSEWHERE = frozenset(["None", "-"])
_PLUSES = {"+", "++", "+++", "++++", "+/-", "±"}
_POINT_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_COMMA_NUMBER = re.compile(r"[+-]?(\d+(,\d*)?|,\d+)([eE][+-]?\d+)?")
_POINT_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
_COMMA_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?")
GAPS = " '\u2019\u00a0\u202f"
"""What may group thousands besides the other decimal mark: blanks and apostrophes."""
_GAP_THOUSANDS = re.compile(rf"[+-]?[1-9]\d{{0,2}}(?P<gap>[{GAPS}])\d{{3}}((?P=gap)\d{{3}})*([.,]\d*)?")
_GAP_IN_NUMBER = re.compile(rf"\d[{GAPS}]\d{{3}}")
_SIGN = r"[%‰€$£¥]|EUR|USD|GBP|CHF"
_SIGN_AT_NUMBER = re.compile(rf"({_SIGN})\s*[-+\d.,]|[\d.,]\s*({_SIGN})")
_SIGNED = re.compile(
    rf"(?P<minus>[+-]?)\s*(?:(?P<before>{_SIGN})\s*)?"
    rf"(?P<number>[+-]?[\d.,](?:[\d.,{GAPS}]*[\d.,])?)\s*(?P<after>{_SIGN})?"
)
_NEGATIVE = re.compile(
    rf"\((?P<inner>(?:{_SIGN})?\s*\d[\d.,{GAPS}]*(?:{_SIGN})?)\)|(?P<before>[\d.,{GAPS}]*\d[.,]\d+)\s?-"
)
_LIMIT = re.compile(r"(?:<=?|>=?|≤|≥)\s*(?=[^\s<>=≤≥])")
_LEADING_ZERO = re.compile(r"\n[+-]?0\d")
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))([ T]\d{1,2}:\d{2}.*)?"
    r"|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[ap]m)?"
    rf"|\d{{1,2}}[-. ]{{1,2}}{_MONTH}[-., ]{{1,2}}(\d{{4}}|\d{{2}})|{_MONTH} \d{{1,2}},? \d{{4}}",
    re.IGNORECASE,
)

_NUMBER = r"[+-]?\d+(?:\.\d+)?"
_RANGE = re.compile(
    rf"(?P<open>[\[(])?\s*({_NUMBER})\s*(?:-|–|—|;|\.\.|to|(?(open),|(?!)))\s*({_NUMBER})\s*[\])]?",
    re.IGNORECASE,
)
_BELOW = re.compile(rf"(?:<|<=|≤|under|below|less than|up to)\s*({_NUMBER})", re.IGNORECASE)
_ABOVE = re.compile(rf"(?:>|>=|≥|over|above|more than|at least)\s*({_NUMBER})", re.IGNORECASE)
_AND_MORE = re.compile(
    rf"({_NUMBER})\s*(?:\+|and (?:over|above|more|older)|or (?:over|above|more|older))", re.I
)

_SCALES = [
    text.split("|")
    for text in (
        "none|very low|low|medium low|medium|med|moderate|medium high|high|very high|extreme",
        "none|minimal|very mild|mild|moderate|severe|very severe|critical",
        "xxs|xs|s|m|l|xl|xxl|xxxl",
        "tiny|very small|small|medium|large|very large|big|huge|extra large",
        "never|almost never|rarely|seldom|sometimes|occasionally|often|usually|almost always|always",
        "terrible|very poor|very bad|poor|bad|below average|fair|average|above average|good|very good|excellent",
        "strongly disagree|disagree|somewhat disagree|neutral|somewhat agree|agree|strongly agree",
        "very dissatisfied|dissatisfied|neutral|satisfied|very satisfied",
        "unacc|acc|good|vgood",
        "first|second|third|fourth|fifth",
        "mon|tue|wed|thu|fri|sat|sun",
        "monday|tuesday|wednesday|thursday|friday|saturday|sunday",
        "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec",
        "january|february|march|april|may|june|july|august|september|october|november|december",
        "primary|secondary|tertiary",
        "cold|cool|mild|warm|hot",
        "young|middle-aged|old",
        "slow|medium|fast",
        "beginner|intermediate|advanced|expert",
    )
]


_LOOKED_AT = 500
_NEARLY_ALL = 0.9


def meant_as_values(texts: Sequence[str]) -> set[str]:
    """Texts of a column that are missing markers elsewhere, but by the column's other values are values here.

    "None" is one beside words such as "mild", not beside numbers or dates; "-" is one beside "+".
    """
    others = [text for text in texts if text not in MISSING_MARKERS]
    if "-" in texts and others and set(others) <= _PLUSES:
        return {"-"}
    if "None" not in texts or not others or are_dates(others):
        return set()
    n_numbers = max(int((~np.isnan(parse_numbers(others, decimal))).sum()) for decimal in ".,")
    return {"None"} if n_numbers < len(others) / 2 else set()


def parse_numbers(texts: Sequence[str], decimal: str) -> NDArray[np.float64]:
    """The texts as numbers, NaN where a text is not a finite number.

    Parameters
    ----------
    texts : sequence of str, shape (n,)
    decimal : "." or ","; the other one may group thousands, as in ``1,234.5``, and so may blanks and apostrophes. A
        sign such as % or € that all numbers carry is left out.

    Returns
    -------
    float64 array, shape (n,), each the float nearest to the written decimal
    """
    together = "\n".join(texts)
    if decimal == "." and "_" not in together:
        try:
            numbers = np.array(texts, dtype=object).astype(np.float64)
        except ValueError:
            pass
        else:
            if np.isfinite(numbers).all():
                return numbers
    plain, grouped = (
        (_POINT_NUMBER, _POINT_THOUSANDS) if decimal == "." else (_COMMA_NUMBER, _COMMA_THOUSANDS)
    )
    group = "," if decimal == "." else "."
    numbers = np.full(len(texts), np.nan)
    for i, text in enumerate(_bare(texts)):
        if plain.fullmatch(text):
            numbers[i] = float(text.replace(decimal, "."))
        elif grouped.fullmatch(text):
            numbers[i] = float(text.replace(group, "").replace(decimal, "."))
    numbers[np.isinf(numbers)] = np.nan
    return numbers


def numbers_with_limits(texts: Sequence[str], decimal: str) -> NDArray[np.float64]:
    """The texts as `parse_numbers` has them, and limits such as ``<5`` as the number they name.

    They are such only beside plain numbers, so that a column of "<5" and ">5" stays one of two texts.
    """
    bare = [without_limit(text) for text in texts]
    numbers = parse_numbers(bare, decimal)
    plain = np.array([text == one for text, one in zip(texts, bare, strict=True)], dtype=bool)
    if plain.all() or not np.isnan(numbers[plain]).all():
        return numbers
    return parse_numbers(texts, decimal)


def cell_numbers(texts: Sequence[str], decimal: str) -> NDArray[np.float64]:
    """Cells of a column that is known to hold numbers, each read by itself whatever stands beside it.

    What a column of numbers may hold besides plain ones is read always: signs such as %, limits such as ``<5``,
    negative numbers as accountants write them.
    """
    numbers = parse_numbers(texts, decimal)
    rest = np.flatnonzero(np.isnan(numbers)).tolist()
    numbers[rest] = parse_numbers([_by_itself(texts[i])[0] for i in rest], decimal)
    return numbers


def _by_itself(text: str) -> tuple[str, str]:
    """A cell of a column of numbers without what is no part of its number, and the sign such as % that it carries."""
    (text,), sign = without_sign([_minus_in_front(without_limit(text.replace("\N{MINUS SIGN}", "-")))])
    return text, sign


def signs_of(texts: Sequence[str]) -> list[str]:
    """The signs such as % that cells carry, each read by itself."""
    if not _SIGN_AT_NUMBER.search("\n".join(texts)):
        return []
    return sorted({_by_itself(text)[1] for text in texts} - {""})


def without_limit(text: str) -> str:
    """The text without a ``<``, ``>``, ``≤`` or ``≥`` before it, with which laboratories write limits."""
    return text[match.end() :] if (match := _LIMIT.match(text)) else text


def _bare(texts: Sequence[str]) -> Sequence[str]:
    """The texts, those that are numbers with a hyphen as minus in front and without signs and blanks."""
    if any("\N{MINUS SIGN}" in text for text in texts):
        texts = [text.replace("\N{MINUS SIGN}", "-") for text in texts]
    return _without_gaps(without_sign(with_minus(texts))[0])


def with_minus(texts: Sequence[str]) -> Sequence[str]:
    """The texts, negative numbers as accountants write them, ``(12.50)`` or ``12.50-``, with a minus in front.

    They are such only beside numbers that are written plainly, so that "(1)" and "(2)" stay what they are.
    """
    found = [_minus_in_front(text) for text in texts]
    changed = [one != text for one, text in zip(found, texts, strict=True)]
    return texts if all(changed) or not any(changed) else found


def _minus_in_front(text: str) -> str:
    match = _NEGATIVE.fullmatch(text) if text[-1:] in ("-", ")") else None
    return f"-{match['inner'] or match['before']}" if match else text


def without_sign(texts: Sequence[str]) -> tuple[Sequence[str], str]:
    """The texts without the sign such as % or € that all numbers among them carry, and that sign; "" where they do not.

    Where only some carry it, or different ones, nothing is taken off: 5 % and 5 may be different sizes.
    """
    if not _SIGN_AT_NUMBER.search("\n".join(texts)):
        return texts, ""
    found = [_SIGNED.fullmatch(text) for text in texts]
    signs = {(match["before"] or "") + (match["after"] or "") for match in found if match}
    if len(signs) != 1 or not (sign := signs.pop()):
        return texts, ""
    pairs = zip(found, texts, strict=True)
    return [match["minus"] + match["number"] if match else text for match, text in pairs], sign


def _without_gaps(texts: Sequence[str]) -> Sequence[str]:
    """The texts, those that are numbers without the blanks and apostrophes that group their thousands."""
    if not _GAP_IN_NUMBER.search("\n".join(texts)):
        return texts
    matches = ((text, _GAP_THOUSANDS.fullmatch(text)) for text in texts)
    return [text.replace(match["gap"], "") if match else text for text, match in matches]


def mixed_numbers(texts: Sequence[str], decimal: str) -> str:
    """What keeps texts from being numbers beside each other, where nearly each is one by itself; "" elsewhere."""
    texts = texts[:_LOOKED_AT]
    if has_leading_zeros(texts):
        return ""
    here, there = ("point", "comma") if decimal == "." else ("comma", "point")
    alone = np.array([_is_number(text, decimal) for text in texts])
    either = alone | np.array([_is_number(text, "," if decimal == "." else ".") for text in texts])
    unread = either & np.isnan(parse_numbers(texts, decimal))
    if either.mean() < _NEARLY_ALL or not unread.any():
        return ""
    first = int(unread.argmax())
    if not alone[first]:
        return f"numbers with a decimal {there} such as {quoted(texts[first])}, where the file has a decimal {here}"
    unlike = (text for text in texts if np.isnan(parse_numbers([texts[first], text], decimal)).any())
    return (
        f"numbers written in different ways, such as {quoted(texts[first])} and {quoted(next(unlike, '...'))}"
    )


def _is_number(text: str, decimal: str) -> bool:
    return not np.isnan(parse_numbers([text], decimal)[0])


def has_leading_zeros(texts: Sequence[str]) -> bool:
    """Whether some text is a code such as ``0042``, whose zeros a number would lose."""
    return bool(_LEADING_ZERO.search("\n" + "\n".join(texts)))


def decimal_vote(texts: Sequence[str]) -> str | None:
    """Which decimal mark the numbers of one column use; None where that cannot be told."""
    texts = _bare([_minus_in_front(without_limit(text)) for text in texts])
    for mark, plain, grouped, other in (
        (",", _COMMA_NUMBER, _COMMA_THOUSANDS, _POINT_THOUSANDS),
        (".", _POINT_NUMBER, _POINT_THOUSANDS, _COMMA_THOUSANDS),
    ):
        numbers = [text for text in texts if plain.fullmatch(text) or grouped.fullmatch(text)]
        clear = any(mark in text and not other.fullmatch(text) for text in numbers)
        if clear and len(numbers) >= 0.9 * len(texts):
            return mark
    return None


def are_dates(texts: Sequence[str]) -> bool:
    """Whether every text is a date or a time of day."""
    return bool(texts) and all(_DATE.fullmatch(text) for text in texts)


def range_key(text: str) -> tuple[float, float] | None:
    """Where ``10-14``, ``<5``, ``60+``, ``(1, 2]`` or a plain number stands; None for other texts."""
    text = text.strip()
    if re.fullmatch(_NUMBER, text):
        return float(text), float(text)
    if match := _RANGE.fullmatch(text):
        low, high = float(match[2]), float(match[3])
        return (low, high) if low <= high else None
    if match := _BELOW.fullmatch(text):
        return -np.inf, float(match[1])
    if match := _ABOVE.fullmatch(text) or _AND_MORE.fullmatch(text):
        return float(match[1]), np.inf
    return None


def natural_order(texts: Sequence[str]) -> list[str] | None:
    """The texts in the order their meaning gives them, None where they show none.

    Ranges (`range_key`) go by their ends; words by well-known scales such as low, medium, high.
    """
    keys = {text: range_key(text) for text in texts}
    ranges = {text: key for text, key in keys.items() if key is not None}
    if len(ranges) == len(texts):
        return sorted(texts, key=lambda text: ranges[text])
    words = {text: text.casefold().strip() for text in texts}
    if len(set(words.values())) < len(texts):
        return None
    for scale in _SCALES:
        if set(words.values()) <= set(scale):
            return sorted(texts, key=lambda text: scale.index(words[text]))
    return None


def default_order(texts: Sequence[str]) -> list[str]:
    """`natural_order` where there is one, else ranges and numbers first, then the rest by the alphabet."""
    natural = natural_order(texts)
    if natural is not None:
        return natural
    return sorted(texts, key=lambda text: (*(range_key(text) or (np.inf, np.inf)), text.casefold(), text))
