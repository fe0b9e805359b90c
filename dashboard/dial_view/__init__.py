"""The readability dial at the top of the Rules page: accuracy against the number of rules, and three named points."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard import style
from dashboard.asked import asked
from dashboard.background import Task
from dashboard.dial_measures import Measuring
from dashboard.dialling import Dialling, Mark, Pick, picks
from dashboard.live.estimate import duration

if TYPE_CHECKING:
    from dashboard.jobs import Job

KEY = "readability_dial"

_component = st.components.v2.component(
    "tsetlin_dial",
    html='<div class="dial"><svg role="slider" tabindex="0" aria-label="Number of rules"></svg></div>',
    css=style.component_css("dial_view/dial.css"),
    js=style.text_of("dial_view/dial.js"),
)


def chart(dial: Dialling, job: Job) -> None:
    """Draw the line with its title, or room for it; the first call starts working it out."""
    dial.begin()
    if dial.why_not is not None:
        style.section("Fewer rules or more")
        st.caption(style.plain(dial.why_not))
        return
    with st.container(key="dial_chart"):
        _line(dial, job)


def _line(dial: Dialling, job: Job) -> None:
    found = dial.found
    if found is None:
        style.section("Fewer rules or more")
    elif not found.marks:
        style.section("Fewer rules or more", "There is no path from few rules to many for these weights.")
    else:
        style.section(finding(found.marks), caption(dial, found.marks))
        _component(key=KEY, data=payload(dial, found.marks, job), on_pick_change=_picked, height="content")


def finding(marks: tuple[Mark, ...]) -> str:
    """The chart's title."""
    named = picks(marks)
    if not named:
        return f"From {marks[0].n_rules} to {style.count(marks[-1].n_rules, 'rule')}"
    simplest, best, last = (pick.mark for pick in named)
    if simplest is last:
        return "Every rule helps"
    if simplest is best:
        return f"More than {style.count(best.n_rules, 'rule')} do not help"
    verb = "is" if simplest.n_rules == 1 else "are"
    return f"{style.count(simplest.n_rules, 'rule')} {verb} within noise of the best"


def caption(dial: Dialling, marks: tuple[Mark, ...]) -> str:
    """What is drawn."""
    hollow = "" if marks[0].test is None else " Hollow: test rows, not used to choose."
    if dial.is_scored:
        return (
            f"Line: {dial.measuring.name} of the whole machine retrained on parts of the training rows, on the rest, ± "
            f"one standard error.{hollow} Drag, or use ← →."
        )
    name = dial.measuring.name
    return (
        f"Line: {name} on the rows the clauses were learned from, which flatters.{hollow} Drag, or use ← →."
    )


def payload(dial: Dialling, marks: tuple[Mark, ...], job: Job) -> dict[str, Any]:
    """What the component is sent."""
    baseline = dial.measuring.baseline(job)
    seen = [baseline.score]
    for mark in marks:
        seen += [value for value in (mark.mean, mark.test) if value is not None]
        if mark.mean is None:
            seen.append(mark.train)
    return {
        "points": [
            {
                "n": mark.n_rules,
                "train": mark.train,
                "test": mark.test,
                "mean": mark.mean,
                "error": _known(mark),
            }
            for mark in marks
        ],
        "chosen": dial.in_use,
        "scored": dial.is_scored,
        "baseline": baseline.score,
        "baselineText": baseline.text,
        "percent": job.task == "classes",
        "low": max(0.0, math.floor((min(seen) - 0.01) * 20) / 20),
        "high": min(1.0, math.ceil((max(seen) + 0.01) * 20) / 20),
    }


def _known(mark: Mark) -> float | None:
    return mark.error if mark.error is not None and mark.error == mark.error else None


def _picked() -> None:
    from dashboard import session

    dial = session.current().dial
    number = asked(KEY, "pick")
    if dial is not None and isinstance(number, int):
        dial.choose(number)


def _progress(dial: Dialling) -> None:
    task, found = dial.task, dial.found
    if task is not None and task.busy:
        _watch(task, None if found is None else found.seconds)
        if found is not None:
            st.caption(why(dial.n_folds))
    elif task is not None and task.error is not None:
        st.markdown(f":red[:material/error:] {style.plain(task.error)}")
    elif found is not None and found.marks and not dial.is_scored:
        if not dial.n_folds:
            st.caption(dial.measuring.too_few)
            return
        words = f"Check on rows not learned from, {duration(found.seconds)}"
        st.button(words, on_click=dial.retrain, key="dial_retrain")
        st.caption(why(dial.n_folds))


def why(n_folds: int) -> str:
    """What machines are trained again for."""
    return (
        "How many rules are enough shows only on rows that they were not made from. So the training rows are divided "
        f"in {n_folds}, and {n_folds} times a machine learns from all parts but one and is scored on that one. The "
        "rules and the test rows stay as they are."
    )


@st.fragment(run_every=0.5)
def _watch(task: Task, seconds: float | None) -> None:
    if not task.busy:
        st.rerun()
    done, planned = task.progress
    words = task.name
    if task.waiting:
        words += ": starts when others are done"
    elif (left := task.seconds_left) is not None:
        words += f": {done} of {planned}, {duration(max(1.0, left))} left"
    elif seconds is not None:
        words += f", {duration(seconds)}"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(done / planned if planned else 0.0, style.plain(words))
        if planned and st.button("Stop", key="dial_stop", disabled=task.stopped):
            task.stop()


def choices(dial: Dialling) -> None:
    """The named points as buttons, each with what it loses; until they are known, how far the work on them is."""
    if dial.why_not is None:
        with st.container(key="dial_choices"):
            _progress(dial)
            _picks(dial)


def _picks(dial: Dialling) -> None:
    found = dial.found
    if found is None or not found.marks:
        return
    for pick in picks(found.marks):
        chosen = pick.mark.n_rules == dial.in_use
        st.button(
            style.plain(pick_words(pick, dial.measuring)),
            key=f"dial_{pick.name}",
            type="primary" if chosen else "secondary",
            width="stretch",
            on_click=dial.choose,
            args=(pick.mark.n_rules,),
        )
    if dial.chosen is not None:
        st.button(
            f"Back to the {style.count(dial.settled_rules, 'rule')} that settling chose",
            key="dial_settled",
            type="tertiary",
            on_click=dial.choose,
            args=(dial.settled_rules,),
        )


def pick_words(pick: Pick, by: Measuring) -> str:
    """A named point with its size and loss: "Every rule: 44 rules, −5.3 points"."""
    return f"{pick.name}: {style.count(pick.mark.n_rules, 'rule')}, {by.loss(pick.loss)}"
