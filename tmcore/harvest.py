"""Pooling the distinct clauses of several checkpoints of one run before the refit.

A machine keeps moving its clauses to the end, so an earlier checkpoint holds clauses that the last one has lost. On
larger data the pool gave a better refit for about twice the rules; on a few hundred rows it gave nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tmcore.machine import Machine
from tmcore.machine.state import ClauseBank
from tmcore.refit import distinct

if TYPE_CHECKING:
    from tmcore.training import TrainingRun


def moments(run: TrainingRun) -> list[Machine]:
    """The machines whose clauses a refit of this run may choose from, in the order of time.

    They are those of `Parameters.harvest` earlier moments, as many rows apart, and last the run's present one, which is
    alone where weights are not refitted.
    """
    parameters = run.parameters
    earlier = parameters.harvest if parameters.weights == "refit" else 0
    steps = {run.step * k // (earlier + 1) for k in range(1, earlier + 1)} - {0, run.step}
    return [*map(run.machine_at, sorted(steps)), run.machine]


@dataclass(frozen=True)
class Pool:
    """Clauses that differ in at least one training row, none of them always or never true.

    Attributes
    ----------
    bank : ClauseBank
        The pooled clauses as one machine, with the weights and polarities they had; what `extract` reads.
    outputs : bool array (n_rows, n_pooled)
        What `refit` and `dial.path` take, with `lengths`.
    lengths : int array (n_pooled,)
    sources : int64 array (n_pooled, 3)
        Checkpoint (index into the banks given), machine and clause.
    """

    bank: ClauseBank
    outputs: NDArray[np.bool_]
    lengths: NDArray[np.integer]
    sources: NDArray[np.int64]


def pool(banks: Sequence[ClauseBank], outputs: Sequence[NDArray[np.bool_]]) -> Pool:
    """Pool the clauses of checkpoints; of those with equal outputs the shortest stays, then the latest.

    Parameters
    ----------
    banks : sequence of ClauseBank
        Checkpoints of one run, the earliest first; all of one shape.
    outputs : sequence of bool arrays (n_rows, n_machines, n_clauses)
        Each bank's clause outputs on the same training rows, when predicting.

    Raises
    ------
    ValueError
        There is no bank, or not one array of outputs for each.
    """
    if not banks or len(banks) != len(outputs):
        raise ValueError(
            f"There are {len(banks)} banks and {len(outputs)} arrays of outputs; give one for each."
        )
    n_machines, n_clauses = banks[0].literals.shape
    # The latest first, since of equally short clauses the first stays.
    latest = range(len(banks) - 1, -1, -1)
    holds = np.concatenate([outputs[i].reshape(len(outputs[i]), -1) for i in latest], axis=1)
    lengths = np.concatenate([banks[i].literals.ravel() for i in latest])
    chosen = distinct(holds, lengths)
    place, within = np.divmod(chosen, n_machines * n_clauses)
    sources = np.column_stack([len(banks) - 1 - place, *np.divmod(within, n_clauses)])
    return Pool(_gather(banks, sources), holds[:, chosen], lengths[chosen], sources)


def _gather(banks: Sequence[ClauseBank], sources: NDArray[np.int64]) -> ClauseBank:
    """The clauses named by `sources` as a bank of one machine."""
    checkpoint, machine, clause = sources.T

    def take(name: str) -> NDArray[np.generic]:
        return np.stack([getattr(bank, name) for bank in banks])[checkpoint, machine, clause][None]

    names = ("lower", "upper", "lower_included", "upper_included", "literals", "weights")
    return ClauseBank(
        **{name: take(name) for name in names},
        polarity=banks[0].polarity[clause],
        step=banks[-1].step,
    )
