"""The thread that works for a job, and does not keep it alive."""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dashboard.jobs import Job


def work(reference: weakref.ref[Job], bell: threading.Condition) -> None:
    """The thread's work. It holds the job only while working, so that a job nobody else holds can go."""
    while (job := reference()) is not None:
        seconds = job._turn()
        if seconds is None:
            return
        with bell:
            quiet = not job._wishes.any()
            del job
            if seconds and quiet:
                bell.wait(seconds)
