"""Numbers instead of classes: the regressor beside scikit-learn's on diabetes, and a step function of known rules.

Ten splits, `default_rng(t).permutation`, first 80 % to train; every model sees the same rows.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from tmcore.commands.words import Parser, positive
from tmcore.experiments.datasets import data_folder, split
from tmcore.regressor import TsetlinRegressor

N_SPLITS = 10


def make_models(seed: int) -> dict[str, Any]:
    """The models compared, by name."""
    return {
        "Tsetlin regressor": TsetlinRegressor(random_state=seed),
        "Tsetlin regressor, votes": TsetlinRegressor(weights="none", random_state=seed),
        "always the mean": DecisionTreeRegressor(max_depth=1, min_samples_leaf=0.5001),
        "Ridge": make_pipeline(StandardScaler(), Ridge()),
        "decision tree, depth 4": DecisionTreeRegressor(max_depth=4, random_state=seed),
        "random forest": RandomForestRegressor(random_state=seed),
    }


def study(X: pd.DataFrame, y: np.ndarray, n_splits: int = N_SPLITS) -> pd.DataFrame:
    """Mean absolute error, R2, rules and literals of every model on every split, and seconds to fit."""
    rows = []
    for trial in range(n_splits):
        train, test = split(len(y), trial)
        for name, model in make_models(trial).items():
            start = time.perf_counter()
            model.fit(X.iloc[train], y[train])
            seconds = time.perf_counter() - start
            predicted = model.predict(X.iloc[test])
            row = {"model": name, "split": trial, "MAE": mean_absolute_error(y[test], predicted)}
            row |= {"R2": r2_score(y[test], predicted), "seconds": seconds}
            if isinstance(model, TsetlinRegressor):
                row |= {"rules": len(model.rules_), "literals": model.rules_.n_literals}
            elif isinstance(model, DecisionTreeRegressor):
                row |= {"rules": model.get_n_leaves()}
            rows.append(row)
    return pd.DataFrame(rows)


def step_function(n_rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """100, and 50 more where height > 11, and 20 less where width <= 4; depth says nothing."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 20, size=(n_rows, 3)), columns=["height", "width", "depth"])
    y = 100.0 + 50.0 * (X["height"] > 11) - 20.0 * (X["width"] <= 4)
    return X, y.to_numpy()


def main(argv: list[str] | None = None) -> None:
    """Print the comparison, the rules of the first split, and those of the step function."""
    parser = Parser(prog="tmcore experiment regression", description=__doc__)
    parser.add_argument("--splits", type=positive, default=N_SPLITS, help=f"splits (default {N_SPLITS})")
    options = parser.parse_args(argv)
    X = pd.read_csv(data_folder() / "diabetes_regression.csv")
    y = X.pop("target").to_numpy(np.float64)
    found = study(X, y, options.splits)
    measures = found.drop(columns="split").groupby("model", sort=False)
    table = measures.mean()
    table.insert(2, "R2 spread", measures["R2"].std())
    print(table.round(3).to_string())
    train, _ = split(len(y), 0)
    print("\nRules of the first split:")
    print(TsetlinRegressor(random_state=0).fit(X.iloc[train], y[train]).rules_.to_text())
    print("100, +50 where height > 11, −20 where width ≤ 4, learned from 600 rows:")
    print(TsetlinRegressor(random_state=0).fit(*step_function(600, 0)).rules_.to_text())


if __name__ == "__main__":
    main()
