"""A table to learn from: its columns, their roles, the target, and the problems found before training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pandas as pd

from tmcore import label_choices, predicted
from tmcore.column_info import ColumnInfo
from tmcore.columns import category_codes
from tmcore.guess import (
    MAX_CLASSES,
    ROLES,
    Guess,
    TableRole,
    as_read,
    guess_role,
    guess_target,
    looks_measured,
)
from tmcore.label_choices import LabelChoices
from tmcore.predicted import TASKS, TaskName
from tmcore.problems import SEVERITIES, Problem, TableError, counted, listed, quoted
from tmcore.read_csv import MAX_BYTES, MAX_COLUMNS, MAX_ROWS, Source, read_raw
from tmcore.reading_assumptions import reading_assumptions
from tmcore.role_assumptions import limit_assumptions, role_assumptions
from tmcore.table_checks import find_problems
from tmcore.two_classes import TwoClasses, find
from tmcore.typed import as_labels, is_number_column, levels_of, limit_cells, number_note, spoilt_cells, typed

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


@dataclass(frozen=True, eq=False)
class Table:
    """An immutable table; the ``with_`` methods return changed copies.

    Attributes
    ----------
    frame : all columns as read, indexed by spreadsheet row numbers (the header is row 1). Columns in which every
        cell is a number are numbers, all others text; missing cells are NaN.
    target : the column to predict, None until one is known
    chosen_class : of a target with two classes the one to predict, None where nobody chose; see `positive_class`
    chosen_task : "classes" or "numbers", None where nobody chose; see `task`
    label_choices : labels of the target that are read as another or left out; see `with_label`
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
    chosen_task: TaskName | None = None
    label_choices: LabelChoices = field(default_factory=dict)

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
        table = _assemble(frame.set_axis(names, axis=1).set_axis(rows, axis=0), ".", ())
        return _override(table, target, None, None, roles, None)

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
            if role == "numeric":
                note = number_note(values, self._decimal) or note
            infos.append(ColumnInfo(name, role, int(values.isna().sum()), int(values.nunique()), note))
        return infos

    def role(self, name: str) -> TableRole:
        """The role of a column, as guessed or as given."""
        return self._roles.get(name, self._guesses[self._known(name)].role)

    @cached_property
    def problems(self) -> list[Problem]:
        """Everything found, worst first; an "error" means that training is not possible."""
        found = [*self._read_problems, *find_problems(self, self._features, self._decimal)]
        return sorted(found, key=lambda problem: SEVERITIES.index(problem.severity))

    @cached_property
    def assumptions(self) -> list[str]:
        """What was assumed rather than known, in plain sentences."""
        return [*self._read_assumptions, *self._role_assumptions(), *self.label_notes.values()]

    @cached_property
    def label_notes(self) -> dict[str, str]:
        """Of each label of the target that is read as another or left out, the sentence of `assumptions` about it."""
        return {} if self.target is None else label_choices.notes(self.frame[self.target], self.label_choices)

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
        target = replace(self, target=self._known(name), _target_reason="", label_choices={})
        return replace(target, chosen_class=None, chosen_task=None)

    def with_task(self, task: TaskName) -> Table:
        """A copy that predicts the target as one of its "classes", or as one of the "numbers".

        Raises
        ------
        TableError
            No target is chosen, or numbers are asked for and it holds something else.
        """
        if self.target is None:
            raise TableError("No column is chosen as the target; choose the one to predict.")
        if task == "numbers":
            predicted.read_numbers(self.target, self.frame[self.target], self._decimal)
            return replace(self, chosen_task=task, chosen_class=None, label_choices={})
        return replace(self, chosen_task=task, chosen_class=None)

    @cached_property
    def task(self) -> TaskName:
        """What is predicted: as chosen, else "numbers" where the target has more of them than there may be classes."""
        if self.chosen_task is not None or self.target is None:
            return self.chosen_task or TASKS[0]
        return predicted.usual_task(self.frame[self.target], self._decimal)

    @property
    def possible_tasks(self) -> tuple[TaskName, ...]:
        """What the target can be predicted as; nothing without a target."""
        if self.target is None:
            return ()
        return predicted.possible_tasks(self.frame[self.target], self._decimal)

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

    def with_label(self, label: str, read_as: str | None) -> Table:
        """A copy in which a label, by its text, is read as another; None leaves its rows out, itself takes that back.

        Raises
        ------
        TableError
            No class is predicted, the target has no such label, or `read_as` is itself read as another or left out.
        """
        if self.target is None or self.task == "numbers":
            raise TableError("Labels can be left out or read as others where a class is predicted.")
        choices = label_choices.chosen(self.frame[self.target], self.label_choices, label, read_as)
        changed = replace(self, label_choices=choices)
        classes = changed._two_classes
        kept = classes is not None and self.chosen_class in (classes.first, classes.second)
        return changed if kept else replace(changed, chosen_class=None)

    @cached_property
    def positive_class(self) -> Any:
        """Of a target with two classes the one to predict: as given, else the rarer, of equals the second."""
        if self.chosen_class is None and self._two_classes is not None:
            return self._two_classes.usual
        return self.chosen_class

    @cached_property
    def _two_classes(self) -> TwoClasses | None:
        if self.target is None or self.task == "numbers":
            return None
        return TwoClasses.of(self.labels())

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

        Of classes, whole numbers are int64, truth values bool, everything else text; numbers to predict are float64.

        Raises
        ------
        TableError
            No target is chosen.
        """
        if self.target is None:
            raise TableError("No column is chosen as the target; choose the one to predict.")
        if self.task == "numbers":
            return predicted.read_numbers(self.target, self.frame[self.target], self._decimal)
        return as_labels(self.answers)

    @cached_property
    def answers(self) -> pd.Series:
        """The target's cells as read, without missing ones; labels as `with_label` has them."""
        values = self.frame[self.target]
        return label_choices.answers(values, self.label_choices) if self.label_choices else values.dropna()

    @cached_property
    def _features(self) -> pd.DataFrame:
        frame = self.frame
        if self.target is not None and len(self.answers) < len(frame):
            frame = frame.loc[self.answers.index]
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

    def _role_assumptions(self) -> Iterator[str]:
        if self.target is not None and self._target_reason:
            yield f"{quoted(self.target)} is the column to predict, {self._target_reason}."
        if self.target is not None and self.chosen_task is None and self.task == "numbers":
            yield predicted.assumption(self.target, self.frame[self.target])
        if self._two_classes is not None and self.chosen_class is None:
            yield self._two_classes.assumption
        guessed = [info for info in self.columns if info.name not in self._roles and info.name != self.target]
        orders = {
            info.name: self._guesses[info.name].order
            for info in guessed
            if info.role == "ordinal" and info.name not in self._orders
        }
        switches = [i.name for i in guessed if i.role == "boolean" and is_number_column(self.frame[i.name])]
        yield from role_assumptions(guessed, orders, switches)
        asked = [i.name for i in self.columns if i.role == "numeric" and i.name != self.target]
        asked += [self.target] if self.target is not None and self.task == "numbers" else []
        yield from limit_assumptions({name: limit_cells(self.frame[name], self._decimal) for name in asked})


def read_table(
    source: Source,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    roles: Mapping[str, TableRole] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    target: str | None = None,
    task: TaskName | None = None,
    positive_class: Any = None,
    labels: LabelChoices | None = None,
) -> Table:
    """Read a CSV file and guess what is not given.

    Parameters
    ----------
    source : path, bytes, or file object; may be gzip-compressed
    separator, encoding, decimal : how to read the file
    roles : roles of columns by name
    orders : the levels of ordinal columns by name, lowest first
    target : the column to predict
    task : whether it is predicted as one of the "classes" or of the "numbers"; None goes by its values
    positive_class : of a target with two classes the one to predict, or its text
    labels : labels of the target by their text: the label that each is read as, None to leave its rows out

    Raises
    ------
    TableError
        The file is not a table, or something given does not fit it.
    """
    raw = read_raw(source, separator, encoding, decimal)
    given = {"separator": separator, "encoding": encoding, "decimal": decimal}
    frame = pd.DataFrame({name: as_read(raw.frame[name], raw.decimal) for name in raw.frame})
    table = _assemble(frame, raw.decimal, raw.problems)
    numbers = [
        name for name in raw.frame.columns if is_number_column(frame[name]) or table.role(name) == "numeric"
    ]
    assumptions = tuple(reading_assumptions(raw, numbers, {what for what, value in given.items() if value}))
    table = replace(table, _read_assumptions=assumptions)
    return _override(table, target, task, positive_class, roles, orders, labels)


def _assemble(frame: pd.DataFrame, decimal: str, problems: tuple[Problem, ...]) -> Table:
    guesses = {name: guess_role(name, frame[name], decimal) for name in frame.columns}
    names, last = list(frame.columns), frame.columns[-1]
    measured = looks_measured(last, frame[last], guesses[last].role)
    target, reason = guess_target(names, [int(frame[name].nunique()) for name in names], measured)
    return Table(frame, target, decimal, guesses, _read_problems=problems, _target_reason=reason)


def _override(
    table: Table,
    target: str | None,
    task: TaskName | None,
    positive_class: Any,
    roles: Mapping[str, TableRole] | None,
    orders: Mapping[str, Sequence[str]] | None,
    labels: LabelChoices | None = None,
) -> Table:
    for name, role in (roles or {}).items():
        table = table.with_role(name, role)
    for name, order in (orders or {}).items():
        table = table.with_order(name, order)
    table = table if target is None else table.with_target(target)
    table = table if task is None else table.with_task(task)
    for label, read_as in (labels or {}).items():
        table = table.with_label(label, read_as)
    return table if positive_class is None else table.with_positive_class(positive_class)
