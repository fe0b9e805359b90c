"""What a page looks at in a run: which clauses and columns, in which order, and which cell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tmcore.encoders import AnyEncoder
    from tmcore.training import Snapshot

MOST_COLUMNS = 60
MOST_CELLS = 60_000
MOST_BY_FEATURE = 250
"""Clauses a side shown at once for one feature."""

WANTS = ("memory", "standing")
SORTS = ("literals", "weight", "number")


@dataclass
class View:
    """What the person looks at: which machine and clauses, in which order, and the cell whose bounds are traced.

    ``clauses`` are the shown clauses of each side, ``columns`` the sent columns; both stay as they are while
    learning so that nothing jumps, until `arrange` is called. ``by`` "feature" shows every clause's part in the chosen
    feature. ``side`` +1 or -1 shows one side's clauses only, ``uses`` those that test a column. ``map_x`` and
    ``map_y`` are the map's columns, -1 for the proposed ``pair``. ``wants`` names what else the browser shows.
    """

    machine: int = 0
    sort: str = "literals"
    shown: int = 7
    offset: int = 0
    clause: int = -1
    feature: int = -1
    by: str = "clause"
    side: int = 0
    uses: int = -1
    map_x: int = -1
    map_y: int = -1
    wants: tuple[str, ...] = ()
    pair: tuple[int, int] = (-1, -1)
    clauses: list[list[int]] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)

    def update(self, wanted: Any, n_machines: int, n_clauses: int, n_features: int, n_columns: int) -> bool:
        """Take over what the browser asks for, as far as it exists; whether the rows must be arranged anew."""
        if not isinstance(wanted, dict):
            return False
        before = self._arranged_by
        self.machine = _whole(wanted.get("machine"), self.machine, n_machines - 1)
        self.sort = wanted["sort"] if wanted.get("sort") in SORTS else self.sort
        self.shown = max(1, _whole(wanted.get("shown"), self.shown, n_clauses))
        self.offset = _whole(wanted.get("offset"), self.offset, n_clauses - 1)
        self.clause = _whole(wanted.get("clause"), self.clause, n_clauses - 1)
        self.feature = _whole(wanted.get("feature"), self.feature, n_features - 1)
        self.by = wanted["by"] if wanted.get("by") in ("clause", "feature") else self.by
        self.side = wanted["side"] if wanted.get("side") in (0, 1, -1) else self.side
        self.uses, self.map_x, self.map_y = (
            -1 if wanted.get(name) == -1 else _whole(wanted.get(name), now, n_columns - 1)
            for name, now in (("uses", self.uses), ("mapX", self.map_x), ("mapY", self.map_y))
        )
        if isinstance(wanted.get("wants"), list):
            self.wants = tuple(name for name in WANTS if name in wanted["wants"])
        return before != self._arranged_by or wanted.get("again") is True

    @property
    def _arranged_by(self) -> tuple[object, ...]:
        by_feature = (self.feature, self.map_x, self.map_y) if self.by == "feature" else ()
        return self.machine, self.sort, self.shown, self.offset, self.by, self.side, self.uses, by_feature

    def arrange(self, snapshot: Snapshot, encoder: AnyEncoder, facts: dict[str, Any]) -> None:
        """Choose and order the clauses of each side, the columns to send, and a cell if none is chosen."""
        bank, q = snapshot.bank, self.machine
        literals = np.asarray(snapshot.literals_per_clause)[q]
        weights = np.asarray(bank.weights)[q]
        keys = {"literals": (-weights, -literals), "weight": (-literals, -weights), "number": (literals * 0,)}
        order = np.lexsort(keys[self.sort]) if self.sort != "number" else np.arange(len(literals))
        used = bank.lower_included[q] | bank.upper_included[q]
        by_column = np.column_stack([used[:, list(c.features)].any(axis=1) for c in encoder.columns])
        asked = (
            by_column[:, self.uses] if 0 <= self.uses < by_column.shape[1] else np.ones(len(literals), bool)
        )
        most = max(1, MOST_CELLS // max(1, 2 * min(used.shape[1], 8 * MOST_COLUMNS)))
        self.shown = min(self.shown, max(7, most))
        shown = MOST_BY_FEATURE if self.by == "feature" else self.shown
        polarity = np.asarray(bank.polarity)[order]
        self.clauses = [
            [] if self.side == -side
            else [int(j) for j in order[(polarity == side) & asked[order]][self.offset : self.offset + shown]]
            for side in (1, -1)
        ]  # fmt: skip
        rows = self.clauses[0] + self.clauses[1]
        if self.feature < 0:
            self._choose_feature(facts)
        self.propose(snapshot, encoder, facts)
        if self.clause not in rows and rows:
            self.clause = rows[0]

    def propose(self, snapshot: Snapshot, encoder: AnyEncoder, facts: dict[str, Any]) -> None:
        """The map's pair, of columns with an axis where there are two, and with it the columns to send."""
        bank, q = snapshot.bank, self.machine
        used = bank.lower_included[q] | bank.upper_included[q]
        rows = self.clauses[0] + self.clauses[1]
        known = facts["columns"][:MOST_COLUMNS]
        axes = [i for i, column in enumerate(known) if column["kind"] in ("numeric", "few")]
        choice = axes if len(axes) > 1 else list(range(len(known)))
        by_column = np.column_stack([used[:, list(encoder.columns[i].features)].any(axis=1) for i in choice])
        first, second = most_used_pair(by_column)
        self.pair = choice[first], choice[second]
        self.columns = self._columns(rows, used, encoder)

    def pair_is_idle(self, snapshot: Snapshot, encoder: AnyEncoder) -> bool:
        """Whether fewer than two shown clauses test a column of the proposed pair."""
        bank, q = snapshot.bank, self.machine
        features = [f for i in self.pair for f in encoder.columns[i].features]
        cells = np.ix_(self.clauses[0] + self.clauses[1], features)
        used = bank.lower_included[q][cells] | bank.upper_included[q][cells]
        return int(used.any(axis=1).sum()) < 2

    def _columns(self, rows: list[int], used: NDArray[np.bool_], encoder: AnyEncoder) -> list[int]:
        """The columns to send: all, those the shown clauses use most, or the one looked at; and the map's."""
        columns = encoder.columns
        on_map = {
            self.pair[0] if self.map_x < 0 else self.map_x,
            self.pair[1] if self.map_y < 0 else self.map_y,
        }
        if self.by == "feature":
            mine = {i for i, column in enumerate(columns) if self.feature in column.features}
            return sorted((mine | on_map) - {-1})
        if len(columns) <= MOST_COLUMNS:
            return list(range(len(columns)))
        varies = [any(encoder.features[f].n_ranks > 1 for f in column.features) for column in columns]
        uses = [
            int(used[rows][:, list(column.features)].sum()) if varied else -1
            for column, varied in zip(columns, varies, strict=True)
        ]
        best = sorted(range(len(columns)), key=lambda i: (i not in on_map, -uses[i]))[:MOST_COLUMNS]
        return sorted(best)

    def _choose_feature(self, facts: dict[str, Any]) -> None:
        """The column whose values differ most between the class in focus and the others, numbers first."""
        focus = 1 if len(facts["classes"]) == 2 else self.machine
        sent = facts["columns"]
        numeric = [column for column in sent if column["kind"] == "numeric"]
        best = max(numeric or sent, key=lambda column: _difference(column["counts"], focus))
        self.feature = best["features"][0]["i"]


def most_used_pair(by_column: NDArray[np.bool_]) -> tuple[int, int]:
    """The two columns that most clauses test together, the busier one first; (0, 1) before any do.

    ``by_column`` (n_clauses, n_columns) says which clause tests which column.
    """
    n_columns = by_column.shape[1]
    if n_columns < 2:
        return (0, 0)
    used = by_column.astype(np.int64)
    together = used.T @ used
    alone = together.diagonal().copy()
    pairs = np.triu(together, 1)
    # Pairs used equally often go by how often each is used at all.
    order = pairs * (2 * used.shape[0] + 2) + np.triu(alone[:, None] + alone + 1, 1)
    first, second = divmod(int(order.argmax()), n_columns)
    return (first, second) if alone[first] >= alone[second] else (second, first)


def _difference(counts: list[list[int]], focus: int) -> float:
    """How far apart the values of one class and of all others lie: 0 the same shares, 2 no value in common."""
    mine = np.array(counts[focus], dtype=float)
    others = np.array(counts, dtype=float).sum(axis=0) - mine
    return float(np.abs(mine / max(1.0, mine.sum()) - others / max(1.0, others.sum())).sum())


def _whole(value: Any, otherwise: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != int(value):
        return otherwise
    return int(value) if 0 <= value <= most else otherwise
