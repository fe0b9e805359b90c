"""The list of rules: its filters and order are the browser's, its edits the server's; and the rows of a chosen rule.

The browser sends one ask at a time, each with a number and with the name of the body it holds, which is then not sent
again: a body of 2,000 rules takes megabytes, and an edit changes a few bytes beside it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard import style
from dashboard.asked import asked
from dashboard.editing import Editing
from dashboard.rule_list.counting import Counter
from dashboard.rule_list.payload import Painter
from dashboard.rule_list.reading import Reading
from dashboard.rule_list.rows import CoveredRows
from tmcore.ruleset import RuleSet

if TYPE_CHECKING:
    from dashboard.jobs import Job

KEY = "rules_list"
MEMO = "tsetlin_rules_page"
MOST_READINGS = 8

_component = st.components.v2.component(
    "tsetlin_rule_list",
    html='<div class="rules list"><div class="title"></div><p class="about"></p><div class="filters"></div>'
    '<div class="box"><div></div><div class="inner"></div></div><p class="none" hidden>No rule is like this.</p>'
    '<div class="starts"></div></div>',
    css=style.component_css("rule_list/rule_list.css") + style.text_of("rule_list/listing.css"),
    js="".join(
        style.text_of(f"rule_list/{name}.js") for name in ("sentences", "virtual", "rule_rows", "rule_list")
    ),
)

_rows_component = st.components.v2.component(
    "tsetlin_covered_rows",
    html='<div class="covered"><div class="parts"></div><div class="box" role="table" aria-label="Rows of the rule">'
    '<div class="head" role="rowgroup"></div><div class="inner" role="rowgroup"></div></div><p class="more"></p></div>',
    css=style.component_css("rule_list/covered_rows.css"),
    js="".join(style.text_of(f"rule_list/{name}.js") for name in ("sentences", "virtual", "covered_rows")),
)


@dataclass
class Asking:
    """What the browser asked last of one list.

    Attributes
    ----------
    answered : int
        The number of its newest ask.
    held : str or None
        The body it held at the time of an ask that is being answered.
    chosen : int or None
        The rule whose rows are shown.
    edited : bool
        Whether an ask changed the rules, and the page is to be drawn anew.
    """

    answered: int = 0
    held: str | None = None
    chosen: int | None = None
    edited: bool = False

    def obey(self, asked: Any, reading: Reading) -> None:
        """Carry out an ask of the browser, once however often it comes; what is no ask is ignored.

        So is one about rules that are no longer shown: the same numbers are other rules at another point of the dial.
        """
        if not isinstance(asked, dict) or not isinstance(asked.get("number"), int):
            return
        if asked["number"] <= self.answered:
            return
        editing, name = reading.editing, asked.get("name")
        self.answered, self.held = asked["number"], asked.get("held")
        if self.held != reading.body.name:
            return
        before = editing.draft
        if name == "off" and isinstance(asked.get("off"), list):
            editing.leave_out(number for number in asked["off"] if isinstance(number, int))
        elif name == "undo":
            editing.undo()
        elif name == "reset":
            editing.reset()
        elif name == "rows":
            self.chosen = asked.get("rule")
        self.edited = editing.draft is not before

    def told(self, reading: Reading) -> bytes:
        """What the list is sent: a line that says how things are, and the body where the browser lacks it."""
        editing, body = reading.editing, reading.body
        line = {
            "body": body.name,
            "off": sorted(editing.draft.off),
            "chosen": self.chosen,
            "answered": self.answered,
            "undo": bool(editing.past),
            "edited": editing.is_edited,
        }
        sent = b"" if self.held == body.name else body.data
        self.held = None
        return json.dumps(line).encode() + b"\n" + sent


@dataclass
class Kept:
    """What the Rules page has worked out for a run; points of the dial share what they can."""

    job: Job
    counter: Counter
    painter: Painter
    asking: Asking = field(default_factory=Asking)
    readings: list[Reading] = field(default_factory=list)

    def reading(self, editing: Editing) -> Reading:
        """The reading of some rules; the newest few are kept."""
        found = next((one for one in self.readings if one.editing is editing), None)
        if found is None:
            found = Reading(editing, self.counter, self.painter)
        elif found is self.readings[-1]:
            return found
        self.readings = [*(one for one in self.readings if one is not found), found][-MOST_READINGS:]
        self.asking.chosen = None
        return found


def kept(job: Job, rules: RuleSet) -> Kept:
    """What this visitor's page has worked out for a run, whose rules have the classes and columns of `rules`."""
    found = st.session_state.get(MEMO)
    if not isinstance(found, Kept) or found.job is not job:
        counter = Counter(rules.classes, (job.X_train, job.y_train), (job.X_test, job.y_test))
        asking = Asking(found.asking.answered if isinstance(found, Kept) else 0)  # the browser counts on
        found = st.session_state[MEMO] = Kept(job, counter, Painter(rules, job.X_train, job.y_train), asking)
    return found


def show(reading: Reading, asking: Asking, target: str, file_name: str) -> None:
    """Draw the list and the rows of the chosen rule; call it inside a fragment.

    ``target`` is the heading of the classes, ``file_name`` that of the rows' file.
    """

    def obey() -> None:
        asking.obey(asked(KEY, "ask"), reading)

    if asking.edited:
        asking.edited = False
        st.rerun()
    _component(key=KEY, data=asking.told(reading), on_ask_change=obey)
    chosen = next((one for one in reading.listed if one.number == asking.chosen), None)
    if chosen is not None:
        _show_rows(CoveredRows(chosen, reading.editing.learned.rules, reading.counter, target), file_name)


def _show_rows(covered: CoveredRows, file_name: str) -> None:
    style.section(
        covered.title, f"IF {covered.listed.rule.text()}. Raw values, the rule's own columns first."
    )
    _rows_component(key="rules_rows", data=covered.payload())
    st.download_button(
        "Download these rows",
        covered.csv,
        file_name=file_name,
        mime="text/csv",
        on_click="ignore",
        key="rules_rows_file",
    )
