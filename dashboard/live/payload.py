"""What the live view draws, as plain JSON: facts that never change in a run, and one frame for each push."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.style import short

if TYPE_CHECKING:
    from dashboard.history import Moment
    from dashboard.jobs import Job
    from tmcore.encode import Column
    from tmcore.encoders import AnyEncoder
    from tmcore.training import Snapshot, TrainingRun

N_BINS = 12
FEW_VALUES = 5
MOST_COLUMNS = 60
MOST_CELLS = 60_000
VOTE_BINS = 41
MOST_LENGTHS = 200
SORTS = ("literals", "weight", "number")
WEIGHT_UNIT = 2.0**-16


@dataclass
class View:
    """What the person looks at: which machine and clauses, in which order, and the cell whose bounds are traced.

    ``clauses`` are the shown clauses of each side, ``columns`` the sent columns; both stay as they are while
    learning so that nothing jumps, until `arrange` is called.
    """

    machine: int = 0
    sort: str = "literals"
    shown: int = 7
    offset: int = 0
    clause: int = -1
    feature: int = -1
    clauses: list[list[int]] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)

    def update(self, wanted: Any, n_machines: int, n_clauses: int, n_features: int) -> bool:
        """Take over what the browser asks for, as far as it exists; whether the rows must be arranged anew."""
        if not isinstance(wanted, dict):
            return False
        before = (self.machine, self.sort, self.shown, self.offset)
        self.machine = _whole(wanted.get("machine"), self.machine, n_machines - 1)
        self.sort = wanted["sort"] if wanted.get("sort") in SORTS else self.sort
        self.shown = max(1, _whole(wanted.get("shown"), self.shown, n_clauses))
        self.offset = _whole(wanted.get("offset"), self.offset, n_clauses - 1)
        self.clause = _whole(wanted.get("clause"), self.clause, n_clauses - 1)
        self.feature = _whole(wanted.get("feature"), self.feature, n_features - 1)
        return before != (self.machine, self.sort, self.shown, self.offset) or wanted.get("again") is True

    def arrange(self, snapshot: Snapshot, encoder: AnyEncoder, facts: dict[str, Any]) -> None:
        """Choose and order the clauses of each side, the columns to send, and a cell if none is chosen."""
        bank, q = snapshot.bank, self.machine
        literals = np.asarray(snapshot.literals_per_clause)[q]
        weights = np.asarray(bank.weights)[q]
        keys = {"literals": (-weights, -literals), "weight": (-literals, -weights), "number": (literals * 0,)}
        order = np.lexsort(keys[self.sort]) if self.sort != "number" else np.arange(len(literals))
        used = bank.lower_included[q] | bank.upper_included[q]
        most = max(1, MOST_CELLS // max(1, 2 * min(used.shape[1], 8 * MOST_COLUMNS)))
        self.shown = min(self.shown, max(7, most))
        polarity = np.asarray(bank.polarity)[order]
        self.clauses = [
            [int(j) for j in order[polarity == side][self.offset : self.offset + self.shown]]
            for side in (1, -1)
        ]
        rows = self.clauses[0] + self.clauses[1]
        columns = encoder.columns
        if len(columns) > MOST_COLUMNS:
            varies = [any(encoder.features[f].n_ranks > 1 for f in column.features) for column in columns]
            uses = [
                int(used[rows][:, list(column.features)].sum()) if varied else -1
                for column, varied in zip(columns, varies, strict=True)
            ]
            best = sorted(range(len(columns)), key=lambda i: -uses[i])[:MOST_COLUMNS]
            self.columns = sorted(best)
        else:
            self.columns = list(range(len(columns)))
        if self.clause not in rows and rows:
            self.clause = rows[0]
        if self.feature < 0 and self.columns:
            self._choose_feature(facts)

    def _choose_feature(self, facts: dict[str, Any]) -> None:
        """The column whose values differ most between the class in focus and the others, numbers first."""
        focus = 1 if len(facts["classes"]) == 2 else self.machine
        sent = [facts["columns"][i] for i in self.columns]
        numeric = [column for column in sent if column["kind"] == "numeric"]
        best = max(numeric or sent, key=lambda column: _difference(column["counts"], focus))
        self.feature = best["features"][0]["i"]


def _difference(counts: list[list[int]], focus: int) -> float:
    """How far apart the values of one class and of all others lie: 0 the same shares, 2 no value in common."""
    mine = np.array(counts[focus], dtype=float)
    others = np.array(counts, dtype=float).sum(axis=0) - mine
    return float(np.abs(mine / max(1.0, mine.sum()) - others / max(1.0, others.sum())).sum())


def _whole(value: Any, otherwise: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != int(value):
        return otherwise
    return int(value) if 0 <= value <= most else otherwise


def facts(run: TrainingRun, job: Job) -> dict[str, Any]:
    """Columns with cuts and class distributions, classes, sizes. ``key`` changes when anything else does."""
    labels = np.searchsorted(run.classes, np.asarray(job.y_train))
    codes = run.encoder.transform(job.X_train)
    n_classes = len(run.classes)
    columns = [
        _column_facts(c, run.encoder, codes, job.X_train, labels, n_classes) for c in run.encoder.columns
    ]
    told = {
        "name": short(job.name),
        "classes": [short(c) for c in run.classes],
        "rows": int(run.n_rows),
        "testRows": len(job.y_test),
        "seed": int(job.parameters.random_state),
        "nClauses": int(job.parameters.n_clauses),
        "columns": columns,
    }
    told["key"] = hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]
    return told


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


def frame(job: Job, view: View, key: str) -> dict[str, Any]:
    """Everything that moves, of the newest snapshot; without a run only the state."""
    told: dict[str, Any] = {
        "facts": key,
        "state": job.state,
        "speed": job.speed,
        "epochs": job.parameters.epochs,
        "T": job.parameters.vote_target,
        "waiting": job.waiting,
        "lapsed": job.lapsed,
        "error": job.error,
        "clauses": job.parameters.n_clauses,
        "sequence": job.sequence,
        "settled": _settled(job),
    }
    snapshot, run = job.latest, job.run
    if snapshot is None or run is None or not view.clauses:
        return told
    history = job.history()
    told |= _numbers(snapshot) | _rows(snapshot, view, run.encoder, job)
    told["votes"] = _votes(snapshot, run, job, view.machine)
    told["history"] = _curves(history)
    told["trace"] = _trace(history, view)
    told["changes"] = _changes(run)
    told["view"] = {
        "machine": view.machine,
        "sort": view.sort,
        "shown": view.shown,
        "offset": view.offset,
        "clause": view.clause,
        "feature": view.feature,
    }
    return told


def _settled(job: Job) -> dict[str, Any] | None:
    outcome = job.outcome
    if outcome is None:
        return None
    return {
        "rules": outcome.after.n_rules,
        "literals": outcome.after.n_literals,
        "before": _share(outcome.before.test_accuracy),
        "after": _share(outcome.after.test_accuracy),
    }


def _numbers(snapshot: Snapshot) -> dict[str, Any]:
    scores = snapshot.scores
    return {
        "step": int(snapshot.step),
        "epoch": round(float(snapshot.epoch), 4),
        "literals": int(snapshot.n_literals),
        "empty": int((np.asarray(snapshot.literals_per_clause) == 0).sum()),
        "train": _share(scores.train_accuracy if scores else None),
        "test": _share(scores.test_accuracy if scores else None),
    }


def _share(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), 4)


def _rows(snapshot: Snapshot, view: View, encoder: AnyEncoder, job: Job) -> dict[str, Any]:
    bank, q = snapshot.bank, view.machine
    rows = np.array(view.clauses[0] + view.clauses[1], dtype=np.intp)
    features = np.array([f for i in view.columns for f in encoder.columns[i].features], dtype=np.intp)
    cells = np.ix_(rows, features)
    feedback = job.feedback()
    polarity = np.asarray(bank.polarity)
    return {
        "columns": view.columns,
        "wide": bank.lower.dtype.itemsize > 1,
        "rows": rows.tolist(),
        "for": len(view.clauses[0]),
        "sides": [int((polarity == 1).sum()), int((polarity == -1).sum())],
        "rowLiterals": np.asarray(snapshot.literals_per_clause)[q][rows].tolist(),
        "weights": [round(w, 3) for w in (np.asarray(bank.weights)[q][rows] * WEIGHT_UNIT).tolist()],
        "feedback": [] if feedback is None else feedback[q][rows].ravel().tolist(),
        "lower": _packed(bank.lower[q][cells]),
        "upper": _packed(bank.upper[q][cells]),
        "included": _packed(
            (bank.lower_included[q][cells] + 2 * bank.upper_included[q][cells]).astype(np.uint8)
        ),
        "lengths": _lengths(np.asarray(snapshot.literals_per_clause)[q], polarity),
        "used": _uses(snapshot, q, encoder),
    }


def _lengths(literals: NDArray[Any], polarity: NDArray[Any]) -> list[list[int]]:
    """Literals of each side's clauses, longest first, evenly thinned to at most `MOST_LENGTHS` a side."""
    sides = [np.sort(literals[polarity == side])[::-1] for side in (1, -1)]
    return [
        side[np.linspace(0, len(side) - 1, min(len(side), MOST_LENGTHS)).astype(int)].tolist()
        if len(side)
        else []
        for side in sides
    ]


def _uses(snapshot: Snapshot, q: int, encoder: AnyEncoder) -> list[int]:
    """How many columns any clause of the machine uses, and how many there are."""
    bank = snapshot.bank
    used = (bank.lower_included[q] | bank.upper_included[q]).any(axis=0)
    return [sum(bool(used[list(c.features)].any()) for c in encoder.columns), len(encoder.columns)]


def _packed(values: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


def _votes(snapshot: Snapshot, run: TrainingRun, job: Job, q: int) -> dict[str, Any]:
    """Training rows by vote sum: rows of the class in focus, and the others, in equal bins around zero."""
    sums = np.asarray(snapshot.votes)[:, q]
    focus = run.classes[1] if len(run.classes) == 2 else run.classes[q]
    target = job.parameters.vote_target
    reach = max(1.25 * target, float(np.abs(sums).max(initial=0.0)))
    bins = np.clip(((sums + reach) / (2 * reach) * VOTE_BINS).astype(int), 0, VOTE_BINS - 1)
    mine = np.asarray(job.y_train) == focus
    return {
        "reach": round(reach, 3),
        "mine": np.bincount(bins[mine], minlength=VOTE_BINS).tolist(),
        "others": np.bincount(bins[~mine], minlength=VOTE_BINS).tolist(),
        "beyond": int((np.abs(sums) >= target).sum()),
    }


def _curves(history: tuple[Moment, ...]) -> dict[str, list[Any]]:
    def milli(value: float | None) -> int | None:
        return None if value is None or not np.isfinite(value) else round(1000 * value)

    return {
        "step": [m.step for m in history],
        "literals": [m.n_literals for m in history],
        "train": [milli(m.train_accuracy) for m in history],
        "test": [milli(m.test_accuracy) for m in history],
        "trainF1": [milli(m.train_f1) for m in history],
        "testF1": [milli(m.test_f1) for m in history],
    }


def _trace(history: tuple[Moment, ...], view: View) -> dict[str, list[int]]:
    """The chosen cell's bounds at every kept moment, and its clause's feedback since the moment before."""
    q, j, f = view.machine, view.clause, view.feature
    return {
        "lower": [int(m.lower[q, j, f]) for m in history],
        "upper": [int(m.upper[q, j, f]) for m in history],
        "included": [int(m.included[q, j, f]) for m in history],
        "feedback": [int(n) for m in history for n in m.feedback[q, j]],
    }


def _changes(run: TrainingRun) -> list[list[Any]]:
    signs = {"gamma": "γ"}
    return [[int(c.step), f"{signs.get(c.name, c.name)} {c.value:g}"] for c in run.changes[-20:]]
