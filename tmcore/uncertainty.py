"""How far a score on one set of rows can be trusted: intervals at the level CONFIDENCE.

Shares get Wilson's interval, balanced accuracy and F1 percentiles over resampled rows, the AUC DeLong's
standard error on the log-odds scale, a mean error Student's interval, and R2 the first-order standard error of
log(1 - R2).
"""

from __future__ import annotations

import numpy as np
from scipy import stats

CONFIDENCE = 0.95
RESAMPLES = 2000

Ends = tuple[float, float]
UNKNOWN: Ends = (np.nan, np.nan)


def share_interval(n_right: int, n_rows: int) -> Ends:
    """Wilson's interval of a share."""
    if not n_rows:
        return UNKNOWN
    found = stats.binomtest(n_right, n_rows).proportion_ci(CONFIDENCE, method="wilson")
    return float(found.low), float(found.high)


def class_intervals(
    labels: np.ndarray, predicted: np.ndarray, n_classes: int, seed: int = 0
) -> dict[str, Ends]:
    """Intervals of the balanced accuracy and of F1, as percentiles over resampled rows.

    Parameters
    ----------
    labels, predicted : ndarray of int (n_rows,)
        Class indices; a label of -1 is a class that training never saw.
    """
    truth, said, drawn = _resampled(labels, predicted, seed=seed)
    return {
        "balanced accuracy": _percentiles(_balanced(drawn, truth, said, n_classes)),
        "F1": _percentiles(_f1(drawn, truth, said, n_classes)),
    }


def f1_difference(
    labels: np.ndarray, first: np.ndarray, second: np.ndarray, n_classes: int, seed: int = 0
) -> Ends:
    """Interval of the F1 of `first` minus that of `second` on the same rows, which are resampled together."""
    truth, one, other, drawn = _resampled(labels, first, second, seed=seed)
    return _percentiles(_f1(drawn, truth, one, n_classes) - _f1(drawn, truth, other, n_classes))


def _resampled(*columns: np.ndarray, seed: int) -> tuple[np.ndarray, ...]:
    """The different rows of some columns, column by column, and how often each is in RESAMPLES bootstrap samples."""
    cells, counts = np.unique(np.column_stack(columns), axis=0, return_counts=True)
    drawn = np.random.default_rng(seed).multinomial(counts.sum(), counts / counts.sum(), RESAMPLES)
    return *cells.T, drawn.astype(np.float64)


def _of_class(drawn: np.ndarray, cells: np.ndarray, n_classes: int) -> np.ndarray:
    """Rows of each sample by class, (RESAMPLES, n_classes)."""
    return drawn @ (cells[:, None] == np.arange(n_classes)).astype(np.float64)


def _balanced(drawn: np.ndarray, truth: np.ndarray, said: np.ndarray, n_classes: int) -> np.ndarray:
    """Balanced accuracy over the classes that occur; one that training never saw is never right."""
    place = np.where(truth < 0, n_classes, truth)
    rows = _of_class(drawn, place, n_classes + 1)
    right = _of_class(drawn, np.where(truth == said, place, -1), n_classes + 1)
    return np.nanmean(np.where(rows > 0, right / np.maximum(rows, 1), np.nan), axis=1)


def _f1(drawn: np.ndarray, truth: np.ndarray, said: np.ndarray, n_classes: int) -> np.ndarray:
    """F1 of class 1 with two classes, else the mean over the classes."""
    right = _of_class(drawn, np.where(truth == said, truth, -1), n_classes)
    either = _of_class(drawn, truth, n_classes) + _of_class(drawn, said, n_classes)
    each = np.where(either > 0, 2 * right / np.maximum(either, 1), 0.0)
    return each[:, 1] if n_classes == 2 else each.mean(axis=1)


def _percentiles(values: np.ndarray) -> Ends:
    """The middle of the resampled scores; unknown where all are the same, since other rows may well differ."""
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(values, [tail, 100 - tail])
    return (float(low), float(high)) if low < high else UNKNOWN


def auc_interval(labels: np.ndarray, shares: np.ndarray) -> Ends:
    """Interval of the area under the ROC curve, the mean of every class against the rest where there are more than two.

    The standard error is DeLong's: each row counts with the share of the rows of the other side that it is ordered
    rightly against, averaged over the classes, and varies among the rows of its own class.

    Parameters
    ----------
    labels : ndarray of int (n_rows,)
        Class indices; every class is present.
    shares : ndarray (n_rows, n_classes)
        The larger, the more like the class.

    Returns
    -------
    tuple
        Unknown where the AUC is 0 or 1, and 0 to 1 where a class has one row only.
    """
    sizes = np.bincount(labels, minlength=shares.shape[1])
    if sizes.min() < 2:
        return 0.0, 1.0
    parts, aucs = np.zeros(len(labels)), []
    for k, size in enumerate(sizes):
        own = labels == k
        won = _ordered_rightly(own, shares[:, k])
        aucs.append(won[own].mean())
        parts += won / np.where(own, size, len(labels) - size) / len(sizes)
    auc = float(np.mean(aucs))
    if not 0 < auc < 1:
        return UNKNOWN
    variance = sum(size * parts[labels == k].var(ddof=1) for k, size in enumerate(sizes))
    half = _normal() * np.sqrt(variance) / (auc * (1 - auc))
    low, high = 1 / (1 + np.exp(-(np.log(auc / (1 - auc)) + np.array([-half, half]))))
    return float(low), float(high)


def _ordered_rightly(own: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """For each row the share of the rows of the other side that it is ordered rightly against, ties for a half."""
    both, n = stats.rankdata(shares), int(own.sum())
    below = np.empty(len(own))
    below[own] = (both[own] - stats.rankdata(shares[own])) / (len(own) - n)
    below[~own] = 1 - (both[~own] - stats.rankdata(shares[~own])) / n
    return below


def mean_interval(values: np.ndarray) -> Ends:
    """Student's interval of a mean of rows, such as their absolute errors; not below 0."""
    low, high = mean_difference(values)
    return float(np.maximum(0.0, low)), high


def mean_difference(values: np.ndarray) -> Ends:
    """Student's interval of a mean of rows, such as the differences of two models' absolute errors."""
    if len(values) < 2:
        return UNKNOWN
    half = _student(len(values)) * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean() - half), float(values.mean() + half)


def r2_interval(targets: np.ndarray, predicted: np.ndarray) -> Ends:
    """Interval of R2 from the first-order standard error of log(1 - R2), so it ends below 1.

    A row moves log(1 - R2) by its squared error over the mean one, less its squared distance from the mean target over
    the mean one. Unknown where the targets or the errors do not vary.
    """
    errors, spread = targets - predicted, targets - targets.mean()
    scale = float(np.abs(spread).max())
    if len(targets) < 3 or not scale or not np.abs(errors).max():
        return UNKNOWN
    errors, spread = (errors / scale) ** 2, (spread / scale) ** 2
    moves = errors / errors.mean() - spread / spread.mean()
    half = _student(len(targets)) * moves.std(ddof=1) / np.sqrt(len(targets))
    low, high = 1 - errors.mean() / spread.mean() * np.exp([half, -half])
    return float(low), float(high)


def _normal() -> float:
    return float(stats.norm.ppf(0.5 + CONFIDENCE / 2))


def _student(n: int) -> float:
    return float(stats.t.ppf(0.5 + CONFIDENCE / 2, n - 1))
