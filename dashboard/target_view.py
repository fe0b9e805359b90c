"""The column to predict on the Data page: which one, as a class or as a number, and how its values are spread."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

from dashboard import charts, style
from dashboard.goals import NumberGoal
from dashboard.session import Session
from tmcore.conditions import visible
from tmcore.label_choices import LabelChoices, doubts
from tmcore.labels import class_order
from tmcore.predicted import TaskName
from tmcore.table import Table

Try = Callable[[Callable[[], None]], None]
"""Makes a change, or keeps one sentence why it cannot be made."""

MIN_CLASSES = 2
MOST_OFFERED = 8
AS = {"classes": "a class", "numbers": "a number"}


def class_counts(table: Table) -> pd.Series:
    """Rows per class of the target, in the order of the classes: of two, the one to predict is the second."""
    counts = table.labels().value_counts()
    counts = counts[counts > 0].sort_index()
    return counts.reindex(class_order(counts.index.to_numpy(), table.positive_class))


class ClassTarget:
    """The target is one of some classes."""

    def __init__(self, table: Table) -> None:
        self.table, self.counts = table, class_counts(table)

    def said(self) -> str:
        """The end of the page's sentence: "2 classes: 56 % no disease"; empty without any row."""
        if self.counts.empty:
            return ""
        share = float(self.counts.max() / self.counts.sum())
        largest = style.short(self.counts.idxmax())
        if pd.api.types.is_numeric_dtype(self.counts.index):
            largest = f"with {style.short(self.table.target)} {largest}"
        return f"{style.count(len(self.counts), 'class', 'classes')}: {style.percent(share)} {largest}"

    def choose(self, current: Session, attempt: Try) -> None:
        """Of two classes the one to predict."""
        if self.table.positive_class is None:
            return
        labels = sorted(self.counts.index.tolist())
        key = f"class-{current.generation}-{current.edits}"
        st.selectbox(
            "Class to predict",
            labels,
            index=labels.index(self.table.positive_class),
            format_func=visible,
            key=key,
            on_change=lambda: attempt(
                lambda: current.edit(self.table.with_positive_class(st.session_state[key]))
            ),
            help="What you want to find, such as the disease: rules, F1, the threshold and the costs of errors are "
            "about this class.",
        )

    def draw(self) -> None:
        """Rows of each class."""
        if self.counts.empty:
            return
        style.section(charts.balance_finding(self.counts), "Rows of each class.")
        st.plotly_chart(charts.class_balance(self.counts), config={"displayModeBar": False}, key="balance")


class NumberTarget:
    """The target is a number."""

    def __init__(self, table: Table) -> None:
        self.table, self.numbers = table, table.labels()
        self.goal = NumberGoal(self.numbers)

    def said(self) -> str:
        """The end of the page's sentence: "progression from 25 to 346"; empty without any row."""
        if self.numbers.empty:
            return ""
        low, high = (style.figure(end) for end in (self.numbers.min(), self.numbers.max()))
        unit = f"{style.NO_BREAK}{style.short(self.goal.unit)}" if self.goal.unit else ""
        return f"{style.short(self.goal.label)} from {low} to {high}{unit}"

    def choose(self, current: Session, attempt: Try) -> None:
        """There is nothing more to choose of a number."""

    def draw(self) -> None:
        """How often each size comes up, and the simplest answer."""
        if self.numbers.empty:
            return
        miss = float((self.numbers - self.goal.mean).abs().mean())
        style.section(
            f"Always answering the mean of all rows, {self.goal.amount(self.goal.mean)}, misses by "
            f"{self.goal.amount(miss)}",
            "Rows by their number; the line is the mean of all of them, training and test rows. Rules are to miss by "
            "less.",
        )
        unit = style.short(self.goal.unit) if self.goal.unit else None
        drawn = charts.spread(self.numbers, self.goal.mean, unit)
        st.plotly_chart(drawn, config={"displayModeBar": False}, key="spread")


Target = ClassTarget | NumberTarget


def read(table: Table) -> Target | None:
    """The table's target, None where none is chosen."""
    if table.target is None:
        return None
    return NumberTarget(table) if table.task == "numbers" else ClassTarget(table)


def show(current: Session, table: Table, target: Target | None, attempt: Try) -> None:
    """The fields: the column, what it is predicted as where both make sense, and the class of two."""
    n_fields = 1 + (len(table.possible_tasks) > 1) + (table.positive_class is not None)
    fields = iter(st.columns(n_fields) if n_fields < 3 else [*st.columns(2), st.container()])
    with next(fields):
        _column(current, table, attempt)
    if len(table.possible_tasks) > 1:
        with next(fields):
            _task(current, table, attempt)
    if target is not None:
        with next(fields, st.container()):
            target.choose(current, attempt)


def offers(current: Session, table: Table, labels: tuple[str, ...], attempt: Try) -> None:
    """Buttons for labels of a problem: read one as another that it looks like, or leave out those with too few rows.

    Nothing is offered that would leave one class.
    """
    counts = table.answers.value_counts()
    n_classes = int((counts > 0).sum())
    found = [doubt for doubt in doubts(counts) if doubt.label in labels]
    alike = [doubt for doubt in found if doubt.alike is not None and n_classes > MIN_CLASSES]
    with st.container(horizontal=True, gap="small"):
        for doubt in alike[:MOST_OFFERED]:
            if doubt.alike is not None:
                words = f"Read '{style.short(doubt.label)}' as '{style.short(doubt.alike)}'"
                _offer(words, f"read-{doubt.label}", current, table, {doubt.label: doubt.alike}, attempt)
        too_few: dict[str, str | None] = {doubt.label: None for doubt in found if doubt.too_few}
        if too_few and n_classes - len(too_few) >= MIN_CLASSES:
            n_rows = sum(doubt.n_rows for doubt in found if doubt.too_few)
            _offer(f"Leave out {style.count(n_rows, 'row')}", "leave-out", current, table, too_few, attempt)


def _offer(
    words: str, what: str, current: Session, table: Table, choices: LabelChoices, attempt: Try
) -> None:
    """A button; `what` tells it from others whose words, being shortened, may be the same."""
    st.button(
        style.plain(words),
        key=f"label-{current.generation}-{current.edits}-{what}",
        on_click=lambda: attempt(lambda: _read_labels(current, table, choices)),
    )


def _read_labels(current: Session, table: Table, choices: LabelChoices) -> None:
    for label, read_as in choices.items():
        table = table.with_label(label, read_as)
    current.edit(table)


def chosen(current: Session, table: Table, label: str, attempt: Try) -> None:
    """A choice about a label as a sentence, and the way back."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(style.plain(table.label_notes[label]), width="stretch")
        st.button(
            "Undo",
            type="tertiary",
            key=f"as-it-is-{current.generation}-{current.edits}-{label}",
            on_click=lambda: attempt(lambda: _read_labels(current, table, {label: label})),
        )


def _column(current: Session, table: Table, attempt: Try) -> None:
    names = [column.name for column in table.columns]
    key = f"target-{current.generation}-{current.edits}"
    st.selectbox(
        "Column to predict",
        names,
        index=names.index(table.target) if table.target else None,
        format_func=visible,
        key=key,
        on_change=lambda: attempt(lambda: current.edit(table.with_target(st.session_state[key]))),
        placeholder="Choose a column",
    )


def _task(current: Session, table: Table, attempt: Try) -> None:
    """A few different numbers may be classes, such as codes, or sizes."""
    key = f"task-{current.generation}-{current.edits}"
    tasks: list[TaskName] = list(table.possible_tasks)
    st.selectbox(
        "Predict it as",
        tasks,
        index=tasks.index(table.task) if table.task in tasks else None,
        format_func=AS.__getitem__,
        key=key,
        on_change=lambda: attempt(lambda: current.edit(table.with_task(st.session_state[key]))),
        help="A class where its values are kinds or codes; a number where they are sizes, so that a near miss counts "
        "less than a far one.",
    )
