"""The live training view: one Streamlit component that draws what a job learns, as it learns."""

from __future__ import annotations

from functools import cache
from typing import Any, Protocol

import streamlit as st

from dashboard import style
from dashboard.jobs import SPEEDS, Job
from dashboard.live.payload import View, facts, frame

SCRIPTS = ("base", "marks", "model", "geometry", "matrix", "trace", "charts", "text", "page", "controls", "live")
"""The component's script in the order of its parts; together they are one module."""

RUNNING_SECONDS = 0.08
KEY = "live"


class _Renderer(Protocol):
    def __call__(self, **settings: Any) -> Any: ...


@cache
def _component() -> _Renderer:
    script = "\n".join(style.text_of(f"live/{name}.js") for name in SCRIPTS)
    return st.components.v2.component("tsetlin_live", css=style.component_css("live/live.css"), js=script)


@cache
def _facts_cache() -> dict[int, tuple[Any, dict[str, Any]]]:
    return {}
