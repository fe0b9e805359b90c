"""The readability dial on a fitted estimator: `path_`, `score_path` and `at`."""

from __future__ import annotations

import copy
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tmcore import dial
from tmcore.dial import Point
from tmcore.encoders import AnyEncoder
from tmcore.machine import Machine, make_machine, streams
from tmcore.parameters import Parameters
from tmcore.settling import Settled, at_point, make_rules, row_weights

Model = TypeVar("Model", bound="ReadabilityDial")


class ReadabilityDial:
    """What a fitted classifier offers to trade accuracy for fewer rules."""

    classes_: np.ndarray
    encoder_: AnyEncoder
    machine_: Machine
    settled_: Settled | None
    _dial_rows: tuple[Any, np.ndarray] | None
    _path: tuple[Point, ...] | None

    def _keep_rows(self, codes: Any, labels: np.ndarray) -> None:
        """Remember the encoded training rows for the dial; they are never written to a file."""
        self._dial_rows, self._path = (codes, labels), None

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
            codes, labels = self._training_rows()
            outputs = self.machine_.outputs(self.machine_.prepare(codes)).reshape(len(labels), -1)
            lengths = self.machine_.bank().literals.ravel()
            weights = row_weights(self.machine_, self.classes_, labels)
            n_classes = len(self.classes_)
            self._path = dial.path(outputs, labels, lengths, n_classes, self._seed, row_weights=weights)
        return self._path

    def score_path(self, n_jobs: int | None = None) -> tuple[Point, ...]:
        """Score every point of `path_` by training the whole machine anew on four fifths of the rows, five times.

        Parameters
        ----------
        n_jobs : int, optional
            joblib's: folds side by side.
        """
        points = self.path_
        codes, labels = self._training_rows()
        fold = RetrainFold(self.encoder_, self.machine_.parameters, codes, labels, len(self.classes_))
        weights = row_weights(self.machine_, self.classes_, labels)
        self._path = dial.score_path(
            points, fold, labels, len(self.classes_), self._seed, n_jobs, row_weights=weights
        )
        return self._path

    def at(self: Model, max_rules: int) -> Model:
        """A model of its own with at most `max_rules` rules: the point of `path_` with the most of them.

        Raises
        ------
        ValueError
            No point has so few rules, or the training rows are not here.
        """
        point = dial.at(self.path_, max_rules)
        model = copy.copy(self)
        model._dial_rows = self._dial_rows  # a copy in this process may keep them
        model.settled_ = at_point(point, self.machine_.parameters.n_clauses)
        codes, labels = self._training_rows()
        model.rules_ = make_rules(  # type: ignore[attr-defined]
            self.encoder_, self.machine_, model.settled_, self.classes_, codes, labels
        )
        return model

    @property
    def _seed(self) -> int:
        return self.machine_.parameters.random_state % 2**32

    def _training_rows(self) -> tuple[Any, np.ndarray]:
        if self._dial_rows is None:
            raise ValueError(
                "The dial needs the training rows, and a model read from a file has none; fit it again."
            )
        return self._dial_rows


class RetrainFold:
    """Trains a machine from scratch on some of the encoded rows (a `dial.TrainFold`)."""

    def __init__(
        self, encoder: AnyEncoder, parameters: Parameters, codes: Any, labels: np.ndarray, n_classes: int
    ) -> None:
        self.n_ranks, self.has_gaps = encoder.n_ranks, encoder.has_gaps
        self.parameters, self.codes, self.labels, self.n_classes = parameters, codes, labels, n_classes

    def __call__(self, train: np.ndarray, held_out: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Outputs of the training rows, outputs of the held-out rows, literals of each clause."""
        machine = make_machine(self.parameters, self.n_classes, self.n_ranks, self.has_gaps)
        data, labels = machine.prepare(self.codes[train]), self.labels[train]
        for epoch in range(self.parameters.epochs):
            machine.learn(data, labels, streams.row_order(self.parameters.random_state, epoch, len(labels)))
        held_out_data = machine.prepare(self.codes[held_out])
        n_rows = len(labels)
        return (
            machine.outputs(data).reshape(n_rows, -1),
            machine.outputs(held_out_data).reshape(len(held_out), -1),
            machine.bank().literals.ravel(),
        )
