"""What a component of ours was sent by the browser."""

from __future__ import annotations

from typing import Any

import streamlit as st


def asked(key: str, name: str) -> Any:
    """Return what the component under ``key`` sent as ``name``, or None where its page has been left meanwhile.

    An ask may be under way while the browser goes to another page; its callback still runs there, without the
    component.
    """
    component = st.session_state.get(key)
    return None if component is None else getattr(component, name, None)
