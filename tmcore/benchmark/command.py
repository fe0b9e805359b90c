"""`tmcore benchmark`: run the jobs, print the table, and keep it."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from tmcore.benchmark import scaling
from tmcore.benchmark.jobs import JOBS
from tmcore.benchmark.measure import machine
from tmcore.benchmark.results import Result, as_markdown


def main(argv: list[str] | None = None) -> int:
    """Run the named jobs, all of them by default; results are written as they come.

    Returns
    -------
    int
        0, or 1 where a bar was not reached.
    """
    parser = argparse.ArgumentParser(prog="tmcore benchmark", description=__doc__)
    parser.add_argument(
        "jobs", nargs="*", choices=[*JOBS, "scaling", []], help="which jobs (default: all but scaling)"
    )
    parser.add_argument("--out", type=Path, help="a JSON file to write the results to as they come")
    options = parser.parse_args(argv)
    print(machine())
    results: list[Result] = []
    for name in options.jobs or list(JOBS):
        if name == "scaling":
            _print_scaling()
            continue
        results += JOBS[name]()
        if options.out:
            kept = {"machine": machine(), "results": [asdict(result) for result in results]}
            options.out.write_text(json.dumps(kept, indent=1))
    if results:
        print(as_markdown(results))
    return 1 if any(result.reached == "no" for result in results) else 0


def _print_scaling() -> None:
    for representation in ("intervals", "thresholds"):
        for name, points in scaling.measure(representation).items():
            cells = ", ".join(f"{size:,}: {seconds * 1e3:.1f} ms" for size, seconds in points)
            print(f"{representation}, {name}: {cells}")
