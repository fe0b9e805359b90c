"""How many runs may learn at once in this process."""

from __future__ import annotations

import threading
import weakref


class Slots:
    """A fixed number of places, each held by an object until it gives it back or is gone."""

    def __init__(self, most: int) -> None:
        self._lock = threading.Lock()
        self._most = most
        self._holders: weakref.WeakSet[object] = weakref.WeakSet()

    def take(self, holder: object) -> bool:
        """Whether ``holder`` has a place now; asking again while it has one is free."""
        with self._lock:
            if holder not in self._holders and len(self._holders) >= self._most:
                return False
            self._holders.add(holder)
            return True

    def release(self, holder: object) -> None:
        """Give the place back, if there is one."""
        with self._lock:
            self._holders.discard(holder)
