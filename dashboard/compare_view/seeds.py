"""Which rules come back when the machine is trained again with other seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard import style
from dashboard.background import THREADS
from dashboard.compare_view.payload import ComparePainter
from dashboard.compare_view.rules_beside import compared_rules
from dashboard.compare_view.state import Comparing
from dashboard.compare_view.working import offer
from tmcore.compare import Stability, stability
from tmcore.parameters import Parameters

if TYPE_CHECKING:
    from dashboard.goals import Model

MOST_OWN = 100
MOST_OTHERS = 12


def show(held: Comparing, model: Model, parameters: Parameters) -> None:
    """Draw the section."""
    n = st.select_slider("Seeds", [5, 10, 20, 50], 10, key="seeds_number", width=260)
    split, rules = held.split, model.rules_

    def work(progress: Any, stop: Any) -> Stability:
        seeds = [parameters.random_state + k for k in range(1, n + 1)]
        return stability(
            split.X_train,
            split.y_train,
            parameters,
            seeds,
            rules,
            n_jobs=THREADS,
            progress=progress,
            stop=stop,
        )

    about = (
        "A machine makes random draws while it learns, and the seed decides which. This trains "
        f"{style.count(n, 'more machine')} on the same rows with the same settings, {held.takes(n)} in all. A rule "
        "that most of them find does not hang on those draws; one that few find may be chance."
    )
    task = offer(held, "seeds", f"Train with {n} other seeds", "Training", work, about)
    if task is None:
        return
    found: Stability = task.result
    own = [one for one in found.rules if one.number is not None]
    shown = own[:MOST_OWN]
    others = [one for one in found.rules if one.number is None and 2 * one.n_seeds >= found.n_seeds]
    shown += others[:MOST_OTHERS]
    style.section(finding(found, model), _caption(found, held.words.alike, len(own), len(others)))
    painter = ComparePainter(rules, split.X_train, split.y_train)
    compared_rules(painter.stability(found, shown), ("share of seeds", "seeds"), key="seeds_rules")


def finding(found: Stability, model: Model) -> str:
    """How many of the run's rules are usual."""
    n_shapes = sum(one.number is not None for one in found.rules)
    verb = "comes" if found.n_usual == 1 else "come"
    return f"{found.n_usual} of {style.count(n_shapes, 'rule')} {verb} back in most of {found.n_seeds} seeds"


def _caption(found: Stability, alike: str, n_own: int, n_others: int) -> str:
    sizes = [len(rules) for rules in found.sets]
    words = (
        f"A rule comes back when another seed gives one like it: {alike}, and asking the same columns in the same "
        f"direction, wherever the bounds are. Line: 95 % interval. {min(sizes)} to {max(sizes)} rules a seed."
    )
    if n_own > MOST_OWN:
        words += f" The {MOST_OWN} heaviest of {n_own:,} are shown."
    if n_others > MOST_OTHERS:
        words += f" {n_others - MOST_OTHERS} more rules that others have are not shown."
    return words if found.complete else words + " Stopped early."
