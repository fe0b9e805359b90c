"""The Tsetlin machine as a scikit-learn estimator."""

from __future__ import annotations

import dataclasses
import numbers
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from tmcore import early_stopping, model_files
from tmcore.class_weights import class_scales
from tmcore.encoders import make_encoder
from tmcore.labels import chosen_positive, class_indices, label_array, read_labels
from tmcore.machine import make_machine, streams
from tmcore.machine.inference import CompiledVotes, compile_votes
from tmcore.machine.state import WEIGHT_UNIT
from tmcore.parameters import ClassWeight, Parameters
from tmcore.readable import ReadabilityDial
from tmcore.settling import Settled, make_rules, own_votes, settle, vote_scale
from tmcore.training import TrainingRun, winners


class TsetlinClassifier(ReadabilityDial, ClassifierMixin, BaseEstimator):
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
    n_jobs : int or None
        Threads that share the machines of K > 2 classes; the result does not depend on it.
    random_state : int, RandomState or None
        The same int on the same data gives the same bits everywhere.
    positive_class : label or None
        Of two classes the one that rules, vote sums and F1 speak for, the second of `classes_`; None takes the second
        in sorted order. scikit-learn's scorers of probabilities, such as "roc_auc", believe that order whatever
        `classes_` says: to use them, rather fit on ``y == label``.

    Attributes
    ----------
    classes_ : ndarray, shape (K,)
        Sorted, or the other class and then `positive_class`; the columns of `predict_proba` are in this order.
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.positive_class = positive_class

    _compiled: tuple[Settled, CompiledVotes] | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = self.representation == "boolean"
        return tags

    # -- learning -----------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> TsetlinClassifier:
        """Train from scratch, then settle.

        Parameters
        ----------
        X : DataFrame or array, shape (n_rows, n_columns)
            Numbers, booleans, categories, texts and missing values; see `Encoder` for how each is read.
        y : sequence, shape (n_rows,)
            Class labels.

        Raises
        ------
        ValueError
            With one sentence that names the column, row or setting.
        """
        rows, labels, parameters = self._check_rows(X, reset=True), self._check_labels(y), self._parameters()
        parameters.check()
        if parameters.early_stopping:
            return self._fit_stopping_early(rows, labels, parameters)
        run = TrainingRun(rows, labels, parameters, n_jobs=self.n_jobs, positive_class=self.positive_class)
        run.learn(parameters.epochs * run.n_rows)
        return self._take(run)

    def _fit_stopping_early(self, rows: Any, labels: np.ndarray, parameters: Parameters) -> TsetlinClassifier:
        """Train on four fifths of the rows, keep the best epoch on the others, settle on all."""
        _, indices = read_labels(labels, rows.shape[0])
        learn, watch = early_stopping.hold_out(indices, parameters.random_state)
        watched = early_stopping.take_rows(rows, watch), labels[watch]
        run = TrainingRun(
            early_stopping.take_rows(rows, learn),
            labels[learn],
            parameters,
            watched,
            self.n_jobs,
            positive_class=self.positive_class,
        )
        self.best_epoch_ = early_stopping.train(run)
        self._adopt(run)
        self._settle(*self._encode(rows, labels))
        return self

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
        labels = self._check_labels(y)
        if first:
            self._start(rows, labels, classes)
        codes, indices = self._encode(rows, labels)
        order = streams.row_order(self.machine_.parameters.random_state, self.n_batches_, len(indices))
        self.machine_.learn(self.machine_.prepare(codes), indices, order, effective_n_jobs(self.n_jobs))
        self.n_batches_ += 1
        self.settled_: Settled | None = None
        self._dial_rows, self._path = None, None
        self.settle_reason_: str | None = None
        self._count_literals()
        return self

    def settle(self, X: Any, y: Any) -> TsetlinClassifier:
        """End training on batches: refit the weights where the settings say so, and extract the rules.

        Parameters
        ----------
        X, y : as in `fit`
            Rows to refit and count support and precision on.
        """
        check_is_fitted(self, "machine_")
        self._settle(*self._encode(self._check_rows(X, reset=False), self._check_labels(y)))
        return self

    @classmethod
    def _from_run(cls, run: TrainingRun) -> TsetlinClassifier:
        estimator = cls(
            **dataclasses.asdict(run.parameters),
            n_jobs=run.n_jobs,
            positive_class=chosen_positive(run.classes),
        )
        estimator.n_features_in_ = len(run.encoder.columns)
        if run.encoder.by_name:
            estimator.feature_names_in_ = np.array(
                [column.name for column in run.encoder.columns], dtype=object
            )
        return estimator._take(run)

    def _take(self, run: TrainingRun) -> TsetlinClassifier:
        """Take over a trained run and settle it on its rows."""
        self._adopt(run)
        self._settle(run.codes, run.labels)
        return self

    def _adopt(self, run: TrainingRun) -> None:
        """Take over a copy of a run's machine, so that the run may go on."""
        self.classes_, self.encoder_ = run.classes, run.encoder
        state = run.machine.state.copy()
        ranks, gaps = run.encoder.n_ranks, run.encoder.has_gaps
        self.machine_ = make_machine(run.parameters, len(run.classes), ranks, gaps, state)
        self.n_batches_ = -(-run.step // run.n_rows)

    def _start(self, rows: Any, labels: np.ndarray, classes: Any) -> None:
        parameters = self._parameters()
        parameters.check()
        known = labels if classes is None else label_array(classes)
        self.classes_, _ = read_labels(known, len(known), self.positive_class)
        self.encoder_ = make_encoder(parameters).fit(rows)
        encoder = self.encoder_
        self.machine_ = make_machine(parameters, len(self.classes_), encoder.n_ranks, encoder.has_gaps)
        self.n_batches_ = 0
        indices = class_indices(labels, self.classes_)
        self.machine_.scales[:] = class_scales(parameters.class_weight, self.classes_, indices[indices >= 0])

    def _settle(self, codes: np.ndarray, labels: np.ndarray) -> None:
        self.settled_ = settle(self.machine_, codes, labels, self.classes_)
        self._keep_rows(codes, labels)
        self.settle_reason_ = self.settled_.reason
        self.rules_ = make_rules(self.encoder_, self.machine_, self.settled_, self.classes_, codes, labels)
        self._count_literals()

    def _count_literals(self) -> None:
        bank = self.machine_.bank()
        self.n_literals_, self.n_intervals_ = bank.n_literals, bank.n_intervals

    # -- predicting ---------------------------------------------------------------------------------------------

    def _votes(self, X: Any) -> np.ndarray:
        """Vote sums in units of 2**-16, int64 of shape (n_rows, 1) or (n_rows, K)."""
        check_is_fitted(self, "machine_")
        data = self.machine_.prepare(self.encoder_.transform(self._check_rows(X, reset=False)))
        settled, machine = self.settled_, self.machine_
        if settled is None or not settled.refitted:
            return machine.votes(data)
        if self._compiled is None or self._compiled[0] is not settled:
            about = machine.bank(), machine.n_ranks, machine.has_gaps
            kept = settled.machines, settled.clauses, settled.weights, settled.intercept
            self._compiled = settled, compile_votes(*about, *kept)
        return self._compiled[1].votes(data)

    def decision_function(self, X: Any) -> np.ndarray:
        """Vote sums: shape (n_rows,) with two classes, else (n_rows, K); log-odds after a refit.

        With two classes half a grid step of 2**-17 is added, so that a tie counts for the second class (eq. 6).
        """
        votes = self._votes(X) * WEIGHT_UNIT
        return votes[:, 0] + WEIGHT_UNIT / 2 if votes.shape[1] == 1 else votes

    def predict(self, X: Any) -> np.ndarray:
        """Class labels, shape (n_rows,): the class with the most votes."""
        votes = self._votes(X)
        return self.classes_[winners(votes)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities, shape (n_rows, K), whose largest is the predicted class.

        After a refit they are the logistic model's, scaled to sum to one where there are more than two classes. By
        votes they are a logistic curve through the vote sums, which orders rows but is not calibrated.
        """
        decision = self.decision_function(X)
        settled = self.settled_ or own_votes(self.machine_.bank())
        scaled = decision * (vote_scale(settled, self.machine_.parameters.vote_target) / WEIGHT_UNIT)
        if scaled.ndim == 1:
            positive = expit(scaled)
            return np.column_stack([1 - positive, positive])
        if not settled.refitted:
            return softmax(scaled, axis=1)
        positive = expit(scaled)
        return positive / positive.sum(axis=1, keepdims=True)

    # -- files --------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the model to one file that `tmcore.load` reads; it holds arrays and text, nothing executable."""
        check_is_fitted(self, "machine_")
        model_files.save(self, path)

    # -- checking input -----------------------------------------------------------------------------------------

    def _parameters(self) -> Parameters:
        settings = self.get_params(deep=False)
        del settings["n_jobs"], settings["positive_class"]
        seed = settings["random_state"]
        if not isinstance(seed, numbers.Integral) or isinstance(seed, bool):
            settings["random_state"] = int(check_random_state(seed).randint(2**31 - 1))
        else:
            settings["random_state"] = int(seed)
        return Parameters(**settings)

    def _check_rows(self, X: Any, reset: bool) -> Any:
        """X as a DataFrame with its dtypes, or as a two-dimensional array; the encoder checks every cell."""
        if isinstance(X, pd.DataFrame):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        accepted = "csr" if self.representation == "boolean" else False
        array = check_array(
            X, accept_sparse=accepted, dtype=None, ensure_all_finite=False, estimator=self, input_name="X"
        )
        validate_data(self, X, reset=reset, skip_check_array=True)
        return array

    @staticmethod
    def _check_labels(y: Any) -> np.ndarray:
        if y is None:
            raise ValueError(
                "This classifier requires y to be passed, but the target y is None; give one label a row."
            )
        return label_array(y)

    def _encode(self, rows: Any, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        codes, indices = self.encoder_.transform(rows), class_indices(labels, self.classes_)
        if codes.shape[0] != len(indices):
            raise ValueError(
                f"y holds {len(indices)} labels for {codes.shape[0]} rows; give one label a row."
            )
        if (indices < 0).any():
            row = int((indices < 0).argmax())
            raise ValueError(
                f"y holds the label {labels[row]!s} in row {row + 1}, which is not among the first batch's classes;"
                " pass all classes to the first partial_fit."
            )
        return codes, indices


def load(path: str | Path) -> TsetlinClassifier:
    """Read a model written by `TsetlinClassifier.save`.

    Raises
    ------
    ValueError
        The file is something else, damaged, or of a newer version.
    """
    return model_files.load(path, TsetlinClassifier)
