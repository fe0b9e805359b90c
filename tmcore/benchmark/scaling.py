"""How the cost of an epoch grows: samples, features, clauses and levels, each doubled four times."""

from __future__ import annotations

import time

import numpy as np

from tmcore.parameters import Parameters
from tmcore.training import TrainingRun

BASE = {"samples": 2000, "features": 16, "clauses": 128, "levels": 16}
DOUBLINGS = 4


def seconds_per_epoch(samples: int, features: int, clauses: int, levels: int, representation: str) -> float:
    """Fastest of three epochs after the first, on random ranks and a noisy rule."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, levels, (samples, features)).astype(float)
    y = ((X[:, 0] > levels / 2) ^ (rng.random(samples) < 0.1)).astype(int)
    run = TrainingRun(X, y, Parameters(n_clauses=clauses, representation=representation))
    run.learn(samples)
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        run.learn(samples)
        best = min(best, time.perf_counter() - start)
    return best


def measure(representation: str) -> dict[str, list[tuple[int, float]]]:
    """For each quantity its sizes and the seconds of an epoch, the other quantities at BASE."""
    return {
        name: [
            (size, seconds_per_epoch(**{**BASE, name: size}, representation=representation))
            for size in (BASE[name] * 2**d for d in range(DOUBLINGS + 1))
        ]
        for name in BASE
    }
