"""What never changes in a run: columns with cuts and distributions, classes, sizes, the rows as points."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.jobs import LEASE_SECONDS
from dashboard.live.answers import answers_of
from dashboard.live.points import chosen_rows, places
from dashboard.live.view import MOST_COLUMNS
from dashboard.style import mark, short

if TYPE_CHECKING:
    from dashboard.jobs import Job
    from tmcore.encode import Column
    from tmcore.encoders import AnyEncoder
    from tmcore.training import TrainingRun

N_BINS = 12
FEW_VALUES = 5


def facts(run: TrainingRun, job: Job) -> dict[str, Any]:
    """Columns with cuts and distributions of each group of rows, sizes. ``key`` changes when anything else does.

    ``lease`` is how many seconds the run learns on without a page.
    """
    answers = answers_of(run, job)
    names, labels = answers.groups()
    codes = run.encoder.transform(job.X_train)
    columns = [
        _column_facts(c, run.encoder, codes, job.X_train, labels, len(names)) for c in run.encoder.columns
    ]
    told: dict[str, Any] = {
        "name": short(job.name),
        "classes": names,
        "marks": [mark(k) for k in range(len(names))],
        "rows": int(run.n_rows),
        "testRows": len(job.y_test),
        "seed": int(job.parameters.random_state),
        "lease": LEASE_SECONDS,
        "nClauses": int(job.parameters.n_clauses),
        "columns": columns,
    } | answers.facts()
    _add_points(told["columns"], run, job)
    told["points"] = answers.points()
    told["key"] = hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]
    return told


def _add_points(columns: list[dict[str, Any]], run: TrainingRun, job: Job) -> None:
    """Give the first columns their rows' places on the axis."""
    train, test = chosen_rows(len(job.y_train), len(job.y_test))
    held_out = run.encoder.transform(job.X_test) if len(job.y_test) else run.codes[:0]
    codes = np.concatenate([_dense(run.codes[train]), _dense(held_out[test])])
    for column, told in list(zip(run.encoder.columns, columns, strict=True))[:MOST_COLUMNS]:
        values = np.concatenate([
            frame[column.name].iloc[rows].to_numpy(dtype=float, na_value=np.nan)
            if told["kind"] == "numeric" else np.zeros(len(rows))
            for frame, rows in ((job.X_train, train), (job.X_test, test))
        ])  # fmt: skip
        told["points"] = places(column, run.encoder, codes, values, told["kind"] != "numeric")


def _dense(codes: Any) -> NDArray[Any]:
    return np.asarray(codes.toarray() if hasattr(codes, "toarray") else codes)


def _column_facts(
    column: Column,
    encoder: AnyEncoder,
    codes: NDArray[Any],
    frame: pd.DataFrame,
    labels: NDArray[np.intp],
    n_classes: int,
) -> dict[str, Any]:
    features = [encoder.features[i] for i in column.features]
    first = features[0]
    few = column.role == "ordinal" or (column.role == "numeric" and first.n_ranks <= FEW_VALUES)
    told: dict[str, Any] = {
        "label": short(column.label),
        "unit": short(column.unit) if column.unit else "",
        "kind": "few" if few else {"nominal": "category"}.get(column.role, column.role),
        "names": [short(c) for c in (column.categories or first.labels)],
        "features": [
            {"i": f.index, "n": int(f.n_ranks), "cuts": list(f.cuts), "gaps": bool(f.has_gaps)}
            for f in features
        ],
        "min": column.minimum,
        "max": column.maximum,
    }
    if told["kind"] == "numeric":
        values = frame[column.name].to_numpy(dtype=float, na_value=np.nan)
        told["counts"] = [_binned(values[labels == k], column) for k in range(n_classes)]
    elif told["kind"] == "category":
        told["counts"] = [
            [int((codes[labels == k, f.index] == 1).sum()) for f in features] for k in range(n_classes)
        ]
    else:
        ranks = codes[:, first.index]
        told["counts"] = [
            np.bincount(ranks[(labels == k) & (ranks < first.n_ranks)], minlength=first.n_ranks).tolist()
            for k in range(n_classes)
        ]
    return told


def _binned(values: NDArray[np.float64], column: Column) -> list[int]:
    low, high = column.minimum, column.maximum
    if low is None or high is None or not low < high:
        return [int(np.isfinite(values).sum())] + [0] * (N_BINS - 1)
    share = (values[np.isfinite(values)] - low) / (high - low)
    return np.bincount(np.clip((share * N_BINS).astype(int), 0, N_BINS - 1), minlength=N_BINS).tolist()
