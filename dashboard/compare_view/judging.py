"""How sure the scores are: the run's test rows with their intervals, and repeated splits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import style
from dashboard.background import THREADS
from dashboard.compare_view import charts
from dashboard.compare_view.state import Comparing, measure_name
from dashboard.compare_view.working import offer
from dashboard.session import Split
from tmcore.conditions import visible
from tmcore.estimators import TsetlinClassifier
from tmcore.judge import MEASURES, Judgement, judge, one_split_intervals, scores, shares_of
from tmcore.labels import class_indices
from tmcore.parameters import Parameters
from tmcore.splits import Split as Rows
from tmcore.splits import column_split, group_splits, random_splits, time_order, time_splits

KINDS = {"random": "At random", "group": "By a group", "time": "By time", "column": "By a column"}
MOST_VALUES = 200


@dataclass(frozen=True)
class Judged:
    """A judgement, and in words what it was made on."""

    judgement: Judgement
    how: str


def all_rows(split: Split) -> tuple[pd.DataFrame, pd.Series]:
    """Training and test rows together."""
    return pd.concat([split.X_train, split.X_test]), pd.concat([split.y_train, split.y_test])


def show(held: Comparing, model: TsetlinClassifier, parameters: Parameters, columns: pd.DataFrame) -> None:
    """Draw the section; ``columns`` are those that may divide the rows, with the index of the rows."""
    kind = st.segmented_control(
        "How rows are kept aside",
        list(KINDS),
        default=held.choices.get("kind", "random"),
        required=True,
        format_func=KINDS.__getitem__,
        key="judge_kind",
    )
    held.choices["kind"] = kind
    name, value = _column(kind, columns)
    repeats = 1
    if kind != "column":
        repeats = st.select_slider("Splits", [5, 10, 20, 50], 20, key="judge_repeats", width=260)
    if kind != "random" and name is None:
        st.caption("No column can divide the rows like this.")
        return
    X, y = all_rows(held.split)
    share = held.split.test_share
    label = "Judge on one split" if repeats == 1 else f"Judge on {repeats} splits"
    about = f"Trains {style.count(repeats, 'machine')} with this run's settings, each on other rows."

    def work(progress: Any, stop: Any) -> Judged:
        values = None if name is None else columns[name].loc[X.index]
        splits = _splits(kind, y, values, value, repeats, share)
        found = judge(
            X,
            y,
            parameters,
            splits,
            positive_class=held.split.positive_class,
            n_jobs=THREADS,
            progress=progress,
            stop=stop,
        )
        return Judged(found, _how(kind, name, value))

    task = offer(held, "judge", label, "Training", work, about)
    _result(held.split, model, task.result if task is not None else None)


def _column(kind: str, columns: pd.DataFrame) -> tuple[str | None, Any]:
    """The column that divides the rows and, for a given column, the value to test on."""
    if kind == "random":
        return None, None
    fitting = []
    for name in columns.columns:
        n_values = columns[name].nunique()
        few = 2 <= n_values <= MOST_VALUES
        if (
            (kind == "column" and few)
            or (kind == "group" and n_values >= 3)
            or (kind == "time" and n_values >= 3)
        ):
            fitting.append(name)
    if not fitting:
        return None, None
    labels = {"group": "Rows with the same value stay together", "time": "Time", "column": "Column"}
    left, right = st.columns(2)
    name = left.selectbox(labels[kind], fitting, format_func=visible, key=f"judge_{kind}_column")
    if kind != "column":
        return name, None
    values = sorted(columns[name].dropna().unique().tolist(), key=str)
    value = right.selectbox("Test on the rows with", values, format_func=visible, key=f"judge_value_{name}")
    return name, value


def _splits(kind: str, y: pd.Series, values: Any, value: Any, repeats: int, share: float) -> list[Rows]:
    if kind == "random":
        return random_splits(y, repeats, share)
    if kind == "group":
        return group_splits(values, repeats, share)
    if kind == "time":
        return time_splits(time_order(values), repeats, share)
    return column_split(values, value)


def _how(kind: str, name: str | None, value: Any) -> str:
    if kind == "random":
        return "rows drawn at random"
    if kind == "group":
        return f"whole groups of {style.short(name)} kept aside"
    if kind == "time":
        return f"later rows by {style.short(name)} kept aside"
    return f"the rows where {style.short(name)} is {style.short(value)} kept aside"


def own_answers(split: Split, model: TsetlinClassifier) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, predictions and probabilities of the run's test rows."""
    labels = class_indices(split.y_test, model.rule_classes_)
    predicted = class_indices(model.predict(split.X_test), model.rule_classes_)
    return labels, predicted, shares_of(model, split.X_test, model.rule_classes_)


def span(low: float, high: float) -> str:
    """Two shares as percentages: "73 to 85 %"."""
    return f"{100 * low:.0f} to {style.percent(high)}"


def _result(split: Split, model: TsetlinClassifier, judged: Judged | None) -> None:
    answers = own_answers(split, model)
    own = scores(*answers)
    n_test = len(split.y_test)
    if judged is None:
        intervals, trials = one_split_intervals(*answers), None
        row = intervals.loc["accuracy"].to_dict()
        style.section(
            f"{style.count(n_test, 'test row')} say little: {span(row['low'], row['high'])} right may be the truth",
            "The run's own test rows with their 95 % intervals. Repeated splits say more: they also show how much the "
            "rules depend on the rows they are trained on.",
        )
    else:
        intervals, trials = judged.judgement.intervals, judged.judgement.trials
        _finding(judged)
    names = [measure_name(measure, split) for measure in MEASURES]
    st.plotly_chart(charts.judged(intervals, trials, own, names), config=charts.CONFIG, key="judge_chart")
    bar = "Bar: 95 % interval. Tick: "
    st.caption(
        f"{bar}score."
        if trials is None
        else f"{bar}mean. Grey: one split each. Hollow: this run's test rows."
    )
    _table(intervals, trials, dict(zip(MEASURES, names, strict=True)))


def _finding(judged: Judged) -> None:
    found = judged.judgement
    row = found.intervals.loc["accuracy"].to_dict()
    n = len(found.trials)
    rows = style.count(round(float(found.trials["n_test"].mean())), "test row")
    middle = f"{style.percent(row['mean'])} right, give or take: {span(row['low'], row['high'])}"
    notes = [f"{style.count(n, 'split')} of about {rows}, {judged.how}"]
    if n > 1:
        notes.append(f"one split alone could have said anything from {span(row['lowest'], row['highest'])}")
        sizes = found.trials["rules"]
        notes.append(f"{sizes.min():.0f} to {sizes.max():.0f} rules")
    if found.n_skipped:
        notes.append(f"{found.n_skipped} left out, since only one class was there to train on")
    if not found.complete:
        notes.append("stopped early")
    style.section(middle, ". ".join([notes[0], *(note[0].upper() + note[1:] for note in notes[1:])]) + ".")


def _table(intervals: pd.DataFrame, trials: pd.DataFrame | None, names: dict[str, str]) -> None:
    shown = intervals.loc[list(MEASURES)].rename(
        index=names,
        columns={"low": "95 % from", "high": "95 % to", "lowest": "lowest split", "highest": "highest split"},
    )
    if trials is None:
        shown = shown[["mean", "95 % from", "95 % to"]].rename(columns={"mean": "score"})
    with st.expander("The same as numbers"):
        st.dataframe(shown.rename_axis("measure").round(3), height="content")
        if trials is not None:
            st.dataframe(trials.reset_index(drop=True).rename(columns=names).round(3), hide_index=True)
