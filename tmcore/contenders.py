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
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from tmcore.columns import role_of
from tmcore.estimators import TsetlinClassifier
from tmcore.judge import Progress, fit, score_intervals, scores, shares_of
from tmcore.labels import class_indices, class_order
from tmcore.parameters import Parameters

MOST_CATEGORIES = 100
"""Categories of a column beyond the most frequent ones share one column."""


@dataclass(frozen=True)
class Contender:
    """A way to learn, and how it is called.

    Attributes
    ----------
    name : str
    about : str
        What it is in the papers' words, or its settings.
    is_machine : bool
    fit : callable
        Of training rows, labels (class indices for the usual models) and a stop event; None if stopped.
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
    labels, predicted : ndarray of int
        Class indices of the test rows.
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
    labels: np.ndarray
    predicted: np.ndarray


def machines(parameters: Parameters, positive_class: Any = None) -> list[Contender]:
    """Intervals, thresholds, and intervals with real weights, everything else as in `parameters`."""
    weights = "refit" if parameters.weights in ("real", "integer") else parameters.weights
    after = "; weights refitted" if weights == "refit" else "; one vote each"
    return [
        _machine(
            "Intervals",
            "TM (SSLs)" + after,
            parameters.replace(representation="intervals", weights=weights),
            positive_class,
        ),
        _machine(
            "Thresholds",
            "TM (Booleanized)" + after,
            parameters.replace(representation="thresholds", weights=weights),
            positive_class,
        ),
        _machine(
            "Weighted intervals",
            "real-valued weighted TM (SSLs)",
            parameters.replace(representation="intervals", weights="real"),
            positive_class,
        ),
    ]


def _machine(name: str, about: str, parameters: Parameters, positive_class: Any) -> Contender:
    return Contender(name, about, True, lambda X, y, stop: fit(X, y, parameters, stop, positive_class))


def baselines(seed: int = 0) -> list[Contender]:
    """The usual models; EBM and XGBoost where they are installed."""
    found = [
        _usual("Commonest class", "always the same answer", DummyClassifier()),
        _usual(
            "Shallow tree", "at most 3 tests deep", DecisionTreeClassifier(max_depth=3, random_state=seed)
        ),
        _usual(
            "Logistic regression", "scaled columns, C = 1", LogisticRegression(max_iter=2000), scaled=True
        ),
        _usual(
            "Random forest",
            "300 trees",
            RandomForestClassifier(300, min_samples_leaf=3, random_state=seed, n_jobs=1),
        ),
    ]
    if find_spec("interpret") is not None:
        from interpret.glassbox import ExplainableBoostingClassifier

        found.append(
            _usual("EBM", "its defaults", ExplainableBoostingClassifier(random_state=seed, n_jobs=1))
        )
    if find_spec("xgboost") is not None:
        from xgboost import XGBClassifier

        model = XGBClassifier(max_depth=3, n_estimators=100, learning_rate=0.08, n_jobs=1, random_state=seed)
        found.append(_usual("XGBoost", "100 trees, 3 deep", model))
    return found


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
    positive_class: Any = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> list[Measured]:
    """Train every contender on the same rows, one after another, and score it on the same others.

    Parameters
    ----------
    train, test : (X, y)
        `test` holds at least one row.
    positive_class : label, optional
        As in `TsetlinClassifier`; F1 is of this class. `machines` is told it too.
    progress : callable, optional
        Called with the contenders done and planned.
    stop : threading.Event, optional
        When set, those measured so far count.
    """
    classes = class_order(np.unique(np.asarray(train[1])), positive_class)
    labels = class_indices(test[1], classes)
    found: list[Measured] = []
    for k, contender in enumerate(contenders):
        if progress is not None:
            progress(k, len(contenders))
        own = np.asarray(train[1]) if contender.is_machine else class_indices(train[1], classes)
        if contender.is_machine:
            contender.fit(*_few_rows(classes), stop)  # so that loading or compiling kernels is not counted
        began = time.thread_time()
        model = contender.fit(train[0], own, stop)
        if model is None:
            break
        seconds = time.thread_time() - began
        names = classes if contender.is_machine else np.arange(len(classes))
        predicted = class_indices(model.predict(test[0]), names)
        shares = shares_of(model, test[0], names)
        found.append(
            Measured(
                contender.name,
                contender.about,
                contender.is_machine,
                scores(labels, predicted, shares),
                score_intervals(labels, predicted, shares),
                *_sizes(model),
                *_memory(model, train[0]),
                seconds,
                labels,
                predicted,
            )
        )
    return found


def _few_rows(classes: np.ndarray) -> tuple[pd.DataFrame, np.ndarray]:
    places = np.arange(20 * len(classes))
    return pd.DataFrame({"a": places * 1.0, "b": places % 3.0}), classes[places % len(classes)]


def _sizes(model: Any) -> tuple[int | None, int | None, int | None]:
    """Literals while voting, rules, and literals of the rules."""
    if isinstance(model, TsetlinClassifier):
        return model.n_literals_, len(model.rules_), model.rules_.n_literals
    last = model[-1]
    if isinstance(last, DecisionTreeClassifier):
        tests = path_lengths(last)
        return sum(tests), len(tests), sum(tests)
    return None, None, None


def path_lengths(tree: DecisionTreeClassifier) -> list[int]:
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
    if isinstance(model, TsetlinClassifier):
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
