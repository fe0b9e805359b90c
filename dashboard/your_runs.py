"""The list "Your runs": what is kept on this machine for the owner of the page, to go on with or to delete."""

from __future__ import annotations

import time
from contextlib import suppress

import streamlit as st

from dashboard import keeping, store, style
from dashboard.session import Session
from dashboard.store import KeptRun
from tmcore.units import split_unit

SHOWN = 20
ELSEWHERE = (
    "Looking for runs made earlier? This machine keeps runs that this address does not open. A run is found at the "
    "address of the page it was made at, the one with “?key=…” in it: open that from your bookmarks or the browser's "
    "history."
)


def _ago(seconds: float) -> str:
    for length, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= length:
            return f"{style.count(int(seconds // length), unit)} ago"
    return "just now"


def about(run: KeptRun) -> str:
    """One line: how far, how good, how large, with which settings, when."""
    p = run.parameters
    words = [f"epoch {run.epoch:.1f}"]
    if run.test_accuracy is not None:
        words.append(f"{style.percent(run.test_accuracy)} of unseen rows right")
    if run.test_mae is not None:
        unit = split_unit(run.target or "")[1]
        words.append(f"misses unseen rows by {style.amount(run.test_mae, style.short(unit) if unit else '')}")
        words[-1] += "" if run.test_r2 is None else f", R² {style.share(run.test_r2)}"
    if run.n_literals is not None:
        of = "by votes" if run.n_rules is None else f"in {style.count(run.n_rules, 'settled rule')}"
        words.append(f"{style.count(run.n_literals, 'literal')} {of}")
    if p is not None:
        words += [f"{style.count(p.n_clauses, 'clause')}, T {p.vote_target:g}, s {p.s:g}, {p.representation}"]
    return " · ".join([*words, _ago(time.time() - run.changed)])


def _go_on(current: Session, run_id: str) -> None:
    try:
        keeping.open_run(current, run_id)
    except ValueError as error:
        current.notices.append(str(error))
        st.rerun()
    st.switch_page("views/train.py")


def _line(current: Session, kept: store.Store, run: KeptRun) -> None:
    keeper = current.job.keeper if current.job is not None else None
    is_open = keeper is not None and keeper.run_id == run.id
    words, go_on, delete = st.columns([6, 1, 1], vertical_alignment="center")
    words.markdown(f"**{style.plain(style.short(run.name))}**  \n:small[:gray[{style.plain(about(run))}]]")
    if is_open:
        if go_on.button("Show", key=f"show-{run.id}", width="stretch"):
            st.switch_page("views/train.py")
    elif go_on.button("Go on", key=f"open-{run.id}", width="stretch"):
        _go_on(current, run.id)
    delete.button(
        "Delete", key=f"delete-{run.id}", width="stretch", on_click=kept.delete, args=(current.owner, run.id)
    )


def show(current: Session) -> None:
    """Draw the list; nothing where no run is kept."""
    kept, runs = _kept(current)
    if kept is not None and runs:
        _list(current, kept, runs)


def elsewhere(current: Session) -> None:
    """Say where runs of other addresses are found, where the server keeps any; nothing is said about them."""
    kept = store.current()
    with suppress(ValueError):  # which `show` says
        if kept is not None and kept.keeps_others(current.owner):
            st.caption(style.plain(ELSEWHERE))


def _kept(current: Session) -> tuple[store.Store | None, list[KeptRun]]:
    """The store and the owner's runs; no store where it is damaged, which the page then says."""
    kept = store.current()
    try:
        return kept, kept.runs(current.owner) if kept is not None and current.owner else []
    except ValueError as error:
        st.caption(style.plain(str(error)))
        return None, []


def _list(current: Session, kept: store.Store, runs: list[KeptRun]) -> None:
    style.section(
        "Your runs",
        "Kept on this machine with their tables, so that they can go on later. Whoever has this page's address can "
        "open them; deleting a run deletes its table.",
    )
    for run in runs[:SHOWN]:
        _line(current, kept, run)
    if len(runs) > SHOWN:
        st.caption(f"And {len(runs) - SHOWN:,} older ones.")
    if len(runs) > 1:
        st.button("Delete all", on_click=kept.delete, args=(current.owner,))
