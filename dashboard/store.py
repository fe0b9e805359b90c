"""Runs kept on this machine: a SQLite list of them and a folder of array files for each.

A run's table and its encoded rows are written once, before the run is in the list; what it has learned is written every
few seconds, each time as a whole new file that takes the old one's place. Whatever kills the server costs the seconds
since. Each run belongs to an owner, whose key is in the page's address; the list holds only a hash of it.
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
from typing import TYPE_CHECKING, Any

from dashboard import kept_table
from dashboard.data_folder import FOLDER_VARIABLE
from dashboard.kept_table import TrainedTable
from tmcore import files
from tmcore.parameters import Parameters
from tmcore.training import TrainingRun

if TYPE_CHECKING:
    from dashboard.outcome import Standing

LEFT_SECONDS = 3600.0
"""A run's folder that is not in the list for so long goes."""

LIST, ROWS, PROGRESS = "runs.sqlite", "rows", "progress"

_TABLE = """
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, parameters TEXT NOT NULL, end_step INTEGER NOT NULL,
    n_rows INTEGER NOT NULL, created REAL NOT NULL, changed REAL NOT NULL, step INTEGER NOT NULL,
    n_literals INTEGER, test_accuracy REAL, target TEXT, test_mae REAL, test_r2 REAL, n_rules INTEGER
)
"""

_ADDED = {"target": "TEXT", "test_mae": "REAL", "test_r2": "REAL", "n_rules": "INTEGER"}
"""Columns that a list written by the first versions lacks."""

_MEASURED = ("n_literals", "test_accuracy", "test_mae", "test_r2", "n_rules")


@dataclass(frozen=True)
class KeptRun:
    """One line of the list.

    Attributes
    ----------
    id : str
    name : str
        What the data is called.
    parameters : Parameters or None
        As they were last; None where that cannot be read.
    end_step : int
        Where playing ends.
    n_rows, step : int
        Training rows, and rows learned.
    created, changed : float
        Seconds since 1970.
    n_literals : int or None
    test_accuracy : float or None
        By votes when last measured, of the settled rules where there are any; None where numbers are predicted.
    target : str or None
        The column of the numbers that are predicted; None where classes are.
    test_mae, test_r2 : float or None
        The same of a run on numbers, the mean absolute error in their unit.
    n_rules : int or None
        Settled rules; None where the run was not settled since it learned last.
    """

    id: str
    name: str
    parameters: Parameters | None
    end_step: int
    n_rows: int
    created: float
    changed: float
    step: int
    n_literals: int | None
    test_accuracy: float | None
    target: str | None
    test_mae: float | None
    test_r2: float | None
    n_rules: int | None

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
            entries.execute("BEGIN IMMEDIATE")  # another server may be making the same list
            entries.execute(_TABLE)
            present = {column[1] for column in entries.execute("PRAGMA table_info(runs)")}
            for name in _ADDED.keys() - present:
                entries.execute(f"ALTER TABLE runs ADD COLUMN {name} {_ADDED[name]}")
            listed = {run_id for (run_id,) in entries.execute("SELECT id FROM runs")}
        for folder in (self.folder / "runs").iterdir():
            # What a killed server left behind; a folder made a moment ago may be about to be listed.
            if folder.name not in listed and time.time() - folder.stat().st_mtime > LEFT_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def _list(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.folder / LIST, timeout=5)) as entries, entries:
            yield entries

    def _folder_of(self, run_id: str) -> Path:
        return self.folder / "runs" / run_id

    def runs(self, owner: str) -> list[KeptRun]:
        """The owner's runs, the one changed last first.

        Raises
        ------
        ValueError
            The list is damaged.
        """
        columns = KeptRun.__dataclass_fields__
        found = self._found(
            f"SELECT {', '.join(columns)} FROM runs WHERE owner = ? ORDER BY changed DESC", _hash(owner)
        )
        listed = [dict(zip(columns, row, strict=True)) for row in found]
        return [KeptRun(**{**one, "parameters": _from_text(one["parameters"])}) for one in listed]

    def keeps_others(self, owner: str) -> bool:
        """Whether anybody else has a run here; ValueError as in `runs`."""
        return bool(self._found("SELECT 1 FROM runs WHERE owner <> ? LIMIT 1", _hash(owner)))

    def _found(self, query: str, value: str) -> list[tuple[Any, ...]]:
        """Lines of the list, none where it is not there yet."""
        if not (self.folder / LIST).exists():
            return []
        try:
            with self._list() as entries:
                if not entries.execute("SELECT 1 FROM sqlite_master WHERE name = 'runs'").fetchone():
                    return []  # another thread or server is about to make it, or was killed there
                return entries.execute(query, (value,)).fetchall()
        except sqlite3.Error as error:
            raise ValueError(
                f"The list of kept runs cannot be read ({error}); {_what_to_do(error, self.folder / LIST)}."
            ) from error

    def write_rows(self, run: TrainingRun, trained: TrainedTable | None = None) -> str:
        """Write what stays as it is of a new run, and its table, into a folder of their own; returns the run's id.

        The run may learn meanwhile in another thread. It is kept once it is in the list; see `enter`.
        """
        self.prepare()
        run_id = uuid.uuid4().hex
        folder = self._folder_of(run_id)
        folder.mkdir(mode=0o700)
        try:
            if trained is not None:
                kept_table.write(trained, folder)
            run.save_rows(folder / ROWS)
        except BaseException:
            self.discard(run_id)
            raise
        return run_id

    def enter(
        self,
        run_id: str,
        owner: str,
        name: str,
        parameters: Parameters,
        end_step: int,
        run: TrainingRun,
        target: str | None = None,
        settled: Standing | None = None,
    ) -> None:
        """Put a run whose rows are written into the list; ``target`` as `KeptRun` has it, ``settled`` as `update`."""
        with self._list() as entries:
            entries.execute(
                "INSERT INTO runs (id, owner, name, target, parameters, end_step, n_rows, created, changed, step) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
                (run_id, _hash(owner), name, target, _as_text(parameters), end_step, run.n_rows, *[time.time()] * 2),
            )  # fmt: skip
        self.update(run_id, parameters, end_step, run, settled)

    def update(
        self,
        run_id: str,
        parameters: Parameters,
        end_step: int,
        run: TrainingRun,
        settled: Standing | None = None,
    ) -> bool:
        """Write what a run has learned since; False, and nothing written, where it was deleted meanwhile.

        ``settled`` is how its settled rules stand; the list has that until the run learns on.
        """
        folder = self._folder_of(run_id)
        if not folder.is_dir():
            return False
        run.save_progress(folder / PROGRESS)
        with self._list() as entries:
            entries.execute(
                f"UPDATE runs SET {', '.join(f'{name} = ?' for name in _MEASURED)} WHERE id = ?"
                + (" AND (n_rules IS NULL OR step <> ?)" if settled is None else ""),
                (*_measured(run, settled), run_id, *([run.step] if settled is None else [])),
            )
            entries.execute(
                "UPDATE runs SET parameters = ?, end_step = ?, changed = ?, step = ? WHERE id = ?",
                (_as_text(parameters), end_step, time.time(), run.step, run_id),
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
            return kept, TrainingRun.load(folder / ROWS, progress if progress.exists() else None)
        except FileNotFoundError as error:
            raise ValueError(
                f"The files of the run on {kept.name} are gone. Delete it from the list."
            ) from error
        except (OSError, ValueError) as error:
            raise ValueError(f"The run on {kept.name} cannot be opened: {error}") from error

    def table_of(self, run_id: str) -> TrainedTable | None:
        """The table of a run that was loaded; None where it was kept without one.

        Raises
        ------
        ValueError
            The table is damaged, or of a newer version.
        """
        return kept_table.read(self._folder_of(run_id))

    def delete(self, owner: str, run_id: str | None = None) -> None:
        """Delete one of the owner's runs with all its files, or every one."""
        for kept in self.runs(owner):
            if run_id in (None, kept.id):
                with self._list() as entries:
                    entries.execute("DELETE FROM runs WHERE id = ?", (kept.id,))
                self.discard(kept.id)

    def discard(self, run_id: str) -> None:
        """Delete the files of a run that is not in the list."""
        shutil.rmtree(self._folder_of(run_id), ignore_errors=True)


def _what_to_do(error: sqlite3.Error, path: Path) -> str:
    """About a list that cannot be read; one that is only busy or out of reach holds its runs and must stay."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary one
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return "another program is writing to it, so reload the page in a moment"
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return f"move the file {path} away"
    return f"see that {path} can be read and written, and reload the page"


def _measured(run: TrainingRun, settled: Standing | None) -> list[Any]:
    """The values of `_MEASURED`: of the settled rules, else by votes; scores have those of their kind."""
    if settled is None:
        last = run.history[-1] if run.history else None
        return [getattr(last, name, None) for name in _MEASURED]
    sizes = {"n_literals": settled.n_literals, "n_rules": settled.n_rules}
    return [sizes.get(name, getattr(settled.scores, name, None)) for name in _MEASURED]


def _hash(owner: str) -> str:
    return hashlib.sha256(owner.encode()).hexdigest()


def _as_text(parameters: Parameters) -> str:
    return json.dumps(files.parameters_to_dict(parameters))


def _from_text(text: str) -> Parameters | None:
    try:
        return files.parameters_from_dict(json.loads(text))
    except (ValueError, TypeError, AttributeError):
        return None
