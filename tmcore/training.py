"""A training run: learns in steps of any size, can be looked at, rewound and explained, and ends by being settled."""

from __future__ import annotations

import secrets
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from tmcore import replay, run_files
from tmcore.encode import Encoder
from tmcore.encoders import AnyEncoder, make_encoder
from tmcore.history import AnyRecord, Change, Checkpoints, Snapshot, Value, add_record
from tmcore.machine import Machine, make_machine
from tmcore.machine.state import WEIGHT_UNIT, MachineState
from tmcore.parameters import Parameters
from tmcore.scores import winners
from tmcore.task import Task, read_task
from tmcore.threads import n_threads
from tmcore.trace import Trace, explain

if TYPE_CHECKING:
    from tmcore.estimators import TsetlinClassifier
    from tmcore.regressor import TsetlinRegressor

__all__ = ["Change", "Snapshot", "TrainingRun", "winners"]

Rows = pd.DataFrame | np.ndarray
SECONDS_BETWEEN_STOPS = 0.015
"""How long a kernel runs at a stretch before the stop event is looked at."""


class TrainingRun:
    """Training on one table, step by step, towards classes or numbers.

    A run on numbers is used like one on classes. It differs in this: `classes` is empty, `targets` are the numbers and
    `target_range` says what 0 and T votes stand for; scores and records hold MAE and R2 (`NumberScores`,
    `NumberRecord`); T "auto" becomes the number of clauses; a trace has the row's `target`, and its `label` is the vote
    sum that it asks for; `settle` gives a `TsetlinRegressor`. What differs inside is in `task`, see `tmcore.task`.

    Parameters
    ----------
    X : DataFrame or ndarray, shape (n_rows, n_columns)
        Training rows; dtypes carry the columns' roles, see `Encoder`.
    y : sequence, shape (n_rows,)
        Class labels, or finite numbers.
    parameters : Parameters
    validation : (X, y), optional
        Rows to score on; they are never learned from.
    n_jobs : int, optional
        Threads that share the machines of three and more classes, -1 for all cores; the result does not depend on it.
    task : "classes" or "numbers"
        What y holds.
    positive_class : label, optional
        Of two classes the one that is y = 1; by default the second in sorted order.

    Attributes
    ----------
    encoder : Encoder
    classes : ndarray, shape (K,)
        Labels, sorted or as `positive_class` asks for; with two classes, the second is y = 1; empty for numbers.
    codes : ndarray, shape (n_rows, features)
    targets, labels : ndarray, shape (n_rows,)
        Class indices, int64; or the numbers, float64. Two names of one array.
    target_range : TargetRange or None
        For numbers, what 0 and T votes stand for.
    held_out : (codes, targets) or None
        The validation rows.
    id : str
        Random; files of one run have it in common.
    task : Task
        The targets, and all that depends on their kind.
    data : ndarray
        The rows as the machine learns them.
    first_parameters : Parameters
        The settings at step 0; `parameters` are those in force now.
    history : list of Record or NumberRecord
    changes : list of Change
        Settings changed on the way, and at the start of a branch.
    checkpoints : Checkpoints
        States to go back to.

    Raises
    ------
    ValueError
        With one sentence, where X or y cannot be learned from or a setting is out of range.
    """

    def __init__(
        self,
        X: Rows,
        y: Any,
        parameters: Parameters | None = None,
        validation: tuple[Rows, Any] | None = None,
        n_jobs: int | None = None,
        *,
        task: str = "classes",
        positive_class: Any = None,
    ) -> None:
        parameters = parameters or Parameters()
        parameters.check()
        encoder = make_encoder(parameters)
        codes = encoder.fit_transform(X)
        goal = read_task(task, y, codes.shape[0], positive_class)
        held_out = None
        if validation is not None:
            rows = encoder.transform(validation[0])
            held_out = rows, goal.read_held_out(validation[1], rows.shape[0])
        self._begin(parameters, encoder, goal, codes, held_out, n_threads(n_jobs))

    def _begin(
        self,
        parameters: Parameters,
        encoder: AnyEncoder,
        task: Task,
        codes: np.ndarray,
        held_out: tuple[np.ndarray, np.ndarray] | None,
        n_jobs: int = 1,
    ) -> None:
        """Stand at step 0 with encoded rows."""
        self.encoder, self.task, self.n_jobs = encoder, task, n_jobs
        self.classes, self.target_range = task.classes, task.target_range
        self.targets = self.labels = task.targets
        self.codes, self.held_out = codes, held_out
        self.first_parameters = task.settings(parameters)
        self._scales = task.scales(parameters)
        self.machine = self.make_machine(self.first_parameters)
        self.data = self.machine.prepare(codes)
        self.id = secrets.token_hex(16)
        self._held_out_data = None if held_out is None else self.machine.prepare(held_out[0])
        self.history: list[AnyRecord] = []
        self.changes: list[Change] = []
        self.checkpoints = Checkpoints(self.machine.state)
        self._order = replay.RowOrder(parameters.random_state, self.n_rows)
        self._pace = replay.Pace()

    @classmethod
    def encoded(
        cls,
        parameters: Parameters,
        encoder: AnyEncoder,
        task: Task,
        codes: np.ndarray,
        held_out: tuple[np.ndarray, np.ndarray] | None = None,
        n_jobs: int = 1,
    ) -> TrainingRun:
        """A run at step 0 on rows that are encoded already; the arguments are the attributes of that name."""
        run = cls.__new__(cls)
        run._begin(parameters, encoder, task, codes, held_out, n_jobs)
        return run

    def make_machine(self, parameters: Parameters, state: MachineState | None = None) -> Machine:
        """A machine for this run's rows: fresh, or going on from a state, which it takes over."""
        ranks, gaps = self.encoder.n_ranks, self.encoder.has_gaps
        machine = make_machine(parameters, len(self.classes), ranks, gaps, state)
        machine.scales[:] = self._scales
        return machine

    @property
    def parameters(self) -> Parameters:
        """The settings in force now."""
        return self.machine.parameters

    @property
    def n_rows(self) -> int:
        """Training rows."""
        return len(self.targets)

    @property
    def step(self) -> int:
        """Rows learned so far."""
        return self.machine.state.step

    @property
    def epoch(self) -> float:
        """Passes over the training rows so far."""
        return self.step / self.n_rows

    @property
    def rows_per_second(self) -> float:
        """How fast it learned lately."""
        return self._pace.rows_per_second

    # -- learning -----------------------------------------------------------------------------------------------

    def change(self, **settings: Value) -> None:
        """Change T, s or gamma from the next row on, and write it into `changes`.

        Raises
        ------
        ValueError
            For another setting, or a value out of range.
        """
        for name in settings:
            if name not in replay.CHANGEABLE:
                raise ValueError(
                    f"{name} cannot change during a run; only {', '.join(replay.CHANGEABLE)} can."
                )
        self._change(settings)

    def _change(self, settings: dict[str, Value]) -> None:
        wanted = self.task.settings(
            self.parameters.replace(**settings)
        )  # all are checked before the first holds
        changes = [Change(self.step, name, getattr(wanted, name)) for name in settings]
        replay.apply_changes(self.machine, changes)
        self.changes += changes

    def advance(
        self, epochs: float | None = None, samples: int | None = None, stop: threading.Event | None = None
    ) -> Snapshot:
        """Learn on, and look.

        Parameters
        ----------
        epochs, samples : number, optional
            How far: passes over the rows, or rows. Exactly one of them.
        stop : threading.Event, optional
            When set, training stops within 50 ms; the snapshot says how far it came.
        """
        if (epochs is None) == (samples is None):
            raise ValueError("Give advance either epochs or samples.")
        self.learn(samples if samples is not None else round((epochs or 0) * self.n_rows), stop)
        return self.snapshot()

    def learn(self, n_rows: int, stop: threading.Event | None = None) -> None:
        """Learn the next `n_rows` rows without looking."""
        left = n_rows
        while left > 0 and not (stop is not None and stop.is_set()):
            chunk = max(1, int(self.rows_per_second * SECONDS_BETWEEN_STOPS))
            left -= replay.learn_some(self, self.machine, self._order, self._pace, min(left, chunk))

    def go_to(self, state: MachineState) -> None:
        """Go on from an earlier state of this run; settings changed after it are forgotten, and its records stay."""
        self.checkpoints = self.checkpoints.up_to(state.step)
        self.changes = [change for change in self.changes if change.step <= state.step]
        self.machine = self.make_machine(self.first_parameters, state)
        replay.apply_changes(self.machine, self.changes)

    def snapshot(self) -> Snapshot:
        """The machine as it is now; also adds a record to the history."""
        snapshot = self._look(self.machine)
        self.history = add_record(self.history, snapshot.record())
        return snapshot

    def _look(self, machine: Machine) -> Snapshot:
        bank = machine.bank()
        votes = machine.votes(self.data)
        return Snapshot(
            step=bank.step,
            epoch=bank.step / self.n_rows,
            bank=bank,
            n_literals=bank.n_literals,
            n_intervals=bank.n_intervals,
            literals_per_clause=bank.literals,
            feedback=machine.take_counts(),
            votes=votes * WEIGHT_UNIT,
            scores=self.task.scores(machine.parameters, votes, self._held_out_votes(machine)),
        )

    def _held_out_votes(self, machine: Machine) -> tuple[np.ndarray, np.ndarray] | None:
        if self.held_out is None or self._held_out_data is None or len(self.held_out[1]) == 0:
            return None
        return machine.votes(self._held_out_data), self.held_out[1]

    # -- going back ---------------------------------------------------------------------------------------------

    def machine_at(self, step: int) -> Machine:
        """A machine of its own as the run's was at `step` (0 to `step`), with the settings that held from there on.

        May be called while another thread learns.

        Raises
        ------
        ValueError
            The run has not come to that step.
        """
        return replay.rerun(self, step)

    def at(self, step: int) -> Snapshot:
        """The run as it was when it had learned `step` rows; its feedback is that of the last of them.

        Equal bit for bit to a fresh run stopped there. May be called while another thread learns.

        Raises
        ------
        ValueError
            The run has not come to that step.
        """
        replay.check_step(self, step)
        machine = replay.rerun(self, max(0, step - 1))
        if step > 0:
            replay.go_on(self, machine, step, [change for change in self.changes if change.step == step])
        return self._look(machine)

    def explain(self, step: int) -> Trace:
        """What the row learned at `step` did to every clause, with the draws that decided it.

        Step 0 is the first row. The run's present step is the row it would learn next.

        Raises
        ------
        ValueError
            The run has not come to that step.
        """
        return explain(self, step)

    def branch(self, step: int, **changes: Value) -> TrainingRun:
        """Another run that shares this one's past up to `step` and goes on with other settings.

        Parameters
        ----------
        step : int
            0 to the present step.
        **changes
            T, s, gamma, bound_rule, boost_true_positive, weights. With weights other than real they start anew: all
            one, or rounded to whole votes. Settings this run changed later are not changed in the branch.

        Raises
        ------
        ValueError
            For another setting, a value out of range, or a step the run has not come to.
        """
        replay.check_branch(changes)
        run = self.restart(self.first_parameters)
        run.machine = self.machine_at(step)
        run.checkpoints = self.checkpoints.up_to(step)
        run.history = [record for record in self.history if record.step <= step]
        run.changes = [change for change in self.changes if change.step <= step]
        run._change(changes)
        run.checkpoints.add(run.machine.state)
        return run

    def restart(self, parameters: Parameters) -> TrainingRun:
        """A new run from the beginning on the same encoded rows.

        Raises
        ------
        ValueError
            For a setting out of range, or one that would encode the rows differently.
        """
        parameters.check()
        asked = make_encoder(parameters)
        if type(asked) is not type(self.encoder) or _levels(asked) != _levels(self.encoder):
            raise ValueError(
                "The rows are kept as they were encoded; open the data again to change the levels per column or to"
                " read columns as 0 and 1."
            )
        return TrainingRun.encoded(
            parameters, self.encoder, self.task, self.codes, self.held_out, self.n_jobs
        )

    # -- ending and keeping -------------------------------------------------------------------------------------

    def settle(self) -> TsetlinClassifier | TsetlinRegressor:
        """End the run: refit the weights where the settings say so, and extract the rules.

        Returns
        -------
        TsetlinClassifier, or TsetlinRegressor for numbers
            Fitted; the run itself can go on afterwards.
        """
        return self.task.estimator()._from_run(self)

    def save(self, path: str | Path) -> None:
        """Write the run, with the encoded rows, to one file; nothing in it is executable."""
        run_files.write_run(self, path)

    def save_rows(self, path: str | Path) -> None:
        """Write the run as it began, with the encoded rows; may be called while another thread learns."""
        run_files.write_rows(self, path)

    def save_progress(self, path: str | Path) -> None:
        """Write what changed since the run began, without its rows: small, for saving often."""
        run_files.write_progress(self, path)

    @classmethod
    def load(cls, path: str | Path, progress: str | Path | None = None) -> TrainingRun:
        """Read a run written by `save` or `save_rows`, moved on by `save_progress`.

        It goes on bit for bit as if never stopped.

        Raises
        ------
        ValueError
            A file is something else, damaged, of another version, or the two are not of one run.
        """
        return run_files.read_run(cls, path, progress)


def _levels(encoder: AnyEncoder) -> int | None:
    return encoder.max_levels if isinstance(encoder, Encoder) else None
