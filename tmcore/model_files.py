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
    return _read(meta, arrays, TsetlinRegressor if "target_range" in meta else TsetlinClassifier)


def _read(meta: dict[str, Any], arrays: dict[str, np.ndarray], make: type[Model]) -> Model:
    parameters, encoder = files.parameters_from_dict(meta["parameters"]), read_encoder(meta["encoder"])
    settings = dataclasses.asdict(parameters)
    model = make(**{name: value for name, value in settings.items() if name in make._get_param_names()})
    model._own_from_dict(meta)
    model.encoder_ = encoder
    model.n_features_in_ = len(encoder.columns)
    if meta["feature_names"] is not None:
        model.feature_names_in_ = np.array(meta["feature_names"], dtype=object)
    state = MachineState(arrays["planes"], arrays["weights"], parameters.n_clauses, meta["step"])
    n_classes = len(getattr(model, "classes_", NO_CLASSES))
    model.machine_ = make_machine(parameters, n_classes, encoder.n_ranks, encoder.has_gaps, state)
    model.n_batches_ = meta["n_batches"]
    model.settled_, model.settle_reason_, model._dial_rows, model._path = None, None, None, None
    if meta["settled"] is not None:
        kept = {name: arrays[f"settled_{name}"] for name in _SETTLED_ARRAYS}
        bank = model.machine_.bank()
        if parameters.harvest:
            harvested = {name: arrays[f"bank_{name}"] for name in _BANK_ARRAYS}
            bank = ClauseBank(**harvested, step=bank.step)
        about = meta["settled"]
        model.settled_ = Settled(bank, **kept, refitted=about["refitted"], reason=about["reason"])
        model.settle_reason_ = model.settled_.reason
        model.rules_ = read_json(meta["settled"]["rules"])
    model._count_literals()
    return model
