"""How many rows to learn now, so that the eye can follow."""

from __future__ import annotations

import time
from typing import Literal

Speed = Literal["slow", "1x", "3x", "max"]
SPEEDS: tuple[Speed, ...] = ("slow", "1x", "3x", "max")

SLOW_SECONDS_PER_ROW = 1.2
TURN_SECONDS = 0.05
CHUNK_SECONDS = 0.04
FIRST_ROWS_PER_SECOND = 400.0
GROWTH_PER_SECOND = 0.5
LEAST_MOMENTS = 160
"""Snapshots a run of the planned length gives at least, so that fast runs have curves too."""


class Pace:
    """Turns of learning at the speed chosen.

    At 1x a small table takes an epoch a second; a large one starts at `FIRST_ROWS_PER_SECOND`, since most happens in
    the first rows, and gets faster by the half each second.
    """

    def __init__(self) -> None:
        self.speed: Speed = "1x"
        self._free = False
        self._rows_per_second = 2000.0
        self._owed = 0.0
        self._next = 0.0
        self._last = 0.0

    def choose(self, speed: Speed) -> None:
        """Change the speed from the next turn on.

        Raises
        ------
        ValueError
            If there is no such speed.
        """
        if speed not in SPEEDS:
            raise ValueError(f"Speed is {speed!r}; use one of {', '.join(SPEEDS)}.")
        self.speed = speed
        self.start(self._free)

    def start(self, free: bool) -> None:
        """Begin with one row at once; ``free`` learns as fast as it goes whatever the speed."""
        self._free = free
        self._owed, self._next, self._last = 1.0, 0.0, time.monotonic()

    @property
    def seconds_left(self) -> float:
        """Until the next turn."""
        return max(0.0, self._next - time.monotonic())

    def learned(self, rows: int, seconds: float) -> None:
        """Take in how long learning took."""
        if rows:
            self._rows_per_second = rows / max(seconds, 1e-6)

    def rows_due(self, step: int, n_rows: int, planned_rows: int) -> int:
        """Rows for this turn of a run with ``n_rows`` training rows; sets when the next turn comes."""
        now = time.monotonic()
        most = max(1, int(self._rows_per_second * CHUNK_SECONDS))
        if self.speed == "max" or self._free:
            return min(most, max(1, planned_rows // LEAST_MOMENTS))
        if self.speed == "slow":
            self._next = now + SLOW_SECONDS_PER_ROW
            return 1
        per_second = min(float(n_rows), FIRST_ROWS_PER_SECOND + GROWTH_PER_SECOND * step)
        if self.speed == "3x":
            per_second *= 3
        self._owed += per_second * min(1.0, max(TURN_SECONDS, now - self._last))
        self._last, self._next = now, now + TURN_SECONDS
        rows = min(int(self._owed), most)
        self._owed = min(self._owed - rows, per_second)
        return rows
