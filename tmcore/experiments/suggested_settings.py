"""The defaults beside other vote targets and what `suggest_settings` finds, on bundled samples, by held-out rows."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

import sample_data
from tmcore.commands.words import Parser, positive
from tmcore.estimators import TsetlinClassifier
from tmcore.parameters import Parameters
from tmcore.suggest import log_loss, suggest_settings

SAMPLES = ("heart", "pima", "wine", "balance_scale")
VOTE_TARGETS = (0.1, 0.5)
"""Shares of the clauses tried beside T = "auto", which is 0.25."""


def trial(key: str, seed: int, seconds: float) -> list[dict[str, Any]]:
    """Scores of every choice of settings on one split; the search sees the training rows only."""
    table = sample_data.load(key)
    X, y = table.features(), table.labels()
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=seed, stratify=y)
    base = Parameters()
    choices = {'defaults (T="auto")': base}
    choices |= {
        f"defaults, T = {share * base.n_clauses:g}": base.replace(T=share * base.n_clauses)
        for share in VOTE_TARGETS
    }
    start = time.perf_counter()
    found = suggest_settings(X_train, y_train, seconds, random_state=seed)
    searched = time.perf_counter() - start
    choices["suggested"] = found.parameters
    choices["least loss in the search"] = _least(found.trials, base)
    rows = []
    for name, parameters in choices.items():
        settings = {field: getattr(parameters, field) for field in ("n_clauses", "T", "s", "epochs")}
        model = TsetlinClassifier(**settings, random_state=seed).fit(X_train, y_train)
        rows.append(
            {
                "data": key,
                "trial": seed,
                "settings": name,
                **settings,
                "log loss": log_loss(model.predict_proba(X_test), y_test.to_numpy(), model.classes_),
                "balanced accuracy": balanced_accuracy_score(y_test, model.predict(X_test)),
                "rules": len(model.rules_),
                "literals": model.rules_.n_literals,
                "changed": parameters != base,
                "search seconds": searched,
                "candidates": int((found.trials["splits"] > 0).sum()),
            }
        )
    return rows


def _least(trials: pd.DataFrame, base: Parameters) -> Parameters:
    """The settings with the least loss among those that went furthest, whether clearly better or not."""
    furthest = trials[trials["splits"] == trials["splits"].max()]
    best = furthest.sort_values("loss").iloc[0]
    if best.name == 0:
        return base
    numbers = {name: int(best[name]) for name in ("n_clauses", "epochs")}
    return base.replace(**numbers, T=float(best["T"]), s=float(best["s"]))


def run(trials: int, seconds: float, keys: tuple[str, ...] = SAMPLES) -> pd.DataFrame:
    """One row per data set, split and choice of settings."""
    return pd.DataFrame([row for key in keys for seed in range(trials) for row in trial(key, seed, seconds)])


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Means over the splits."""
    columns = [
        "log loss",
        "balanced accuracy",
        "rules",
        "literals",
        "changed",
        "search seconds",
        "candidates",
    ]
    means = rows.groupby(["data", "settings"], sort=False)[columns].mean()
    digits = {
        "log loss": 3,
        "balanced accuracy": 3,
        "rules": 0,
        "literals": 0,
        "changed": 2,
        "search seconds": 0,
    }
    return means.round({**digits, "candidates": 1})


def main(argv: list[str] | None = None) -> None:
    """Print the means, and write every trial as CSV."""
    parser = Parser(prog="tmcore experiment suggested_settings", description=__doc__)
    parser.add_argument("--trials", type=positive, default=3, help="splits per data set (default 3)")
    parser.add_argument("--seconds", type=float, default=60.0, help="length of each search (default 60)")
    keys = [sample.key for sample in sample_data.samples()]
    parser.add_argument("--data", nargs="+", choices=keys, default=list(SAMPLES), help="bundled samples")
    parser.add_argument("--out", type=Path, help="folder for suggested_settings.csv")
    options = parser.parse_args(argv)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
    rows = run(options.trials, options.seconds, tuple(options.data))
    print(_markdown(summary(rows)))
    if options.out is not None:
        rows.to_csv(options.out / "suggested_settings.csv", index=False)


def _markdown(means: pd.DataFrame) -> str:
    table = means.reset_index()
    lines = ["| " + " | ".join(table.columns) + " |", "|" + "---|" * table.shape[1]]
    for row in table.to_numpy(dtype=object):
        cells = (f"{cell:g}" if isinstance(cell, float | np.floating) else str(cell) for cell in row)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
