"""Intervals, thresholds, weighted and the usual models on this split: the paper's table for the user's own data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import style
from dashboard.compare_view import charts
from dashboard.compare_view.state import Comparing
from dashboard.compare_view.words import Words
from dashboard.compare_view.working import offer
from tmcore.contenders import Measured, baselines, compare_models, machines
from tmcore.parameters import Parameters

KB = 1024


def show(held: Comparing, parameters: Parameters) -> None:
    """Draw the section."""
    split, words = held.split, held.words
    about = split.positive_class, split.task
    chosen = [*machines(parameters, *about), *baselines(parameters.random_state % 2**32, split.task)]

    def work(progress: Any, stop: Any) -> list[Measured]:
        train, test = (split.X_train, split.y_train), (split.X_test, split.y_test)
        return compare_models(
            train,
            test,
            chosen,
            task=split.task,
            positive_class=split.positive_class,
            progress=progress,
            stop=stop,
        )

    task = offer(held, "models", "Compare on this split", "Training", work, _about(held, chosen))
    if task is None or not task.result:
        return
    measured: list[Measured] = task.result
    style.section(finding(measured, words), _caption(measured, words))
    _table(measured, words)
    measure = st.segmented_control(
        "Measure",
        words.measures.names,
        default=words.measures.compared,
        required=True,
        format_func=lambda name: style.plain(words.name(name)),
        key="models_measure",
        label_visibility="collapsed",
    )
    figure = charts.models(measured, measure, lambda score: words.value(measure, score))
    st.plotly_chart(figure, config=charts.CONFIG, key="models_chart")
    st.caption(
        "Filled: Tsetlin machines. Hollow: the usual models. Lines: 95 % intervals from the test rows."
    )
    if measure in (missing := words.measures.missing(measured[0].answers)):
        st.caption(style.plain(f"{words.name(measure)} cannot be computed: {missing[measure]}."))


def _about(held: Comparing, chosen: Sequence[Any]) -> str:
    """What is trained and why, and for how long where that is known."""
    split = held.split
    n_machines = sum(one.is_machine for one in chosen)
    names = [one.name if one.name in ("EBM", "XGBoost") else one.name.lower() for one in chosen]
    return (
        "Would something simpler, or less readable, do better? Each learns from the same "
        f"{style.count(len(split.y_train), 'row')} and is tried on the same {len(split.y_test):,}: {', '.join(names)}. "
        f"The {n_machines} machines take {held.takes_in_turn(n_machines)}, the others a few seconds on small tables."
    )


def finding(measured: Sequence[Measured], words: Words) -> str:
    """The section's title: whether another model does better than intervals, and whether beyond noise."""
    name, own, best = words.measures.compared, _intervals(measured), _best(measured, words)
    score = words.value(name, best.scores[name])
    if own is None:
        return f"Best {words.name(name)}: {best.name}, {score}"
    if best is own:
        return f"No other model does better: {words.name(name)} {score}"
    low, high = words.measures.difference(best.answers, own.answers)
    against = words.value(name, own.scores[name])
    told = f"Best {words.name(name)}: {best.name}, {score}; intervals have {against}"
    if not np.isfinite(low):
        return f"{told}, and how sure that is cannot be said from these rows"
    return f"{told}, a difference {'beyond noise' if low > 0 or high < 0 else 'within noise'}"


def _intervals(measured: Sequence[Measured]) -> Measured | None:
    return next((one for one in measured if one.name == "Intervals"), None)


def _best(measured: Sequence[Measured], words: Words) -> Measured:
    name = words.measures.compared
    sign = 1 if name in words.measures.smaller_is_better else -1
    return min(measured, key=lambda one: sign * one.scores[name])


def _caption(measured: Sequence[Measured], words: Words) -> str:
    """How sure the title is, and how many literals intervals and thresholds take."""
    own, best = _intervals(measured), _best(measured, words)
    rows = style.count(len(best.answers.truth), "test row")
    told = [f"{rows}{words.decides}; the best of several models on the same rows is partly luck"]
    if own is not None and best is not own:
        low, high = words.measures.difference(best.answers, own.answers)
        if np.isfinite(low):
            ends = f"{words.difference(low)} to {words.difference(high)}"
            told.append(f"The difference is, with 95 % confidence, from {ends}")
    return ". ".join([*told, *sizes(measured)]) + "."


def sizes(measured: Sequence[Measured]) -> list[str]:
    """How many literals intervals take beside thresholds, where both are known."""
    by_name = {one.name: one.n_literals for one in measured}
    a, b = by_name.get("Intervals"), by_name.get("Thresholds")
    if not a or not b:
        return []
    fewer = f"{b / a:.1f} times fewer" if b >= a else f"{a / b:.1f} times more"
    return [
        f"Intervals take {fewer} literals than thresholds; a literal is one bound or category that a clause asks for"
    ]


def as_frame(measured: Sequence[Measured], words: Words) -> pd.DataFrame:
    """The comparison in the paper's columns, one row per model."""
    first, *others = words.in_table
    rows: dict[str, dict[str, Any]] = {}
    for one in measured:
        low, high = one.intervals[first]
        rows[one.name] = {
            words.head(first): one.scores[first],
            "95 %": words.span(first, low, high) if np.isfinite(low) else None,
            **{words.head(name): one.scores[name] for name in others},
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


def _table(measured: Sequence[Measured], words: Words) -> None:
    frame = as_frame(measured, words)
    number, scores = st.column_config.NumberColumn, {}
    for name in words.in_table:
        head, (_, most) = words.head(name), words.measures.ends[name]
        largest = 0.0 if most <= 1 else float(frame[head].abs().max())
        scores[head] = number(format=style.three_digits(largest))
    three, one = (number(format=text) for text in ("%.3f", "%.1f"))
    st.dataframe(
        frame,
        column_config=scores | {"Time (s)": three, "Mem., train. (KB)": one, "Mem., test. (KB)": one},
        height="content",
        placeholder="–",
    )
    st.caption(
        "No. of Lit.: included literals of the trained machine; for the tree, the tests on its paths. Rules and their "
        "literals are what settling leaves. Memory: all arrays held in training, the rows as the model reads them "
        "included, and those needed to predict. Time: of the processor, for training, one after another."
    )
