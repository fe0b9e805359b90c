"""The product's defaults on the SSL paper's five data sets, beside a random forest and XGBoost on the same splits.

The threshold for F1 and for balanced accuracy comes from cross-validating the whole procedure inside the training part,
so no test row takes part in any choice.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score, f1_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from tmcore.commands.words import Parser, positive
from tmcore.estimators import TsetlinClassifier
from tmcore.experiments import datasets

FOLDS = 5
LOG_ODDS = np.linspace(-3, 3, 121)
"""Thresholds tried."""

SMOOTHING = 0.3
"""Width of the mean over neighbouring thresholds, in log-odds."""


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
    """The threshold with the best score, smoothed over neighbouring thresholds; the middle one of equals.

    On a few hundred rows the score jumps from one threshold to the next, and its highest point is mostly luck. So
    every threshold gets the mean of the scores around it, with Gaussian weights in log-odds.
    """
    thresholds = expit(LOG_ODDS)
    scores = np.array([score(y, proba >= threshold) for threshold in thresholds])
    near = np.exp(-0.5 * ((LOG_ODDS[:, None] - LOG_ODDS) / SMOOTHING) ** 2)
    smooth = near @ scores / near.sum(axis=1)
    best = np.flatnonzero(smooth >= smooth.max() - 1e-9)
    return float(thresholds[best[len(best) // 2]])


def run(
    trials: range, one_hot: bool = False, n_jobs: int = 1, names: tuple[str, ...] = datasets.NAMES
) -> pd.DataFrame:
    """One row per data set, model and trial."""
    jobs = [delayed(trial)(name, t, model, one_hot) for model in models() for name in names for t in trials]
    return pd.DataFrame(Parallel(n_jobs=n_jobs)(jobs))


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Means over trials, then over data sets, one row per model."""
    return rows.drop(columns="trial").groupby(["model", "data"]).mean().groupby("model").mean().round(3)


def main(argv: list[str] | None = None) -> None:
    """Print the means per data set and over them, and write them and every trial as CSV."""
    parser = Parser(prog="tmcore experiment defaults", description=__doc__)
    parser.add_argument("--trials", type=positive, default=10, help="splits per data set (default 10)")
    parser.add_argument(
        "--one-hot", action="store_true", help="give nominal columns as categories, not as codes"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument(
        "--data", nargs="+", choices=datasets.NAMES, default=list(datasets.NAMES), help="default all"
    )
    parser.add_argument(
        "--out", type=Path, help="folder for defaults.csv (every trial) and defaults_means.csv"
    )
    options = parser.parse_args(argv)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
    rows = run(range(options.trials), options.one_hot, options.jobs, tuple(options.data))
    by_data, means = rows.drop(columns="trial").groupby(["data", "model"]).mean().round(3), summary(rows)
    print(f"{by_data.to_string()}\n\nMeans over the data sets:\n{means.to_string()}")
    if options.out is not None:
        rows.to_csv(options.out / "defaults.csv", index=False)
        means.to_csv(options.out / "defaults_means.csv")


if __name__ == "__main__":
    main()
