"""Another run beside this one, trained in the background with another seed or settings, and compared rule by rule."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard import style
from dashboard.compare_view.payload import ComparePainter
from dashboard.compare_view.rules_beside import compared_rules
from dashboard.compare_view.state import Beside, Comparing
from dashboard.compare_view.working import offer
from tmcore.compare import Difference, difference, spans
from tmcore.estimators import TsetlinClassifier
from tmcore.judge import fit
from tmcore.parameters import PARAMETERS, Parameters

if TYPE_CHECKING:
    from dashboard.jobs import Job

SHOWN_AT_FIRST = 60
SETTINGS = ("n_clauses", "T", "s", "epochs")


def _changes(base: Parameters) -> Parameters | None:
    """The other run's settings, from the fields; None where they cannot be."""
    cells = st.columns(6)
    values: dict[str, Any] = {
        "random_state": cells[0].number_input("Seed", 0, 2**31 - 1, base.random_state + 1, key="other_seed")
    }
    for cell, name in zip(cells[1:5], SETTINGS, strict=True):
        info = PARAMETERS[name]
        value = base.vote_target if name == "T" else getattr(base, name)
        whole = info.step is not None and float(info.step).is_integer()
        kind: Any = int if whole else float
        values[name] = cell.number_input(
            info.label, kind(info.minimum), kind(info.maximum), kind(value), kind(info.step),
            key=f"other_{name}", help=info.meaning, format=None if whole else "%g",
        )  # fmt: skip
    if base.T == "auto" and values["T"] == base.vote_target:
        values["T"] = "auto"
    kinds = [one for one in PARAMETERS["representation"].choices if one != "boolean"]
    values["representation"] = cells[5].selectbox(
        "Representation",
        kinds,
        kinds.index(base.representation),
        format_func=str.capitalize,
        key="other_kind",
    )
    try:
        return base.replace(**values)
    except ValueError as error:
        st.markdown(f":red[:material/error:] {style.plain(str(error))}")
        return None


def name_of(parameters: Parameters, base: Parameters) -> str:
    """A run named by what differs: "seed 3, s 5"."""
    labels = {"random_state": "seed", "n_clauses": "clauses", "representation": ""}
    differing = [
        f"{labels.get(field.name, field.name)} {getattr(parameters, field.name)}".strip()
        for field in dataclasses.fields(Parameters)
        if getattr(parameters, field.name) != getattr(base, field.name)
    ]
    return ", ".join(differing) or f"seed {parameters.random_state}, the same settings"


def _accuracy(held: Comparing, model: TsetlinClassifier) -> float | None:
    return float(model.score(held.split.X_test, held.split.y_test)) if len(held.split.y_test) else None


def show(held: Comparing, job: Job, model: TsetlinClassifier) -> None:
    """Draw the section."""
    base = job.parameters
    chosen = _changes(base)
    if chosen is None:
        return
    split = held.split

    def work(progress: Any, stop: Any) -> Beside | None:
        other = fit(split.X_train, split.y_train, chosen, stop, split.positive_class)
        if other is None:
            return None
        return Beside(name_of(chosen, base), chosen, other, _accuracy(held, other))

    def keep() -> None:
        if st.button("Keep this run to compare later ones with", key="other_keep"):
            held.keep(Beside(f"kept: {name_of(base, base)}", base, model, _accuracy(held, model)))
            st.rerun()

    doing = "Training the other run"
    task = offer(held, "other", "Train it beside this run", doing, work, more=keep)
    if task is not None and not task.busy:
        held.keep(task.result)
        held.tasks.pop("other", None)
        st.rerun()
    if not held.beside:
        st.caption("No other run yet. One is trained on the same rows, so only seed and settings differ.")
        return
    places = list(range(len(held.beside)))[::-1]
    place = st.selectbox(
        "Compare with", places, format_func=lambda k: held.beside[k].name, key=f"other_which_{len(places)}"
    )
    _compare(held, job, model, held.beside[place])


def finding(found: Difference) -> str:
    """The difference in one sentence."""
    parts = [f"{len(found.same)} the same", f"{len(found.moved)} with a moved bound"]
    parts += [f"{len(found.only_first)} only here", f"{len(found.only_second)} only there"]
    return "Rules: " + ", ".join(parts)


def _compare(held: Comparing, job: Job, model: TsetlinClassifier, other: Beside) -> None:
    ours, theirs = model.rules_, other.model.rules_
    found = difference(ours, theirs, spans([ours, theirs], held.split.X_train))
    agree = _agreement(held, model, other.model)
    style.section(finding(found), agree)
    own = _accuracy(held, model)
    rows: dict[str, tuple[float | int | None, float | int | None]] = {
        "Unseen rows right": (own, other.test_accuracy),
        "Rules": (len(ours), len(theirs)),
        "Literals": (ours.n_literals, theirs.n_literals),
        "Included literals while voting": (model.n_literals_, other.model.n_literals_),
    }
    cells = {
        "": list(rows),
        "This run": [_cell(values[0]) for values in rows.values()],
        "The other": [_cell(values[1]) for values in rows.values()],
    }
    left, _ = st.columns([2, 1])
    left.table(pd.DataFrame(cells), hide_index=True)
    painter = ComparePainter(ours, held.split.X_train, held.split.y_train)
    longest = max(len(part) for part in (found.same, found.moved, found.only_first, found.only_second))
    every = longest > SHOWN_AT_FIRST and st.toggle(
        f"Show every rule, not only the first {SHOWN_AT_FIRST} of each kind", key="other_every"
    )
    groups = painter.difference(theirs, found, None if every else SHOWN_AT_FIRST)
    compared_rules(groups, ("weight here", "weight there"), key="other_rules")


def _cell(value: float | int | None) -> str:
    if value is None:
        return "not measured"
    return style.percent(value) if isinstance(value, float) else f"{value:,}"


def _agreement(held: Comparing, model: TsetlinClassifier, other: TsetlinClassifier) -> str:
    split = held.split
    if not len(split.y_test):
        return ""
    same = int((model.predict(split.X_test) == other.predict(split.X_test)).sum())
    return (
        f"Both give {same:,} of {style.count(len(split.y_test), 'test row')} the same class. Rules are paired when "
        "they speak for one class and ask the same columns in the same direction. Dashed: the other run's bound."
    )
