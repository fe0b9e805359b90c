"""What one browser session holds, typed, in one place.

A page reads and changes it through :func:`current`. Editing data on the Data page never touches a run: only
:meth:`Session.train_on` replaces what is being trained on, and it leaves a notice about anything it closes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st
from sklearn.model_selection import train_test_split

from tmcore.parameters import Parameters
from tmcore.table import Table, TableError

if TYPE_CHECKING:
    from dashboard.jobs import Job
    from tmcore import TsetlinClassifier

KEY = "tsetlin_session"
DEFAULT_TEST_SHARE = 0.2
DEFAULT_SEED = 0


@dataclass(frozen=True)
class Split:
    """Training rows and test rows of one table.

    ``X_*`` are DataFrames whose dtypes carry the roles (see ``Table.features``), ``y_*`` the labels with the same
    index. ``note`` says in one sentence how the rows were divided.
    """

    X_train: pd.DataFrame
    y_train: pd.Series
    X_test: pd.DataFrame
    y_test: pd.Series
    seed: int
    test_share: float
    stratified: bool
    note: str


def make_split(table: Table, test_share: float, seed: int) -> Split:
    """Divide the table's labelled rows at random, keeping the class shares where the classes are large enough.

    Raises
    ------
    TableError
        If there is no target, fewer than two classes, or a part would be left without a row.
    """
    if table.target is None:
        raise TableError("No target column is chosen. Choose the column to predict.")
    X, y = table.features(), table.labels()
    if X.shape[1] == 0:
        raise TableError("Every column is ignored. Give at least one column another role.")
    counts = y.value_counts()
    counts = counts[counts > 0]
    if len(counts) < 2:
        raise TableError(f"The target {table.target!r} has only one class. Choose a column with two or more.")
    n_test = round(test_share * len(y))
    if n_test < 1 or len(y) - n_test < 2:
        raise TableError(f"{len(y)} rows are too few to set {100 * test_share:.0f} % aside. Use more rows.")
    stratified = bool(counts.min() >= 2 and n_test >= len(counts) and len(y) - n_test >= len(counts))
    parts = train_test_split(X, y, test_size=n_test, random_state=seed, stratify=y if stratified else None)
    X_train, X_test, y_train, y_test = parts
    if y_train.nunique() < 2:
        raise TableError("The training rows hold only one class. Use another seed or a smaller test share.")
    if stratified:
        how = "the classes keep their shares in both"
    else:
        how = f"not by class, since class {counts.idxmin()!s} has too few rows"
    note = f"{len(y_train):,} training rows, {n_test:,} test rows, drawn at random with seed {seed}; {how}."
    return Split(X_train, y_train, X_test, y_test, seed, test_share, stratified, note)


@dataclass
class Session:
    """The state of one visitor: the data being looked at, the data being trained on, and the run."""

    table: Table | None = None
    name: str = ""
    sample: str | None = None
    source: bytes | None = None
    overrides: dict[str, str] = field(default_factory=dict)
    test_share: float = DEFAULT_TEST_SHARE
    seed: int = DEFAULT_SEED
    split: Split | None = None
    trained_table: Table | None = None
    trained_name: str = ""
    parameters: Parameters = field(default_factory=Parameters)
    job: Job | None = None
    notices: list[str] = field(default_factory=list)

    def open_table(self, table: Table, name: str, source: bytes, sample: str | None = None) -> None:
        """Look at another table; a run that exists goes on with the data it has."""
        self.table, self.name, self.source, self.sample = table, name, source, sample
        self.overrides = {}
        self.test_share, self.seed = DEFAULT_TEST_SHARE, DEFAULT_SEED

    @property
    def is_current(self) -> bool:
        """Whether the split to train on was made from the table and the settings on the Data page."""
        return (
            self.split is not None
            and self.trained_table is self.table
            and (self.split.seed, self.split.test_share) == (self.seed, self.test_share)
        )

    def train_on(self) -> None:
        """Make the shown table the one to train on; closes the run on other data and says so.

        Raises
        ------
        TableError
            If the table cannot be trained on. Nothing changes then.
        """
        if self.is_current:
            return
        if self.table is None:
            raise TableError("No data yet. Upload a CSV or open an example.")
        split = make_split(self.table, self.test_share, self.seed)
        self.drop_job("the data changed")
        self.split, self.trained_table, self.trained_name = split, self.table, self.name

    def set_parameters(self, parameters: Parameters) -> None:
        """Keep the settings for the next run. Settings of a run that goes on are changed through its job."""
        parameters.check()
        self.parameters = parameters

    def start(self, job: Job) -> None:
        """Make ``job`` this session's run; the one before is closed with a notice."""
        if job is not self.job:
            self.drop_job("a new run started")
            self.job = job

    def drop_job(self, reason: str) -> None:
        """Close the run, if there is one, and leave a notice that names it and the reason."""
        if self.job is None:
            return
        latest = self.job.latest
        if latest is not None and latest.step:
            rules = " and its rules" if self.job.settled is not None else ""
            self.notices.append(
                f"The run on {self.trained_name} at epoch {latest.epoch:.1f}{rules} was closed because {reason}."
            )
        self.job.close()
        self.job = None

    @property
    def settled(self) -> TsetlinClassifier | None:
        """The settled estimator of the run, if the run has been settled."""
        return None if self.job is None else self.job.settled

    def take_notices(self) -> list[str]:
        """Notices not shown yet; each is handed out once."""
        notices, self.notices = self.notices, []
        return notices


def current() -> Session:
    """The session of the browser tab this script run belongs to."""
    if KEY not in st.session_state:
        st.session_state[KEY] = Session()
    session = st.session_state[KEY]
    assert isinstance(session, Session)
    return session
