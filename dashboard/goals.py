"""What a run predicts, a class or a number, and how pages say how good it is at that. No Streamlit here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from dashboard import style
from tmcore.estimators import TsetlinClassifier
from tmcore.labels import class_indices
from tmcore.measures import NumberMeasures
from tmcore.parameters import Parameters
from tmcore.predicted import TaskName
from tmcore.regressor import TsetlinRegressor
from tmcore.ruleset import RuleSet
from tmcore.scores import NumberScores, Scores, accuracy_and_f1, mae_and_r2
from tmcore.task import number_settings
from tmcore.uncertainty import Ends, share_interval
from tmcore.units import split_unit

Rows = tuple[pd.DataFrame, pd.Series]
Model = TsetlinClassifier | TsetlinRegressor
AnyScores = Scores | NumberScores
Figure = tuple[str, str, str]
"""A large number, what it is, and a word below."""

NOT_MEASURED = "not measured"


class ClassGoal:
    """One of several classes is predicted: rows are right or wrong.

    Attributes
    ----------
    meanings : dict
        What a setting means here, where that is not what it means usually.
    """

    meanings: Mapping[str, str] = {}

    def __init__(self, y_train: pd.Series) -> None:
        self._y = y_train

    @cached_property
    def commonest(self) -> Any:
        """The class that most training rows have."""
        return self._y.value_counts().idxmax()

    def settings(self, parameters: Parameters) -> Parameters:
        """The settings of a run towards it: as they are."""
        return parameters

    def free(self, parameters: Parameters) -> Parameters:
        """Settings of a run for others to start from: as they are."""
        return parameters

    def measure(self, model: Model, train: Rows, test: Rows) -> Scores:
        """Accuracy and F1 of a settled model; ``test`` may be empty."""
        assert isinstance(model, TsetlinClassifier)  # the run learned classes
        n_classes = len(model.rule_classes_)
        found: list[float] = []
        for X, y in (train, test) if len(test[1]) else (train,):
            truth, predicted = (class_indices(one, model.rule_classes_) for one in (y, model.predict(X)))
            found += accuracy_and_f1(truth, predicted, n_classes)
        return Scores(*found)

    def result(self, scores: AnyScores, one: bool = False) -> str:
        """How good on unseen rows, as the end of a sentence about ``one`` thing or several; empty without them."""
        assert isinstance(scores, Scores)
        if scores.test_accuracy is None:
            return ""
        return f"{'gets' if one else 'get'} {style.percent(scores.test_accuracy)} of unseen rows right"

    def lines(self, before: AnyScores, after: AnyScores) -> list[tuple[str, str, str]]:
        """A table's lines: a measure, its value before, and after."""
        assert isinstance(before, Scores)
        assert isinstance(after, Scores)
        return [
            ("Unseen rows right", _percent(before.test_accuracy), _percent(after.test_accuracy)),
            ("Training rows right", _percent(before.train_accuracy), _percent(after.train_accuracy)),
        ]

    def in_files(
        self,
        scores: AnyScores,
        rules: RuleSet,
        test: Rows,
        retrained: tuple[float | None, float | None] | None,
    ) -> tuple[tuple[str, str], ...]:
        """What files say of how good rules are; ``retrained`` are the mean by retraining and its standard error."""
        assert isinstance(scores, Scores)
        told, n_test = [], len(test[1])
        if scores.test_accuracy is not None:
            low, high = share_interval(round(scores.test_accuracy * n_test), n_test)
            words = f"{100 * scores.test_accuracy:.0f} % of {n_test:,} {'row' if n_test == 1 else 'rows'}"
            interval = f"of all rows {100 * low:.0f} to {100 * high:.0f} % (95 % interval)"
            told.append(("right on unseen rows", f"{words}; {interval}"))
            told.append(("for comparison", self.baseline(test[1])))
        mean, error = retrained or (None, None)
        if mean is not None:
            told.append(
                ("right when retrained on parts of the training rows", f"{100 * mean:.1f} %{_spread(error)}")
            )
        return tuple(told)

    @cached_property
    def what(self) -> str:
        """What is predicted: "no disease or disease"."""
        names = [style.short(name) for name in sorted(self._y.unique().tolist())]
        if len(names) > 4:
            return f"{len(names)} classes"
        return ", ".join(names[:-1]) + " or " + names[-1] if len(names) > 1 else names[0]

    def retrained(self, mean: float, error: float | None) -> Figure:
        """Accuracy by retraining, with its standard error."""
        known = f"± {100 * error:.0f} points" if error is not None and error == error else "points"
        return style.percent(mean), "retrained accuracy", known

    def on_training(self, scores: AnyScores, before: AnyScores) -> Figure:
        """Accuracy on the training rows, now and by votes."""
        assert isinstance(scores, Scores)
        assert isinstance(before, Scores)
        was = f"{style.percent(before.train_accuracy)} by votes before"
        return style.percent(scores.train_accuracy), "on training rows", was

    def on_unseen(self, scores: AnyScores, before: AnyScores, n_rows: int) -> list[Figure]:
        """Accuracy on unseen rows, now and by votes; nothing without such rows."""
        assert isinstance(scores, Scores)
        assert isinstance(before, Scores)
        if scores.test_accuracy is None:
            return []
        was = (
            "" if before.test_accuracy is None else f", {style.percent(before.test_accuracy)} by votes before"
        )
        of = f"of {style.count(n_rows, 'row')}{was}"
        return [(style.percent(scores.test_accuracy), "on unseen rows", of)]

    def baseline(self, y_test: pd.Series) -> str:
        """What the simplest answer would get on unseen rows."""
        share = float((y_test == self.commonest).mean())
        return f"always “{style.short(self.commonest)}” would get {style.percent(share)}"


class NumberGoal:
    """A number is predicted: rows are missed by some amount; ``meanings`` as in `ClassGoal`."""

    meanings: Mapping[str, str] = {
        "n_clauses": "How many clauses, which are rules in the making, the machine has; each adds where it holds.",
        "T": "The highest number stands for so many votes, the lowest for none; as many as there are clauses is usual.",
    }

    def __init__(self, y_train: pd.Series) -> None:
        self._y = y_train
        named = y_train.name if y_train.name is not None else "number"
        self.label, self.unit = split_unit(str(named))

    @cached_property
    def mean(self) -> float:
        """The mean of the training rows, which is the simplest answer."""
        return float(self._y.mean())

    def settings(self, parameters: Parameters) -> Parameters:
        """The settings of a run towards it: T "auto" is all clauses, and there are no classes to weigh."""
        return number_settings(parameters.replace(class_weight=None))

    def free(self, parameters: Parameters) -> Parameters:
        """Settings of a run for others to start from: T is "auto" again where it is what "auto" gave."""
        usual = self.settings(parameters.replace(T="auto"))
        return parameters.replace(T="auto") if parameters.T == usual.T else parameters

    def amount(self, value: float) -> str:
        """A size in the target's unit."""
        return style.amount(value, style.short(self.unit) if self.unit else "")

    def measure(self, model: Model, train: Rows, test: Rows) -> NumberScores:
        """MAE and R2 of a settled model; ``test`` may be empty."""
        found: list[float | None] = []
        for X, y in (train, test) if len(test[1]) else (train,):
            found += mae_and_r2(y.to_numpy(np.float64), model.predict(X))
        return NumberScores(*found)  # type: ignore[arg-type]  # the first is no None

    def result(self, scores: AnyScores, one: bool = False) -> str:
        """How good on unseen rows, as the end of a sentence about ``one`` thing or several; empty without them."""
        assert isinstance(scores, NumberScores)
        if scores.test_mae is None:
            return ""
        r2 = "" if scores.test_r2 is None else f" (R² {style.share(scores.test_r2)})"
        return f"{'misses' if one else 'miss'} unseen rows by {self.amount(scores.test_mae)} on average{r2}"

    def lines(self, before: AnyScores, after: AnyScores) -> list[tuple[str, str, str]]:
        """A table's lines: a measure, its value before, and after."""
        assert isinstance(before, NumberScores)
        assert isinstance(after, NumberScores)
        return [
            ("Unseen rows, mean error (MAE)", self._amount(before.test_mae), self._amount(after.test_mae)),
            ("Unseen rows, R²", _share(before.test_r2), _share(after.test_r2)),
            ("Training rows, mean error", self._amount(before.train_mae), self._amount(after.train_mae)),
            ("Training rows, R²", _share(before.train_r2), _share(after.train_r2)),
        ]

    def in_files(
        self,
        scores: AnyScores,
        rules: RuleSet,
        test: Rows,
        retrained: tuple[float | None, float | None] | None,
    ) -> tuple[tuple[str, str], ...]:
        """What files say of how good rules are; ``retrained`` are the mean by retraining and its standard error."""
        assert isinstance(scores, NumberScores)
        told = []
        if scores.test_mae is not None:
            measures = NumberMeasures()
            ends = measures.intervals(measures.answers(rules, *test))
            rows = f"on {len(test[1]):,} unseen {'row' if len(test[1]) == 1 else 'rows'}"
            told += [
                (
                    f"mean absolute error {rows}",
                    f"{self.amount(scores.test_mae)}{_all_rows(ends['MAE'], self.amount)}",
                ),
                (f"R² {rows}", f"{_share(scores.test_r2)}{_all_rows(ends['R2'], style.share)}"),
                ("for comparison", self.baseline(test[1])),
            ]
        mean, error = retrained or (None, None)
        if mean is not None:
            spread = (
                f" ± {style.share(error)} (standard error)" if error is not None and error == error else ""
            )
            told.append(("R² when retrained on parts of the training rows", f"{style.share(mean)}{spread}"))
        return tuple(told)

    @property
    def what(self) -> str:
        """What is predicted: "predicting price"."""
        return f"predicting {style.short(self.label)}"

    def retrained(self, mean: float, error: float | None) -> Figure:
        """R2 by retraining, with its standard error."""
        known = f"± {style.share(error)}" if error is not None and error == error else ""
        return style.share(mean), "retrained R²", known

    def on_training(self, scores: AnyScores, before: AnyScores) -> Figure:
        """R2 on the training rows, now and by votes."""
        assert isinstance(scores, NumberScores)
        assert isinstance(before, NumberScores)
        return _share(scores.train_r2), "R² on training rows", f"{_share(before.train_r2)} by votes before"

    def on_unseen(self, scores: AnyScores, before: AnyScores, n_rows: int) -> list[Figure]:
        """R2 on unseen rows, now and by votes; nothing without such rows."""
        assert isinstance(scores, NumberScores)
        assert isinstance(before, NumberScores)
        if scores.test_mae is None:
            return []
        of = f"of {style.count(n_rows, 'row')}, {_share(before.test_r2)} by votes before"
        return [(_share(scores.test_r2), "R² on unseen rows", of)]

    def baseline(self, y_test: pd.Series) -> str:
        """What the simplest answer would get on unseen rows."""
        mae = float((y_test - self.mean).abs().mean())
        return f"always the mean of the training rows, {self.amount(self.mean)}, would miss by {self.amount(mae)}"

    def _amount(self, value: float | None) -> str:
        return NOT_MEASURED if value is None else self.amount(value)


Goal = ClassGoal | NumberGoal


def make_goal(task: TaskName, y_train: pd.Series) -> Goal:
    """The goal of a run on these training rows."""
    return NumberGoal(y_train) if task == "numbers" else ClassGoal(y_train)


def _percent(value: float | None) -> str:
    return NOT_MEASURED if value is None else style.percent(value)


def _spread(error: float | None) -> str:
    known = error is not None and error == error
    return f" ± {100 * (error or 0):.1f} points (standard error)" if known else ""


def _all_rows(ends: Ends, shown: Callable[[float], str]) -> str:
    """What an interval says of all rows; nothing where there is none."""
    low, high = ends
    return f"; of all rows {shown(low)} to {shown(high)} (95 % interval)" if np.isfinite(low) else ""


def _share(value: float | None) -> str:
    return NOT_MEASURED if value is None else style.share(value)
