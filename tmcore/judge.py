"""How far a score can be trusted: repeated splits with intervals, and predictions of rows that training did not see.

The interval of a mean over repeated splits is Student's, with the variance raised for splits that share training rows
(Nadeau and Bengio 2003). A single split gets the normal interval of a share of its test rows, or bootstrapped scores.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy import stats
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from tmcore.estimators import TsetlinClassifier
from tmcore.labels import class_indices, class_order
from tmcore.parameters import Parameters
from tmcore.splits import Split
from tmcore.training import TrainingRun

MEASURES = ("accuracy", "balanced accuracy", "F1", "AUC")
CONFIDENCE = 0.95
RESAMPLES = 2000

Progress = Callable[[int, int], None]


def scores(labels: np.ndarray, predicted: np.ndarray, shares: np.ndarray) -> dict[str, float]:
    """The MEASURES of predictions.

    Parameters
    ----------
    labels, predicted : ndarray of int, shape (n_rows,)
        Class indices; a label of -1 is a class that training never saw, and always counts as wrong.
    shares : ndarray (n_rows, n_classes)
        Probabilities.

    Returns
    -------
    dict
        F1 is that of class 1 with two classes, and the mean over the classes with more; AUC with more than two
        classes is the mean of each class against the rest, and NaN where a class has no row.
    """
    n_classes = shares.shape[1]
    average = "binary" if n_classes == 2 and labels.min() >= 0 else "macro"
    present = np.unique(labels)
    auc = np.nan
    if len(present) == n_classes and present[0] >= 0:
        auc = roc_auc_score(labels, shares[:, 1] if n_classes == 2 else shares, multi_class="ovr")
    recalls = [np.mean(predicted[labels == k] == k) for k in present]
    return {
        "accuracy": float(np.mean(labels == predicted)),
        "balanced accuracy": float(np.mean(recalls)),
        "F1": float(
            f1_score(labels, predicted, average=average, labels=np.arange(n_classes), zero_division=0)
        ),
        "AUC": float(auc),
    }


def fit(
    X: pd.DataFrame,
    y: Any,
    parameters: Parameters,
    stop: threading.Event | None = None,
    positive_class: Any = None,
) -> TsetlinClassifier | None:
    """Train and settle one machine; None if `stop` was set meanwhile."""
    if stop is not None and stop.is_set():
        return None
    if parameters.early_stopping:
        settings = dataclasses.asdict(parameters)
        return TsetlinClassifier(**settings, positive_class=positive_class).fit(X, y)
    run = TrainingRun(X, y, parameters, positive_class=positive_class)
    run.learn(parameters.epochs * run.n_rows, stop)
    return None if stop is not None and stop.is_set() else run.settle()


def shares_of(model: Any, X: pd.DataFrame, classes: np.ndarray) -> np.ndarray:
    """A model's probabilities in columns for all of `classes`, 0 for those it never saw."""
    shares = np.zeros((len(X), len(classes)))
    shares[:, class_indices(model.classes_, classes)] = model.predict_proba(X)
    return shares


@dataclass(frozen=True)
class Judgement:
    """Scores on repeated splits, settings fixed.

    Attributes
    ----------
    trials : DataFrame
        One row per split: n_train, n_test, the MEASURES, rules, literals, seconds.
    intervals : DataFrame
        One row per measure: mean, the CONFIDENCE interval from low to high, and the lowest and highest single split.
    n_skipped : int
        Splits whose training part held one class only.
    complete : bool
        Whether every planned split was judged.
    """

    trials: pd.DataFrame
    intervals: pd.DataFrame
    n_skipped: int
    complete: bool


def judge(
    X: pd.DataFrame,
    y: Any,
    parameters: Parameters,
    splits: Sequence[Split],
    *,
    positive_class: Any = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> Judgement:
    """Train on every split's training rows with the same settings and another seed, and score on its test rows.

    Parameters
    ----------
    X, y : as in `TsetlinClassifier.fit`
    splits : from `tmcore.splits`
    positive_class : label, optional
        As in `TsetlinClassifier`; F1 is of this class.
    n_jobs : int, optional
        Splits at a time, by joblib's threads or the backend in force.
    progress : callable, optional
        Called with the splits done and planned.
    stop : threading.Event, optional
        When set, the splits judged so far count.

    Raises
    ------
    ValueError
        If no split could be judged.
    """
    labels = np.asarray(y)
    classes = class_order(np.unique(labels), positive_class)
    usable = [split for split in splits if len(np.unique(labels[split.train])) > 1 and len(split.test)]
    jobs = (
        delayed(_trial)(
            X,
            labels,
            classes,
            split,
            parameters.replace(random_state=parameters.random_state + k),
            stop,
            positive_class,
        )
        for k, split in enumerate(usable)
    )
    found = [one for one in in_threads(jobs, len(usable), n_jobs, progress) if one is not None]
    if not found:
        raise ValueError(
            "No split could be judged: every training part holds one class only, or it was stopped."
        )
    trials = pd.DataFrame([row for row, _ in sorted(found, key=lambda one: one[0]["split"])]).set_index(
        "split"
    )
    ratio = float((trials["n_test"] / trials["n_train"]).mean())
    several = len(trials) > 1
    intervals = mean_intervals(trials[[*MEASURES]], ratio) if several else one_split_intervals(*found[0][1])
    return Judgement(trials, intervals, len(splits) - len(usable), len(found) == len(usable))


def in_threads(
    jobs: Iterable[Any], n_planned: int, n_jobs: int | None, progress: Progress | None = None
) -> list[Any]:
    """Results of joblib's delayed calls, in any order, with a word after each."""
    found = []
    for one in Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator_unordered")(jobs):
        found.append(one)
        if progress is not None:
            progress(len(found), n_planned)
    return found


Answers = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Labels, predictions (class indices) and probabilities of some rows."""


def _trial(
    X: pd.DataFrame,
    y: np.ndarray,
    classes: np.ndarray,
    split: Split,
    parameters: Parameters,
    stop: threading.Event | None,
    positive_class: Any,
) -> tuple[dict[str, Any], Answers] | None:
    began = time.perf_counter()
    model = fit(X.iloc[split.train], y[split.train], parameters, stop, positive_class)
    if model is None:
        return None
    X_test, labels = X.iloc[split.test], class_indices(y[split.test], classes)
    answers = labels, class_indices(model.predict(X_test), classes), shares_of(model, X_test, classes)
    row = {
        "split": parameters.random_state,
        "n_train": len(split.train),
        "n_test": len(split.test),
        **scores(*answers),
        "rules": len(model.rules_),
        "literals": model.rules_.n_literals,
        "seconds": time.perf_counter() - began,
    }
    return row, answers


def mean_intervals(trials: pd.DataFrame, ratio: float) -> pd.DataFrame:
    """Means of repeated splits with their intervals, one row per column of `trials`.

    Parameters
    ----------
    trials : DataFrame, one row per split
    ratio : float
        Test rows per training row; the variance of the mean is that of one split times 1 / n + ratio.
    """
    rows = {}
    for name in trials.columns:
        values = trials[name].dropna().to_numpy()
        if not len(values):
            rows[name] = dict.fromkeys(("mean", "low", "high", "lowest", "highest"), np.nan)
            continue
        mean, half = values.mean(), np.nan
        if len(values) > 1:
            error = np.sqrt(values.var(ddof=1) * (1 / len(values) + ratio))
            half = stats.t.ppf(0.5 + CONFIDENCE / 2, len(values) - 1) * error
        rows[name] = {
            "mean": mean,
            "low": max(0.0, mean - half),
            "high": min(1.0, mean + half),
            "lowest": values.min(),
            "highest": values.max(),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def one_split_intervals(labels: np.ndarray, predicted: np.ndarray, shares: np.ndarray) -> pd.DataFrame:
    """Scores of one set of test rows with bootstrapped intervals, in the form of `mean_intervals`."""
    found, ends = scores(labels, predicted, shares), score_intervals(labels, predicted, shares)
    rows = {
        name: {"mean": found[name], "low": low, "high": high, "lowest": found[name], "highest": found[name]}
        for name, (low, high) in ends.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def score_intervals(
    labels: np.ndarray, predicted: np.ndarray, shares: np.ndarray, seed: int = 0
) -> dict[str, tuple[float, float]]:
    """CONFIDENCE intervals of the scores of one model on one set of test rows.

    Accuracy is Wilson's; balanced accuracy and F1 are percentiles over resampled confusion matrices; AUC is DeLong's on
    the log-odds scale with two classes, and NaN with more.
    """
    n_classes = shares.shape[1]
    counts = resampled_confusions(labels, predicted, n_classes, seed)
    auc = (np.nan, np.nan)
    if n_classes == 2 and len(np.unique(labels)) == 2 and labels.min() >= 0:
        auc = auc_interval(labels, shares[:, 1])
    return {
        "accuracy": share_interval(int((labels == predicted).sum()), len(labels)),
        "balanced accuracy": _percentiles(_balanced(counts)),
        "F1": _percentiles(_f1(counts)),
        "AUC": auc,
    }


def share_interval(n_right: int, n_rows: int) -> tuple[float, float]:
    """Wilson's interval of a share."""
    if not n_rows:
        return np.nan, np.nan
    found = stats.binomtest(n_right, n_rows).proportion_ci(CONFIDENCE, method="wilson")
    return float(found.low), float(found.high)


def resampled_confusions(
    labels: np.ndarray, predicted: np.ndarray, n_classes: int, seed: int = 0
) -> np.ndarray:
    """Confusion matrices of RESAMPLES bootstrap samples of the rows, shape (RESAMPLES, n_classes, n_classes)."""
    known = labels >= 0
    cells = np.bincount(labels[known] * n_classes + predicted[known], minlength=n_classes**2)
    drawn = np.random.default_rng(seed).multinomial(cells.sum(), cells / max(cells.sum(), 1), RESAMPLES)
    return drawn.reshape(RESAMPLES, n_classes, n_classes)


def f1_difference(
    labels: np.ndarray, first: np.ndarray, second: np.ndarray, seed: int = 0
) -> tuple[float, float]:
    """Interval of the F1 of `first` minus that of `second` on the same rows, which are resampled together."""
    n = int(max(labels.max(), first.max(), second.max())) + 1
    cells = np.bincount((labels * n + first) * n + second, minlength=n**3)
    drawn = np.random.default_rng(seed).multinomial(len(labels), cells / len(labels), RESAMPLES)
    drawn = drawn.reshape(RESAMPLES, n, n, n)
    return _percentiles(_f1(drawn.sum(axis=3)) - _f1(drawn.sum(axis=2)))


def _balanced(counts: np.ndarray) -> np.ndarray:
    """Balanced accuracy of confusion matrices [true][predicted], over the classes that occur."""
    rows = counts.sum(axis=2)
    right = np.diagonal(counts, axis1=1, axis2=2)
    with np.errstate(invalid="ignore"):
        return np.nanmean(np.where(rows > 0, right / rows, np.nan), axis=1)


def _f1(counts: np.ndarray) -> np.ndarray:
    """F1 of class 1 with two classes, else the mean over the classes."""
    right = np.diagonal(counts, axis1=1, axis2=2)
    either = counts.sum(axis=1) + counts.sum(axis=2)
    each = np.where(either > 0, 2 * right / np.maximum(either, 1), 0.0)
    return each[:, 1] if each.shape[1] == 2 else each.mean(axis=1)


def _percentiles(values: np.ndarray) -> tuple[float, float]:
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.nanpercentile(values, [tail, 100 - tail])
    return float(low), float(high)


def auc_interval(labels: np.ndarray, shares: np.ndarray) -> tuple[float, float]:
    """Interval of the area under the ROC curve: DeLong's standard error, on the log-odds scale.

    Parameters
    ----------
    labels : ndarray of 0 and 1, both present
    shares : ndarray, the larger the more like 1
    """
    positive, negative = shares[labels == 1], shares[labels == 0]
    n, m = len(positive), len(negative)
    both = stats.rankdata(np.concatenate([positive, negative]))
    wins = (both[:n] - stats.rankdata(positive)) / m
    losses = 1 - (both[n:] - stats.rankdata(negative)) / n
    auc = float(wins.mean())
    if not 0 < auc < 1 or min(n, m) < 2:
        return (auc, auc) if min(n, m) >= 2 else (0.0, 1.0)
    error = np.sqrt(wins.var(ddof=1) / n + losses.var(ddof=1) / m)
    middle, half = np.log(auc / (1 - auc)), stats.norm.ppf(0.5 + CONFIDENCE / 2) * error / (auc * (1 - auc))
    low, high = 1 / (1 + np.exp(-(middle + np.array([-half, half]))))
    return float(low), float(high)


def cross_validated_shares(
    X: pd.DataFrame,
    y: Any,
    parameters: Parameters,
    n_folds: int = 5,
    *,
    positive_class: Any = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> np.ndarray | None:
    """Each row's probabilities by a machine that was trained without it, (n_rows, n_classes); None if stopped.

    The columns are in the order of `class_order`.

    Raises
    ------
    ValueError
        If a class has fewer rows than two.
    """
    labels = np.asarray(y)
    found, counts = np.unique(labels, return_counts=True)
    classes = class_order(found, positive_class)
    if counts.min() < 2:
        raise ValueError(
            f"Only one row is {found[counts.argmin()]!s}; every class needs two to be cross-validated."
        )
    folds = StratifiedKFold(
        min(n_folds, int(counts.min())), shuffle=True, random_state=parameters.random_state % 2**32
    )
    pairs = list(folds.split(np.zeros(len(labels)), labels))

    def one(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        model = fit(X.iloc[train], labels[train], parameters, stop, positive_class)
        return None if model is None else (test, shares_of(model, X.iloc[test], classes))

    shares = np.zeros((len(labels), len(classes)))
    for answer in in_threads((delayed(one)(*pair) for pair in pairs), len(pairs), n_jobs, progress):
        if answer is None:
            return None
        shares[answer[0]] = answer[1]
    return shares
