"""Which encoder belongs to which representation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tmcore.boolean import BooleanEncoder
from tmcore.encode import Encoder
from tmcore.parameters import Parameters

AnyEncoder = Encoder | BooleanEncoder


def make_encoder(parameters: Parameters) -> AnyEncoder:
    """The encoder that a run with these settings fits."""
    if parameters.representation == "boolean":
        return BooleanEncoder()
    return Encoder(parameters.max_levels, shorten_cuts=parameters.bound_rule != "paper")


def read_encoder(data: Mapping[str, Any]) -> AnyEncoder:
    """An encoder back from its `to_dict`."""
    return BooleanEncoder.from_dict(data) if "boolean" in data else Encoder.from_dict(data)
