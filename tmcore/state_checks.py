"""Whether a machine's state from a file is one that its compiled code, which checks nothing, can go on from."""

from __future__ import annotations

import numpy as np

from tmcore.files import check_array
from tmcore.machine.interval_machine import IntervalMachine
from tmcore.machine.interval_moves import LOWER_STATE, PIECE
from tmcore.machine.machine import Machine
from tmcore.machine.state import MachineState


def check_state(found: MachineState, machine: Machine) -> None:
    """Compare a state with a machine made anew.

    Raises
    ------
    ValueError
        It is laid out in another way, or holds a bound that is no rank of its feature.
    """
    for name in ("planes", "weights"):
        fresh = getattr(machine.state, name)
        check_array(name, getattr(found, name), fresh.shape, fresh.dtype)
    if isinstance(machine, IntervalMachine):
        last = np.zeros(machine.n_padded, np.int64)
        last[: len(machine.n_ranks)] = machine.n_ranks - 1
        pieces = found.planes.reshape(-1, machine.n_padded // PIECE, 4, PIECE)
        if (pieces[:, :, :LOWER_STATE] > last.reshape(-1, 1, PIECE)).any():
            raise ValueError("planes hold a bound beyond the ranks of its column")
