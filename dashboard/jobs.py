"""Training in the background: one thread a run, commands that never wait, snapshots that never change.

Nothing here calls Streamlit. A page holds a :class:`Job`, sends it commands, reads ``state`` and ``latest``, and
renews its lease; a job whose lease lapses pauses itself, is saved where runs are kept, and ends its thread until the
next command. So does a job that nobody holds any more.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import pandas as pd

from dashboard.goals import Model, make_goal
from dashboard.history import Moment
from dashboard.job_thread import work
from dashboard.outcome import Settled, settle
from dashboard.pace import SPEEDS, Pace, Speed
from dashboard.showing import Showing
from dashboard.slots import AT_A_TIME, MOST_LEARNING, Slots, Turns
from dashboard.warmup import kernels_ready, wait_for_kernels, warm_up
from dashboard.wishes import Wishes
from tmcore.parameters import Parameters
from tmcore.predicted import TaskName
from tmcore.training import Snapshot, TrainingRun

if TYPE_CHECKING:
    from dashboard.saving import Keeper

__all__ = ["SPEEDS", "Job", "Settled", "Speed", "State", "kernels_ready", "warm_up"]

State = Literal["compiling", "ready", "learning", "paused", "finished", "settling", "settled", "failed"]

LEASE_SECONDS = float(os.environ.get("TSETLIN_LEASE_SECONDS", "20"))
"""A page that shows a run renews its lease several times a second; tests make it short."""

WAIT_SECONDS = 0.05
IDLE_SECONDS = 1.0

_slots = Slots(MOST_LEARNING)
_turns = Turns(AT_A_TIME)


class Job:
    """One training run in a thread of its own; ``goal`` is what it predicts, and says how good it is.

    Parameters
    ----------
    X_train, X_test : DataFrame, shape (n_rows, n_columns)
        ``X_test`` may be empty: then there are no test scores.
    y_train, y_test : Series of labels or numbers
    parameters : Parameters
        ``epochs`` is how long one press of play learns at most.
    name : str
        What the data is called on screen.
    rows : TrainingRun, optional
        A run whose encoded rows are used instead of encoding ``X_train`` and ``X_test`` again.
    kept : (TrainingRun, int), optional
        A run to go on with, and the step where playing ends.
    keeper : Keeper, optional
        Saves the run.
    past : tuple of Moment, optional
        With ``kept``: what is known of its past.
    positive_class : label, optional
    task : "classes" or "numbers"
        Both as in ``TrainingRun``, and as ``rows`` and ``kept`` have them.
    """

    def __init__(
        self,
        X_train: pd.DataFrame,
        y_train: pd.Series,
        X_test: pd.DataFrame,
        y_test: pd.Series,
        parameters: Parameters,
        name: str,
        rows: TrainingRun | None = None,
        kept: tuple[TrainingRun, int] | None = None,
        keeper: Keeper | None = None,
        past: tuple[Moment, ...] = (),
        positive_class: Any = None,
        task: TaskName = "classes",
    ) -> None:
        self.X_train, self.y_train, self.X_test, self.y_test = X_train, y_train, X_test, y_test
        self.name, self.positive_class, self.task = name, positive_class, task
        self.goal = make_goal(task, y_train)
        self.parameters = self.goal.settings(parameters)
        self.lapsed = self.waiting = False
        self.error: str | None = None
        self.outcome: Settled | None = None
        self.run: TrainingRun | None = None
        self._state: State = "compiling"
        self._wishes = Wishes()
        self._bell = threading.Condition()
        self._showing = Showing(self._bell)
        self._stop = threading.Event()
        self.keeper = keeper
        self._rows, self._kept, self._past = kept[0] if kept else rows, kept, past
        self.end_step = self._rows_left = 0
        self._pace = Pace()
        self._ended, self._awake = False, True
        self._lease_end = time.monotonic() + LEASE_SECONDS
        warm_up()
        self._wake()

    # What the page reads -------------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """Where the run stands."""
        return self._state

    @property
    def speed(self) -> Speed:
        """How fast playing goes."""
        return self._pace.speed

    @property
    def latest(self) -> Snapshot | None:
        """The newest snapshot, None until the run exists."""
        return self._showing.published[1]

    @property
    def sequence(self) -> int:
        """Grows with every new snapshot."""
        return self._showing.published[0]

    @property
    def settled(self) -> Model | None:
        """The settled estimator, None while there is none for the present clauses."""
        return None if self.outcome is None else self.outcome.estimator

    @property
    def busy(self) -> bool:
        """Whether anything may change without another command."""
        return (
            self.state in ("compiling", "learning", "settling")
            or self.waiting
            or self._showing.unscored
            or self._wishes.any()
        )

    def history(self) -> tuple[Moment, ...]:
        """The kept moments, oldest first."""
        return self._showing.moments()

    def feedback(self) -> np.ndarray | None:
        """Counts of Ia, Ib, II since the run began, shape (n_machines, n_clauses, 3)."""
        return self._showing.feedback

    def wait_until_idle(self, seconds: float) -> bool:
        """Wait until every command is carried out and nothing runs; False if that took too long."""
        end = time.monotonic() + seconds
        with self._bell:
            while self.busy and (left := end - time.monotonic()) > 0:
                self._bell.wait(left)
        return not self.busy

    def wait_for_news(self, sequence: int, seconds: float) -> None:
        """Wait for a snapshot after number ``sequence``, or for the end of what runs."""
        with self._bell:
            self._bell.wait_for(lambda: self.sequence != sequence or not self.busy, seconds)

    def wait_for_commands(self, seconds: float) -> None:
        """Give the thread a moment to take up the commands sent so far."""
        with self._bell:
            self._bell.wait_for(lambda: not self._wishes.any(), seconds)

    # Commands: none of them waits, all may be repeated -----------------------------------------------------------

    def play(self) -> None:
        """Learn until ``parameters.epochs`` more epochs are done, or as many as are left of them."""
        self.renew()
        self._wish(learn=True, rows=0)

    def pause(self) -> None:
        """Stop after the rows being learned this moment."""
        self._wish(learn=False, rows=0)

    def one_row(self) -> None:
        """Learn from one row, then pause."""
        self.renew()
        self._wish(learn=False, rows=1)

    def one_epoch(self) -> None:
        """Learn from as many rows as there are, then pause."""
        self.renew()
        self._wish(learn=False, rows=len(self.y_train))

    def reset(self) -> None:
        """Start over with the present parameters: the same seed gives the same run."""
        self._wish(reset=True, learn=False, rows=0, settle=False)

    def settle(self) -> None:
        """Pause and fit the rules' weights for keeping; see ``outcome``."""
        self._wish(learn=False, rows=0, settle=True)

    def close(self) -> None:
        """End the thread. What was learned stays readable."""
        self._wish(close=True)

    def set_speed(self, speed: Speed) -> None:
        """How fast playing goes."""
        with self._bell:
            self._pace.choose(speed)
            self._bell.notify_all()

    def change(self, **settings: float) -> None:
        """Change T, s or gamma from the next row on.

        Raises
        ------
        ValueError
            If a value is out of range or another setting is named.
        """
        if unknown := set(settings) - {"T", "s", "gamma"}:
            raise ValueError(
                f"{', '.join(sorted(unknown))} cannot change while running; start a new run instead."
            )
        with self._bell:
            self.parameters = self.parameters.replace(**settings)
            self._wishes.settings.update(settings)
            self._ring()

    def renew(self) -> None:
        """The page is still there."""
        self._lease_end = time.monotonic() + LEASE_SECONDS

    def _wish(self, **wishes: int) -> None:
        with self._bell:
            self.lapsed = False  # told until the next command
            for name, value in wishes.items() if not self._ended else ():
                setattr(self._wishes, name, value)
            self._ring()

    def _ring(self) -> None:
        """Let the thread see to what is wished, and wake it where its lease had lapsed."""
        self._stop.set()
        self._bell.notify_all()
        if not self._awake and not self._ended:
            self._awake = True
            self.renew()
            self._wake()

    def _wake(self) -> None:
        threading.Thread(target=work, args=(weakref.ref(self), self._bell), name="job", daemon=True).start()

    # The thread's side -------------------------------------------------------------------------------------------

    def _turn(self) -> float | None:
        """Do the next small piece of work; the seconds to wait until the next, or None to end."""
        try:
            if self.run is None and not self._wishes.close:
                return self._begin()
            return self._next()
        except Exception as error:
            self.error = str(error).strip() or f"{type(error).__name__} while training."
            self._end("failed")
            return None
        finally:
            if self._state != "learning" and not self.waiting:
                _slots.release(self)

    def _begin(self) -> float:
        if not wait_for_kernels(0.1):
            return 0.0
        with self._bell:
            parameters = self.parameters
            self._wishes.settings.clear()
        run, end_step = self._kept or (self._fresh(parameters), 0)
        past, self._past = self._past, ()
        self._rows, self._kept = run, None
        with self._bell:
            self.run, self.outcome, self._rows_left = run, None, 0
            self.end_step = end_step or self.parameters.epochs * run.n_rows
        self._showing.begin(run, past)
        self._enter("ready" if not run.step else "finished" if run.step >= self.end_step else "paused")
        return 0.0

    def _fresh(self, parameters: Parameters) -> TrainingRun:
        if self._rows is not None:
            return self._rows.restart(parameters)
        test = (self.X_test, self.y_test) if len(self.y_test) else None
        what = {"task": self.task, "positive_class": self.positive_class}
        return TrainingRun(self.X_train, self.y_train, parameters, test, **what)

    def _next(self) -> float | None:
        with self._bell:
            wishes, self._wishes = self._wishes, Wishes()
            self._stop.clear()
        if wishes.close:
            self._end("paused" if self._state == "learning" else self._state)
            self._save(last=True)
            return None
        if wishes.reset:
            self.run = None
            self._enter("compiling")
            return 0.0
        if wishes.settings:
            cast(TrainingRun, self.run).change(**wishes.settings)
        if wishes.learn is not None:
            self._take_up(wishes.learn, wishes.rows)
        if wishes.settle:
            self._settle()
        if not self._rows_left:
            if self._showing.unscored:
                self._showing.score(cast(TrainingRun, self.run))
            return self._rest()
        if (self._state == "learning" or self.waiting) and time.monotonic() > self._lease_end:
            self._rows_left, self.lapsed, self.waiting = 0, True, False
            self._enter("paused")
            return 0.0
        return self._learn()

    def _rest(self) -> float | None:
        """Wait for commands while the lease lasts, then end the thread; the next command starts another."""
        over = time.monotonic() >= self._lease_end
        self._save(last=over)
        with self._bell:
            if not over or time.monotonic() < self._lease_end or self._wishes.any():
                return min(IDLE_SECONDS, LEASE_SECONDS)
            self._awake = False
            return None

    def _save(self, last: bool) -> None:
        if self.keeper is not None:
            self.keeper.save(self, last)

    def _take_up(self, learn: bool, rows: int) -> None:
        run = cast(TrainingRun, self.run)
        self.waiting = False
        if not learn and not rows:
            self._rows_left = 0
            if self._state == "learning":
                self._enter("paused")
            return
        if learn and run.step >= self.end_step:
            span = self.parameters.epochs * run.n_rows
            self.end_step = (run.step // span + 1) * span
        self._pace.start(free=not learn)
        self._rows_left = self.end_step - run.step if learn else rows

    def _learn(self) -> float:
        if not _slots.take(self):
            self.waiting = True
            return WAIT_SECONDS
        self.waiting = False
        self._enter("learning")
        if (pause := self._pace.seconds_left) > 0:
            return pause
        run = cast(TrainingRun, self.run)
        with _turns.turn(self._stop) as has_turn:
            if has_turn:
                self._learn_rows(run)
        if self.keeper is not None:
            self.keeper.save_if_due(self)
        if not self._rows_left:
            self._enter("finished" if run.step >= self.end_step else "paused")
        return self._pace.seconds_left

    def _learn_rows(self, run: TrainingRun) -> None:
        due = self._pace.rows_due(run.step, run.n_rows, self.parameters.epochs * run.n_rows)
        if rows := min(due, self._rows_left):
            began, first = time.monotonic(), run.step
            run.learn(rows, self._stop)
            done = run.step - first
            self._pace.learned(done, time.monotonic() - began)
            self._showing.look(run)
            self._rows_left = max(0, self._rows_left - done)
            self.outcome = None

    def _settle(self) -> None:
        self._enter("settling")
        run = cast(TrainingRun, self.run)
        outcome = settle(run, self.goal, (self.X_train, self.y_train), (self.X_test, self.y_test))
        with self._bell:
            self.outcome = outcome
        self._enter("settled")

    def _end(self, state: State) -> None:
        """The thread's last word: nothing is carried out any more."""
        with self._bell:
            self._ended, self._wishes, self.waiting, self._showing.unscored = True, Wishes(), False, False
        self._enter(state)

    def _enter(self, state: State) -> None:
        with self._bell:
            self._state = state
            self._bell.notify_all()
