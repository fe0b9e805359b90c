"""Commands on their way to a job's thread."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Wishes:
    """Commands that the thread has not carried out yet; None and 0 wish nothing."""

    learn: bool | None = None
    rows: int = 0
    reset: bool = False
    settle: bool = False
    close: bool = False
    settings: dict[str, float] = field(default_factory=dict)

    def any(self) -> bool:
        """Whether anything is wished."""
        return self != Wishes()
