"""Ending a run: the weights that are kept, and the rules on raw values that predict exactly as the machine."""

from __future__ import annotations

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
from tmcore.machine import Machine
from tmcore.machine.state import WEIGHT_UNIT, ClauseBank
from tmcore.refit import refit, refit_numbers
from tmcore.rule import with_counts
from tmcore.ruleset import RuleSet

if TYPE_CHECKING:
    from tmcore.target_range import TargetRange

NO_CLASSES: NDArray[Any] = np.array([], dtype=object)
"""What makes a machine and its rules predict numbers."""


@dataclass(frozen=True)
class Settled:
    """Clauses with their final weights.

    Attributes
    ----------
    machines, clauses : ndarray of int64, shape (n_kept,)
        Which clauses are kept.
    weights : ndarray of int64, shape (n_kept, n_outputs)
        In units of 2**-16; one output with two classes, else one per class.
    intercept : ndarray of int64, shape (n_outputs,)
    refitted : bool
        Whether the weights are log-odds of a refit; otherwise they are the votes of training.
    reason : str or None
        Why a refit that was asked for was not possible.
    """

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

    @property
    def kept(self) -> list[tuple[int, int]]:
        """(machine, clause) of each kept clause."""
        return list(zip(self.machines.tolist(), self.clauses.tolist(), strict=True))


def settle(machine: Machine, codes: Any, labels: np.ndarray, classes: np.ndarray) -> Settled:
    """Weights for the clauses of a trained machine, refitted if its settings say so (`refit` says how).

    Parameters
    ----------
    codes : ndarray, shape (n_rows, features)
    labels : ndarray of int64, shape (n_rows,)
        Class indices.
    classes : ndarray, shape (K,)
        Labels, for the settings' class weights.
    """
    bank = machine.bank()
    if machine.parameters.weights != "refit":
        return own_votes(bank)
    outputs = machine.outputs(machine.prepare(codes))
    lengths = bank.literals.ravel()
    seed, weights = machine.parameters.random_state % 2**32, row_weights(machine, classes, labels)
    found = refit(outputs.reshape(len(labels), -1), labels, lengths, len(classes), seed, row_weights=weights)
    if found.reason is not None:
        return replace(own_votes(bank), reason=found.reason)
    machines, clauses = np.divmod(found.kept, bank.weights.shape[1])
    return Settled(machines, clauses, found.weights, found.intercept, True)


def settle_numbers(
    machine: Machine, codes: Any, targets: NDArray[np.float64], target_range: TargetRange
) -> tuple[Settled, float]:
    """As `settle` for numbers: weights in the target's unit, and the power of two they are whole multiples of.

    Parameters
    ----------
    codes : ndarray, shape (n_rows, features)
    targets : ndarray of float64, shape (n_rows,)
    target_range : TargetRange
        What 0 and T votes stand for.
    """
    bank, parameters = machine.bank(), machine.parameters
    settled = own_votes(bank)
    if parameters.weights == "refit":
        outputs = machine.outputs(machine.prepare(codes))[:, 0]
        votes = target_range.votes(targets, parameters.vote_target)
        found = refit_numbers(outputs, votes, bank.literals[0], parameters.random_state % 2**32)
        if found.reason is not None:
            settled = replace(settled, reason=found.reason)
        else:
            machines = np.zeros(len(found.kept), np.int64)
            settled = Settled(machines, found.kept, found.weights, found.intercept, True)
    return target_range.in_numbers(settled, parameters.vote_target)


def row_weights(machine: Machine, classes: np.ndarray, labels: np.ndarray) -> np.ndarray | None:
    """How much each row counts in a refit: as the settings' class weights say, None where all count once."""
    class_weight = machine.parameters.class_weight
    return None if class_weight is None else class_weights(class_weight, classes, labels)[labels]


def at_point(point: Point, n_clauses: int) -> Settled:
    """One point of the readability dial as settled weights of a machine with `n_clauses` per class."""
    machines, clauses = np.divmod(point.kept, n_clauses)
    return Settled(machines, clauses, point.weights, point.intercept, True)


def own_votes(bank: ClauseBank) -> Settled:
    """Every clause that is not empty, with the weight of training, voting in its own machine's column."""
    machines, clauses = np.nonzero(bank.literals)
    n_outputs = len(bank.weights)
    weights = np.zeros((len(machines), n_outputs), np.int64)
    weights[np.arange(len(machines)), machines] = bank.weights[machines, clauses] * bank.polarity[clauses]
    return Settled(machines, clauses, weights, np.zeros(n_outputs, np.int64), False)


def make_rules(
    encoder: AnyEncoder,
    machine: Machine,
    settled: Settled,
    classes: np.ndarray,
    codes: Any,
    labels: np.ndarray,
) -> RuleSet:
    """The kept clauses as rules on raw values, simplified without loss; support and precision are of training rows."""
    bank = machine.bank()
    rules = extract(encoder, bank, classes, settled.weights, settled.intercept, settled.kept)
    outputs = machine.outputs(machine.prepare(codes))
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
    encoder: AnyEncoder,
    machine: Machine,
    settled: Settled,
    unit: float,
    codes: Any,
    targets: NDArray[np.float64],
) -> RuleSet:
    """As `make_rules` for numbers, with weights in multiples of `unit`."""
    kept = settled.weights, settled.intercept, settled.kept
    rules = extract(encoder, machine.bank(), NO_CLASSES, *kept, unit=unit).simplify()
    rows = decode(encoder, codes) if isinstance(encoder, Encoder) else codes
    return rules.with_statistics(rows, targets)


def vote_scale(settled: Settled, vote_target: float) -> float:
    """What turns vote sums in units of 2**-16 into log-odds: refitted weights are; votes reach two at the target T."""
    return WEIGHT_UNIT if settled.refitted else 2 * WEIGHT_UNIT / vote_target
