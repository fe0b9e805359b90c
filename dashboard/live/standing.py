"""How a moment stands: confusion matrices, balanced accuracy, and the automata's memory."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tmcore.machine import IntervalMachine, LiteralMachine, Machine
from tmcore.training import winners

if TYPE_CHECKING:
    from tmcore.training import TrainingRun

MOST_CLASSES = 12
MOST_MISTAKES = 8
MOST_STATES = 80_000
MOST_STRIP = 4_000


def confusion(labels: NDArray[Any], predicted: NDArray[Any], n_classes: int) -> list[list[int]]:
    """Rows by true class (first index) and predicted class; labels of -1 (a class unseen in training) are left out."""
    counts = np.zeros((n_classes, n_classes), np.int64)
    known = labels >= 0
    np.add.at(counts, (labels[known], predicted[known]), 1)
    return counts.tolist()


def balanced_accuracy(counts: list[list[int]]) -> float | None:
    """The mean over the classes that have rows of the share predicted right."""
    shares = [row[k] / sum(row) for k, row in enumerate(counts) if sum(row)]
    return sum(shares) / len(shares) if shares else None


def largest_mistakes(counts: list[list[int]]) -> list[tuple[int, int, int]]:
    """The largest cells off the diagonal as (true class, predicted class, rows), at most `MOST_MISTAKES`."""
    wrong = np.array(counts)
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_MISTAKES]
    cells = [(int(place) // len(wrong), int(place) % len(wrong)) for place in order]
    return [(really, taken, counts[really][taken]) for really, taken in cells if wrong[really, taken]]


def standing(run: TrainingRun, machine: Machine, votes: NDArray[Any]) -> dict[str, Any]:
    """Balanced accuracies on training and test rows, with the confusion matrices.

    With more than `MOST_CLASSES` classes the largest mistakes stand for the matrices, of test rows where there are any.
    ``votes`` are the training rows' vote sums of the moment, ``machine`` the machine then.
    """
    n_classes = len(run.classes)
    train = confusion(run.labels, winners(votes), n_classes)
    told: dict[str, Any] = {"train": train, "trainBalanced": _rounded(balanced_accuracy(train))}
    if run.held_out is not None and len(run.held_out[1]):
        predicted = winners(machine.votes(machine.prepare(run.held_out[0])))
        test = confusion(run.held_out[1], predicted, n_classes)
        told |= {"test": test, "testBalanced": _rounded(balanced_accuracy(test))}
    if n_classes > MOST_CLASSES:
        told["mistakes"] = largest_mistakes(told.pop("test", train))
        del told["train"]
    return told


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)


def memory(machine: Machine, q: int, clauses: list[int], clause: int, columns: list[int]) -> dict[str, Any]:
    """States of the automata: of one clause, and of the clauses given, as base64 bytes (clause, literal).

    A state from 1 to N leaves its literal out of the clause, one from N + 1 to 2N puts it in. Literals are the lower
    bounds of the features in ``columns``, then the upper bounds; for thresholds all literals, plain then
    negated.
    """
    assert isinstance(machine, (IntervalMachine, LiteralMachine))
    states = np.asarray(machine.states())
    intervals = isinstance(machine, IntervalMachine)
    mine = states[:, q][:, :, columns].transpose(1, 0, 2) if intervals else states[q]
    flat = mine.reshape(len(mine), -1)
    most = max(1, MOST_STATES // max(1, flat.shape[1]))
    chosen = clauses[:most]
    return {
        "n": int(machine.parameters.n_states),
        "strip": [int(state) for state in flat[clause][:MOST_STRIP]] if clause >= 0 else [],
        "width": int(flat.shape[1]),
        "rows": len(chosen),
        "all": len(flat),
        "states": base64.b64encode(flat[chosen].astype(np.uint8).tobytes()).decode("ascii"),
    }
