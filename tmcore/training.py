"""A training run: learns in steps of any size, can be looked at between them, and ends by being settled."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from joblib import effective_n_jobs

from tmcore import files
from tmcore.class_weights import class_scales
from tmcore.encoders import AnyEncoder, make_encoder, read_encoder
from tmcore.labels import class_indices, read_labels
from tmcore.machine import make_machine, streams
from tmcore.machine.state import WEIGHT_UNIT, ClauseBank, MachineState
from tmcore.parameters import Parameters
from tmcore.scores import Scores, accuracy_and_f1

if TYPE_CHECKING:
    from tmcore.estimators import TsetlinClassifier

Rows = pd.DataFrame | np.ndarray
SECONDS_BETWEEN_STOPS = 0.015
"""How long a kernel runs at a stretch before the stop event is looked at."""

MAX_RECORDS = 4000
"""When the history holds more, every other record of its older half goes."""

CHANGEABLE = ("T", "s", "gamma")


@dataclass(frozen=True)
class Record:
    """One point of a run's history; scores are by votes, the test scores None without validation rows."""

    step: int
    epoch: float
    n_literals: int
    n_intervals: int
    train_accuracy: float
    train_f1: float
    test_accuracy: float | None
    test_f1: float | None


@dataclass(frozen=True)
class Change:
    """A setting changed while running: it holds from `step` on."""

    step: int
    name: str
    value: float


@dataclass(frozen=True)
class Snapshot:
    """The machine at one moment; nothing in it changes any more.

    Attributes
    ----------
    step : int
        Rows learned so far.
    epoch : float
        Passes over the training rows so far.
    bank : ClauseBank
    n_literals : int
        Included bounds of the whole model.
    n_intervals : int
        Pairs of clause and feature with an included bound.
    literals_per_clause : ndarray of int, shape (machines, clauses)
    feedback : ndarray of int, shape (machines, clauses, 3)
        Rows that gave each clause Type Ia, Ib and II since the snapshot before.
    votes : ndarray of float, shape (n_rows, machines)
        Vote sums of the training rows.
    scores : Scores
        By votes, on training and validation rows.
    """

    step: int
    epoch: float
    bank: ClauseBank
    n_literals: int
    n_intervals: int
    literals_per_clause: np.ndarray
    feedback: np.ndarray
    votes: np.ndarray
    scores: Scores


class TrainingRun:
    """Training on one table, step by step.

    Parameters
    ----------
    X : DataFrame or ndarray, shape (n_rows, n_columns)
        Training rows; dtypes carry the columns' roles, see `Encoder`.
    y : sequence, shape (n_rows,)
        Class labels.
    parameters : Parameters
    validation : (X, y), optional
        Rows to score on; they are never learned from.
    n_jobs : int, optional
        Threads that share the machines of three and more classes, -1 for all cores; the result does not depend on it.

    Attributes
    ----------
    encoder : Encoder
    classes : ndarray, shape (K,)
        Sorted labels; with two classes, the second is y = 1.
    codes, labels : ndarray, shapes (n_rows, features) and (n_rows,)
    history : list of Record
    changes : list of Change

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
    ) -> None:
        parameters = parameters or Parameters()
        parameters.check()
        encoder = make_encoder(parameters)
        codes = encoder.fit_transform(X)
        classes, labels = read_labels(y, codes.shape[0])
        held_out = None
        if validation is not None:
            held_out = encoder.transform(validation[0]), class_indices(validation[1], classes)
        self._begin(parameters, encoder, classes, codes, labels, held_out)
        self.n_jobs = effective_n_jobs(n_jobs)

    def _begin(
        self,
        parameters: Parameters,
        encoder: AnyEncoder,
        classes: np.ndarray,
        codes: np.ndarray,
        labels: np.ndarray,
        held_out: tuple[np.ndarray, np.ndarray] | None,
        state: MachineState | None = None,
    ) -> None:
        self.encoder, self.classes = encoder, classes
        self.codes, self.labels, self._held_out = codes, labels, held_out
        self.machine = make_machine(parameters, len(classes), encoder.n_ranks, encoder.has_gaps, state)
        self.machine.scales[:] = class_scales(parameters.class_weight, classes, labels)
        self._data = self.machine.prepare(codes)
        self._held_out_data = None if held_out is None else self.machine.prepare(held_out[0])
        self.history: list[Record] = []
        self.changes: list[Change] = []
        self._order: tuple[int, np.ndarray] = (-1, np.zeros(0, np.int64))
        self._rows_per_second = 5_000.0
        self.n_jobs = 1

    @property
    def parameters(self) -> Parameters:
        """The settings in force now."""
        return self.machine.parameters

    @property
    def n_rows(self) -> int:
        """Training rows."""
        return len(self.labels)

    @property
    def step(self) -> int:
        """Rows learned so far."""
        return self.machine.state.step

    @property
    def epoch(self) -> float:
        """Passes over the training rows so far."""
        return self.step / self.n_rows

    def change(self, **settings: float) -> None:
        """Change T, s or gamma from the next row on, and write it into `changes`.

        Raises
        ------
        ValueError
            For another setting, or a value out of range.
        """
        for name in settings:
            if name not in CHANGEABLE:
                raise ValueError(f"{name} cannot change during a run; only {', '.join(CHANGEABLE)} can.")
        self.machine.parameters = self.parameters.replace(**settings)
        self.changes += [Change(self.step, name, value) for name, value in settings.items()]

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
            left -= self._learn(min(left, max(1, int(self._rows_per_second * SECONDS_BETWEEN_STOPS))))

    def go_to(self, state: MachineState) -> None:
        """Go on from another state of this run's machine."""
        self.machine = make_machine(
            self.parameters, len(self.classes), self.encoder.n_ranks, self.encoder.has_gaps, state
        )
        self.machine.scales[:] = class_scales(self.parameters.class_weight, self.classes, self.labels)

    def _learn(self, n_rows: int) -> int:
        """Learn at most `n_rows` rows, up to the end of the epoch; returns how many."""
        epoch, offset = divmod(self.step, self.n_rows)
        if self._order[0] != epoch:
            order = streams.row_order(self.parameters.random_state, epoch, self.n_rows)
            self._order = (epoch, order)
        rows = self._order[1][offset : offset + n_rows]
        start = time.perf_counter()
        self.machine.learn(self._data, self.labels, rows, self.n_jobs)
        seconds = max(time.perf_counter() - start, 1e-6)
        self._rows_per_second += 0.5 * (min(len(rows) / seconds, 1e7) - self._rows_per_second)
        return len(rows)

    def snapshot(self) -> Snapshot:
        """The machine as it is now; also adds a record to the history."""
        bank = self.machine.bank()
        votes = self.machine.votes(self._data)
        scores = self._scores(votes)
        snapshot = Snapshot(
            step=self.step,
            epoch=self.epoch,
            bank=bank,
            n_literals=bank.n_literals,
            n_intervals=bank.n_intervals,
            literals_per_clause=bank.literals,
            feedback=self.machine.take_counts(),
            votes=votes * WEIGHT_UNIT,
            scores=scores,
        )
        self._record(snapshot)
        return snapshot

    def _scores(self, votes: np.ndarray) -> Scores:
        n_classes = len(self.classes)
        train = accuracy_and_f1(self.labels, winners(votes), n_classes)
        if self._held_out is None or self._held_out_data is None or len(self._held_out[1]) == 0:
            return Scores(*train)
        predicted = winners(self.machine.votes(self._held_out_data))
        return Scores(*train, *accuracy_and_f1(self._held_out[1], predicted, n_classes))

    def _record(self, snapshot: Snapshot) -> None:
        if self.history and self.history[-1].step == snapshot.step:
            return
        s = snapshot.scores
        self.history.append(
            Record(
                snapshot.step, snapshot.epoch, snapshot.n_literals, snapshot.n_intervals,
                s.train_accuracy, s.train_f1, s.test_accuracy, s.test_f1,
            )
        )  # fmt: skip
        if len(self.history) > MAX_RECORDS:
            half = MAX_RECORDS // 2
            self.history = self.history[:half:2] + self.history[half:]

    def settle(self) -> TsetlinClassifier:
        """End the run: refit the weights where the settings say so, and extract the rules.

        Returns
        -------
        TsetlinClassifier
            Fitted; the run itself can go on afterwards.
        """
        from tmcore.estimators import TsetlinClassifier  # it is built on this module

        return TsetlinClassifier._from_run(self)

    def save(self, path: str | Path) -> None:
        """Write the run, with the encoded rows, to one file; nothing in it is executable."""
        arrays = {"planes": self.machine.state.planes, "weights": self.machine.state.weights}
        arrays |= {"labels": self.labels, "counts": self.machine.counts} | files.rows_to_arrays(
            "codes", self.codes
        )
        if self._held_out is not None:
            arrays |= {"held_out_labels": self._held_out[1]} | files.rows_to_arrays(
                "held_out_codes", self._held_out[0]
            )
        meta = {
            "parameters": files.parameters_to_dict(self.parameters),
            "encoder": self.encoder.to_dict(),
            "classes": files.labels_to_list(self.classes),
            "step": self.step,
            "history": [vars(record) for record in self.history],
            "changes": [vars(change) for change in self.changes],
        }
        files.write(path, "run", meta, arrays)

    @classmethod
    def load(cls, path: str | Path) -> TrainingRun:
        """Read a run written by `save`; it goes on bit for bit as if it had never stopped."""
        meta, arrays = files.read(path, "run")
        parameters = files.parameters_from_dict(meta["parameters"])
        run = cls.__new__(cls)
        held_out = None
        if "held_out_labels" in arrays:
            held_out = files.rows_from_arrays("held_out_codes", arrays), arrays["held_out_labels"]
        run._begin(
            parameters,
            read_encoder(meta["encoder"]),
            files.labels_from_list(meta["classes"]),
            files.rows_from_arrays("codes", arrays),
            arrays["labels"],
            held_out,
            MachineState(arrays["planes"], arrays["weights"], parameters.n_clauses, meta["step"]),
        )
        run.machine.counts[:] = arrays["counts"]
        run.history = [Record(**record) for record in meta["history"]]
        run.changes = [Change(**change) for change in meta["changes"]]
        return run


def winners(votes: np.ndarray) -> np.ndarray:
    """Class indices that vote sums predict: v >= 0 is class 1 (eq. 6), else the largest, ties to the lowest index."""
    return (votes[:, 0] >= 0).astype(np.int64) if votes.shape[1] == 1 else votes.argmax(1)
