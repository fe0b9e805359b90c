"""One table, many models that predict a number, scored on the same split."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.tree import DecisionTreeRegressor

from tmcore.contenders import usual_pipeline
from tmcore.judge import Progress
from tmcore.scores import mae_and_r2

STRENGTHS = np.logspace(-3, 4, 15)
"""Penalties that ridge regression chooses from."""

Rows = tuple[pd.DataFrame, pd.Series]


@dataclass(frozen=True)
class MeasuredNumbers:
    """How a model does on the test rows: mean absolute error, and R2, None where their numbers do not vary."""

    name: str
    about: str
    mae: float
    r2: float | None


def number_baselines(seed: int) -> list[tuple[str, str, Any, bool]]:
    """The usual models: name, about, estimator, and whether its columns are to be scaled."""
    return [
        ("Mean", "always the mean of the training rows", DummyRegressor(), False),
        ("Shallow tree", "at most 3 questions", DecisionTreeRegressor(max_depth=3, random_state=seed), False),
        ("Ridge", "linear regression, penalised", RidgeCV(STRENGTHS), True),
        (
            "Forest",
            "200 trees",
            RandomForestRegressor(200, min_samples_leaf=2, random_state=seed, n_jobs=1),
            False,
        ),
    ]


def compare_numbers(
    train: Rows, test: Rows, seed: int, progress: Progress | None = None, stop: threading.Event | None = None
) -> list[MeasuredNumbers]:
    """Train the usual models on the training rows and score them on the test rows; those done when stopped."""
    found = []
    models = number_baselines(seed)
    for done, (name, about, model, scaled) in enumerate(models):
        if stop is not None and stop.is_set():
            break
        if progress is not None:
            progress(done, len(models))
        fitted = usual_pipeline(train[0], model, scaled).fit(train[0], train[1].to_numpy())
        mae, r2 = mae_and_r2(test[1].to_numpy(np.float64), fitted.predict(test[0]))
        found.append(MeasuredNumbers(name, about, mae, r2))
    return found
