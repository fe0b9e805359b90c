"""Runs whose settings change on the way, and what every one of them must equal."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tmcore import TrainingRun
from tmcore.history import Snapshot
from tmcore.machine import Machine

Changes = list[tuple[int, str, float]]
"""Step, name and value."""


def change_lists(last: int) -> st.SearchStrategy[Changes]:
    """Up to four changes until a step."""
    step = st.integers(0, last)
    return st.lists(
        st.one_of(
            st.tuples(step, st.just("T"), st.sampled_from([1.0, 3.5, 10.0])),
            st.tuples(step, st.just("s"), st.sampled_from([1.0, 2.5, 9.0])),
            st.tuples(step, st.just("gamma"), st.sampled_from([0.0, 0.1])),
        ),
        max_size=4,
    )


def learn_with_changes(run: TrainingRun, changes: Changes, samples: int) -> TrainingRun:
    """The run, stopped after so many rows."""
    for step, name, value in sorted(changes, key=lambda change: change[0]):
        if step <= samples:
            run.learn(step - run.step)
            run.change(**{name: value})
    run.learn(samples - run.step)
    return run


def assert_same_machine(one: Machine, other: Machine) -> None:
    """Two machines stand at the same step with the same clauses."""
    np.testing.assert_array_equal(one.state.planes, other.state.planes)
    np.testing.assert_array_equal(one.state.weights, other.state.weights)
    assert (one.state.step, one.parameters) == (other.state.step, other.parameters)


def assert_same_snapshot(one: Snapshot, other: Snapshot) -> None:
    """Two snapshots hold the same."""
    for name, value in vars(one.bank).items():
        np.testing.assert_array_equal(value, getattr(other.bank, name))
    for name in ("votes", "feedback", "literals_per_clause"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.record() == other.record()


def check_any_step(
    begin: Callable[[], TrainingRun], changes: Changes, last: int, steps: list[int], dense: bool
) -> None:
    """Steps of a run of ``last`` rows equal fresh runs stopped there; ``dense``: with a checkpoint every time."""
    run = begin()
    run.checkpoints.spacing = 0.0 if dense else 1e9
    learn_with_changes(run, changes, last)
    assert len(run.checkpoints) > 1 or not dense
    for step in steps:
        fresh = learn_with_changes(begin(), changes, step)
        assert_same_machine(run.machine_at(step), fresh.machine)
        before = learn_with_changes(begin(), changes, max(0, step - 1))
        before.machine.take_counts()
        before.learn(step - before.step)
        for change in fresh.changes[len(before.changes) :]:
            values: dict[str, Any] = {change.name: change.value}
            before.change(**values)
        assert_same_snapshot(run.at(step), before.snapshot())
