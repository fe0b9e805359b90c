"""How many runs may learn at once in this process, and whose turn it is."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

from joblib import cpu_count

MOST_LEARNING = max(8, 4 * cpu_count())
"""Runs that learn at once on this server; one more waits for a place."""

AT_A_TIME = max(1, cpu_count() - 1)
"""Of those that learn so many work at any moment, in turns; one processor is left to the pages."""

ASKED_SECONDS = 0.02
"""How often one who waits for its turn looks whether it is asked for something else."""


class Slots:
    """A fixed number of places for objects that stand in a queue; who is gone leaves it.

    Parameters
    ----------
    most : int
        Places.
    """

    def __init__(self, most: int) -> None:
        self._lock = threading.Lock()
        self._queue: weakref.WeakKeyDictionary[object, None] = weakref.WeakKeyDictionary()
        self.most = most

    def take(self, holder: object) -> bool:
        """Whether ``holder`` has a place now; from the first time it asks it stands in the queue."""
        with self._lock:
            self._queue.setdefault(holder)
            return any(one is holder for one in islice(self._queue, self.most))

    def release(self, holder: object) -> None:
        """Give the place back, or leave the queue."""
        with self._lock:
            self._queue.pop(holder, None)


class Turns:
    """At most ``most`` threads work at a time; the others wait in the order they came.

    Learning in turns leaves the processors to the page between them, and no run learns twice while another waits.
    """

    def __init__(self, most: int) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._free = most

    @contextmanager
    def turn(self, stop: threading.Event) -> Iterator[bool]:
        """Wait for a turn and hold it for the block; False where ``stop`` was set first, and then there is none."""
        mine = self._ask()
        while not mine.wait(ASKED_SECONDS) and not stop.is_set():
            pass
        has_turn = self._still_mine(mine)
        try:
            yield has_turn
        finally:
            if has_turn:
                self._hand_on()

    def _ask(self) -> threading.Event:
        mine = threading.Event()
        with self._lock:
            if self._free:
                self._free -= 1
                mine.set()
            else:
                self._waiting.append(mine)
        return mine

    def _still_mine(self, mine: threading.Event) -> bool:
        """Whether the turn has come; where it has not, the place in the queue is given up."""
        with self._lock:
            if not mine.is_set():
                self._waiting.remove(mine)
            return mine.is_set()

    def _hand_on(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1
