"""Compiling the kernels once per process, in the background."""

from __future__ import annotations

import threading

import numpy as np
import pandas as pd

from tmcore.parameters import Parameters
from tmcore.training import TrainingRun

_lock = threading.Lock()
_started = False
_done = threading.Event()


def warm_up() -> None:
    """Start compiling the kernels in a thread; safe to call again."""
    global _started
    with _lock:
        if not _started:
            _started = True
            threading.Thread(target=_compile, name="warm-up", daemon=True).start()


def kernels_ready() -> bool:
    """Whether compiling has ended."""
    return _done.is_set()


def wait_for_kernels(seconds: float) -> bool:
    """Wait for the end of compiling; whether it has come."""
    return _done.wait(seconds)


def _compile() -> None:
    try:
        X = pd.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0) % 3})
        y = np.arange(40) % 2
        run = TrainingRun(X, y, Parameters(n_clauses=4), validation=(X, y))
        run.advance(samples=40)
    finally:
        # A kernel that does not compile fails the first job, which can say so; nothing here can.
        _done.set()
    run.settle()
