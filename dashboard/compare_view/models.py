"""Intervals, thresholds, weighted and the usual models on this split: the paper's table for the user's own data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import style
from dashboard.compare_view import charts
from dashboard.compare_view.state import Comparing, measure_name
from dashboard.compare_view.working import offer
from tmcore.contenders import Measured, baselines, compare_models, machines
from tmcore.judge import MEASURES, f1_difference
from tmcore.parameters import Parameters

KB = 1024


def show(held: Comparing, parameters: Parameters) -> None:
    """Draw the section."""
    split = held.split
    positive = split.positive_class
    chosen = [*machines(parameters, positive), *baselines(parameters.random_state % 2**32)]

    def work(progress: Any, stop: Any) -> list[Measured]:
        train, test = (split.X_train, split.y_train), (split.X_test, split.y_test)
        return compare_models(train, test, chosen, positive_class=positive, progress=progress, stop=stop)

    task = offer(
        held,
        "models",
        "Compare on this split",
        "Training",
        work,
        f"{style.count(len(split.y_train), 'row')} to train on, the same {len(split.y_test):,} to test on: "
        + ", ".join(one.name.lower() if one.name not in ("EBM", "XGBoost") else one.name for one in chosen)
        + ".",
    )
    if task is None or not task.result:
        return
    measured: list[Measured] = task.result
    f1 = measure_name("F1", split)
    style.section(finding(measured, f1), _caption(measured, f1))
    _table(measured, f1)
    measure = st.segmented_control(
        "Measure",
        MEASURES,
        default="F1",
        required=True,
        format_func=lambda name: style.plain(measure_name(name, split)),
        key="models_measure",
        label_visibility="collapsed",
    )
    st.plotly_chart(charts.models(measured, measure), config=charts.CONFIG, key="models_chart")
    st.caption(
        "Filled: Tsetlin machines. Hollow: the usual models. Lines: 95 % intervals from the test rows."
    )


def finding(measured: Sequence[Measured], f1: str) -> str:
    """The section's title: literals of intervals against thresholds, and whether F1 differs beyond noise."""
    by_name = {one.name: one for one in measured}
    a, b = by_name.get("Intervals"), by_name.get("Thresholds")
    if a is None or b is None or not a.n_literals or not b.n_literals:
        return "Scores on the same test rows"
    if b.n_literals >= a.n_literals:
        sizes = f"Intervals use {b.n_literals / a.n_literals:.1f} times fewer literals than thresholds"
    else:
        sizes = f"Intervals use {a.n_literals / b.n_literals:.1f} times more literals than thresholds"
    low, high = f1_difference(a.labels, a.predicted, b.predicted)
    gap = a.scores["F1"] - b.scores["F1"]
    if low <= 0 <= high:
        return f"{sizes}; the difference of {style.signed(gap)} in {f1} is within noise"
    return f"{sizes}, and their {f1} is {abs(gap):.2f} {'higher' if gap > 0 else 'lower'}"


def _caption(measured: Sequence[Measured], f1: str) -> str:
    best = max(measured, key=lambda one: one.scores["F1"])
    words = f"Highest {f1}: {best.name}, {best.scores['F1']:.2f}."
    own = next((one for one in measured if one.name == "Intervals"), None)
    if own is not None and best is not own:
        low, high = f1_difference(best.labels, best.predicted, own.predicted)
        gap = best.scores["F1"] - own.scores["F1"]
        doubt = "within noise" if low <= 0 <= high else "beyond noise"
        ends = f"95 % from {style.signed(low)} to {style.signed(high)}"
        words += f" That is {style.signed(gap)} against intervals, {doubt} ({ends})."
    return words + f" {style.count(len(own.labels if own else best.labels), 'test row')}, threshold 0.5."


def as_frame(measured: Sequence[Measured]) -> pd.DataFrame:
    """The comparison in the paper's columns, one row per model."""
    rows: dict[str, dict[str, Any]] = {}
    for one in measured:
        low, high = one.intervals["F1"]
        rows[one.name] = {
            "F1": one.scores["F1"],
            "F1, 95 %": f"{low:.2f}–{high:.2f}",
            "Bal. acc.": one.scores["balanced accuracy"],
            "AUC": one.scores["AUC"],
            "No. of Lit.": one.n_literals,
            "Rules": one.n_rules,
            "Lit. in rules": one.n_rule_literals,
            "Mem., train. (KB)": one.training_bytes / KB,
            "Mem., test. (KB)": one.testing_bytes / KB,
            "Time (s)": one.seconds,
            "What it is": one.about,
        }
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis("Model")
    return frame.astype(dict.fromkeys(("No. of Lit.", "Rules", "Lit. in rules"), "Int64"))


def _table(measured: Sequence[Measured], f1: str) -> None:
    three, one = (st.column_config.NumberColumn(format=text) for text in ("%.3f", "%.1f"))
    st.dataframe(
        as_frame(measured).rename(columns={"F1": f1}),
        column_config={
            f1: three,
            "Bal. acc.": three,
            "AUC": three,
            "Time (s)": three,
            "Mem., train. (KB)": one,
            "Mem., test. (KB)": one,
        },
        height="content",
        placeholder="–",
    )
    st.caption(
        "No. of Lit.: included literals of the trained machine; for the tree, the tests on its paths. Rules and their "
        "literals are what settling leaves. Memory: all arrays held in training, the rows as the model reads them "
        "included, and those needed to predict. Time: of the processor, for training, one after another."
    )
