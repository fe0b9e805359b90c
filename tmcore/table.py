"""A table to learn from: its columns, their roles, the target, and the problems found before training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pandas as pd

from tmcore import checks
from tmcore.columns import category_codes
from tmcore.guess import MAX_CLASSES, ROLES, Guess, TableRole, as_read, guess_role, guess_target
from tmcore.problems import SEVERITIES, Problem, TableError, counted, listed, quoted
from tmcore.read_csv import MAX_BYTES, MAX_COLUMNS, MAX_ROWS, Source, read_raw, reading_assumptions
from tmcore.two_classes import TwoClasses, find
from tmcore.typed import as_labels, is_number_column, levels_of, spoilt_cells, typed

__all__ = [
    "MAX_BYTES",
    "MAX_CLASSES",
    "MAX_COLUMNS",
    "MAX_ROWS",
    "ROLES",
    "ColumnInfo",
    "Problem",
    "Table",
    "TableError",
    "read_table",
]


@dataclass(frozen=True)
class ColumnInfo:
    """What is known about one column.

    Attributes
    ----------
    name : verbatim from the file, without surrounding blanks
    role : "numeric", "boolean", "nominal", "ordinal" or "ignored"
    n_missing, n_unique : missing cells, and different values among the others
    note : why it is left out, or what to know about it; often ""
    """

    name: str
    role: TableRole
    n_missing: int
    n_unique: int
    note: str


@dataclass(frozen=True, eq=False)
class Table:
    """An immutable table; the ``with_`` methods return changed copies.

    Attributes
    ----------
    frame : all columns as read, indexed by spreadsheet row numbers (the header is row 1). Columns in which every
        cell is a number are numbers, all others text; missing cells are NaN.
    target : the column to predict, None until one is known
    chosen_class : of a target with two classes the one to predict, None where nobody chose; see `positive_class`
    """

    frame: pd.DataFrame
    target: str | None
    _decimal: str
    _guesses: Mapping[str, Guess]
    _roles: Mapping[str, TableRole] = field(default_factory=dict)
    _orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    _read_assumptions: tuple[str, ...] = ()
    _read_problems: tuple[Problem, ...] = ()
    _target_reason: str = ""
    chosen_class: Any = None

    @classmethod
    def from_frame(
        cls, frame: pd.DataFrame, target: str | None = None, roles: Mapping[str, TableRole] | None = None
    ) -> Table:
        """A table of a DataFrame; text columns are looked at as those of a file are.

        Raises
        ------
        TableError
            No rows or columns, two columns of one name, or a target or role that does not fit.
        """
        if not len(frame) or not frame.shape[1]:
            raise TableError("The table is empty; it needs rows and columns.")
        names = [str(name) for name in frame.columns]
        repeated = pd.Index(names)[pd.Index(names).duplicated()]
        if len(repeated):
            raise TableError(f"Two columns are called {quoted(repeated[0])}; rename one.")
        rows = pd.RangeIndex(2, len(frame) + 2, name="row")
        table = _assemble(frame.set_axis(names, axis=1).set_axis(rows, axis=0), ".", (), ())
        return _override(table, target, None, roles, None)

    @property
    def n_rows(self) -> int:
        """Rows of the file, also those without a target."""
        return len(self.frame)

    @cached_property
    def columns(self) -> list[ColumnInfo]:
        """One entry per column, in the file's order."""
        infos = []
        for name in self.frame.columns:
            values = self.frame[name]
            role, note = self.role(name), self._guesses[name].note
            if role != self._guesses[name].role:
                note = ""
            if role == "numeric" and (spoilt := len(spoilt_cells(values, self._decimal))):
                note = f"{counted(spoilt, 'cell is', 'cells are')} not a number"
            infos.append(ColumnInfo(name, role, int(values.isna().sum()), int(values.nunique()), note))
        return infos

    def role(self, name: str) -> TableRole:
        """The role of a column, as guessed or as given."""
        return self._roles.get(name, self._guesses[self._known(name)].role)

    @cached_property
    def problems(self) -> list[Problem]:
        """Everything found, worst first; an "error" means that training is not possible."""
        return sorted(self._find_problems(), key=lambda problem: SEVERITIES.index(problem.severity))

    @cached_property
    def assumptions(self) -> list[str]:
        """What was assumed rather than known, in plain sentences."""
        return [*self._read_assumptions, *self._role_assumptions()]

    def with_role(self, name: str, role: TableRole) -> Table:
        """A copy in which a column has another role.

        Raises
        ------
        TableError
            There is no such column or role, or the column cannot have it.
        """
        values = self.frame[self._known(name)]
        if role not in ROLES:
            raise TableError(f"There is no role {quoted(role)}; choose one of {', '.join(ROLES)}.")
        if role == "boolean" and (count := len(category_codes(values)[1])) != 2:
            raise TableError(
                f"Column {quoted(name)} has {counted(count, 'different value')}; a boolean column has two. "
                "Choose nominal instead."
            )
        if role == "numeric":
            spoilt = spoilt_cells(values, self._decimal)
            if len(spoilt) and len(spoilt) == values.notna().sum():
                raise TableError(
                    f"Column {quoted(name)} cannot be numeric: row {spoilt.index[0]} holds "
                    f"{quoted(spoilt.iloc[0])}. Choose nominal or ordinal instead."
                )
        return replace(self, _roles={**self._roles, name: role})

    def with_order(self, name: str, categories: Sequence[str]) -> Table:
        """A copy in which a column is ordinal, its levels in the given order, lowest first.

        Raises
        ------
        TableError
            The levels are not exactly those that the column holds.
        """
        found = category_codes(self.frame[self._known(name)])[1]
        given = [str(category) for category in categories]
        if len(set(given)) < len(given):
            raise TableError(f"The order of {quoted(name)} names a level twice; name each level once.")
        if absent := [text for text in found if text not in given]:
            raise TableError(f"The order of {quoted(name)} leaves out {listed(list(map(quoted, absent)))}.")
        return replace(
            self,
            _roles={**self._roles, name: "ordinal"},
            _orders={**self._orders, name: tuple(given)},
        )

    def with_target(self, name: str) -> Table:
        """A copy that predicts another column.

        Raises
        ------
        TableError
            There is no such column.
        """
        return replace(self, target=self._known(name), _target_reason="", chosen_class=None)

    def with_positive_class(self, label: Any) -> Table:
        """A copy that predicts another of the target's two classes.

        Parameters
        ----------
        label : one of `labels`, or its text

        Raises
        ------
        TableError
            The target does not have two classes, or neither is `label`.
        """
        return replace(self, chosen_class=find(self._two_classes, label, self.target))

    @cached_property
    def positive_class(self) -> Any:
        """Of a target with two classes the one to predict: as given, else the rarer, of equals the second."""
        if self.chosen_class is None and self._two_classes is not None:
            return self._two_classes.usual
        return self.chosen_class

    @cached_property
    def _two_classes(self) -> TwoClasses | None:
        return None if self.target is None else TwoClasses.of(self.labels())

    def features(self) -> pd.DataFrame:
        """The columns to learn from, in the dtypes of their roles, for the rows that have a target.

        Returns
        -------
        DataFrame
            numeric: float64; boolean: two categories; nominal: unordered categories; ordinal: ordered ones. The
            index holds spreadsheet row numbers.
        """
        return self._features.copy(deep=False)

    def labels(self) -> pd.Series:
        """The target's values for the rows that have one, with the index of `features`.

        Whole numbers are int64, truth values bool, everything else text.

        Raises
        ------
        TableError
            No target is chosen.
        """
        if self.target is None:
            raise TableError("No column is chosen as the target; choose the one to predict.")
        return as_labels(self.frame[self.target].dropna())

    @cached_property
    def _features(self) -> pd.DataFrame:
        frame = self.frame
        if self.target is not None:
            with_target = frame[self.target].notna()
            frame = frame if with_target.all() else frame[with_target]
        columns = {}
        for name in self.frame.columns:
            role = self.role(name)
            if name != self.target and role != "ignored":
                order = self._orders.get(name, self._guesses[name].order) if role == "ordinal" else ()
                # Categories are those of the whole file, whichever rows have a target.
                if role != "numeric" and not order:
                    order = tuple(levels_of(self.frame[name]))
                columns[name] = typed(frame[name], role, self._decimal, order)
        return pd.DataFrame(columns, index=frame.index)

    def _known(self, name: str) -> str:
        if name not in self._guesses:
            raise TableError(f"There is no column {quoted(name)}.")
        return name

    def _find_problems(self) -> Iterator[Problem]:
        yield from self._read_problems
        features = self._features
        if self.n_rows < 2:
            yield Problem(
                "error", None, "The file has one row of data; a rule needs more than one row to learn from."
            )
        if self.target is None:
            message = f"No column has 2 to {MAX_CLASSES} different values; choose the column to predict."
            yield Problem("error", None, message)
        else:
            yield from checks.target_problems(self.target, self.frame[self.target])
        if features.shape[1] == 0:
            message = "No column is left to learn from; give at least one column a role other than ignored."
            if self.frame.shape[1] == 1:
                message = (
                    f"The file has one column only, {quoted(self.frame.columns[0])}. Check the separator."
                )
            yield Problem("error", None, message)
        yield from self._column_problems()
        yield from checks.left_out_problems(info for info in self.columns if info.name != self.target)
        if self.target is not None and features.shape[1] and len(features):
            labels = self.labels()
            if labels.nunique() <= MAX_CLASSES:
                yield from checks.leak_problems(features, labels)
                yield from checks.duplicate_problems(features, labels)

    def _column_problems(self) -> Iterator[Problem]:
        for info in self.columns:
            name = info.name
            if name == self.target:
                continue
            if info.role == "ignored":
                continue
            if info.n_unique <= 1:
                found = "no values" if info.n_unique == 0 else "the same value in every row"
                message = f"Column {quoted(name)} has {found}; nothing can be learned from it."
                yield Problem("warning", name, message)
            if info.role == "numeric":
                spoilt = spoilt_cells(self.frame[name], self._decimal)
                if len(spoilt):
                    yield checks.spoilt_problem(name, spoilt)
                yield from checks.hidden_missing_problems(
                    name, typed(self.frame[name], "numeric", self._decimal, ()).to_numpy()
                )
            yield from checks.missing_problems(name, info.n_missing, self.n_rows)

    def _role_assumptions(self) -> Iterator[str]:
        if self.target is not None and self._target_reason:
            yield f"{quoted(self.target)} is the column to predict, {self._target_reason}."
        if self._two_classes is not None and self.chosen_class is None:
            yield self._two_classes.assumption
        guessed = [info for info in self.columns if info.name not in self._roles and info.name != self.target]
        left_out = [f"{quoted(i.name)} ({i.note})" for i in guessed if i.role == "ignored"]
        if left_out:
            yield f"Left out: {listed(left_out)}."
        for info in guessed:
            if info.role == "ordinal" and info.name not in self._orders:
                levels = self._guesses[info.name].order
                shown = levels if len(levels) <= 6 else (*levels[:2], "…", *levels[-2:])
                yield f"{quoted(info.name)} is in order: {' < '.join(map(quoted, shown)).replace(quoted('…'), '…')}."
        codes = [quoted(i.name) for i in guessed if i.role == "numeric" and i.note.endswith("whole numbers")]
        if codes:
            yield (
                f"{listed(codes)} {'is' if len(codes) == 1 else 'are'} read as numbers with an order; "
                "if the numbers are codes, choose nominal."
            )
        switches = [
            quoted(i.name) for i in guessed if i.role == "boolean" and is_number_column(self.frame[i.name])
        ]
        if switches:
            verb = (
                "is read as a yes-or-no column, having"
                if len(switches) == 1
                else "are yes-or-no columns, having"
            )
            yield f"{listed(switches)} {verb} two numbers only."


def read_table(
    source: Source,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    roles: Mapping[str, TableRole] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    target: str | None = None,
    positive_class: Any = None,
) -> Table:
    """Read a CSV file and guess what is not given.

    Parameters
    ----------
    source : path, bytes, or file object; may be gzip-compressed
    separator, encoding, decimal : how to read the file
    roles : roles of columns by name
    orders : the levels of ordinal columns by name, lowest first
    target : the column to predict
    positive_class : of a target with two classes the one to predict, or its text

    Raises
    ------
    TableError
        The file is not a table, or something given does not fit it.
    """
    raw = read_raw(source, separator, encoding, decimal)
    given = {"separator": separator, "encoding": encoding, "decimal": decimal}
    frame = pd.DataFrame({name: as_read(raw.frame[name], raw.decimal) for name in raw.frame})
    numbers = [name for name in frame.columns if is_number_column(frame[name])]
    assumptions = tuple(reading_assumptions(raw, numbers, {what for what, value in given.items() if value}))
    table = _assemble(frame, raw.decimal, assumptions, raw.problems)
    return _override(table, target, positive_class, roles, orders)


def _assemble(
    frame: pd.DataFrame, decimal: str, assumptions: tuple[str, ...], problems: tuple[Problem, ...]
) -> Table:
    guesses = {name: guess_role(name, frame[name], decimal) for name in frame.columns}
    target, reason = guess_target(list(frame.columns), [int(frame[name].nunique()) for name in frame.columns])
    return Table(
        frame,
        target,
        decimal,
        guesses,
        _read_assumptions=assumptions,
        _read_problems=problems,
        _target_reason=reason,
    )


def _override(
    table: Table,
    target: str | None,
    positive_class: Any,
    roles: Mapping[str, TableRole] | None,
    orders: Mapping[str, Sequence[str]] | None,
) -> Table:
    for name, role in (roles or {}).items():
        table = table.with_role(name, role)
    for name, order in (orders or {}).items():
        table = table.with_order(name, order)
    table = table if target is None else table.with_target(target)
    return table if positive_class is None else table.with_positive_class(positive_class)
