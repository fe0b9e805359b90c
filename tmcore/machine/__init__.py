"""The Tsetlin machine itself: random draws, arrays, compiled kernels, and the plain-Python twin they must equal."""

from __future__ import annotations

import numpy as np

from tmcore.machine.interval_machine import IntervalMachine
from tmcore.machine.literal_machine import LiteralMachine
from tmcore.machine.machine import Machine
from tmcore.machine.state import MachineState
from tmcore.parameters import Parameters

MACHINES: dict[str, type[Machine]] = {
    "intervals": IntervalMachine,
    "thresholds": LiteralMachine,
    "boolean": LiteralMachine,
}
"""The machine of each representation."""


def make_machine(
    parameters: Parameters,
    n_classes: int,
    n_ranks: np.ndarray,
    has_gaps: np.ndarray,
    state: MachineState | None = None,
) -> Machine:
    """The machine of the settings' representation; the arguments are `Machine`'s."""
    return MACHINES[parameters.representation](parameters, n_classes, n_ranks, has_gaps, state)


__all__ = ["MACHINES", "IntervalMachine", "LiteralMachine", "Machine", "make_machine"]
