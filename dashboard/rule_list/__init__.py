"""The list of rules as sentences: a read-only component fed with plain JSON."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard import style

_component = st.components.v2.component(
    "tsetlin_rule_list",
    html='<div class="rules" role="list"></div>',
    css=style.component_css("rule_list/rule_list.css"),
    js=style.text_of("rule_list/rule_list.js"),
)


def rule_list(payload: dict[str, Any], key: str) -> None:
    """Draw the rules of `dashboard.rule_list.payload.build`."""
    _component(data=payload, key=key)
