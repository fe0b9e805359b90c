"""Ending a run: the weights that are kept, and the rules on raw values that predict exactly as the machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tmcore.class_weights import class_weights
from tmcore.decode import decode
from tmcore.dial import Point
from tmcore.encode import Encoder
from tmcore.encoders import AnyEncoder
from tmcore.extract import extract
from tmcore.harvest import pool
from tmcore.machine import Machine
from tmcore.machine.inference import CompiledVotes, compile_outputs, compile_votes
from tmcore.machine.state import WEIGHT_UNIT, ClauseBank
from tmcore.refit import Refit, refit, refit_numbers
from tmcore.rule import with_counts
from tmcore.ruleset import RuleSet

if TYPE_CHECKING:
    from tmcore.target_range import TargetRange
    from tmcore.training import TrainingRun

NO_CLASSES: NDArray[Any] = np.array([], dtype=object)
"""What makes a machine and its rules predict numbers."""


@dataclass(frozen=True)
class Settled:
    """Clauses with their final weights.

    Attributes
    ----------
    bank : ClauseBank
        The clauses of the machine, or those pooled from several moments of its training.
    machines, clauses : ndarray of int64, shape (n_kept,)
        Which clauses of the bank are kept.
    weights : ndarray of int64, shape (n_kept, n_outputs)
        In units of 2**-16; one output with two classes, else one per class.
    intercept : ndarray of int64, shape (n_outputs,)
    refitted : bool
        Whether the weights are log-odds of a refit; otherwise they are the votes of training.
    reason : str or None
        Why a refit that was asked for was not possible.
    """

    bank: ClauseBank
    machines: np.ndarray
    clauses: np.ndarray
    weights: np.ndarray
    intercept: np.ndarray
    refitted: bool
    reason: str | None = None

    def votes(self, outputs: np.ndarray) -> np.ndarray:
        """Vote sums in units of 2**-16, int64 (n_rows, n_outputs), of clause outputs (n_rows, machines, clauses)."""
        kept = outputs[:, self.machines, self.clauses]
        return kept.astype(np.int64) @ self.weights + self.intercept

    def compiled(self, machine: Machine) -> CompiledVotes:
        """The same sums, fast, on rows prepared by a machine."""
        about = self.bank, machine.n_ranks, machine.has_gaps
        return compile_votes(*about, self.machines, self.clauses, self.weights, self.intercept)

    @property
    def kept(self) -> list[tuple[int, int]]:
        """(machine, clause) of each kept clause."""
        return list(zip(self.machines.tolist(), self.clauses.tolist(), strict=True))


def settle(
    machines: Sequence[Machine], codes: Any, labels: NDArray[np.int64], classes: NDArray[Any]
) -> Settled:
    """Weights for the clauses of a trained machine, refitted if its settings say so (`refit` says how).

    Parameters
    ----------
    machines : sequence of Machine
        The trained one last, after it was at earlier moments that a refit may also take clauses from.
    codes : ndarray, shape (n_rows, features)
    labels : ndarray of int64, shape (n_rows,)
        Class indices.
    classes : ndarray, shape (K,)
        Labels, for the settings' class weights.
    """
    last = machines[-1]
    if last.parameters.weights != "refit":
        return own_votes(last.bank())
    bank, outputs = candidates(machines, codes)
    seed, weights = last.parameters.random_state % 2**32, row_weights(last, classes, labels)
    flat = outputs.reshape(len(labels), -1)
    found = refit(flat, labels, bank.literals.ravel(), len(classes), seed, row_weights=weights)
    return _refitted(found, bank, last)


def settle_numbers(
    machines: Sequence[Machine], codes: Any, targets: NDArray[np.float64], target_range: TargetRange
) -> tuple[Settled, float]:
    """As `settle` for numbers: weights in the target's unit, and the power of two they are whole multiples of.

    Parameters
    ----------
    machines, codes : as in `settle`
    targets : ndarray of float64, shape (n_rows,)
    target_range : TargetRange
        What 0 and T votes stand for.
    """
    last = machines[-1]
    parameters, settled = last.parameters, own_votes(last.bank())
    if parameters.weights == "refit":
        bank, outputs = candidates(machines, codes)
        votes = target_range.votes(targets, parameters.vote_target)
        flat = outputs.reshape(len(targets), -1)
        found = refit_numbers(flat, votes, bank.literals.ravel(), parameters.random_state % 2**32)
        settled = _refitted(found, bank, last)
    return target_range.in_numbers(settled, parameters.vote_target)


def candidates(machines: Sequence[Machine], codes: Any) -> tuple[ClauseBank, NDArray[np.bool_]]:
    """The clauses that a refit chooses from, and their outputs (n_rows, machines, clauses) on encoded rows."""
    data = machines[-1].prepare(codes)
    banks, outputs = [one.bank() for one in machines], [one.outputs(data) for one in machines]
    if len(machines) == 1:
        return banks[0], outputs[0]
    pooled = pool(banks, outputs)
    return pooled.bank, pooled.outputs[:, None, :]


def outputs_of(bank: ClauseBank, machine: Machine, codes: Any) -> NDArray[np.bool_]:
    """Outputs (n_rows, machines, clauses) of any clauses on the encoded rows of a machine."""
    outputs = compile_outputs(bank, machine.n_ranks, machine.has_gaps).outputs(machine.prepare(codes))
    return outputs.reshape(codes.shape[0], *bank.weights.shape)


def _refitted(found: Refit, bank: ClauseBank, last: Machine) -> Settled:
    """What a refit on the clauses of a bank found; the machine's own votes where it found nothing."""
    if found.reason is not None:
        return replace(own_votes(last.bank()), reason=found.reason)
    machines, clauses = np.divmod(found.kept, bank.weights.shape[1])
    return Settled(bank, machines, clauses, found.weights, found.intercept, True)


def row_weights(machine: Machine, classes: np.ndarray, labels: np.ndarray) -> np.ndarray | None:
    """How much each row counts in a refit: as the settings' class weights say, None where all count once."""
    class_weight = machine.parameters.class_weight
    return None if class_weight is None else class_weights(class_weight, classes, labels)[labels]


def at_point(point: Point, bank: ClauseBank) -> Settled:
    """One point of the readability dial as settled weights of the clauses it was made of."""
    machines, clauses = np.divmod(point.kept, bank.weights.shape[1])
    return Settled(bank, machines, clauses, point.weights, point.intercept, True)


def own_votes(bank: ClauseBank) -> Settled:
    """Every clause that is not empty, with the weight of training, voting in its own machine's column."""
    machines, clauses = np.nonzero(bank.literals)
    n_outputs = len(bank.weights)
    weights = np.zeros((len(machines), n_outputs), np.int64)
    weights[np.arange(len(machines)), machines] = bank.weights[machines, clauses] * bank.polarity[clauses]
    return Settled(bank, machines, clauses, weights, np.zeros(n_outputs, np.int64), False)


def make_rules(
    encoder: AnyEncoder,
    machine: Machine,
    settled: Settled,
    classes: np.ndarray,
    codes: Any,
    labels: np.ndarray,
) -> RuleSet:
    """The kept clauses as rules on raw values, simplified without loss; support and precision are of training rows."""
    rules = extract(encoder, settled.bank, classes, settled.weights, settled.intercept, settled.kept)
    outputs = outputs_of(settled.bank, machine, codes)
    counted = []
    for rule in rules:
        assert rule.source is not None  # extract gives every rule its clause
        holds = outputs[:, rule.source[0], rule.source[1]]
        covered = np.bincount(labels[holds], minlength=len(classes))
        n_rows = int(holds.sum())
        counted.append(
            with_counts(replace(rule, support=n_rows / len(labels)), tuple(covered.tolist()), n_rows)
        )
    return replace(rules, rules=tuple(counted), n_rows=len(labels)).simplify()


def make_number_rules(
    encoder: AnyEncoder, settled: Settled, unit: float, codes: Any, targets: NDArray[np.float64]
) -> RuleSet:
    """As `make_rules` for numbers, with weights in multiples of `unit`."""
    kept = settled.weights, settled.intercept, settled.kept
    rules = extract(encoder, settled.bank, NO_CLASSES, *kept, unit=unit).simplify()
    rows = decode(encoder, codes) if isinstance(encoder, Encoder) else codes
    return rules.with_statistics(rows, targets)


def rules_by_votes(run: TrainingRun, bank: ClauseBank) -> RuleSet:
    """The clauses of a moment of a run as they vote then, simplified without loss; support is not counted."""
    if run.target_range is None:
        return extract(run.encoder, bank, run.classes).simplify()
    votes, unit = run.target_range.in_numbers(own_votes(bank), run.parameters.vote_target)
    kept = votes.weights, votes.intercept, votes.kept
    return extract(run.encoder, bank, NO_CLASSES, *kept, unit=unit).simplify()


def vote_scale(settled: Settled, vote_target: float) -> float:
    """What turns vote sums in units of 2**-16 into log-odds: refitted weights are; votes reach two at the target T."""
    return WEIGHT_UNIT if settled.refitted else 2 * WEIGHT_UNIT / vote_target
