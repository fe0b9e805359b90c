"""What the Compare page has worked out for one split of the data; pages come and go, this stays with the session."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dashboard import style
from dashboard.background import Task
from tmcore.estimators import TsetlinClassifier
from tmcore.parameters import Parameters

if TYPE_CHECKING:
    from dashboard.session import Session, Split

MOST_BESIDE = 8
HALF = 0.5


@dataclass(frozen=True, eq=False)
class Beside:
    """A settled model kept to compare with."""

    name: str
    parameters: Parameters
    model: TsetlinClassifier
    test_accuracy: float | None


@dataclass(eq=False)
class Comparing:
    """Tasks by name, models kept beside the run, what was chosen, and the threshold in use; all of one split.

    ``model`` is the settled one in use. ``threshold`` belongs to the settled model ``threshold_of``; another model
    starts at a half again.
    """

    split: Split
    tasks: dict[str, Task] = field(default_factory=dict)
    beside: list[Beside] = field(default_factory=list)
    choices: dict[str, Any] = field(default_factory=dict)
    threshold: float = HALF
    threshold_of: object = None
    model: object = None

    def keep(self, model: Beside) -> None:
        """Keep a model; the oldest goes where there are too many."""
        self.beside = [*self.beside, model][-MOST_BESIDE:]

    def use(self, model: object) -> None:
        """Compare these rules; what was worked out about the rules of another model goes."""
        if self.model is not model:
            self.model = model
            if (task := self.tasks.pop("seeds", None)) is not None:
                task.stop()

    def threshold_for(self, model: object) -> float:
        """The threshold chosen for a model."""
        return self.threshold if self.threshold_of is model else HALF

    def choose(self, threshold: float, model: object) -> None:
        """Use a threshold for a model."""
        self.threshold, self.threshold_of = threshold, model


def measure_name(measure: str, split: Split) -> str:
    """A measure as it is shown: F1 with the class it is of, where one of two is predicted."""
    if measure != "F1" or split.positive_class is None:
        return measure
    return f"F1 of {style.short(split.positive_class)}"


def comparing(current: Session) -> Comparing | None:
    """The session's; another split of the data starts afresh, None without one."""
    if current.split is None:
        return None
    if current.comparing is None or current.comparing.split is not current.split:
        if current.comparing is not None:
            for task in current.comparing.tasks.values():
                task.stop()
        current.comparing = Comparing(current.split)
    return current.comparing
