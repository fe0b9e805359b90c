"""`tmcore benchmark`: run the jobs, print the table, and keep it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from tmcore.benchmark import scaling, scaling_picture
from tmcore.benchmark.jobs import JOBS
from tmcore.benchmark.measure import machine
from tmcore.benchmark.results import Result, as_markdown
from tmcore.commands.output import check_output
from tmcore.commands.words import Parser


def main(argv: list[str] | None = None) -> int:
    """Run the named jobs, all of them by default; results are written as they come.

    Returns
    -------
    int
        0, or 1 where a bar was not reached.
    """
    parser = Parser(prog="tmcore benchmark", description=__doc__)
    parser.add_argument(
        "jobs", nargs="*", choices=[*JOBS, "scaling", []], help="which jobs (default: all but scaling)"
    )
    parser.add_argument("--out", type=Path, help="a JSON file to write the results to as they come")
    parser.add_argument("--picture", type=Path, help="an SVG file for the picture of the job scaling")
    options = parser.parse_args(argv)
    check_output(options.out)
    check_output(options.picture)
    print(machine())
    results: list[Result] = []
    for name in options.jobs or list(JOBS):
        if name == "scaling":
            _scaling(options.picture)
            continue
        results += JOBS[name]()
        if options.out:
            kept = {"machine": machine(), "results": [asdict(result) for result in results]}
            options.out.write_text(json.dumps(kept, indent=1))
    if results:
        print(as_markdown(results))
    return 1 if any(result.reached == "no" for result in results) else 0


def _scaling(path: Path | None) -> None:
    measured = {representation: scaling.measure(representation) for representation in scaling_picture.COLOURS}
    for representation, by_name in measured.items():
        for name, points in by_name.items():
            cells = ", ".join(f"{size:,}: {seconds * 1e3:.1f} ms" for size, seconds in points)
            power = scaling_picture.growth(points)
            print(f"{representation}, {name}: {cells} (cost grows with the power {power:.2f})")
    if path is not None:
        path.write_text(scaling_picture.picture(measured), encoding="utf-8")
