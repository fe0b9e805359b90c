"""What predictions are scored by, with intervals: accuracy, F1, AUC of classes; mean absolute error, R2 of numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.metrics import f1_score, roc_auc_score

from tmcore.labels import class_indices, class_order
from tmcore.predicted import TaskName
from tmcore.problems import listed, quoted
from tmcore.scores import mae_and_r2
from tmcore.uncertainty import (
    UNKNOWN,
    Ends,
    auc_interval,
    class_intervals,
    f1_difference,
    mean_difference,
    mean_interval,
    r2_interval,
    share_interval,
)


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model says of some rows.

    Attributes
    ----------
    truth, predicted : ndarray (n_rows,)
        Class indices, -1 for a class that training never saw, which always counts as wrong; or numbers.
    shares : ndarray (n_rows, n_classes)
        Probabilities; no columns where numbers are predicted.
    """

    truth: np.ndarray
    predicted: np.ndarray
    shares: np.ndarray


class Measures(ABC):
    """How predictions of one kind are scored.

    Attributes
    ----------
    names : tuple of str
        The measures; the first is the one that headlines speak of.
    compared : str
        The measure that models are compared by.
    smaller_is_better : frozenset of str
    ends : dict of measure to (lowest, highest)
        What a measure can be.
    """

    names: ClassVar[tuple[str, ...]]
    compared: ClassVar[str]
    smaller_is_better: ClassVar[frozenset[str]] = frozenset()
    ends: ClassVar[Mapping[str, Ends]]

    @abstractmethod
    def can_learn(self, y: np.ndarray) -> bool:
        """Whether rows with these targets can be trained on."""

    @abstractmethod
    def targets(self, y: Any) -> np.ndarray:
        """Targets as the usual models learn them: class indices, or the numbers."""

    @abstractmethod
    def answers(self, model: Any, X: pd.DataFrame, y: Any, by_index: bool = False) -> Answers:
        """What a fitted model says of rows; ``by_index`` where it learned `targets` and not what is in the table."""

    @abstractmethod
    def scores(self, answers: Answers) -> dict[str, float]:
        """Every measure, NaN where there is none."""

    @abstractmethod
    def intervals(self, answers: Answers) -> dict[str, Ends]:
        """The CONFIDENCE interval of every measure of one model on one set of rows."""

    @abstractmethod
    def difference(self, first: Answers, second: Answers) -> Ends:
        """The CONFIDENCE interval of the first model's `compared` minus the second's on the same rows."""

    @abstractmethod
    def simplest(self, train: np.ndarray, test: np.ndarray) -> float:
        """The first measure of always the same answer, the best one by the training targets."""

    def missing(self, answers: Answers) -> dict[str, str]:
        """Why a measure is not known, one clause for each that is not."""
        return {}


class ClassMeasures(Measures):
    """Rows are of one of `classes`, in the order of the class indices.

    F1 is that of class 1 with two classes, and with more the mean over the classes, each counting alike ("macro"); AUC
    with more is the mean of each class against the rest, and unknown where a class has no row. Balanced accuracy is
    the mean over the classes that occur of the share of their rows that is right.
    """

    names = ("accuracy", "balanced accuracy", "F1", "AUC")
    compared = "F1"
    ends: ClassVar[Mapping[str, Ends]] = dict.fromkeys(names, (0.0, 1.0))

    def __init__(self, classes: np.ndarray) -> None:
        self.classes = classes

    def can_learn(self, y: np.ndarray) -> bool:
        """See `Measures.can_learn`."""
        return len(np.unique(y)) > 1

    def targets(self, y: Any) -> np.ndarray:
        """See `Measures.targets`."""
        return class_indices(y, self.classes)

    def answers(self, model: Any, X: pd.DataFrame, y: Any, by_index: bool = False) -> Answers:
        """See `Measures.answers`."""
        names = np.arange(len(self.classes)) if by_index else self.classes
        predicted = class_indices(model.predict(X), names)
        return Answers(self.targets(y), predicted, shares_of(model, X, names))

    def scores(self, answers: Answers) -> dict[str, float]:
        """See `Measures.scores`."""
        truth, predicted, n_classes = answers.truth, answers.predicted, len(self.classes)
        each = f1_score(truth, predicted, average=None, labels=np.arange(n_classes), zero_division=0)
        recalls = [np.mean(predicted[truth == k] == k) for k in np.unique(truth)]
        return {
            "accuracy": float(np.mean(truth == predicted)),
            "balanced accuracy": float(np.mean(recalls)),
            "F1": float(each[1] if n_classes == 2 else each.mean()),
            "AUC": np.nan if self.missing(answers) else self._auc(answers),
        }

    def _auc(self, answers: Answers) -> float:
        shares = answers.shares[:, 1] if len(self.classes) == 2 else answers.shares
        return float(roc_auc_score(answers.truth, shares, multi_class="ovr"))

    def intervals(self, answers: Answers) -> dict[str, Ends]:
        """See `Measures.intervals`."""
        truth, predicted = answers.truth, answers.predicted
        return {
            "accuracy": share_interval(int((truth == predicted).sum()), len(truth)),
            **class_intervals(truth, predicted, len(self.classes)),
            "AUC": UNKNOWN if self.missing(answers) else auc_interval(truth, answers.shares),
        }

    def difference(self, first: Answers, second: Answers) -> Ends:
        """See `Measures.difference`; of F1."""
        return f1_difference(first.truth, first.predicted, second.predicted, len(self.classes))

    def simplest(self, train: np.ndarray, test: np.ndarray) -> float:
        """See `Measures.simplest`; the accuracy of always the commonest class."""
        found, counts = np.unique(train, return_counts=True)
        return float(np.mean(test == found[counts.argmax()]))

    def missing(self, answers: Answers) -> dict[str, str]:
        """See `Measures.missing`; AUC needs rows of every class, and of no other."""
        if (answers.truth < 0).any():
            return {"AUC": "some test rows are of a class that training never saw"}
        absent = [label for k, label in enumerate(self.classes) if not (answers.truth == k).any()]
        if absent:
            return {"AUC": f"no test row is {listed([quoted(label) for label in absent])}"}
        return {}


class NumberMeasures(Measures):
    """Rows have a number: the mean absolute error in its unit, and R2, unknown where the numbers do not vary."""

    names = ("MAE", "R2")
    compared = "MAE"
    smaller_is_better = frozenset({"MAE"})
    ends: ClassVar[Mapping[str, Ends]] = {"MAE": (0.0, np.inf), "R2": (-np.inf, 1.0)}

    def can_learn(self, y: np.ndarray) -> bool:
        """See `Measures.can_learn`."""
        return len(y) > 1 and bool(y.min() < y.max())

    def targets(self, y: Any) -> np.ndarray:
        """See `Measures.targets`."""
        return np.asarray(y, np.float64)

    def answers(self, model: Any, X: pd.DataFrame, y: Any, by_index: bool = False) -> Answers:
        """See `Measures.answers`."""
        return Answers(self.targets(y), np.asarray(model.predict(X), np.float64), np.zeros((len(X), 0)))

    def scores(self, answers: Answers) -> dict[str, float]:
        """See `Measures.scores`."""
        mae, r2 = mae_and_r2(answers.truth, answers.predicted)
        return {"MAE": mae, "R2": np.nan if r2 is None else r2}

    def intervals(self, answers: Answers) -> dict[str, Ends]:
        """See `Measures.intervals`."""
        return {
            "MAE": mean_interval(_missed(answers)),
            "R2": r2_interval(answers.truth, answers.predicted),
        }

    def difference(self, first: Answers, second: Answers) -> Ends:
        """See `Measures.difference`; of the mean absolute error, row by row."""
        return mean_difference(_missed(first) - _missed(second))

    def simplest(self, train: np.ndarray, test: np.ndarray) -> float:
        """See `Measures.simplest`; the mean absolute error of always the training mean."""
        return float(np.abs(test - train.mean()).mean())

    def missing(self, answers: Answers) -> dict[str, str]:
        """See `Measures.missing`."""
        if answers.truth.min() == answers.truth.max():
            return {"R2": "all test rows have the same number"}
        return {}


def _missed(answers: Answers) -> np.ndarray:
    return np.abs(answers.truth - answers.predicted)


def measures_for(task: TaskName, y: Any, positive_class: Any = None) -> Measures:
    """How predictions of such targets are scored.

    Parameters
    ----------
    task : "classes" or "numbers"
    y : targets, all that there are
    positive_class : label, optional
        As in `TsetlinClassifier`; F1 is of this class.
    """
    if task == "numbers":
        return NumberMeasures()
    return ClassMeasures(class_order(np.unique(np.asarray(y)), positive_class))


def shares_of(model: Any, X: pd.DataFrame, classes: np.ndarray) -> np.ndarray:
    """A model's probabilities in columns for all of `classes`, 0 for those it never saw."""
    shares = np.zeros((len(X), len(classes)))
    shares[:, class_indices(model.classes_, classes)] = model.predict_proba(X)
    return shares
