"""How a file was read, in plain sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import compress

import numpy as np

from tmcore.problems import counted, listed, quoted
from tmcore.read_csv import SEPARATORS, RawTable
from tmcore.texts import GAPS, parse_numbers, with_minus, without_sign

MOST_SENTENCES = 4
"""More kinds of missing cells than so many are told in one sentence."""


def reading_assumptions(raw: RawTable, names: Sequence[str], given: set[str]) -> Iterator[str]:
    """How the file was read; `names` are the columns of numbers, `given` what the user said."""
    parts = {
        "separator": f"cells are separated by {SEPARATORS.get(raw.separator, quoted(raw.separator))}",
        "encoding": f"text is encoded as {raw.encoding.upper()}",
        "decimal": f"numbers have a decimal {'comma' if raw.decimal == ',' else 'point'}",
    }
    assumed = [text for what, text in parts.items() if what not in given]
    if assumed:
        yield f"Assumed of the file: {listed(assumed)}."
    yield from _marks_in_numbers(raw, names)
    yield from _missing(raw.markers)


def _missing(markers: Mapping[str, int]) -> Iterator[str]:
    """Which cells count as missing; many kinds of them in one sentence."""
    written = sorted(set(markers) - {""})
    empty = markers.get("", 0)
    if len(markers) > MOST_SENTENCES:
        kinds = [f"{empty:,} empty"] * (empty > 0) + [
            f"{markers[one]:,} with {quoted(one)}" for one in written
        ]
        yield f"{counted(sum(markers.values()), 'cell')} count as missing: {listed(kinds, len(kinds))}."
        return
    if empty:
        yield f"{counted(empty, 'empty cell counts', 'empty cells count')} as missing."
    for marker in written:
        count = markers[marker]
        yield f"{counted(count, 'cell')} with {quoted(marker)} {'counts' if count == 1 else 'count'} as missing."


def _marks_in_numbers(raw: RawTable, names: Sequence[str]) -> Iterator[str]:
    """What stands in numbers besides their digits: marks between thousands, and signs such as %."""
    marks = "." if raw.decimal == "," else ",", *GAPS
    grouped: dict[str, list[str]] = {mark: [] for mark in marks}
    signs: dict[str, list[str]] = {}
    negative: list[str] = []
    for name in names:
        written = raw.frame[name].dropna().unique().tolist()
        with_signs = with_minus(written)
        if with_signs is not written:
            negative.append(quoted(name))
        numbers, sign = without_sign(with_signs)
        together = "".join(compress(numbers, ~np.isnan(parse_numbers(written, raw.decimal))))
        for mark in marks:
            if mark in together:
                grouped[mark].append(quoted(name))
        if sign:
            signs.setdefault(sign, []).append(quoted(name))
    for mark, columns in grouped.items():
        if columns:
            what = "a blank" if mark.isspace() else f"the mark {quoted(mark)}"
            yield f"In {listed(columns)} {what} groups thousands."
    for sign, columns in sorted(signs.items()):
        yield f"In {listed(columns)} the sign {quoted(sign)} is left out of the numbers."
    if negative:
        yield f"In {listed(negative)} numbers in brackets, or with a minus behind them, are negative."
