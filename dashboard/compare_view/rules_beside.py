"""The component that lists compared rules, read-only and fed with plain JSON."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard import style

_component = st.components.v2.component(
    "tsetlin_compared_rules",
    html='<div class="rules compared" role="list"></div>',
    css=style.component_css("rule_list/rule_list.css") + style.text_of("compare_view/compare.css"),
    js=style.text_of("rule_list/sentences.js") + style.text_of("compare_view/compare.js"),
)


def compared_rules(groups: list[dict[str, Any]], head: tuple[str, str], key: str) -> None:
    """Draw groups of rules made by `ComparePainter`; ``head`` are the headings of the two columns beside the rules."""
    _component(data={"groups": groups, "head": list(head)}, key=key)
