"""What each value adds: the additive part of the rules as one small picture a column, and pairs of columns."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import style
from dashboard.rule_list.payload import backdrop
from dashboard.value_view.payload import column_chart, pair_grid
from tmcore.conditions import visible
from tmcore.ruleset import RuleSet
from tmcore.value_map import decision, pair_map, pairs, value_map

MOST_CHARTS = 12

_component = st.components.v2.component(
    "tsetlin_value_map",
    html='<div class="values"></div>',
    css=style.component_css("value_view/value_map.css"),
    js=style.text_of("value_view/value_map.js"),
)


def show(rules: RuleSet, X: pd.DataFrame, y: pd.Series, refitted: bool) -> None:
    """Draw the section for some rules; `X` and `y` are the training rows, `refitted` says that votes are log-odds."""
    maps = value_map(rules)
    both = pairs(rules)
    if not maps and not both:
        return
    two = len(rules.classes) == 2
    head = st.container()
    output = 0 if two else _class_in_focus(rules)
    rest = len(rules) - sum(one.n_rules for one in maps)
    name = style.short(rules.class_names[1 if two else output])
    unit = "log-odds" if refitted else "votes"
    left_out = f" {style.count(rest, 'rule')} over several columns {'is' if rest == 1 else 'are'} not in this picture."
    with head:
        style.section(
            "What each value adds",
            f"Sum of the one-column rules at every value, in {unit}: up or right speaks for {name}, down or left "
            f"against.{left_out if rest else ''}",
        )
    sentence = decision(rules)
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
        behind = backdrop(X[one.column.name], y, rules.classes) if one.column.kind == "numeric" else None
        charts.append(column_chart(one, output, behind, top, two))
    if charts:
        _component(key="value_map", data={"charts": charts, "grid": None})
    if both:
        _pair(rules, both, output, two)


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


def _pair(rules: RuleSet, both: dict[tuple[str, str], int], output: int, two: bool) -> None:
    names = list(both)
    with st.expander(
        f"What pairs of columns add: {style.count(sum(both.values()), 'rule')} over two columns"
    ):
        place = st.selectbox(
            "Pair of columns",
            range(len(names)),
            format_func=lambda k: (
                f"{visible(names[k][0])} and {visible(names[k][1])} ({style.count(both[names[k]], 'rule')})"
            ),
            key="value_map_pair",
        )
        first, second = names[min(place, len(names) - 1)]
        grid = pair_grid(pair_map(rules, first, second), output, two)
        _component(key="pair_map", data={"charts": [], "grid": grid})
