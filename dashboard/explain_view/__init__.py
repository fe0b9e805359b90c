"""The Explain page's component: what-if fields, the votes of one row, what would change the class.

The browser sends one ask at a time, each with a number, and waits for the answer; what is asked meanwhile goes with the
next one. Python alone decides what values give.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard import style
from dashboard.asked import asked
from dashboard.explain_view.looking import Looking
from dashboard.explain_view.payload import ExplainPainter

KEY = "tsetlin_explain"
ANSWERED = "tsetlin_explain_answered"

_component = st.components.v2.component(
    "tsetlin_explain",
    html='<div class="explain"></div>',
    css=style.component_css("explain_view/explain.css"),
    js=style.text_of("rule_list/sentences.js") + style.text_of("explain_view/explain.js"),
)


def show(looking: Looking, painter: ExplainPainter) -> None:
    """Draw the page and carry out what the visitor asks for; call it once in a page's script."""

    def obey() -> None:
        ask = asked(KEY, "ask")
        if not isinstance(ask, dict) or not isinstance(ask.get("commands"), list):
            return
        for command in ask["commands"]:
            if isinstance(command, dict):
                looking.obey(command.get("name"), command.get("value"))
        moving = ask.get("moving") is True
        st.session_state[ANSWERED] = (ask.get("number"), moving)

    @st.fragment
    def answer() -> None:
        number, moving = st.session_state.get(ANSWERED, (None, False))
        told: dict[str, Any] = painter.build(with_flips=not moving)
        _component(key=KEY, data=told | {"answer": number}, on_ask_change=obey)

    answer()
