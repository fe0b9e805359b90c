"""The SSL paper's own machine on Balance Scale, and the contrastive rule with ten clauses on Bankruptcy.

Votes only, no refit: what the paper's tables report, beside the paper's numbers.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from joblib import Parallel, delayed
from sklearn.metrics import f1_score

from tmcore.commands.words import Parser
from tmcore.estimators import TsetlinClassifier
from tmcore.experiments import datasets

SETTINGS: dict[str, dict[str, Any]] = {
    "balance": {"n_clauses": 100, "T": 25, "s": 1.5, "epochs": 60, "bound_rule": "paper"},
    "bankruptcy": {"n_clauses": 10, "T": 1, "s": 2.5, "epochs": 150, "bound_rule": "contrastive"},
}
TRIALS = {"balance": 20, "bankruptcy": 8}
PAPER = {"balance": (0.944, 140), "bankruptcy": (0.843, 40)}
"""F1 and literals of the paper with the same number of clauses."""


def trial(name: str, t: int) -> dict[str, Any]:
    """F1 on the test rows and included bounds of one split."""
    X, y = datasets.load(name)
    train, test = datasets.split(len(y), t)
    model = TsetlinClassifier(**SETTINGS[name], weights="none", random_state=t).fit(X.iloc[train], y[train])
    return {
        "data": name,
        "trial": t,
        "F1": f1_score(y[test], model.predict(X.iloc[test])),
        "bounds": model.n_literals_,
    }


def run(n_jobs: int = 1) -> pd.DataFrame:
    """One row per data set and trial."""
    return pd.DataFrame(
        Parallel(n_jobs=n_jobs)(delayed(trial)(name, t) for name in SETTINGS for t in range(TRIALS[name]))
    )


def main(argv: list[str] | None = None) -> None:
    """Print the means beside the paper's."""
    parser = Parser(prog="tmcore experiment ssl_paper", description=__doc__)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    means = run(parser.parse_args(argv).jobs).groupby("data")[["F1", "bounds"]].mean()
    for name, row in means.iterrows():
        f1, literals = PAPER[str(name)]
        print(
            f"{name}: F1 {row['F1']:.3f} with {row['bounds']:.0f} included bounds over {TRIALS[str(name)]} splits"
            f" (the paper: {f1:.3f}, {literals}). Settings: {SETTINGS[str(name)]}"
        )


if __name__ == "__main__":
    main()
