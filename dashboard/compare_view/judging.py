"""How sure the scores are: the run's test rows with their intervals, and repeated splits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import style
from dashboard.background import THREADS
from dashboard.compare_view import charts
from dashboard.compare_view.state import Comparing
from dashboard.compare_view.working import offer
from dashboard.splitting import Split
from tmcore.conditions import visible
from tmcore.judge import Judgement, judge, one_split
from tmcore.parameters import Parameters
from tmcore.splits import Split as Rows
from tmcore.splits import column_split, group_splits, random_splits, time_order, time_splits

if TYPE_CHECKING:
    from dashboard.compare_view.words import Words
    from dashboard.goals import Model

KINDS = {"random": "At random", "group": "By a group", "time": "By time", "column": "By a column"}
REASONS = {
    "random": "How good is it on more rows like these?",
    "group": "How good is it on a patient, a branch or a site that it never saw? Their rows stay together.",
    "time": "How good is it on what comes later? It learns from earlier rows and is tried on later ones.",
    "column": "How good is it where it never was? The rows with one value, such as one hospital, are kept aside.",
}
MOST_VALUES = 200


@dataclass(frozen=True, eq=False)
class Divide:
    """How rows are divided: the kind, the column that does it, for a given column the value to test on, how often."""

    kind: str
    column: pd.Series | None = None
    value: Any = None
    repeats: int = 1


@dataclass(frozen=True)
class Judged:
    """A judgement, and in words what it was made on."""

    judgement: Judgement
    how: str


def all_rows(split: Split) -> tuple[pd.DataFrame, pd.Series]:
    """Training and test rows together."""
    return pd.concat([split.X_train, split.X_test]), pd.concat([split.y_train, split.y_test])


def show(held: Comparing, model: Model, parameters: Parameters, columns: pd.DataFrame) -> None:
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
    st.caption(REASONS[kind])
    name, value = _column(kind, columns)
    repeats = 1
    if kind != "column":
        repeats = st.select_slider("Splits", [5, 10, 20, 50], 20, key="judge_repeats", width=260)
    if kind != "random" and name is None:
        st.caption("No column can divide the rows like this.")
        return
    split, divide = held.split, Divide(kind, None if name is None else columns[name], value, repeats)

    def work(progress: Any, stop: Any) -> Judged:  # without `held`, whose end stops the task
        return Judged(_judge(split, parameters, divide, progress, stop), _how(kind, name, value))

    label = "Judge on one split" if repeats == 1 else f"Judge on {repeats} splits"
    task = offer(held, "judge", label, "Training", work, _about(held, repeats))
    judged: Judged | None = None if task is None else task.result
    if judged is not None:  # what it took is the best estimate of what it takes
        held.machine_seconds = float(judged.judgement.trials["seconds"].mean())
    _result(held, model, judged)


def _judge(split: Split, parameters: Parameters, divide: Divide, progress: Any, stop: Any) -> Judgement:
    X, y = all_rows(split)
    return judge(
        X,
        y,
        parameters,
        splits_of(divide, split, y),
        task=split.task,
        positive_class=split.positive_class,
        n_jobs=THREADS,
        progress=progress,
        stop=stop,
    )


def _about(held: Comparing, repeats: int) -> str:
    """Why machines are trained, and for how long."""
    if repeats == 1:
        return f"Trains one machine with this run's settings on the other rows, {held.takes(1)}."
    return (
        f"Divides the rows anew {repeats} times, trains a machine on one part each time and tries it on the other: "
        f"{held.takes(repeats)} in all. How far the {repeats} scores lie apart says how far to trust one of them. This "
        "run and its rules stay as they are."
    )


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


def splits_of(divide: Divide, split: Split, y: pd.Series) -> list[Rows]:
    """The splits of all rows, whose targets are ``y``."""
    share, repeats = split.test_share, divide.repeats
    if divide.kind == "random":
        return random_splits(y, repeats, share, by_class=split.task == "classes")
    assert divide.column is not None  # the other kinds have one
    values = divide.column.loc[y.index]
    if divide.kind == "group":
        return group_splits(values, repeats, share)
    if divide.kind == "time":
        return time_splits(time_order(values), repeats, share)
    return column_split(values, divide.value)


def _how(kind: str, name: str | None, value: Any) -> str:
    if kind == "random":
        return "rows drawn at random"
    if kind == "group":
        return f"whole groups of {style.short(name)} kept aside"
    if kind == "time":
        return f"later rows by {style.short(name)} kept aside"
    return f"the rows where {style.short(name)} is {style.short(value)} kept aside"


def _result(held: Comparing, model: Model, judged: Judged | None) -> None:
    words, split = held.words, held.split
    answers = words.measures.answers(model, split.X_test, split.y_test)
    own = one_split(words.measures, answers)
    if judged is None:
        intervals, trials, missing = own, None, words.measures.missing(answers)
        rows = style.count(len(split.y_test), "test row")
        style.section(
            words.doubt(_line(own, words.measures.names[0]), rows),
            "The run's own test rows with their 95 % intervals. Repeated splits say more: they also show how much the "
            "rules depend on the rows they are trained on.",
        )
    else:
        found = judged.judgement
        intervals, trials, missing = found.intervals, found.trials, found.missing
        line = _line(intervals, words.measures.names[0])
        style.section(words.verdict(line, len(found.trials)), finding(judged, words))
    longest = max(len(words.name(name)) for panel in words.panels for name in panel)
    for number, panel in enumerate(words.panels):
        rows_of = [_row(words, name, intervals, trials, own, missing) for name in panel]
        st.plotly_chart(charts.judged(rows_of, longest), config=charts.CONFIG, key=f"judge_chart_{number}")
    bar = "Bar: 95 % interval. Tick: "
    st.caption(
        f"{bar}score."
        if trials is None
        else f"{bar}mean. Grey: one split each. Hollow: this run's test rows."
    )
    bare = {name for name in words.measures.names if np.isnan(_line(intervals, name)["low"])}
    if bare - missing.keys():
        st.caption(
            "Without a bar: nothing varies here that an interval could be worked out from, as when every row is right."
        )
    for name, why in missing.items():
        first = "" if trials is None or len(trials) == 1 else "in no split, for example since "
        st.caption(style.plain(f"{words.name(name)} cannot be computed: {first}{why}."))
    _table(intervals, trials, words)


def _line(intervals: pd.DataFrame, name: str) -> dict[str, float]:
    """One measure's score, interval, and lowest and highest split."""
    return dict(zip(intervals.columns, intervals.loc[name].to_numpy(np.float64).tolist(), strict=True))


def _row(
    words: Words,
    name: str,
    intervals: pd.DataFrame,
    trials: pd.DataFrame | None,
    own: pd.DataFrame,
    missing: dict[str, str],
) -> charts.JudgedRow:
    """One measure of the picture."""
    row = _line(intervals, name)
    text = "cannot be computed, see below" if name in missing else words.value(name, row["mean"])
    told = words.name(name), row["mean"], row["low"], row["high"], text
    if trials is None:
        return charts.JudgedRow(*told)
    return charts.JudgedRow(*told, tuple(trials[name].dropna()), _line(own, name)["mean"])


def finding(judged: Judged, words: Words) -> str:
    """What the splits were, and what else they say."""
    found, first = judged.judgement, words.measures.names[0]
    row = _line(found.intervals, first)
    n = len(found.trials)
    rows = style.count(round(float(found.trials["n_test"].mean())), "test row")
    notes = [f"{style.count(n, 'split')} of about {rows}, {judged.how}"]
    if n > 1:
        alone = words.span(first, row["lowest"], row["highest"])
        notes.append(f"one split alone could have said anything from {alone}")
    notes.append(words.simplest(float(found.trials["simplest"].mean())))
    if n > 1:
        sizes = found.trials["rules"]
        notes.append(f"{sizes.min():.0f} to {sizes.max():.0f} rules")
    for name in words.measures.names:
        known = int(found.trials[name].notna().sum())
        if 0 < known < n:
            notes.append(f"{words.name(name)} is the mean of the {known} splits where it can be computed")
    if found.n_skipped:
        notes.append(f"{found.n_skipped} left out, since {words.only_one}")
    if not found.complete:
        notes.append("stopped early")
    return ". ".join(note[0].upper() + note[1:] for note in notes) + "."


def _table(intervals: pd.DataFrame, trials: pd.DataFrame | None, words: Words) -> None:
    names = {name: words.head(name) for name in words.measures.names}
    shown = intervals.loc[list(names)].rename(
        index=names,
        columns={"low": "95 % from", "high": "95 % to", "lowest": "lowest split", "highest": "highest split"},
    )
    if trials is None:
        shown = shown[["mean", "95 % from", "95 % to"]].rename(columns={"mean": "score"})
    with st.expander("The same as numbers, and what the scores mean"):
        st.dataframe(shown.rename_axis("measure").map(_three), height="content", placeholder="–")
        for name, meaning in words.meanings().items():
            st.caption(style.plain(f"{name}: {meaning}"))
        if trials is not None:
            each = trials.assign(
                **{name: trials[name].map(_three) for name in (*names, "simplest", "seconds")}
            )
            each = each.reset_index(drop=True).rename(columns=names | {"simplest": "always the same answer"})
            st.dataframe(each, hide_index=True, placeholder="–")


def _three(number: float) -> float:
    """A number with three digits, whatever its size."""
    return float(f"{number:.3g}")
