"""Labels of a target that are read as another one or left out, and labels that may have to be."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
import pandas as pd

from tmcore.columns import category_codes, category_text
from tmcore.problems import Problem, TableError, counted, listed, quoted

LabelChoices = Mapping[str, str | None]
"""The text of a label, to that of the label it is read as, or to None where its rows are left out."""

TRAINING_ROWS = 3
"""Rows of every class that training needs: two for weights to be settled (`refit`), three for rules to be checked by
retraining on parts of the rows (`dial.score_path`)."""

FEWEST_ROWS = TRAINING_ROWS + 1
"""Rows that a class needs: those, and one to test on."""

_RARE_ROWS = 10
"""A label of fewer rows may be another one with a typing error; one of any number may be another in other case."""

MOST_LABELS = 100
"""Of a column of more texts none is asked about."""

_SIMILARITY = 0.8
_WRONG_LETTERS = 2
_SHORTEST_WORD = 4
_LONGEST_WORD = 60
"""What is longer is a code or a sequence, and would take long to compare."""


@dataclass(frozen=True)
class Doubt:
    """A label with too few rows, or one that looks like another.

    Attributes
    ----------
    label : its text
    n_rows : rows with it
    alike : the text of a commoner label that it looks like, None where there is none
    alike_rows : rows with that label
    """

    label: str
    n_rows: int
    alike: str | None
    alike_rows: int

    @property
    def too_few(self) -> bool:
        """Whether the rows are too few to train and test on, and not only the label is odd."""
        return self.n_rows < FEWEST_ROWS


def answers(values: pd.Series, choices: LabelChoices) -> pd.Series:
    """The cells of a target's column as the choices have it, without those that are missing or left out."""
    known = values.dropna()
    codes, texts = category_codes(known)
    place = {text: k for k, text in enumerate(texts)}
    left_out = np.zeros(len(known), dtype=bool)
    for label, other in choices.items():
        rows = codes == place[label]
        if other is None:
            left_out |= rows
        else:
            known = known.mask(rows, known.iloc[int(np.argmax(codes == place[other]))])
    return known[~left_out]


def chosen(
    values: pd.Series, choices: LabelChoices, label: str, read_as: str | None
) -> dict[str, str | None]:
    """The choices with one more: `label` is read as another label, or left out (None); as itself takes it back.

    Labels that were read as `label` go where it goes.

    Raises
    ------
    TableError
        The column `values` does not hold a label, or `read_as` is one that is itself read as another or left out.
    """
    found = category_codes(values)[1]
    for text in (label, read_as):
        if text is not None and text not in found:
            raise TableError(
                f"The target {quoted(values.name)} has no label {quoted(text)}; it has {listed([*map(quoted, found)])}."
            )
    if read_as != label and read_as in choices:
        raise TableError(
            f"{quoted(label)} cannot be read as {quoted(read_as)}, which is itself read as another label or left out."
        )
    moved = {text: read_as if other == label else other for text, other in choices.items() if text != label}
    return moved if read_as == label else {**moved, label: read_as}


def notes(values: pd.Series, choices: LabelChoices) -> dict[str, str]:
    """Of each label that is read as another or left out, a sentence that says so."""
    codes, texts = category_codes(values)
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    return {
        label: choice_said(str(values.name), label, other, int(counts[texts.index(label)]))
        for label, other in choices.items()
    }


def choice_said(target: str, label: str, read_as: str | None, n_rows: int) -> str:
    """A choice about the rows of a label, as a sentence."""
    rows = (
        f"{counted(n_rows, 'row')} with {quoted(label)} in {quoted(target)} {'is' if n_rows == 1 else 'are'}"
    )
    return (
        f"{rows} left out, as chosen." if read_as is None else f"{rows} read as {quoted(read_as)}, as chosen."
    )


def doubts(counts: pd.Series) -> list[Doubt]:
    """The labels to ask about, from the rows of each label."""
    ordered = [
        (category_text(label), int(n)) for label, n in counts.sort_values(ascending=False).items() if n > 0
    ]
    texts = [label for label in counts.index if isinstance(label, str)]
    found = []
    for place, (label, n_rows) in enumerate(ordered):
        commoner = ordered[:place] if label in texts else []
        alike = max((_likeness(label, other, n_rows), n, other) for other, n in [*commoner, (label, 0)])
        if alike[0]:
            found.append(Doubt(label, n_rows, alike[2], alike[1]))
        elif n_rows < FEWEST_ROWS:
            found.append(Doubt(label, n_rows, None, 0))
    return found


def problems(name: str, counts: pd.Series) -> Iterator[Problem]:
    """Labels of the target `name` with too few rows, then those that only look like another."""
    found = doubts(counts)
    if too_few := [doubt for doubt in found if doubt.too_few]:
        rows = listed([f"{quoted(doubt.label)} ({counted(doubt.n_rows, 'row')})" for doubt in too_few])
        message = (
            f"Too few rows of {rows} in {quoted(name)}: for rules to be settled and checked a class needs three to "
            f"train on, and one to test on.{_alike(too_few)}"
        )
        yield Problem("warning", name, message, tuple(doubt.label for doubt in too_few))
    if odd := [doubt for doubt in found if not doubt.too_few]:
        message = f"In {quoted(name)} one label may be written in several ways.{_alike(odd)}"
        yield Problem("warning", name, message, tuple(doubt.label for doubt in odd))


def joinable(counts: pd.Series) -> tuple[str, ...]:
    """Of more labels than there may be classes, those with too few rows or that look like another."""
    if len(counts) > MOST_LABELS:
        return ()
    return tuple(doubt.label for doubt in doubts(counts))


def thin_classes(labels: pd.Series, training: pd.Series) -> str | None:
    """What is wrong with a division of rows, where of a class with rows enough too few came to be trained on.

    Parameters
    ----------
    labels : of all rows
    training : of those to train on
    """
    counts = labels.value_counts()
    learned = training.value_counts().reindex(counts.index, fill_value=0)
    thin = counts.index[(counts >= FEWEST_ROWS) & (learned < TRAINING_ROWS)]
    if not len(thin):
        return None
    rows = listed([f"{learned[label]} of {counts[label]} rows of {quoted(label)}" for label in thin])
    return (
        f"Only {rows} would be trained on; for rules to be settled and checked a class needs three. Keep fewer rows "
        "aside, or use another seed."
    )


def _alike(found: list[Doubt]) -> str:
    pairs = [
        f"{quoted(doubt.label)} looks like {quoted(doubt.alike)} ({counted(doubt.alike_rows, 'row')}"
        f"{', written with other signs that cannot be seen' if _seen(doubt.label) == _seen(doubt.alike) else ''})"
        for doubt in found
        if doubt.alike is not None
    ]
    return f" {listed(pairs)}." if pairs else ""


def _seen(text: str) -> str:
    """What a text looks like: letters however they are composed, blanks of any kind, nothing without width."""
    composed = unicodedata.normalize("NFC", text)
    return " ".join("".join(one for one in composed if unicodedata.category(one) != "Cf").split())


def _is_same_number(text: str, other: str) -> bool:
    """Whether both are the same number, as 1 and 1.0 are."""
    try:
        return float(text) == float(other)
    except ValueError:
        return False


def _likeness(label: str, other: str, n_rows: int) -> float:
    """How much a label looks like a commoner one that it may stand for, from 0 to 1; 0 for anything else.

    Case, blanks, what has no width, ways to compose a letter or write a number, and a full stop at the end never count.
    Of a rare label one word may have one or two wrong letters after the first, so that "atypical" is not taken for
    "typical", nor "stage II" for "stage I". Two neighbours in the wrong order count as one wrong letter.
    """
    if label == other:
        return 0.0
    if spelt_alike(label) == spelt_alike(other) or _is_same_number(label, other):
        return 1.0
    words, its = (_words(text) for text in (label, other))
    differing = [pair for pair in zip(words, its, strict=False) if pair[0] != pair[1]]
    if n_rows >= _RARE_ROWS or len(words) != len(its) or len(differing) != 1:
        return 0.0
    word, its_word = differing[0]
    if max(len(word), len(its_word)) > _LONGEST_WORD:
        return 0.0
    if _are_swapped(word, its_word):
        return 1 - 1 / (2 * len(word) - 1)  # as alike as with a letter left out
    matcher = SequenceMatcher(None, word, its_word, autojunk=False)
    changed = [(word[a:b], its_word[c:d]) for what, a, b, c, d in matcher.get_opcodes() if what != "equal"]
    few = sum(max(map(len, pair)) for pair in changed) <= _WRONG_LETTERS
    letters = all("".join(pair).isalpha() for pair in changed)
    usual = word[0] == its_word[0] and max(len(word), len(its_word)) >= _SHORTEST_WORD
    return matcher.ratio() if few and letters and usual and matcher.ratio() >= _SIMILARITY else 0.0


def _are_swapped(word: str, other: str) -> bool:
    """Whether the words, of letters, differ in the order of two neighbours after the first letter."""
    if len(word) != len(other) or len(word) < _SHORTEST_WORD or not word.isalpha():
        return False
    first, *rest = (k for k, pair in enumerate(zip(word, other, strict=True)) if pair[0] != pair[1])
    return first > 0 and rest == [first + 1] and word[first : first + 2] == other[first : first + 2][::-1]


def spelt_alike(text: str) -> str:
    """What texts have in common that differ only in case, blanks, a full stop at the end or how signs are encoded."""
    return "".join(_words(text))


def _words(text: str) -> list[str]:
    return unicodedata.normalize("NFKC", _seen(text)).casefold().rstrip(" .").split()
