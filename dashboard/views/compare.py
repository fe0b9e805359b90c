"""The Compare page: how sure the scores are, where to decide, and what other models, runs and seeds would say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard import session, style
from dashboard.compare_view import judging, models, other_run, seeds, threshold
from dashboard.compare_view.state import comparing
from dashboard.compare_view.words import SECTIONS
from dashboard.live.estimate import measure
from dashboard.session import Session
from tmcore.estimators import TsetlinClassifier

if TYPE_CHECKING:
    from dashboard.compare_view.state import Comparing
    from dashboard.goals import Model
    from dashboard.jobs import Job


def _nothing_yet(current: Session) -> None:
    style.empty("Nothing to compare yet. Train a machine, then settle it.", "compare")
    label, target = ("Choose data", "data") if current.split is None else ("Train", "train")
    with st.container(horizontal=True, horizontal_alignment="center"):
        if st.button(label, type="primary"):
            st.switch_page(f"views/{target}.py")


@st.fragment(run_every=1.0)
def _wait(job: Job) -> None:
    st.caption("Settling: choosing the rules that matter and fitting their weights.")
    if not job.busy:
        st.rerun()


def _not_settled(job: Job) -> None:
    style.sentence("This run is not settled, so there are no rules to compare yet")
    if job.state == "settling":
        _wait(job)
    elif st.button("Settle now", type="primary"):
        job.settle()
        job.wait_for_commands(1.0)
        st.rerun()


def machine_seconds(job: Job) -> float:
    """About how long training and settling a machine with a run's settings takes; the pace is measured now."""
    assert job.run is not None
    assert job.outcome is not None
    rows = job.parameters.epochs * job.run.n_rows
    return rows / measure(job.run, job.parameters).rows_per_second + job.outcome.seconds


def _columns(current: Session) -> pd.DataFrame:
    """Every column that may divide the rows, also those not learned from."""
    split, table = current.split, current.trained_table
    assert split is not None
    learned = pd.concat([split.X_train, split.X_test])
    if table is None:
        return learned
    return table.frame.loc[learned.index].drop(columns=table.target)


def _section(current: Session, job: Job, held: Comparing, model: Model) -> None:
    """The section that is chosen."""
    section = st.segmented_control(
        "What to compare",
        held.words.sections,
        default=held.choices.get("section", "sure"),
        required=True,
        format_func=SECTIONS.__getitem__,
        label_visibility="collapsed",
        key="compare_section",
    )
    held.choices["section"], parameters = section, job.parameters
    if section in ("sure", "models") and not len(job.y_test):
        st.caption("No rows were kept aside, so there is nothing to score on. Keep some on the Data page.")
    elif section == "sure":
        judging.show(held, model, parameters, _columns(current))
    elif section == "threshold":
        assert isinstance(model, TsetlinClassifier)  # only two classes have the section
        threshold.show(held, model, parameters)
    elif section == "models":
        models.show(held, parameters)
    elif section == "run":
        other_run.show(held, job, model)
    else:
        seeds.show(held, model, parameters)


def show() -> None:
    """Draw the page."""
    current = session.current()
    job, held = current.job, comparing(current)
    if job is None or held is None or (job.latest is None or not job.latest.step):
        _nothing_yet(current)
        return
    if job.outcome is None:
        _not_settled(job)
        return
    editing, dial = current.rules(), current.dial
    assert editing is not None
    assert dial is not None
    model = dial.model
    held.use(model)
    held.machine_seconds = held.machine_seconds or machine_seconds(job)
    edited = " · as learned, without the edits made by hand" if editing.is_edited else ""
    if dial.chosen is not None:
        edited += " · the rules at the dial's point on the Rules page; machines trained here settle their own"
    below = (
        f"{style.short(job.name)} · {style.count(len(job.y_train), 'training row')} · 95 % interval{edited}"
    )
    style.sentence(held.words.headline(model, style.count(len(model.rules_), "rule")), below)
    _section(current, job, held, model)


show()
