"""The readability dial on a fitted estimator: `path_`, `score_path` and `at`."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tmcore import dial, harvest
from tmcore.dial import Point
from tmcore.encoders import AnyEncoder
from tmcore.machine import Machine
from tmcore.machine.state import ClauseBank
from tmcore.parameters import Parameters
from tmcore.settling import Settled, candidates, outputs_of
from tmcore.task import Task
from tmcore.training import TrainingRun

Model = TypeVar("Model", bound="ReadabilityDial")


class ReadabilityDial(ABC):
    """What a fitted estimator offers to trade accuracy for fewer rules."""

    encoder_: AnyEncoder
    machine_: Machine
    settled_: Settled | None
    _dial_rows: tuple[Any, Task] | None
    _path: tuple[Point, ...] | None

    @abstractmethod
    def _find_path(
        self, outputs: NDArray[np.bool_], lengths: NDArray[np.integer], task: Task
    ) -> tuple[Point, ...]:
        """The points, from the outputs of all clauses on the training rows."""

    @abstractmethod
    def _score_points(
        self, points: tuple[Point, ...], fold: RetrainFold, task: Task, n_jobs: int | None
    ) -> tuple[Point, ...]:
        """The points with scores."""

    @abstractmethod
    def _set_point(self, point: Point, bank: ClauseBank, codes: Any, task: Task) -> None:
        """Become the model of a point: set `settled_` and `rules_`."""

    def __getstate__(self) -> dict[str, Any]:
        """A copy sent elsewhere leaves the rows behind."""
        state = cast(dict[str, Any], super().__getstate__())
        return {**state, "_dial_rows": None, "_compiled": None}

    @property
    def path_(self) -> tuple[Point, ...]:
        """Models from no rule to all, see `tmcore.dial`; their scores are there after `score_path`.

        Raises
        ------
        ValueError
            The model was read from a file, so that its training rows are not here.
        """
        check_is_fitted(self, "machine_")
        if self._path is None:
            codes, task = self._training_rows()
            bank = self._bank()
            outputs = outputs_of(bank, self.machine_, codes).reshape(codes.shape[0], -1)
            self._path = self._find_path(outputs, bank.literals.ravel(), task)
        return self._path

    def score_path(self, n_jobs: int | None = None) -> tuple[Point, ...]:
        """Score every point of `path_` by training the whole machine anew on four fifths of the rows, five times.

        Parameters
        ----------
        n_jobs : int, optional
            joblib's: folds side by side.
        """
        points = self.path_
        codes, task = self._training_rows()
        fold = RetrainFold(self.encoder_, self.machine_.parameters, codes, task)
        self._path = self._score_points(points, fold, task, n_jobs)
        return self._path

    def at(self: Model, max_rules: int | None = None, max_literals: int | None = None) -> Model:
        """A model of its own within limits: the point of `path_` with the most rules of those that keep them.

        Parameters
        ----------
        max_rules, max_literals : int, optional
            Most rules, and most literals of all of them together, before they are simplified.

        Raises
        ------
        ValueError
            No point is so small, or the training rows are not here.
        """
        point = dial.at(self.path_, max_rules, max_literals)
        model = copy.copy(self)
        model._dial_rows = self._dial_rows  # a copy in this process may keep them
        model._set_point(point, self._bank(), *self._training_rows())
        return model

    def _bank(self) -> ClauseBank:
        assert self.settled_ is not None  # training rows are only kept of a settled model
        return self.settled_.bank

    @property
    def _seed(self) -> int:
        return self.machine_.parameters.random_state % 2**32

    def _training_rows(self) -> tuple[Any, Task]:
        if self._dial_rows is None:
            raise ValueError(
                "The dial needs the training rows, and a model read from a file has none; fit it again."
            )
        return self._dial_rows


class RetrainFold:
    """Trains a machine from scratch on some of the encoded rows (a `dial.TrainFold`)."""

    def __init__(self, encoder: AnyEncoder, parameters: Parameters, codes: Any, task: Task) -> None:
        self.encoder, self.parameters, self.codes, self.task = encoder, parameters, codes, task

    def __call__(
        self, train: NDArray[np.intp], held_out: NDArray[np.intp]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.integer]]:
        """Outputs of the training rows, outputs of the held-out rows, literals of each clause."""
        run = TrainingRun.encoded(self.parameters, self.encoder, self.task.part(train), self.codes[train])
        run.learn(self.parameters.epochs * run.n_rows)
        bank, outputs = candidates(harvest.moments(run), run.codes)
        held_out_outputs = outputs_of(bank, run.machine, self.codes[held_out])
        return (
            outputs.reshape(len(train), -1),
            held_out_outputs.reshape(len(held_out), -1),
            bank.literals.ravel(),
        )
