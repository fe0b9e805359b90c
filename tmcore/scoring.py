"""New rows through a kept model: predictions, votes, and the rules behind each, for command line and browser alike."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np

from tmcore.encoders import AnyEncoder
from tmcore.export.csv_format import neutral
from tmcore.new_rows import fit_columns
from tmcore.read_csv import RawTable
from tmcore.ruleset import RuleSet
from tmcore.settling import NO_CLASSES

if TYPE_CHECKING:
    from tmcore.estimators import TsetlinClassifier
    from tmcore.regressor import TsetlinRegressor


@dataclass(frozen=True, eq=False)
class Scored:
    """Answers for the rows of a file.

    Attributes
    ----------
    rows : tuple of int
        Each row's number in the file, the header being row 1.
    classes : tuple of str
        In the order of `probabilities` and of `votes` where there are more than two.
    predicted : list
        Labels.
    probabilities : ndarray (n_rows, n_classes) or None
        None where nothing says how votes become probabilities.
    votes : ndarray (n_rows, 1) with two classes, else (n_rows, n_classes); no columns where a number is predicted
    fired : ndarray of bool (n_rows, n_rules)
    numbers : tuple of int
        The number of each rule.
    notes : tuple of str
        What in the file did not fit, one sentence each.
    """

    rows: tuple[int, ...]
    classes: tuple[str, ...]
    predicted: list[Any]
    probabilities: np.ndarray | None
    votes: np.ndarray
    fired: np.ndarray
    numbers: tuple[int, ...]
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def head(self) -> list[str]:
        """The headings of `cells`."""
        shares = [] if self.probabilities is None else [f"probability {name}" for name in self.classes]
        sums = ["votes"] if self.votes.shape[1] == 1 else [f"votes {name}" for name in self.classes]
        return ["row", "prediction", *shares, *sums, "rules"]

    def cells(self, start: int = 0, stop: int | None = None) -> Iterator[list[Any]]:
        """The row's number, prediction, probabilities, votes, and numbers of the rules that hold ("1; 4")."""
        for k in range(*slice(start, stop).indices(len(self))):
            shares = [] if self.probabilities is None else self.probabilities[k].tolist()
            rules = "; ".join(str(self.numbers[i]) for i in np.flatnonzero(self.fired[k]))
            yield [self.rows[k], self.predicted[k], *shares, *self.votes[k].tolist(), rules]

    def to_csv(self) -> bytes:
        """All rows as CSV, marked as UTF-8 for spreadsheets."""
        out = io.StringIO()
        write_csv(out, [self.head(), *self.cells()])
        return out.getvalue().encode("utf-8-sig", errors="backslashreplace")


def score(
    raw: RawTable,
    encoder: AnyEncoder,
    rules: RuleSet | None,
    model: TsetlinClassifier | TsetlinRegressor | None = None,
    threshold: float | None = None,
    numbers: Sequence[int] | None = None,
    renamed: Mapping[str, str] | None = None,
) -> Scored:
    """Score the rows of a file.

    Parameters
    ----------
    raw : RawTable
    encoder : the encoder of the training, which knows the columns
    rules : RuleSet, optional
        None for a model that has not been settled; then no rules are named.
    model : TsetlinClassifier or TsetlinRegressor, optional
        The estimator that `rules` are the rules of. Without it, for example for rules edited by hand, there are no
        probabilities.
    threshold : float, optional
        With two classes and a model: the probability from which the second class is predicted, instead of the votes'
        own answer.
    numbers : sequence of int, optional
        The number of each rule, by default from 1.
    renamed : mapping, optional
        Columns of the training to the columns of the file to read for them, see `fit_columns`.

    Raises
    ------
    TableError
        Columns of the training are missing from the file, or `renamed` does not fit.
    ValueError
        Neither rules nor a model are given.
    """
    frame, notes = fit_columns(raw, encoder, renamed)
    X = frame if encoder.by_name else frame.to_numpy(dtype=object)
    if rules is None and model is None:
        raise ValueError("Give score the rules, the model, or both.")
    answering: Any = model if rules is None else rules
    predicted = answering.predict(X)
    fired = np.zeros((len(frame), 0), bool) if rules is None else rules.outputs(X)
    classes = getattr(answering, "rule_classes_" if rules is None else "classes", NO_CLASSES)
    shares, votes = None, np.zeros((len(frame), 0))
    if len(classes):
        shares = None if model is None else cast("TsetlinClassifier", model).rule_probabilities(X)
        votes = answering.vote_sums(X) if rules is None else rules.votes(X)
    if threshold is not None and shares is not None and len(classes) == 2:
        predicted = classes[(shares[:, 1] >= threshold).astype(int)]
    return Scored(
        rows=tuple(int(row) for row in frame.index),
        classes=tuple(str(label) for label in classes),
        predicted=predicted.tolist(),
        probabilities=shares,
        votes=votes,
        fired=fired,
        numbers=tuple(numbers or range(1, fired.shape[1] + 1)),
        notes=(*(problem.message for problem in raw.problems), *notes),
    )


def write_csv(file: IO[str], rows: Iterable[Sequence[Any]], line_end: str = "\r\n") -> None:
    """Write CSV rows: texts that no spreadsheet takes for a formula, floats with all their digits."""
    writer = csv.writer(file, lineterminator=line_end)
    for row in rows:
        writer.writerow([neutral(cell) if isinstance(cell, str) else cell for cell in row])
