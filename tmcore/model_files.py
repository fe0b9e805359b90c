"""A fitted classifier or regressor in one file: arrays and text, nothing executable."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tmcore import files
from tmcore.encoders import read_encoder
from tmcore.export import read_json
from tmcore.labels import chosen_positive
from tmcore.machine import make_machine
from tmcore.machine.state import MachineState
from tmcore.settling import Settled
from tmcore.target_range import TargetRange

if TYPE_CHECKING:
    from tmcore.estimators import TsetlinClassifier
    from tmcore.regressor import TsetlinRegressor

_SETTLED_ARRAYS = ("machines", "clauses", "weights", "intercept")


def save(model: TsetlinClassifier, path: str | Path) -> None:
    """Write a fitted classifier; see `TsetlinClassifier.save`."""
    _write(model, path, {"classes": files.labels_to_list(model.classes_)})


def save_regressor(model: TsetlinRegressor, path: str | Path) -> None:
    """Write a fitted regressor; see `TsetlinRegressor.save`."""
    ends = model.target_range_
    unit = None if model.settled_ is None else model.unit_
    _write(model, path, {"target_range": [ends.lowest, ends.highest], "unit": unit})


def _write(model: TsetlinClassifier | TsetlinRegressor, path: str | Path, own: dict[str, Any]) -> None:
    state, settled = model.machine_.state, model.settled_
    arrays = {"planes": state.planes, "weights": state.weights}
    names = getattr(model, "feature_names_in_", None)
    meta: dict[str, Any] = {
        "parameters": files.parameters_to_dict(model.machine_.parameters),
        "encoder": model.encoder_.to_dict(),
        "feature_names": None if names is None else [str(name) for name in names],
        "step": state.step,
        "n_batches": model.n_batches_,
        "settled": None,
        **own,
    }
    if settled is not None:
        arrays |= {f"settled_{name}": getattr(settled, name) for name in _SETTLED_ARRAYS}
        rules = model.rules_.export("json").decode()
        meta["settled"] = {"refitted": settled.refitted, "reason": settled.reason, "rules": rules}
    files.write(path, "model", meta, arrays)


def load_any(path: str | Path) -> TsetlinClassifier | TsetlinRegressor:
    """Read a model back, a classifier or a regressor, whichever the file holds.

    Raises
    ------
    ValueError
        The file is something else, damaged, or of a newer version.
    """
    from tmcore.estimators import TsetlinClassifier  # both are built on this module
    from tmcore.regressor import TsetlinRegressor

    meta, arrays = files.read(path, "model")
    if "target_range" in meta:
        return _read_regressor(meta, arrays, TsetlinRegressor)
    return _read_classifier(meta, arrays, TsetlinClassifier)


def load(path: str | Path, make: type[TsetlinClassifier]) -> TsetlinClassifier:
    """Read a classifier back; see `tmcore.estimators.load`.

    Raises
    ------
    ValueError
        As `load_any`, or the file holds a regressor.
    """
    meta, arrays = files.read(path, "model")
    if "target_range" in meta:
        raise ValueError(f"{path} holds a model that predicts numbers, but a classifier is needed here.")
    return _read_classifier(meta, arrays, make)


def _read_classifier(
    meta: dict[str, Any], arrays: dict[str, np.ndarray], make: type[TsetlinClassifier]
) -> TsetlinClassifier:
    model = make(**dataclasses.asdict(files.parameters_from_dict(meta["parameters"])))
    model.classes_ = files.labels_from_list(meta["classes"])
    model.positive_class = chosen_positive(model.classes_)
    model._dial_rows, model._path = None, None
    _fill(model, meta, arrays, len(model.classes_))
    return model


def _read_regressor(
    meta: dict[str, Any], arrays: dict[str, np.ndarray], make: type[TsetlinRegressor]
) -> TsetlinRegressor:
    settings = dataclasses.asdict(files.parameters_from_dict(meta["parameters"]))
    del settings["class_weight"]
    model = make(**settings)
    model.target_range_ = TargetRange(*meta["target_range"])
    _fill(model, meta, arrays, 0)
    if model.settled_ is not None:
        model.unit_ = meta["unit"]
        model._compiled = model._compile(model.settled_)
    return model


def _fill(
    model: TsetlinClassifier | TsetlinRegressor,
    meta: dict[str, Any],
    arrays: dict[str, np.ndarray],
    n_classes: int,
) -> None:
    """Give a new model what both kinds of files hold."""
    parameters, encoder = files.parameters_from_dict(meta["parameters"]), read_encoder(meta["encoder"])
    model.encoder_ = encoder
    model.n_features_in_ = len(encoder.columns)
    if meta["feature_names"] is not None:
        model.feature_names_in_ = np.array(meta["feature_names"], dtype=object)
    state = MachineState(arrays["planes"], arrays["weights"], parameters.n_clauses, meta["step"])
    model.machine_ = make_machine(parameters, n_classes, encoder.n_ranks, encoder.has_gaps, state)
    model.n_batches_ = meta["n_batches"]
    model.settled_, model.settle_reason_ = None, None
    if meta["settled"] is not None:
        kept = {name: arrays[f"settled_{name}"] for name in _SETTLED_ARRAYS}
        model.settled_ = Settled(
            **kept, refitted=meta["settled"]["refitted"], reason=meta["settled"]["reason"]
        )
        model.settle_reason_ = model.settled_.reason
        model.rules_ = read_json(meta["settled"]["rules"])
    model._count_literals()
