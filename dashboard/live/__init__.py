"""The live training view: one Streamlit component that draws what a job learns, as it learns.

Two components share the work, since a component's script travels with every frame. The code component brings the
script, the style and the facts of a run (columns, cuts, class distributions) once. The frame component sits in a
fragment and gets one small frame a time: the browser asks for the next one, with the commands given since, when it has
drawn the last. (With a timer instead, a busy server starts a fragment's next run before the last one's output has left;
Streamlit then drops that output and the page loses the component for a moment.)
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from dashboard import style
from dashboard.jobs import SPEEDS, Job
from dashboard.live.payload import View, facts, frame
from tmcore.training import TrainingRun

SCRIPTS = (
    "base",
    "marks",
    "model",
    "geometry",
    "matrix",
    "trace",
    "charts",
    "text",
    "page",
    "controls",
    "live",
)
"""The code component's script in the order of its parts; together they are one module."""

NEWS_SECONDS = 0.1
"""How long an answer waits for a snapshot that the browser has not seen."""

KEY = "tsetlin_live"
STORE = "tsetlin_live_memory"
RULES_PAGE = "views/rules.py"

_style = style.component_css("live/live.css")
_code = st.components.v2.component(
    "tsetlin_live_code", js="\n".join(style.text_of(f"live/{name}.js") for name in SCRIPTS)
)
_frame = st.components.v2.component("tsetlin_live_frame", js=style.text_of("live/frame.js"))


@dataclass
class _Memory:
    """What one browser tab looks at, and which of its commands were carried out."""

    job: Job
    view: View = field(default_factory=View)
    run: TrainingRun | None = None
    facts: dict[str, Any] | None = None
    leave: bool = False
    sent: int = -1
    answered: int = 0
    page: tuple[object, ...] = ()
    done: deque[str] = field(default_factory=lambda: deque(maxlen=200))

    def refresh(self) -> None:
        """Follow the job to its present run."""
        run = self.job.run
        if run is None or run is self.run or self.job.latest is None:
            return
        before = self.facts and self.facts["key"]
        self.run, self.facts = run, facts(run, self.job)
        if before != self.facts["key"]:
            self.view = View(sort=self.view.sort, shown=self.view.shown)
        self.arrange()

    def arrange(self) -> None:
        snapshot = self.job.latest
        if snapshot is not None and self.run is not None and self.facts is not None:
            self.view.arrange(snapshot, self.run.encoder, self.facts)


def _memory(job: Job) -> _Memory:
    kept = st.session_state.get(STORE)
    if isinstance(kept, _Memory) and kept.job is job:
        return kept
    made = _Memory(job)
    st.session_state[STORE] = made
    return made


def show(job: Job) -> None:
    """Draw the live view of a job; call it once in a page's script."""
    memory = _memory(job)
    memory.refresh()
    memory.page = _page_mark(memory)
    st.fragment(_answer)()
    _code(key=f"{KEY}_code", data={"style": _style, "facts": memory.facts})


def _page_mark(memory: _Memory) -> tuple[object, ...]:
    """What the rest of the page shows of the run; when it changes, the page is drawn again."""
    job = memory.job
    learned = job.latest is not None and job.latest.step > 0
    key = memory.facts["key"] if memory.facts else ""
    return key, id(job.outcome), learned, job.state in ("settling", "failed")


def _answer() -> None:
    """The fragment: one frame."""
    memory: _Memory = st.session_state[STORE]
    job = memory.job
    if memory.leave:
        memory.leave = False
        st.switch_page(RULES_PAGE)
    if job.busy:
        job.renew()
        job.wait_for_news(memory.sent, NEWS_SECONDS)
    memory.refresh()
    memory.sent = job.sequence
    key = memory.facts["key"] if memory.facts else ""
    told = frame(job, memory.view, key) | {"answer": memory.answered, "busy": job.busy}
    _frame(key=KEY, data=told, on_ask_change=_asked)
    if _page_mark(memory) != memory.page:
        st.rerun()


def _asked() -> None:
    """Carry out the commands the browser sent, each once."""
    memory: _Memory = st.session_state[STORE]
    ask = st.session_state[KEY].ask
    if not isinstance(ask, dict) or not isinstance(ask.get("commands"), list):
        return
    if isinstance(ask.get("number"), int):
        memory.answered = ask["number"]
    for sent in ask["commands"]:
        if isinstance(sent, dict) and isinstance(sent.get("id"), str) and sent["id"] not in memory.done:
            memory.done.append(sent["id"])
            _obey(memory, sent.get("name"), sent.get("value"))


def _obey(memory: _Memory, name: Any, value: Any) -> None:
    job = memory.job
    plain = {
        "play": job.play,
        "pause": job.pause,
        "one_row": job.one_row,
        "one_epoch": job.one_epoch,
        "reset": job.reset,
        "settle": job.settle,
    }
    if name in plain:
        plain[name]()
        if name in ("pause", "one_row", "reset"):
            job.wait_until_idle(0.2)
        else:
            job.wait_for_commands(0.1)
    elif name == "rules":
        memory.leave = True
    elif name == "speed" and value in SPEEDS:
        job.set_speed(value)
    elif name == "view" and memory.run is not None:
        n_machines = 1 if len(memory.run.classes) == 2 else len(memory.run.classes)
        n_features = len(memory.run.encoder.features)
        if memory.view.update(value, n_machines, job.parameters.n_clauses, n_features):
            memory.arrange()
