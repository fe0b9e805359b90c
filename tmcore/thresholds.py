"""Where to draw the line between two classes when the two errors cost differently.

A row is predicted to be of class 1 when its probability is the threshold or more. A false alarm is a row of class 0
predicted as 1, a miss is one of class 1 predicted as 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

NOISE = 1.96
"""Standard errors of a difference that may be chance: 95 %."""


@dataclass(frozen=True)
class Confusion:
    """Counts of rows: true negatives, false alarms, misses and hits."""

    negatives: int
    false_alarms: int
    misses: int
    hits: int

    @property
    def n_rows(self) -> int:
        """All rows."""
        return self.negatives + self.false_alarms + self.misses + self.hits

    @property
    def accuracy(self) -> float:
        """Share of rows right."""
        return (self.negatives + self.hits) / self.n_rows

    def cost(self, false_alarm: float, miss: float) -> float:
        """What the errors cost, per row."""
        return (self.false_alarms * false_alarm + self.misses * miss) / self.n_rows


def confusion(labels: np.ndarray, shares: np.ndarray, threshold: float) -> Confusion:
    """Count predictions at a threshold.

    Parameters
    ----------
    labels : ndarray of 0 and 1, shape (n_rows,)
    shares : ndarray (n_rows,)
        Probabilities of class 1.
    """
    positive, predicted = labels == 1, shares >= threshold
    return Confusion(
        int((~positive & ~predicted).sum()),
        int((~positive & predicted).sum()),
        int((positive & ~predicted).sum()),
        int((positive & predicted).sum()),
    )


@dataclass(frozen=True)
class CostCurve:
    """What every threshold that makes a difference costs per row.

    Attributes
    ----------
    thresholds : ndarray, rising
        0, the middles between neighbouring probabilities, and one above them all.
    costs : ndarray
    best : int
        Position of the cheapest; of equals the one nearest to the threshold that exact probabilities would ask for.
    near : (float, float)
        The first and last threshold whose extra cost, row by row, is within NOISE standard errors.
    """

    thresholds: np.ndarray
    costs: np.ndarray
    best: int
    near: tuple[float, float]

    @property
    def best_threshold(self) -> float:
        """The cheapest threshold."""
        return float(self.thresholds[self.best])


def asked_for(false_alarm: float, miss: float) -> float:
    """The cheapest threshold where probabilities are exact: false_alarm / (false_alarm + miss)."""
    return false_alarm / (false_alarm + miss)


def cost_curve(labels: np.ndarray, shares: np.ndarray, false_alarm: float, miss: float) -> CostCurve:
    """Cost per row at every threshold.

    Parameters
    ----------
    labels, shares : as in `confusion`
        Cross-validated: rows that were trained on make every model look better than it is.
    false_alarm, miss : float
        Costs of the two errors, not negative and not both 0.

    Raises
    ------
    ValueError
        For costs that allow no choice.
    """
    if min(false_alarm, miss) < 0 or false_alarm + miss <= 0:
        raise ValueError("Costs must be 0 or more, and one of them more than 0.")
    order = np.argsort(shares, kind="stable")
    positive = labels[order] == 1
    values, first = np.unique(shares[order], return_index=True)
    top = np.nextafter(values[-1], np.inf) if values[-1] >= 1 else (values[-1] + 1) / 2
    thresholds = np.concatenate([[0.0], (values[1:] + values[:-1]) / 2, [top]])
    below = np.append(first, len(shares))  # rows below each threshold are predicted to be of class 0
    misses = np.append(0, positive.cumsum())[below]
    false_alarms = (~positive).sum() - np.append(0, (~positive).cumsum())[below]
    costs = (false_alarms * false_alarm + misses * miss) / len(shares)
    cheapest = np.flatnonzero(costs <= costs.min() + 1e-12)
    best = int(cheapest[np.abs(thresholds[cheapest] - asked_for(false_alarm, miss)).argmin()])
    # Rows between two thresholds change sides; each changes its cost by the one or the other error.
    n = len(shares)
    squares = (
        np.abs(false_alarms - false_alarms[best]) * false_alarm**2 + np.abs(misses - misses[best]) * miss**2
    )
    gaps = costs - costs[best]
    errors = np.sqrt(np.maximum(squares / n - gaps**2, 0) / n)
    close = np.flatnonzero((gaps <= NOISE * errors) | (gaps <= 1e-12))
    return CostCurve(thresholds, costs, best, (float(thresholds[close[0]]), float(thresholds[close[-1]])))
