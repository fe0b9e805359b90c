"""How the numbers of a moment are predicted: actual against predicted, and what is missed."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dashboard.live.points import FULL, chosen_rows
from tmcore.machine.state import ONE_VOTE

if TYPE_CHECKING:
    from tmcore.machine import Machine
    from tmcore.training import TrainingRun

RESIDUAL_BINS = 31
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Fit:
    """Actual and predicted numbers of training and test rows, each of shape (n_rows,); there may be no test rows."""

    train: tuple[Floats, Floats]
    test: tuple[Floats, Floats]


def targets_of(run: TrainingRun) -> tuple[Floats, Floats]:
    """The numbers of the training rows and of those held out."""
    return run.targets, np.zeros(0) if run.held_out is None else run.held_out[1]


def fit(run: TrainingRun, machine: Machine, votes: NDArray[Any]) -> Fit:
    """The fit of a moment.

    Parameters
    ----------
    machine : Machine
        The run's then.
    votes : ndarray, shape (n_rows, 1)
        The training rows' vote sums then.
    """
    span, target = run.target_range, machine.parameters.vote_target
    assert span is not None  # the run learns numbers
    train, test = targets_of(run)
    units = np.rint(np.asarray(votes)[:, 0] * ONE_VOTE).astype(np.int64)
    on_test = np.zeros(0)
    if len(test):
        assert run.held_out is not None
        on_test = span.numbers(machine.votes(machine.prepare(run.held_out[0]))[:, 0], target)
    return Fit((train, span.numbers(units, target)), (test, on_test))


def told_of_fit(found: Fit) -> dict[str, Any]:
    """The fit as plain JSON: some rows as places on one axis from ``low`` to ``high``, residuals of all rows in bins.

    Residuals are actual minus predicted; ``reach`` is where their bins end on both sides.
    """
    both = [np.concatenate(pair) for pair in zip(found.train, found.test, strict=True)]
    low, high = float(min(b.min() for b in both)), float(max(b.max() for b in both))
    chosen = chosen_rows(len(found.train[0]), len(found.test[0]))
    parts = [
        [numbers[rows] for numbers in part]
        for part, rows in zip((found.train, found.test), chosen, strict=True)
    ]
    actual, predicted = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    missed = [part[0] - part[1] for part in (found.train, found.test)]
    reach = float(max(np.abs(one).max(initial=0.0) for one in missed)) or 1.0
    edges = np.linspace(-reach, reach, RESIDUAL_BINS + 1)
    scored = missed[1] if len(missed[1]) else missed[0]
    return {
        "low": low,
        "high": high,
        "train": len(chosen[0]),
        "actual": _packed(actual, low, high),
        "predicted": _packed(predicted, low, high),
        "reach": reach,
        "residuals": [np.histogram(one, bins=edges)[0].tolist() for one in missed],
        "halfMissed": float(np.median(np.abs(scored))),
    }


def _packed(numbers: Floats, low: float, high: float) -> str:
    share = (numbers - low) / ((high - low) or 1.0)
    return base64.b64encode((share * FULL).round().astype("<u2").tobytes()).decode("ascii")
