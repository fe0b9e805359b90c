"""What an exported file tells about itself: the data, the settings, the scores, how to repeat it, what checked it."""

from __future__ import annotations

import dataclasses
import hashlib
import platform
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pandas as pd

from tmcore.conditions import visible
from tmcore.parameters import PARAMETERS, Parameters
from tmcore.ruleset import RuleSet

Lines = tuple[tuple[str, str], ...]
"""Pairs of a name and a text."""

DISTRIBUTION = "tsetlin-dashboard"
_VERSIONS_OF = (DISTRIBUTION, "numpy", "numba", "pandas", "scikit-learn")


@dataclass(frozen=True)
class About:
    """What to write into a file besides the rules. Every text may hold any character.

    Attributes
    ----------
    title : str
        The data's name.
    table : str
        The table that SQL reads from.
    settings, scores, card : pairs of name and text
        The machine's settings, how good the rules are, and what is needed to repeat the run.
    proof : str
        What was run to check this file, and on how many rows; empty if nothing was.
    rows, labels : DataFrame and Series, or None
        Training rows; pictures of rules in the report show them. They are not written into any file.
    """

    title: str = "Rules"
    table: str = "data"
    settings: Lines = ()
    scores: Lines = ()
    card: Lines = ()
    proof: str = ""
    rows: pd.DataFrame | None = field(default=None, repr=False, compare=False)
    labels: pd.Series | None = field(default=None, repr=False, compare=False)


NOTHING = About()


def describe(
    title: str,
    parameters: Parameters,
    rows: pd.DataFrame,
    labels: pd.Series,
    scores: Lines = (),
    table: str = "data",
    positive_class: Any = None,
) -> About:
    """Return what there is to tell about rules that were trained on labelled rows."""
    card = (
        *(() if positive_class is None else (("class to predict", str(positive_class)),)),
        ("seed", str(parameters.random_state)),
        ("training rows", f"{len(rows):,}"),
        ("training data, SHA-256", data_hash(rows, labels)),
        *_versions(),
    )
    return About(title, table, settings_of(parameters), scores, card, rows=rows, labels=labels)


def settings_of(parameters: Parameters) -> Lines:
    """Return every setting with its label, but the seed, which is on the card."""
    values = dataclasses.asdict(parameters)
    del values["random_state"]
    return tuple(
        (PARAMETERS[name].label if name in PARAMETERS else name, str(value)) for name, value in values.items()
    )


def _versions() -> Iterator[tuple[str, str]]:
    yield "Python", platform.python_version()
    for name in _VERSIONS_OF:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            yield name, "not installed as a package"


def data_hash(rows: pd.DataFrame, labels: pd.Series) -> str:
    """Return the SHA-256 of the rows' values and labels with the columns' names; the index does not count."""
    digest = hashlib.sha256()
    for name in rows.columns:
        digest.update(f"{name}\0".encode("utf-8", "surrogatepass"))
        digest.update(_hashes(rows[name]))
    digest.update(_hashes(labels))
    return digest.hexdigest()


def _hashes(values: pd.Series) -> bytes:
    hashes: Any = pd.util.hash_pandas_object(values, index=False)
    return hashes.to_numpy().astype("<u8").tobytes()


def header(rules: RuleSet, about: About) -> list[str]:
    """Return the lines that begin a text file, each safe as a comment: no line ends, nothing invisible."""
    n = len(rules)
    lines = [f"{about.title}: {n:,} {'rule' if n == 1 else 'rules'} of a Tsetlin machine"]
    if rules.edited:
        lines.append("Edited by hand after training.")
    lines += [text for text in (about.proof,) if text]
    for title, pairs in (
        ("Scores", about.scores),
        ("To repeat it", about.card),
        ("Settings", about.settings),
    ):
        if pairs:
            lines.append(f"{title}: " + ", ".join(f"{name} {text}" for name, text in pairs))
    return [visible(line) for line in lines]
