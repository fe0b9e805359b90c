"""The live training view: one Streamlit component that draws what a job learns, as it learns.

Two components share the work, since a component's script travels with every frame. The code component brings the
script, the style and the facts of a run (columns, cuts, class distributions) once. The frame component sits in a
fragment and gets one small frame a time: the browser asks for the next one, with the commands given since, when it has
drawn the last. (With a timer instead, a busy server starts a fragment's next run before the last one's output has left;
Streamlit then drops that output and the page loses the component for a moment.)
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard import style
from dashboard.asked import asked
from dashboard.jobs import Job
from dashboard.live.film import branch_changes, parameters_at
from dashboard.live.memory import Memory

__all__ = ["KEY", "RULES_PAGE", "STORE", "branch_changes", "parameters_at", "show"]

SCRIPTS = (
    "live/base",
    "live/marks",
    "live/model",
    "live/stage",
    "live/geometry",
    "live/matrix",
    "live/byfeature",
    "live/trace",
    "live/charts",
    "live/film",
    "live/flags",
    "live/map",
    "live/automata",
    "live/standing",
    "live/fit",
    "live/answers",
    "live/text",
    "why/parts",
    "why/why",
    "why/sum",
    "live/page",
    "live/controls",
    "live/keys",
    "live/live",
)
"""The code component's script in the order of its parts; together they are one module."""

NEWS_SECONDS = 0.1
"""How long an answer waits for a snapshot that the browser has not seen."""

KEY = "tsetlin_live"
STORE = "tsetlin_live_memory"
RULES_PAGE = "views/rules.py"

_style = style.component_css("live/live.css") + style.text_of("why/why.css")
_code = st.components.v2.component(
    "tsetlin_live_code", js="\n".join(style.text_of(f"{name}.js") for name in SCRIPTS)
)
_frame = st.components.v2.component("tsetlin_live_frame", js=style.text_of("live/frame.js"))


def _memory(job: Job) -> Memory:
    kept = st.session_state.get(STORE)
    if isinstance(kept, Memory) and kept.job is job:
        return kept
    made = Memory(job)
    if isinstance(kept, Memory):
        # A branch, or a new run on the same rows, is looked at as the run before was.
        made.view, made.facts = kept.view, kept.facts
        kept.close()
    st.session_state[STORE] = made
    return made


def show(job: Job, branch: Callable[[int], None]) -> None:
    """Draw the live view of a job; call it once in a page's script.

    ``branch`` starts a new run that shares the job's past up to the step it is given.
    """
    memory = _memory(job)
    memory.refresh()
    memory.page = _page_mark(memory)
    st.fragment(_answer)(branch)
    _code(key=f"{KEY}_code", data={"style": _style, "facts": memory.facts})


def _page_mark(memory: Memory) -> tuple[object, ...]:
    """What the rest of the page shows of the run; when it changes, the page is drawn again."""
    job = memory.job
    learned = job.latest is not None and job.latest.step > 0
    key = memory.facts["key"] if memory.facts else ""
    return key, id(job.outcome), learned, job.state in ("settling", "failed")


def _answer(branch: Callable[[int], None]) -> None:
    """The fragment: one frame."""
    memory: Memory = st.session_state[STORE]
    if memory.leave:
        memory.leave = False
        st.switch_page(RULES_PAGE)
    if memory.branch is not None:
        step, memory.branch = memory.branch, None
        branch(step)
        st.rerun()
    memory.wait(NEWS_SECONDS)
    _frame(key=KEY, data=memory.frame(), on_ask_change=_asked)
    if _page_mark(memory) != memory.page:
        st.rerun()


def _asked() -> None:
    memory: Memory = st.session_state[STORE]
    memory.take(asked(KEY, "ask"))
