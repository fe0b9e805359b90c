"""The Tsetlin machine that predicts a number, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from tmcore import dial_numbers, early_stopping
from tmcore.dial import Point
from tmcore.encoders import make_encoder
from tmcore.machine import Machine, make_machine
from tmcore.machine.state import ClauseBank
from tmcore.model import TsetlinModel
from tmcore.readable import RetrainFold
from tmcore.settling import NO_CLASSES, Settled, at_point, make_number_rules, own_votes, settle_numbers
from tmcore.target_range import LARGEST, TargetRange, read_targets
from tmcore.task import Numbers, Task, number_settings

Floats = NDArray[np.float64]


class TsetlinRegressor(RegressorMixin, TsetlinModel):
    """A Tsetlin machine whose interval rules add up to a number.

    The target's range [lowest, highest] becomes 0 to T votes. All clauses vote for; with the chance |error| / T a
    clause gets Type I feedback where the sum is too low, and Type II where it is too high. A sum of v votes predicts
    lowest + v / T * (highest - lowest), which may lie outside of the range.

    Parameters
    ----------
    n_clauses : int, even
        Clauses of the one machine.
    T : float or "auto"
        Votes that the highest number stands for; "auto" is n_clauses, so that all clauses together reach it.
    s, representation, bound_rule, gamma, n_states, max_levels, epochs, boost_true_positive, max_literals, harvest
        As in `TsetlinClassifier`.
    weights : "refit", "none", "real" or "integer"
        L1-penalised least squares (the Lasso) on the clauses once training ends; one vote each; or weights learned
        while training.
    early_stopping : bool
        Hold out a fifth of the rows, stop after 10 epochs without a better R2 on them, keep the best epoch, and
        settle on all rows.
    n_jobs : int or None
        Taken as by the classifier; one machine learns in one thread, so it changes nothing.
    random_state : int, RandomState or None
        The same int on the same data gives the same bits everywhere.

    Attributes
    ----------
    rules_ : NumberRules
        Predicts on raw values exactly as the estimator does.
    target_range_ : TargetRange
    n_literals_, n_intervals_ : int
        Included bounds of the trained machine, and pairs of clause and feature that have one.
    n_features_in_ : int
    feature_names_in_ : ndarray
        Where X was a DataFrame with text column names.
    settle_reason_ : str or None
        Why the weights could not be refitted, if they could not.
    best_epoch_ : int
        After early stopping.
    """

    def __init__(
        self,
        n_clauses: int = 100,
        T: float | str = "auto",
        s: float = 2.0,
        representation: str = "intervals",
        bound_rule: str = "contrastive",
        weights: str = "refit",
        gamma: float = 0.01,
        n_states: int = 50,
        max_levels: int | None = 255,
        epochs: int = 40,
        boost_true_positive: bool = False,
        max_literals: int | None = None,
        early_stopping: bool = False,
        harvest: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clauses = n_clauses
        self.T = T
        self.s = s
        self.representation = representation
        self.bound_rule = bound_rule
        self.weights = weights
        self.gamma = gamma
        self.n_states = n_states
        self.max_levels = max_levels
        self.epochs = epochs
        self.boost_true_positive = boost_true_positive
        self.max_literals = max_literals
        self.early_stopping = early_stopping
        self.harvest = harvest
        self.n_jobs = n_jobs
        self.random_state = random_state

    target_range_: TargetRange
    unit_: float

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Without a refit every clause adds votes of one sign, and the sum of them fits loosely: R2 0.2 to 0.4 on the
        # data of scikit-learn's check, which asks for 0.5; refitted weights, the default, pass it.
        tags.regressor_tags.poor_score = self.weights != "refit"
        return tags

    # -- learning -----------------------------------------------------------------------------------------------

    def partial_fit(
        self, X: Any, y: Any, target_range: tuple[float, float] | None = None
    ) -> TsetlinRegressor:
        """Learn one pass over a batch; predictions are by votes until `settle`.

        Parameters
        ----------
        X, y : as in `fit`
            The first batch sets the levels of every column.
        target_range : (lowest, highest), optional
            The numbers that 0 and T votes stand for; by default the range of the first batch. Numbers beyond it are
            learned as its ends.

        Raises
        ------
        ValueError
            As `fit`, or where the first batch holds one number only and no range is given.
        """
        first = not hasattr(self, "machine_")
        rows = self._check_rows(X, reset=first)
        targets = self._read(y, rows.shape[0])
        if first:
            ends = (targets.min(), targets.max()) if target_range is None else target_range
            self._start(rows, _read_range(ends))
        return self._learn_batch(rows, targets)

    def _start(self, rows: Any, target_range: TargetRange) -> None:
        parameters = self._parameters()
        parameters.check()
        parameters = number_settings(parameters)
        self.target_range_ = target_range
        encoder = make_encoder(parameters).fit(rows)
        machine = make_machine(parameters, len(NO_CLASSES), encoder.n_ranks, encoder.has_gaps)
        self._begin(encoder, machine)

    def _goal(self) -> dict[str, Any]:
        return {"task": "numbers"}

    def _read(self, y: Any, n_rows: int) -> Floats:
        return read_targets(y, n_rows)

    def _hold_out(self, y: Floats, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return early_stopping.hold_out(len(y), seed)

    def _adopt_task(self, task: Task) -> None:
        assert task.target_range is not None  # it is of numbers
        self.target_range_ = task.target_range

    def _task(self, y: Floats) -> Numbers:
        return Numbers(self.target_range_, y)

    def _settle(self, machines: list[Machine], codes: Any, task: Task) -> None:
        settled = settle_numbers(machines, codes, task.targets, self.target_range_)
        self._set_rules(settled, codes, task)

    def _set_rules(self, settled: tuple[Settled, float], codes: Any, task: Task) -> None:
        self.settled_, self.unit_ = settled
        self.rules_ = make_number_rules(self.encoder_, *settled, codes, task.targets)

    def _own_to_dict(self) -> dict[str, Any]:
        unit = None if self.settled_ is None else self.unit_
        return {"target_range": [self.target_range_.lowest, self.target_range_.highest], "unit": unit}

    def _own_from_dict(self, data: dict[str, Any]) -> None:
        self.target_range_, self.unit_ = TargetRange(*data["target_range"]), data["unit"]

    # -- the dial -----------------------------------------------------------------------------------------------

    def _find_path(
        self, outputs: NDArray[np.bool_], lengths: NDArray[np.integer], task: Task
    ) -> tuple[Point, ...]:
        votes = self.target_range_.votes(task.targets, self._vote_target)
        return dial_numbers.path(outputs, votes, lengths, self._seed)

    def _score_points(
        self, points: tuple[Point, ...], fold: RetrainFold, task: Task, n_jobs: int | None
    ) -> tuple[Point, ...]:
        measured = dial_numbers.MeasureNumbers(
            task.targets, self.target_range_, self._vote_target, self._seed
        )
        return dial_numbers.score_path(points, fold, measured, n_jobs)

    def _set_point(self, point: Point, bank: ClauseBank, codes: Any, task: Task) -> None:
        in_numbers = self.target_range_.in_numbers(at_point(point, bank), self._vote_target)
        self._set_rules(in_numbers, codes, task)

    @property
    def _vote_target(self) -> float:
        return self.machine_.parameters.vote_target

    # -- predicting ---------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> Floats:
        """The predicted numbers, float64 of shape (n_rows,)."""
        data, settled = self._prepared(X), self.settled_
        if settled is not None:
            return self._compile(settled).votes(data)[:, 0].astype(np.float64) * self.unit_
        votes = own_votes(self.machine_.bank())
        by_votes, unit = self.target_range_.in_numbers(votes, self._vote_target)
        return by_votes.compiled(self.machine_).votes(data)[:, 0].astype(np.float64) * unit


def _read_range(ends: tuple[float, float]) -> TargetRange:
    lowest, highest = (float(end) for end in ends)
    if not -LARGEST <= lowest < highest <= LARGEST:
        raise ValueError(
            f"The target range is from {lowest:g} to {highest:g}; give partial_fit a target_range of two"
            " finite numbers, the lower first."
        )
    return TargetRange(lowest, highest)
