"""The table of a kept run, beside its encoded rows: with it a run that comes back is as complete as it was."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from dashboard.splitting import Split
from tmcore import files
from tmcore.table import Table
from tmcore.table_files import read_table_file, write_table

TABLE, SPLIT = "table", "split"


@dataclass(frozen=True, eq=False)
class TrainedTable:
    """A table, how its rows were divided, and the key of the example it is, if it is one."""

    table: Table
    split: Split
    sample: str | None = None


def write(trained: TrainedTable, folder: Path) -> None:
    """Write the table, and which of its rows are for training and which for testing, into a run's folder."""
    rows = trained.table.features().index
    split = trained.split
    told = {f.name: getattr(split, f.name) for f in fields(Split) if f.name[:2] not in ("X_", "y_")}
    notes = {name: value.item() if isinstance(value, np.generic) else value for name, value in told.items()}
    places = {"train": rows.get_indexer(split.X_train.index), "test": rows.get_indexer(split.X_test.index)}
    write_table(trained.table, folder / TABLE)
    files.write(folder / SPLIT, "split", {"sample": trained.sample, "notes": notes}, places)


def read(folder: Path) -> TrainedTable | None:
    """The table in a run's folder; None where the run was kept without one.

    Raises
    ------
    ValueError
        A file is damaged, or of another version.
    """
    if not (folder / SPLIT).exists():
        return None
    meta, places = files.read(folder / SPLIT, "split")
    table = read_table_file(folder / TABLE)
    X, y = table.features(), table.labels()
    with files.fitting(folder / SPLIT):
        train, test = places["train"], places["test"]
        split = Split(X.iloc[train], y.iloc[train], X.iloc[test], y.iloc[test], **meta["notes"])
        return TrainedTable(table, split, meta["sample"])
