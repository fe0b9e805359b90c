"""A link that carries the settings of a machine and the class to predict, nothing else, and its reading on arrival."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

import streamlit as st

from dashboard import style
from dashboard.session import Session
from tmcore.parameters import PARAMETERS, Parameters

DONE = "tsetlin_settings_link"
CLASS = "positive_class"


def to_query(parameters: Parameters, positive_class: Any = None) -> str:
    """The settings that are not the default and the class to predict: "n_clauses=40&s=3.0&positive_class=disease"."""
    usual = Parameters()
    values = {name: getattr(parameters, name) for name in PARAMETERS}
    if isinstance(values["class_weight"], Mapping):  # it may name any class; only the one to predict is told
        del values["class_weight"]
    told = {name: v for name, v in values.items() if v != getattr(usual, name)}
    return urlencode(told if positive_class is None else told | {CLASS: positive_class})


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


def link(parameters: Parameters, positive_class: Any = None) -> str:
    """The address of the Train page of this server with the settings; empty where the address is not known."""
    address = urlsplit(st.context.url or "")
    if not address.netloc:
        return ""
    base = address.path.rsplit("/", 1)[0]
    query = to_query(parameters, positive_class)
    return f"{address.scheme}://{address.netloc}{base}/train{'?' * bool(query)}{query}"


def take(current: Session) -> None:
    """Take over what the address that a visitor arrived with asks for, once, before there is a run."""
    if DONE in st.session_state:
        return
    st.session_state[DONE] = True
    query = {name: st.query_params[name] for name in st.query_params if name in PARAMETERS}
    asked = st.query_params.get(CLASS)
    if current.job is not None or (not query and asked is None):
        return
    try:
        current.set_parameters(from_query(query))
        current.usual = current.parameters
    except ValueError as error:
        current.notices.append(str(error))
    else:
        current.ask_for_class(asked)
        also = f"; so does the class to predict, {style.short(asked)}" if asked is not None else ""
        current.notices.append(f"The settings come from the link{also}.")
