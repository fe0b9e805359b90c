"""Why did it move? Everything one row did to a machine, with the draws that decided it, from the plain-Python twin.

`sentences` in `tmcore.trace_words` puts it into words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from tmcore.machine import IntervalMachine, LiteralMachine, Machine
from tmcore.machine.reference import ReferenceIntervals, ReferenceMachine, RowDecision
from tmcore.machine.reference_literals import ReferenceLiterals
from tmcore.machine.state import WEIGHT_UNIT
from tmcore.parameters import Parameters
from tmcore.replay import RowOrder
from tmcore.trace_asks import CHANCE_UNIT

if TYPE_CHECKING:
    from tmcore.training import TrainingRun


@dataclass(frozen=True)
class LiteralMove:
    """One threshold literal whose automaton moved.

    The literal is "rank <= cut", or its negation where `negated`; states are before and after.
    """

    machine: int
    clause: int
    feature: int
    cut: int
    negated: bool
    state: tuple[int, int]


@dataclass(frozen=True)
class Trace:
    """What the row learned at one step did.

    Attributes
    ----------
    step : int
        Rows learned before it.
    epoch : int
        The pass over the rows it belongs to, from 0.
    row : int
        Which training row.
    label : int
        What the machine was given: the index of its class; in a run on numbers the vote sum it asks for, in 1/65536.
    classes : tuple of str
        None in a run on numbers.
    codes : tuple of int
        Its rank in every feature.
    missing : int
        The rank that says a value is missing.
    parameters : Parameters
        In force at that step.
    decisions : tuple of RowDecision
        One of the only machine of two classes; with more, first of the row's own class, then of the other drawn. Its
        clauses hold `bounds` for intervals only.
    literals : tuple of LiteralMove
        For thresholds and Boolean columns.
    target : float or None
        Its number, in a run on numbers.
    """

    step: int
    epoch: int
    row: int
    label: int
    classes: tuple[str, ...]
    codes: tuple[int, ...]
    missing: int
    parameters: Parameters
    decisions: tuple[RowDecision, ...]
    literals: tuple[LiteralMove, ...]
    target: float | None = None

    def decision(self, machine: int | None = None) -> RowDecision:
        """Of one machine, by default the first; ValueError for a machine that the row did not teach."""
        found = [d for d in self.decisions if machine is None or d.machine == machine]
        if not found:
            taught = " and ".join(self.classes[d.machine] for d in self.decisions)
            raise ValueError(f"Row {self.row + 1} taught the clauses of {taught} only; choose one of those.")
        return found[0]


def votes(decision: RowDecision) -> float:
    """The vote sum v of the row before it was learned."""
    return decision.votes * WEIGHT_UNIT


def probability(decision: RowDecision) -> float:
    """The chance of each clause to be selected: equation (7) for y = 1, (10) for y = 0; |error| / T for numbers."""
    return decision.chance * CHANCE_UNIT


def explain(run: TrainingRun, step: int) -> Trace:
    """Run one row again in the twin; see `TrainingRun.explain`."""
    machine = run.machine_at(step)
    row = int(RowOrder(machine.parameters.random_state, run.n_rows).rows(step, 1)[0])
    codes = run.codes[row]
    codes = codes.toarray()[0] if sparse.issparse(codes) else codes
    label = int(run.task.lessons(machine.parameters)[row])
    twin = twin_of(machine)
    decisions = twin.learn(codes, label)
    return Trace(
        step=step,
        epoch=step // run.n_rows,
        row=row,
        label=label,
        classes=tuple(str(name) for name in run.classes),
        codes=tuple(int(code) for code in codes),
        missing=twin.missing,
        parameters=machine.parameters,
        decisions=tuple(decisions),
        literals=_moves(machine, twin),
        target=None if len(run.classes) else float(run.targets[row]),
    )


def twin_of(machine: Machine) -> ReferenceMachine:
    """The twin in the state of a compiled machine."""
    arguments = machine.parameters, machine.n_classes, machine.n_ranks, machine.has_gaps
    twin: ReferenceMachine
    if isinstance(machine, IntervalMachine):
        twin = ReferenceIntervals(*arguments)
        twin.load(machine)
    else:
        assert isinstance(machine, LiteralMachine)
        twin = ReferenceLiterals(*arguments)
        states = machine.states()
        twin.automata = states.reshape(*states.shape[:2], -1).tolist()
        twin.weights = machine.bank().weights.tolist()
        twin.step = machine.state.step
    twin.scales = machine.scales.tolist()
    return twin


def _moves(machine: Machine, twin: ReferenceMachine) -> tuple[LiteralMove, ...]:
    """The literals whose automata differ between the machine before and the twin after the row."""
    if not isinstance(twin, ReferenceLiterals) or not isinstance(machine, LiteralMachine):
        return ()
    before, after = machine.states(), twin.states()
    cuts = machine.n_ranks - 1
    features = np.repeat(np.arange(len(cuts)), cuts)
    first = np.repeat(np.cumsum(cuts) - cuts, cuts)
    return tuple(
        LiteralMove(
            int(q), int(j), int(features[bit]), int(bit - first[bit]), bool(half),
            (int(before[q, j, half, bit]), int(after[q, j, half, bit])),
        )
        for q, j, half, bit in np.argwhere(before != after)
    )  # fmt: skip
