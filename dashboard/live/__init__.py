"""The live training view: one Streamlit component that draws what a job learns, as it learns.

The component is mounted twice. Outside the fragment it gets the facts of a run (columns, cuts, class distributions),
which are sent once; inside, a fragment that runs only while something can change pushes one frame a tick.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from dashboard import style
from dashboard.jobs import Job
from dashboard.live.payload import View, facts, frame
from tmcore.training import TrainingRun

SCRIPTS = ("base", "marks", "model", "geometry", "matrix", "trace", "charts", "text", "page", "controls", "live")
"""The component's script in the order of its parts; together they are one module."""

TICK_SECONDS = 0.08
ARRANGE_SECONDS = 3.0
KEY = "tsetlin_live"
STORE = "tsetlin_live_memory"
RULES_PAGE = "views/rules.py"

_component = st.components.v2.component(
    "tsetlin_live",
    css=style.component_css("live/live.css"),
    js="\n".join(style.text_of(f"live/{name}.js") for name in SCRIPTS),
)


@dataclass
class _Memory:
    """What one browser tab looks at, and which of its commands were carried out."""

    job: Job
    view: View = field(default_factory=View)
    run: TrainingRun | None = None
    facts: dict[str, Any] | None = None
    leave: bool = False
    done: deque[str] = field(default_factory=lambda: deque(maxlen=200))

    def refresh(self) -> bool:
        """Follow the job to its present run; whether the facts are those of another run than before."""
        run = self.job.run
        if run is None or run is self.run or self.job.latest is None:
            return False
        before = self.facts and self.facts["key"]
        self.run, self.facts = run, facts(run, self.job)
        if before != self.facts["key"]:
            self.view = View(sort=self.view.sort, shown=self.view.shown)
        self.arrange()
        return before != self.facts["key"]

    def arrange(self) -> None:
        snapshot = self.job.latest
        if snapshot is not None and self.run is not None:
            self.view.arrange(snapshot, self.run.encoder)


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
    ticking = job.busy
    st.fragment(partial(_tick, job, ticking), run_every=TICK_SECONDS if ticking else None)()
    if memory.facts is not None:
        _component(key=f"{KEY}_facts", data=memory.facts, height="content")


def _tick(job: Job, ticking: bool) -> None:
    memory = _memory(job)
    if memory.leave:
        memory.leave = False
        st.switch_page(RULES_PAGE)
    if memory.refresh():
        st.rerun()
    if ticking:
        job.renew()
    key = memory.facts["key"] if memory.facts else ""
    _component(key=KEY, data=frame(job, memory.view, key), on_command_change=partial(_command, job))
    if job.busy != ticking:
        st.rerun()


def _command(job: Job) -> None:
    """Carry out what the component sent, each command once."""
    memory = _memory(job)
    sent = st.session_state[KEY].command
    if not isinstance(sent, dict) or not isinstance(sent.get("id"), str) or sent["id"] in memory.done:
        return
    memory.done.append(sent["id"])
    name, value = sent.get("name"), sent.get("value")
    if name == "play":
        job.play()
        job.wait_for_commands(0.1)
    elif name == "settle":
        job.settle()
        job.wait_for_commands(0.1)
    elif name == "rules":
        memory.leave = True
    elif name in ("pause", "one_row", "one_epoch", "reset"):
        {"pause": job.pause, "one_row": job.one_row, "one_epoch": job.one_epoch, "reset": job.reset}[name]()
        job.wait_until_idle(0.2)
    elif name == "speed" and value in ("slow", "1x", "3x", "max"):
        job.set_speed(value)
    elif name == "view" and memory.run is not None:
        shape = memory.run.encoder
        n_machines = 1 if len(memory.run.classes) == 2 else len(memory.run.classes)
        if memory.view.update(value, n_machines, job.parameters.n_clauses, len(shape.features)):
            memory.arrange()
