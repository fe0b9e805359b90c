"""The moments kept of a run: few, evenly spread, and drawn from its checkpoints where the run was kept on disk."""

from __future__ import annotations

from typing import Any

import numpy as np

from dashboard.history import FEWEST_MOMENTS, MOST_MOMENTS, History, Moment
from tmcore.scores import Scores


def moment(step: int) -> Moment:
    bounds = np.zeros((1, 2, 3), np.uint8)
    feedback = np.ones((1, 2, 3), np.int64)
    return Moment(step, step / 10, step, Scores(0.5, 0.5), bounds, bounds, bounds, feedback)


def test_history_stays_small_even_and_loses_no_feedback() -> None:
    history = History()
    for step in range(1000):
        history.add(moment(step))
        steps = [m.step for m in history]
        assert steps[0] == 0
        assert steps[-1] == step
        assert len(history) <= MOST_MOMENTS
    assert sum(m.feedback for m in history).tolist() == np.full((1, 2, 3), 1000).tolist()
    gaps = np.diff([m.step for m in history])[:-1]
    assert gaps.max() <= 2 * gaps.min()


def test_history_of_a_large_machine_keeps_fewer_moments() -> None:
    history = History()
    big = np.zeros((1, 1000, 3000), np.uint8)
    for step in range(100):
        history.add(Moment(step, 0.0, 0, None, big, big, big, np.zeros((1, 1000, 3), np.int64)))
    assert len(history) <= FEWEST_MOMENTS


def test_the_past_of_a_kept_run_is_drawn_from_its_checkpoints(made_up: Any) -> None:
    run = made_up.trained(0)
    run.checkpoints.spacing = 0.0
    for _ in range(4):
        run.advance(epochs=1)
    moments = History.of(run).moments()
    assert len(moments) > 2
    for moment in moments:
        np.testing.assert_array_equal(moment.lower, run.at(moment.step).bank.lower)
    assert moments[-1].scores in run.history
