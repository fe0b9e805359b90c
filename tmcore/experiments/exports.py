"""Every export of every example table and of hostile ones, run and compared with the model.

Both representations, every kind of weights, 2 to 4 classes, missing values and unseen categories; besides the
checks that each download gets, DuckDB, PostgreSQL, Spark and JPMML where they are installed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pandas as pd

import sample_data
from tmcore.commands.output import check_output
from tmcore.commands.words import Parser, positive, whole
from tmcore.estimators import TsetlinClassifier
from tmcore.experiments.engines import engines
from tmcore.experiments.hostile_table import hostile_table
from tmcore.export import FORMATS
from tmcore.export.proof import MODEL, N_GENERATED, Proof, prove

REPRESENTATIONS = ("intervals", "thresholds")
WEIGHTS = ("none", "real", "refit")


def tables() -> Iterator[tuple[str, pd.DataFrame, pd.Series]]:
    """Return the name, features and labels of every table."""
    for sample in sample_data.samples():
        table = sample_data.load(sample.key)
        yield sample.key, table.features(), table.labels()
    for n_classes in (2, 3, 4):
        yield f"hostile, {n_classes} classes", *hostile_table(n_classes)


def prove_all(model: TsetlinClassifier, X: pd.DataFrame, n_generated: int) -> Iterator[Proof]:
    """Return the proof of every format by its own check, then by every engine."""
    for name in (*FORMATS, MODEL):
        yield prove(model.rules_, name, X, model, n_generated=n_generated)
    for name, check in engines():
        yield prove(model.rules_, name, X, model, n_generated=n_generated, check=check)


def run(n_clauses: int, epochs: int, n_generated: int) -> pd.DataFrame:
    """Return one row per table, representation, weights and check."""
    found = []
    for (table, X, y), representation, weights in product(tables(), REPRESENTATIONS, WEIGHTS):
        model = TsetlinClassifier(
            n_clauses, epochs=epochs, representation=representation, weights=weights, random_state=1
        ).fit(X, y)
        print(f"{table}, {representation}, {weights}: {len(model.rules_)} rules", flush=True)
        began = time.perf_counter()
        for proof in prove_all(model, X, n_generated):
            taken, began = time.perf_counter() - began, time.perf_counter()
            found.append(
                {
                    "table": table,
                    "representation": representation,
                    "weights": weights,
                    "classes": len(model.classes_),
                    "rules": len(model.rules_),
                    "check": proof.checker if proof.n_generated else f"{proof.format}, read back",
                    "equal": proof.equal,
                    "rows": proof.n_rows + proof.n_generated,
                    "differing": len(proof.differing),
                    "seconds": taken,
                    "reason": proof.reason,
                }
            )
            if not proof.equal:
                print(
                    f"{table}, {representation}, {weights}: {proof.format}: {proof.badge}. {proof.sentence}"
                )
    return pd.DataFrame(found)


def main(argv: list[str] | None = None) -> None:
    """Print, for every check, on how many rule sets and rows it was equal."""
    parser = Parser(prog="tmcore experiment exports", description=__doc__)
    parser.add_argument("--clauses", type=positive, default=60)
    parser.add_argument("--epochs", type=whole, default=10)
    parser.add_argument(
        "--generated", type=positive, default=N_GENERATED, help="rows made up for every rule set"
    )
    parser.add_argument("--csv", type=Path, help="where to write every single result")
    options = parser.parse_args(argv)
    check_output(options.csv)
    found = run(options.clauses, options.epochs, options.generated)
    if options.csv:
        found.to_csv(options.csv, index=False)
    groups = found.groupby("check", sort=False)
    summary = groups.agg(
        rule_sets=("equal", "size"),
        equal=("equal", "sum"),
        rows=("rows", "sum"),
        differing=("differing", "sum"),
        median_seconds=("seconds", "median"),
    )
    print(summary.to_string(float_format="{:.2f}".format))


if __name__ == "__main__":
    main()
