"""A set of rules that together predict: votes, explanations, statistics, words.

A rule that holds for a row adds its weight to the row's votes, on top of the intercept. With two classes
there is one sum, and class 1 is predicted when it is 0 or more (SSL paper, eq. 6); with more, one sum per
class, and the largest wins, ties going to the first class. Weights and intercepts are whole multiples of
2**-16, so sums are exact in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from tmcore.conditions import Condition, RawColumn, RuleColumn, visible, weight_text
from tmcore.rule import (
    Explanation,
    FiredRule,
    NearMiss,
    Rule,
    Weight,
    as_tuple,
    like,
    n_correct,
    with_counts,
)

Labels = Sequence[Any] | pd.Series | NDArray[Any]
ROWS_AT_ONCE = 65_536


@dataclass(frozen=True, eq=False)
class RuleSet:
    """Rules that together predict.

    Attributes
    ----------
    classes : ndarray (n_classes,)
        Labels, in the order of the weights; empty for rules that predict a number, see `NumberRules`.
    intercept : float or tuple of float
        Votes before any rule.
    rules : tuple of Rule
    columns : tuple of RuleColumn
        Every column the model was trained on.
    n_rows : int or None
        Rows that `support` refers to.
    by_name : bool
        Whether the columns of a DataFrame are found by name; by position otherwise.
    edited : bool
        Whether somebody changed the rules by hand after they were learned.
    """

    classes: NDArray[Any]
    intercept: Weight
    rules: tuple[Rule, ...]
    columns: tuple[RuleColumn, ...]
    n_rows: int | None = None
    by_name: bool = True
    edited: bool = False

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __getitem__(self, index: int) -> Rule:
        return self.rules[index]

    @property
    def n_literals(self) -> int:
        """Included bounds of all rules."""
        return sum(rule.n_literals for rule in self.rules)

    @property
    def weight_step(self) -> float:
        """What weights that somebody types are rounded to, a power of two; sums of them stay exact."""
        return 2.0**-16

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes as they are shown."""
        return tuple(visible(label) for label in self.classes)

    def shown(self, number: float) -> str:
        """Return a weight, or a sum of weights, with its sign as texts have it."""
        return weight_text(number)

    def class_text(self, rule: Rule) -> str:
        """Return the class a rule speaks for as shown: "disease" or "not disease"."""
        index, against = rule.speaks_for
        return ("not " if against else "") + self.class_names[min(index, len(self.classes) - 1)]

    def outputs(self, X: pd.DataFrame | NDArray[Any]) -> NDArray[np.bool_]:
        """Return which rules hold for which rows, bool (n_rows, n_rules)."""
        parts = list(self._outputs_in_parts(X))
        return np.concatenate(parts) if parts else np.zeros((0, len(self)), bool)

    def votes(self, X: pd.DataFrame | NDArray[Any]) -> NDArray[np.float64]:
        """Return the vote sums on raw values.

        Returns
        -------
        ndarray of float64, shape (n_rows, 1) with two classes, else (n_rows, n_classes)

        Raises
        ------
        ValueError
            If a column that the rules use is missing or holds text or infinities where numbers are needed.
        """
        weights = np.array([as_tuple(rule.weights) for rule in self.rules], dtype=np.float64)
        start = np.array(as_tuple(self.intercept), dtype=np.float64)
        weights = weights.reshape(len(self), len(start))
        parts = [outputs.astype(np.float64) @ weights + start for outputs in self._outputs_in_parts(X)]
        return np.concatenate(parts) if parts else np.zeros((0, len(start)))

    def predict(self, X: pd.DataFrame | NDArray[Any]) -> NDArray[Any]:
        """Return the predicted labels, (n_rows,)."""
        return self.answers(self.votes(X))

    def answers(self, votes: NDArray[np.float64]) -> NDArray[Any]:
        """Return what each row of vote sums, (n_rows, 1 | n_classes), predicts."""
        return self.classes[self.winners(votes)]

    def winners(self, votes: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the index of the class that each row of vote sums, (n_rows, 1 | n_classes), stands for."""
        if len(self.classes) == 1:
            return np.zeros(len(votes), dtype=np.intp)
        if votes.shape[1] == 1:
            return (votes[:, 0] >= 0).astype(np.intp)
        return np.argmax(votes, axis=1)

    def _outputs_in_parts(self, X: pd.DataFrame | NDArray[Any]) -> Iterator[NDArray[np.bool_]]:
        values = self._values(X)
        n_rows = X.shape[0]
        for start in range(0, n_rows, ROWS_AT_ONCE):
            stop = min(start + ROWS_AT_ONCE, n_rows)
            masks = _masks({condition: raw.part(start, stop) for condition, raw in values.items()})
            outputs = np.ones((len(self), stop - start), dtype=bool)
            for row, rule in zip(outputs, self.rules, strict=True):
                for condition in rule.conditions:
                    row &= masks[condition]
            yield outputs.T

    def _values(self, X: pd.DataFrame | NDArray[Any]) -> dict[Condition, RawColumn]:
        """Return each distinct condition with the values it tests; every column is read once."""
        frame = self._frame(X)
        read: dict[str, RawColumn] = {}
        values: dict[Condition, RawColumn] = {}
        for rule in self.rules:
            for condition in rule.conditions:
                if condition.column not in read:
                    read[condition.column] = RawColumn.read(frame[condition.column], condition.kind)
                values[condition] = read[condition.column]
        return values

    def _frame(self, X: pd.DataFrame | NDArray[Any]) -> pd.DataFrame:
        """Return the columns that rules use, under the names that rules use."""
        if sparse.issparse(X):
            return self._dense_columns(X)
        if not isinstance(X, pd.DataFrame):
            return self._by_position(pd.DataFrame(np.asarray(X)))
        if not self.by_name:
            return self._by_position(X)
        frame = X.set_axis([str(name) for name in X.columns], axis=1)
        needed = list(dict.fromkeys(condition.column for rule in self.rules for condition in rule.conditions))
        for name in needed:
            count = int((frame.columns == name).sum())
            if count != 1:
                problem = "is missing" if count == 0 else f"is there {count} times"
                raise ValueError(f"Column '{name}' {problem}; the rules use it, so give it once.")
        return frame[needed]

    def _dense_columns(self, X: Any) -> pd.DataFrame:
        """Return the used columns of a sparse matrix, the only ones that are made dense."""
        if X.shape[1] != len(self.columns):
            raise ValueError(
                f"The data have {X.shape[1]} columns, but the rules were made for {len(self.columns)}."
            )
        used = {condition.column for rule in self.rules for condition in rule.conditions}
        positions = [k for k, column in enumerate(self.columns) if column.name in used]
        cells = X.tocsc()[:, positions].toarray()
        return pd.DataFrame(cells, columns=[self.columns[k].name for k in positions])

    def _by_position(self, frame: pd.DataFrame) -> pd.DataFrame:
        if frame.shape[1] != len(self.columns):
            raise ValueError(
                f"The data have {frame.shape[1]} columns, but the rules were made for {len(self.columns)}."
            )
        return frame.set_axis([column.name for column in self.columns], axis=1)

    def explain(self, row: Mapping[Any, Any] | pd.Series | pd.DataFrame | NDArray[Any]) -> Explanation:
        """Explain one row.

        Parameters
        ----------
        row : mapping or Series from column name to raw value, DataFrame with one row, or array (n_columns,)

        Raises
        ------
        ValueError
            If `row` is a DataFrame without exactly one row, or misses a column the rules use.
        """
        if isinstance(row, pd.DataFrame):
            frame = row
        elif isinstance(row, np.ndarray):
            frame = self._by_position(pd.DataFrame(row.reshape(1, -1)))
        else:
            frame = pd.DataFrame([dict(row)])
        if len(frame) != 1:
            raise ValueError(f"One row can be explained at a time, but {len(frame)} were given.")
        masks = _masks(self._values(frame))
        fired: list[FiredRule] = []
        near: list[NearMiss] = []
        for number, rule in enumerate(self.rules, start=1):
            failed = [condition for condition in rule.conditions if not masks[condition][0]]
            if not failed:
                fired.append(FiredRule(number, rule, rule.weights))
            elif len(failed) == 1:
                near.append(NearMiss(number, rule, failed[0]))
        votes = self.votes(frame)
        sums = tuple(votes[0].tolist())
        return Explanation(
            predicted=self.answers(votes)[0],
            votes=like(sums, self.intercept),
            intercept=self.intercept,
            fired=tuple(fired),
            near_misses=tuple(near),
        )

    def statistics(self, X: pd.DataFrame | NDArray[Any], y: Labels) -> pd.DataFrame:
        """Count what each rule covers in labelled rows, for example test rows.

        Returns
        -------
        DataFrame, one row per rule, index `number` from 1
            n_rows covered; support, their share of all rows; n_correct, those of the class the rule speaks
            for (not of it for a "not X" rule); precision = n_correct / n_rows, NaN where nothing is
            covered; and a column "covered <class>" for each class.

        Raises
        ------
        ValueError
            If `X` and `y` differ in length.
        """
        covered, n_rows, total = self._count(X, y)
        cells = zip(self.rules, covered.tolist(), n_rows.tolist(), strict=True)
        correct = [n_correct(rule, counts, n) for rule, counts, n in cells]
        frame = pd.DataFrame({"n_rows": n_rows}, index=self._numbers())
        frame["support"] = n_rows / total if total else np.nan
        frame["n_correct"] = np.array(correct, dtype=np.int64)
        frame["precision"] = frame["n_correct"] / frame["n_rows"].where(frame["n_rows"] > 0)
        names = [f"covered {name}" for name in self.class_names]
        counts = pd.DataFrame(covered, index=frame.index, columns=names)
        return pd.concat([frame, counts], axis=1)

    def _count(
        self, X: pd.DataFrame | NDArray[Any], y: Labels
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """Return covered rows per rule and class, covered rows per rule (any label), and all rows."""
        labels = pd.Index(self.classes).get_indexer(pd.Index(np.asarray(y)))
        if len(labels) != len(X):
            raise ValueError(f"There are {len(X)} rows but {len(labels)} labels; give one label per row.")
        covered = np.zeros((len(self), len(self.classes)), dtype=np.int64)
        n_rows = np.zeros(len(self), dtype=np.int64)
        start = 0
        for outputs in self._outputs_in_parts(X):
            part = labels[start : start + len(outputs)]
            start += len(outputs)
            n_rows += outputs.sum(axis=0)
            for index in range(len(self.classes)):
                covered[:, index] += outputs[part == index].sum(axis=0)
        return covered, n_rows, len(labels)

    def with_statistics(self, X: pd.DataFrame | NDArray[Any], y: Labels) -> RuleSet:
        """Return the same rules with support, precision and covered counts from these rows."""
        covered, n_rows, total = self._count(X, y)
        rules = (
            with_counts(replace(rule, support=n / total if total else None), tuple(counts), n)
            for rule, counts, n in zip(self.rules, covered.tolist(), n_rows.tolist(), strict=True)
        )
        return replace(self, rules=tuple(rules), n_rows=total)

    def simplify(self) -> RuleSet:
        """Return fewer and shorter rules with the same votes for every possible input; see `tmcore.simplify`."""
        from tmcore.simplify import simplify  # it makes rule sets, so this cannot be at the top

        return simplify(self)

    def _numbers(self) -> pd.RangeIndex:
        return pd.RangeIndex(1, len(self) + 1, name="number")

    def sentence(self, rule: Rule) -> str:
        """Return one rule in words: "IF ... THEN disease, +1.30"."""
        weights = as_tuple(rule.weights)
        index, _ = rule.speaks_for
        main = weights[0] if len(weights) == 1 else weights[index]
        others = [
            f"{name} {weight_text(weight)}"
            for k, (name, weight) in enumerate(zip(self.class_names, weights, strict=False))
            if len(weights) > 1 and k != index and weight != 0
        ]
        more = f" ({', '.join(others)})" if others else ""
        return f"IF {rule.text()} THEN {self.class_text(rule)}, {weight_text(main)}{more}"

    def to_text(self) -> str:
        """Return how to add up, the start, and every rule as a numbered sentence, one per line."""
        names, start = self.class_names, as_tuple(self.intercept)
        if len(start) == 1:
            how = (
                f"Start at {weight_text(start[0])} and add the weight of every rule that holds: "
                f"0 or more means {names[-1]}, less means {names[0]}."
            )
        else:
            at = ", ".join(f"{name} {weight_text(weight)}" for name, weight in zip(names, start, strict=True))
            how = (
                f"Start at {at} and add the weights of every rule that holds: the class with the largest sum "
                "is the answer, the first of them if equal."
            )
        lines = (f"{number}. {self.sentence(rule)}" for number, rule in enumerate(self.rules, start=1))
        return "\n".join([how, *lines]) + "\n"

    def to_frame(self) -> pd.DataFrame:
        """Return one row per rule, index `number` from 1.

        Columns rule (conditions in words), class, weight (or "weight <class>" for each class), literals,
        support and precision (NaN where not known).
        """
        columns: dict[str, Any] = {
            "rule": [rule.text() for rule in self.rules],
            "class": [self.class_text(rule) for rule in self.rules],
        }
        for k, name in enumerate(self.weight_names()):
            columns[name] = np.array([as_tuple(rule.weights)[k] for rule in self.rules], dtype=np.float64)
        columns["literals"] = np.array([rule.n_literals for rule in self.rules], dtype=np.int64)
        for name in ("support", "precision"):
            columns[name] = np.array([getattr(rule, name) for rule in self.rules], dtype=np.float64)
        return pd.DataFrame(columns, index=self._numbers())

    def weight_names(self) -> list[str]:
        """Return the headings of the weight columns: "weight", or "weight <class>" for each class."""
        if isinstance(self.intercept, float):
            return ["weight"]
        return [f"weight {name}" for name in self.class_names]

    def export(self, format: str) -> bytes:  # noqa: A002 - the public name
        """Return a file's bytes.

        Parameters
        ----------
        format : {"json", "csv", "markdown", "python", "sql", "spark", "pmml", "html"}
            `tmcore.export.proof.prove` writes the same and runs it.

        Raises
        ------
        ValueError
            If the format is unknown, or cannot hold a text of the data.
        """
        from tmcore.export import write  # the writers read rule sets, so this cannot be at the top

        return write(self, format)

    @staticmethod
    def from_json(data: bytes) -> RuleSet:
        """Read back what ``export("json")`` wrote; see `tmcore.export.read_json`."""
        from tmcore.export import read_json

        return read_json(data)


def _masks(values: dict[Condition, RawColumn]) -> dict[Condition, NDArray[np.bool_]]:
    return {condition: condition.holds(raw) for condition, raw in values.items()}
