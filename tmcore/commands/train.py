"""``tmcore train``: from a CSV to a settled model in a file, saying what was assumed and how well it does."""

from __future__ import annotations

import argparse
import copy
import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from tmcore.commands import batches, labels
from tmcore.commands.goals import Goal, Model, goal_of
from tmcore.commands.output import check_output, say
from tmcore.files import check_replaceable
from tmcore.label_choices import thin_classes
from tmcore.parameters import Parameters
from tmcore.problems import TableError, counted
from tmcore.read_csv import MAX_BYTES
from tmcore.suggest import suggest_settings
from tmcore.table import Table, read_table
from tmcore.training import TrainingRun

LINES = 10
"""About how many lines of progress a training prints."""


def run(options: argparse.Namespace) -> int:
    """Read, train, score, settle, write."""
    parameters = settings(options)
    check_output(options.output)
    check_replaceable(options.output)
    if options.batches is not None:
        return batches.run(options, parameters)
    if options.data.is_file() and options.data.stat().st_size > MAX_BYTES:
        raise TableError(
            f"{options.data.name} has more than {MAX_BYTES // 1024**2} MB; train on it in parts with --batches 100000."
        )
    table = labels.choose(read_table(options.data, **reading(options) | {"positive_class": None}), options)
    report(table)
    goal = goal_of(table)
    X, y = features(table, parameters), goal.y
    train, test = split(y, options.test_share, options.seed, goal.strata)
    say(f"{counted(len(train), 'row')} to train on, {counted(len(test), 'row')} held out.")
    if goal.strata is not None and (thin := thin_classes(y, y.iloc[train])):
        say(f"Warning: {thin}")
    if options.suggest is not None:
        parameters = suggested(X.iloc[train], y.iloc[train], parameters, goal.arguments, options)
    model = _train(X, y, train, test, parameters, goal, options.jobs)
    score_on = test if len(test) else train
    models = {"before settling": by_votes(model), "after settling": model}
    lines = goal.scores(models, X.iloc[score_on], y.iloc[score_on])
    finish(model, options, counted(len(score_on), "held-out row" if len(test) else "training row"), lines)
    return 0


def settings(options: argparse.Namespace) -> Parameters:
    """The settings given as options, the others at their defaults.

    Raises
    ------
    ValueError
        One is out of its range.
    """
    names = [field.name for field in dataclasses.fields(Parameters) if field.name != "random_state"]
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    given = {name: None if value == "none" and name != "weights" else value for name, value in given.items()}
    return Parameters().replace(**given, random_state=options.seed)


def reading(options: argparse.Namespace) -> dict[str, Any]:
    """What `read_table` is told about the file; of the target's labels see `labels.choose`."""
    names = ("separator", "encoding", "decimal", "target", "task")
    return {name: getattr(options, name) for name in names} | {
        "positive_class": options.positive,
        "roles": dict(options.role),
        "orders": dict(options.order),
    }


def report(table: Table) -> None:
    """Say what was assumed and found; refuse a table that cannot be trained on."""
    for problem in table.problems:
        if problem.severity == "error":
            raise TableError(problem.message)
    used = [info for info in table.columns if info.role != "ignored" and info.name != table.target]
    say(
        f"{counted(table.n_rows, 'row')}, {counted(len(used), 'column')} to learn from, target {table.target}."
    )
    for line in table.assumptions:
        say(line)
    for problem in table.problems:
        say(f"{'Warning' if problem.severity == 'warning' else 'Note'}: {problem.message}")


def features(table: Table, parameters: Parameters) -> pd.DataFrame:
    """The columns to learn from; as the numbers 0 and 1 where the representation takes nothing else."""
    X = table.features()
    if parameters.representation != "boolean":
        return X
    for name in X.columns:
        if not pd.api.types.is_numeric_dtype(X[name].dtype):
            if not set(X[name].cat.categories) <= {"0", "1"}:
                raise TableError(
                    f"Column '{name}' holds other values than 0 and 1; use --representation intervals or ignore it."
                )
            X[name] = X[name].astype("float64")
    return X


def split(y: pd.Series, share: float, seed: int, strata: pd.Series | None) -> tuple[np.ndarray, np.ndarray]:
    """Positions to train on and to hold out, as the dashboard divides them with the same share and seed.

    With `strata`, the class labels, both have about the same shares of them where classes are large enough.
    """
    n_test = round(share * len(y))
    if n_test == 0:
        return np.arange(len(y)), np.arange(0)
    if len(y) - n_test < 2:
        raise ValueError(
            f"{counted(len(y), 'row')} are too few to hold out {100 * share:g} %; lower --test-share."
        )
    if strata is not None:
        counts = strata.value_counts()
        enough = counts.min() >= 2 and min(n_test, len(y) - n_test) >= len(counts)
        strata = strata if enough else None
    train, test = train_test_split(
        np.arange(len(y)), test_size=n_test, random_state=seed % 2**32, stratify=strata
    )
    return train, test


def suggested(
    X: pd.DataFrame,
    y: pd.Series,
    parameters: Parameters,
    arguments: dict[str, Any],
    options: argparse.Namespace,
) -> Parameters:
    """The settings that a search on the training rows suggests; `arguments` are a goal's."""
    if "task" in arguments:
        raise ValueError("--suggest compares settings for classes; leave it out to predict numbers.")
    found = suggest_settings(
        X,
        y,
        options.suggest,
        parameters=parameters,
        random_state=options.seed,
        n_jobs=options.jobs,
        **arguments,
    )
    tried = int((found.trials["splits"] > 0).sum())
    kept = found.trials.index[0] == 0
    names = {name: getattr(found.parameters, name) for name in ("n_clauses", "T", "s", "epochs")}
    say(
        f"Tried {counted(tried, 'choice')} of settings by {found.measure} on rows of the training part held out: "
        + ("none is clearly better, so they stay." if kept else _listing(names) + " is clearly better.")
    )
    return found.parameters


def _listing(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _train(
    X: pd.DataFrame,
    y: pd.Series,
    train: np.ndarray,
    test: np.ndarray,
    parameters: Parameters,
    goal: Goal,
    jobs: int | None,
) -> Model:
    X_train, y_train = X.iloc[train], y.iloc[train]
    if parameters.early_stopping:
        model = goal.model(parameters, jobs).fit(X_train, y_train)
        say(f"Early stopping kept epoch {model.best_epoch_}.")
        return model
    held_out = (X.iloc[test], y.iloc[test]) if len(test) else None
    run = TrainingRun(X_train, y_train, parameters, held_out, jobs, **goal.arguments)
    step = max(1, parameters.epochs // LINES)
    for epoch in range(0, parameters.epochs, step):
        snapshot = run.advance(epochs=min(step, parameters.epochs - epoch))
        literals = counted(snapshot.n_literals, "literal")
        progress = goal.progress(snapshot.scores)
        say(f"Epoch {snapshot.epoch:.0f} of {parameters.epochs}: {literals}, {progress}")
    return run.settle()


def by_votes(model: Model) -> Model:
    """The model as it was before it was settled."""
    unsettled = copy.copy(model)
    unsettled.settled_ = None
    return unsettled


def finish(model: Model, options: argparse.Namespace, where: str, scores: list[str]) -> None:
    """Say how good the model is, and write it.

    Parameters
    ----------
    where : str
        Which rows were scored: "24 held-out rows".
    scores : list of str
        What came out, a line each.
    """
    say(f"On {where}:")
    for line in scores:
        say(line)
    if model.settle_reason_ is not None:
        say(model.settle_reason_)
    say(f"{counted(len(model.rules_), 'rule')} with {counted(model.rules_.n_literals, 'literal')}.")
    model.save(options.output)
    say(f"Wrote {options.output}; read its rules with: tmcore rules {options.output}")
