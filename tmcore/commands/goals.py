"""What ``tmcore train`` predicts, a class or a number: how it is read, held out, scored and told."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd

from tmcore.estimators import TsetlinClassifier
from tmcore.labels import class_indices
from tmcore.parameters import Parameters
from tmcore.regressor import TsetlinRegressor
from tmcore.scores import NumberScores, Scores, accuracy_and_f1, mae_and_r2
from tmcore.table import Table

Model = TsetlinClassifier | TsetlinRegressor


class ClassGoal:
    """The rows' classes; `y` are the labels of the rows that have one."""

    def __init__(self, table: Table) -> None:
        self.y = table.labels()
        self.arguments: dict[str, Any] = {"positive_class": table.positive_class}

    @property
    def strata(self) -> pd.Series | None:
        """What the held-out rows should have the same shares of."""
        return self.y

    def model(self, parameters: Parameters, jobs: int | None) -> Model:
        """An estimator to fit."""
        return TsetlinClassifier(**dataclasses.asdict(parameters), n_jobs=jobs, **self.arguments)

    def progress(self, scores: Scores | NumberScores) -> str:
        """Scores on the way."""
        assert isinstance(scores, Scores)  # this is a run on classes
        aside = "" if scores.test_accuracy is None else f", {scores.test_accuracy:.3f} on held-out rows"
        return f"accuracy {scores.train_accuracy:.3f} on training rows{aside}"

    def scores(self, models: dict[str, Model], X: pd.DataFrame, y: pd.Series) -> list[str]:
        """A line for each model, by what it is called, and one for the simplest answer."""
        found = {}
        for name, model in models.items():
            assert isinstance(model, TsetlinClassifier)  # it was trained on classes
            truth, predicted = (class_indices(one, model.rule_classes_) for one in (y, model.predict(X)))
            found[name] = accuracy_and_f1(truth, predicted, len(model.rule_classes_))
        return class_lines(model.rule_classes_, found, y)


def class_lines(classes: np.ndarray, scores: dict[str, tuple[float, float]], y: pd.Series) -> list[str]:
    """Accuracy and F1 in words, and the accuracy of the commonest label."""
    measure = f"F1 of {classes[1]!s}" if len(classes) == 2 else "F1"
    lines = [
        f"{what}: accuracy {accuracy:.3f}, {measure} {f1:.3f}" for what, (accuracy, f1) in scores.items()
    ]
    counts = y.value_counts()
    return [*lines, f"always answering {counts.index[0]}: accuracy {counts.iloc[0] / len(y):.3f}"]


class NumberGoal:
    """The rows' numbers; `y` are those of the rows that have one."""

    strata = None

    def __init__(self, table: Table) -> None:
        self.y = table.labels()
        self.arguments: dict[str, Any] = {"task": "numbers"}

    def model(self, parameters: Parameters, jobs: int | None) -> Model:
        """An estimator to fit."""
        settings = dataclasses.asdict(parameters)
        del settings["class_weight"]  # a run on numbers refuses one before this
        return TsetlinRegressor(**settings, n_jobs=jobs)

    def progress(self, scores: Scores | NumberScores) -> str:
        """Scores on the way."""
        assert isinstance(scores, NumberScores)  # this is a run on numbers
        aside = "" if scores.test_mae is None else f", {scores.test_mae:.4g} on held-out rows"
        return f"mean absolute error {scores.train_mae:.4g} on training rows{aside}"

    def scores(self, models: dict[str, Model], X: pd.DataFrame, y: pd.Series) -> list[str]:
        """A line for each model, by what it is called, and one for the simplest answer."""
        trained_on = self.y.drop(y.index) if len(y) < len(self.y) else y
        truth, middle = y.to_numpy(), float(trained_on.mean())
        answers = {name: model.predict(X) for name, model in models.items()}
        answers[f"always answering the mean of the training rows, {middle:.4g}"] = np.full(len(y), middle)
        lines = []
        for name, predicted in answers.items():
            mae, r2 = mae_and_r2(truth, predicted)
            lines.append(f"{name}: mean absolute error {mae:.4g}" + ("" if r2 is None else f", R2 {r2:.3f}"))
        return lines


Goal = ClassGoal | NumberGoal


def goal_of(table: Table) -> Goal:
    """The goal of a table."""
    return NumberGoal(table) if table.task == "numbers" else ClassGoal(table)
