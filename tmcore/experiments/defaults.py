"""The product's defaults on the SSL paper's five data sets, beside a random forest and XGBoost on the same splits.

The threshold for F1 and for balanced accuracy comes from cross-validating the whole procedure inside the training part,
so no test row takes part in any choice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score, f1_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from tmcore.estimators import TsetlinClassifier
from tmcore.experiments import datasets

FOLDS = 5


def models() -> dict[str, Callable[[int], Any]]:
    """Makers of the compared estimators, by name; XGBoost where it is installed."""
    found: dict[str, Callable[[int], Any]] = {
        "tmcore": lambda seed: TsetlinClassifier(random_state=seed),
        "forest": lambda seed: RandomForestClassifier(300, min_samples_leaf=3, random_state=seed),
    }
    try:
        from xgboost import XGBClassifier
    except ImportError:
        return found
    settings = {"max_depth": 3, "n_estimators": 100, "learning_rate": 0.08, "n_jobs": 1}
    found["xgboost"] = lambda seed: XGBClassifier(**settings, random_state=seed)
    return found


def trial(name: str, t: int, model: str, one_hot: bool) -> dict[str, Any]:
    """Scores of one model on one split of one data set."""
    X, y = datasets.load(name, one_hot)
    if one_hot and model != "tmcore":
        X = pd.get_dummies(X, dtype=float)
    if model == "forest":
        X = X.fillna(-1)
    train, test = datasets.split(len(y), t)
    X_train, X_test, y_train, y_test = X.iloc[train], X.iloc[test], y[train], y[test]
    estimator = models()[model](t).fit(X_train, y_train)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=t)
    inside = cross_val_predict(models()[model](t), X_train, y_train, cv=folds, method="predict_proba")[:, 1]
    proba = estimator.predict_proba(X_test)[:, 1]
    row = {
        "data": name,
        "model": model,
        "trial": t,
        "F1": f1_score(y_test, proba >= best_threshold(f1_score, y_train, inside), zero_division=0),
        "balanced accuracy": balanced_accuracy_score(
            y_test, proba >= best_threshold(balanced_accuracy_score, y_train, inside)
        ),
        "F1 at 0.5": f1_score(y_test, proba >= 0.5, zero_division=0),
        "balanced accuracy at 0.5": balanced_accuracy_score(y_test, proba >= 0.5),
        "AUC": roc_auc_score(y_test, proba),
    }
    if model == "tmcore":
        row |= {"literals": estimator.rules_.n_literals, "rules": len(estimator.rules_)}
    return row


def best_threshold(score: Callable[..., float], y: np.ndarray, proba: np.ndarray) -> float:
    """The threshold with the best score, the middle one of equals."""
    levels = np.unique(proba)
    cuts = np.concatenate([[0.0], (levels[1:] + levels[:-1]) / 2])
    scores = np.array([score(y, proba >= cut) for cut in cuts])
    best = np.flatnonzero(scores == scores.max())
    return float(cuts[best[len(best) // 2]])


def run(trials: range, one_hot: bool = False, n_jobs: int = 1, names: tuple[str, ...] = datasets.NAMES) -> pd.DataFrame:
    """One row per data set, model and trial."""
    jobs = [delayed(trial)(name, t, model, one_hot) for model in models() for name in names for t in trials]
    return pd.DataFrame(Parallel(n_jobs=n_jobs)(jobs))


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Means over trials, then over data sets, one row per model."""
    return rows.drop(columns="trial").groupby(["model", "data"]).mean().groupby("model").mean().round(3)
