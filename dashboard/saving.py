"""Saving one job's run in the store, from the job's own thread."""

from __future__ import annotations

import sqlite3
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from dashboard.kept_table import TrainedTable
from dashboard.store import Store
from tmcore.training import TrainingRun

if TYPE_CHECKING:
    from dashboard.jobs import Job

SECONDS_BETWEEN_SAVES = 3.0
SAVING_SHARE = 20.0
"""Saving waits this many times as long as it takes, where that is longer."""

ROWS_SECONDS = 0.1
"""How long a save waits for the rows of a new run; small ones are written by then, for large ones it comes again."""

SECONDS_BETWEEN_TRIES = 1.0

_writers = ThreadPoolExecutor(2, thread_name_prefix="rows")


class Keeper:
    """Keeps one job's run in the store.

    Parameters
    ----------
    store : Store
    owner : str
    trained : TrainedTable, optional
        The table that the job trains on, kept with the run.
    kept : (str, TrainingRun), optional
        The id and the run that the job goes on with, where it is kept already.

    Attributes
    ----------
    run_id : str or None
        None until the run has learned something and was saved.
    problem : str
        One sentence where keeping failed, else empty; training goes on without.
    """

    def __init__(
        self,
        store: Store,
        owner: str,
        trained: TrainedTable | None = None,
        kept: tuple[str, TrainingRun] | None = None,
    ) -> None:
        self._store, self._owner, self._trained = store, owner, trained
        self.run_id: str | None = kept[0] if kept else None
        self._run: TrainingRun | None = kept[1] if kept else None
        self._rows: Future[str] | None = None
        self.problem = ""
        self._saved: tuple[object, ...] = ()
        self._next = 0.0

    def save_if_due(self, job: Job) -> None:
        """Save, unless that was done a moment ago."""
        if time.monotonic() >= self._next:
            self.save(job)

    def save(self, job: Job, last: bool = False) -> None:
        """Save what the job's run has learned, where that is not saved already; a run started over takes its place.

        Where the rows of a new run take long to write nothing is saved yet, unless this is the ``last`` save.
        """
        run = job.run
        if run is None or not run.step or self.problem:
            return
        state = (id(run), run.step, job.parameters, job.end_step, id(job.outcome))
        if state == self._saved:
            return
        began = time.monotonic()
        try:
            if not self._write(run, job, None if last else ROWS_SECONDS):
                self._next = began + SECONDS_BETWEEN_TRIES
                return
        except (OSError, ValueError, sqlite3.Error) as error:
            hint = "" if isinstance(error, ValueError) else " Free some space or choose --data-dir."
            self.problem = f"This run is not kept on this machine: {str(error).rstrip('.')}.{hint}"
        self._saved, ended = state, time.monotonic()
        self._next = ended + max(SECONDS_BETWEEN_SAVES, SAVING_SHARE * (ended - began))

    def _write(self, run: TrainingRun, job: Job, seconds: float | None) -> bool:
        """Write, and whether that is done."""
        settled = None if job.outcome is None else job.outcome.after
        if self._run is not run:
            if self.run_id is not None:
                self._store.delete(self._owner, self.run_id)
            elif self._rows is not None:
                self._rows.add_done_callback(self._discard)
            self.run_id, self._run = None, run
            self._rows = _writers.submit(self._store.write_rows, run, self._trained)
        if self._rows is not None:
            wait([self._rows], seconds)
            if not self._rows.done():
                return False
            self.run_id, self._rows = self._rows.result(), None
            target = str(job.y_train.name) if job.task == "numbers" and job.y_train.name is not None else None
            self._store.enter(
                self.run_id, self._owner, job.name, job.parameters, job.end_step, run, target, settled
            )
            return True
        assert self.run_id is not None
        if not self._store.update(self.run_id, job.parameters, job.end_step, run, settled):
            self.problem = "This run was deleted from the list of kept runs, so it is not kept any more."
        return True

    def _discard(self, rows: Future[str]) -> None:
        """The rows of a run that was started over before they were written."""
        if rows.exception() is None:
            self._store.discard(rows.result())
