"""The thresholds machine of the same data and settings, trained beside a run for the comparison of literal counts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from dashboard.jobs import Job
from dashboard.live.estimate import duration, size

if TYPE_CHECKING:
    from dashboard.history import Moment


class Rival:
    """A second job with one literal for every threshold, playing at full speed from the start.

    Parameters
    ----------
    job : Job
        Whose data, settings and length it takes over.
    """

    def __init__(self, job: Job) -> None:
        self._of = job.run
        parameters = job.parameters.replace(representation="thresholds")
        self.job = Job(
            job.X_train,
            job.y_train,
            job.X_test,
            job.y_test,
            parameters,
            job.name,
            positive_class=job.positive_class,
            task=job.task,
        )
        self.job.set_speed("max")
        self.job.play()
        self._began = time.monotonic()
        self._seconds: float | None = None

    def fits(self, job: Job) -> bool:
        """Whether it still belongs to the job's run."""
        return self._of is job.run

    def told(self) -> dict[str, Any]:
        """The curve, and what it costs in words."""
        self.job.renew()
        history: tuple[Moment, ...] = self.job.history()
        ended = self.job.state in ("finished", "failed")
        if ended and self._seconds is None:
            self._seconds = time.monotonic() - self._began
        return {
            "step": [m.step for m in history],
            "literals": [m.n_literals for m in history],
            "busy": not ended,
            "words": self._words(ended),
        }

    def _words(self, ended: bool) -> str:
        run = self.job.run
        if self.job.error:
            return f"The thresholds machine could not train. {self.job.error}"
        if run is None:
            return "Preparing the thresholds machine with the same settings."
        memory = size(run.machine.state.planes.nbytes + run.data.nbytes)
        if self.job.waiting:
            return "The thresholds machine waits for another run to pause."
        if not ended:
            return f"The thresholds machine learns in the background: epoch {run.epoch:.1f}, {memory}."
        return f"The thresholds machine took {duration(self._seconds or 0.0)} and {memory}."

    def close(self) -> None:
        """End its thread."""
        self.job.close()
