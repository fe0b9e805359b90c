"""The Train page: settings at the side, the run live in the middle, and settling as its last step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard import keeping, live, session, style
from dashboard.jobs import Job, Settled
from dashboard.session import Session
from tmcore.parameters import PARAMETERS

ERROR = "tsetlin_train_error"
LIVE_SETTINGS = ("T", "s", "gamma")
RESTART_SETTINGS = (
    "n_clauses",
    "representation",
    "bound_rule",
    "weights",
    "n_states",
    "max_levels",
    "epochs",
    "random_state",
)
USUAL_ENDS: dict[str, tuple[float, float]] = {
    "n_clauses": (10, 500),
    "T": (0.5, 100),
    "s": (1, 20),
    "gamma": (0, 0.1),
    "n_states": (1, 127),
    "epochs": (1, 200),
}
# Those that read any table: "boolean" takes 0/1 columns only. (Comments, not strings: Streamlit prints lone strings.)
REPRESENTATIONS = ("intervals", "thresholds")

WORDS = {
    "intervals": "Intervals",
    "thresholds": "Thresholds",
    "contrastive": "Contrastive",
    "paper": "Paper",
    "refit": "Settled at the end",
    "none": "All equal",
    "real": "Learned, in small steps",
    "integer": "Learned, whole votes",
}


def _key(name: str) -> str:
    return f"train_{name}"


# Settings ----------------------------------------------------------------------------------------------------------


def _shown(current: Session, name: str) -> Any:
    """The value a setting's widget shows."""
    return _vote_target(current) if name == "T" else getattr(current.parameters, name)


def _changed(name: str) -> None:
    """Take a setting over: into the run where it can change there, else for the next run.

    A browser that goes back or forward sends every widget again, changed or not.
    """
    current = session.current()
    value = st.session_state.get(_key(name))
    if value is None or value == _shown(current, name):
        return
    try:
        parameters = current.parameters.replace(**{name: value})
        if current.job is not None and name in LIVE_SETTINGS:
            current.job.change(**{name: value})
    except ValueError as error:
        st.session_state[ERROR] = str(error)
        return
    current.set_parameters(parameters)
    if name not in LIVE_SETTINGS and current.job is not None and _nothing_learned(current.job):
        _start(current)


def _number(name: str, value: float) -> None:
    """A slider over the usual range, or a number field where the range is open."""
    info = PARAMETERS[name]
    marked = info.label if name in LIVE_SETTINGS else f"{info.label} ↻"
    whole = info.step is not None and float(info.step).is_integer()
    kind: Any = int if whole else float
    key = _key(name)
    most = min(kind(info.maximum), 2**53 - 1)  # the largest whole number a browser holds exactly
    # Written in every run: a widget that comes back would show its lowest value otherwise, and send it.
    st.session_state[key] = kind(value)
    job = session.current().job
    meaning = info.meaning if job is None else job.goal.meanings.get(name, info.meaning)
    common: dict[str, Any] = {"help": meaning, "key": key, "on_change": _changed, "args": (name,)}
    if name not in USUAL_ENDS:
        st.number_input(marked, kind(info.minimum), most, step=kind(info.step), **common)
        return
    low, high = USUAL_ENDS[name]
    low, high = min(low, value), max(high, value)
    digits = None if whole else "%.3f" if name == "gamma" else "%.1f"
    st.slider(marked, kind(low), kind(high), step=kind(info.step), format=digits, **common)


def _choice(name: str, value: str) -> None:
    info = PARAMETERS[name]
    st.session_state[_key(name)] = value
    st.selectbox(
        f"{info.label} ↻",
        REPRESENTATIONS if name == "representation" else info.choices,
        format_func=lambda word: WORDS.get(word, word),
        help=info.meaning,
        key=_key(name),
        on_change=_changed,
        args=(name,),
    )


def _settings(current: Session) -> None:
    parameters = current.parameters
    st.subheader("Settings", anchor=False)
    live = "T, s and γ" if parameters.weights == "real" else "T and s"
    st.caption(
        f"{live} change while it learns, and a flag on the time bar marks the moment. ↻ needs a new run."
    )
    for name in ("n_clauses", "T", "s"):
        _number(name, _shown(current, name))
    if parameters.weights == "real":
        _number("gamma", parameters.gamma)
    _choice("representation", parameters.representation)
    if parameters.representation == "intervals":
        _choice("bound_rule", parameters.bound_rule)
    _choice("weights", parameters.weights)
    for name in ("n_states", "max_levels", "epochs", "random_state"):
        value = getattr(parameters, name)
        if value is not None:
            _number(name, value)


def _vote_target(current: Session) -> float:
    """T as the run takes it, also where it is "auto"."""
    job = current.job
    return (current.parameters if job is None else job.goal.settings(current.parameters)).vote_target


def _waiting_settings(current: Session, job: Job) -> list[str]:
    """Labels of the settings that differ from those of the run."""
    return [
        PARAMETERS[name].label
        for name in RESTART_SETTINGS
        if getattr(current.parameters, name) != getattr(job.parameters, name)
    ]


def _restart(current: Session, job: Job) -> None:
    labels = _waiting_settings(current, job)
    if not labels:
        return
    st.caption(style.plain(f"Not in this run yet: {', '.join(labels)}."))
    latest = job.latest
    lost = "" if latest is None else f" Epoch {latest.epoch:.1f} of this run would be lost."
    if st.button("Start over with these", type="primary", width="stretch", help=lost.strip() or None):
        _start(current)
        st.rerun()
    st.caption(style.plain(lost.strip()))


# The run -----------------------------------------------------------------------------------------------------------


def _nothing_learned(job: Job) -> bool:
    return job.state in ("compiling", "ready", "failed") and (job.latest is None or job.latest.step == 0)


def _start(current: Session) -> None:
    """A new run on the present split with the present settings."""
    current.start(keeping.new_job(current, replace(current.parameters)))


def _branch(step: int) -> None:
    """A new run that shares the present one's past up to a step and goes on with the settings at the side."""
    current = session.current()
    job = current.job
    assert job is not None
    assert job.run is not None
    wanted = job.goal.settings(current.parameters.replace(n_clauses=job.parameters.n_clauses))
    changes = live.branch_changes(job.run, step, wanted)
    told = ", ".join(
        f"{PARAMETERS[name].label} {_printed(value)} instead of "
        f"{_printed(getattr(live.parameters_at(job.run, step), 'vote_target' if name == 'T' else name))}"
        for name, value in changes.items()
    )
    try:
        run = job.run.branch(step, **changes)
    except ValueError as error:
        st.session_state[ERROR] = str(error)
        return
    end = max(job.end_step, step + 1)
    past = tuple(moment for moment in job.history() if moment.step < step)
    made = keeping.new_job(current, run.parameters.replace(epochs=job.parameters.epochs), (run, end), past)
    made.set_speed(job.speed)
    current.drop_job(
        f"a new run branches from its row {step:,}, epoch {step / run.n_rows:.1f}, and goes on with "
        f"{told or 'the same settings'}"
    )
    current.start(made)


def _printed(value: Any) -> str:
    if isinstance(value, str):
        return WORDS.get(value, value)
    return f"{value:g}" if not isinstance(value, bool) else "on" if value else "off"


def _settled_table(job: Job, outcome: Settled) -> dict[str, list[str]]:
    before, after = outcome.before, outcome.after
    lines = [
        *job.goal.lines(before.scores, after.scores),
        ("Rules", f"{before.n_rules:,}", f"{after.n_rules:,}"),
        ("Literals", f"{before.n_literals:,}", f"{after.n_literals:,}"),
    ]
    heads = ("", "by votes, before settling", "settled")
    return {head: [line[k] for line in lines] for k, head in enumerate(heads)}


def _settle(job: Job) -> None:
    """The last step: what settling does, its button, and what it changed."""
    outcome = job.outcome
    if outcome is None:
        style.section(
            "Settle: turn clauses into rules to keep",
            "Learning stops and the clauses stay as they are. Each gets the weight with which the rules together fit "
            "the training rows best; clauses that add nothing go.",
        )
        latest = job.latest
        idle = job.state in ("settling", "failed") or latest is None or latest.step == 0
        if st.button("Settle", disabled=idle, help="Learn at least one row first." if idle else None):
            job.settle()
            job.wait_for_commands(0.5)
            st.rerun()
        return
    n_rules = outcome.after.n_rules
    result = job.goal.result(outcome.after.scores, one=n_rules == 1)
    baseline = f"Without any rule, {job.goal.baseline(job.y_test)}." if result else ""
    style.section(f"Settled: {style.count(n_rules, 'rule')} {result}".rstrip(), baseline)
    if reason := getattr(outcome.estimator, "settle_reason_", None):
        st.caption(style.plain(str(reason)))
    left, _ = st.columns([2, 1])
    left.table(_settled_table(job, outcome), hide_index=True)
    if st.button("Read the rules"):
        st.switch_page(live.RULES_PAGE)


def _empty(current: Session) -> None:
    style.empty("No data yet. Upload a CSV or open an example.", "train")
    with st.container(horizontal=True, horizontal_alignment="center"):
        if st.button("Choose data", type="primary"):
            st.switch_page("views/data.py")


def _ready(current: Session) -> bool:
    """Whether there is a run to show; starts one where there is data for it."""
    if current.split is None and current.table is not None:
        try:
            current.train_on()
        except ValueError as error:
            st.session_state[ERROR] = str(error)
    if current.split is not None and current.job is None:
        _start(current)
    return current.job is not None


def show() -> None:
    """Draw the page."""
    current = session.current()
    ready = _ready(current)
    if message := st.session_state.pop(ERROR, None):
        st.markdown(f":red[:material/error:] {style.plain(message)}")
    if not ready:
        _empty(current)
        return
    job = current.job
    assert job is not None
    with st.sidebar:
        _settings(current)
        _restart(current, job)
    live.show(job, _branch)
    if job.keeper is not None and job.keeper.problem:
        st.caption(style.plain(job.keeper.problem))
    _settle(job)


show()
