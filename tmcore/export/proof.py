"""Proves a file before it is handed out: the bytes themselves are run and compared with the model.

Rows are those given and many generated ones. The sentence that says what was run stands in the file, where
the format has room, before the file is run; a file that fails is not to be handed out.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tmcore.columns import as_floats, category_codes
from tmcore.estimators import TsetlinClassifier
from tmcore.export import FORMATS, write
from tmcore.export.about import NOTHING, About
from tmcore.export.asked import used_columns
from tmcore.export.checks import READ, RUN, Answer, Check, CheckError, Task
from tmcore.export.generated import generate
from tmcore.export.labels import plain_labels
from tmcore.model_files import load
from tmcore.regressor import TsetlinRegressor
from tmcore.rule import as_tuple
from tmcore.ruleset import RuleSet

N_GENERATED = 20_000
MOST_TESTS = 15_000_000
"""Rules times rows that a check works through; of more rows only the first are checked."""

TOLERANCE = 1e-9
MODEL = "model"
"""The format of the whole model, which `tmcore.load` reads."""

SHOWN_ROWS = 20

Model = TsetlinClassifier | TsetlinRegressor


@dataclass(frozen=True)
class Proof:
    """A file and whether it says what the model says.

    Attributes
    ----------
    format : str
        A name in FORMATS, or "model".
    data : bytes
        The file that was run; to be handed out only where `equal`.
    equal : bool
        Whether votes (to 1e-9) and classes were those of the model in every row; of rules that predict a number the
        numbers, to 1e-9 of the largest weight.
    n_rows, n_given, n_generated : int
        Rows checked, of how many given, and generated rows checked. 0 for a format that is for reading only.
    checker : str
        What ran the file, in words.
    against : str
        What it was compared with, in words: "the model", or "the rules" where no model was given.
    differing : tuple of int
        Numbers from 0 of the rows that differ; `n_rows` and more are generated ones.
    examples : DataFrame
        The first of them, with the classes and votes of both sides.
    reason : str
        Why the file could not be run, if it could not.
    answers : str
        What was compared: "votes", or "numbers" where the rules predict one.
    """

    format: str
    data: bytes = field(repr=False)
    equal: bool
    n_rows: int
    n_given: int
    n_generated: int
    checker: str
    against: str = "the model"
    differing: tuple[int, ...] = ()
    examples: pd.DataFrame = field(default_factory=pd.DataFrame, repr=False)
    reason: str = ""
    answers: str = "votes"

    @property
    def badge(self) -> str:
        """The result in a few words: "Proven equal", "Not equal on 3 rows"."""
        if self.equal:
            return "Proven equal" if self.n_generated else "Read back"
        if not self.differing:
            return "Not checked"
        n = len(self.differing)
        return f"Not equal on {n:,} {'row' if n == 1 else 'rows'}"

    @property
    def sentence(self) -> str:
        """What was run and what came out."""
        if self.reason:
            return self.reason
        if not self.n_generated:
            return self.checker
        if self.equal:
            return f"{self.checker} and gave the same {self.answers} as {self.against} on {self._rows}."
        answers = "votes or classes" if self.answers == "votes" else self.answers
        return f"{self.checker} on {self._rows}, and {answers} are not those of {self.against}."

    @property
    def _rows(self) -> str:
        given = (
            f"all {self.n_rows:,}" if self.n_rows == self.n_given else f"{self.n_rows:,} of {self.n_given:,}"
        )
        return f"{given} rows and {self.n_generated:,} generated ones"


def prove(
    rules: RuleSet,
    format: str,  # noqa: A002 - the public name
    rows: pd.DataFrame | NDArray[Any],
    model: Model | None = None,
    about: About = NOTHING,
    n_generated: int = N_GENERATED,
    seed: int = 0,
    check: Check | None = None,
) -> Proof:
    """Write rules in a format, run the file, and compare it with the model.

    Parameters
    ----------
    rows : DataFrame or array with the columns of the model
    model : the model the rules were read from; without one the rules themselves are what to compare with
    n_generated, seed : how many rows to make up, and from which seed
    check : what runs the file instead of the format's own check in RUN

    Raises
    ------
    ValueError
        The format is unknown, or is "model" without a model.
    """
    most = max(1000, MOST_TESTS // max(1, len(rules)))
    n_rows, n_generated = min(len(rows), most), min(n_generated, most)
    answers = "votes" if len(rules.classes) else "numbers"
    empty = Proof(format, b"", True, n_rows, len(rows), n_generated, "", answers=answers)
    if format in READ:
        return _read_back(rules, empty, about)
    if format not in RUN and (format != MODEL or model is None):
        raise ValueError(f"{format!r} cannot be proven; choose {', '.join([*FORMATS, MODEL])}.")
    checker, run = check or RUN.get(format) or ("tmcore.load read the file back, its model ran", _run_model)
    proof = replace(empty, checker=checker, against="the rules" if model is None else "the model")
    generated = generate(rules, n_generated, seed)
    parts = [rows[:n_rows], generated if rules.by_name else generated.to_numpy()]
    expected = _joined([_ask(rules, model, part) for part in parts])
    told = replace(about, proof=f"Checked before download: {proof.sentence}")
    try:
        file = model_bytes(model) if model is not None and format == MODEL else write(rules, format, told)
        proof = replace(proof, data=file)
        frame = pd.concat([plain_rows(rules, part) for part in parts], ignore_index=True)
        found = run(Task(file, rules, frame, told, parts))
    except (CheckError, ValueError) as error:
        return replace(proof, equal=False, reason=str(error))
    return _compare(rules, proof, expected, found)


def _compare(rules: RuleSet, proof: Proof, expected: Answer, found: Answer) -> Proof:
    if found.votes.shape != expected.votes.shape:
        return replace(proof, equal=False, reason="The file gave another number of rows or votes.")
    near = (np.abs(found.votes - expected.votes) <= TOLERANCE * _scale(rules)).all(axis=1)
    if len(rules.classes):
        near &= np.array([a == b for a, b in zip(found.predicted, expected.predicted, strict=True)], bool)
    differing = np.flatnonzero(~near)
    first = differing[:SHOWN_ROWS]
    cells: dict[str, list[str]] = {
        "row": [f"row {k + 1}" if k < proof.n_rows else f"generated {k - proof.n_rows + 1}" for k in first]
    }
    sides = {"model": expected, "file": found}
    if len(rules.classes):
        cells |= {f"class, {side}": [str(one.predicted[k]) for k in first] for side, one in sides.items()}
    cells |= {
        f"{proof.answers}, {side}": [str(one.votes[k].tolist()) for k in first] for side, one in sides.items()
    }
    examples = pd.DataFrame(cells)
    return replace(proof, equal=not len(differing), differing=tuple(differing.tolist()), examples=examples)


def _scale(rules: RuleSet) -> float:
    """What the tolerance is a share of: votes are about one; numbers are as large as the weights."""
    if len(rules.classes):
        return 1.0
    return max(abs(as_tuple(weight)[0]) for weight in (rules.intercept, *(rule.weights for rule in rules)))


def _read_back(rules: RuleSet, proof: Proof, about: About) -> Proof:
    """Check a format for reading: it must hold every weight with all its digits, in order."""
    name, read = READ[proof.format]
    n = len(rules)
    held = f"{n:,} {'rule' if n == 1 else 'rules'}"
    checker = (
        f"{name} was read back and holds the weights of all {held}. It is for people, so nothing was run."
    )
    data = write(rules, proof.format, replace(about, proof=f"Checked before download: {checker}"))
    weights = [list(as_tuple(weight)) for weight in (rules.intercept, *(rule.weights for rule in rules))]
    found = read(data)
    equal = sorted(found) == sorted(weights)
    reason = "" if equal else f"{name} does not hold the weights of all {held}."
    return replace(proof, data=data, equal=equal, n_rows=0, n_generated=0, checker=checker, reason=reason)


def plain_rows(rules: RuleSet, rows: pd.DataFrame | NDArray[Any]) -> pd.DataFrame:
    """Return the columns that rules test as plain cells: floats with NaN, texts with None."""
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows)
    names = (
        [str(name) for name in frame.columns] if rules.by_name else [column.name for column in rules.columns]
    )
    place = {name: k for k, name in enumerate(names)}
    cells: dict[str, pd.Series] = {}
    for name, kind in used_columns(rules).items():
        values = frame.iloc[:, place[name]]
        if kind == "numeric":
            cells[name] = pd.Series(as_floats(values, name))
        else:
            codes, texts = category_codes(values)
            cells[name] = pd.Series(np.array([*texts, None], dtype=object)[codes], dtype=object)
    return pd.DataFrame(cells, index=pd.RangeIndex(len(frame)))


def model_bytes(model: Model) -> bytes:
    """Return what the model's `save` writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        return path.read_bytes()


def _run_model(task: Task) -> Answer:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(task.data)
        model = load(path)
    return _joined([_ask(task.rules, model, part) for part in task.parts])


def _ask(rules: RuleSet, model: Model | None, rows: pd.DataFrame | NDArray[Any]) -> Answer:
    """Return what the model says, or the rules where there is no model."""
    if not len(rules.classes):
        numbers = (rules if model is None else model).predict(rows)
        return Answer(numbers[:, None], numbers.tolist())
    if model is None:
        votes, predicted = rules.votes(rows), rules.predict(rows)
    else:
        assert isinstance(model, TsetlinClassifier)  # its rules predict a class
        votes, predicted = model.vote_sums(rows), model.predict(rows)
    place = {label: k for k, label in enumerate(rules.classes.tolist())}
    plain = plain_labels(rules)
    return Answer(votes, [plain[place[label]] for label in predicted.tolist()])


def _joined(answers: Sequence[Answer]) -> Answer:
    return Answer(
        np.concatenate([answer.votes for answer in answers]),
        [label for answer in answers for label in answer.predicted],
    )
