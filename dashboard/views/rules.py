"""The Rules page: the settled rules as sentences and as a table, to sort, filter and take away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard import dial_view, edit_panel, rule_list, session, style, takeaway, value_view
from dashboard.goals import Goal
from dashboard.rule_list import Asking
from dashboard.rule_list.listing import safe_file_name
from dashboard.rule_list.reading import Reading

if TYPE_CHECKING:
    from dashboard.dialling import Dialling
    from dashboard.jobs import Job


def headline(reading: Reading, goal: Goal) -> str:
    """The page's sentence: how many rules with how many literals, and how good they are on unseen rows."""
    rules = reading.rules
    size = f"{style.count(len(rules), 'rule')} with {style.count(rules.n_literals, 'literal')}"
    result = goal.result(reading.scores, one=len(rules) == 1)
    return f"{size} {result}" if result else f"{size}, not measured on unseen rows"


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


def _dial(dial: Dialling, reading: Reading, job: Job) -> None:
    """The dial left; right four numbers, each with what it was before settling, and the named points."""
    with st.container(key="dial"):
        left, right = st.columns([2, 1], gap="large")
        with left:
            dial_view.chart(dial, job)
        with right:
            _numbers(dial, reading, job)
            dial_view.choices(dial)


def _numbers(dial: Dialling, reading: Reading, job: Job) -> None:
    before, rules, goal = dial.outcome.before, reading.rules, job.goal
    cells = [
        (style.count(len(rules)), "rules", f"from {style.count(before.n_rules, 'clause')}"),
        (style.count(rules.n_literals), "literals", f"from {style.count(before.n_literals)}"),
    ]
    mark = None if rules.edited else dial.mark
    if mark is not None and mark.mean is not None:
        cells.append(goal.retrained(mark.mean, mark.error))
    else:
        cells.append(goal.on_training(reading.scores, before.scores))
    cells += goal.on_unseen(reading.scores, before.scores, len(job.y_test))
    with st.container(key="figures"):
        for pair in (cells[:2], cells[2:]):
            for column, (value, label, below) in zip(st.columns(2), pair, strict=False):
                column.markdown(
                    f"## {style.plain(value)}\n{style.plain(label)}  \n:small[:gray[{style.plain(below)}]]"
                )


@st.fragment
def _list(reading: Reading, asking: Asking, job: Job) -> None:
    """The rules, and the rows of one of them; choosing a rule redraws this part only."""
    target = str(job.y_train.name) if job.y_train.name is not None else "class"
    rule_list.show(reading, asking, target, safe_file_name(job.name, "rows.csv"))


def show() -> None:
    """Draw the page."""
    current = session.current()
    job, editing = current.job, current.rules()
    if job is None or editing is None:
        _nothing_yet()
        return
    kept = rule_list.kept(job, editing.learned.rules)
    reading = kept.reading(editing)
    style.sentence(headline(reading, job.goal), _detail(reading, job))
    if current.dial is None:
        _not_settled(job)
    else:
        _dial(current.dial, reading, job)
    _list(reading, kept.asking, job)
    edit_panel.show(editing, job.X_train, job.y_train)
    value_view.show(reading.rules, job.X_train, job.y_train, editing.learned.refitted)
    scored = current.dial is not None and current.dial.is_scored and not editing.is_edited
    retrained = current.dial.mark if current.dial is not None and scored else None
    takeaway.show(reading.rules, job, editing.learned.model, reading.scores, retrained)


def _detail(reading: Reading, job: Job) -> str:
    parts = [f"{style.short(job.name)}: {job.goal.what}"]
    if reading.rules.edited:
        parts.append("edited by hand")
    if job.outcome is not None:
        before, how = (
            job.outcome.before,
            "settled" if reading.editing.learned.refitted else "weights of training",
        )
        held = (
            f"{style.count(before.n_rules, 'clause')}, which held {style.count(before.n_literals, 'literal')}"
        )
        parts.append(f"{how}, from {held}")
    parts.append(
        f"{style.count(len(job.y_train), 'training row')}, {style.count(len(job.y_test), 'test row')}"
    )
    if len(job.y_test):
        parts.append(job.goal.baseline(job.y_test))
    return " · ".join(parts)


show()
