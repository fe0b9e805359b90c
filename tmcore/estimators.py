"""The Tsetlin machine as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin

from tmcore import dial, early_stopping, files
from tmcore.class_weights import class_scales
from tmcore.dial import Point
from tmcore.encoders import make_encoder
from tmcore.labels import chosen_positive, class_indices, label_array, read_labels
from tmcore.machine import Machine, make_machine
from tmcore.machine.state import WEIGHT_UNIT, ClauseBank
from tmcore.model import TsetlinModel
from tmcore.parameters import ClassWeight
from tmcore.readable import RetrainFold
from tmcore.scores import winners
from tmcore.settling import at_point, make_rules, own_votes, row_weights, settle, vote_scale
from tmcore.task import Classes, Task
from tmcore.training import TrainingRun


class TsetlinClassifier(ClassifierMixin, TsetlinModel):
    """A Tsetlin machine whose clauses are interval rules.

    Parameters
    ----------
    n_clauses : int, even
        m of the SSL paper: half the clauses vote for y = 1, half against it. K > 2 classes are K such machines.
    T : float or "auto"
        Vote target of eqs. (7) and (10); "auto" is n_clauses / 4.
    s : float >= 1
        Specificity of eqs. (14) to (17).
    representation : "intervals", "thresholds" or "boolean"
        Two searching bounds per column and clause (SSL paper, section 4); a fixed literal for every cut of every column
        and its negation (section 3); or columns of 0 and 1 as they are, dense or sparse.
    bound_rule : "contrastive" or "paper"
        How bounds move: "paper" is the published rule, "contrastive" never pushes a rewarded row out.
    weights : "refit", "none", "real" or "integer"
        L1-penalised logistic regression on the clauses once training ends; one vote each; or weights learned while
        training, by steps of 1 + gamma (Weighted Tsetlin Machine) or of one vote.
    gamma : float
        Step of real weights.
    n_states : int
        N, states per action of an automaton.
    max_levels : int or None
        Levels kept per column; None keeps them all (two bytes a value).
    epochs : int
        Passes over the training rows.
    boost_true_positive : bool
        Confirm every bound of a clause that is rightly true, instead of a random share (s-1)/s.
    max_literals : int or None
        A clause with more literals is made to forget some of them while it learns.
    class_weight : None, "balanced" or dict
        Lets the rows of some classes teach more often, see `class_scales`.
    early_stopping : bool
        Hold out a fifth of the rows, stop after 10 epochs without a better accuracy on them, keep the best epoch, and
        settle on all rows.
    harvest : int
        Earlier moments of training, evenly spread, whose distinct clauses the refit may choose from beside those of the
        end: more to choose from at no more training, and often more rules. 0 takes those of the end alone.
    n_jobs : int or None
        Threads that share the machines of K > 2 classes; the result does not depend on it.
    random_state : int, RandomState or None
        The same int on the same data gives the same bits everywhere.
    positive_class : label or None
        Of two classes the one that rules and vote sums speak for, the second of `rule_classes_`; None takes the second
        in sorted order. scikit-learn's scorers know nothing of it: give them ``pos_label`` where the class matters.

    Attributes
    ----------
    classes_ : ndarray, shape (K,)
        Sorted, as scikit-learn expects; `predict_proba` and `decision_function` are in this order.
    rule_classes_ : ndarray, shape (K,)
        Sorted, or the other class and then `positive_class`; rules, votes and files are in this order.
    rules_ : RuleSet
        Predicts on raw values exactly as the estimator does.
    n_literals_, n_intervals_ : int
        Included bounds of the trained machine, and pairs of clause and feature that have one; `rules_.n_literals`
        counts what is left after settling and simplification.
    n_features_in_ : int
    feature_names_in_ : ndarray
        Where X was a DataFrame with text column names.
    settle_reason_ : str or None
        Why the weights could not be refitted, if they could not.
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
        class_weight: ClassWeight = None,
        early_stopping: bool = False,
        harvest: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
        positive_class: Any = None,
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
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.harvest = harvest
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.positive_class = positive_class

    classes_: NDArray[Any]
    rule_classes_: NDArray[Any]

    # -- learning -----------------------------------------------------------------------------------------------

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> TsetlinClassifier:
        """Learn one pass over a batch; predictions are by votes until `settle`.

        Parameters
        ----------
        X, y : as in `fit`
            The first batch sets the levels of every column.
        classes : sequence, optional
            All labels there will be; needed at the first call unless the first batch holds them all.
        """
        first = not hasattr(self, "machine_")
        rows = self._check_rows(X, reset=first)
        labels = self._read(y, rows.shape[0])
        if first:
            self._start(rows, labels, classes)
        return self._learn_batch(rows, labels)

    def _start(self, rows: Any, labels: NDArray[Any], classes: Any) -> None:
        parameters = self._parameters()
        parameters.check()
        known = labels if classes is None else label_array(classes)
        self._know(read_labels(known, len(known), self.positive_class)[0])
        encoder = make_encoder(parameters).fit(rows)
        machine = make_machine(parameters, len(self.rule_classes_), encoder.n_ranks, encoder.has_gaps)
        indices = class_indices(labels, self.rule_classes_)
        machine.scales[:] = class_scales(parameters.class_weight, self.rule_classes_, indices[indices >= 0])
        self._begin(encoder, machine)

    @property
    def _is_sorted(self) -> bool:
        return bool(self.rule_classes_[0] == self.classes_[0])

    def _know(self, classes: NDArray[Any]) -> None:
        self.rule_classes_ = classes
        self.classes_ = classes if chosen_positive(classes) is None else classes[::-1].copy()

    @classmethod
    def _from_run(cls, run: TrainingRun) -> TsetlinClassifier:
        model = super()._from_run(run)
        return model.set_params(positive_class=chosen_positive(run.classes))

    def _goal(self) -> dict[str, Any]:
        return {"positive_class": self.positive_class}

    def _read(self, y: Any, n_rows: int) -> NDArray[Any]:
        if y is None:
            raise ValueError(
                "This classifier requires y to be passed, but the target y is None; give one label a row."
            )
        labels = label_array(y)
        if len(labels) != n_rows:
            raise ValueError(f"y holds {len(labels)} labels for {n_rows} rows; give one label a row.")
        return labels

    def _hold_out(self, y: NDArray[Any], seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return early_stopping.hold_out(len(y), seed, read_labels(y, len(y), self.positive_class)[1])

    def _adopt_task(self, task: Task) -> None:
        self._know(task.classes)

    def _task(self, y: NDArray[Any]) -> Classes:
        indices = class_indices(y, self.rule_classes_)
        if (indices < 0).any():
            row = int((indices < 0).argmax())
            raise ValueError(
                f"y holds the label {y[row]!s} in row {row + 1}, which is not among the first batch's classes;"
                " pass all classes to the first partial_fit."
            )
        return Classes(self.rule_classes_, indices)

    def _settle(self, machines: list[Machine], codes: Any, task: Task) -> None:
        self.settled_ = settle(machines, codes, task.targets, self.rule_classes_)
        self._make_rules(codes, task)

    def _make_rules(self, codes: Any, task: Task) -> None:
        assert self.settled_ is not None  # it is called after settling
        about = self.settled_, self.rule_classes_, codes, task.targets
        self.rules_ = make_rules(self.encoder_, self.machine_, *about)

    def _own_to_dict(self) -> dict[str, Any]:
        return {"classes": files.labels_to_list(self.rule_classes_)}

    def _own_from_dict(self, data: dict[str, Any]) -> None:
        self._know(files.labels_from_list(data["classes"]))
        self.positive_class = chosen_positive(self.rule_classes_)

    # -- the dial -----------------------------------------------------------------------------------------------

    def _find_path(
        self, outputs: NDArray[np.bool_], lengths: NDArray[np.integer], task: Task
    ) -> tuple[Point, ...]:
        weights = row_weights(self.machine_, self.rule_classes_, task.targets)
        n_classes = len(self.rule_classes_)
        return dial.path(outputs, task.targets, lengths, n_classes, self._seed, row_weights=weights)

    def _score_points(
        self, points: tuple[Point, ...], fold: RetrainFold, task: Task, n_jobs: int | None
    ) -> tuple[Point, ...]:
        weights = row_weights(self.machine_, self.rule_classes_, task.targets)
        about = task.targets, len(self.rule_classes_), self._seed, n_jobs
        return dial.score_path(points, fold, *about, row_weights=weights)

    def _set_point(self, point: Point, bank: ClauseBank, codes: Any, task: Task) -> None:
        self.settled_ = at_point(point, bank)
        self._make_rules(codes, task)

    # -- predicting ---------------------------------------------------------------------------------------------

    def _votes(self, X: Any) -> np.ndarray:
        """Vote sums in units of 2**-16, int64 of shape (n_rows, 1) or (n_rows, K)."""
        data, settled = self._prepared(X), self.settled_
        if settled is None or not settled.refitted:
            return self.machine_.votes(data)
        return self._compile(settled).votes(data)

    def vote_sums(self, X: Any) -> np.ndarray:
        """Vote sums as `rules_` has them, in the order of `rule_classes_`.

        Returns
        -------
        ndarray of float, shape (n_rows, 1) or (n_rows, K)
            Multiples of 2**-16. With two classes, those for the second of `rule_classes_`, which 0 already predicts
            (SSL paper, eq. 6); log-odds after a refit.
        """
        return self._votes(X) * WEIGHT_UNIT

    def decision_function(self, X: Any) -> np.ndarray:
        """Vote sums for scikit-learn, in the order of `classes_`: shape (n_rows,) with two classes, else (n_rows, K).

        With two classes above 0 says the second of `classes_`; a tie lies half a grid step of 2**-17 from 0, on the
        side of the class that it predicts.
        """
        decision = self._decision(X)
        return decision if self._is_sorted else -decision

    def predict(self, X: Any) -> np.ndarray:
        """Class labels, shape (n_rows,): the class with the most votes."""
        places = winners(self._votes(X))
        return self.rule_classes_[places]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities, shape (n_rows, K) in the order of `classes_`; see `rule_probabilities`."""
        probabilities = self.rule_probabilities(X)
        return probabilities if self._is_sorted else probabilities[:, ::-1]

    def rule_probabilities(self, X: Any) -> np.ndarray:
        """Probabilities, shape (n_rows, K) in the order of `rule_classes_`, whose largest is the predicted class.

        After a refit they are the logistic model's, scaled to sum to one where there are more than two classes. By
        votes they are a logistic curve through the vote sums, which orders rows but is not calibrated.
        """
        decision = self._decision(X)
        settled = self.settled_ or own_votes(self.machine_.bank())
        scaled = decision * (vote_scale(settled, self.machine_.parameters.vote_target) / WEIGHT_UNIT)
        if scaled.ndim == 1:
            positive = expit(scaled)
            return np.column_stack([1 - positive, positive])
        if not settled.refitted:
            return softmax(scaled, axis=1)
        positive = expit(scaled)
        return positive / positive.sum(axis=1, keepdims=True)

    def _decision(self, X: Any) -> np.ndarray:
        votes = self.vote_sums(X)
        return votes[:, 0] + WEIGHT_UNIT / 2 if votes.shape[1] == 1 else votes
