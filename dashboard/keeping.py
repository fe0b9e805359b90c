"""Whose page this is, and the runs that come back to it.

An unguessable key in the page's address names the owner. A tab that opens with the key of a session that is still alive
joins it; after the server was restarted, the run changed last is opened from the store. Another key, or none, starts
afresh with a key of its own, so nobody can be made to work under a key that somebody else knows.
"""

from __future__ import annotations

import secrets
import threading
from weakref import WeakValueDictionary

import streamlit as st

from dashboard import session, store
from dashboard.goals import make_goal
from dashboard.history import Moment
from dashboard.jobs import Job
from dashboard.kept_table import TrainedTable
from dashboard.saving import Keeper
from dashboard.session import Session
from dashboard.splitting import Split
from dashboard.store import KeptRun, Store
from tmcore.decode import decode
from tmcore.encode import Encoder
from tmcore.labels import chosen_positive
from tmcore.parameters import Parameters
from tmcore.training import TrainingRun

ADDRESS_KEY = "key"

_lock = threading.Lock()
_sessions: WeakValueDictionary[str, Session] = WeakValueDictionary()


def arrive() -> None:
    """Give this tab its session, and its address the session's key; call it first in the main script."""
    asked = st.query_params.get(ADDRESS_KEY)
    if session.KEY not in st.session_state:
        with _lock:
            st.session_state[session.KEY] = _session_of(asked)
    owner = session.current().owner
    if owner and asked != owner:
        st.query_params[ADDRESS_KEY] = owner


def _session_of(key: str | None) -> Session:
    if key and (alive := _sessions.get(key)) is not None:
        return alive
    made = Session(owner=secrets.token_urlsafe(16))
    kept = store.current()
    try:
        if key and kept is not None and (runs := kept.runs(key)):
            made.owner = key
            open_run(made, runs[0].id)
    except ValueError as error:
        made.notices.append(str(error))
    _sessions[made.owner] = made
    return made


def new_job(
    current: Session,
    parameters: Parameters,
    branch: tuple[TrainingRun, int] | None = None,
    past: tuple[Moment, ...] = (),
) -> Job:
    """A job on the data that the session trains on.

    ``branch`` is a run to go on with and the step where playing ends, ``past`` what is known of the time before.
    """
    split, kept = current.split, store.current()
    assert split is not None
    keeper = Keeper(kept, current.owner, _trained(current)) if kept is not None and current.owner else None
    return Job(
        split.X_train,
        split.y_train,
        split.X_test,
        split.y_test,
        parameters,
        current.trained_name,
        rows=current.kept_rows,
        kept=branch,
        keeper=keeper,
        past=past,
        positive_class=split.positive_class,
        task=split.task,
    )


def open_run(current: Session, run_id: str) -> None:
    """Go on with one of the owner's kept runs.

    Raises
    ------
    ValueError
        It is not kept any more, or damaged.
    """
    kept = store.current()
    if kept is None:
        raise ValueError("Runs are not kept by this server. Train anew.")
    line, run = kept.load(current.owner, run_id)
    trained = _table_of(current, kept, line, run)
    split = trained.split if trained is not None else _split_of(run, line.target)
    current.drop_job("another run was opened")
    if trained is not None:
        _look_at(current, trained, line.name)
    current.split, current.trained_name = split, line.name
    current.trained_table = trained.table if trained is not None else None
    current.trained_opened = current.opened if trained is not None else -1
    current.kept_rows = run if trained is None else None
    current.parameters = make_goal(split.task, split.y_train).free(run.parameters)
    current.start(
        Job(
            split.X_train,
            split.y_train,
            split.X_test,
            split.y_test,
            run.parameters,
            line.name,
            kept=(run, line.end_step),
            positive_class=split.positive_class,
            task=split.task,
            keeper=Keeper(kept, current.owner, trained, (run_id, run)),
        )
    )


def _trained(current: Session) -> TrainedTable | None:
    """What is kept of the session's data beside a run; None where only the encoded rows are known."""
    if current.split is None or current.trained_table is None:
        return None
    sample = current.sample if current.table is current.trained_table else None
    return TrainedTable(current.trained_table, current.split, sample)


def _table_of(current: Session, kept: Store, line: KeptRun, run: TrainingRun) -> TrainedTable | None:
    """The table kept with a run; where it cannot be read, a notice says so and None stands for it."""
    try:
        trained = kept.table_of(line.id)
        if trained is not None and len(trained.split.y_train) != run.n_rows:
            raise ValueError("it has other rows than the run.")
    except (OSError, ValueError) as error:
        current.notices.append(
            f"The run on {line.name} goes on with its encoded rows, because its table cannot be read: {error}"
        )
        return None
    return trained


def _look_at(current: Session, trained: TrainedTable, name: str) -> None:
    """Show a kept run's table on the Data page, as it was trained on."""
    if current.table is not None and current.table is not current.trained_table:
        current.notices.append(f"Closed {current.name}, because another run was opened with its own table.")
    current.open_table(trained.table, name, None, trained.sample)
    current.seed, current.test_share = trained.split.seed, trained.split.test_share


def _split_of(run: TrainingRun, target: str | None) -> Split:
    """The rows of a kept run; numbers are as fine as the machine reads them, those to predict are called ``target``."""
    encoder = run.encoder
    assert isinstance(encoder, Encoder)
    codes, targets = run.held_out or (run.codes[:0], run.targets[:0])
    note = f"{run.n_rows:,} rows to train on, {len(targets):,} kept aside, from a kept run."
    return Split(
        decode(encoder, run.codes),
        run.task.decode(run.targets).rename(target),
        decode(encoder, codes),
        run.task.decode(targets).rename(target),
        seed=0,
        test_share=len(targets) / (run.n_rows + len(targets)),
        stratified=False,
        note=note,
        positive_class=chosen_positive(run.classes),
        task=run.task.name,
    )
