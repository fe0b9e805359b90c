"""A target with two classes: which of them is the one to predict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from tmcore.problems import TableError, quoted


@dataclass(frozen=True)
class TwoClasses:
    """Two labels in sorted order, and how many rows have each."""

    first: Any
    second: Any
    n_first: int
    n_second: int

    @classmethod
    def of(cls, labels: pd.Series) -> TwoClasses | None:
        """Those of a target's labels; None where they are not two."""
        counts = labels.value_counts().sort_index()
        return cls(*counts.index.tolist(), *counts.tolist()) if len(counts) == 2 else None

    @property
    def usual(self) -> Any:
        """The class to predict unless another is chosen: the rarer, of equals the second."""
        return self.first if self.n_first < self.n_second else self.second

    @property
    def assumption(self) -> str:
        """Why `usual` is that class, as a sentence."""
        rarer, total = min(self.n_first, self.n_second), self.n_first + self.n_second
        reason = f"since fewer rows have it ({rarer:,} of {total:,})"
        if self.n_first == self.n_second:
            reason = "the second in order, since both have as many rows"
        return f"{quoted(self.usual)} is the class to predict, {reason}."


def find(classes: TwoClasses | None, label: Any, target: str | None) -> Any:
    """The class of a target that is `label` or has it as its text.

    Raises
    ------
    TableError
        The target has other than two classes, or neither is `label`.
    """
    if classes is None:
        raise TableError(
            "The class to predict can be chosen where the target has two classes; choose such a target."
        )
    for known in (classes.first, classes.second):
        if str(known) == str(label):
            return known
    raise TableError(
        f"The target {quoted(target)} has no class {quoted(label)}; choose {quoted(classes.first)} or "
        f"{quoted(classes.second)}."
    )
