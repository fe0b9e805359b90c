"""Which rows of a table are trained on and which are kept aside for testing. No Streamlit here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from tmcore import label_choices
from tmcore.predicted import TaskName
from tmcore.problems import counted
from tmcore.table import Table, TableError


@dataclass(frozen=True)
class Split:
    """Training rows and test rows of one table.

    ``X_*`` are DataFrames whose dtypes carry the roles (see ``Table.features``), ``y_*`` the labels with the same
    index; numbers are float64. ``note`` says in one sentence how the rows were divided. ``positive_class`` is the class
    to predict of two, None for the second in sorted order or where there are more. ``task`` says what ``y_*`` hold.
    """

    X_train: pd.DataFrame
    y_train: pd.Series
    X_test: pd.DataFrame
    y_test: pd.Series
    seed: int
    test_share: float
    stratified: bool
    note: str
    positive_class: Any = None
    task: TaskName = "classes"


@dataclass(frozen=True)
class SplitPlan:
    """How many rows go where, and ``text``, one sentence about it."""

    n_train: int
    n_test: int
    stratified: bool
    text: str


def plan_split(counts: pd.Series, test_share: float) -> SplitPlan:
    """Plan the division of labelled rows, keeping the class shares where the classes are large enough.

    Parameters
    ----------
    counts : Series
        Rows per class.
    test_share : float
        Share of the rows to keep aside, between 0 and 1.

    Raises
    ------
    TableError
        If there are fewer than two classes, or a part would be too small.
    """
    counts = counts[counts > 0]
    n_rows = int(counts.sum())
    if len(counts) == 0:
        raise TableError("The target has no value in any row. Choose another column to predict.")
    if len(counts) == 1:
        raise TableError(
            f"Every row has the same target, {counts.index[0]!s}. Choose a column with two or more values."
        )
    n_test = round(test_share * n_rows)
    n_train = n_rows - n_test
    if n_test < 1 or n_train < 2:
        raise TableError(f"{n_rows} rows are too few to keep {100 * test_share:.0f} % aside. Use more rows.")
    stratified = bool(counts.min() >= 2 and min(n_train, n_test) >= len(counts))
    if stratified:
        how = "both with the same class shares"
    elif counts.min() >= 2:
        how = f"not by class, since {min(n_train, n_test)} rows cannot hold all {len(counts)} classes"
    else:
        how = f"not by class, since {counts.idxmin()!s} has only {counted(int(counts.min()), 'row')}"
    text = f"{n_train:,} rows to train on, {n_test:,} kept aside, {how}."
    return SplitPlan(n_train, n_test, stratified, text)


def plan_number_split(targets: pd.Series, test_share: float) -> SplitPlan:
    """Plan the division of rows with a number, which are drawn at random.

    Raises
    ------
    TableError
        If there are fewer than two numbers, or a part would be too small.
    """
    if targets.nunique() < 2:
        raise TableError("Every row has the same number. Choose a column with two or more values.")
    n_rows = len(targets)
    n_test = round(test_share * n_rows)
    if n_test < 1 or n_rows - n_test < 2:
        raise TableError(f"{n_rows} rows are too few to keep {100 * test_share:.0f} % aside. Use more rows.")
    text = f"{n_rows - n_test:,} rows to train on, {n_test:,} kept aside, drawn at random."
    return SplitPlan(n_rows - n_test, n_test, False, text)


def plan_rows(table: Table, test_share: float) -> SplitPlan:
    """Plan the division of the rows that have a target, as its kind asks for.

    Raises
    ------
    TableError
        If the rows cannot be divided.
    """
    answers = table.labels()
    if table.task == "numbers":
        return plan_number_split(answers, test_share)
    return plan_split(answers.value_counts(), test_share)


def _divided(answers: pd.Series, plan: SplitPlan, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the rows to train on and of those to test on."""
    stratify = answers if plan.stratified else None
    train, test = train_test_split(
        np.arange(len(answers)), test_size=plan.n_test, random_state=seed, stratify=stratify
    )
    return train, test


def thin_classes(table: Table, test_share: float, seed: int) -> str | None:
    """One sentence where the division leaves a class too few rows to train on, though it has enough; see the function
    of this name in `label_choices`.

    Raises
    ------
    TableError
        If the rows cannot be divided.
    """
    plan, answers = plan_rows(table, test_share), table.labels()
    if table.task == "numbers":
        return None
    least = int(answers.value_counts().min())
    if plan.stratified and least * plan.n_train // len(answers) >= label_choices.TRAINING_ROWS:
        return None  # every class gets at least the whole part of its share
    return label_choices.thin_classes(answers, answers.iloc[_divided(answers, plan, seed)[0]])


def make_split(table: Table, test_share: float, seed: int) -> Split:
    """Divide the table's rows that have a target at random, as :func:`plan_rows` says.

    Raises
    ------
    TableError
        If there is no target or no column to learn from, or the rows cannot be divided.
    """
    if table.target is None:
        raise TableError("No column to predict is chosen. Choose one.")
    X, y = table.features(), table.labels()
    if X.shape[1] == 0:
        raise TableError("Every column is ignored. Give at least one column another role.")
    plan = plan_rows(table, test_share)
    train, test = _divided(y, plan, seed)
    X_train, X_test, y_train, y_test = X.iloc[train], X.iloc[test], y.iloc[train], y.iloc[test]
    if y_train.nunique() < 2:
        what = "number" if table.task == "numbers" else "class"
        raise TableError(
            f"The training rows hold only one {what}. Use another seed or keep fewer rows aside."
        )
    about = seed, test_share, plan.stratified, plan.text, table.positive_class, table.task
    return Split(X_train, y_train, X_test, y_test, *about)
