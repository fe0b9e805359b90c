"""What each value adds: the additive part of the rules as one small picture a column, and pairs of columns."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import style
from dashboard.rule_list.outcomes import Outcomes, outcomes_of
from dashboard.rule_list.payload import backdrop
from dashboard.value_view.payload import column_chart, pair_grid
from dashboard.value_view.plane import plane
from tmcore.cells import used_columns
from tmcore.conditions import visible
from tmcore.ruleset import RuleSet
from tmcore.value_map import PairMap, decision, pair_map, telling_pair, value_map

MOST_CHARTS = 12
MOST_CELLS = 400
"""Cells of two columns that are also given as a table."""

_component = st.components.v2.component(
    "tsetlin_value_map",
    html='<div class="values"></div>',
    css=style.component_css("value_view/value_map.css"),
    js=style.text_of("value_view/plane.js") + style.text_of("value_view/value_map.js"),
)


def show(rules: RuleSet, X: pd.DataFrame, y: pd.Series, refitted: bool) -> None:
    """Draw the section for some rules; `X` and `y` are the training rows, `refitted` says that votes are log-odds."""
    outcomes = outcomes_of(rules.classes, y)
    sides, y = outcomes.sides(), pd.Series(outcomes.groups(y), index=X.index)
    maps = value_map(rules)
    proposed = telling_pair(rules)
    if not maps and proposed is None:
        return
    two = len(sides) == 2
    head = st.container()
    output = 0 if two else _class_in_focus(rules)
    rest = len(rules) - sum(one.n_rules for one in maps)
    speaks, unit = outcomes.direction(1 if two else output), outcomes.adds_in(refitted)
    left_out = f" {style.count(rest, 'rule')} over several columns {'is' if rest == 1 else 'are'} not in this picture."
    with head:
        style.section(
            "What each value adds",
            f"Sum of the one-column rules at every value, in {unit}: up or right {speaks}, down or left the "
            f"opposite.{left_out if rest else ''}",
        )
    sentence = decision(rules) if len(rules.classes) else None
    if sentence is not None:
        st.markdown(style.plain(f"The whole model in one sentence: {sentence}."))
    shown = (
        st.toggle(f"Show all {len(maps)} columns", key="value_map_every")
        if len(maps) > MOST_CHARTS
        else False
    )
    drawn = maps if shown else maps[:MOST_CHARTS]
    top = max((abs(value) for one in drawn for value in one.sums[:, output].tolist()), default=1.0) or 1.0
    charts = []
    for one in drawn:
        behind = None
        if one.column.kind == "numeric":
            behind = backdrop(X[one.column.name], y, range(len(sides)))
        charts.append(column_chart(one, output, behind, top, two, outcomes.weight))
    if charts:
        _component(key="value_map", data={"charts": charts})
    if proposed is not None:
        _pair(rules, proposed, output, outcomes, refitted, X, y)


def _class_in_focus(rules: RuleSet) -> int:
    return int(
        st.selectbox(
            "Class in focus",
            range(len(rules.classes)),
            format_func=lambda k: f"{style.mark(k)} {style.short(rules.class_names[k])}",
            width=240,
            label_visibility="collapsed",
            key="value_map_class",
        )
    )


@st.fragment
def _pair(
    rules: RuleSet,
    proposed: tuple[str, str],
    output: int,
    outcomes: Outcomes,
    refitted: bool,
    X: pd.DataFrame,
    groups: pd.Series,
) -> None:
    """Two columns together; choosing others redraws this part only. `groups` are the rows' groups of `outcomes`."""
    columns = used_columns(rules)
    names = list(columns)
    head = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first, second = (
            st.selectbox(
                label, names, names.index(name), lambda one: visible(columns[one].label), width=260, key=key
            )
            for label, name, key in zip(("Across", "Up"), proposed, ("pair_across", "pair_up"), strict=True)
        )
    if first == second:
        st.caption("Choose two different columns.")
        return
    found = pair_map(rules, first, second)
    title = f"What {visible(found.first.label)} and {visible(found.second.label)} add together"
    with head:
        style.section(title, _about_pair(found, output, outcomes, refitted))
    told = plane(found, output, X, groups, outcomes, outcomes.adds_in(refitted))
    told["label"] = title
    small = found.sums[:, :, 0].size <= MOST_CELLS
    told["grid"] = pair_grid(found, output, len(outcomes.names) == 2, outcomes.weight) if small else None
    if told["shown"] < told["known"]:
        st.caption(f"{told['shown']:,} of {style.count(told['known'], 'training row')} are drawn.")
    _component(key="pair_map", data={"plane": told})


def _about_pair(found: PairMap, output: int, outcomes: Outcomes, refitted: bool) -> str:
    sums = found.sums[:, :, output]
    what = outcomes.sum_of(1 if len(outcomes.names) == 2 else output, refitted)
    low, high = outcomes.weight(sums.min()), outcomes.weight(sums.max())
    words = (
        f"Sum of the {style.count(found.n_rules, 'rule')} that ask no other column, from {low} to {high} {what}, "
        "without the start. Points are training rows."
    )
    if found.n_others:
        verb = "asks" if found.n_others == 1 else "ask"
        words += f" {style.count(found.n_others, 'more rule')} {verb} both and others too, and cannot be drawn here."
    return words
