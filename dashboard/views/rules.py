"""The Rules page: the settled rules as sentences and as a table, to sort, filter and take away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard import dial_view, edit_panel, session, style, takeaway, value_view
from dashboard.rule_list import rule_list
from dashboard.rule_list.listing import SORTS, Listed, choose, list_rules, to_table
from dashboard.rule_list.payload import Painter
from tmcore.conditions import visible
from tmcore.rules import RuleSet

if TYPE_CHECKING:
    from dashboard.dialling import Dialling
    from dashboard.editing import Editing
    from dashboard.jobs import Job

MEMO = "tsetlin_rules_page"
SHOWN_AT_FIRST = 60
EVERY_CLASS = -1


@dataclass(frozen=True)
class Shown:
    """What the page works on, computed once per draft of the rules (``of``)."""

    of: object
    rules: RuleSet
    listed: tuple[Listed, ...]
    table: pd.DataFrame
    painter: Painter
    test_accuracy: float | None


def _shown(job: Job, editing: Editing) -> Shown:
    """The rules in use, counted on all rows."""
    of = editing.draft
    kept = st.session_state.get(MEMO)
    if isinstance(kept, Shown) and kept.of is of:
        return kept
    rules = editing.rules()
    if editing.is_edited or job.outcome is not None:
        accuracy = (
            float((rules.predict(job.X_test) == job.y_test.to_numpy()).mean()) if len(job.y_test) else None
        )
    else:
        scores = job.latest.scores if job.latest else None
        accuracy = scores.test_accuracy if scores else None
    listed = list_rules(rules, (job.X_train, job.y_train), (job.X_test, job.y_test))
    shown = Shown(
        of, rules, listed, to_table(listed, rules), Painter(rules, job.X_train, job.y_train), accuracy
    )
    st.session_state[MEMO] = shown
    return shown


def headline(shown: Shown) -> str:
    """The page's sentence: how many rules with how many literals get how many unseen rows right."""
    n_literals = sum(listed.rule.n_literals for listed in shown.listed)
    one = len(shown.listed) == 1
    size = f"{style.count(len(shown.listed), 'rule')} with {style.count(n_literals, 'literal')}"
    if shown.test_accuracy is None:
        return f"{size}, not measured on unseen rows"
    return f"{size} {'gets' if one else 'get'} {style.percent(shown.test_accuracy)} of unseen rows right"


def _class_list(rules: RuleSet) -> str:
    names = [style.short(name) for name in rules.class_names]
    if len(names) > 4:
        return f"{len(names)} classes"
    return ", ".join(names[:-1]) + " or " + names[-1] if len(names) > 1 else names[0]


def _nothing_yet() -> None:
    style.empty("No rules yet. Train a machine, then settle it.", "rules")
    current = session.current()
    label, target = ("Choose data", "data") if current.split is None else ("Train", "train")
    with st.container(horizontal=True, horizontal_alignment="center"):
        if st.button(label, type="primary"):
            st.switch_page(f"views/{target}.py")


@st.fragment(run_every=1.0)
def _wait_for_settling(job: Job) -> None:
    st.caption("Settling: choosing the rules that matter and fitting their weights.")
    if job.state != "settling" and not job.busy:
        st.rerun()


def _not_settled(job: Job) -> None:
    with st.container(border=True):
        if job.state == "settling":
            _wait_for_settling(job)
            return
        words, button = st.columns([4, 1], vertical_alignment="center")
        words.markdown(
            "Not settled: these are the clauses as they vote now. Settling keeps the rules that matter and fits "
            "their weights."
        )
        if button.button("Settle now", type="primary", width="stretch"):
            job.settle()
            job.wait_for_commands(1.0)
            st.rerun()


def _dial(dial: Dialling, shown: Shown, job: Job) -> None:
    """The dial left; right four numbers, each with what it was before settling, and the named points."""
    with st.container(key="dial"):
        left, right = st.columns([2, 1], gap="large")
        with left:
            dial_view.chart(dial, job)
        with right:
            _numbers(dial, shown, job)
            dial_view.choices(dial)


def _numbers(dial: Dialling, shown: Shown, job: Job) -> None:
    before, n_literals = dial.outcome.before, sum(listed.rule.n_literals for listed in shown.listed)
    cells = [
        (style.count(len(shown.listed)), "rules", f"from {style.count(before.n_rules, 'clause')}"),
        (style.count(n_literals), "literals", f"from {style.count(before.n_literals)}"),
    ]
    mark = dial.mark
    if mark is not None and mark.mean is not None and not shown.rules.edited:
        error = f" ± {100 * mark.error:.0f}" if mark.error is not None and mark.error == mark.error else ""
        cells.append((style.percent(mark.mean), "retrained accuracy", f"{error} points".strip()))
    else:
        right = float((shown.rules.predict(job.X_train) == job.y_train.to_numpy()).mean())
        was = f"{style.percent(before.train_accuracy)} by votes before"
        cells.append((style.percent(right), "on training rows", was))
    if shown.test_accuracy is not None:
        was = (
            "" if before.test_accuracy is None else f", {style.percent(before.test_accuracy)} by votes before"
        )
        of = f"of {style.count(len(job.y_test), 'row')}{was}"
        cells.append((style.percent(shown.test_accuracy), "on unseen rows", of))
    with st.container(key="figures"):
        for pair in (cells[:2], cells[2:]):
            for column, (value, label, below) in zip(st.columns(2), pair, strict=False):
                column.markdown(
                    f"## {style.plain(value)}\n{style.plain(label)}  \n:small[:gray[{style.plain(below)}]]"
                )


def _controls(shown: Shown) -> list[Listed]:
    """The title of the list with its three controls; the rules they leave."""
    names = shown.rules.class_names
    columns = sorted({c.column for one in shown.listed for c in one.rule.conditions}, key=str.casefold)
    title, controls = st.container(key="rules_bar").columns([1, 2], vertical_alignment="center")
    with controls, st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
        place = st.selectbox(
            "Feature",
            range(-1, len(columns)),
            format_func=lambda place: "Any feature" if place < 0 else visible(columns[place]),
            label_visibility="collapsed",
            width=190,
            key="rules_column",
        )
        labels = {EVERY_CLASS: "All"} | {
            i: f"{style.mark(i)} {style.short(name)}" for i, name in enumerate(names)
        }
        if len(names) <= 4:
            index = st.segmented_control(
                "Class",
                list(labels),
                default=EVERY_CLASS,
                required=True,
                format_func=lambda i: style.plain(labels[i]),
                label_visibility="collapsed",
                key="rules_class",
            )
        else:
            index = st.selectbox(
                "Class",
                list(labels),
                format_func=lambda i: labels[i],
                label_visibility="collapsed",
                width=190,
            )
        sort = st.selectbox("Sort", list(SORTS), label_visibility="collapsed", width=190, key="rules_sort")
    chosen = choose(
        shown.listed, None if index == EVERY_CLASS else index, None if place < 0 else columns[place], sort
    )
    with title:
        total = len(shown.listed)
        style.section(
            f"All {style.count(total, 'rule')}"
            if len(chosen) == total
            else f"{len(chosen)} of {total:,} rules"
        )
    return chosen


@st.fragment
def _list(shown: Shown) -> None:
    """The rules as sentences and as a table; sorting and filtering redraw this part only."""
    chosen = _controls(shown)
    _sentences(shown, chosen)
    _table(shown, chosen)


def _sentences(shown: Shown, chosen: list[Listed]) -> None:
    several = len(chosen) > SHOWN_AT_FIRST
    every = several and st.toggle(
        f"Show all {len(chosen):,} rules, not only the first {SHOWN_AT_FIRST}", key="rules_every"
    )
    drawn = chosen if every else chosen[:SHOWN_AT_FIRST]
    rule_list(shown.painter.build(drawn, with_start=True), key="rules_list")
    if not chosen:
        st.caption("No rule speaks for this class with this feature.")


def _table(shown: Shown, chosen: list[Listed]) -> None:
    style.section(
        "The same rules as a table",
        "Click a heading to sort. Precision is the share of covered rows a rule is right about.",
    )
    share = st.column_config.NumberColumn(format=f"%.0f{style.NO_BREAK}%%")
    st.dataframe(
        shown.table.loc[[listed.number for listed in chosen]],
        column_config={
            "weight": st.column_config.NumberColumn(format="%+.3f"),
            "rule": st.column_config.TextColumn(width="large"),
            "precision, training": share,
            "precision, test": share,
            "lift, training": st.column_config.NumberColumn(format="%.1f"),
        },
        height="content" if len(chosen) <= 11 else 420,
    )


def show() -> None:
    """Draw the page."""
    current = session.current()
    job, editing = current.job, current.rules()
    if job is None or editing is None:
        _nothing_yet()
        return
    shown = _shown(job, editing)
    style.sentence(headline(shown), _detail(shown, job))
    if current.dial is None:
        _not_settled(job)
    else:
        _dial(current.dial, shown, job)
    _list(shown)
    edit_panel.show(editing, job.X_train, job.y_train)
    value_view.show(shown.rules, job.X_train, job.y_train, editing.learned.refitted)
    scored = current.dial is not None and current.dial.is_scored and not editing.is_edited
    retrained = current.dial.mark if current.dial is not None and scored else None
    takeaway.show(shown.rules, job, editing.learned.model, shown.test_accuracy, retrained)


def _detail(shown: Shown, job: Job) -> str:
    parts = [f"{style.short(job.name)}: {_class_list(shown.rules)}"]
    if shown.rules.edited:
        parts.append("edited by hand")
    if job.outcome is not None:
        before = job.outcome.before
        parts.append(
            f"refit from {job.parameters.n_clauses:,} clauses, which held {style.count(before.n_literals, 'literal')}"
        )
    parts.append(
        f"{style.count(len(job.y_train), 'training row')}, {style.count(len(job.y_test), 'test row')}"
    )
    if shown.test_accuracy is not None and len(job.y_test):
        parts.append(f"always “{_commonest(job)}” would get {style.percent(_baseline(job))}")
    return " · ".join(parts)


def _commonest(job: Job) -> str:
    return style.short(job.y_train.value_counts().idxmax())


def _baseline(job: Job) -> float:
    return float((job.y_test == job.y_train.value_counts().idxmax()).mean())


show()
