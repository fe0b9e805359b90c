"""Pooled clauses are the distinct ones of all checkpoints, and know where they come from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tmcore.extract import extract
from tmcore.harvest import pool
from tmcore.machine.state import ClauseBank
from tmcore.parameters import Parameters
from tmcore.refit import refit
from tmcore.training import TrainingRun


def checkpoints() -> tuple[TrainingRun, list[ClauseBank], list[np.ndarray]]:
    """Three checkpoints of a run with three classes, and their clauses' outputs on the training rows."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(0, 9, 150), "b": rng.normal(size=150).round(1)})
    y = np.where(X["a"] < 3, "low", np.where(X["b"] > 0, "high", "mid"))
    run = TrainingRun(X, y, Parameters(n_clauses=12))
    banks, outputs = [], []
    for _ in range(3):
        run.advance(epochs=2)
        banks.append(run.machine.bank())
        outputs.append(run.machine.outputs(run.machine.prepare(run.codes)))
    return run, banks, outputs


def test_the_pool_holds_every_distinct_output_once_by_its_shortest_then_latest_clause():
    _, banks, outputs = checkpoints()
    pooled = pool(banks, outputs)
    best: dict[bytes, tuple[tuple[int, ...], tuple[int, ...]]] = {}
    for checkpoint, (bank, holds) in enumerate(zip(banks, outputs, strict=True)):
        for machine in range(3):
            for clause in range(12):
                column = holds[:, machine, clause]
                if column.any() and not column.all():
                    key = (int(bank.literals[machine, clause]), -checkpoint, machine, clause)
                    source = (checkpoint, machine, clause)
                    old = best.get(column.tobytes())
                    best[column.tobytes()] = min(old, (key, source)) if old else (key, source)
    expected = {column: source for column, (_, source) in best.items()}
    found = {
        pooled.outputs[:, i].tobytes(): tuple(source) for i, source in enumerate(pooled.sources.tolist())
    }
    assert found == expected
    assert len({source[0] for source in expected.values()}) == 3


def test_pooled_clauses_are_those_of_their_source():
    _, banks, outputs = checkpoints()
    pooled = pool(banks, outputs)
    assert pooled.bank.lower.shape == (1, len(pooled.sources), 2)
    for i, (checkpoint, machine, clause) in enumerate(pooled.sources.tolist()):
        source = banks[checkpoint]
        for name in ("lower", "upper", "lower_included", "upper_included", "literals", "weights"):
            assert np.array_equal(getattr(pooled.bank, name)[0, i], getattr(source, name)[machine, clause])
        assert pooled.bank.polarity[i] == source.polarity[clause]
        assert pooled.lengths[i] == source.literals[machine, clause]
        assert np.array_equal(pooled.outputs[:, i], outputs[checkpoint][:, machine, clause])


def test_rules_of_a_refitted_pool_vote_as_its_outputs_do():
    run, banks, outputs = checkpoints()
    pooled = pool(banks, outputs)
    found = refit(pooled.outputs, run.labels, pooled.lengths, 3, random_state=0)
    kept = [(0, clause) for clause in found.kept.tolist()]
    rules = extract(run.encoder, pooled.bank, run.classes, found.weights, found.intercept, kept)
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(0, 9, 150), "b": rng.normal(size=150).round(1)})
    votes = (pooled.outputs[:, found.kept].astype(np.int64) @ found.weights + found.intercept) / 2**16
    assert len(rules) > 3
    assert np.array_equal(rules.votes(X), votes)


def test_one_checkpoint_pooled_with_itself_is_its_latest_copy():
    _, banks, outputs = checkpoints()
    alone = pool(banks[2:], outputs[2:])
    doubled = pool([replace(banks[2], step=1), banks[2]], [outputs[2], outputs[2]])
    assert doubled.sources[:, 0].tolist() == [1] * len(alone.sources)
    assert doubled.sources[:, 1:].tolist() == alone.sources[:, 1:].tolist()


def test_outputs_of_every_bank_are_needed():
    _, banks, outputs = checkpoints()
    with pytest.raises(ValueError, match="3 banks and 2 arrays of outputs"):
        pool(banks, outputs[:2])
