"""The smallest change of a row that makes the rules predict another class.

Smallest is fewest columns changed, then fewest levels moved. Between two cuts of the rules nothing changes, so for
each column only the nearest training value of every cell between cuts is tried, and cells that meet the same
conditions count once. The search goes through all sets of one column, then two, and so on. A set is left out only
where it cannot flip the class (the votes of all rules that a change could switch on or off, each at its best, are not
enough), or where some of its columns flip it already; so what is found is exact, unless time ends first.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tmcore.cells import Cell, cells_of, used_columns
from tmcore.conditions import Condition
from tmcore.explain import Domain, Value, as_number, explain_values, point
from tmcore.rule import Weight, as_tuple

if TYPE_CHECKING:
    from tmcore.ruleset import RuleSet

MOST_COLUMNS = 4
SETS_AT_ONCE = 256


@dataclass(frozen=True)
class Change:
    """One column's change and how many levels it moves."""

    column: str
    before: Value
    after: Value
    levels: int


@dataclass(frozen=True)
class Flip:
    """Changes that together give another class; without any one of them they do not.

    Attributes
    ----------
    changes : tuple of Change
    predicted : label
    votes : float or tuple of float
        The vote sums after the changes.
    """

    changes: tuple[Change, ...]
    predicted: Any
    votes: Weight

    @property
    def levels(self) -> int:
        """Levels moved in all columns together."""
        return sum(change.levels for change in self.changes)


@dataclass(frozen=True)
class Search:
    """What a search found.

    Attributes
    ----------
    flips : tuple of Flip
        One for each set of columns that flips the class and holds no smaller such set, smallest first.
    searched : int
        Up to how many columns every set was looked at.
    in_time : bool
        Whether it ended before the time limit.
    n_columns : int
        How many columns could be changed.
    """

    flips: tuple[Flip, ...]
    searched: int
    in_time: bool
    n_columns: int

    @property
    def proven(self) -> bool:
        """Whether the first flip is the smallest there is."""
        return bool(self.flips) and len(self.flips[0].changes) <= self.searched

    @property
    def text(self) -> str:
        """What was found, in one sentence."""
        words = {1: "One change", 2: "Two changes", 3: "Three changes"}
        if self.flips:
            n = len(self.flips[0].changes)
            found = f"{words.get(n, f'{n} changes')} would flip it"
            return (
                found
                if self.proven
                else f"{found}; time ended before all smaller and shorter ones were tried"
            )
        if self.n_columns == 0:
            return "No column is free to change"
        if self.searched >= self.n_columns:
            return "No change of these columns flips it"
        many = "one column" if self.searched == 1 else f"{self.searched} columns"
        if not self.in_time:
            return (
                f"None found within {many}, when time ended"
                if self.searched
                else "None found when time ended"
            )
        return f"None found within {many}"


def find_flips(
    rules: RuleSet,
    values: Mapping[str, Value],
    domains: Mapping[str, Domain],
    locked: Collection[str] = (),
    at_most: int = 4,
    max_columns: int = MOST_COLUMNS,
    seconds: float = 1.0,
) -> Search:
    """Search for the smallest changes that flip the class.

    Parameters
    ----------
    rules : RuleSet
    values : mapping from column to the row's value
        For every column the rules use; see `tmcore.explain.row_values`.
    domains : mapping from column to the values it may take
        Changes stay within them, and never make a value missing or a category unseen.
    locked : column names left as they are
    at_most : int
        Flips to look for; the search goes on to more columns until it has as many.
    max_columns : int
        Largest number of columns changed together.
    seconds : float
        Time limit.
    """
    problem = _Problem(rules, values, domains, locked, time.monotonic() + seconds)
    found: list[_Picked] = []
    searched = 0
    for size in range(1, min(max_columns, len(problem.options)) + 1):
        sets = problem.promising(size, [picked.places for picked in found])
        new = [picked for picked in map(problem.best, sets) if picked is not None]
        found += sorted(new, key=lambda picked: picked.levels)
        if not problem.in_time:
            break
        searched = size
        if len(found) >= at_most:
            break
    flips = tuple(problem.flip(picked) for picked in found[:at_most])
    return Search(flips, searched, problem.in_time, len(problem.options))


@dataclass(frozen=True)
class _Option:
    """What a column can be changed to: values, the levels each is away, and which rules it leaves possible."""

    column: str
    values: tuple[Value, ...]
    levels: NDArray[np.int64]
    meets: NDArray[np.bool_]


@dataclass(frozen=True)
class _Picked:
    """One value for each of some options, by their places."""

    places: tuple[int, ...]
    values: tuple[int, ...]
    levels: int


class _Problem:
    """One row: the margin of every other class over the predicted one, and what each column can become.

    A margin is linear in the rules that hold: `margins` now, plus `gains` (n_rules, n_rivals) of rules switched on,
    minus those switched off. A rival wins where its margin is above 0, or is 0 and ties go to it.
    """

    def __init__(
        self,
        rules: RuleSet,
        values: Mapping[str, Value],
        domains: Mapping[str, Domain],
        locked: Collection[str],
        deadline: float,
    ) -> None:
        self.rules, self.values = rules, values
        self.deadline, self.in_time = deadline, True
        self.asked: dict[str, list[tuple[int, Condition]]] = defaultdict(list)
        for number, rule in enumerate(rules):
            for one in rule.conditions:
                self.asked[one.column].append((number, one))
        self._set_margins()
        columns = used_columns(rules)
        meets_now = {
            name: self._meets(name, point(column.kind, values[name])) for name, column in columns.items()
        }
        self.n_failed = sum((~meets for meets in meets_now.values()), np.zeros(len(rules), dtype=np.int64))
        self.holds = self.n_failed == 0
        self.options = [
            option
            for name in columns
            if name not in locked
            if (option := self._option(domains[name], meets_now[name])) is not None
        ]
        shape = (len(self.options), len(rules))
        now = np.array([meets_now[option.column] for option in self.options], dtype=bool).reshape(shape)
        ever = np.array([option.meets.any(axis=0) for option in self.options], dtype=bool).reshape(shape)
        always = np.array([option.meets.all(axis=0) for option in self.options], dtype=bool).reshape(shape)
        self.fails, self.can_mend, self.can_break = ~now, ~now & ever, now & ~always
        best = np.where(self.holds[:, None], -self.gains, self.gains)
        self.best_gains = np.maximum(best, 0.0)

    def _set_margins(self) -> None:
        votes = np.array([as_tuple(explain_values(self.rules, self.values).votes)])
        weights = np.array([as_tuple(rule.weights) for rule in self.rules], dtype=np.float64)
        weights = weights.reshape(len(self.rules), votes.shape[1])
        predicted = int(self.rules.winners(votes)[0])
        if votes.shape[1] == 1 and len(self.rules.classes) == 2:
            sign = -1.0 if predicted else 1.0
            self.margins, self.gains, self.ties = sign * votes[0], sign * weights, np.array([predicted == 0])
            return
        rivals = [k for k in range(votes.shape[1]) if k != predicted]
        self.margins = votes[0, rivals] - votes[0, predicted]
        self.gains = weights[:, rivals] - weights[:, [predicted]]
        self.ties = np.array([k < predicted for k in rivals], dtype=bool)

    def _wins(self, margins: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether any rival wins, of margins (..., n_rivals)."""
        return ((margins > 0) | ((margins == 0) & self.ties)).any(axis=-1)

    def _meets(self, name: str, cell: Cell) -> NDArray[np.bool_]:
        """Which rules a value of one column leaves possible, (n_rules,)."""
        meets = np.ones(len(self.rules), dtype=bool)
        for number, one in self.asked[name]:
            meets[number] = cell.meets(one)
        return meets

    def _option(self, domain: Domain, now: NDArray[np.bool_]) -> _Option | None:
        """The nearest value of every cell that makes a difference."""
        name = domain.column.name
        nearest: dict[bytes, tuple[int, Value, NDArray[np.bool_]]] = {}
        for value, cell in self._values(domain):
            meets = self._meets(name, cell)
            levels = domain.steps(self.values[name], value)
            key = meets.tobytes()
            if key != now.tobytes() and (key not in nearest or levels < nearest[key][0]):
                nearest[key] = levels, value, meets
        if not nearest:
            return None
        options = sorted(nearest.values(), key=lambda item: item[0])
        return _Option(
            name,
            tuple(value for _, value, _ in options),
            np.array([levels for levels, _, _ in options]),
            np.array([meets for _, _, meets in options]),
        )

    def _values(self, domain: Domain) -> Iterator[tuple[Value, Cell]]:
        """One value of every cell with the cell: of numbers the nearest to the row's, or the middle one."""
        column, now = domain.column, self.values[domain.column.name]
        if column.kind != "numeric":
            yield from ((name, Cell("name", name=name)) for name in domain.names)
            return
        for cell in cells_of(column, (one for _, one in self.asked[column.name]))[:-1]:
            low = -np.inf if cell.lower is None else cell.lower
            high = np.inf if cell.upper is None else cell.upper
            start, stop = np.searchsorted(domain.numbers, (low, high), side="right").tolist()
            if start < stop and now is None:
                yield domain.numbers[(start + stop - 1) // 2], cell
            elif start < stop:
                yield domain.numbers[start if as_number(now) <= low else stop - 1], cell

    def promising(self, size: int, flipping: list[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
        """Sets of `size` options that may flip the class and hold none of the `flipping` sets, until time ends."""
        done = [frozenset(places) for places in flipping]
        every = combinations(range(len(self.options)), size)
        while chunk := list(islice(every, SETS_AT_ONCE)):
            inside = np.zeros((len(chunk), len(self.options)), dtype=np.float32)
            inside[np.arange(len(chunk))[:, None], chunk] = 1
            mended = self.n_failed == inside @ self.can_mend.astype(np.float32)
            broken = inside @ self.can_break.astype(np.float32) > 0
            movable = np.where(self.holds, broken, mended)
            likely = self._wins(self.margins + movable @ self.best_gains)
            for places, is_likely in zip(chunk, likely.tolist(), strict=True):
                if time.monotonic() > self.deadline:
                    self.in_time = False
                    return
                if is_likely and not any(one.issubset(places) for one in done):
                    yield places

    def best(self, places: tuple[int, ...]) -> _Picked | None:
        """The values of these options that flip the class with the fewest levels."""
        options = [self.options[k] for k in places]
        moving = self.n_failed == self.fails[list(places)].sum(axis=0)
        base = self.margins - self.holds[moving] @ self.gains[moving]
        gains = self.gains[moving]
        meets = [option.meets[:, moving] for option in options]
        best: _Picked | None = None
        for first in np.ndindex(*(len(one) for one in meets[:-2])):
            spent = sum(int(option.levels[k]) for option, k in zip(options, first, strict=False))
            levels = spent + _sums([option.levels for option in options[-2:]])
            if best is not None and levels.min() >= best.levels:
                continue
            left = np.ones(len(gains), dtype=bool)
            for one, k in zip(meets, first, strict=False):
                left = left & one[k]
            if not self._wins(base + np.maximum(gains[left], 0.0).sum(axis=0)):
                continue
            flips = self._wins(base + _products([one[:, left] for one in meets[-2:]], gains[left]))
            if flips.any():
                last = np.unravel_index(
                    np.argmin(np.where(flips, levels, np.iinfo(np.int64).max)), levels.shape
                )
                if best is None or levels[last] < best.levels:
                    best = _Picked(places, (*first, *(int(k) for k in last)), int(levels[last]))
        return best

    def flip(self, picked: _Picked) -> Flip:
        """What was picked, with the votes it gives."""
        changes = []
        for place, k in zip(picked.places, picked.values, strict=True):
            option = self.options[place]
            before, levels = self.values[option.column], int(option.levels[k])
            changes.append(Change(option.column, before, option.values[k], levels))
        changed = dict(self.values) | {change.column: change.after for change in changes}
        explained = explain_values(self.rules, changed)
        return Flip(tuple(changes), explained.predicted, explained.votes)


def _sums(levels: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Sums of one number of each list, one axis a list."""
    return levels[0] if len(levels) == 1 else levels[0][:, None] + levels[1]


def _products(meets: list[NDArray[np.bool_]], gains: NDArray[np.float64]) -> NDArray[np.float64]:
    """Gains of the rules that every chosen value meets, (n_first, [n_second,] n_rivals)."""
    first = meets[0].astype(np.float64)
    if len(meets) == 1:
        return first @ gains
    second = meets[1].astype(np.float64)
    return np.stack([(first * gains[:, k]) @ second.T for k in range(gains.shape[1])], axis=-1)
