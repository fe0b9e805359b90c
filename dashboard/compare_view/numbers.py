"""The Compare page where a number is predicted: the rules beside the usual models on the same split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard import style
from dashboard.compare_view.state import Comparing
from dashboard.compare_view.working import offer
from dashboard.goals import NumberGoal
from tmcore.number_contenders import MeasuredNumbers, compare_numbers
from tmcore.scores import NumberScores

if TYPE_CHECKING:
    from dashboard.goals import Model
    from dashboard.jobs import Job


def show(held: Comparing, job: Job, model: Model, below: str) -> None:
    """Draw the page for the settled rules of ``model``; ``below`` goes under its sentence."""
    goal, split = job.goal, held.split
    assert isinstance(goal, NumberGoal)
    rules = style.count(len(model.rules_), "rule")
    scores = goal.measure(model, (split.X_train, split.y_train), (split.X_test, split.y_test))
    result = goal.result(scores, one=len(model.rules_) == 1)
    style.sentence(f"{rules} {result}" if result else f"{rules}, not measured on unseen rows", below)
    if not result:
        st.caption("No rows were kept aside, so there is nothing to score on. Keep some on the Data page.")
        return
    seed = job.parameters.random_state % 2**32

    def work(progress: Any, stop: Any) -> list[MeasuredNumbers]:
        train, test = (split.X_train, split.y_train), (split.X_test, split.y_test)
        return compare_numbers(train, test, seed, progress, stop)

    task = offer(
        held,
        "number models",
        "Compare with other models",
        "Training",
        work,
        f"{style.count(len(split.y_train), 'row')} to train on, the same {len(split.y_test):,} to test on: always the "
        "mean, a shallow tree, ridge regression, a forest.",
    )
    if task is not None and task.result:
        _table(task.result, scores, rules, goal)
    st.caption(
        "Repeated splits, thresholds of probability, other runs and other seeds are compared for classes only."
    )


def _table(measured: list[MeasuredNumbers], scores: NumberScores, rules: str, goal: NumberGoal) -> None:
    own = (f"These {rules}", "interval rules that add up", scores.test_mae or 0.0, scores.test_r2)
    lines = sorted(
        [own, *((one.name, one.about, one.mae, one.r2) for one in measured)], key=lambda one: one[2]
    )
    place = lines.index(own) + 1
    ahead = [one[0].lower() for one in lines[: place - 1]]
    style.section(
        f"Only {' and '.join(ahead)} {'misses' if len(ahead) == 1 else 'miss'} by less"
        if ahead
        else "No other model misses by less",
        "The same test rows, best first. With few of them small differences are noise.",
    )
    left, _ = st.columns([2, 1])
    left.table(
        {
            "": [style.plain(one[0]) for one in lines],
            "what it is": [one[1] for one in lines],
            "mean error (MAE)": [goal.amount(one[2]) for one in lines],
            "R²": ["not measured" if one[3] is None else style.share(one[3]) for one in lines],
        },
        hide_index=True,
    )
