"""The Rules page: the settled rules as sentences and as a table, to sort, filter and take away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard import dial_view, edit_panel, rule_list, session, style, takeaway, value_view
from dashboard.rule_list import Asking
from dashboard.rule_list.listing import safe_file_name
from dashboard.rule_list.reading import Reading
from tmcore.rules import RuleSet

if TYPE_CHECKING:
    from dashboard.dialling import Dialling
    from dashboard.jobs import Job


def headline(reading: Reading) -> str:
    """The page's sentence: how many rules with how many literals get how many unseen rows right."""
    rules, accuracy = reading.rules, reading.accuracies[1]
    one = len(rules) == 1
    size = f"{style.count(len(rules), 'rule')} with {style.count(rules.n_literals, 'literal')}"
    if accuracy is None:
        return f"{size}, not measured on unseen rows"
    return f"{size} {'gets' if one else 'get'} {style.percent(accuracy)} of unseen rows right"


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
    before, rules = dial.outcome.before, reading.rules
    on_train, on_test = reading.accuracies
    cells = [
        (style.count(len(rules)), "rules", f"from {style.count(before.n_rules, 'clause')}"),
        (style.count(rules.n_literals), "literals", f"from {style.count(before.n_literals)}"),
    ]
    mark = dial.mark
    if mark is not None and mark.mean is not None and not rules.edited:
        error = f" ± {100 * mark.error:.0f}" if mark.error is not None and mark.error == mark.error else ""
        cells.append((style.percent(mark.mean), "retrained accuracy", f"{error} points".strip()))
    elif on_train is not None:
        was = f"{style.percent(before.scores.train_accuracy)} by votes before"
        cells.append((style.percent(on_train), "on training rows", was))
    if on_test is not None:
        was = (
            ""
            if before.scores.test_accuracy is None
            else f", {style.percent(before.scores.test_accuracy)} by votes before"
        )
        of = f"of {style.count(len(job.y_test), 'row')}{was}"
        cells.append((style.percent(on_test), "on unseen rows", of))
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
    style.sentence(headline(reading), _detail(reading, job))
    if current.dial is None:
        _not_settled(job)
    else:
        _dial(current.dial, reading, job)
    _list(reading, kept.asking, job)
    edit_panel.show(editing, job.X_train, job.y_train)
    value_view.show(reading.rules, job.X_train, job.y_train, editing.learned.refitted)
    scored = current.dial is not None and current.dial.is_scored and not editing.is_edited
    retrained = current.dial.mark if current.dial is not None and scored else None
    takeaway.show(reading.rules, job, editing.learned.model, reading.accuracies[1], retrained)


def _detail(reading: Reading, job: Job) -> str:
    parts = [f"{style.short(job.name)}: {_class_list(reading.rules)}"]
    if reading.rules.edited:
        parts.append("edited by hand")
    if job.outcome is not None:
        before = job.outcome.before
        parts.append(
            f"refit from {job.parameters.n_clauses:,} clauses, which held {style.count(before.n_literals, 'literal')}"
        )
    parts.append(
        f"{style.count(len(job.y_train), 'training row')}, {style.count(len(job.y_test), 'test row')}"
    )
    if len(job.y_test):
        parts.append(f"always “{_commonest(job)}” would get {style.percent(_baseline(job))}")
    return " · ".join(parts)


def _commonest(job: Job) -> str:
    return style.short(job.y_train.value_counts().idxmax())


def _baseline(job: Job) -> float:
    return float((job.y_test == job.y_train.value_counts().idxmax()).mean())


show()
