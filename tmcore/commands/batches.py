"""Training on a CSV in parts, for files larger than memory.

A first pass draws a sample of the rows, uniformly from the whole file, and notes every class; the sample decides
roles and levels (so these are quantiles of the whole file, not of its beginning) and settles the weights at the end.
Each epoch is one more pass; a last one scores the rows held out.
"""

from __future__ import annotations

import argparse
import copy
import csv
import dataclasses
import gzip
import io
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TextIO, cast

import numpy as np
import pandas as pd

from tmcore.columns import category_codes
from tmcore.commands import train
from tmcore.commands.goals import class_lines
from tmcore.commands.labels import choices
from tmcore.commands.output import say
from tmcore.estimators import TsetlinClassifier
from tmcore.guess import as_read
from tmcore.label_choices import answers, choice_said
from tmcore.labels import class_indices
from tmcore.new_rows import fit_columns
from tmcore.parameters import Parameters
from tmcore.problems import TableError, counted, quoted
from tmcore.read_csv import EXCEL_SEPARATOR, RawTable, read_raw
from tmcore.reading_assumptions import reading_assumptions
from tmcore.scores import accuracy_and_f1
from tmcore.table import MAX_CLASSES, Table, read_table
from tmcore.typed import as_labels

_HEAD_BYTES = 1 << 20


@dataclass(frozen=True)
class _Source:
    """A file and how to read it.

    Attributes
    ----------
    size : int
        Rows in a batch.
    test_share, seed : which rows are held out
    """

    path: Path
    separator: str
    encoding: str
    decimal: str
    size: int
    test_share: float
    seed: int

    def batches(self) -> Iterator[tuple[RawTable, np.ndarray]]:
        """Batches of cells, and which of their rows are held out: the same ones in every pass."""
        for number, (rows, numbers) in enumerate(self._records()):
            raw = read_raw(_as_csv(rows), ",", "utf-8", self.decimal)
            at = pd.Series(numbers, index=raw.frame.index)
            frame = raw.frame.set_axis(pd.Index(numbers, name="row"), axis=0)
            doubtful = {name: cells.set_axis(at[cells.index]) for name, cells in raw.doubtful.items()}
            held_out = np.random.default_rng([self.seed, number]).random(len(frame)) < self.test_share
            yield dataclasses.replace(raw, frame=frame, doubtful=doubtful), held_out

    def _records(self) -> Iterator[tuple[list[list[str]], list[int]]]:
        """The header and some records at a time, with the records' spreadsheet row numbers."""
        header: list[str] = []
        rows: list[list[str]] = []
        numbers: list[int] = []
        encoding = "utf-8-sig" if self.encoding.lower() in ("utf-8", "utf8") else self.encoding
        with _unpacking(self.path), io.TextIOWrapper(_open(self.path), encoding, newline="") as file:
            for number, record in enumerate(
                csv.reader(_below_declaration(file), delimiter=self.separator), start=1
            ):
                if not record or (len(record) == 1 and not record[0].strip()):
                    continue
                if not header:
                    header = record
                    continue
                if len(record) != len(header):
                    raise TableError(
                        f"Row {number} has {counted(len(record), 'cell')}, the header has {len(header)}. "
                        "Check the separator."
                    )
                rows.append(record)
                numbers.append(number)
                if len(rows) == self.size:
                    yield [header, *rows], numbers
                    rows, numbers = [], []
        if rows:
            yield [header, *rows], numbers


@dataclass(frozen=True)
class _Survey:
    """What the first pass found: a table of sampled training rows, their labels, and what texts in the target mean."""

    table: Table
    answers: pd.Series
    labels: pd.Series
    n_rows: int


def run(options: argparse.Namespace, parameters: Parameters) -> int:
    """Train with settings `parameters` on the file that `options` names, `options.batches` rows at a time."""
    if options.task == "numbers":
        raise ValueError("--batches learns classes only; leave it out to predict numbers.")
    if parameters.early_stopping:
        raise ValueError("Early stopping needs all rows in memory; leave out --early-stopping or --batches.")
    if options.batches < 2:
        raise ValueError("--batches is 1; learn at least 2 rows at a time.")
    head = _head(options.data)
    raw = read_raw(head, options.separator, options.encoding, options.decimal)
    source = _Source(
        options.data,
        raw.separator,
        options.encoding or raw.encoding,
        raw.decimal,
        options.batches,
        options.test_share,
        options.seed,
    )
    whole_file = {"positive_class": None, "task": None}
    target = read_table(head, **train.reading(options) | whole_file).target
    if target is None:
        raise TableError("No column looks like a target; name it with --target.")
    survey = _survey(source, target, options)
    used = [info.name for info in survey.table.columns if info.role == "numeric"]
    given = {name for name in ("separator", "encoding", "decimal") if getattr(options, name)}
    for line in reading_assumptions(dataclasses.replace(raw, markers={}), used, given):
        say(line)
    say(f"{counted(survey.n_rows, 'row')} with a target; of those to train on, a sample says:")
    train.report(survey.table)
    X = train.features(survey.table, parameters)
    y = survey.answers.loc[X.index]
    positive = survey.table.positive_class
    if options.suggest is not None:
        parameters = train.suggested(X, y, parameters, {"positive_class": positive}, options)
    model = TsetlinClassifier(**dataclasses.asdict(parameters), n_jobs=options.jobs, positive_class=positive)
    model.partial_fit(X, y, classes=np.unique(survey.labels))
    for epoch in range(1, parameters.epochs + 1):
        for rows, labels in _rows(source, model, survey, held_out=False):
            model.partial_fit(rows, labels)
        say(f"Epoch {epoch} of {parameters.epochs}: {counted(model.n_literals_, 'literal')}")
    before = copy.deepcopy(model)
    model.settle(X, y)
    actual, scores = _scores(source, before, model, survey, bool(options.test_share))
    where = counted(len(actual), "held-out row" if options.test_share else "training row")
    train.finish(model, options, where, class_lines(model.rule_classes_, scores, actual))
    return 0


def _survey(source: _Source, target: str, options: argparse.Namespace) -> _Survey:
    """Pass over the file once: keep the training rows with the smallest of random keys, and the target's texts."""
    rng = np.random.default_rng([source.seed, 2**31])
    texts: Counter[str] = Counter()
    left_out = [label.strip() for label in options.leave_out]
    kept, keys = pd.DataFrame(), np.zeros(0)
    for raw, held_out in source.batches():
        labelled = (raw.frame[target].notna() & ~raw.frame[target].isin(left_out)).to_numpy()
        texts.update(raw.frame[target].dropna())
        if len(texts) > MAX_CLASSES + len(options.leave_out) + len(options.read_as):
            raise _too_many(target)
        rows = raw.frame[labelled & ~held_out]
        kept = pd.concat([kept, rows]) if len(kept) else rows
        keys = np.concatenate([keys, rng.random(len(rows))])
        if len(keys) > source.size:
            drawn = np.sort(np.argpartition(keys, source.size)[: source.size])
            kept, keys = kept.iloc[drawn], keys[drawn]
    meant = _read_labels(texts, target, options, source.decimal)
    kept = kept[kept[target].isin(meant.index)] if len(kept) else kept  # 2.0 may be the 2 that is left out
    if not len(kept):
        raise TableError("No row is left to train on; check the target and --test-share.")
    if meant.nunique() > MAX_CLASSES:
        raise _too_many(target)
    known = kept[target].map(meant)
    kept[target] = known.map(str)
    cells = kept.astype(object).where(kept.notna(), "").to_numpy().tolist()
    told = train.reading(options) | {
        "separator": ",",
        "encoding": "utf-8",
        "decimal": source.decimal,
    }
    told |= {"target": target, "task": "classes", "positive_class": None}
    table = read_table(_as_csv([list(kept.columns), *cells]), **told)
    frame = table.frame.set_axis(kept.index, axis=0)
    table = dataclasses.replace(table, frame=frame.assign(**{target: known}))
    if options.positive is not None:
        table = table.with_positive_class(options.positive)
    return _Survey(table, known, meant, sum(texts[text] for text in meant.index))


def _too_many(target: str) -> TableError:
    return TableError(
        f"The target {quoted(target)} has more than {MAX_CLASSES} different values; choose another target or join its "
        "values."
    )


def _read_labels(texts: Counter[str], target: str, options: argparse.Namespace, decimal: str) -> pd.Series:
    """The label of every text in the target that is not left out, as the options say, which are told."""
    written = as_read(pd.Series(list(texts), dtype="str", name=target), decimal).rename(target)
    codes, found = category_codes(written)
    counts = np.bincount(codes, weights=[*texts.values()]).astype(np.int64)
    chosen = choices(written, options)
    for label, read_as in chosen.items():
        say(choice_said(target, label, read_as, int(counts[found.index(label)])))
    read = answers(written, chosen)
    return as_labels(read).set_axis(pd.Index(list(texts))[read.index], axis=0)


def _rows(
    source: _Source, model: TsetlinClassifier, survey: _Survey, held_out: bool
) -> Iterator[tuple[pd.DataFrame, pd.Series]]:
    """Batches of rows that have a target, either those held out or those to train on."""
    target = survey.table.target
    for raw, out in source.batches():
        wanted = (out == held_out) & raw.frame[target].isin(survey.labels.index).to_numpy()
        if wanted.any():
            part = dataclasses.replace(raw, frame=raw.frame[wanted])
            yield fit_columns(part, model.encoder_)[0], part.frame[target].map(survey.labels)


def _scores(
    source: _Source, before: TsetlinClassifier, model: TsetlinClassifier, survey: _Survey, held_out: bool
) -> tuple[pd.Series, dict[str, tuple[float, float]]]:
    """Labels of the rows scored, and accuracy and F1 before and after settling."""
    actual: list[pd.Series] = []
    votes: list[np.ndarray] = []
    settled: list[np.ndarray] = []
    for X, y in _rows(source, model, survey, held_out):
        actual.append(y)
        votes.append(before.predict(X))
        settled.append(model.predict(X))
    if not actual:
        raise ValueError(
            "No row was held out; raise --test-share, or set it to 0 to score the training rows."
        )
    y = pd.concat(actual)
    truth = class_indices(y, model.rule_classes_)
    return y, {
        name: accuracy_and_f1(
            truth, class_indices(np.concatenate(part), model.rule_classes_), len(model.rule_classes_)
        )
        for name, part in {"before settling": votes, "after settling": settled}.items()
    }


def _head(path: Path) -> bytes:
    """The first whole lines of a file, as many as tell how to read it."""
    if not path.is_file():
        raise TableError(f"There is no file {quoted(path.name)}.")
    with _unpacking(path), _open(path) as file:
        data = file.read(_HEAD_BYTES)
    if len(data) == _HEAD_BYTES:
        end = data.rfind(b"\n")
        while end > 0 and data.count(b'"', 0, end) % 2:
            end = data.rfind(b"\n", 0, end)
        data = data[: end + 1]
    return data


@contextmanager
def _unpacking(path: Path) -> Iterator[None]:
    """Says in one sentence that a file ends too early or cannot be unpacked or decoded."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TableError(
            f"The gzip file {quoted(path.name)} is damaged ({error}); compress it again."
        ) from error
    except UnicodeDecodeError as error:
        raise TableError(
            f"{quoted(path.name)} cannot be read as {error.encoding} throughout; name its encoding with --encoding."
        ) from error
    except csv.Error as error:
        raise TableError(
            f"{quoted(path.name)} cannot be read ({error}); a quotation mark may be open, close or remove it."
        ) from error


def _below_declaration(file: TextIO) -> Iterator[str]:
    """The lines of a file without a first one that tells Excel the separator."""
    first = file.readline()
    if not EXCEL_SEPARATOR.match(first):
        yield first
    yield from file


def _open(path: Path) -> IO[bytes]:
    """The bytes of a file, unpacked if it is gzip-compressed."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return cast(IO[bytes], gzip.open(path)) if packed else path.open("rb")


def _as_csv(rows: Sequence[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode("utf-8")
