"""How far a score can be trusted: repeated splits with intervals, and predictions of rows that training did not see.

The interval of a mean over repeated splits is Student's, with the variance raised for splits that share training rows
(Nadeau and Bengio 2003). A single split gets the intervals of `tmcore.uncertainty`.
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
from sklearn.model_selection import StratifiedKFold

from tmcore.estimators import TsetlinClassifier
from tmcore.labels import class_order
from tmcore.measures import Answers, Measures, measures_for, shares_of
from tmcore.parameters import Parameters
from tmcore.predicted import TaskName
from tmcore.regressor import TsetlinRegressor
from tmcore.splits import Split
from tmcore.training import TrainingRun
from tmcore.uncertainty import CONFIDENCE, Ends

Progress = Callable[[int, int], None]
Machine = TsetlinClassifier | TsetlinRegressor


def fit(
    X: pd.DataFrame,
    y: Any,
    parameters: Parameters,
    stop: threading.Event | None = None,
    positive_class: Any = None,
    task: TaskName = "classes",
) -> Machine | None:
    """Train and settle one machine; None if `stop` was set meanwhile."""
    if stop is not None and stop.is_set():
        return None
    if parameters.early_stopping:
        kind = TsetlinRegressor if task == "numbers" else TsetlinClassifier
        settings = dataclasses.asdict(parameters) | {"positive_class": positive_class}
        return kind(**{name: settings[name] for name in kind._get_param_names() if name in settings}).fit(
            X, y
        )
    run = TrainingRun(X, y, parameters, task=task, positive_class=positive_class)
    run.learn(parameters.epochs * run.n_rows, stop)
    return None if stop is not None and stop.is_set() else run.settle()


@dataclass(frozen=True)
class Judgement:
    """Scores on repeated splits, settings fixed.

    Attributes
    ----------
    trials : DataFrame
        One row per split: n_train, n_test, the measures, `simplest` (the first measure of always the same answer),
        rules, literals, seconds.
    intervals : DataFrame
        One row per measure: mean, the CONFIDENCE interval from low to high, and the lowest and highest single split.
    missing : dict of measure to str
        Why a measure is not known, where no split had it.
    n_skipped : int
        Splits whose training part held one class, or one number, only.
    complete : bool
        Whether every planned split was judged.
    """

    trials: pd.DataFrame
    intervals: pd.DataFrame
    missing: dict[str, str]
    n_skipped: int
    complete: bool


def judge(
    X: pd.DataFrame,
    y: Any,
    parameters: Parameters,
    splits: Sequence[Split],
    *,
    task: TaskName = "classes",
    positive_class: Any = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> Judgement:
    """Train on every split's training rows with the same settings and another seed, and score on its test rows.

    Parameters
    ----------
    X, y : as in the estimator's `fit`
    splits : from `tmcore.splits`
    task : "classes" or "numbers"
        What y holds.
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
    targets = np.asarray(y)
    measures = measures_for(task, targets, positive_class)
    usable = [split for split in splits if measures.can_learn(targets[split.train]) and len(split.test)]

    def one(k: int, split: Split) -> tuple[dict[str, Any], Answers] | None:
        began, seed = time.perf_counter(), parameters.random_state + k
        train = X.iloc[split.train], targets[split.train]
        model = fit(*train, parameters.replace(random_state=seed), stop, positive_class, task)
        if model is None:
            return None
        answers = measures.answers(model, X.iloc[split.test], targets[split.test])
        size = {"rules": len(model.rules_), "literals": model.rules_.n_literals}
        scored = _trial(measures, targets, split, answers)
        return {"split": k, **scored, **size, "seconds": time.perf_counter() - began}, answers

    jobs = (delayed(one)(k, split) for k, split in enumerate(usable))
    found = [told for told in in_threads(jobs, len(usable), n_jobs, progress) if told is not None]
    if not found:
        raise ValueError(
            "No split could be judged: every training part holds one class or one number only, or it was stopped."
        )
    trials = pd.DataFrame([row for row, _ in found]).set_index("split").sort_index()
    summed_up = _sum_up(measures, trials, [answers for _, answers in found])
    return Judgement(trials, *summed_up, len(splits) - len(usable), len(found) == len(usable))


def _trial(measures: Measures, targets: np.ndarray, split: Split, answers: Answers) -> dict[str, Any]:
    """The scores of one split, as in a row of `Judgement.trials`."""
    return {
        "n_train": len(split.train),
        "n_test": len(split.test),
        **measures.scores(answers),
        "simplest": measures.simplest(targets[split.train], targets[split.test]),
    }


def _sum_up(
    measures: Measures, trials: pd.DataFrame, answers: list[Answers]
) -> tuple[pd.DataFrame, dict[str, str]]:
    """`Judgement.intervals` and `Judgement.missing`."""
    ratio = float((trials["n_test"] / trials["n_train"]).mean())
    own = trials[[*measures.names]]
    intervals = mean_intervals(own, ratio, measures) if len(own) > 1 else one_split(measures, answers[0])
    unknown = [name for name in measures.names if own[name].isna().all()]
    reasons = [measures.missing(one) for one in answers]
    return intervals, {name: next(why[name] for why in reasons if name in why) for name in unknown}


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


def mean_intervals(trials: pd.DataFrame, ratio: float, measures: Measures) -> pd.DataFrame:
    """Means of repeated splits with their intervals, one row per column of `trials`.

    Parameters
    ----------
    trials : DataFrame, one row per split, one column per measure
    ratio : float
        Test rows per training row; the variance of the mean is that of one split times 1 / n + ratio. Where all splits
        are alike the interval is unknown.
    measures : Measures
        What its measures can be limits the intervals.
    """
    rows = {}
    for name in trials.columns:
        values = trials[name].dropna().to_numpy()
        if not len(values):
            rows[name] = dict.fromkeys(("mean", "low", "high", "lowest", "highest"), np.nan)
            continue
        mean, half = values.mean(), np.nan
        if len(values) > 1:
            error = np.sqrt(values.var(ddof=1) * (1 / len(values) + ratio)) or np.nan
            half = stats.t.ppf(0.5 + CONFIDENCE / 2, len(values) - 1) * error
        least, most = measures.ends[name]
        rows[name] = {
            "mean": mean,
            "low": np.maximum(least, mean - half),
            "high": np.minimum(most, mean + half),
            "lowest": values.min(),
            "highest": values.max(),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def one_split(measures: Measures, answers: Answers) -> pd.DataFrame:
    """Scores of one set of test rows with their intervals, in the form of `mean_intervals`."""
    found, ends = measures.scores(answers), measures.intervals(answers)
    rows = {name: _row(found[name], ends[name]) for name in measures.names}
    return pd.DataFrame.from_dict(rows, orient="index")


def _row(score: float, ends: Ends) -> dict[str, float]:
    return {"mean": score, "low": ends[0], "high": ends[1], "lowest": score, "highest": score}


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
