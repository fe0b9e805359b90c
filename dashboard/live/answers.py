"""What the live view is told of a run's answers: what they are, how good, and how they are spread.

One class for runs that predict classes and one for runs that predict numbers; all else in a frame is the same for both.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dashboard.goals import NumberGoal
from dashboard.live.fit import fit, targets_of, told_of_fit
from dashboard.live.points import chosen_rows
from dashboard.live.standing import standing
from dashboard.style import short
from tmcore.labels import class_indices
from tmcore.scores import NumberScores, Scores

if TYPE_CHECKING:
    from dashboard.history import Moment
    from dashboard.jobs import Job
    from dashboard.outcome import Settled
    from tmcore.machine import Machine
    from tmcore.training import Snapshot, TrainingRun

VOTE_BINS = 41
DIGITS = 5


class ClassAnswers:
    """The classes: a group of rows for each, accuracy and F1, votes for and against, the confusion matrix."""

    def __init__(self, run: TrainingRun, job: Job) -> None:
        self._run, self._job = run, job

    def groups(self) -> tuple[list[str], NDArray[np.intp]]:
        """The classes' names, and the index of each training row's."""
        return [short(c) for c in self._run.classes], class_indices(self._job.y_train, self._run.classes)

    def facts(self) -> dict[str, Any]:
        """What never changes in a run besides the groups."""
        return {}

    def points(self) -> dict[str, Any]:
        """The class of every point, -1 for one unseen in training, and how many of them are training rows."""
        job, run = self._job, self._run
        train, test = chosen_rows(len(job.y_train), len(job.y_test))
        index = {label: k for k, label in enumerate(run.classes.tolist())}
        tested = [index.get(label, -1) for label in np.asarray(job.y_test)[test].tolist()]
        return {"labels": self.groups()[1][train].tolist() + tested, "train": len(train)}

    def scores(self, snapshot: Snapshot) -> dict[str, Any]:
        """How good the moment shown is."""
        scores = snapshot.scores
        assert isinstance(scores, Scores)  # the run learns classes
        return {"train": _share(scores.train_accuracy), "test": _share(scores.test_accuracy)}

    def curves(self, history: tuple[Moment, ...]) -> dict[str, list[Any]]:
        """The same at every kept moment, in thousandths."""
        names = {
            "train": "train_accuracy",
            "test": "test_accuracy",
            "trainF1": "train_f1",
            "testF1": "test_f1",
        }
        return {
            told: [_milli(getattr(m.scores, name, None)) for m in history] for told, name in names.items()
        }

    def settled(self, outcome: Settled) -> dict[str, Any]:
        """Unseen rows right before and after."""
        before, after = outcome.before.scores, outcome.after.scores
        assert isinstance(before, Scores)
        assert isinstance(after, Scores)
        return {"before": _share(before.test_accuracy), "after": _share(after.test_accuracy)}

    def votes(self, snapshot: Snapshot, target: float, q: int) -> dict[str, Any]:
        """Training rows by vote sum: rows of the class in focus, and the others, in equal bins around zero.

        ``reached`` counts rows whose votes lead by T or more the right way: they teach this machine nothing.
        """
        classes = self._run.classes
        sums = np.asarray(snapshot.votes)[:, q]
        focus = classes[1] if len(classes) == 2 else classes[q]
        reach = max(1.25 * target, float(np.abs(sums).max(initial=0.0)))
        bins = np.clip(((sums + reach) / (2 * reach) * VOTE_BINS).astype(int), 0, VOTE_BINS - 1)
        mine = np.asarray(self._job.y_train) == focus
        return {
            "reach": round(reach, 3),
            "mine": np.bincount(bins[mine], minlength=VOTE_BINS).tolist(),
            "others": np.bincount(bins[~mine], minlength=VOTE_BINS).tolist(),
            "reached": int((np.where(mine, sums, -sums) >= target).sum()),
        }

    def standing(self, machine: Machine, snapshot: Snapshot) -> dict[str, Any]:
        """The confusion matrices of the moment shown; ``machine`` is the run's then."""
        return standing(self._run, machine, snapshot.votes)


class NumberAnswers:
    """The numbers: rows above and at most the median as two groups, MAE and R2, the fit and its residuals."""

    def __init__(self, run: TrainingRun, job: Job) -> None:
        self._run, self._job = run, job
        self._targets = run.targets

    @cached_property
    def _median(self) -> float:
        """Only facts need it, and they are made once a run; a frame is made many times a second."""
        return float(np.median(self._targets))

    def _group(self, targets: NDArray[np.float64]) -> NDArray[np.intp]:
        return (targets > self._median).astype(np.intp)

    def groups(self) -> tuple[list[str], NDArray[np.intp]]:
        """The two halves' names, and which half each training row is in."""
        goal = self._job.goal
        assert isinstance(goal, NumberGoal)  # the run learns numbers
        middle = goal.amount(self._median)
        label = short(goal.label)
        return [f"{label} ≤ {middle}", f"{label} > {middle}"], self._group(self._targets)

    def facts(self) -> dict[str, Any]:
        """The target with its unit and range, and what always answering the mean would miss by."""
        goal, span = self._job.goal, self._run.target_range
        assert isinstance(goal, NumberGoal)
        assert span is not None
        scored = targets_of(self._run)[1] if len(self._job.y_test) else self._targets
        return {
            "numbers": {
                "label": short(goal.label),
                "unit": short(goal.unit) if goal.unit else "",
                "lowest": span.lowest,
                "width": span.width,
                "mean": goal.mean,
                "meanMisses": float(np.abs(scored - goal.mean).mean()),
            }
        }

    def points(self) -> dict[str, Any]:
        """Every point's half and its place in the range from 0 to 1, and how many of them are training rows."""
        train, test = chosen_rows(len(self._targets), len(self._job.y_test))
        held_out = targets_of(self._run)[1]
        numbers = np.concatenate([self._targets[train], held_out[test]])
        order = np.sort(self._targets)
        places = np.searchsorted(order, numbers, side="right") / len(order)
        return {
            "labels": self._group(numbers).tolist(),
            "train": len(train),
            "shares": places.round(3).tolist(),
        }

    def scores(self, snapshot: Snapshot) -> dict[str, Any]:
        """How good the moment shown is."""
        scores = snapshot.scores
        assert isinstance(scores, NumberScores)
        return {
            "train": _digits(scores.train_mae),
            "test": _digits(scores.test_mae),
            "trainR2": _share(scores.train_r2),
            "testR2": _share(scores.test_r2),
        }

    def curves(self, history: tuple[Moment, ...]) -> dict[str, list[Any]]:
        """The same at every kept moment, R2 in thousandths."""
        told: dict[str, list[Any]] = {}
        for part in ("train", "test"):
            told[part] = [_digits(getattr(m.scores, f"{part}_mae", None)) for m in history]
            told[f"{part}R2"] = [_milli(getattr(m.scores, f"{part}_r2", None)) for m in history]
        return told

    def settled(self, outcome: Settled) -> dict[str, Any]:
        """What unseen rows are missed by before and after."""
        before, after = outcome.before.scores, outcome.after.scores
        assert isinstance(before, NumberScores)
        assert isinstance(after, NumberScores)
        return {"before": _digits(before.test_mae), "after": _digits(after.test_mae)}

    def votes(self, snapshot: Snapshot, target: float, q: int) -> dict[str, Any]:
        """The residuals of the training rows have the place of the votes, and come with the fit."""
        return {}

    def standing(self, machine: Machine, snapshot: Snapshot) -> dict[str, Any]:
        """The fit of the moment shown; ``machine`` is the run's then."""
        return told_of_fit(fit(self._run, machine, snapshot.votes))


Answers = ClassAnswers | NumberAnswers


def answers_of(run: TrainingRun, job: Job) -> Answers:
    """Which of the two a run has."""
    return (ClassAnswers if run.target_range is None else NumberAnswers)(run, job)


def _share(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), 4)


def _milli(value: float | None) -> int | None:
    return None if value is None or not np.isfinite(value) else round(1000 * value)


def _digits(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(f"{value:.{DIGITS}g}")
