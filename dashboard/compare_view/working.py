"""The small part of a page that shows a task: its button, its progress with a stop, and what went wrong."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard import style
from dashboard.background import Task, Work
from dashboard.compare_view.state import Comparing


def offer(
    held: Comparing,
    key: str,
    label: str,
    doing: str,
    work: Work,
    about: str = "",
    more: Callable[[], None] | None = None,
) -> Task | None:
    """A button that starts a task, or its progress while it works; the task once it has a result.

    ``about`` is said beside the button and while it works, and ``more`` draws what else belongs there. The button stays
    when there is a result, to do it again.
    """
    task = held.tasks.get(key)
    if task is not None and task.busy:
        _watch(task, key)
        if about:
            st.caption(style.plain(about))
        return task if task.result is not None else None
    with st.container(horizontal=True, vertical_alignment="center"):
        first = task is None or task.result is None
        if st.button(label, type="primary" if first else "secondary", key=f"{key}_start"):
            held.tasks[key] = Task(doing, work)
            st.rerun()
        if about:
            st.caption(style.plain(about))
        if more is not None:
            more()
    if task is not None and task.error is not None:
        st.markdown(f":red[:material/error:] {style.plain(task.error)}")
    elif task is not None and task.result is None:
        st.caption("Stopped. Nothing was worked out.")
    return task if task is not None and task.result is not None else None


@st.fragment(run_every=0.5)
def _watch(task: Task, key: str) -> None:
    if not task.busy:
        st.rerun()
    done, planned = task.progress
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Stop", key=f"{key}_stop", disabled=task.stopped):
            task.stop()
        words = f"{task.name}: {done} of {planned}" if planned else task.name
        if task.waiting:
            words = f"{task.name}: starts when others are done"
        elif task.stopped:
            words = f"{task.name}: stopping"
        elif (left := task.seconds_left) is not None:
            words += f", about {max(1, round(left))} s left"
        st.progress(
            done / planned if planned else 0.0, style.plain(f"{words}. You can leave this page meanwhile.")
        )
