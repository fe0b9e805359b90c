"""Every setting of a Tsetlin machine: its name, range, default and one plain sentence about it.

`Parameters` is the only place that holds the settings of a run, and `PARAMETERS` the only place that says what
they mean: the estimators' docstrings, the command line and the dashboard's tooltips all read it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

ClassWeight = None | str | Mapping[Any, float]

BOUND_RULES = ("contrastive", "paper")
WEIGHTS = ("refit", "none", "real", "integer")
REPRESENTATIONS = ("intervals", "thresholds", "boolean")

MAX_VOTE_TARGET = 8192.0
"""Above this the integer arithmetic of a selection probability would no longer fit 63 bits."""

MAX_STATES = 127
"""States per action: both actions together must fit one byte."""


@dataclass(frozen=True)
class ParameterInfo:
    """What one setting means.

    Attributes
    ----------
    name, label : str
        The name in code and the name on screen.
    meaning : str
        One plain sentence for someone who has never heard of a Tsetlin machine.
    minimum, maximum, step : float or None
        The allowed range, both ends included, and a sensible step for a slider; None where `choices` is given.
    choices : tuple of str
        The allowed words; empty for numbers.
    while_running : bool
        Whether it may change during training.
    """

    name: str
    label: str
    meaning: str
    minimum: float | None = None
    maximum: float | None = None
    step: float | None = None
    choices: tuple[str, ...] = ()
    while_running: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether only whole numbers are allowed."""
        return self.step is not None and float(self.step).is_integer()


_INFOS = (
    ParameterInfo(
        "n_clauses",
        "Clauses",
        "How many clauses, which are rules in the making, the machine has; half vote for each side.",
        2,
        20_000,
        2,
    ),
    ParameterInfo(
        "T",
        "Vote target T",
        "A row teaches nothing more once its votes lead by this much; higher lets more clauses learn the same pattern.",
        0.5,
        MAX_VOTE_TARGET,
        0.5,
        while_running=True,
    ),
    ParameterInfo(
        "s",
        "Specificity s",
        "Higher keeps more literals, which are the bounds in a clause, so that each clause speaks for fewer rows.",
        1.0,
        1000.0,
        0.1,
        while_running=True,
    ),
    ParameterInfo(
        "representation",
        "Representation",
        "How clauses read a column: two searching bounds, a fixed threshold for every value, or 0 and 1 as they are.",
        choices=REPRESENTATIONS,
    ),
    ParameterInfo(
        "bound_rule",
        "Bound rule",
        "How bounds move: contrastive never pushes a row out of a clause that is right about it; paper may.",
        choices=BOUND_RULES,
    ),
    ParameterInfo(
        "weights",
        "Rule weights",
        "How much each clause's vote counts: settled at the end (refit), equal (none), or learned while training.",
        choices=WEIGHTS,
    ),
    ParameterInfo(
        "gamma",
        "Weight step γ",
        "With real weights: how fast a clause's vote grows when it is right and shrinks when it is wrong.",
        0.0,
        1.0,
        0.001,
        while_running=True,
    ),
    ParameterInfo(
        "n_states",
        "Memory per literal",
        "How many times a literal must be confirmed before it firmly stays in a clause, or firmly out of it.",
        1,
        MAX_STATES,
        1,
    ),
    ParameterInfo(
        "max_levels",
        "Levels per column",
        "How finely a column is read; more distinct values than this are thinned evenly.",
        2,
        65_535,
        1,
    ),
    ParameterInfo(
        "max_literals",
        "Conditions per rule",
        "A clause that holds more literals than this is made to forget some; none means no limit.",
        1,
        1_000_000,
        1,
    ),
    ParameterInfo("epochs", "Epochs", "How many times the machine sees every training row.", 0, 100_000, 1),
    ParameterInfo(
        "boost_true_positive",
        "Boost true positives",
        "Confirm every literal of a clause that is right, instead of a random share of them.",
        choices=("False", "True"),
    ),
    ParameterInfo(
        "class_weight",
        "Balance classes",
        "Balanced lets the rows of a rare class teach more often than those of a common one.",
    ),
    ParameterInfo(
        "early_stopping",
        "Early stopping",
        "Hold back a fifth of the training rows, stop when they are not predicted better, and keep the best moment.",
        choices=("False", "True"),
    ),
    ParameterInfo(
        "harvest",
        "Harvest",
        "How many earlier moments of training may also give rules to the refit; more rules to choose from, no more time"
        " to train.",
        0,
        100,
        1,
    ),
    ParameterInfo(
        "random_state", "Seed", "The same seed on the same data gives the same rules.", 0, 2**63 - 1, 1
    ),
)

PARAMETERS: dict[str, ParameterInfo] = {info.name: info for info in _INFOS}


@dataclass(frozen=True)
class Parameters:
    """The settings of one run. `PARAMETERS` says what each means and which values it may take.

    NumPy's numbers and whole numbers written as 2.0 become Python's own.

    Raises
    ------
    ValueError
        From `check`, with one sentence that names the setting, its value and what is allowed.
    """

    n_clauses: int = 100
    T: float | str = "auto"
    s: float = 2.0
    representation: str = "intervals"
    bound_rule: str = "contrastive"
    weights: str = "refit"
    gamma: float = 0.01
    n_states: int = 50
    max_levels: int | None = 255
    epochs: int = 40
    boost_true_positive: bool = False
    max_literals: int | None = None
    class_weight: ClassWeight = None
    early_stopping: bool = False
    harvest: int = 0
    random_state: int = 0

    def __post_init__(self) -> None:
        """Kernels and files take Python's own numbers; a NumPy byte, say, would overflow."""
        for info in _INFOS:
            object.__setattr__(self, info.name, _as_python(info, getattr(self, info.name)))

    @property
    def vote_target(self) -> float:
        """T as a number: "auto" is a quarter of the clauses."""
        return self.n_clauses / 4 if isinstance(self.T, str) else float(self.T)

    def replace(self, **changes: Any) -> Parameters:
        """A checked copy with some settings changed."""
        changed = dataclasses.replace(self, **changes)
        changed.check()
        return changed

    def check(self) -> None:
        """Raise ValueError for the first setting that is out of its range."""
        for info in _INFOS:
            value = getattr(self, info.name)
            if info.name == "T" and value == "auto":
                continue
            if info.name in ("max_levels", "max_literals") and value is None:
                continue
            if info.name == "class_weight":
                if not (value is None or value == "balanced" or isinstance(value, Mapping)):
                    raise ValueError(
                        f'class_weight is {value!r}; use None, "balanced" or a dict of label to weight.'
                    )
            elif info.choices == ("False", "True"):
                if not isinstance(value, bool):
                    raise ValueError(f"{info.name} is {value!r}; use True or False.")
            elif info.choices:
                if not isinstance(value, str) or value not in info.choices:
                    raise ValueError(
                        f"{info.name} is {value!r}; use one of {', '.join(map(repr, info.choices))}."
                    )
            else:
                self._check_number(info, value)
        if self.n_clauses % 2:
            raise ValueError(
                f"n_clauses is {self.n_clauses}; use an even number, half of it votes for each side."
            )

    @staticmethod
    def _check_number(info: ParameterInfo, value: Any) -> None:
        low, high = cast(float, info.minimum), cast(float, info.maximum)
        allowed = f"use a number from {low:g} to {high:g}"
        if info.name == "T":
            allowed += ', or "auto"'
        if isinstance(value, (bool, str)) or not math.isfinite(_as_float(info, value, allowed)):
            raise ValueError(f"{info.name} is {value!r}; {allowed}.")
        if info.is_whole and not float(value).is_integer():
            raise ValueError(f"{info.name} is {value!r}; use a whole number.")
        if not low <= value <= high:
            raise ValueError(f"{info.name} is {value!r}; {allowed}.")


def _as_python(info: ParameterInfo, value: Any) -> Any:
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if info.is_whole and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _as_float(info: ParameterInfo, value: Any, allowed: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{info.name} is {value!r}; {allowed}.") from None
