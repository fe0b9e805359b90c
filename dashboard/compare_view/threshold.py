"""The decision threshold: what each of the two errors costs, and what a threshold does to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from dashboard import style
from dashboard.background import THREADS
from dashboard.compare_view import charts
from dashboard.compare_view.state import HALF, Comparing
from dashboard.compare_view.working import offer
from tmcore.estimators import TsetlinClassifier
from tmcore.judge import cross_validated_shares
from tmcore.labels import class_indices
from tmcore.parameters import Parameters
from tmcore.thresholds import Confusion, asked_for, confusion, cost_curve

PER_ROWS = 100
SLIDER = "threshold_slider"


def show(held: Comparing, model: TsetlinClassifier, parameters: Parameters) -> None:
    """Draw the section; two classes only."""
    split = held.split

    def work(progress: Any, stop: Any) -> np.ndarray | None:
        return cross_validated_shares(
            split.X_train,
            split.y_train,
            parameters,
            positive_class=split.positive_class,
            n_jobs=THREADS,
            progress=progress,
            stop=stop,
        )

    task = offer(
        held,
        "threshold",
        "Find the cheapest threshold",
        "Cross-validating",
        work,
        "What a threshold costs shows only on rows that the rules were not made from. So the training rows are divided "
        f"in five, and five times a machine learns from four parts and predicts the fifth, {held.takes(5)} in all. "
        "Then every row was predicted by a machine that had not seen it. This run and its rules stay as they are.",
    )
    _moving(held, model, None if task is None else task.result)


@st.fragment
def _moving(held: Comparing, model: TsetlinClassifier, shares: np.ndarray | None) -> None:
    names = [f"{style.mark(k)} {style.short(name)}" for k, name in enumerate(model.rule_classes_)]
    if SLIDER not in st.session_state or held.threshold_of is not model:
        st.session_state[SLIDER] = held.threshold_for(model)
    left, right = st.columns(2)
    false_alarm = left.number_input(
        style.plain(f"Cost of calling {names[0]} “{style.short(model.rule_classes_[1])}”"),
        0.0, 1e9, held.choices.get("false alarm", 1.0), 0.5, format="%g", key="cost_false_alarm",
    )  # fmt: skip
    miss = right.number_input(
        style.plain(f"Cost of calling {names[1]} “{style.short(model.rule_classes_[0])}”"),
        0.0, 1e9, held.choices.get("miss", 1.0), 0.5, format="%g", key="cost_miss",
    )  # fmt: skip
    held.choices |= {"false alarm": false_alarm, "miss": miss}
    if false_alarm + miss <= 0:
        st.markdown(":red[:material/error:] Both costs are 0. Give one of the errors a cost.")
        return
    labels = class_indices(held.split.y_train, model.rule_classes_)
    curve = None if shares is None else cost_curve(labels, shares[:, 1], false_alarm, miss)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        threshold = st.slider(
            style.plain(f"Say {names[1]} from this probability on"), 0.0, 1.0, step=0.01, key=SLIDER
        )
        if curve is not None:
            cheapest = round(curve.best_threshold, 2)
            st.button(f"Use {cheapest:.2f}", key="threshold_best", on_click=_use, args=(cheapest,), width=120)
    held.choose(threshold, model)
    groups = _groups(held, model, shares, threshold)
    style.section(*_finding(groups, threshold, false_alarm, miss))
    st.plotly_chart(
        charts.confusions(groups, model.rule_classes_), config=charts.CONFIG, key="threshold_confusions"
    )
    st.caption("Area: share of rows. Filled: right. Hollow: wrong, in the colour of the class the rows are.")
    if curve is not None:
        low, high = curve.near
        style.section(
            f"The cheapest threshold is {curve.best_threshold:.2f}; {low:.2f} to {high:.2f} is as good within noise",
            f"Cost per {PER_ROWS} training rows, cross-validated. Shaded: extra cost that may be chance (95 %). "
            f"If the probabilities were exact, {asked_for(false_alarm, miss):.2f} would be the cheapest.",
        )
        st.plotly_chart(charts.costs(curve, threshold, PER_ROWS), config=charts.CONFIG, key="threshold_costs")
    if threshold != HALF:
        st.caption(
            f"The Score page uses {threshold:.2f} too. The rules themselves and their downloads decide at 0.50."
        )


def _use(threshold: float) -> None:
    st.session_state[SLIDER] = threshold


def _groups(
    held: Comparing, model: TsetlinClassifier, shares: np.ndarray | None, threshold: float
) -> list[tuple[str, Confusion]]:
    split, found = held.split, []
    if len(split.y_test):
        labels, own = (
            class_indices(split.y_test, model.rule_classes_),
            model.rule_probabilities(split.X_test)[:, 1],
        )
        found.append((f"{len(labels):,} test rows", confusion(labels, own, threshold)))
    labels = class_indices(split.y_train, model.rule_classes_)
    if shares is not None:
        found.append(
            (f"{len(labels):,} training rows, cross-validated", confusion(labels, shares[:, 1], threshold))
        )
    else:
        own = model.rule_probabilities(split.X_train)[:, 1]
        found.append((f"{len(labels):,} training rows, seen: too good", confusion(labels, own, threshold)))
    return found


def _finding(
    groups: list[tuple[str, Confusion]], threshold: float, false_alarm: float, miss: float
) -> tuple[str, str]:
    """Title and caption: errors and cost on the first group, against the threshold's neighbours in the caption."""
    name, found = groups[0]
    title = (
        f"At {threshold:.2f}, {style.count(found.false_alarms, 'false alarm')} and "
        f"{style.count(found.misses, 'miss', 'misses')} in {name}"
    )
    costs = [
        f"{PER_ROWS * one.cost(false_alarm, miss):.1f} in {title_of}, {style.percent(one.accuracy)} right"
        for title_of, one in groups
    ]
    return title, f"Cost per {PER_ROWS} rows: {'; '.join(costs)}."
