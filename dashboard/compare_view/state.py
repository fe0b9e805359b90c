"""What the Compare page has worked out for one split of the data; pages come and go, this stays with the session."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dashboard.background import THREADS, Task
from dashboard.compare_view.words import Words, words_for
from dashboard.live.estimate import duration

if TYPE_CHECKING:
    from dashboard.goals import AnyScores, Model
    from dashboard.session import Session
    from dashboard.splitting import Split

MOST_BESIDE = 8
HALF = 0.5


@dataclass(frozen=True, eq=False)
class Beside:
    """A settled model kept to compare with."""

    name: str
    model: Model
    scores: AnyScores


@dataclass(eq=False)
class Comparing:
    """Tasks by name, models kept beside the run, what was chosen, and the threshold in use; all of one split.

    ``model`` is the settled one in use. ``threshold`` belongs to the settled model ``threshold_of``; another model
    starts at a half again. ``machine_seconds`` is about how long training and settling one machine takes.
    """

    split: Split
    tasks: dict[str, Task] = field(default_factory=dict)
    beside: list[Beside] = field(default_factory=list)
    choices: dict[str, Any] = field(default_factory=dict)
    threshold: float = HALF
    threshold_of: object = None
    model: object = None
    machine_seconds: float = 0.0
    words: Words = field(init=False)

    def __post_init__(self) -> None:
        self.words = words_for(self.split)

    def takes(self, n_machines: int) -> str:
        """About how long training so many machines takes, as many at a time as may be, in words: "about 12 s"."""
        return duration(self.machine_seconds * n_machines / min(THREADS, n_machines))

    def takes_in_turn(self, n_machines: int) -> str:
        """The same, one after another."""
        return duration(self.machine_seconds * n_machines)

    def keep(self, model: Beside) -> None:
        """Keep a model; the oldest goes where there are too many."""
        self.beside = [*self.beside, model][-MOST_BESIDE:]

    def use(self, model: object) -> None:
        """Compare these rules; what was worked out about the rules of another model goes."""
        if self.model is not model:
            self.model, self.machine_seconds = model, 0.0
            if (task := self.tasks.pop("seeds", None)) is not None:
                task.stop()

    def threshold_for(self, model: object) -> float:
        """The threshold chosen for a model."""
        return self.threshold if self.threshold_of is model else HALF

    def choose(self, threshold: float, model: object) -> None:
        """Use a threshold for a model."""
        self.threshold, self.threshold_of = threshold, model


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
