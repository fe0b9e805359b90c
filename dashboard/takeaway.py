"""The end of the Rules page: every format of the rules, run and compared with the model before its download."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import pandas as pd
import streamlit as st

from dashboard import settings_link, style
from dashboard.rule_list.listing import safe_file_name
from tmcore.export import ENDINGS, FORMATS
from tmcore.export.about import About, describe
from tmcore.export.proof import MODEL, Proof, prove
from tmcore.rules import RuleSet

if TYPE_CHECKING:
    from dashboard.dialling import Mark
    from dashboard.goals import AnyScores, Model
    from dashboard.jobs import Job

MEMO = "tsetlin_takeaway"
MOST_LINES, MOST_CHARACTERS = 300, 60_000
MODEL_ENDING = "tsetlin"
MOST_UNASKED = 300
"""Files of more rules are made when they are asked for."""


@dataclass(frozen=True)
class Choice:
    """A format as it is offered."""

    label: str
    use: str
    mime: str
    language: Literal["sql", "python", "json", "markdown", "xml", "html"] | None = None


CHOICES = {
    "sql": Choice("SQL", "DuckDB, SQLite, PostgreSQL", "text/plain", "sql"),
    "spark": Choice("Spark SQL", "Spark, Databricks", "text/plain", "sql"),
    "python": Choice("Python", "one module, nothing to install", "text/x-python", "python"),
    "json": Choice("JSON", "documented, versioned", "application/json", "json"),
    "csv": Choice("CSV", "for a spreadsheet", "text/csv"),
    "markdown": Choice("Markdown", "for a document", "text/markdown", "markdown"),
    "pmml": Choice("PMML", "for scoring engines", "application/xml", "xml"),
    "html": Choice("Report", "one HTML file, opens offline", "text/html", "html"),
    MODEL: Choice("Model", "opens again with tmcore.load", "application/octet-stream"),
}


@dataclass
class Proven:
    """The proofs of one rule set, each made when its format is first chosen; of many rules those in `wanted`."""

    rules: RuleSet
    model: Model | None
    told: tuple[tuple[str, str], ...]
    retrained: Mark | None = None
    proofs: dict[str, Proof] = field(default_factory=dict)
    wanted: set[str] = field(default_factory=set)


def show(
    rules: RuleSet,
    job: Job,
    model: Model | None,
    scores: AnyScores,
    retrained: Mark | None = None,
) -> None:
    """Draw the part of the page.

    ``scores`` are those of ``rules``, ``model`` the settled one they come from, ``retrained`` the dial's scores of it
    where they are known.
    """
    style.section(
        "Take the rules away",
        "Every rule with all its digits, whatever is filtered above. Files are run first.",
    )
    proven = st.session_state.get(MEMO)
    if not isinstance(proven, Proven) or proven.rules is not rules or proven.retrained != retrained:
        error = None if retrained is None else (retrained.mean, retrained.error)
        told = job.goal.in_files(scores, rules, (job.X_test, job.y_test), error)
        proven = st.session_state[MEMO] = Proven(rules, model, told, retrained)
    _panel(proven, job)


def _about(job: Job, told: tuple[tuple[str, str], ...]) -> About:
    return describe(
        job.name,
        job.parameters,
        job.X_train,
        job.y_train,
        told,
        table_name(job.name),
        job.positive_class,
    )


def table_name(name: str) -> str:
    """A plain lower-case table name made from any text: "Heart" is heart, "beans & co.csv" is beans_co."""
    stem = re.sub(r"\.(csv|tsv|txt)$", "", name, flags=re.IGNORECASE)
    return re.sub(r"[^A-Za-z0-9]+", "_", stem).strip("_").lower()[:60] or "data"


@st.fragment
def _panel(proven: Proven, job: Job) -> None:
    """Formats left, the chosen one right; choosing redraws this part only."""
    kinds = {*FORMATS, *([] if proven.model is None else [MODEL])}
    names = [name for name in CHOICES if name in kinds]
    with st.container(key="takeaway"):
        left, right = st.columns([2, 5], gap="medium")
        name = left.radio(
            "Format",
            names,
            format_func=lambda name: CHOICES[name].label,
            captions=[CHOICES[name].use for name in names],
            label_visibility="collapsed",
            width="stretch",
            key="takeaway_format",
        )
        with right:
            _format(name or names[0], proven, job)
    link = settings_link.link(job.goal.free(job.parameters), job.positive_class)
    if link:
        with st.expander("A link to these settings"):
            also = "" if job.positive_class is None else ", the name of the class to predict,"
            st.caption(f"It holds the settings{also} and no rows.")
            st.code(link, language=None, wrap_lines=True)


def _format(name: str, proven: Proven, job: Job) -> None:
    if name not in proven.proofs:
        if len(proven.rules) > MOST_UNASKED and name not in proven.wanted:
            _offer(name, proven)
            return
        with st.spinner(f"Running the {CHOICES[name].label} file"):
            proven.proofs[name] = _prove(name, proven, job)
    proof, choice = proven.proofs[name], CHOICES[name]
    said, button = st.columns([4, 1], vertical_alignment="center")
    with said.container(horizontal=True, vertical_alignment="center", gap="small"):
        if proof.equal:
            st.badge(proof.badge, icon=":material/check:", color="green")
        else:
            st.badge(proof.badge, icon=":material/close:", color="red")
        st.caption(style.plain(proof.sentence))
    with button:
        st.download_button(
            f"Download {choice.label}",
            proof.data if proof.equal else b"",
            file_name=safe_file_name(job.name, ENDINGS.get(name, MODEL_ENDING)),
            mime=choice.mime,
            on_click="ignore",
            type="primary",
            width="stretch",
            disabled=not proof.equal,
            key=f"takeaway_{name}",
        )
    if not proof.equal and len(proof.examples):
        st.dataframe(proof.examples, hide_index=True)
    if name == MODEL:
        edited = " Edits of rules are not in it." if proven.rules.edited else ""
        st.caption(
            f"{len(proof.data) / 1024:,.0f} kB: the trained machine with its settings and rules.{edited}"
        )
    elif proof.equal:
        text, more = preview(proof.data)
        st.code(text, language=choice.language, height=420)
        if more:
            st.caption(more)


def _offer(name: str, proven: Proven) -> None:
    """Many rules take a while, so a file of them is made when it is asked for."""
    said, button = st.columns([4, 1], vertical_alignment="center")
    said.caption(
        f"A file of {style.count(len(proven.rules), 'rule')} takes some seconds to write and to run."
    )
    button.button(
        f"Make {CHOICES[name].label}",
        key=f"takeaway_make_{name}",
        width="stretch",
        on_click=proven.wanted.add,
        args=(name,),
    )


def preview(data: bytes) -> tuple[str, str]:
    """The beginning of a text file, and a sentence about what is left out, if anything is."""
    text = data.decode("utf-8-sig").rstrip("\n")
    lines = text[:MOST_CHARACTERS].split("\n")[:MOST_LINES]
    shown = "\n".join(lines)
    if len(shown) == len(text):
        return shown, ""
    total = text.count("\n") + 1
    return shown, f"The first {len(lines):,} of {total:,} lines; the download has them all."


def _prove(name: str, proven: Proven, job: Job) -> Proof:
    rows = pd.concat([job.X_train, job.X_test]).sort_index()
    estimator, about = proven.model, _about(job, proven.told)
    if estimator is not None and name == MODEL:
        return prove(estimator.rules_, name, rows, estimator, about)
    unchanged = estimator is not None and proven.rules is estimator.rules_
    return prove(proven.rules, name, rows, estimator if unchanged else None, about)
