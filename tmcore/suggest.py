"""Settings that suit a table, found by a short search that keeps the given ones unless others are clearly better.

The search
    The candidates are the given settings (number 0) and `N_DRAWN` seeded draws from `GRID`, without repeats. Each
    is trained and settled on four fifths of the rows and scored on the fifth held out, over repeated stratified
    splits that all candidates share. `RUNGS` says how many candidates go how far: successive halving (Jamieson and
    Talwalkar 2016) with splits as the resource. Candidate 0 stays in to the end, as the yardstick.

The score
    The mean log loss of the settled model where the weights are refitted: it judges every probability, so it tells
    candidates apart with fewer rows than accuracy does, and it does not depend on a threshold. Votes that are not
    refitted, or classes that are weighted, give no calibrated probabilities; there the score is 1 - balanced accuracy.
    Less is better in both.

The choice
    The best of many noisy scores is partly luck. A candidate replaces the given settings only if it is better by more
    than one standard error of the differences split by split, corrected for overlapping training rows (Nadeau and
    Bengio 2003).
"""

from __future__ import annotations

import dataclasses
import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

from tmcore.early_stopping import HELD_OUT, hold_out, take_rows
from tmcore.estimators import TsetlinClassifier
from tmcore.labels import label_array, read_labels
from tmcore.parameters import Parameters
from tmcore.threads import n_threads
from tmcore.training import TrainingRun

GRID: dict[str, tuple[float, ...]] = {
    "n_clauses": (40, 100, 200),
    "T": (0.1, 0.25, 0.5),
    "s": (1.5, 2.0, 3.0, 5.0, 8.0),
    "epochs": (20, 40, 80),
}
"""What candidates are drawn from; T as a share of the clauses."""

GAMMA = (0.003, 0.01, 0.03, 0.1)
"""Steps of the weights, drawn too where the weights are "real"; no other weights use them."""

N_DRAWN = 15
RUNGS = ((1.0, 2), (0.4, 4), (0.2, 8))
"""(share of the candidates that take part, splits each of them has been scored on afterwards)."""

ENOUGH = 8
"""Where time is short, candidates are given up down to this number, then the last rung, then more candidates."""

MAX_ROWS = 2_000
"""Rows the search looks at, drawn with the classes' shares; more would cost time and hardly change the order."""

_SMALLEST = 1e-6


@dataclass(frozen=True)
class Suggestion:
    """The outcome of `suggest_settings`.

    Attributes
    ----------
    parameters : Parameters
    trials : DataFrame
        One row a candidate, index `candidate`, 0 being the settings given: the settings; `loss`, less is better
        (NaN if never scored); `difference` to candidate 0 on the same splits and its `standard_error`; `splits` it
        was scored on; mean `rules` and `literals`; `seconds` spent; whether it is `chosen`. Best first.
    measure : str
        What `loss` is: "log loss" or "1 - balanced accuracy".
    complete : bool
        Whether every planned trial ran; then the same `random_state` gives the same suggestion.
    """

    parameters: Parameters
    trials: pd.DataFrame
    measure: str
    complete: bool


class _Halt:
    """Whether to stop: at a time of day, or when an event is set, which other processes do not see."""

    def __init__(self, deadline: float, stop: threading.Event | None = None) -> None:
        self.deadline, self.stop = deadline, stop

    def __reduce__(self) -> tuple[type[_Halt], tuple[float]]:
        return _Halt, (self.deadline,)

    def is_set(self) -> bool:
        return time.time() > self.deadline or (self.stop is not None and self.stop.is_set())


@dataclass
class _Candidate:
    number: int
    parameters: Parameters
    losses: dict[int, float] = dataclasses.field(default_factory=dict)
    sizes: list[tuple[int, int]] = dataclasses.field(default_factory=list)
    seconds: list[float] = dataclasses.field(default_factory=list)

    @property
    def loss(self) -> float:
        return float(np.mean(list(self.losses.values()))) if self.losses else np.nan


def suggest_settings(
    X: pd.DataFrame | np.ndarray,
    y: Any,
    seconds: float = 60.0,
    *,
    parameters: Parameters | None = None,
    positive_class: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    stop: threading.Event | None = None,
) -> Suggestion:
    """Search n_clauses, T, s, epochs, and gamma where the weights are "real", for one table.

    Trials go through joblib, so `joblib.parallel_backend("dask")` or any other backend spreads them.

    Parameters
    ----------
    X, y : as in `TsetlinClassifier.fit`
        Training rows only: rows that are to judge the final model must not take part.
    seconds : float
        About how long to search; fewer candidates are tried where the full plan would take longer.
    parameters : Parameters, optional
        Where to start, and the settings that are not searched; the defaults if not given.
    positive_class : label, optional
        As in `TsetlinClassifier`: trials learn as the final model will. The loss does not depend on it.
    random_state : int
        Draws candidates, splits and training seeds.
    n_jobs : int, optional
        Trials at a time; None is 1, or what the backend in force has.
    progress : callable, optional
        Called with the trials done and planned.
    stop : threading.Event, optional
        When set, the search ends and what is known so far counts. Seen at once in this process, and between rounds
        of trials where other processes work.

    Raises
    ------
    ValueError
        For data or settings that cannot be trained on, or fewer than two classes with two rows each.
    """
    if not isinstance(seconds, (int, float, np.number)) or not seconds > 0:
        raise ValueError(f"seconds is {seconds!r}; give the search more than 0 seconds.")
    base = (parameters or Parameters()).replace()
    X = X if hasattr(X, "shape") else np.asarray(X)
    read_labels(y, X.shape[0], positive_class)
    X, labels = _rows(X, y, random_state)
    halt = _Halt(time.time() + seconds, stop)
    return _Search(X, labels, base, positive_class, random_state, n_jobs, halt, progress).run()


def _rows(X: Any, y: Any, seed: int) -> tuple[Any, np.ndarray]:
    """At most MAX_ROWS rows with their labels."""
    labels = label_array(y)
    names, counts = np.unique(labels, return_counts=True)
    if (counts >= 2).sum() < 2:
        raise ValueError(
            f"Only class {names[counts.argmax()]!s} has two or more rows; the search needs two such classes."
        )
    if len(labels) > MAX_ROWS:
        rows, _ = train_test_split(
            np.arange(len(labels)),
            train_size=MAX_ROWS,
            random_state=seed % 2**32,
            stratify=labels if counts.min() >= 2 else None,
        )
        rows.sort()
        X, labels = take_rows(X, rows), labels[rows]
    return X, labels


class _Search:
    def __init__(
        self,
        X: Any,
        y: np.ndarray,
        base: Parameters,
        positive_class: Any,
        seed: int,
        n_jobs: int | None,
        halt: _Halt,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self.X, self.y, self.n_jobs, self.halt, self.progress = X, y, n_jobs, halt, progress
        self.positive_class = positive_class
        calibrated = base.weights == "refit" and base.class_weight is None
        self.measure = "log loss" if calibrated else "1 - balanced accuracy"
        self.candidates = draw_candidates(base, seed)
        self.seeds = np.random.default_rng([seed, 1]).integers(2**31, size=RUNGS[-1][1]).tolist()
        self.complete = True
        self.done, self.planned = 0, _planned(len(self.candidates), len(RUNGS))

    def run(self) -> Suggestion:
        with Parallel(n_jobs=self.n_jobs) as parallel:
            self._score(parallel, [(self.candidates[0], k) for k in range(RUNGS[0][1])])
            n, n_rungs = self._affordable()
            self.complete &= (n, n_rungs) == (len(self.candidates), len(RUNGS))
            self.candidates = alive = self.candidates[:n]
            self.planned = _planned(n, n_rungs)
            for share, n_splits in RUNGS[:n_rungs]:
                alive = self._best(alive, max(2, round(share * n)))
                self._score(parallel, [(c, k) for k in range(n_splits) for c in alive if k not in c.losses])
                if self.halt.is_set():
                    break
        return self._suggestion(self._chosen(alive))

    def _score(self, parallel: Parallel, trials: list[tuple[_Candidate, int]]) -> None:
        """Run trials, as many at a time as there are workers, until time is up."""
        width = n_threads(self.n_jobs)
        for start in range(0, len(trials), width):
            wave = trials[start : start + width]
            if self._late(max(self._expected(c) for c, _ in wave)):
                self.complete = False
                return
            found = parallel(
                delayed(_trial)(
                    self.X, self.y, c.parameters, self.positive_class, self.seeds[k], self.measure, self.halt
                )
                for c, k in wave
            )
            for (candidate, split), result in zip(wave, found, strict=True):
                if result is None:
                    self.complete = False
                    continue
                loss, rules, literals, took = result
                candidate.losses[split] = loss
                candidate.sizes.append((rules, literals))
                candidate.seconds.append(took)
                self.done += 1
            if self.progress is not None:
                self.progress(self.done, self.planned)

    def _late(self, expected: float = 0.0) -> bool:
        """Whether time is up, or would be before a trial of the expected length is half done."""
        return self.halt.is_set() or time.time() + expected / 2 > self.halt.deadline

    def _expected(self, candidate: _Candidate) -> float:
        """Seconds one more trial should take: as before, or as the yardstick's by clauses and epochs.

        The least seconds count, since the first trial of a process also loads the compiled code; and half of them
        as fixed, since settling takes about as long whatever the epochs.
        """
        if candidate.seconds:
            return min(candidate.seconds)
        yardstick = self.candidates[0]
        if not yardstick.seconds:
            return 0.0
        ratio = _cost(candidate.parameters) / _cost(yardstick.parameters)
        return min(yardstick.seconds) * (1 + ratio) / 2

    def _affordable(self) -> tuple[int, int]:
        """How many candidates, in their order, and rungs the time left allows: fewer candidates, then fewer rungs."""
        total, left = len(self.candidates), (self.halt.deadline - time.time()) * n_threads(self.n_jobs)
        mean = sum(map(self._expected, self.candidates)) / total
        plans = [(n, len(RUNGS)) for n in range(total, min(total, ENOUGH) - 1, -1)]
        plans += [(n, len(RUNGS) - 1) for n in range(min(total, ENOUGH), 1, -1)]
        return next((plan for plan in plans if (_planned(*plan) - RUNGS[0][1]) * mean <= left), plans[-1])

    def _best(self, alive: list[_Candidate], n: int) -> list[_Candidate]:
        """The yardstick and the n - 1 others with the least loss; those not yet scored keep their order."""
        others = sorted(alive[1:], key=lambda c: np.inf if np.isnan(c.loss) else c.loss)
        return [alive[0], *others[: n - 1]]

    def _chosen(self, alive: list[_Candidate]) -> _Candidate:
        """The best that went as far as the second rung, or the yardstick unless that one is clearly better."""
        yardstick = self.candidates[0]
        compared = [(*_difference(c, yardstick), c) for c in alive[1:] if len(c.losses) >= RUNGS[1][1]]
        better = [(d, c.number, c) for d, error, c in compared if d + error < 0]
        return min(better)[2] if better else yardstick

    def _suggestion(self, chosen: _Candidate) -> Suggestion:
        rows = []
        for candidate in self.candidates:
            difference, error = _difference(candidate, self.candidates[0])
            rules, literals = np.mean(candidate.sizes, axis=0) if candidate.sizes else (np.nan, np.nan)
            rows.append(
                {
                    **_searched(candidate.parameters),
                    "loss": candidate.loss,
                    "difference": difference,
                    "standard_error": error,
                    "splits": len(candidate.losses),
                    "rules": rules,
                    "literals": literals,
                    "seconds": sum(candidate.seconds),
                    "chosen": candidate is chosen,
                }
            )
        trials = pd.DataFrame(rows).rename_axis(index="candidate")
        trials = trials.sort_values(
            ["chosen", "splits", "loss"], ascending=[False, False, True], kind="stable"
        )
        return Suggestion(chosen.parameters, trials, self.measure, self.complete)


def draw_candidates(base: Parameters, seed: int) -> list[_Candidate]:
    """The given settings and N_DRAWN others from the grid, in a seeded order."""
    grid = {**GRID, **({"gamma": GAMMA} if base.weights == "real" else {})}
    combinations = list(itertools.product(*grid.values()))
    drawn: list[Parameters] = []
    for i in np.random.default_rng([seed, 0]).permutation(len(combinations)):
        settings = dict(zip(grid, combinations[i], strict=True))
        settings["T"] = max(0.5, settings["T"] * settings["n_clauses"])
        settings |= {name: int(settings[name]) for name in ("n_clauses", "epochs")}
        changed = base.replace(**settings)
        if _searched(changed) != _searched(base):
            drawn.append(changed)
        if len(drawn) == N_DRAWN:
            break
    return [_Candidate(number, parameters) for number, parameters in enumerate([base, *drawn])]


def _searched(parameters: Parameters) -> dict[str, float]:
    found: dict[str, float] = {
        "n_clauses": parameters.n_clauses,
        "T": parameters.vote_target,
        "s": parameters.s,
        "epochs": parameters.epochs,
    }
    return found | ({"gamma": parameters.gamma} if parameters.weights == "real" else {})


def _cost(parameters: Parameters) -> float:
    return parameters.n_clauses * max(parameters.epochs, 1)


def _planned(n_candidates: int, n_rungs: int) -> int:
    """Trials of a whole search with so many candidates and rungs."""
    total, before = 0, 0
    for share, n_splits in RUNGS[:n_rungs]:
        total += max(2, round(share * n_candidates)) * (n_splits - before)
        before = n_splits
    return total


def _difference(candidate: _Candidate, yardstick: _Candidate) -> tuple[float, float]:
    """Mean difference of the losses on shared splits, and its corrected standard error; NaN below two splits.

    The held-out rows of one split train in others; the variance is therefore that of one difference times
    1 / splits + held-out rows / training rows (Nadeau and Bengio 2003).
    """
    shared = sorted(candidate.losses.keys() & yardstick.losses.keys())
    if len(shared) < 2:
        return np.nan, np.nan
    differences = [candidate.losses[k] - yardstick.losses[k] for k in shared]
    variance = np.var(differences, ddof=1) * (1 / len(shared) + HELD_OUT / (1 - HELD_OUT))
    return float(np.mean(differences)), float(np.sqrt(variance))


def _trial(
    X: Any,
    y: np.ndarray,
    parameters: Parameters,
    positive_class: Any,
    seed: int,
    measure: str,
    halt: _Halt,
) -> tuple[float, int, int, float] | None:
    """Loss, rules, literals and seconds of one candidate on one split; None if time was up."""
    start = time.perf_counter()
    learn, watch = hold_out(len(y), seed, y)
    X_learn, parameters = take_rows(X, learn), parameters.replace(random_state=seed)
    if parameters.early_stopping:
        settings = dataclasses.asdict(parameters)
        model = TsetlinClassifier(**settings, positive_class=positive_class).fit(X_learn, y[learn])
    else:
        run = TrainingRun(X_learn, y[learn], parameters, positive_class=positive_class)
        run.learn(parameters.epochs * run.n_rows, halt)  # type: ignore[arg-type]  # it asks `is_set` only
        if halt.is_set():
            return None
        model = run.settle()
    X_watch = take_rows(X, watch)
    if measure == "log loss":
        loss = log_loss(model.predict_proba(X_watch), y[watch], model.classes_)
    else:
        loss = 1 - float(balanced_accuracy_score(y[watch], model.predict(X_watch)))
    return loss, len(model.rules_), model.rules_.n_literals, time.perf_counter() - start


def log_loss(probabilities: np.ndarray, y: np.ndarray, classes: np.ndarray) -> float:
    """Mean of -log p(class of the row), p at least 1e-6, which is also that of a class the model never saw."""
    index = pd.Index(classes).get_indexer(pd.Index(y))
    p = np.where(index >= 0, probabilities[np.arange(len(y)), index], 0.0)
    return float(-np.log(np.clip(p, _SMALLEST, 1.0)).mean())
