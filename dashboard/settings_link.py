"""A link that carries the settings of a machine and nothing else, and its reading on arrival."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

import streamlit as st

from dashboard.session import Session
from tmcore.parameters import PARAMETERS, Parameters

DONE = "tsetlin_settings_link"


def to_query(parameters: Parameters) -> str:
    """The settings that are not the default, as a query string: "n_clauses=40&s=3.0"."""
    usual = Parameters()
    values = {name: getattr(parameters, name) for name in PARAMETERS}
    if isinstance(values["class_weight"], Mapping):  # names classes, and a link holds no data
        del values["class_weight"]
    return urlencode({name: v for name, v in values.items() if v != getattr(usual, name)})


def from_query(query: Mapping[str, str]) -> Parameters:
    """The settings in a query; what is no setting is passed over.

    Raises
    ------
    ValueError
        A setting has a value it cannot have.
    """
    return Parameters().replace(
        **{name: _value(name, text) for name, text in query.items() if name in PARAMETERS}
    )


def _value(name: str, text: str) -> Any:
    if text == "None":
        return None
    info = PARAMETERS[name]
    if info.choices == ("False", "True") and text in info.choices:
        return text == "True"
    if info.minimum is None or (name == "T" and text == "auto"):
        return text
    try:
        whole = info.step is not None and float(info.step).is_integer()
        return int(text) if whole else float(text)
    except ValueError as error:
        raise ValueError(
            f"The link gives {info.label} the value {text[:40]!r}, which is no number."
        ) from error


def link(parameters: Parameters) -> str:
    """The address of the Train page of this server with the settings; empty where the address is not known."""
    address = urlsplit(st.context.url or "")
    if not address.netloc:
        return ""
    base = address.path.rsplit("/", 1)[0]
    query = to_query(parameters)
    return f"{address.scheme}://{address.netloc}{base}/train{'?' * bool(query)}{query}"


def take(current: Session) -> None:
    """Take over the settings of the address a visitor arrived with, once, before there is a run."""
    if DONE in st.session_state:
        return
    st.session_state[DONE] = True
    query = {name: st.query_params[name] for name in st.query_params if name in PARAMETERS}
    if not query or current.job is not None:
        return
    try:
        current.set_parameters(from_query(query))
    except ValueError as error:
        current.notices.append(str(error))
    else:
        current.notices.append("The settings come from the link.")
