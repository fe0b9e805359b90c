"""What a run learns to predict, classes or numbers, and everything that differs between the two."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tmcore import files
from tmcore.class_weights import class_scales
from tmcore.decode import decode_labels
from tmcore.history import NumberRecord, Record
from tmcore.labels import class_indices, read_labels
from tmcore.machine.state import ONE_VOTE
from tmcore.parameters import MAX_VOTE_TARGET, Parameters
from tmcore.predicted import TaskName
from tmcore.scores import NumberScores, Scores, accuracy_and_f1, mae_and_r2, winners
from tmcore.settling import NO_CLASSES
from tmcore.target_range import TargetRange, read_targets

if TYPE_CHECKING:
    from tmcore.estimators import TsetlinClassifier
    from tmcore.regressor import TsetlinRegressor

HeldOut = tuple[NDArray[np.int64], NDArray[Any]]
"""Vote sums in 2**-16, (n_rows, machines), and targets of rows that are not learned from."""


class Task(ABC):
    """The training rows' targets, and what follows from their kind.

    Attributes
    ----------
    classes : ndarray, shape (K,)
        Labels; none makes the machine one that predicts numbers.
    targets : ndarray, shape (n_rows,)
        Class indices, int64; or the numbers, float64.
    target_range : TargetRange or None
        For numbers, what 0 and T votes stand for.
    name : "classes" or "numbers"
    record : type
        What the history keeps of a snapshot.
    """

    classes: NDArray[Any]
    targets: NDArray[Any]
    target_range: TargetRange | None = None
    name: ClassVar[TaskName]
    record: ClassVar[type[Record] | type[NumberRecord]]

    @abstractmethod
    def decode(self, targets: NDArray[Any]) -> pd.Series:
        """Targets as they were read: labels, or the numbers."""

    @abstractmethod
    def part(self, rows: NDArray[np.intp]) -> Task:
        """The same task on some of the rows."""

    @abstractmethod
    def read_held_out(self, y: Any, n_rows: int) -> NDArray[Any]:
        """Targets of other rows as `targets` are."""

    @abstractmethod
    def settings(self, parameters: Parameters) -> Parameters:
        """The settings as this kind of machine takes them; ValueError for one that it does not have."""

    @abstractmethod
    def scales(self, parameters: Parameters) -> NDArray[np.int64]:
        """What `Machine.scales` is to be."""

    @abstractmethod
    def lessons(self, parameters: Parameters) -> NDArray[np.int64]:
        """What `Machine.learn` takes for labels, (n_rows,)."""

    @abstractmethod
    def scores(
        self, parameters: Parameters, votes: NDArray[np.int64], held_out: HeldOut | None
    ) -> Scores | NumberScores:
        """Scores by vote sums of the training rows, and of rows held out."""

    @abstractmethod
    def estimator(self) -> type[TsetlinClassifier] | type[TsetlinRegressor]:
        """What a run becomes when it is settled."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """All but the targets, JSON-able."""


class Classes(Task):
    """Every row is of one of K classes; their clauses vote for and against."""

    name = "classes"
    record = Record

    def __init__(self, classes: NDArray[Any], targets: NDArray[np.int64]) -> None:
        self.classes, self.targets = classes, targets

    def decode(self, targets: NDArray[np.int64]) -> pd.Series:
        """See `Task.decode`; -1 becomes a label that is none of the classes."""
        return decode_labels(self.classes, targets)

    def part(self, rows: NDArray[np.intp]) -> Classes:
        """See `Task.part`; all classes stay."""
        return Classes(self.classes, self.targets[rows])

    def read_held_out(self, y: Any, n_rows: int) -> NDArray[np.int64]:
        """See `Task.read_held_out`; -1 for a class that training never saw."""
        labels = class_indices(y, self.classes)
        if len(labels) != n_rows:
            raise ValueError(f"y holds {len(labels)} labels for {n_rows} rows; give one label a row.")
        return labels

    def settings(self, parameters: Parameters) -> Parameters:
        """All as they are."""
        return parameters

    def scales(self, parameters: Parameters) -> NDArray[np.int64]:
        """How often the rows of each class may teach."""
        return class_scales(parameters.class_weight, self.classes, self.targets)

    def lessons(self, parameters: Parameters) -> NDArray[np.int64]:
        """The class indices."""
        return self.targets

    def scores(self, parameters: Parameters, votes: NDArray[np.int64], held_out: HeldOut | None) -> Scores:
        """Accuracy and F1."""
        n_classes = len(self.classes)
        train = accuracy_and_f1(self.targets, winners(votes), n_classes)
        if held_out is None:
            return Scores(*train)
        return Scores(*train, *accuracy_and_f1(held_out[1], winners(held_out[0]), n_classes))

    def estimator(self) -> type[TsetlinClassifier]:
        """`TsetlinClassifier`."""
        from tmcore.estimators import TsetlinClassifier  # it is built on runs

        return TsetlinClassifier

    def to_dict(self) -> dict[str, Any]:
        """The labels."""
        return {"classes": files.labels_to_list(self.classes)}


class Numbers(Task):
    """Every row has a number; all clauses vote for, and 0 to T votes stand for the numbers' range."""

    target_range: TargetRange
    name = "numbers"
    record = NumberRecord

    def __init__(self, target_range: TargetRange, targets: NDArray[np.float64]) -> None:
        self.classes, self.targets, self.target_range = NO_CLASSES, targets, target_range
        self._wanted: tuple[float, NDArray[np.int64]] | None = None

    def decode(self, targets: NDArray[np.float64]) -> pd.Series:
        """See `Task.decode`."""
        return pd.Series(targets)

    def part(self, rows: NDArray[np.intp]) -> Numbers:
        """See `Task.part`; the range stays."""
        return Numbers(self.target_range, self.targets[rows])

    def read_held_out(self, y: Any, n_rows: int) -> NDArray[np.float64]:
        """See `Task.read_held_out`."""
        return read_targets(y, n_rows)

    def settings(self, parameters: Parameters) -> Parameters:
        """See `number_settings`."""
        return number_settings(parameters)

    def scales(self, parameters: Parameters) -> NDArray[np.int64]:
        """All rows teach alike."""
        return np.full(2, ONE_VOTE, np.int64)

    def lessons(self, parameters: Parameters) -> NDArray[np.int64]:
        """The vote sums that the rows ask for, in 2**-16; they depend on T."""
        kept = self._wanted
        if kept is None or kept[0] != parameters.vote_target:
            kept = parameters.vote_target, self.target_range.wanted(self.targets, parameters.vote_target)
            self._wanted = kept
        return kept[1]

    def scores(
        self, parameters: Parameters, votes: NDArray[np.int64], held_out: HeldOut | None
    ) -> NumberScores:
        """Mean absolute error in the target's unit, and R2."""
        target = parameters.vote_target
        train = mae_and_r2(self.targets, self.target_range.numbers(votes[:, 0], target))
        if held_out is None:
            return NumberScores(*train)
        predicted = self.target_range.numbers(held_out[0][:, 0], target)
        return NumberScores(*train, *mae_and_r2(held_out[1], predicted))

    def estimator(self) -> type[TsetlinRegressor]:
        """`TsetlinRegressor`."""
        from tmcore.regressor import TsetlinRegressor  # it is built on runs

        return TsetlinRegressor

    def to_dict(self) -> dict[str, Any]:
        """The range."""
        return {"target_range": [self.target_range.lowest, self.target_range.highest]}


def number_settings(parameters: Parameters) -> Parameters:
    """T "auto" is all clauses, so that together they reach the highest number; there are no class weights."""
    if parameters.class_weight is not None:
        raise ValueError("class_weight weighs classes, and here numbers are predicted; leave it out.")
    if not isinstance(parameters.T, str):
        return parameters
    return parameters.replace(T=min(float(parameters.n_clauses), MAX_VOTE_TARGET))


def read_task(name: str, y: Any, n_rows: int, positive_class: Any = None) -> Task:
    """The task of a run that begins.

    Parameters
    ----------
    name : "classes" or "numbers"
    y : sequence, shape (n_rows,)
    positive_class : label, optional
        See `labels.class_order`.

    Raises
    ------
    ValueError
        With one sentence, where y is not what the name says.
    """
    if name == "classes":
        return Classes(*read_labels(y, n_rows, positive_class))
    if name != "numbers":
        raise ValueError(f'task is {name!r}; use "classes" or "numbers".')
    if positive_class is not None:
        raise ValueError(
            "positive_class chooses one of two classes, and here numbers are predicted; leave it out."
        )
    targets = read_targets(y, n_rows)
    return Numbers(TargetRange(float(targets.min()), float(targets.max())), targets)


def task_from_dict(data: dict[str, Any], targets: NDArray[Any]) -> Task:
    """A task back from its `to_dict`, with its targets."""
    if "target_range" in data:
        return Numbers(TargetRange(*data["target_range"]), targets)
    return Classes(files.labels_from_list(data["classes"]), targets)
