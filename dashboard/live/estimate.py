"""What a run will take, from a moment of learning on a machine of its own."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dashboard.pace import FIRST_ROWS_PER_SECOND, GROWTH_PER_SECOND
from tmcore.history import MAX_CHECKPOINT_BYTES
from tmcore.replay import RowOrder

if TYPE_CHECKING:
    from tmcore.parameters import Parameters
    from tmcore.training import TrainingRun

MEASURE_SECONDS = 0.08
FEWEST_ROWS = 4
LONG_SECONDS = 300.0
MUCH_BYTES = 2 * 2**30


@dataclass(frozen=True)
class Estimate:
    """Rows learned a second, rows to learn, bytes of memory the run will hold, and rows of one epoch."""

    rows_per_second: float
    rows: int
    n_bytes: int
    epoch_rows: int

    @property
    def seconds(self) -> float:
        """At full speed."""
        return self.rows / self.rows_per_second

    @property
    def watched(self) -> float:
        """Seconds at 1×, where a large table starts slowly (see `Pace`)."""
        fast = float(self.epoch_rows)
        if fast <= FIRST_ROWS_PER_SECOND:
            return max(self.seconds, self.rows / fast)
        begin = (fast - FIRST_ROWS_PER_SECOND) / GROWTH_PER_SECOND
        if self.rows <= begin:
            slow = math.log1p(self.rows * GROWTH_PER_SECOND / FIRST_ROWS_PER_SECOND) / GROWTH_PER_SECOND
        else:
            slow = math.log(fast / FIRST_ROWS_PER_SECOND) / GROWTH_PER_SECOND + (self.rows - begin) / fast
        return max(self.seconds, slow)

    @property
    def too_much(self) -> bool:
        """Whether to warn before playing."""
        return self.seconds > LONG_SECONDS or self.n_bytes > MUCH_BYTES

    @property
    def text(self) -> str:
        """In words, with what to do where it is much."""
        speed = f"{about(self.rows_per_second)} rows a second, measured now"
        said = (
            f"{self.rows:,} rows to learn take {duration(self.seconds)} at full speed ({speed}), "
            f"{duration(self.watched)} at 1×, and {size(self.n_bytes)} of memory."
        )
        if self.n_bytes > MUCH_BYTES:
            return said + " That is much memory: use fewer clauses or fewer columns."
        if self.seconds > LONG_SECONDS:
            return (
                said
                + " That is long: fewer clauses, epochs or rows make it shorter, and you can pause at any time."
            )
        return said


def measure(run: TrainingRun, parameters: Parameters) -> Estimate:
    """Learn the first rows on a fresh machine for a moment; the run itself stays as it is."""
    machine = run.make_machine(run.first_parameters)
    order = RowOrder(run.first_parameters.random_state, run.n_rows)
    learned, count, began = 0, FEWEST_ROWS, time.perf_counter()
    while (spent := time.perf_counter() - began) < MEASURE_SECONDS and learned < run.n_rows:
        rows = order.rows(learned, count)
        machine.learn(run.data, run.task.lessons(machine.parameters), rows, run.n_jobs)
        learned, count = learned + len(rows), count * 2
    spent = time.perf_counter() - began
    rows_left = max(0, parameters.epochs * run.n_rows - run.step)
    return Estimate(learned / max(spent, 1e-6), rows_left, _bytes(run), run.n_rows)


def _bytes(run: TrainingRun) -> int:
    state = run.machine.state
    each = state.planes.nbytes + state.weights.nbytes
    codes = run.codes.nbytes if isinstance(run.codes, np.ndarray) else run.codes.data.nbytes
    own = 0 if run.data is run.codes else run.data.nbytes
    return int(codes + own + each + min(MAX_CHECKPOINT_BYTES, 400 * each) + min(48 * 2**20, 240 * each))


def duration(seconds: float) -> str:
    """A time in words: "under 1 s", "about 12 s", "about 4 min", "about 2.5 h"."""
    if seconds < 1:
        return "under 1 s"
    if seconds < 100:
        return f"about {seconds:.0f} s"
    if seconds < 6000:
        return f"about {seconds / 60:.0f} min"
    return f"about {seconds / 3600:.1f} h"


def size(n_bytes: float) -> str:
    """An amount of memory in words."""
    if n_bytes < 2**20:
        return "under 1 MB"
    return f"{n_bytes / 2**20:,.0f} MB" if n_bytes < 2**30 else f"{n_bytes / 2**30:.1f} GB"


def about(number: float) -> str:
    """A number with two digits that count: 12,345 is "12,000"."""
    if number < 10:
        return f"{number:.1f}"
    digits = len(str(int(number))) - 2
    return f"{round(number, -digits):,.0f}"
