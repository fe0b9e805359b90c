"""Where a file's columns are called otherwise than in training: the visitor says which is which, nothing is guessed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from dashboard import style
from tmcore.columns import category_text
from tmcore.conditions import visible
from tmcore.encode import Column
from tmcore.encoders import AnyEncoder
from tmcore.new_rows import unmatched
from tmcore.read_csv import RawTable
from tmcore.texts import parse_numbers

EXAMPLES = 3
MOST_NAMED = 4


@dataclass(frozen=True)
class Open:
    """A column of the training that a file lacks: its name, what it held, and the column that is proposed for it.

    ``similar`` says whether that is for its name; otherwise it is the only one with such values.
    """

    name: str
    held: str
    proposed: str | None
    similar: bool


@dataclass(frozen=True)
class Choice:
    """What is to be chosen for one file: columns that are missing, and those it has instead with their first values."""

    missing: tuple[Open, ...]
    unused: dict[str, str]

    @property
    def possible(self) -> bool:
        """Whether there are enough columns to choose from."""
        return 0 < len(self.missing) <= len(self.unused)


def choice(raw: RawTable, encoder: AnyEncoder) -> Choice:
    """What is to be chosen for a file."""
    found = unmatched(raw, encoder)
    columns = {column.name: column for column in encoder.columns}
    left = [name for name in found.unused if name not in found.alike.values()]
    fitting = {
        name: [given for given in left if fits(raw, given, columns[name])]
        for name in found.absent
        if name not in found.alike
    }
    wanted = [given for some in fitting.values() for given in some]
    only = {name: some[0] for name, some in fitting.items() if len(some) == 1 and wanted.count(some[0]) == 1}
    proposed = only | found.alike
    missing = [
        Open(name, held(columns[name]), proposed.get(name), name in found.alike) for name in found.absent
    ]
    return Choice(tuple(missing), {name: _first_values(raw, name) for name in found.unused})


def fits(raw: RawTable, given: str, column: Column) -> bool:
    """Whether a column of a file holds nothing but numbers for a numeric one, else a category of training."""
    words = raw.frame[given].dropna().unique().tolist()
    numbers = parse_numbers(words, raw.decimal)
    if column.role == "numeric":
        return bool(words) and not np.isnan(numbers).any()
    known = {category_text(float(number)) for number in numbers if not np.isnan(number)} | set(words)
    return not known.isdisjoint(column.categories)


def held(column: Column) -> str:
    """What a column held in training, in words."""
    if column.minimum is not None and column.maximum is not None:
        return f"numbers from {style.figure(column.minimum)} to {style.figure(column.maximum)}"
    names = [style.short(name) for name in column.categories]
    if not names:
        return "numbers" if column.role == "numeric" else ""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"


def _first_values(raw: RawTable, name: str) -> str:
    values = raw.frame[name].dropna().head(EXAMPLES).tolist()
    return ", ".join(style.short(value) for value in values) or "no values"


def show(chosen_for: Choice, key: str) -> dict[str, str] | None:
    """Draw a choice; the columns of the training with those to read for them once the visitor says so."""
    style.section(
        "Which columns are they?",
        f"{_proposals(chosen_for)} Compare the values; nothing is read until you press the button.",
    )
    found = {one.name: _one(one, chosen_for.unused, f"{key}_{k}") for k, one in enumerate(chosen_for.missing)}
    picked = {name: given for name, given in found.items() if given is not None}
    twice = {given for given in picked.values() if list(picked.values()).count(given) > 1}
    if twice:
        names = " and ".join(f"“{style.short(given)}”" for given in sorted(twice))
        st.markdown(
            f":red[:material/error:] {style.plain(names)} is chosen twice. Choose another column for one."
        )
    ready = len(picked) == len(found) and not twice
    pressed = st.button("Score with these columns", type="primary", disabled=not ready, key=f"{key}_use")
    return picked if pressed and ready else None


def _proposals(chosen_for: Choice) -> str:
    """What the columns are proposed for that are."""
    proposed = [one for one in chosen_for.missing if one.proposed is not None]
    told = []
    if any(one.similar for one in proposed):
        told.append("A column with a similar name is proposed.")
    if any(not one.similar for one in proposed):
        told.append(
            "Where no name is similar, the only column with such values is proposed, which may be wrong."
        )
    return " ".join(told) or "No column of the file has a similar name, so none is proposed."


def _one(one: Open, unused: dict[str, str], key: str) -> str | None:
    left, right = st.columns([2, 3], vertical_alignment="center")
    told = f"  \n:small[:gray[{style.plain(f'in training: {one.held}')}]]" if one.held else ""
    left.markdown(f"**{style.plain(style.short(one.name))}**{told}")
    names = list(unused)
    return right.selectbox(
        style.plain(f"Column of the file to read as {style.short(one.name)}"),
        names,
        None if one.proposed is None else names.index(one.proposed),
        format_func=lambda name: f"{visible(name)}  ({unused[name]})",
        placeholder="Choose a column",
        label_visibility="collapsed",
        key=key,
    )
