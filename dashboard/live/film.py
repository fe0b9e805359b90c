"""Where in a run a page looks: at its newest moment, or at one in the past, which can be played like a film."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from dashboard.pace import Pace, Speed
from tmcore.replay import BRANCHABLE, RowOrder, apply_changes

if TYPE_CHECKING:
    from dashboard.jobs import Job
    from tmcore.history import Value
    from tmcore.machine.state import ClauseBank
    from tmcore.parameters import Parameters
    from tmcore.training import Snapshot, TrainingRun

STOP_SECONDS = 0.3
LONGEST_WAIT = 0.1
LONGEST_SEARCH = 1.5


def parameters_at(run: TrainingRun, step: int) -> Parameters:
    """The settings in force once ``step`` rows were learned."""
    changes = {change.name: change.value for change in run.changes if change.step <= step}
    return run.first_parameters.replace(**changes)


def branch_changes(run: TrainingRun, step: int, wanted: Parameters) -> dict[str, Value]:
    """The settings a branch at ``step`` may take over that differ from those in force there."""
    then = parameters_at(run, step)
    wanted = wanted.replace(n_clauses=then.n_clauses)  # an automatic T goes by the clauses the branch has
    told: dict[str, Value] = {}
    for name in BRANCHABLE:
        now = wanted.vote_target if name == "T" else getattr(wanted, name)
        before = then.vote_target if name == "T" else getattr(then, name)
        if now != before:
            told[name] = now
    return told


class Film:
    """One page's place in its job's run.

    Attributes
    ----------
    snapshot : Snapshot or None
        The moment in the past that is shown; None at the newest moment.
    playing : bool
        Whether the past is being played towards the newest moment.
    moves : int
        Grows with every moment shown.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._run: TrainingRun | None = None
        self._pace = Pace()
        self.snapshot: Snapshot | None = None
        self.playing = False
        self.moves = 0

    @property
    def shown(self) -> Snapshot | None:
        """What the page draws."""
        if self.snapshot is not None and self._run is not self._job.run:
            self.leave()
        return self._job.latest if self.snapshot is None else self.snapshot

    @property
    def past(self) -> bool:
        """Whether a moment before the newest is shown."""
        return self.shown is not None and self.snapshot is not None

    def leave(self) -> None:
        """Go back to the newest moment."""
        self.moves += self.snapshot is not None
        self.snapshot, self.playing = None, False

    def go(self, step: int) -> None:
        """Show the run as it was after ``step`` rows; learning pauses. A step beyond its end is its end."""
        run = self._job.run
        if run is None:
            return
        if self._job.state == "learning" or self._job.waiting:
            self._job.pause()
            self._job.wait_until_idle(STOP_SECONDS)
        self._show(run, step)

    def _show(self, run: TrainingRun, step: int) -> None:
        if step >= run.step:
            self.leave()
            return
        self._run, self.snapshot = run, run.at(max(0, step))
        self.moves += 1

    def play(self, speed: Speed) -> None:
        """Play the past from the moment shown."""
        self.playing = self.snapshot is not None
        self.choose(speed)

    def choose(self, speed: Speed) -> None:
        """How fast the past plays."""
        self._pace.choose(speed)

    def turn(self) -> None:
        """Show the next moment of the past, when it is due; stops at the newest."""
        run, shown = self._job.run, self.shown
        if run is None or shown is None or not self.past:
            self.playing = False
            return
        if (wait := self._pace.seconds_left) > 0:
            time.sleep(min(wait, LONGEST_WAIT))
        if self._pace.seconds_left > 0:
            return
        began = time.monotonic()
        due = self._pace.rows_due(shown.step, run.n_rows, self._job.parameters.epochs * run.n_rows)
        if due:
            self._show(run, shown.step + due)
            self._pace.learned(due, time.monotonic() - began)

    def last_move(self, machine: int, clause: int, feature: int) -> int | None:
        """The last step up to the moment shown whose row moved a bound of one cell, or put it in or out of the clause.

        None where it never moved, or where finding it would take too long.
        """
        run, shown = self._job.run, self.shown
        if run is None or shown is None:
            return None
        cell = machine, clause, feature
        end, limit = shown.step, time.monotonic() + LONGEST_SEARCH
        for moment in reversed(self._job.history()):
            if moment.step >= end:
                continue
            if (found := _last_change(run, moment.step, end, cell)) is not None:
                return found
            if time.monotonic() > limit:
                return None
            end = moment.step
        return None


def _cell(bank: ClauseBank, cell: tuple[int, int, int]) -> tuple[int, int, bool, bool]:
    return (
        int(bank.lower[cell]),
        int(bank.upper[cell]),
        bool(bank.lower_included[cell]),
        bool(bank.upper_included[cell]),
    )


def _last_change(run: TrainingRun, start: int, end: int, cell: tuple[int, int, int]) -> int | None:
    """The last step in start..end-1 whose row changed a cell, or None."""
    machine = run.machine_at(start)
    order = RowOrder(machine.parameters.random_state, run.n_rows)
    found, before = None, _cell(machine.bank(), cell)
    for step in range(start, end):
        lessons = run.task.lessons(machine.parameters)
        machine.learn(run.data, lessons, order.rows(step, 1), run.n_jobs)
        apply_changes(machine, [change for change in run.changes if change.step == step + 1])
        now = _cell(machine.bank(), cell)
        if now != before:
            found, before = step, now
    return found
