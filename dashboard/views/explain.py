"""The Explain page: why one row gets its class, what it would take to change that, and where the rules are wrong."""

from __future__ import annotations

import streamlit as st

from dashboard import explain_view, session, style
from dashboard.explain_view.looking import Looking
from dashboard.explain_view.numbers import NumberPainter
from dashboard.explain_view.payload import ExplainPainter

MEMO = "tsetlin_explain_page"


def _nothing_yet() -> None:
    style.empty("Nothing to explain yet. Train a machine first.", "explain")
    label, target = ("Choose data", "data") if session.current().split is None else ("Train", "train")
    with st.container(horizontal=True, horizontal_alignment="center"):
        if st.button(label, type="primary"):
            st.switch_page(f"views/{target}.py")


def show() -> None:
    """Draw the page."""
    current = session.current()
    editing = current.rules()
    if current.job is None or editing is None:
        _nothing_yet()
        return
    job, rules = current.job, editing.rules()
    if editing.is_edited:
        st.caption("These are the rules as edited on the Rules page.")
    elif job.outcome is None:
        st.caption("Not settled: these are the clauses as they vote now.")
    kept = st.session_state.get(MEMO)
    if kept is None or kept[0] is not editing.draft:
        train, test = (job.X_train, job.y_train), (job.X_test, job.y_test)
        looking = Looking(rules, editing.learned.refitted, train, test)
        if kept is not None and kept[1].test[0] is job.X_test:
            looking.go(kept[1].place)
            looking.locked = kept[1].locked & set(looking.columns)
        painter = (NumberPainter if job.task == "numbers" else ExplainPainter)(looking)
        kept = (editing.draft, looking, painter)
        st.session_state[MEMO] = kept
    explain_view.show(kept[1], kept[2])


show()
