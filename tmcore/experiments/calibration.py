"""How far the probabilities can be trusted: by votes and by refit, before and after scikit-learn's calibration.

Every row is predicted by a machine that did not see it. Writes a table and a picture of the reliability curves.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

import sample_data
from tmcore.commands.words import Parser, positive
from tmcore.estimators import TsetlinClassifier
from tmcore.experiments.reliability_picture import picture

SAMPLES = ("heart", "breast_cancer", "liver", "pima", "titanic", "compas", "telco_churn")
METHODS = ("votes", "votes, calibrated", "refit", "refit, calibrated")
MAX_ROWS = 3000
FOLDS = 5
BINS = 10

Floats = NDArray[np.float64]


def make(method: str, seed: int) -> ClassifierMixin:
    """The estimator of one of METHODS; a calibrated one is still a single machine, so its rules can be read."""
    base = TsetlinClassifier(weights="refit" if method.startswith("refit") else "none", random_state=seed)
    if not method.endswith("calibrated"):
        return base
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    return CalibratedClassifierCV(base, method="sigmoid", cv=folds, ensemble=False)


def held_out(key: str, method: str, max_rows: int = MAX_ROWS) -> tuple[NDArray[np.int64], Floats]:
    """Labels (0 or 1) of a sample's rows, and the probability of class 1 by a machine that did not see the row."""
    table = sample_data.load(key)
    frame, labels = table.features(), table.labels()
    chosen = np.random.default_rng(0).permutation(len(labels))[:max_rows]
    X, y = frame.iloc[chosen], (labels == np.unique(labels)[1]).to_numpy(np.int64)[chosen]
    probabilities = np.zeros(len(y))
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        model = make(method, 0).fit(X.iloc[train], y[train])
        probabilities[test] = model.predict_proba(X.iloc[test])[:, 1]
    return y, probabilities


def reliability(
    y: NDArray[np.int64], probabilities: Floats, bins: int = BINS
) -> tuple[Floats, Floats, Floats]:
    """Mean probability, share of class 1 and share of rows in bins of (nearly) equal size, lowest first."""
    groups = [group for group in np.array_split(np.argsort(probabilities, kind="stable"), bins) if len(group)]
    return (
        np.array([probabilities[group].mean() for group in groups]),
        np.array([y[group].mean() for group in groups]),
        np.array([len(group) / len(y) for group in groups]),
    )


def measures(y: NDArray[np.int64], probabilities: Floats) -> dict[str, float]:
    """Brier score (mean squared error), mean distance of the reliability curve from the diagonal, and AUC."""
    predicted, found, shares = reliability(y, probabilities)
    return {
        "Brier": float(((probabilities - y) ** 2).mean()),
        "off": float(shares @ np.abs(predicted - found)),
        "AUC": float(roc_auc_score(y, probabilities)),
    }


def study(
    keys: tuple[str, ...] = SAMPLES, max_rows: int = MAX_ROWS, n_jobs: int = 1
) -> tuple[pd.DataFrame, dict[tuple[str, str], tuple[Floats, Floats, Floats]]]:
    """One row of measures per sample and method, and their reliability curves."""
    pairs = [(key, method) for key in keys for method in METHODS]
    found = Parallel(n_jobs=n_jobs)(delayed(held_out)(key, method, max_rows) for key, method in pairs)
    rows, curves = [], {}
    for (key, method), (y, probabilities) in zip(pairs, found, strict=True):
        share = float(y.mean())
        row = {"sample": key, "rows": len(y), "share": share, "chance": share * (1 - share), "method": method}
        rows.append(row | measures(y, probabilities))
        curves[key, method] = reliability(y, probabilities)
    return pd.DataFrame(rows), curves


def finding(table: pd.DataFrame) -> str:
    """The picture's title."""
    off = 100 * table.groupby("method")["off"].mean()
    return f"Probabilities are {off['refit']:.1f} points off after a refit, {off['votes']:.1f} by plain votes"


def report(table: pd.DataFrame) -> str:
    """The study as Markdown."""
    means = table.groupby("method")[["Brier", "off", "AUC"]].mean()
    brier, off = means["Brier"], means["off"]
    gain = brier["refit"] - brier["refit, calibrated"]
    advice = (
        "Calibrating a refitted machine changes its Brier score by less than 0.002, so it is not worth its cost"
        if abs(gain) < 0.002
        else f"Calibrating a refitted machine changes its Brier score by {-gain:+.3f}"
    )
    lines = [
        "# How far the probabilities can be trusted",
        "",
        f"After a refit, a predicted probability is on average {100 * off['refit']:.1f} percentage points away from "
        f"the share of rows that really are of the class; by plain votes it is {100 * off['votes']:.1f} points away "
        f"(Brier score {brier['refit']:.3f} against {brier['votes']:.3f}; lower is better). {advice}. Plain votes "
        f"need it: {100 * off['votes, calibrated']:.1f} points and Brier {brier['votes, calibrated']:.3f} afterwards.",
        "",
        "![Reliability curves](calibration.svg)",
        "",
        "| sample | rows | class 1 | always the share | " + " | ".join(METHODS) + " |",
        "|---|---:|---:|---:|" + "---:|" * len(METHODS),
    ]
    for key, part in table.groupby("sample", sort=False):
        first, by_method = part.iloc[0], part.set_index("method")
        cells = [f"{by_method.Brier[name]:.3f} ({100 * by_method.off[name]:.1f})" for name in METHODS]
        head = f"| {key} | {first['rows']:,} | {100 * first['share']:.0f} % | {first['chance']:.3f} | "
        lines.append(head + " | ".join(cells) + " |")
    cells = [f"{brier[name]:.3f} ({100 * off[name]:.1f})" for name in METHODS]
    lines += [
        f"| mean | | | {table.groupby('sample')['chance'].first().mean():.3f} | " + " | ".join(cells) + " |",
        "| mean AUC | | | 0.5 | " + " | ".join(f"{means['AUC'][name]:.3f}" for name in METHODS) + " |",
        "",
        "Brier score, and in brackets the mean distance between probability and share in percentage points, over ten "
        "groups of rows of equal size. Even a perfect model shows a distance of some points on a few hundred rows, "
        'since a group\'s share is itself uncertain. "Always the share" is the Brier score of predicting the share of '
        "class 1 for every row.",
        "",
        f"Product defaults, seed 0; every row is predicted by a machine trained on the other {FOLDS - 1} of {FOLDS} "
        f"folds; at most {MAX_ROWS:,} rows of a sample, drawn at random. Votes become probabilities by a logistic "
        "curve that reaches log-odds 2 at the vote target T. Calibration is scikit-learn's "
        '`CalibratedClassifierCV(method="sigmoid", cv=5, ensemble=False)`: two more numbers on top of one machine, '
        "whose rules stay readable.",
        "",
        "Made by `tmcore experiment calibration`.",
        "",
    ]
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> None:
    """Write calibration.md and calibration.svg into a folder."""
    parser = Parser(prog="tmcore experiment calibration", description=__doc__)
    parser.add_argument(
        "--out", type=Path, default=Path("dashboard/docs"), help="folder (default dashboard/docs)"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument(
        "--rows", type=positive, default=MAX_ROWS, help=f"most rows of a sample (default {MAX_ROWS})"
    )
    parser.add_argument("--data", nargs="+", choices=SAMPLES, default=list(SAMPLES), help="default all")
    options = parser.parse_args(argv)
    options.out.mkdir(parents=True, exist_ok=True)
    table, curves = study(tuple(options.data), options.rows, options.jobs)
    (options.out / "calibration.md").write_text(report(table), encoding="utf-8")
    (options.out / "calibration.svg").write_text(
        picture(finding(table), options.data, curves), encoding="utf-8"
    )
    print(table.round(4).to_string(index=False))


if __name__ == "__main__":
    main()
