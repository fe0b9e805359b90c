"""Going back in a run: any step is the nearest checkpoint and a re-run from there, with the settings of the time.

Every draw is a function of (seed, stream, step, ...), so the re-run makes the same decisions bit for bit.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tmcore.history import Change, Value
from tmcore.machine import Machine, streams
from tmcore.machine.state import ONE_VOTE

if TYPE_CHECKING:
    from tmcore.training import TrainingRun

CHANGEABLE = ("T", "s", "gamma")
"""Settings that may change while a run goes on."""

BRANCHABLE = (*CHANGEABLE, "bound_rule", "boost_true_positive", "weights")
"""Settings that a branch may change: all that leave the arrays as they are."""


class RowOrder:
    """The order in which a run visits its rows; remembers the epoch it was asked for last."""

    def __init__(self, seed: int, n_rows: int) -> None:
        self._seed, self._n_rows = seed, n_rows
        self._epoch, self._order = -1, np.zeros(0, np.int64)

    def rows(self, step: int, count: int) -> np.ndarray:
        """The rows learned at `step` and after it, at most `count` and not beyond the epoch's end."""
        epoch, offset = divmod(step, self._n_rows)
        if self._epoch != epoch:
            self._order, self._epoch = streams.row_order(self._seed, epoch, self._n_rows), epoch
        return self._order[offset : offset + count]


class Pace:
    """How fast a run learns, measured as it goes, and when its next checkpoint is due."""

    def __init__(self) -> None:
        self.rows_per_second = 5_000.0
        self._since_checkpoint = 0.0

    def took(self, n_rows: int, seconds: float) -> None:
        """Rows were learned in that time."""
        self.rows_per_second += 0.5 * (min(n_rows / max(seconds, 1e-6), 1e7) - self.rows_per_second)
        self._since_checkpoint += seconds

    def checkpoint_due(self, spacing: float) -> bool:
        """Whether training since the last checkpoint reached `spacing` seconds; if so, counts from 0 again."""
        if self._since_checkpoint < spacing:
            return False
        self._since_checkpoint = 0.0
        return True


def learn_some(run: TrainingRun, machine: Machine, order: RowOrder, pace: Pace, count: int) -> int:
    """Let a machine learn the run's next rows, up to an epoch's end; returns how many."""
    rows = order.rows(machine.state.step, count)
    start = time.perf_counter()
    machine.learn(run.data, run.task.lessons(machine.parameters), rows, run.n_jobs)
    pace.took(len(rows), time.perf_counter() - start)
    if pace.checkpoint_due(run.checkpoints.spacing):
        run.checkpoints.add(machine.state)
    return len(rows)


def apply_changes(machine: Machine, changes: Sequence[Change]) -> None:
    """Change settings in the order given.

    New weights need other numbers to start from: all one where they are equal, whole votes where they are integers.
    Doing it twice is doing it once, so a state kept before or after a change leads on alike.
    """
    for change in changes:
        machine.parameters = machine.parameters.replace(**{change.name: change.value})
        if change.name == "weights" and change.value != "real":
            weights = machine.state.weights[:, : machine.parameters.n_clauses]
            whole = (abs(weights) + ONE_VOTE // 2) // ONE_VOTE * ONE_VOTE
            votes = np.maximum(whole, ONE_VOTE) if change.value == "integer" else ONE_VOTE
            weights[:] = np.sign(weights) * votes


def check_step(run: TrainingRun, step: int) -> None:
    """Raise ValueError for a step that the run has not come to."""
    if not 0 <= step <= run.step:
        raise ValueError(f"Step {step} is not in this run; use a step from 0 to {run.step}.")


def rerun(run: TrainingRun, step: int) -> Machine:
    """A machine of its own that stands where the run stood at `step`, with the settings that held from there on.

    Where checkpoints are far apart, as after loading a run, it leaves some on its way.

    Raises
    ------
    ValueError
        The run has not come to that step.
    """
    check_step(run, step)
    state = run.checkpoints.before(step)
    changes = [change for change in run.changes if change.step <= step]
    machine = run.make_machine(run.first_parameters, state)
    apply_changes(machine, [change for change in changes if change.step <= state.step])
    go_on(run, machine, step, [change for change in changes if change.step > state.step])
    machine.take_counts()
    return machine


def go_on(run: TrainingRun, machine: Machine, step: int, changes: Sequence[Change]) -> None:
    """Let a machine learn on up to `step`; `changes` are those after its present step, up to that one."""
    order, pace = RowOrder(machine.parameters.random_state, run.n_rows), Pace()
    pace.rows_per_second = run.rows_per_second
    for stop in sorted({change.step for change in changes} | {step}):
        while machine.state.step < stop:
            chunk = max(1, int(pace.rows_per_second * run.checkpoints.spacing / 4))
            learn_some(run, machine, order, pace, min(chunk, stop - machine.state.step))
        apply_changes(machine, [change for change in changes if change.step == stop])


def check_branch(changes: dict[str, Value]) -> None:
    """Raise ValueError for a setting that a branch cannot change."""
    for name in changes:
        if name not in BRANCHABLE:
            raise ValueError(
                f"{name} cannot change in a branch, since its clauses would not fit any more; "
                f"change {', '.join(BRANCHABLE[:-1])} or {BRANCHABLE[-1]}, or start a new run."
            )
