"""How the Compare page speaks of classes and of numbers: its measures with their names, values and sentences.

No Streamlit here. Texts are plain; pages escape them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dashboard import style
from dashboard.goals import ClassGoal, NumberGoal
from tmcore.measures import ClassMeasures, Measures, measures_for
from tmcore.uncertainty import share_interval

if TYPE_CHECKING:
    from dashboard.goals import Goal, Model
    from dashboard.splitting import Split

SECTIONS = {
    "sure": "How sure",
    "threshold": "Threshold and costs",
    "models": "Other models",
    "run": "Another run",
    "seeds": "Other seeds",
}


class Words(ABC):
    """What the page says of one split of the data.

    Attributes
    ----------
    measures : Measures
    panels : tuple of tuples of str
        Measures that share an axis.
    alike : str
        What makes two rules alike besides the columns they ask.
    only_one : str
        Why a split cannot be trained on.
    in_table : tuple of str
        Measures in the table of models, the one they are compared by first.
    decides : str
        What the models' answers rest on besides the rows, with a comma before it.
    """

    panels: tuple[tuple[str, ...], ...]
    alike: str
    only_one: str
    in_table: tuple[str, ...]
    decides: str = ""
    goal: Goal

    def __init__(self, split: Split) -> None:
        self.split = split
        every = pd.concat([split.y_train, split.y_test])
        self.measures: Measures = measures_for(split.task, every, split.positive_class)

    @property
    @abstractmethod
    def sections(self) -> list[str]:
        """The keys of SECTIONS that there are."""

    @abstractmethod
    def name(self, measure: str) -> str:
        """A measure as it is shown."""

    def head(self, measure: str) -> str:
        """A measure at the head of a column of numbers, with its unit."""
        return self.name(measure)

    @abstractmethod
    def value(self, measure: str, number: float) -> str:
        """A score as it is shown."""

    @abstractmethod
    def span(self, measure: str, low: float, high: float) -> str:
        """Two scores as the ends of an interval."""

    @abstractmethod
    def meanings(self) -> dict[str, str]:
        """What every measure says, in words, by its shown name."""

    @abstractmethod
    def headline(self, model: Model, rules: str) -> str:
        """The page's sentence: what the test rows say of ``rules``, and how little; without test rows the rules."""

    @abstractmethod
    def doubt(self, row: dict[str, float], rows: str) -> str:
        """What the interval of the first measure on some rows leaves open."""

    @abstractmethod
    def verdict(self, row: dict[str, float], n_splits: int) -> str:
        """The first measure on repeated splits; without an interval where they do not differ."""

    @abstractmethod
    def simplest(self, score: float) -> str:
        """What always the same answer would get, by its first measure."""

    @abstractmethod
    def agreement(self, ours: np.ndarray, theirs: np.ndarray) -> str:
        """How alike two runs answer the same test rows."""

    def size(self, gap: float) -> str:
        """How far two scores of `measures.compared` are apart."""
        return self.value(self.measures.compared, abs(gap))

    def difference(self, gap: float) -> str:
        """The same with its sign."""
        return f"{style.MINUS if gap < 0 else '+'}{self.size(gap)}"


class ClassWords(Words):
    """Rows are right or wrong."""

    panels = (("accuracy", "balanced accuracy", "F1", "AUC"),)
    alike = "speaking for the same class"
    only_one = "only one class was there to train on"
    in_table = ("F1", "balanced accuracy", "AUC")
    decides = ", threshold 0.5"
    goal: ClassGoal

    def __init__(self, split: Split) -> None:
        super().__init__(split)
        assert isinstance(self.measures, ClassMeasures)  # the split is of classes
        self.goal, self.classes = ClassGoal(split.y_train), self.measures.classes
        self.two = len(self.classes) == 2

    @property
    def sections(self) -> list[str]:
        """See `Words.sections`; a threshold lies between two classes."""
        return [key for key in SECTIONS if self.two or key != "threshold"]

    def name(self, measure: str) -> str:
        """See `Words.name`; F1 with the class it is of, and what is a mean over classes."""
        if self.two:
            return (
                f"F1 of {style.short(self.classes[1], style.LONGEST_BESIDE)}" if measure == "F1" else measure
            )
        return {"F1": "F1, mean over classes", "AUC": "AUC, one class against the rest"}.get(measure, measure)

    def value(self, measure: str, number: float) -> str:
        """See `Words.value`."""
        return style.percent(number) if measure == "accuracy" else f"{number:.2f}"

    def span(self, measure: str, low: float, high: float) -> str:
        """See `Words.span`; of rows right as "73 to 85 %"."""
        if measure == "accuracy":
            return f"{100 * low:.0f} to {style.percent(high)}"
        return f"{low:.2f} to {high:.2f}"

    def meanings(self) -> dict[str, str]:
        """See `Words.meanings`."""
        told = {
            "accuracy": "the share of rows that are predicted rightly.",
            "balanced accuracy": "the same share among the rows of each class alone, and the mean of these, so that a "
            f"rare class counts as much as a common one. Guessing gets {1 / len(self.classes):.2f}.",
        }
        f1 = (
            "two shares in one: of the rows predicted to be of the class, those that are; and of the rows that are, "
            "those that were predicted to be. It is high only where both are."
        )
        auc = (
            "how often a row of the class gets a higher probability for it than a row that is of another. 0.5 is "
            "guessing, 1 is perfect; no threshold plays a part in it."
        )
        n = len(self.classes)
        every = "" if self.two else f" Worked out for each of the {n} classes; the mean, each alike."
        return told | {self.name("F1"): f1 + every, self.name("AUC"): auc + every}

    def headline(self, model: Model, rules: str) -> str:
        """See `Words.headline`."""
        n_rows = len(self.split.y_test)
        if not n_rows:
            return f"{rules}, not measured on unseen rows"
        n_right = int((model.predict(self.split.X_test) == self.split.y_test.to_numpy()).sum())
        verb = "gets" if len(model.rules_) == 1 else "get"
        ends = self.span("accuracy", *share_interval(n_right, n_rows))
        share = style.percent(n_right / n_rows)
        return f"{rules} {verb} {share} of {n_rows:,} unseen rows right; of all rows it may be {ends}"

    def doubt(self, row: dict[str, float], rows: str) -> str:
        """See `Words.doubt`."""
        return (
            f"{rows} leave much open: {self.span('accuracy', row['low'], row['high'])} right may be the truth"
        )

    def verdict(self, row: dict[str, float], n_splits: int) -> str:
        """See `Words.verdict`."""
        right = f"{style.percent(row['mean'])} right"
        if not np.isfinite(row["low"]):
            return f"{right} in {_every(n_splits)}"
        return f"{right}, give or take: {self.span('accuracy', row['low'], row['high'])}"

    def simplest(self, score: float) -> str:
        """See `Words.simplest`."""
        return f"always “{style.short(self.goal.commonest)}” would get {style.percent(score)}"

    def agreement(self, ours: np.ndarray, theirs: np.ndarray) -> str:
        """See `Words.agreement`."""
        return f"Both give {int((ours == theirs).sum()):,} of {style.count(len(ours), 'test row')} the same class."


class NumberWords(Words):
    """Rows are missed by some amount."""

    panels = (("MAE",), ("R2",))
    alike = "moving the number the same way"
    only_one = "only one number was there to train on"
    in_table = ("MAE", "R2")
    goal: NumberGoal

    def __init__(self, split: Split) -> None:
        super().__init__(split)
        self.goal = NumberGoal(split.y_train)

    @property
    def sections(self) -> list[str]:
        """See `Words.sections`; numbers have no threshold."""
        return [key for key in SECTIONS if key != "threshold"]

    def name(self, measure: str) -> str:
        """See `Words.name`."""
        return {"MAE": "mean error (MAE)", "R2": "R²"}[measure]

    def head(self, measure: str) -> str:
        """See `Words.head`."""
        unit = f", {style.short(self.goal.unit)}" if self.goal.unit and measure == "MAE" else ""
        return self.name(measure) + unit

    def value(self, measure: str, number: float) -> str:
        """See `Words.value`."""
        return self.goal.amount(number) if measure == "MAE" else style.share(number)

    def span(self, measure: str, low: float, high: float) -> str:
        """See `Words.span`: "41.2 to 49.0 mg"."""
        first = style.amount(low) if measure == "MAE" else style.share(low)
        return f"{first} to {self.value(measure, high)}"

    def meanings(self) -> dict[str, str]:
        """See `Words.meanings`."""
        label = style.short(self.goal.label)
        return {
            self.name(
                "MAE"
            ): f"by how much a predicted {label} is off, on average over the rows, whichever way.",
            self.name("R2"): (
                f"how much of the ups and downs of {label} is predicted: 1 is all of it, 0 no more than always the "
                "mean would, and below 0 less than that."
            ),
        }

    def headline(self, model: Model, rules: str) -> str:
        """See `Words.headline`."""
        split = self.split
        if not len(split.y_test):
            return f"{rules}, not measured on unseen rows"
        answers = self.measures.answers(model, split.X_test, split.y_test)
        mae, ends = self.measures.scores(answers)["MAE"], self.measures.intervals(answers)["MAE"]
        verb, n_rows = "misses" if len(model.rules_) == 1 else "miss", len(split.y_test)
        told = f"{rules} {verb} {n_rows:,} unseen rows by {self.goal.amount(mae)} on average"
        return f"{told}; of all rows it may be {self.span('MAE', *ends)}" if np.isfinite(ends[0]) else told

    def doubt(self, row: dict[str, float], rows: str) -> str:
        """See `Words.doubt`."""
        if not np.isfinite(row["low"]):
            return f"{rows}: too few to say how far off others would be"
        return f"{rows} leave much open: a mean error of {self.span('MAE', row['low'], row['high'])} may be the truth"

    def verdict(self, row: dict[str, float], n_splits: int) -> str:
        """See `Words.verdict`."""
        off = f"Off by {self.goal.amount(row['mean'])} on average"
        if not np.isfinite(row["low"]):
            return f"{off} in {_every(n_splits)}"
        return f"{off}, give or take: {self.span('MAE', row['low'], row['high'])}"

    def simplest(self, score: float) -> str:
        """See `Words.simplest`."""
        return f"always the mean would be off by {self.goal.amount(score)}"

    def agreement(self, ours: np.ndarray, theirs: np.ndarray) -> str:
        """See `Words.agreement`."""
        apart = self.goal.amount(float(np.abs(ours - theirs).mean()))
        return f"On {style.count(len(ours), 'test row')} the two predictions are {apart} apart on average."


def words_for(split: Split) -> Words:
    """How the page speaks of a split."""
    return NumberWords(split) if split.task == "numbers" else ClassWords(split)


def _every(n_splits: int) -> str:
    return "the only split" if n_splits == 1 else f"each of {n_splits} splits"
