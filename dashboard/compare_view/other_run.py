"""Another run beside this one, trained in the background with another seed or settings, and compared rule by rule."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard import style
from dashboard.compare_view.payload import ComparePainter
from dashboard.compare_view.rules_beside import compared_rules
from dashboard.compare_view.state import Beside, Comparing
from dashboard.compare_view.words import Words
from dashboard.compare_view.working import offer
from tmcore.compare import Difference, difference, spans
from tmcore.judge import fit
from tmcore.parameters import PARAMETERS, Parameters

if TYPE_CHECKING:
    from dashboard.goals import AnyScores, Goal, Model
    from dashboard.jobs import Job

SHOWN_AT_FIRST = 60
SETTINGS = ("n_clauses", "T", "s", "epochs")


def _changes(base: Parameters, goal: Goal) -> Parameters | None:
    """The other run's settings, from the fields; None where they cannot be."""
    cells, vote_target = st.columns(6), goal.settings(base).vote_target
    values: dict[str, Any] = {
        "random_state": cells[0].number_input("Seed", 0, 2**31 - 1, base.random_state + 1, key="other_seed")
    }
    for cell, name in zip(cells[1:5], SETTINGS, strict=True):
        info = PARAMETERS[name]
        value = vote_target if name == "T" else getattr(base, name)
        whole = info.step is not None and float(info.step).is_integer()
        kind: Any = int if whole else float
        values[name] = cell.number_input(
            info.label, kind(info.minimum), kind(info.maximum), kind(value), kind(info.step),
            key=f"other_{name}", help=goal.meanings.get(name, info.meaning), format=None if whole else "%g",
        )  # fmt: skip
    if base.T == "auto" and values["T"] == vote_target:
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


def show(held: Comparing, job: Job, model: Model) -> None:
    """Draw the section."""
    base = job.goal.free(job.parameters)
    chosen = _changes(base, job.goal)
    if chosen is None:
        return
    split, words = held.split, held.words

    def work(progress: Any, stop: Any) -> Beside | None:
        other = fit(split.X_train, split.y_train, chosen, stop, split.positive_class, split.task)
        return None if other is None else Beside(name_of(chosen, base), other, _scores(words, other))

    def keep() -> None:
        if st.button("Keep this run to compare later ones with", key="other_keep"):
            held.keep(Beside(f"kept: {name_of(base, base)}", model, _scores(words, model)))
            st.rerun()

    about = f"Trains one machine on the same rows with the seed and settings above; {held.takes(1)} with this run's."
    task = offer(held, "other", "Train it beside this run", "Training the other run", work, about, keep)
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
    _compare(held, model, held.beside[place])


def _scores(words: Words, model: Model) -> AnyScores:
    split = words.split
    return words.goal.measure(model, (split.X_train, split.y_train), (split.X_test, split.y_test))


def finding(found: Difference) -> str:
    """The difference in one sentence."""
    parts = [f"{len(found.same)} the same", f"{len(found.moved)} with a moved bound"]
    parts += [f"{len(found.only_first)} only here", f"{len(found.only_second)} only there"]
    return "Rules: " + ", ".join(parts)


def _compare(held: Comparing, model: Model, other: Beside) -> None:
    ours, theirs = model.rules_, other.model.rules_
    found = difference(ours, theirs, spans([ours, theirs], held.split.X_train))
    style.section(finding(found), _how(held, model, other.model))
    sizes = (
        ("Rules", len(ours), len(theirs)),
        ("Literals", ours.n_literals, theirs.n_literals),
        ("Included literals while voting", model.n_literals_, other.model.n_literals_),
    )
    own = _scores(held.words, model)
    lines = [*held.words.goal.lines(own, other.scores), *((name, f"{a:,}", f"{b:,}") for name, a, b in sizes)]
    left, _ = st.columns([2, 1])
    names, here, there = zip(*lines, strict=True)
    left.table({"": list(names), "This run": list(here), "The other": list(there)}, hide_index=True)
    painter = ComparePainter(ours, held.split.X_train, held.split.y_train)
    longest = max(len(part) for part in (found.same, found.moved, found.only_first, found.only_second))
    every = longest > SHOWN_AT_FIRST and st.toggle(
        f"Show every rule, not only the first {SHOWN_AT_FIRST} of each kind", key="other_every"
    )
    groups = painter.difference(theirs, found, None if every else SHOWN_AT_FIRST)
    compared_rules(groups, ("weight here", "weight there"), key="other_rules")


def _how(held: Comparing, model: Model, other: Model) -> str:
    """How alike the two answer, and how their rules are paired."""
    split, words = held.split, held.words
    paired = (
        f"Two rules are paired when they are alike: {words.alike}, and asking the same columns in the same direction. "
        "Dashed: the other run's bound."
    )
    if not len(split.y_test):
        return paired
    return f"{words.agreement(model.predict(split.X_test), other.predict(split.X_test))} {paired}"
