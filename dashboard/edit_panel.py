"""Changing the rules by hand on the Rules page: a table to switch off, delete and weigh them, and fields for bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import pandas as pd
import streamlit as st

from dashboard import style
from dashboard.editing import Editing
from dashboard.style import MINUS, signed
from tmcore.conditions import Condition, number_text, visible
from tmcore.rule import Rule, as_tuple
from tmcore.simplify import prune

PROBLEM = "tsetlin_edit_problem"
WEIGHT = rf"^\s*[+{MINUS}-]?(\d+\.?\d*|\.\d+)\s*$"
"""What may be typed as a weight, with either minus."""

WEIGHT_DIGITS = 3
MOST_SHARE = 50.0
MOST_DRAWN_CLOSED = 300
"""With more rules the panel is filled when it is opened."""


def show(editing: Editing, X: pd.DataFrame, y: pd.Series) -> None:
    """Draw the panel; every edit counts at once for the whole page. `X` and `y` are the training rows."""
    words = "Change the rules"
    if editing.is_edited:
        words += f": edited, {style.count(len(editing.numbers()))} of {len(editing.first.rules):,} in use"
    many = len(editing.draft.rules) > MOST_DRAWN_CLOSED
    opened: Literal["rerun", "ignore"] = "rerun" if many else "ignore"
    with st.expander(words, key="edit_panel", on_change=opened) as panel:
        if many and not panel.open:
            return
        st.caption(
            "Switch a rule off, give it another weight, or select its row and press the bin to delete it. Scores, "
            "explanations and downloads follow; downloads say that the rules were edited."
        )
        _table(editing)
        if len(editing.learned.rules.classes):
            _rare(editing, X, y)
        _bounds(editing)
        problem = st.session_state.pop(PROBLEM, None)
        if problem:
            st.error(style.plain(problem))
        with st.container(horizontal=True):
            st.button("Undo", on_click=editing.undo, disabled=not editing.past, key="edit_undo")
            st.button(
                "Back to the rules as learned",
                on_click=editing.reset,
                disabled=not editing.is_edited,
                key="edit_reset",
            )


def _rare(editing: Editing, X: pd.DataFrame, y: pd.Series) -> None:
    """Leaving out rules that cover few training rows; the loss is said before it is taken."""
    share, said, button = st.columns([3, 4, 2], vertical_alignment="center")
    least = share.slider(
        "Least share of training rows covered",
        0.0,
        MOST_SHARE,
        0.0,
        0.5,
        format=f"%g{style.NO_BREAK}%%",
        key=f"edit_support_{editing.version}",
    )
    rare: list[int] = []
    words = "Rules that cover less can be left out."
    if least:
        rules = editing.rules()
        pruning = prune(rules, least / 100, X, y)
        kept = {id(rule) for rule in pruning.rules}
        rare = [number for number, rule in zip(editing.numbers(), rules, strict=True) if id(rule) not in kept]
        words = f"{pruning.text} (Training rows.)" if rare else pruning.text
    said.caption(style.plain(words))
    button.button(
        "Leave them out",
        key="edit_prune",
        disabled=not rare,
        width="stretch",
        on_click=editing.switch_off,
        args=(rare,),
    )


def _names(editing: Editing) -> list[str]:
    """Headings of the weight columns; they must not clash with the others."""
    return [f"{name} " if name in ("use", "rule") else name for name in editing.learned.rules.weight_names()]


def _table(editing: Editing) -> None:
    draft, names = editing.draft, _names(editing)
    numbers = list(draft.rules)
    heaviest = max((rule.magnitude for rule in draft.rules.values()), default=0.0)
    digits = WEIGHT_DIGITS if not heaviest else max(0, WEIGHT_DIGITS - 1 - math.floor(math.log10(heaviest)))
    digits = WEIGHT_DIGITS if len(editing.learned.rules.classes) else digits
    frame = pd.DataFrame(
        {"use": [number not in draft.off for number in numbers]}, index=pd.Index(numbers, name="no.")
    )
    for k, name in enumerate(names):
        frame[name] = [signed(as_tuple(draft.rules[number].weights)[k], digits) for number in numbers]
    frame["rule"] = [draft.rules[number].text() for number in numbers]
    key = f"edit_table_{editing.version}"
    st.data_editor(
        frame,
        key=key,
        num_rows="delete",
        disabled=["_index", "rule"],
        height="content" if len(numbers) <= 8 else 320,
        column_config={
            "use": st.column_config.CheckboxColumn(width="small"),
            "rule": st.column_config.TextColumn(width="large"),
            **{
                name: st.column_config.TextColumn(required=True, validate=WEIGHT, width="small")
                for name in names
            },
        },
        on_change=_take_table,
        args=(editing, key, numbers, names),
    )


def _take_table(editing: Editing, key: str, numbers: list[int], names: list[str]) -> None:
    told: Any = st.session_state[key]
    for place, cells in told["edited_rows"].items():
        number = numbers[int(place)]
        for name, value in cells.items():
            if name == "use":
                editing.switch(number, bool(value))
            elif value is not None:
                weight = float(str(value).replace(MINUS, "-"))
                _attempt(partial(editing.set_weight, number, names.index(name), weight))
    for place in told["deleted_rows"]:
        editing.delete(numbers[int(place)])


def _attempt(change: Callable[[], None]) -> None:
    try:
        change()
    except ValueError as error:
        st.session_state[PROBLEM] = str(error)


def _bounds(editing: Editing) -> None:
    rules = editing.draft.rules
    if not rules:
        st.caption("Every rule is deleted; only the start is left.")
        return
    chosen = st.selectbox(
        "Change a bound of",
        list(rules),
        format_func=lambda number: f"{number}. {rules[number].text()}",
        key="edit_rule",
    )
    rule = rules.get(chosen)
    if rule is None:
        return
    for place, condition in enumerate(rule.conditions):
        _condition(editing, chosen, rule, place, condition)


def _condition(editing: Editing, number: int, rule: Rule, place: int, condition: Condition) -> None:
    """Fields for one condition; each carries the draft in its key, so that it starts from what is so."""
    key = f"edit_{number}_{place}_{editing.version}"
    label, fields = st.columns([1, 2], vertical_alignment="center")
    label.markdown(style.plain(condition.text()))
    with fields, st.container(horizontal=True, vertical_alignment="center"):
        if condition.kind == "numeric" and not condition.known:
            _numbers(editing, number, place, condition, key)
        elif condition.kind == "ordinal" and not condition.known:
            _levels(editing, number, place, condition, key)
        else:
            _categories(editing, number, place, condition, key)
        if len(rule.conditions) > 1:
            st.button(
                "Drop",
                key=f"{key}_drop",
                help="Ask nothing of this column",
                on_click=_attempt,
                args=(lambda: editing.set_condition(number, place, None),),
            )


def _become(editing: Editing, number: int, place: int, key: str, make: Any) -> None:
    _attempt(lambda: editing.set_condition(number, place, make(st.session_state[key])))


def _numbers(editing: Editing, number: int, place: int, condition: Condition, key: str) -> None:
    def with_side(side: str) -> Any:
        def make(value: float | None) -> Condition:
            bounds = {"lower": condition.lower, "upper": condition.upper} | {side: value}
            if bounds["lower"] is None and bounds["upper"] is None:
                return replace(condition, lower=None, upper=None, known=True)
            return replace(condition, lower=bounds["lower"], upper=bounds["upper"])

        return make

    for side, words in (("lower", "more than"), ("upper", "at most")):
        own = f"{key}_{side}"
        value = getattr(condition, side)
        st.number_input(
            words,
            value=value,
            step=None if value is None else 10.0 ** -len(number_text(value).partition(".")[2]),
            format="%.10g",
            placeholder="open",
            key=own,
            width=170,
            on_change=_become,
            args=(editing, number, place, own, with_side(side)),
        )


def _levels(editing: Editing, number: int, place: int, condition: Condition, key: str) -> None:
    levels = condition.all_levels

    def make(ends: tuple[str, str]) -> Condition:
        allowed = levels[levels.index(ends[0]) : levels.index(ends[1]) + 1]
        return replace(condition, levels=allowed)

    st.select_slider(
        "from, to",
        levels,
        value=(condition.levels[0], condition.levels[-1]),
        format_func=visible,
        key=key,
        on_change=_become,
        args=(editing, number, place, key, make),
    )


def _categories(editing: Editing, number: int, place: int, condition: Condition, key: str) -> None:
    column = next((c for c in editing.learned.rules.columns if c.name == condition.column), None)
    names = list(dict.fromkeys([*(column.categories if column else ()), *condition.not_in]))
    if condition.known:
        st.caption("Asks only that a value is there.")
    elif condition.not_in:
        st.multiselect(
            "is not",
            names,
            default=list(condition.not_in),
            format_func=visible,
            key=key,
            on_change=_become,
            args=(editing, number, place, key, lambda chosen: _not_in(condition, chosen)),
        )
    else:
        field = "value" if condition.kind == "boolean" else "is_in"
        st.selectbox(
            "is",
            names,
            index=names.index(getattr(condition, field)),
            format_func=visible,
            key=key,
            width=240,
            on_change=_become,
            args=(editing, number, place, key, lambda chosen: replace(condition, **{field: chosen})),
        )


def _not_in(condition: Condition, chosen: list[str]) -> Condition:
    return replace(condition, not_in=tuple(chosen), known=not chosen)
