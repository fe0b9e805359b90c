"""What one browser session holds, typed, in one place.

A page reads and changes it through :func:`current`. Editing data on the Data page never touches a run: only
:meth:`Session.train_on` replaces what is being trained on, and it leaves a notice about anything it closes.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.dialling import Dialling
from dashboard.editing import Editing, learned
from dashboard.splitting import Split, make_split
from tmcore.parameters import Parameters
from tmcore.table import MAX_BYTES, Table, TableError, read_table

if TYPE_CHECKING:
    from dashboard.compare_view.state import Comparing
    from dashboard.goals import Model
    from dashboard.jobs import Job
    from tmcore import TrainingRun

KEY = "tsetlin_session"
DEFAULT_TEST_SHARE = 0.2
DEFAULT_SEED = 0
NOTICE_SECONDS = 8.0


@dataclass
class Session:
    """The state of one visitor: the data being looked at, the data being trained on, and the run.

    ``generation`` grows whenever the table is read anew and ``edits`` whenever it is edited; widgets carry them in
    their keys, so that they start from the table and not from what they showed before. ``past`` holds the tables
    before each edit. ``owner`` is the key of the runs kept for this visitor, empty where the page's address has none;
    ``kept_rows`` is a run whose encoded rows stand in for a table that is gone. ``class_asked`` is the class to predict
    that a link asks for, until a table has it. ``usual`` are the settings that new data start from, those of a link
    where the visitor came by one. ``opened`` counts the tables opened, ``trained_opened`` is the one trained on,
    0 before there is one and -1 where it is gone.
    """

    table: Table | None = None
    name: str = ""
    sample: str | None = None
    source: bytes | None = None
    overrides: dict[str, str] = field(default_factory=dict)
    generation: int = 0
    edits: int = 0
    past: list[Table] = field(default_factory=list)
    test_share: float = DEFAULT_TEST_SHARE
    seed: int = DEFAULT_SEED
    split: Split | None = None
    trained_table: Table | None = None
    trained_name: str = ""
    usual: Parameters = field(default_factory=Parameters)
    parameters: Parameters = field(default_factory=Parameters)
    opened: int = 0
    trained_opened: int = 0
    job: Job | None = None
    notices: list[str] = field(default_factory=list)
    shown_since: dict[str, float] = field(default_factory=dict)
    owner: str = ""
    kept_rows: TrainingRun | None = None
    editing: Editing | None = None
    dial: Dialling | None = None
    comparing: Comparing | None = None
    class_asked: str | None = None

    def open_table(self, table: Table, name: str, source: bytes | None, sample: str | None = None) -> None:
        """Look at another table; a run that exists goes on with the data it has.

        ``source`` is the file it was read from, None where that is gone.
        """
        self.table, self.name, self.source, self.sample = table, name, source, sample
        if source is not None:
            self.table = self._as_asked(table)
        self.overrides, self.past = {}, []
        self.test_share, self.seed = DEFAULT_TEST_SHARE, DEFAULT_SEED
        self.generation += 1
        self.opened += 1

    def open_upload(self, source: bytes, name: str) -> None:
        """Read an uploaded file's bytes and look at it.

        Raises
        ------
        TableError
            If it is too large or not a table. Nothing changes then.
        """
        if len(source) > MAX_BYTES:
            size, most = len(source) / 2**20, MAX_BYTES / 2**20
            raise TableError(
                f"{name} has {size:,.1f} MB, and the limit is {most:,.0f} MB. Upload fewer rows or columns."
            )
        self.open_table(read_table(source), name, source)

    def edit(self, table: Table) -> None:
        """Replace the table by one with another role, order or target; :meth:`undo` takes it back."""
        if self.table is not None:
            self.past.append(self.table)
            if table.chosen_class not in (None, self.table.chosen_class):
                self.class_asked = None  # chosen by hand since
        self.table = self._as_asked(table)
        self.edits += 1

    def ask_for_class(self, label: str | None) -> None:
        """Predict the class with this text as soon as there is a table that has it; such a present one is edited."""
        self.class_asked = label
        if self.table is not None and (table := self._as_asked(self.table)) is not self.table:
            self.edit(table)

    def _as_asked(self, table: Table) -> Table:
        """The table with the class to predict that a link asked for, where it has that class."""
        if self.class_asked is not None:
            with suppress(TableError):  # another table may have it
                table = table.with_positive_class(self.class_asked)
                self.class_asked = None
        return table

    def undo(self) -> None:
        """Take the last edit of the table back, if there is one."""
        if self.past:
            self.table = self.past.pop()
            self.edits += 1

    def reread(self, overrides: dict[str, str]) -> None:
        """Read the kept bytes again, with some guesses replaced; roles are guessed anew, what to predict stays.

        Raises
        ------
        TableError
            If the bytes cannot be read that way. Nothing changes then.
        """
        if self.source is None:
            raise TableError("No data yet. Upload a CSV or open an example.")
        table = read_table(
            self.source,
            separator=overrides.get("separator"),
            encoding=overrides.get("encoding"),
            decimal=overrides.get("decimal"),
        )
        table = table if self.table is None else _predicting_the_same(table, self.table)
        self.table, self.overrides, self.past = table, overrides, []
        self.generation += 1

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
        self.kept_rows = None
        if self.trained_opened not in (0, self.opened) and self.parameters != self.usual:
            self.parameters = self.usual
            self.notices.append("The settings start anew with the new data.")
        self.trained_opened = self.opened

    def set_parameters(self, parameters: Parameters) -> None:
        """Keep the settings for the next run. Settings of a run that goes on are changed through its job."""
        parameters.check()
        self.parameters = parameters

    def start(self, job: Job) -> None:
        """Make ``job`` this session's run; the one before is closed with a notice."""
        if job is not self.job:
            self.drop_job("a new run started")
            self.job = job

    @property
    def unsaved(self) -> str | None:
        """What closing the run would lose, in words: "the run on Heart at epoch 3.7"; None if nothing."""
        latest = None if self.job is None else self.job.latest
        if self.job is None or latest is None or not latest.step:
            return None
        rules = " and its rules" if self.job.settled is not None else ""
        return f"the run on {self.trained_name} at epoch {latest.epoch:.1f}{rules}"

    @property
    def kept_or_not(self) -> str:
        """Whether the run can be opened again once it is closed, in a sentence."""
        keeper = None if self.job is None else self.job.keeper
        if self.job is None or keeper is None or keeper.problem:
            return "It is not kept."
        rules = ", and settling brings its rules back" if self.job.settled is not None else ""
        return f"It is kept: Your runs, on the Data page, opens it again{rules}."

    def drop_job(self, reason: str) -> None:
        """Close the run, if there is one, and leave a notice that names it and the reason."""
        if self.job is None:
            return
        if (lost := self.unsaved) is not None:
            self.notices.append(f"Closed {lost}, because {reason}. {self.kept_or_not}")
        self.job.close()
        self.job = None

    def rules(self) -> Editing | None:
        """The rules of the run with the edits made to them, None before there are any; new rules drop old edits.

        Once the run is settled they are those at the dial's point.
        """
        if self.job is None:
            return None
        outcome = self.job.outcome
        if outcome is None:
            self.dial = None
            if self.editing is None or self.editing.learned.of is not self.job.latest:
                found = learned(self.job)
                self.editing = None if found is None else Editing(found)
            return self.editing
        if self.dial is None or self.dial.outcome is not outcome:
            self.dial = Dialling(outcome, self.job)
        self.editing = self.dial.editing()
        return self.editing

    @property
    def settled(self) -> Model | None:
        """The settled estimator of the run, if the run has been settled."""
        return None if self.job is None else self.job.settled

    def take_notices(self) -> list[str]:
        """The notices to show now: each from when it is first shown until some seconds later.

        A page is often drawn twice in a row, and what only the first drawing shows nobody can read.
        """
        now = time.monotonic()
        fresh = [text for text in self.notices if text not in self.shown_since]
        self.shown_since |= dict.fromkeys(fresh, now)
        self.notices = [text for text in self.notices if now - self.shown_since[text] < NOTICE_SECONDS]
        self.shown_since = {text: self.shown_since[text] for text in self.notices}
        return list(self.notices)


def _predicting_the_same(table: Table, before: Table) -> Table:
    """A table read anew with what was chosen about the target before, as far as that fits it."""
    if before.target not in {column.name for column in table.columns}:
        return table
    table = table.with_target(before.target)
    if before.chosen_task is not None:
        with suppress(TableError):  # read differently it may hold no numbers
            table = table.with_task(before.chosen_task)
    for label, read_as in before.label_choices.items():
        with suppress(TableError):  # labels may be called otherwise now
            table = table.with_label(label, read_as)
    if before.chosen_class is not None:
        with suppress(TableError):
            table = table.with_positive_class(before.chosen_class)
    return table


def current() -> Session:
    """The session of the browser tab this script run belongs to."""
    if KEY not in st.session_state:
        st.session_state[KEY] = Session()
    session = st.session_state[KEY]
    assert isinstance(session, Session)
    return session
