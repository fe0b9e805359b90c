"""The Data page: open a CSV or an example, see what was assumed, change it, and train on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

import sample_data
from dashboard import session, splitting, style, target_view, your_runs
from dashboard.session import Session
from dashboard.target_view import Target
from tmcore.conditions import visible
from tmcore.table import MAX_BYTES, ROLES, Problem, Table, TableError, read_table

ERROR = "tsetlin_data_error"
ROWS_SHOWN = 200
ROWS_WITHOUT_SCROLLING = 14
PROBLEMS_SHOWN = 6
SEVERITIES = {
    "error": ":red[:material/error:]",
    "warning": ":yellow[:material/warning:]",
    "info": ":material/info:",
}
GUESS = "guessed"
READ_AS: dict[str, dict[str, str]] = {
    "separator": {"comma": ",", "semicolon": ";", "tab": "\t", "bar |": "|", "space": " "},
    "decimal": {"point": ".", "comma": ","},
    "encoding": {
        "UTF-8": "utf-8",
        "Western (Windows 1252)": "cp1252",
        "UTF-16": "utf-16",
        "Latin-1": "latin-1",
    },
}


def _try(change: Callable[[], None], opening: bool = False) -> None:
    """Make a change; if it cannot be made, keep one sentence for the top of the page and what the user had."""
    st.session_state.pop(ERROR, None)
    try:
        change()
    except ValueError as error:
        current = session.current()
        kept = f" Still showing {style.short(current.name)}." if opening and current.table is not None else ""
        st.session_state[ERROR] = str(error) + kept


# Opening data ------------------------------------------------------------------------------------------------------


def _uploaded(key: str) -> None:
    file = st.session_state.get(key)
    if file is not None:
        _try(lambda: session.current().open_upload(file.getvalue(), file.name), opening=True)


def _open_sample(sample: sample_data.Sample) -> None:
    source = sample.read()
    table = read_table(source, **sample.overrides)
    _try(lambda: session.current().open_table(table, sample.title, source, sample.key))


def _uploader(current: Session) -> None:
    key = f"upload-{current.generation}"
    st.file_uploader(
        f"A CSV file of up to {MAX_BYTES // 2**20} MB, with one row of column names",
        type=["csv", "tsv", "txt"],
        key=key,
        on_change=_uploaded,
        args=(key,),
    )


def _samples(skip_first: bool) -> None:
    for sample in sample_data.samples()[int(skip_first) :]:
        words, button = st.columns([5, 1], vertical_alignment="center")
        origin = f"{style.count(sample.n_rows, 'row')} · {sample.source} · {sample.licence}"
        words.markdown(
            f"**{style.plain(sample.title)}** · {style.plain(sample.about)}  \n:small[:gray[{style.plain(origin)}]]"
        )
        button.button(
            "Open", key=f"open-{sample.key}", on_click=_open_sample, args=(sample,), width="stretch"
        )


def _empty(current: Session) -> None:
    first = sample_data.samples()[0]
    style.empty("No data yet. Upload a CSV or open an example.", "data")
    _, middle, _ = st.columns([1, 3, 1])
    with middle:
        with st.container(horizontal=True, horizontal_alignment="center"):
            st.button(f"Open {first.title}", type="primary", on_click=_open_sample, args=(first,))
        _uploader(current)
        your_runs.show(current)
        your_runs.elsewhere(current)
        style.section("Other examples")
        _samples(skip_first=True)


# What the page sees ------------------------------------------------------------------------------------------------


def headline(table: Table, target: Target | None) -> str:
    """The page's sentence: "270 rows, 13 columns, 2 classes: 56 % no disease"; or "499 of 500 rows"."""
    used = sum(column.role != "ignored" and column.name != table.target for column in table.columns)
    n_used = table.n_rows if table.target is None else len(table.answers)
    rows = f"{n_used:,} of " if n_used < table.n_rows else ""
    size = f"{rows}{style.count(table.n_rows, 'row')}, {style.count(used, 'column')}"
    said = "" if target is None else target.said()
    return f"{size}, {said}" if said else f"{size}. Choose the column to predict"


def _problems(current: Session, table: Table) -> None:
    with st.container(gap="xxsmall"):
        for problem in table.problems[:PROBLEMS_SHOWN]:
            _problem(current, table, problem)
    if more := table.problems[PROBLEMS_SHOWN:]:
        with st.expander(f"{len(more):,} more notes"):
            for problem in more:
                _problem(current, table, problem)


def _problem(current: Session, table: Table, problem: Problem) -> None:
    st.markdown(f"{SEVERITIES[problem.severity]} {style.plain(problem.message)}")
    if problem.labels:
        target_view.offers(current, table, problem.labels, _try)


def _head(current: Session, table: Table, read: Target | None, obstacle: str | None) -> None:
    words, actions = st.columns([5, 2], vertical_alignment="top")
    with words:
        origin = "from a kept run" if current.source is None else style.size(len(current.source))
        target = f"predicting {style.short(table.target)}" if table.target else "nothing to predict yet"
        if table.positive_class is not None:
            target += f": {style.short(table.positive_class)}"
        style.sentence(headline(table, read), f"{style.short(current.name)} · {origin} · {target}")
    with actions.container(horizontal=True, horizontal_alignment="right"):
        with st.popover("Other data", key=f"other-{current.generation}"):
            _uploader(current)
            _samples(skip_first=False)
        if st.button(
            "Train on this",
            type="primary",
            disabled=obstacle is not None,
            help=obstacle and style.plain(obstacle),
        ):
            _train(current)
    if (lost := current.unsaved) is not None and not current.is_current:
        actions.caption(style.plain(f"Closes {lost}. {current.kept_or_not}"))


def _train(current: Session) -> None:
    _try(current.train_on)
    if ERROR in st.session_state:
        st.rerun()
    st.switch_page("views/train.py")


def _preview(table: Table) -> None:
    shown = table.frame.head(ROWS_SHOWN)
    what = "All" if len(shown) == table.n_rows else f"The first {len(shown)} of"
    gaps = " An empty cell is a missing value." if shown.isna().any(axis=None) else ""
    style.section("Rows", f"{what} {style.count(table.n_rows, 'row')}, as read.{gaps}")
    st.dataframe(shown, hide_index=True, height="content" if len(shown) <= 9 else 360, placeholder="")


# Columns and their roles -------------------------------------------------------------------------------------------


def _roles_changed(key: str, names: list[str]) -> None:
    edits: dict[int, dict[str, Any]] = st.session_state[key]["edited_rows"]

    def change() -> None:
        current = session.current()
        assert current.table is not None
        table = current.table
        for row, edit in edits.items():
            if "role" in edit:
                table = table.with_role(names[int(row)], edit["role"])
        current.edit(table)

    _try(change)
    if ERROR in st.session_state:
        session.current().edits += 1  # a fresh editor, without the role that cannot be


def _columns(current: Session, table: Table) -> None:
    style.section("Columns", "Change a role where the guess is wrong.")
    columns = [column for column in table.columns if column.name != table.target]
    frame = pd.DataFrame(
        {
            "column": [visible(column.name) for column in columns],
            "role": [column.role for column in columns],
            "different values": [column.n_unique for column in columns],
            "missing": [column.n_missing for column in columns],
            "note": [column.note for column in columns],
        }
    )
    key = f"roles-{current.generation}-{current.edits}"
    st.data_editor(
        frame,
        key=key,
        hide_index=True,
        disabled=["column", "different values", "missing", "note"],
        column_config={
            "role": st.column_config.SelectboxColumn(options=list(ROLES), required=True),
            "different values": st.column_config.NumberColumn(format="localized"),
            "missing": st.column_config.NumberColumn(format="localized"),
            "note": st.column_config.TextColumn(width="large"),
        },
        height="content" if len(frame) <= ROWS_WITHOUT_SCROLLING else 528,
        on_change=_roles_changed,
        args=(key, [column.name for column in columns]),
    )


def _raise_level(name: str, levels: list[str], place: int) -> None:
    order = [*levels]
    order[place - 1], order[place] = order[place], order[place - 1]
    current = session.current()
    table = current.table
    assert table is not None
    _try(lambda: current.edit(table.with_order(name, order)))


def _orders(current: Session, table: Table) -> None:
    """For each ordinal column its levels from lowest to highest, each to be moved one place lower."""
    for column in table.columns:
        if column.role != "ordinal" or column.name == table.target:
            continue
        levels = [str(level) for level in table.features()[column.name].cat.categories]
        with st.expander(
            f"Order of {style.plain(style.short(column.name))}: lowest {style.plain(style.short(levels[0]))}"
        ):
            for place, level in enumerate(levels):
                with st.container(horizontal=True, vertical_alignment="center"):
                    st.button(
                        ":material/arrow_upward:",
                        key=f"raise-{current.generation}-{column.name}-{level}",
                        help="Move one place towards the lowest",
                        disabled=place == 0,
                        on_click=_raise_level,
                        args=(column.name, levels, place),
                    )
                    st.markdown(f"{place + 1}\\. {style.plain(style.short(level))}")


# What was assumed --------------------------------------------------------------------------------------------------


def _reread(what: str, key: str) -> None:
    choice = st.session_state[key]
    current = session.current()

    def change() -> None:
        overrides = {name: value for name, value in current.overrides.items() if name != what}
        if choice != GUESS:
            overrides[what] = READ_AS[what][choice]
        current.reread(overrides)

    _try(change)


def _assumed(current: Session, table: Table) -> None:
    style.section("What was assumed")
    with st.container(gap="xsmall"):
        notes = table.label_notes  # they come last, and those of two labels may read the same
        for sentence in table.assumptions[: len(table.assumptions) - len(notes)]:
            st.markdown(style.plain(sentence))
        for label in notes:
            target_view.chosen(current, table, label, _try)
    if current.past:
        st.button("Undo the last change", icon=":material/undo:", on_click=current.undo)
    if current.sample is not None or current.source is None:
        return
    with st.popover("Read the file differently", key=f"read-{current.generation}"):
        for what, choices in READ_AS.items():
            key = f"{what}-{current.generation}"
            chosen = current.overrides.get(what)
            options = [GUESS, *choices]
            index = next((i + 1 for i, value in enumerate(choices.values()) if value == chosen), 0)
            st.selectbox(
                what.capitalize(), options, index=index, key=key, on_change=_reread, args=(what, key)
            )


def _split(current: Session, table: Table) -> str | None:
    """The controls of the split and one sentence about it; what is in the way of training, if anything."""
    left, right = st.columns(2)
    share = left.select_slider(
        "Kept aside for testing",
        options=[5, 10, 15, 20, 25, 30, 40, 50],
        value=round(100 * current.test_share),
        format_func=lambda percent: f"{percent}{style.NO_BREAK}%",
        key=f"share-{current.generation}",
    )
    seed = right.number_input("Seed", 0, 2**31 - 1, current.seed, key=f"seed-{current.generation}")
    current.test_share, current.seed = share / 100, int(seed)
    if table.target is None:
        return "Choose the column to predict first."
    try:
        st.caption(style.plain(splitting.plan_rows(table, current.test_share).text))
        if thin := splitting.thin_classes(table, current.test_share, current.seed):
            st.markdown(f"{SEVERITIES['warning']} {style.plain(thin)}")
    except TableError as error:
        st.markdown(f"{SEVERITIES['error']} {style.plain(str(error))}")
        return str(error)
    return next((problem.message for problem in table.problems if problem.severity == "error"), None)


def _side(current: Session, table: Table, target: Target | None) -> str | None:
    _assumed(current, table)
    target_view.show(current, table, target, _try)
    obstacle = _split(current, table)
    if target is not None:
        target.draw()
    return obstacle


def show() -> None:
    """Draw the page."""
    current = session.current()
    if message := st.session_state.get(ERROR):
        st.markdown(f"{SEVERITIES['error']} {style.plain(message)}")
    table = current.table
    if table is None:
        _empty(current)
        return
    target = target_view.read(table)
    head = st.container()
    left, right = st.container(key="stacked").columns([2, 1], gap="large")
    with right:
        obstacle = _side(current, table, target)
    with head:
        _head(current, table, target, obstacle)
        _problems(current, table)
    with left:
        _preview(table)
        _columns(current, table)
        _orders(current, table)
        your_runs.show(current)


show()
