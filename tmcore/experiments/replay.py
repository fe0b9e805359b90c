"""How long a jump to any step of a run takes: 200 random steps on Heart (200 epochs) and COMPAS (50 epochs)."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

import sample_data
from tmcore.commands.words import Parser, whole
from tmcore.parameters import Parameters
from tmcore.table import read_table
from tmcore.training import TrainingRun

RUNS = {"heart": (216, 100, 200), "compas": (4900, 500, 50)}
"""Training rows, clauses and epochs of each data set."""

JUMPS = 200
COMPARED = 5
"""Jumps whose machine is also held against that of a fresh run stopped there."""


def train(name: str, representation: str) -> tuple[TrainingRun, float]:
    """A finished run, and the seconds it took."""
    n_rows, n_clauses, epochs = RUNS[name]
    sample = next(s for s in sample_data.samples() if s.key == name)
    table = read_table(sample.read(), **sample.overrides)
    X, y = table.features(), table.labels()
    rows = np.random.default_rng(0).permutation(len(y))[:n_rows]
    run = TrainingRun(
        X.iloc[rows], y.iloc[rows], Parameters(n_clauses=n_clauses, representation=representation)
    )
    run.restart(run.parameters).advance(samples=10)  # compiles
    start = time.perf_counter()
    run.learn(epochs * run.n_rows)
    return run, time.perf_counter() - start


def jump(run: TrainingRun, seed: int) -> tuple[np.ndarray, int]:
    """Seconds of each jump, in random order, and how many of those compared differed from a fresh run (0)."""
    steps = np.random.default_rng(seed).integers(0, run.step + 1, JUMPS)
    seconds, differing = [], 0
    for place, step in enumerate(steps.tolist()):
        start = time.perf_counter()
        snapshot = run.at(step)
        seconds.append(time.perf_counter() - start)
        if place < COMPARED:
            fresh = run.restart(run.first_parameters).advance(samples=step)
            differing += not (
                np.array_equal(snapshot.bank.lower, fresh.bank.lower)
                and np.array_equal(snapshot.bank.upper, fresh.bank.upper)
                and np.array_equal(snapshot.bank.weights, fresh.bank.weights)
                and np.array_equal(snapshot.votes, fresh.votes)
            )
    return np.array(seconds), differing


def main(argv: Sequence[str] | None = None) -> None:
    """Print one line per data set."""
    parser = Parser(prog="tmcore experiment replay", description=__doc__)
    parser.add_argument("--representation", choices=("intervals", "thresholds"), default="intervals")
    parser.add_argument("--seed", type=whole, default=0, help="of the steps jumped to")
    options = parser.parse_args(argv)
    for name, (_, n_clauses, epochs) in RUNS.items():
        run, learned = train(name, options.representation)
        seconds, differing = jump(run, options.seed)
        start = time.perf_counter()
        run.explain(run.step // 2)
        explained = time.perf_counter() - start
        print(
            f"{name}: {run.n_rows} rows, {n_clauses} clauses, {epochs} epochs learned in {learned:.2f} s; "
            f"{JUMPS} jumps: median {np.median(seconds):.3f} s, 95 % within {np.quantile(seconds, 0.95):.3f} s, "
            f"longest {seconds.max():.3f} s; {differing} of {COMPARED} differ from a fresh run; "
            f"{len(run.checkpoints)} checkpoints, {run.checkpoints.n_bytes / 2**20:.1f} MB; "
            f"one row explained in {explained:.3f} s"
        )


if __name__ == "__main__":
    main()
