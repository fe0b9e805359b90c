"""The compiled kernels equal the plain-Python twin bit for bit."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tmcore.machine import intervals, streams
from tmcore.machine.interval_machine import IntervalMachine
from tmcore.machine.reference import ReferenceMachine
from tmcore.parameters import Parameters


def data(rng, n_rows, n_features, n_classes, max_ranks, missing):
    """Random encoded rows: ranks, gaps, codes and labels."""
    n_ranks = rng.integers(1, max_ranks + 1, n_features)
    has_gaps = rng.random(n_features) < 0.5
    codes = (rng.random((n_rows, n_features)) * n_ranks).astype(np.uint8)
    codes[rng.random(codes.shape) < missing] = 255
    return n_ranks, has_gaps, codes, rng.integers(0, n_classes, n_rows)


def assert_equal(machine, twin, codes):
    a, b = machine.bank(), twin.bank()
    for name in ("lower", "upper", "lower_included", "upper_included", "weights", "polarity"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    assert a.step == b.step
    np.testing.assert_array_equal(machine.state.states(), twin.states())
    np.testing.assert_array_equal(machine.votes(codes), [twin.votes(row) for row in codes])


cases = st.fixed_dictionaries(
    {
        "n_clauses": st.sampled_from([2, 4, 10, 62, 64, 66, 130]),
        "T": st.sampled_from([0.5, 1.0, 3.0, 7.25, 40.0]),
        "s": st.sampled_from([1.0, 1.5, 2.0, 3.9, 25.0]),
        "bound_rule": st.sampled_from(["contrastive", "paper"]),
        "weights": st.sampled_from(["none", "real", "integer"]),
        "gamma": st.sampled_from([0.0, 0.0025, 0.1, 1.0]),
        "n_states": st.sampled_from([1, 2, 50, 127]),
        "boost_true_positive": st.booleans(),
        "random_state": st.integers(0, 2**63 - 1),
    }
)


@settings(max_examples=60, deadline=None)
@given(
    cases,
    st.integers(1, 5),
    st.integers(2, 4),
    st.sampled_from([2, 5, 255]),
    st.sampled_from([0.0, 0.2]),
    st.integers(0, 2**32 - 1),
)
def test_kernels_equal_the_twin(case, n_features, n_classes, max_ranks, missing, seed):
    rng = np.random.default_rng(seed)
    n_rows = 12
    n_ranks, has_gaps, codes, labels = data(rng, n_rows, n_features, n_classes, max_ranks, missing)
    parameters = Parameters(**case)
    machine = IntervalMachine(parameters, n_classes, n_ranks, has_gaps)
    twin = ReferenceMachine(parameters, n_classes, n_ranks, has_gaps)
    assert_equal(machine, twin, codes)
    for epoch in range(3):
        rows = streams.row_order(parameters.random_state, epoch, n_rows)
        machine.learn(codes, labels, rows)
        for row in rows:
            twin.learn(codes[row], int(labels[row]))
        assert_equal(machine, twin, codes)


def test_two_byte_ranks_equal_the_twin():
    rng = np.random.default_rng(5)
    n_ranks = np.array([1000, 3, 60_000])
    codes = (rng.random((15, 3)) * n_ranks).astype(np.uint16)
    codes[rng.random(codes.shape) < 0.1] = 65_535
    labels = rng.integers(0, 2, 15)
    parameters = Parameters(n_clauses=70, T=10.0, max_levels=None, weights="real")
    machine = IntervalMachine(parameters, 2, n_ranks, np.array([True, False, True]))
    twin = ReferenceMachine(parameters, 2, n_ranks, np.array([True, False, True]))
    rows = np.arange(15).repeat(3)
    machine.learn(codes, labels, rows)
    for row in rows:
        twin.learn(codes[row], int(labels[row]))
    assert_equal(machine, twin, codes)


def test_one_by_one_and_block_at_once_agree():
    """Both ways of giving feedback to a block make the same moves."""
    rng = np.random.default_rng(3)
    n_ranks, has_gaps, codes, labels = data(rng, 40, 6, 2, 30, 0.1)
    parameters = Parameters(n_clauses=64, T=20.0)
    machine = IntervalMachine(parameters, 2, n_ranks, has_gaps)
    machine.learn(codes, labels, np.arange(40))
    planes = machine.state.planes[0, 0].ravel().copy()
    kinds = rng.choice([0, 1, 2, 4], 64).astype(np.uint8)
    words = rng.integers(1, 2**32, 64).astype(np.uint32)
    rule = (np.uint8(50), np.uint8(100), np.uint8(0), np.uint8(0))
    at_once, one_by_one = planes.copy(), planes.copy()
    common = (machine.n_ranks, machine.has_gaps, np.uint32(32767), rule)
    intervals.block_feedback(at_once, codes[0], kinds, words.copy(), *common, np.zeros(64, np.uint8))
    for j in range(64):
        if kinds[j]:
            intervals.clause_feedback(one_by_one, codes[0], j, kinds[j], words[j], *common)
    np.testing.assert_array_equal(at_once, one_by_one)
    assert (at_once != planes).any()
