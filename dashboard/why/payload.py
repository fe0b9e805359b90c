"""One learned row, explained: its values, the vote, the chance, every clause's draw, and one clause's bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dashboard.style import short
from tmcore.conditions import number_text
from tmcore.machine.reference import BoundDecision, ClauseDecision, RowDecision
from tmcore.trace import Trace, probability, votes
from tmcore.trace_words import sentences

if TYPE_CHECKING:
    from dashboard.jobs import Job
    from tmcore.training import TrainingRun

WEIGHT_UNIT = 2.0**-16
CHANCE_UNIT = 2.0**-32
DRAW_UNIT = 2.0**-16
MOST_SENTENCES = 60

LETTERS = {"Ia": "a", "Ib": "b", "II": "2"}


@dataclass
class Why:
    """The question a page asks: about the row learned at ``step``, and there about one clause.

    ``feature`` is the one whose bound was asked about, ``found`` whether a move of it was found. Without a feature the
    first clause that learned from the row takes the place of one that did not, until one is ``chosen``. ``came_from``
    is the step that was shown before the question, None at the newest.
    """

    run: TrainingRun
    step: int
    clause: int
    feature: int | None = None
    found: bool = True
    chosen: bool = False
    came_from: int | None = None
    _trace: tuple[int, Trace] | None = None

    def told(self, run: TrainingRun, job: Job, machine: int) -> dict[str, Any]:
        """The answer as plain JSON; ``machine`` is the class machine shown, or another the row taught instead."""
        if self._trace is None or self._trace[0] != self.step or self.run is not run:
            self.run, self._trace = run, (self.step, run.explain(min(self.step, run.step)))
        trace = self._trace[1]
        taught = [decision.machine for decision in trace.decisions]
        decision = trace.decision(machine if machine in taught else None)
        if self.feature is None and not self.chosen and not decision.clauses[self.clause].feedback:
            self.clause = next((c.clause for c in decision.clauses if c.feedback), self.clause)
        return _row(trace, run, job) | _decision(trace, decision) | {
            "taught": taught,
            "asked": self.feature,
            "found": self.found,
            "clause": _clause(trace, run, decision, self.clause),
        }  # fmt: skip


def row_line(trace: Trace, machine: int) -> dict[str, Any]:
    """One row in short: what it should be, vote, chance, and how many clauses got Type Ia, Ib and II."""
    taught = [decision.machine for decision in trace.decisions]
    decision = trace.decision(machine if machine in taught else None)
    given = [clause.feedback for clause in decision.clauses]
    return {
        "step": trace.step,
        "row": trace.row,
        **_asked(trace),
        "y": decision.y,
        "v": round(votes(decision), 3),
        "T": trace.parameters.vote_target,
        "chance": round(probability(decision), 4),
        "learned": [given.count(name) for name in LETTERS],
    }


def _asked(trace: Trace) -> dict[str, Any]:
    """What the row should be: its class, or its number and the vote sum that it asks for."""
    if trace.target is None:
        return {"label": trace.label}
    return {"target": trace.target, "wanted": round(trace.label * WEIGHT_UNIT, 4)}


def _row(trace: Trace, run: TrainingRun, job: Job) -> dict[str, Any]:
    """The row: where it stands, what it should be, and its values in words, one for each column."""
    values = job.X_train.iloc[trace.row]
    return {
        "step": trace.step,
        "epoch": trace.epoch,
        "row": trace.row,
        **_asked(trace),
        "values": [_printed(values[c.name]) + (f" {c.unit}" if c.unit else "") for c in run.encoder.columns],
    }


def _printed(value: Any) -> str:
    if pd.isna(value):
        return "missing"
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        return number_text(float(value))
    return short(value)


def _decision(trace: Trace, decision: RowDecision) -> dict[str, Any]:
    """The vote, the chance, and each clause's draw and feedback: a, b, 2, 0 for selected without, - for not."""
    p = trace.parameters
    return {
        "machine": decision.machine,
        "y": decision.y,
        "v": round(votes(decision), 4),
        "T": p.vote_target,
        "s": p.s,
        "N": p.n_states,
        "chance": round(probability(decision), 6),
        "equation": 7 if decision.y else 10,
        "boost": p.boost_true_positive,
        "weighted": p.class_weight is not None,
        "draws": [round(c.draw * CHANCE_UNIT, 5) for c in decision.clauses],
        "types": "".join(LETTERS.get(c.feedback, "0" if c.selected else "-") for c in decision.clauses),
    }


def _clause(trace: Trace, run: TrainingRun, decision: RowDecision, j: int) -> dict[str, Any]:
    """What the row did inside one clause; ``cells`` has one entry a feature, empty for thresholds."""
    decided: ClauseDecision = decision.clauses[j]
    said = sentences(trace, run.encoder, j, decision.machine)[:MOST_SENTENCES]
    cells: dict[int, dict[str, Any]] = {}
    for bound in decided.bounds:
        cells.setdefault(bound.feature, {"feature": bound.feature, "rank": trace.codes[bound.feature]})[
            bound.side
        ] = _bound(bound)
    return {
        "id": j,
        "output": decided.output,
        "draw": round(decided.draw * CHANCE_UNIT, 5),
        "selected": decided.selected,
        "type": LETTERS.get(decided.feedback, "0" if decided.selected else "-"),
        "weight": [round(weight * WEIGHT_UNIT, 5) for weight in decided.weight],
        # The page counts clauses from 1, the words from 0.
        "words": [line.replace(f"Clause {j} ", f"Clause {j + 1} ", 1) for line in said],
        "cells": list(cells.values()),
        "missing": trace.missing,
    }


def _bound(bound: BoundDecision) -> dict[str, Any]:
    return {
        "violated": bound.violated,
        "draw": round(bound.draw * DRAW_UNIT, 5),
        "event": bound.event,
        "state": list(bound.state),
        "at": list(bound.position),
    }
