"""A fitted classifier in one file: arrays and text, nothing executable."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tmcore import files
from tmcore.encoders import read_encoder
from tmcore.export import read_json
from tmcore.machine import make_machine
from tmcore.machine.state import MachineState
from tmcore.settling import Settled

if TYPE_CHECKING:
    from tmcore.estimators import TsetlinClassifier

_SETTLED_ARRAYS = ("machines", "clauses", "weights", "intercept")


def save(model: TsetlinClassifier, path: str | Path) -> None:
    """Write a fitted classifier; see `TsetlinClassifier.save`."""
    state, settled = model.machine_.state, model.settled_
    arrays = {"planes": state.planes, "weights": state.weights}
    names = getattr(model, "feature_names_in_", None)
    meta: dict[str, Any] = {
        "parameters": files.parameters_to_dict(model.machine_.parameters),
        "encoder": model.encoder_.to_dict(),
        "classes": files.labels_to_list(model.classes_),
        "feature_names": None if names is None else [str(name) for name in names],
        "step": state.step,
        "n_batches": model.n_batches_,
        "settled": None,
    }
    if settled is not None:
        arrays |= {f"settled_{name}": getattr(settled, name) for name in _SETTLED_ARRAYS}
        rules = model.rules_.export("json").decode()
        meta["settled"] = {"refitted": settled.refitted, "reason": settled.reason, "rules": rules}
    files.write(path, "model", meta, arrays)


def load(path: str | Path, make: type[TsetlinClassifier]) -> TsetlinClassifier:
    """Read a classifier back; see `tmcore.load`."""
    meta, arrays = files.read(path, "model")
    parameters = files.parameters_from_dict(meta["parameters"])
    model = make(**dataclasses.asdict(parameters))
    encoder = read_encoder(meta["encoder"])
    model.encoder_, model.classes_ = encoder, files.labels_from_list(meta["classes"])
    model.n_features_in_ = len(encoder.columns)
    if meta["feature_names"] is not None:
        model.feature_names_in_ = np.array(meta["feature_names"], dtype=object)
    state = MachineState(arrays["planes"], arrays["weights"], parameters.n_clauses, meta["step"])
    model.machine_ = make_machine(parameters, len(model.classes_), encoder.n_ranks, encoder.has_gaps, state)
    model.n_batches_ = meta["n_batches"]
    model.settled_, model.settle_reason_ = None, None
    model._dial_rows, model._path = None, None
    if meta["settled"] is not None:
        kept = {name: arrays[f"settled_{name}"] for name in _SETTLED_ARRAYS}
        model.settled_ = Settled(
            **kept, refitted=meta["settled"]["refitted"], reason=meta["settled"]["reason"]
        )
        model.settle_reason_ = model.settled_.reason
        model.rules_ = read_json(meta["settled"]["rules"])
    model._count_literals()
    return model
