"""Work that goes on while pages come and go: one thread a task, with progress, a stop and a result. No Streamlit here.

A task whose holder is gone, because the visitor left, stops by itself.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from joblib import cpu_count

from dashboard.warmup import wait_for_kernels, warm_up
from tmcore.judge import Progress

MOST_WORKING = 2
THREADS = max(1, min(4, cpu_count() - 1))
"""What a task may use at once; one processor is left to the page and to a run being watched."""

_places = threading.BoundedSemaphore(MOST_WORKING)

Work = Callable[[Progress, threading.Event], Any]


@dataclass
class _Inside:
    """What the thread holds; it does not hold the task, so that the task can be let go."""

    halt: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    working: bool = False
    progress: tuple[int, int] = (0, 0)
    result: Any = None
    error: str | None = None
    began: float = 0.0

    def report(self, done: int, planned: int) -> None:
        self.progress = (done, planned)


class Task:
    """Some work in a thread of its own, from the moment it is made.

    Parameters
    ----------
    name : str
        What it does, to be shown: "Training 20 machines".
    work : callable
        Of a function to report (done, planned) to, and an event that asks it to stop. What it returns is the result.
    """

    def __init__(self, name: str, work: Work) -> None:
        self.name = name
        self._inside = inside = _Inside()
        weakref.finalize(self, inside.halt.set)
        warm_up()
        threading.Thread(target=_run, args=(inside, work), name="task", daemon=True).start()

    @property
    def busy(self) -> bool:
        """Whether a result or an error is still to come."""
        return not self._inside.ended.is_set()

    @property
    def waiting(self) -> bool:
        """Whether it waits for others to end."""
        return self.busy and not self._inside.working

    @property
    def progress(self) -> tuple[int, int]:
        """Parts done and planned."""
        return self._inside.progress

    @property
    def seconds_left(self) -> float | None:
        """What is left at the present pace, None where nothing is known."""
        (done, planned), began = self.progress, self._inside.began
        return (time.monotonic() - began) / done * (planned - done) if done and self.busy else None

    @property
    def stopped(self) -> bool:
        """Whether it was asked to stop."""
        return self._inside.halt.is_set()

    @property
    def result(self) -> Any:
        """What the work returned, None before."""
        return self._inside.result

    @property
    def error(self) -> str | None:
        """One sentence where the work failed."""
        return self._inside.error

    def stop(self) -> None:
        """Ask it to stop; what was done so far may be its result."""
        self._inside.halt.set()

    def wait(self, seconds: float) -> bool:
        """Wait for the end; whether it has come."""
        return self._inside.ended.wait(seconds)


def _run(inside: _Inside, work: Work) -> None:
    try:
        while not _places.acquire(timeout=0.1):
            if inside.halt.is_set():
                return
        try:
            while not wait_for_kernels(0.1) and not inside.halt.is_set():
                pass
            inside.working, inside.began = True, time.monotonic()
            inside.result = work(inside.report, inside.halt)
        finally:
            _places.release()
    except Exception as error:
        inside.error = str(error).strip() or f"{type(error).__name__} while working."
    finally:
        inside.ended.set()
