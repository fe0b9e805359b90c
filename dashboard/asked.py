"""What a component of ours was sent by the browser."""

from __future__ import annotations

from typing import Any

import streamlit as st

PAGE = "tsetlin_page"


def remember(page: Any) -> None:
    """Note the page (`st.Page`) that is drawn, before it runs."""
    st.session_state[PAGE] = page


def asked(key: str, name: str) -> Any:
    """Return what the component under ``key`` sent as ``name``, or None where its page has been left meanwhile.

    An ask may overtake the change to another page. Streamlit then draws the other page, runs the ask after it as a
    part of the page that was left, and leaves the browser with an empty one; so the other page is drawn again.
    """
    component = st.session_state.get(key)
    if component is not None:
        return getattr(component, name, None)
    if PAGE in st.session_state:
        st.switch_page(st.session_state[PAGE], query_params=st.query_params.to_dict())
    return None
