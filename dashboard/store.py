"""Runs kept on this machine: a SQLite list of them and a folder of array files for each.

A run's rows are written once, encoded; what it has learned is written every few seconds, each time as a whole new file
that takes the old one's place. Whatever kills the server costs the seconds since. Each run belongs to an owner, whose
key is in the page's address; the list holds only a hash of it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dashboard.data_folder import FOLDER_VARIABLE
from tmcore import files
from tmcore.parameters import Parameters
from tmcore.training import TrainingRun

if TYPE_CHECKING:
    from dashboard.jobs import Job

SECONDS_BETWEEN_SAVES = 3.0
SAVING_SHARE = 20.0
"""Saving waits this many times as long as it takes, where that is longer."""

LEFT_SECONDS = 3600.0
"""A run's folder that is not in the list for so long goes."""

ROWS, PROGRESS = "rows", "progress"

_TABLE = """
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, parameters TEXT NOT NULL, end_step INTEGER NOT NULL,
    n_rows INTEGER NOT NULL, created REAL NOT NULL, changed REAL NOT NULL, step INTEGER NOT NULL,
    n_literals INTEGER, train_accuracy REAL, test_accuracy REAL
)
"""


@dataclass(frozen=True)
class KeptRun:
    """One line of the list.

    Attributes
    ----------
    id : str
    name : str
        What the data is called.
    parameters : Parameters
        As they were last.
    end_step : int
        Where playing ends.
    n_rows, step : int
        Training rows, and rows learned.
    created, changed : float
        Seconds since 1970.
    n_literals : int or None
    train_accuracy, test_accuracy : float or None
        By votes, when last measured.
    """

    id: str
    name: str
    parameters: Parameters
    end_step: int
    n_rows: int
    created: float
    changed: float
    step: int
    n_literals: int | None
    train_accuracy: float | None
    test_accuracy: float | None

    @property
    def epoch(self) -> float:
        """Passes over the training rows."""
        return self.step / self.n_rows


def current() -> Store | None:
    """The store of this server; None where nothing is kept."""
    folder = os.environ.get(FOLDER_VARIABLE)
    return Store(Path(folder)) if folder else None


class Store:
    """The runs in one folder.

    Parameters
    ----------
    folder : Path
        Made on the first write, for this user's eyes only.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def prepare(self) -> None:
        """Make the folder and the list; OSError or sqlite3.Error where that is impossible."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (self.folder / "runs").mkdir(exist_ok=True, mode=0o700)
        with self._list() as entries:
            entries.execute(_TABLE)
            listed = {run_id for (run_id,) in entries.execute("SELECT id FROM runs")}
        for folder in (self.folder / "runs").iterdir():
            # What a killed server left behind; a folder made a moment ago may be about to be listed.
            if folder.name not in listed and time.time() - folder.stat().st_mtime > LEFT_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def _list(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.folder / "runs.sqlite", timeout=5)) as entries, entries:
            yield entries

    def _folder_of(self, run_id: str) -> Path:
        return self.folder / "runs" / run_id

    def runs(self, owner: str) -> list[KeptRun]:
        """The owner's runs, the one changed last first."""
        if not (self.folder / "runs.sqlite").exists():
            return []
        columns = KeptRun.__dataclass_fields__
        with self._list() as entries:
            found = entries.execute(
                f"SELECT {', '.join(columns)} FROM runs WHERE owner = ? ORDER BY changed DESC",
                (_hash(owner),),
            ).fetchall()
        listed = [dict(zip(columns, row, strict=True)) for row in found]
        return [
            KeptRun(**{**one, "parameters": files.parameters_from_dict(json.loads(one["parameters"]))})
            for one in listed
        ]

    def add(self, owner: str, name: str, parameters: Parameters, end_step: int, run: TrainingRun) -> str:
        """Keep a new run; returns its id."""
        self.prepare()
        run_id = uuid.uuid4().hex
        self._folder_of(run_id).mkdir(mode=0o700)
        run.save(self._folder_of(run_id) / ROWS)
        with self._list() as entries:
            entries.execute(
                "INSERT INTO runs (id, owner, name, parameters, end_step, n_rows, created, changed, step) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (run_id, _hash(owner), name, _as_text(parameters), end_step, run.n_rows, *[time.time()] * 2, run.step),
            )  # fmt: skip
        return run_id

    def update(self, run_id: str, parameters: Parameters, end_step: int, run: TrainingRun) -> bool:
        """Write what a run has learned since; False, and nothing written, where it was deleted meanwhile."""
        folder = self._folder_of(run_id)
        if not folder.is_dir():
            return False
        run.save_progress(folder / PROGRESS)
        last = run.history[-1] if run.history else None
        scores = (last.n_literals, last.train_accuracy, last.test_accuracy) if last else (None,) * 3
        with self._list() as entries:
            entries.execute(
                "UPDATE runs SET parameters = ?, end_step = ?, changed = ?, step = ?, n_literals = ?, "
                "train_accuracy = ?, test_accuracy = ? WHERE id = ?",
                (_as_text(parameters), end_step, time.time(), run.step, *scores, run_id),
            )
        return True

    def load(self, owner: str, run_id: str) -> tuple[KeptRun, TrainingRun]:
        """A kept run, as it was when last saved.

        Raises
        ------
        ValueError
            The owner has no such run, or its files are damaged.
        """
        kept = next((one for one in self.runs(owner) if one.id == run_id), None)
        if kept is None:
            raise ValueError("This run is not kept any more. Choose another one, or train anew.")
        folder = self._folder_of(run_id)
        progress = folder / PROGRESS
        try:
            run = TrainingRun.load(folder / ROWS, progress if progress.exists() else None)
        except OSError as error:
            raise ValueError(
                f"The files of the run on {kept.name} are gone. Delete it from the list."
            ) from error
        return kept, run

    def delete(self, owner: str, run_id: str | None = None) -> None:
        """Delete one of the owner's runs with all its files, or every one."""
        for kept in self.runs(owner):
            if run_id in (None, kept.id):
                with self._list() as entries:
                    entries.execute("DELETE FROM runs WHERE id = ?", (kept.id,))
                shutil.rmtree(self._folder_of(kept.id), ignore_errors=True)


def _hash(owner: str) -> str:
    return hashlib.sha256(owner.encode()).hexdigest()


def _as_text(parameters: Parameters) -> str:
    return json.dumps(files.parameters_to_dict(parameters))


class Keeper:
    """Keeps one job's run in the store, from the job's own thread.

    Parameters
    ----------
    store : Store
    owner : str
    kept : (str, TrainingRun), optional
        The id and the run that the job goes on with, where it is kept already.

    Attributes
    ----------
    run_id : str or None
        None until the run has learned something and was saved.
    problem : str
        One sentence where keeping failed, else empty; training goes on without.
    """

    def __init__(self, store: Store, owner: str, kept: tuple[str, TrainingRun] | None = None) -> None:
        self._store, self._owner = store, owner
        self.run_id: str | None = kept[0] if kept else None
        self._run: TrainingRun | None = kept[1] if kept else None
        self.problem = ""
        self._saved: tuple[object, ...] = ()
        self._next = 0.0

    def save_if_due(self, job: Job) -> None:
        """Save, unless that was done a moment ago."""
        if time.monotonic() >= self._next:
            self.save(job)

    def save(self, job: Job) -> None:
        """Save what the job's run has learned, where that is not saved already; a run started over takes its place."""
        run = job.run
        if run is None or not run.step or self.problem:
            return
        state = (id(run), run.step, job.parameters, job.end_step)
        if state == self._saved:
            return
        began = time.monotonic()
        try:
            self._write(run, job)
        except (OSError, sqlite3.Error) as error:
            self.problem = (
                f"This run is not kept on this machine: {error}. Free some space or choose --data-dir."
            )
        self._saved, ended = state, time.monotonic()
        self._next = ended + max(SECONDS_BETWEEN_SAVES, SAVING_SHARE * (ended - began))

    def _write(self, run: TrainingRun, job: Job) -> None:
        if self.run_id is not None and self._run is not run:
            self._store.delete(self._owner, self.run_id)
            self.run_id = None
        self._run = run
        if self.run_id is None:
            self.run_id = self._store.add(self._owner, job.name, job.parameters, job.end_step, run)
        if not self._store.update(self.run_id, job.parameters, job.end_step, run):
            self.problem = "This run was deleted from the list of kept runs, so it is not kept any more."
