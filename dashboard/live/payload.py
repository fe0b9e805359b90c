"""One frame of the live view as plain JSON: everything that moves."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dashboard.live.answers import Answers, answers_of
from dashboard.live.film import branch_changes, parameters_at
from dashboard.slots import MOST_LEARNING

if TYPE_CHECKING:
    from dashboard.history import Moment
    from dashboard.jobs import Job
    from dashboard.live.film import Film
    from dashboard.live.view import View
    from tmcore.encoders import AnyEncoder
    from tmcore.training import Snapshot, TrainingRun

MOST_LENGTHS = 200
MOST_CHANGES = 200
WEIGHT_UNIT = 2.0**-16
SIGNS = {"gamma": "γ", "bound_rule": "bound rule", "boost_true_positive": "boost"}


def frame(job: Job, view: View, key: str, film: Film | None = None) -> dict[str, Any]:
    """Everything that moves, of the moment the film shows, or the newest; without a run only the state."""
    past = film is not None and film.past
    run = job.run
    snapshot = film.shown if film is not None else job.latest
    told = _job_told(job, key, film)
    if film is not None and past and job.state not in ("failed", "settling"):
        told["state"] = "replaying" if film.playing else "past"
    if snapshot is None or run is None or not view.columns:
        return told
    if past:
        then = parameters_at(run, snapshot.step)
        told["T"] = then.vote_target
        told["then"] = [
            f"{SIGNS.get(name, name)} {_printed(then.vote_target if name == 'T' else getattr(then, name))}"
            for name in branch_changes(run, snapshot.step, job.parameters)
        ]
    history = job.history()
    answers = answers_of(run, job)
    return (
        told
        | _numbers(snapshot)
        | answers.scores(snapshot)
        | _rows(snapshot, view, run.encoder, snapshot.feedback if past else job.feedback())
        | {
            "past": past,
            "last": int(run.step),
            "thresholds": job.parameters.representation == "thresholds",
            "votes": answers.votes(snapshot, told["T"], view.machine),
            "history": _curves(history, answers),
            "trace": _trace(history, view),
            "now": _cell_now(snapshot, view),
            "changes": _changes(run),
            "pair": list(view.pair),
            "view": _looked_at(view),
        }
    )


def _job_told(job: Job, key: str, film: Film | None) -> dict[str, Any]:
    """How the job stands, with or without a run."""
    return {
        "facts": key,
        "state": job.state,
        "speed": job.speed,
        "epochs": job.parameters.epochs,
        "T": job.parameters.vote_target,
        "waiting": MOST_LEARNING if job.waiting else 0,
        "lapsed": job.lapsed,
        "error": job.error,
        "clauses": job.parameters.n_clauses,
        "sequence": job.sequence + (film.moves if film else 0),
        "settled": _settled(job),
    }


def _looked_at(view: View) -> dict[str, Any]:
    return {
        "machine": view.machine,
        "sort": view.sort,
        "shown": view.shown,
        "offset": view.offset,
        "clause": view.clause,
        "feature": view.feature,
        "by": view.by,
        "side": view.side,
        "uses": view.uses,
        "mapX": view.map_x,
        "mapY": view.map_y,
    }


def _cell_now(snapshot: Snapshot, view: View) -> list[int]:
    """The chosen cell's bounds and which of them are included, at the moment shown."""
    bank, cell = snapshot.bank, (view.machine, view.clause, view.feature)
    included = int(bank.lower_included[cell]) + 2 * int(bank.upper_included[cell])
    return [int(bank.lower[cell]), int(bank.upper[cell]), included]


def _settled(job: Job) -> dict[str, Any] | None:
    outcome = job.outcome
    if outcome is None or job.run is None:
        return None
    size = {"rules": outcome.after.n_rules, "literals": outcome.after.n_literals}
    return size | answers_of(job.run, job).settled(outcome)


def _numbers(snapshot: Snapshot) -> dict[str, Any]:
    return {
        "step": int(snapshot.step),
        "epoch": round(float(snapshot.epoch), 4),
        "literals": int(snapshot.n_literals),
        "empty": int((np.asarray(snapshot.literals_per_clause) == 0).sum()),
    }


def _rows(
    snapshot: Snapshot, view: View, encoder: AnyEncoder, feedback: NDArray[Any] | None
) -> dict[str, Any]:
    bank, q = snapshot.bank, view.machine
    rows = np.array(view.clauses[0] + view.clauses[1], dtype=np.intp)
    features = np.array([f for i in view.columns for f in encoder.columns[i].features], dtype=np.intp)
    cells = np.ix_(rows, features)
    polarity = np.asarray(bank.polarity)
    return {
        "columns": view.columns,
        "wide": bank.lower.dtype.itemsize > 1,
        "rows": rows.tolist(),
        "for": len(view.clauses[0]),
        "sides": [int((polarity == 1).sum()), int((polarity == -1).sum())],
        "rowLiterals": np.asarray(snapshot.literals_per_clause)[q][rows].tolist(),
        "weights": [round(w, 3) for w in (np.asarray(bank.weights)[q][rows] * WEIGHT_UNIT).tolist()],
        "feedback": [] if feedback is None else feedback[q][rows].ravel().tolist(),
        "lower": _packed(bank.lower[q][cells]),
        "upper": _packed(bank.upper[q][cells]),
        "included": _packed(
            (bank.lower_included[q][cells] + 2 * bank.upper_included[q][cells]).astype(np.uint8)
        ),
        "lengths": _lengths(np.asarray(snapshot.literals_per_clause)[q], polarity),
        "used": _uses(snapshot, q, encoder),
    }


def _lengths(literals: NDArray[Any], polarity: NDArray[Any]) -> list[list[int]]:
    """Literals of each side's clauses, longest first, evenly thinned to at most `MOST_LENGTHS` a side."""
    sides = [np.sort(literals[polarity == side])[::-1] for side in (1, -1)]
    return [
        side[np.linspace(0, len(side) - 1, min(len(side), MOST_LENGTHS)).astype(int)].tolist()
        if len(side)
        else []
        for side in sides
    ]


def _uses(snapshot: Snapshot, q: int, encoder: AnyEncoder) -> list[int]:
    """How many columns any clause of the machine uses, and how many there are."""
    bank = snapshot.bank
    used = (bank.lower_included[q] | bank.upper_included[q]).any(axis=0)
    return [sum(bool(used[list(c.features)].any()) for c in encoder.columns), len(encoder.columns)]


def _packed(values: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


def _curves(history: tuple[Moment, ...], answers: Answers) -> dict[str, list[Any]]:
    return {
        "step": [m.step for m in history],
        "literals": [m.n_literals for m in history],
    } | answers.curves(history)


def _trace(history: tuple[Moment, ...], view: View) -> dict[str, list[int]]:
    """The chosen cell's bounds at every kept moment, and its clause's feedback since the moment before."""
    q, j, f = view.machine, view.clause, view.feature
    return {
        "lower": [int(m.lower[q, j, f]) for m in history],
        "upper": [int(m.upper[q, j, f]) for m in history],
        "included": [int(m.included[q, j, f]) for m in history],
        "feedback": [int(n) for m in history for n in m.feedback[q, j]],
    }


def _changes(run: TrainingRun) -> list[list[Any]]:
    """Settings changed on the way: the step, and name, old and new value as the time bar prints them.

    Of changes of one setting between the same two rows only where they led counts, since nothing was learned between.
    """
    values: dict[str, Any] = {"T": run.first_parameters.vote_target}
    led: dict[tuple[int, str], tuple[Any, Any]] = {}
    for change in run.changes:
        place = int(change.step), change.name
        before = values.get(change.name, getattr(run.first_parameters, change.name))
        led[place] = led.get(place, (before,))[0], change.value
        values[change.name] = change.value
    told = [
        [step, f"{SIGNS.get(name, name)} {_printed(before)} → {_printed(after)}"]
        for (step, name), (before, after) in led.items()
        if before != after
    ]
    return told[-MOST_CHANGES:]


def _printed(value: Any) -> str:
    return f"{value:g}" if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)
