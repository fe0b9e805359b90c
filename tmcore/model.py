"""What the classifier and the regressor have in common: settings, checks of rows, learning, settling, files."""

from __future__ import annotations

import dataclasses
import numbers
from abc import abstractmethod
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from tmcore import early_stopping, harvest, model_files
from tmcore.boolean import check_sparse
from tmcore.encoders import AnyEncoder
from tmcore.machine import Machine, streams
from tmcore.machine.inference import CompiledVotes
from tmcore.parameters import Parameters
from tmcore.readable import ReadabilityDial
from tmcore.ruleset import RuleSet
from tmcore.settling import Settled
from tmcore.task import Task
from tmcore.threads import n_threads
from tmcore.training import TrainingRun

Model = TypeVar("Model", bound="TsetlinModel")


class TsetlinModel(ReadabilityDial, BaseEstimator):
    """The base of `TsetlinClassifier` and `TsetlinRegressor`, which say what is learned and how it is answered."""

    representation: str
    n_jobs: int | None
    encoder_: AnyEncoder
    machine_: Machine
    rules_: RuleSet
    settled_: Settled | None
    settle_reason_: str | None
    _compiled: tuple[Settled, CompiledVotes] | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = self.representation == "boolean"
        return tags

    # -- what the two differ in ---------------------------------------------------------------------------------

    @abstractmethod
    def _goal(self) -> dict[str, Any]:
        """What `TrainingRun` is told about y."""

    @abstractmethod
    def _read(self, y: Any, n_rows: int) -> NDArray[Any]:
        """y as an array, one for each row; ValueError otherwise."""

    @abstractmethod
    def _hold_out(self, y: NDArray[Any], seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows to train on and rows to watch, for early stopping."""

    @abstractmethod
    def _adopt_task(self, task: Task) -> None:
        """Remember what was learned: the classes, or the range of the numbers."""

    @abstractmethod
    def _task(self, y: NDArray[Any]) -> Task:
        """The same for other rows, with what `_read` gave for them."""

    @abstractmethod
    def _own_to_dict(self) -> dict[str, Any]:
        """What a file holds of one of the two only, JSON-able."""

    @abstractmethod
    def _own_from_dict(self, data: dict[str, Any]) -> None:
        """Set it again."""

    @abstractmethod
    def _settle(self, machines: list[Machine], codes: Any, task: Task) -> None:
        """Set `settled_` and `rules_` on encoded rows; `machines` are those whose clauses a refit may take."""

    # -- learning -----------------------------------------------------------------------------------------------

    def fit(self: Model, X: Any, y: Any) -> Model:
        """Train from scratch, then settle.

        Parameters
        ----------
        X : DataFrame or array, shape (n_rows, n_columns)
            Numbers, booleans, categories, texts and missing values; see `Encoder` for how each is read.
        y : sequence, shape (n_rows,)
            Class labels; for the regressor finite numbers.

        Raises
        ------
        ValueError
            With one sentence that names the column, row or setting.
        """
        rows, parameters = self._check_rows(X, reset=True), self._parameters()
        parameters.check()
        targets = self._read(y, rows.shape[0])
        if parameters.early_stopping:
            return self._fit_stopping_early(rows, targets, parameters)
        run = TrainingRun(rows, targets, parameters, n_jobs=self.n_jobs, **self._goal())
        run.learn(parameters.epochs * run.n_rows)
        return self._take(run)

    def _fit_stopping_early(self: Model, rows: Any, targets: NDArray[Any], parameters: Parameters) -> Model:
        """Train on four fifths of the rows, keep the best epoch on the others, settle on all."""
        learn, watch = self._hold_out(targets, parameters.random_state % 2**32)
        part, watched = (early_stopping.take_rows(rows, chosen) for chosen in (learn, watch))
        held_out = watched, targets[watch]
        run = TrainingRun(part, targets[learn], parameters, held_out, self.n_jobs, **self._goal())
        self.best_epoch_ = early_stopping.train(run)
        self._adopt(run)
        self._end(harvest.moments(run), self.encoder_.transform(rows), self._task(targets))
        return self

    def settle(self: Model, X: Any, y: Any) -> Model:
        """End training on batches: refit the weights where the settings say so, and extract the rules.

        Batches leave no earlier moments behind, so there is nothing to harvest.

        Parameters
        ----------
        X, y : as in `fit`
            Rows to refit and count support and precision on.
        """
        check_is_fitted(self, "machine_")
        rows = self._check_rows(X, reset=False)
        task = self._task(self._read(y, rows.shape[0]))
        self._end([self.machine_], self.encoder_.transform(rows), task)
        return self

    def _begin(self, encoder: AnyEncoder, machine: Machine) -> None:
        """Stand before the first batch."""
        self.encoder_, self.machine_, self.n_batches_ = encoder, machine, 0

    def _learn_batch(self: Model, rows: Any, targets: NDArray[Any]) -> Model:
        """One pass over a batch."""
        machine, lessons = self.machine_, self._task(targets).lessons(self.machine_.parameters)
        order = streams.row_order(machine.parameters.random_state, self.n_batches_, len(lessons))
        data = machine.prepare(self.encoder_.transform(rows))
        machine.learn(data, lessons, order, n_threads(self.n_jobs))
        self.n_batches_ += 1
        self.settled_, self.settle_reason_ = None, None
        self._dial_rows, self._path = None, None
        self._count_literals()
        return self

    @classmethod
    def _from_run(cls: type[Model], run: TrainingRun) -> Model:
        settings = dataclasses.asdict(run.parameters) | {"n_jobs": run.n_jobs}
        model = cls(**{name: value for name, value in settings.items() if name in cls._get_param_names()})
        model.n_features_in_ = len(run.encoder.columns)
        if run.encoder.by_name:
            model.feature_names_in_ = np.array([column.name for column in run.encoder.columns], dtype=object)
        return model._take(run)

    def _take(self: Model, run: TrainingRun) -> Model:
        """Take over a trained run and settle it on its rows."""
        self._adopt(run)
        self._end(harvest.moments(run), run.codes, run.task)
        return self

    def _adopt(self, run: TrainingRun) -> None:
        """Take over a copy of a run's machine, so that the run may go on."""
        self._adopt_task(run.task)
        self._begin(run.encoder, run.make_machine(run.parameters, run.machine.state.copy()))
        self.n_batches_ = -(-run.step // run.n_rows)

    def _end(self, machines: list[Machine], codes: Any, task: Task) -> None:
        self._settle(machines, codes, task)
        assert self.settled_ is not None  # it was settled just now
        self.settle_reason_ = self.settled_.reason
        self._compile(self.settled_)
        self._dial_rows, self._path = (codes, task), None
        self._count_literals()

    def _count_literals(self) -> None:
        bank = self.machine_.bank()
        self.n_literals_, self.n_intervals_ = bank.n_literals, bank.n_intervals

    # -- predicting ---------------------------------------------------------------------------------------------

    def _prepared(self, X: Any) -> NDArray[Any]:
        """Rows as the machine reads them."""
        check_is_fitted(self, "machine_")
        return self.machine_.prepare(self.encoder_.transform(self._check_rows(X, reset=False)))

    def _compile(self, settled: Settled) -> CompiledVotes:
        """The settled weights ready to add up; made once."""
        if self._compiled is None or self._compiled[0] is not settled:
            self._compiled = settled, settled.compiled(self.machine_)
        return self._compiled[1]

    # -- files --------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the model to one file that `tmcore.load` reads; it holds arrays and text, nothing executable."""
        check_is_fitted(self, "machine_")
        model_files.save(self, path)

    # -- checking input -----------------------------------------------------------------------------------------

    def _parameters(self) -> Parameters:
        """The settings that a run has too, with a seed where the random state is none."""
        names = {field.name for field in dataclasses.fields(Parameters)}
        settings = {name: value for name, value in self.get_params(deep=False).items() if name in names}
        seed = settings["random_state"]
        if not isinstance(seed, numbers.Integral) or isinstance(seed, bool):
            try:
                seed = check_random_state(seed).randint(2**31 - 1)
            except ValueError:
                raise ValueError(
                    f"random_state is {seed!r}; use a whole number from 0 on, a RandomState or None."
                ) from None
        return Parameters(**{**settings, "random_state": int(seed)})

    def _check_rows(self, X: Any, reset: bool) -> Any:
        """X as a DataFrame with its dtypes, or as a two-dimensional array; the encoder checks every cell."""
        array = X if isinstance(X, pd.DataFrame) else self._check_array(X)
        try:
            validate_data(self, X, reset=reset, skip_check_array=True)
        except TypeError:  # names of different types
            names = ", ".join(repr(name) for name in list(X.columns)[:5])
            raise ValueError(
                f"The columns' names are neither all texts nor all numbers ({names}); make them all texts."
            ) from None
        return array

    def _check_array(self, X: Any) -> Any:
        """X as a two-dimensional array or CSR matrix, as scikit-learn's `check_array` has it, said in one line."""
        if sparse.issparse(X):
            if self.representation != "boolean":
                raise ValueError(
                    'Sparse data go with representation="boolean" only; for other values give X.toarray().'
                )
            check_sparse(X)
        if isinstance(X, np.ma.MaskedArray) and X.mask.any():
            raise ValueError("X is a masked array, whose mask would be lost; fill the masked cells with NaN.")
        try:
            return check_array(
                X, accept_sparse="csr", dtype=None, ensure_all_finite=False, estimator=self, input_name="X"
            )
        except (TypeError, ValueError) as error:
            first, _, rest = str(error).partition("\n")
            advice = rest[rest.find("Reshape your data") :] if "Reshape your data" in rest else ""
            raise ValueError(f"{first.removesuffix(' instead:').rstrip('.')}. {advice}".strip()) from None
