"""A fitted classifier or regressor in one file: arrays and text, nothing executable."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tmcore import files
from tmcore.encoders import read_encoder
from tmcore.export import read_json
from tmcore.machine import make_machine
from tmcore.machine.state import ClauseBank, MachineState
from tmcore.settling import NO_CLASSES, Settled
from tmcore.state_checks import check_state

if TYPE_CHECKING:
    from tmcore.estimators import TsetlinClassifier
    from tmcore.model import TsetlinModel
    from tmcore.regressor import TsetlinRegressor

Model = TypeVar("Model", bound="TsetlinModel")

_SETTLED_ARRAYS = ("machines", "clauses", "weights", "intercept")
_BANK_ARRAYS = ("lower", "upper", "lower_included", "upper_included", "literals", "weights", "polarity")


def save(model: TsetlinModel, path: str | Path) -> None:
    """Write a fitted model; see `TsetlinModel.save`."""
    state, settled, parameters = model.machine_.state, model.settled_, model.machine_.parameters
    arrays = {"planes": state.planes, "weights": state.weights}
    names = getattr(model, "feature_names_in_", None)
    meta: dict[str, Any] = {
        "parameters": files.parameters_to_dict(parameters),
        "encoder": model.encoder_.to_dict(),
        "feature_names": None if names is None else [str(name) for name in names],
        "step": state.step,
        "n_batches": model.n_batches_,
        "settled": None,
        **model._own_to_dict(),
    }
    if settled is not None:
        arrays |= {f"settled_{name}": getattr(settled, name) for name in _SETTLED_ARRAYS}
        rules = model.rules_.export("json").decode()
        meta["settled"] = {"refitted": settled.refitted, "reason": settled.reason, "rules": rules}
        if parameters.harvest:
            arrays |= {f"bank_{name}": getattr(settled.bank, name) for name in _BANK_ARRAYS}
    files.write(path, "model", meta, arrays)


def load(path: str | Path) -> TsetlinClassifier | TsetlinRegressor:
    """Read a model back, a classifier or a regressor, whichever the file holds.

    Raises
    ------
    ValueError
        The file is something else, damaged, or of another version.
    """
    from tmcore.estimators import TsetlinClassifier  # both are built on this module
    from tmcore.regressor import TsetlinRegressor

    meta, arrays = files.read(path, "model")
    with files.fitting(path):
        return _read(meta, arrays, TsetlinRegressor if "target_range" in meta else TsetlinClassifier)


def _read(meta: dict[str, Any], arrays: dict[str, np.ndarray], make: type[Model]) -> Model:
    parameters, encoder = files.parameters_from_dict(meta["parameters"]), read_encoder(meta["encoder"])
    settings = dataclasses.asdict(parameters)
    model = make(**{name: value for name, value in settings.items() if name in make._get_param_names()})
    model._own_from_dict(meta)
    model.encoder_ = encoder
    model.n_features_in_ = len(encoder.columns)
    if meta["feature_names"] is not None:
        model.feature_names_in_ = _read_names(meta["feature_names"], len(encoder.columns))
    state = MachineState(arrays["planes"], arrays["weights"], parameters.n_clauses, _count(meta["step"]))
    about = parameters, len(getattr(model, "rule_classes_", NO_CLASSES)), encoder.n_ranks, encoder.has_gaps
    check_state(state, make_machine(*about))
    model.machine_ = make_machine(*about, state)
    model.n_batches_ = _count(meta["n_batches"])
    model.settled_, model.settle_reason_, model._dial_rows, model._path = None, None, None, None
    if meta["settled"] is not None:
        kept = {name: arrays[f"settled_{name}"] for name in _SETTLED_ARRAYS}
        bank = model.machine_.bank()
        if parameters.harvest:
            harvested = {name: arrays[f"bank_{name}"] for name in _BANK_ARRAYS}
            bank = _check_bank(ClauseBank(**harvested, step=bank.step), len(encoder.n_ranks))
        told = meta["settled"]
        model.settled_ = Settled(bank, **kept, refitted=bool(told["refitted"]), reason=told["reason"])
        _check_settled(model.settled_, model.machine_.n_classes)
        model.settle_reason_ = model.settled_.reason
        model.rules_ = read_json(told["rules"])
    model._count_literals()
    return model


def _check_bank(bank: ClauseBank, n_features: int) -> ClauseBank:
    """Clauses pooled from several moments."""
    shape = (1, len(bank.polarity), n_features)
    for name in ("lower", "upper"):
        files.check_array(name, getattr(bank, name), shape, np.uint8, np.uint16)
        files.check_array(f"{name}_included", getattr(bank, f"{name}_included"), shape, bool)
    for name in ("literals", "weights"):
        files.check_array(name, getattr(bank, name), shape[:2], np.int32, np.int64)
    return bank


def _check_settled(settled: Settled, n_classes: int) -> None:
    n_kept, n_outputs = len(settled.clauses), n_classes if n_classes > 2 else 1
    shapes = {
        "weights": (n_kept, n_outputs),
        "intercept": (n_outputs,),
        "clauses": (n_kept,),
        "machines": (n_kept,),
    }
    for name, shape in shapes.items():
        files.check_array(f"settled_{name}", getattr(settled, name), shape, np.int64)
    for name, size in zip(("machines", "clauses"), settled.bank.literals.shape, strict=True):
        places = getattr(settled, name)
        if n_kept and not (places.min() >= 0 and places.max() < size):
            raise ValueError(f"settled_{name} names some that are not there")


def _read_names(names: list[str], n_columns: int) -> np.ndarray:
    if not all(isinstance(name, str) for name in names) or len(names) != n_columns:
        raise ValueError("the columns' names are not one text for each column")
    return np.array(names, dtype=object)


def _count(number: int) -> int:
    if not isinstance(number, int) or number < 0:
        raise ValueError(f"{number!r} is not a whole number from 0 on")
    return number
