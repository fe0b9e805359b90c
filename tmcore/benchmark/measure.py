"""Timing that survives a busy machine: contestants take turns, and the fastest turn of each counts."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def fastest_in_turns(contestants: dict[str, Callable[[], Any]], turns: int) -> dict[str, float]:
    """Seconds of the fastest turn of each contestant, run one after the other, `turns` times around."""
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(turns):
        for name, run in contestants.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def machine() -> str:
    """The processor, cores and Python of this run, in one line."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [
            line.split(":", 1)[1].strip()
            for line in info.read_text().splitlines()
            if line.startswith("model name")
        ]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}"
