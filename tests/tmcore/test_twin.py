"""The compiled kernels equal the plain-Python twin bit for bit."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tmcore.machine import MACHINES, streams
from tmcore.machine.reference import ReferenceIntervals
from tmcore.machine.reference_literals import ReferenceLiterals
from tmcore.machine.state import ONE_VOTE
from tmcore.parameters import Parameters


def data(rng, n_rows, n_features, n_classes, max_ranks, missing):
    """Random encoded rows: ranks, gaps, codes and labels."""
    n_ranks = rng.integers(1, max_ranks + 1, n_features)
    has_gaps = rng.random(n_features) < 0.5
    codes = (rng.random((n_rows, n_features)) * n_ranks).astype(np.uint8)
    codes[rng.random(codes.shape) < missing] = 255
    return n_ranks, has_gaps, codes, rng.integers(0, n_classes, n_rows)


TWINS = {"intervals": ReferenceIntervals, "thresholds": ReferenceLiterals}


def assert_equal(machine, twin, codes):
    """Every automaton, bound and weight, and every vote."""
    np.testing.assert_array_equal(machine.states(), twin.states())
    bank = machine.bank()
    if isinstance(twin, ReferenceIntervals):
        np.testing.assert_array_equal([bank.lower, bank.upper], twin.positions())
    np.testing.assert_array_equal(bank.weights, twin.weights)
    assert bank.step == twin.step
    np.testing.assert_array_equal(machine.votes(machine.prepare(codes)), [twin.votes(row) for row in codes])


def assert_same_learning(
    representation, parameters, n_classes, n_ranks, has_gaps, codes, labels, scales=None, n_jobs=1
):
    machine = MACHINES[representation](parameters, n_classes, n_ranks, has_gaps)
    twin = TWINS[representation](parameters, n_classes, n_ranks, has_gaps)
    if scales is not None:
        machine.scales[:] = scales
        twin.scales = scales
    assert_equal(machine, twin, codes)
    for epoch in range(3):
        rows = streams.row_order(parameters.random_state, epoch, len(codes))
        machine.learn(machine.prepare(codes), labels, rows, n_jobs=n_jobs)
        for row in rows:
            twin.learn(codes[row], int(labels[row]))
        assert_equal(machine, twin, codes)


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
        "max_literals": st.sampled_from([None, 1, 3]),
        "random_state": st.integers(0, 2**63 - 1),
    }
)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["intervals", "thresholds"]),
    cases,
    st.sampled_from([1, 2, 5, 17, 50]),
    st.sampled_from([0, 2, 3, 4]),
    st.sampled_from([2, 5, 60]),
    st.sampled_from([0.0, 0.2]),
    st.booleans(),
    st.integers(1, 3),
    st.integers(0, 2**32 - 1),
)
def test_kernels_equal_the_twin(
    representation, case, n_features, n_classes, max_ranks, missing, scaled, n_jobs, seed
):
    """No classes are regression: the labels are then wanted vote sums between 0 and T."""
    rng = np.random.default_rng(seed)
    n_ranks, has_gaps, codes, labels = data(rng, 10, n_features, max(n_classes, 2), max_ranks, missing)
    parameters = Parameters(**case)
    if n_classes == 0:
        labels = (rng.random(10) * parameters.vote_target * ONE_VOTE).astype(np.int64)
    scales = rng.integers(1, ONE_VOTE + 1, max(n_classes, 2)).tolist() if scaled else None
    assert_same_learning(
        representation, parameters, n_classes, n_ranks, has_gaps, codes, labels, scales, n_jobs
    )


def test_two_byte_ranks_equal_the_twin():
    rng = np.random.default_rng(5)
    n_ranks = np.array([1000, 3, 60_000])
    codes = (rng.random((15, 3)) * n_ranks).astype(np.uint16)
    codes[rng.random(codes.shape) < 0.1] = 65_535
    parameters = Parameters(n_clauses=70, T=10.0, max_levels=None, weights="real")
    has_gaps = np.array([True, False, True])
    assert_same_learning("intervals", parameters, 2, n_ranks, has_gaps, codes, rng.integers(0, 2, 15))
