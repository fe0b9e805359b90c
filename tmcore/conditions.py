"""What a rule asks of one column: a test on raw values that can also be read aloud.

A numeric condition is the literal of the SSL paper, eq. 11-13: lower < x <= upper, where a bound that is not
included is open. A missing value meets no condition.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tmcore.columns import as_floats, category_codes

MINUS = "\N{MINUS SIGN}"
KINDS = ("numeric", "boolean", "ordinal", "nominal")

_VISIBLE = {
    "\n": "\N{DOWNWARDS ARROW WITH CORNER LEFTWARDS}",
    "\u2028": "\N{DOWNWARDS ARROW WITH CORNER LEFTWARDS}",
    "\u2029": "\N{DOWNWARDS ARROW WITH CORNER LEFTWARDS}",
    "\x7f": "\N{SYMBOL FOR DELETE}",
}
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def visible(text: object) -> str:
    """Return `text` on one line, with what cannot be seen made visible.

    Line ends and control characters become symbols, lone surrogates and marks that turn the reading
    direction are written as code points, spaces at either end become an open box, and an empty text becomes
    two quotes.
    """
    shown = "".join(_visible_character(character) for character in str(text))
    if not shown:
        return '""'
    inner = shown.strip(" ")
    before = len(shown) - len(shown.lstrip(" "))
    after = len(shown) - before - len(inner)
    return "\N{OPEN BOX}" * before + inner + "\N{OPEN BOX}" * after


def _visible_character(character: str) -> str:
    if character in _VISIBLE:
        return _VISIBLE[character]
    if character < " ":
        return chr(0x2400 + ord(character))
    if character in _DIRECTIONS or unicodedata.category(character) in ("Cc", "Cs"):
        return f"<U+{ord(character):04X}>"
    return character


def number_text(value: float) -> str:
    """Return the fewest digits that give `value` back, with a real minus sign: 2, 0.5, −1.25."""
    return repr(float(value) + 0.0).removesuffix(".0").replace("-", MINUS)


def weight_text(weight: float) -> str:
    """Return a signed weight with two decimals, or more where two would hide it: +1.30, −0.36, +0.0012."""
    if round(abs(weight), 2) > 0 or weight == 0:
        digits = f"{abs(weight):.2f}"
    else:
        digits = f"{abs(weight):.6f}".rstrip("0")
        digits = digits[: len(digits) - len(digits.split(".")[1].lstrip("0")) + 2]
    return (MINUS if weight < 0 else "+") + digits


def _category_text(name: str) -> str:
    shown = visible(name)
    return f'"{shown}"' if any(mark in shown for mark in ',{}"') and shown != '""' else shown


@dataclass(frozen=True)
class RawColumn:
    """One column made ready for testing.

    Attributes
    ----------
    numbers : float64 array (n_rows,) or None
        Values of a numeric column, NaN where missing.
    codes : int array (n_rows,) or None
        Positions in `names` for the other kinds, -1 where missing.
    names : tuple of str
        The distinct values that occur.
    """

    numbers: np.ndarray | None
    codes: np.ndarray | None = None
    names: tuple[str, ...] = ()

    @classmethod
    def read(cls, series: pd.Series, kind: str) -> RawColumn:
        """Prepare `series` for the conditions of one column.

        Raises
        ------
        ValueError
            If a numeric column holds a text or an infinite value.
        """
        if kind == "numeric":
            return cls(numbers=as_floats(series, str(series.name)))
        codes, names = category_codes(series)
        return cls(numbers=None, codes=codes, names=tuple(names))

    def part(self, start: int, stop: int) -> RawColumn:
        """Return rows `start` to `stop` (exclusive)."""
        return RawColumn(
            None if self.numbers is None else self.numbers[start:stop],
            None if self.codes is None else self.codes[start:stop],
            self.names,
        )


@dataclass(frozen=True)
class Condition:
    """A test on one column.

    Attributes
    ----------
    column : str
        The column's name in the data.
    label : str
        The name to show, without its unit.
    kind : {"numeric", "boolean", "ordinal", "nominal"}
    unit : str or None
    lower, upper : float or None
        Numeric: lower < x <= upper; None is open.
    value : str or None
        Boolean: the one of the two values asked for.
    levels : tuple of str
        Ordinal: the levels allowed, consecutive and in order.
    all_levels : tuple of str
        Ordinal: every level in order. Boolean: the two values. Other values count as missing.
    is_in : str or None
        Nominal: the one category asked for.
    not_in : tuple of str
        Nominal: categories excluded; a category never seen before is in none of them.
    known : bool
        Asks only that a value is there; then it is the only test.

    Raises
    ------
    ValueError
        If the condition asks nothing, or something its kind does not have.
    """

    column: str
    label: str
    kind: str
    unit: str | None = None
    lower: float | None = None
    upper: float | None = None
    value: str | None = None
    levels: tuple[str, ...] = ()
    all_levels: tuple[str, ...] = ()
    is_in: str | None = None
    not_in: tuple[str, ...] = ()
    known: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f'A condition on "{self.column}" has the unknown kind "{self.kind}".')
        asked = {
            "numeric": self.lower is not None or self.upper is not None,
            "boolean": self.value is not None,
            "ordinal": bool(self.levels),
            "nominal": self.is_in is not None or bool(self.not_in),
        }
        tests = [kind for kind, is_asked in asked.items() if is_asked]
        if tests != ([] if self.known else [self.kind]) or (self.is_in is not None and self.not_in):
            raise ValueError(
                f'A condition on "{self.column}" must ask one thing that a {self.kind} column can answer.'
            )
        if not self._levels_fit():
            raise ValueError(f'A condition on "{self.column}" names values that are not its levels in order.')

    def _levels_fit(self) -> bool:
        if self.kind == "boolean":
            return self.known or (len(self.all_levels) == 2 and self.value in self.all_levels)
        if self.kind == "ordinal" and not self.known:
            if self.levels[0] not in self.all_levels:
                return False
            start = self.all_levels.index(self.levels[0])
            return self.all_levels[start : start + len(self.levels)] == self.levels
        return True

    @property
    def n_literals(self) -> int:
        """Number of included bounds the condition stands for."""
        if self.kind == "numeric" and not self.known:
            return (self.lower is not None) + (self.upper is not None)
        if self.kind == "ordinal" and not self.known:
            return max(1, (self.levels[0] != self.all_levels[0]) + (self.levels[-1] != self.all_levels[-1]))
        return max(1, len(self.not_in))

    @property
    def impossible(self) -> bool:
        """Whether no value can meet the condition (lower >= upper)."""
        return self.lower is not None and self.upper is not None and self.lower >= self.upper

    def test(self, series: pd.Series) -> np.ndarray:
        """Return for each raw value whether the condition holds, bool (n_rows,)."""
        return self.holds(RawColumn.read(series, self.kind))

    def holds(self, values: RawColumn) -> np.ndarray:
        """Return for each prepared value whether the condition holds, bool (n_rows,)."""
        if values.numbers is not None:
            result = ~np.isnan(values.numbers)
            if self.lower is not None:
                result &= values.numbers > self.lower
            if self.upper is not None:
                result &= values.numbers <= self.upper
            return result
        allowed = np.fromiter((self.allows(name) for name in values.names), bool, len(values.names))
        return np.append(allowed, False)[values.codes]

    def allows(self, name: str) -> bool:
        """Whether a value that is not a number, by its name, meets the condition."""
        if self.kind == "boolean":
            if self.all_levels == ("0", "1"):  # columns of 0 and 1 may come as booleans
                name = {"False": "0", "True": "1"}.get(name, name)
            return name == self.value if self.value is not None else name in self.all_levels
        if self.kind == "ordinal":
            return name in (self.levels or self.all_levels)
        return name == self.is_in if self.is_in is not None else name not in self.not_in

    def parts(self) -> tuple[tuple[str, str], ...]:
        """Return the text in pieces (role, text), role one of feature, operator, number, category, unit."""
        feature = ("feature", visible(self.label))
        if self.known:
            return feature, ("operator", "is known")
        if self.kind == "numeric":
            return self._numeric_parts(feature)
        if self.kind == "ordinal":
            return feature, *self._ordinal_parts()
        name = self.value if self.kind == "boolean" else self.is_in
        if name is not None:
            return feature, ("operator", "is"), ("category", _category_text(name))
        names = [_category_text(name) for name in self.not_in]
        if len(names) == 1:
            return feature, ("operator", "is not"), ("category", names[0])
        return feature, ("operator", "is not in"), ("category", "{" + ", ".join(names) + "}")

    def _numeric_parts(self, feature: tuple[str, str]) -> tuple[tuple[str, str], ...]:
        parts = [feature]
        if self.lower is not None and self.upper is not None:
            parts = [("number", number_text(self.lower)), ("operator", "<"), feature]
        elif self.lower is not None:
            parts += [("operator", ">"), ("number", number_text(self.lower))]
        if self.upper is not None:
            parts += [("operator", "≤"), ("number", number_text(self.upper))]
        return (*parts, ("unit", visible(self.unit))) if self.unit else tuple(parts)

    def _ordinal_parts(self) -> tuple[tuple[str, str], ...]:
        first, last = _category_text(self.levels[0]), _category_text(self.levels[-1])
        if len(self.levels) == 1:
            return ("operator", "is"), ("category", first)
        if self.levels[-1] == self.all_levels[-1]:
            return ("operator", "is at least"), ("category", first)
        if self.levels[0] == self.all_levels[0]:
            return ("operator", "is at most"), ("category", last)
        return ("operator", "is from"), ("category", first), ("operator", "to"), ("category", last)

    def text(self) -> str:
        """Return the condition in words, on one line: "114 < max heart rate ≤ 167 bpm"."""
        return " ".join(text for _, text in self.parts())


@dataclass(frozen=True)
class RuleColumn:
    """A column the rules may speak of: its name in the data, what to show, its kind and its categories."""

    name: str
    label: str
    unit: str | None
    kind: str
    categories: tuple[str, ...]
