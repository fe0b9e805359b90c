"""One table, many models: machines of each representation and usual models, trained and scored on the same split.

The other models read the same columns: numbers with the median for a missing value and a column that says so,
ordinal columns as their places, other categories one-hot.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tmcore.columns import role_of
from tmcore.judge import Progress, fit
from tmcore.measures import Answers, ClassMeasures, Measures, measures_for
from tmcore.model import TsetlinModel
from tmcore.parameters import Parameters
from tmcore.predicted import TaskName

MOST_CATEGORIES = 100
"""Categories of a column beyond the most frequent ones share one column."""

STRENGTHS = np.logspace(-3, 4, 15)
"""Penalties that ridge regression chooses from."""


@dataclass(frozen=True)
class Contender:
    """A way to learn, and how it is called.

    Attributes
    ----------
    name : str
    about : str
        What it is in a few words.
    is_machine : bool
    fit : callable
        Of training rows, targets (class indices for the usual models) and a stop event; None if stopped.
    """

    name: str
    about: str
    is_machine: bool
    fit: Callable[[pd.DataFrame, np.ndarray, threading.Event | None], Any]


@dataclass(frozen=True, eq=False)
class Measured:
    """How a contender does on the test rows of one split.

    Attributes
    ----------
    name, about, is_machine : see `Contender`
    scores : dict of measure to value
    intervals : dict of measure to (low, high)
    n_literals : int or None
        Included literals of the trained machine; tests on the paths of a tree.
    n_rules, n_rule_literals : int or None
        Settled rules and their literals; leaves of a tree.
    training_bytes, testing_bytes : int
        The rows as the model reads them and all it learns with; what is needed to predict.
    seconds : float
        Processor time of training.
    answers : Answers
        What it says of the test rows.
    """

    name: str
    about: str
    is_machine: bool
    scores: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    n_literals: int | None
    n_rules: int | None
    n_rule_literals: int | None
    training_bytes: int
    testing_bytes: int
    seconds: float
    answers: Answers


def machines(
    parameters: Parameters, positive_class: Any = None, task: TaskName = "classes"
) -> list[Contender]:
    """Intervals, thresholds, and intervals with real weights, everything else as in `parameters`."""
    weights = "refit" if parameters.weights in ("real", "integer") else parameters.weights
    after = "; weights refitted" if weights == "refit" else "; one vote each"
    listed = (
        ("Intervals", "Tsetlin machine whose bounds move (SSLs)" + after, "intervals", weights),
        ("Thresholds", "Tsetlin machine on fixed cuts (Booleanized)" + after, "thresholds", weights),
        ("Weighted intervals", "as intervals, with weights learned in training", "intervals", "real"),
    )

    def machine(name: str, about: str, settings: Parameters) -> Contender:
        return Contender(
            name, about, True, lambda X, y, stop: fit(X, y, settings, stop, positive_class, task)
        )

    return [
        machine(name, about, parameters.replace(representation=representation, weights=kind))
        for name, about, representation, kind in listed
    ]


def baselines(seed: int = 0, task: TaskName = "classes") -> list[Contender]:
    """The usual models; EBM and XGBoost where they are installed."""
    found = _number_baselines(seed) if task == "numbers" else _class_baselines(seed)
    if find_spec("interpret") is not None:
        from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

        kind = ExplainableBoostingRegressor if task == "numbers" else ExplainableBoostingClassifier
        found.append(_usual("EBM", "its defaults", kind(random_state=seed, n_jobs=1)))
    if find_spec("xgboost") is not None:
        from xgboost import XGBClassifier, XGBRegressor

        kind = XGBRegressor if task == "numbers" else XGBClassifier
        model = kind(max_depth=3, n_estimators=100, learning_rate=0.08, n_jobs=1, random_state=seed)
        found.append(_usual("XGBoost", "100 trees, 3 deep", model))
    return found


def _class_baselines(seed: int) -> list[Contender]:
    tree = DecisionTreeClassifier(max_depth=3, random_state=seed)
    forest = RandomForestClassifier(300, min_samples_leaf=3, random_state=seed, n_jobs=1)
    return [
        _usual("Commonest class", "always the same answer", DummyClassifier()),
        _usual("Shallow tree", "at most 3 tests deep", tree),
        _usual(
            "Logistic regression", "scaled columns, C = 1", LogisticRegression(max_iter=2000), scaled=True
        ),
        _usual("Random forest", "300 trees", forest),
    ]


def _number_baselines(seed: int) -> list[Contender]:
    tree = DecisionTreeRegressor(max_depth=3, random_state=seed)
    forest = RandomForestRegressor(300, min_samples_leaf=3, random_state=seed, n_jobs=1)
    return [
        _usual("Always the mean", "that of the training rows", DummyRegressor()),
        _usual("Shallow tree", "at most 3 tests deep", tree),
        _usual(
            "Ridge regression", "scaled columns, penalty cross-validated", RidgeCV(STRENGTHS), scaled=True
        ),
        _usual("Random forest", "300 trees", forest),
    ]


def _usual(name: str, about: str, model: Any, scaled: bool = False) -> Contender:
    def train(X: pd.DataFrame, y: np.ndarray, stop: threading.Event | None) -> Any:
        if stop is not None and stop.is_set():
            return None
        return usual_pipeline(X, model, scaled).fit(X, y)

    return Contender(name, about, False, train)


def usual_pipeline(X: pd.DataFrame, model: Any, scaled: bool = False) -> Pipeline:
    """`model` behind the imputation and one-hot columns that these columns need."""
    roles = {name: role_of(X[name], str(name)) for name in X.columns}
    places = [name for name, role in roles.items() if role in ("numeric", "ordinal")]
    named = [name for name, role in roles.items() if role in ("boolean", "nominal")]
    numeric = make_pipeline(
        SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True),
        *([StandardScaler()] if scaled else []),
    )
    one_hot = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES, sparse_output=False
    )
    columns = ColumnTransformer([("numbers", numeric, places), ("names", one_hot, named)], sparse_threshold=0)
    return make_pipeline(FunctionTransformer(as_numbers_and_texts), columns, model)


def as_numbers_and_texts(X: pd.DataFrame) -> pd.DataFrame:
    """Ordinal columns as their places, other categories as text, NaN where missing."""
    columns: dict[Any, Any] = {}
    for name in X.columns:
        role, values = role_of(X[name], str(name)), X[name]
        if role == "ordinal":
            codes = values.cat.codes.to_numpy(dtype=float)
            columns[name] = np.where(codes < 0, np.nan, codes)
        elif role == "numeric":
            columns[name] = values.to_numpy(dtype=float, na_value=np.nan)
        else:
            texts = values.astype(object)
            columns[name] = texts.where(texts.isna(), texts.map(str, na_action="ignore")).where(
                texts.notna(), np.nan
            )
    return pd.DataFrame(columns, index=X.index)


def compare_models(
    train: tuple[pd.DataFrame, pd.Series],
    test: tuple[pd.DataFrame, pd.Series],
    contenders: list[Contender],
    *,
    task: TaskName = "classes",
    positive_class: Any = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> list[Measured]:
    """Train every contender on the same rows, one after another, and score it on the same others.

    Parameters
    ----------
    train, test : (X, y)
        `test` holds at least one row.
    task : "classes" or "numbers"
        What y holds; `machines` and `baselines` are told it too.
    positive_class : label, optional
        As in `TsetlinClassifier`; F1 is of this class. `machines` is told it too.
    progress : callable, optional
        Called with the contenders done and planned.
    stop : threading.Event, optional
        When set, those measured so far count.
    """
    measures = measures_for(task, train[1], positive_class)
    found: list[Measured] = []
    for k, contender in enumerate(contenders):
        if progress is not None:
            progress(k, len(contenders))
        own = np.asarray(train[1]) if contender.is_machine else measures.targets(train[1])
        if contender.is_machine:
            contender.fit(*_few_rows(measures), stop)  # so that loading or compiling kernels is not counted
        began = time.thread_time()
        model = contender.fit(train[0], own, stop)
        if model is None:
            break
        seconds = time.thread_time() - began
        answers = measures.answers(model, *test, by_index=not contender.is_machine)
        found.append(
            Measured(
                contender.name,
                contender.about,
                contender.is_machine,
                measures.scores(answers),
                measures.intervals(answers),
                *_sizes(model),
                *_memory(model, train[0]),
                seconds,
                answers,
            )
        )
    return found


def _few_rows(measures: Measures) -> tuple[pd.DataFrame, np.ndarray]:
    classes = measures.classes if isinstance(measures, ClassMeasures) else np.arange(5.0)
    places = np.arange(20 * len(classes))
    return pd.DataFrame({"a": places * 1.0, "b": places % 3.0}), classes[places % len(classes)]


def _sizes(model: Any) -> tuple[int | None, int | None, int | None]:
    """Literals while voting, rules, and literals of the rules."""
    if isinstance(model, TsetlinModel):
        return model.n_literals_, len(model.rules_), model.rules_.n_literals
    last = model[-1]
    if isinstance(last, DecisionTreeClassifier | DecisionTreeRegressor):
        tests = path_lengths(last)
        return sum(tests), len(tests), sum(tests)
    return None, None, None


def path_lengths(tree: DecisionTreeClassifier | DecisionTreeRegressor) -> list[int]:
    """Tests on the way to each leaf."""
    left, right = tree.tree_.children_left, tree.tree_.children_right
    waiting, lengths = [(0, 0)], []
    while waiting:
        node, depth = waiting.pop()
        if left[node] < 0:
            lengths.append(depth)
        else:
            waiting += [(left[node], depth + 1), (right[node], depth + 1)]
    return lengths


def _memory(model: Any, X: pd.DataFrame) -> tuple[int, int]:
    """Bytes held for training and for predicting."""
    if isinstance(model, TsetlinModel):
        machine = model.machine_
        cuts = [feature.cuts for feature in model.encoder_.features]
        needed = array_bytes([machine.state, model.settled_, [np.array(one) for one in cuts]])
        codes = model.encoder_.transform(X)
        return needed + codes.nbytes + array_bytes([machine.counts, machine.lengths]), needed
    needed, read = array_bytes(model), model[:-1].transform(X)
    return needed + array_bytes(read), needed


def array_bytes(thing: Any) -> int:
    """Bytes of all arrays that an object holds, each once; the objects around them do not count."""
    seen: dict[int, Any] = {}  # kept alive, so that no address is used twice
    waiting, total = [thing], 0
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type | ModuleType | FunctionType):
            continue
        seen[id(one)] = one
        if isinstance(one, np.ndarray):
            total += one.nbytes
        elif isinstance(one, pd.DataFrame | pd.Series | pd.Index):
            total += int(np.sum(one.memory_usage(deep=True)))
        elif hasattr(one, "save_raw"):  # an XGBoost model
            total += len(one.save_raw())
        else:
            waiting += _parts(one)
    return total


def _parts(one: Any) -> list[Any]:
    if isinstance(one, Mapping):
        return [*one.keys(), *one.values()]
    if isinstance(one, list | tuple | set | frozenset):
        return list(one)
    parts = [getattr(one, "__dict__", None)]
    if type(one).__module__ == "sklearn.tree._tree" and hasattr(one, "children_left"):
        parts.append(one.__getstate__())  # a compiled tree's arrays
    return [part for part in parts if part]
