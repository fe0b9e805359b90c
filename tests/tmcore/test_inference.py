"""Compiled inference equals the machine row by row, and a few clauses worked out by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tmcore.machine import MACHINES, inference, streams
from tmcore.machine.state import ONE_VOTE, ClauseBank, polarities
from tmcore.parameters import Parameters
from tmcore.settling import Settled


def random_rows(rng, n_rows, n_features, max_ranks, dtype, missing):
    """Ranks, gaps and codes; half the features have gaps, and a missing value may be anywhere."""
    n_ranks = rng.integers(1, max_ranks + 1, n_features)
    codes = (rng.random((n_rows, n_features)) * n_ranks).astype(dtype)
    codes[rng.random(codes.shape) < missing] = np.iinfo(dtype).max
    return n_ranks, rng.random(n_features) < 0.5, codes


def row_by_row(bank, n_ranks, has_gaps, codes):
    """Clause outputs from the definitions, one bound at a time: bool (rows, machines, clauses)."""
    missing = codes == np.iinfo(codes.dtype).max
    outputs = np.zeros((len(codes), *bank.weights.shape), bool)
    for q, j in np.ndindex(bank.weights.shape):
        holds = np.full(len(codes), bank.lower_included[q, j].any() or bank.upper_included[q, j].any())
        for k in range(codes.shape[1]):
            lower, upper = bank.lower[q, j, k], bank.upper[q, j, k]
            if bank.lower_included[q, j, k]:
                holds &= (codes[:, k] >= lower) & ~(missing[:, k] & (lower > 0 or has_gaps[k]))
            if bank.upper_included[q, j, k]:
                is_open = upper == n_ranks[k] - 1
                holds &= (missing[:, k] & is_open & ~has_gaps[k]) | (~missing[:, k] & (codes[:, k] <= upper))
        outputs[:, q, j] = holds
    return outputs


def random_bank(rng, n_machines, n_clauses, n_ranks, dtype, included):
    """Clauses no training would find: crossed bounds, open bounds included, many equal ones."""
    shape = (n_machines, n_clauses, len(n_ranks))
    bounds = (rng.random((2, *shape)) * n_ranks).astype(dtype)
    decisions = rng.random((2, *shape)) < included
    weights = rng.integers(1, 2 ** rng.integers(1, 31), shape[:2])
    return ClauseBank(*bounds, *decisions, decisions.sum((0, 3)), weights, polarities(n_clauses), 0)


sizes = {
    "n_machines": st.sampled_from([1, 3]),
    "n_clauses": st.sampled_from([2, 10, 64, 130]),
    "n_features": st.sampled_from([1, 3, 63, 64, 70, 150]),
    "max_ranks": st.sampled_from([1, 2, 5, 255, 3000]),
    "n_rows": st.sampled_from([0, 1, 63, 64, 65, 511, 512, 513, 1100]),
    "missing": st.sampled_from([0.0, 0.1]),
    "included": st.sampled_from([0.0, 0.01, 0.1, 0.5]),
    "seed": st.integers(0, 2**32 - 1),
}


@settings(max_examples=80, deadline=None)
@given(st.fixed_dictionaries(sizes), st.sampled_from([None, 1, 2, 4]))
def test_any_clauses_and_weights(size, n_outputs):
    rng = np.random.default_rng(size["seed"])
    dtype = np.uint8 if size["max_ranks"] < 256 else np.uint16
    n_ranks, has_gaps, codes = random_rows(
        rng, size["n_rows"], size["n_features"], size["max_ranks"], dtype, size["missing"]
    )
    bank = random_bank(rng, size["n_machines"], size["n_clauses"], n_ranks, dtype, size["included"])
    outputs = row_by_row(bank, n_ranks, has_gaps, codes)
    compiled = inference.compile_outputs(bank, n_ranks, has_gaps)
    np.testing.assert_array_equal(compiled.outputs(codes), outputs.reshape(len(codes), bank.weights.size))
    if n_outputs is None:
        expected = np.einsum(
            "rqj,qj,j->rq", outputs.astype(np.int64), bank.weights, bank.polarity.astype(np.int64)
        )
        votes = inference.compile_votes(bank, n_ranks, has_gaps).votes(codes)
    else:
        kept = rng.permutation(bank.weights.size)[: rng.integers(0, bank.weights.size + 1)]
        machines, clauses = np.divmod(kept, size["n_clauses"])
        weights = rng.integers(-(2**40), 2**40, (len(kept), n_outputs))
        weights[rng.random(weights.shape) < 0.3] = 0
        intercept = rng.integers(-(2**40), 2**40, n_outputs)
        expected = Settled(bank, machines, clauses, weights, intercept, True).votes(outputs)
        votes = inference.compile_votes(bank, n_ranks, has_gaps, machines, clauses, weights, intercept).votes(
            codes
        )
    assert votes.dtype == np.int64
    np.testing.assert_array_equal(votes, expected)


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["intervals", "thresholds"]),
    st.sampled_from(["none", "real", "integer"]),
    st.sampled_from([2, 3]),
    st.sampled_from([2, 7]),
    st.sampled_from([3, 90]),
    st.sampled_from([1, 130, 600]),
    st.integers(0, 2**32 - 1),
)
def test_trained_machines(representation, rule, n_classes, max_ranks, n_features, n_rows, seed):
    rng = np.random.default_rng(seed)
    n_ranks, has_gaps, codes = random_rows(rng, n_rows, n_features, max_ranks, np.uint8, 0.05)
    parameters = Parameters(
        n_clauses=70, T=8, s=3.0, weights=rule, representation=representation, random_state=seed
    )
    machine = MACHINES[representation](parameters, n_classes, n_ranks, has_gaps)
    labels = rng.integers(0, n_classes, n_rows)
    data = machine.prepare(codes)
    for epoch in range(3):
        machine.learn(data, labels, streams.row_order(seed, epoch, n_rows))
    bank = machine.bank()
    votes = inference.compile_votes(bank, machine.n_ranks, machine.has_gaps)
    outputs = inference.compile_outputs(bank, machine.n_ranks, machine.has_gaps)
    sums = np.zeros((n_rows, machine.n_machines), np.int64)
    weights = machine.state.weights.copy()
    weights[:, : parameters.n_clauses][bank.literals == 0] = 0
    machine._all_votes(weights, data, sums)
    held = np.zeros((n_rows, *machine.state.weights.shape), np.uint8)
    machine._all_outputs(data, held)
    held = held[:, :, : parameters.n_clauses].astype(bool) & (bank.literals > 0)
    for rows in (codes, data):
        np.testing.assert_array_equal(votes.votes(rows), sums)
        np.testing.assert_array_equal(outputs.outputs(rows), held.reshape(n_rows, -1))


def bank_of(lower, upper, weights, dtype=np.uint8):
    """One machine; None is an excluded bound."""
    bounds = [np.array([[[v or 0 for v in clause] for clause in side]], dtype) for side in (lower, upper)]
    decisions = [np.array([[[v is not None for v in clause] for clause in side]]) for side in (lower, upper)]
    literals = decisions[0].sum(2) + decisions[1].sum(2)
    return ClauseBank(
        *bounds, *decisions, literals, np.array([weights]) * ONE_VOTE, polarities(len(lower)), 0
    )


def test_compiling_drops_and_merges_by_hand():
    # Two features of 4 ranks, the second with gaps. Clauses, votes:
    lower = [
        [2, None],  # +1: first >= 2
        [2, 0],  # -5: first >= 2 and second is known
        [2, None],  # +3: as the first
        [None, None],  # -7: empty, no vote
        [0, None],  # +9: holds always
        [3, None],  # -11: 3 <= first <= 1, never
        [None, 1],  # +2: second >= 1
        [None, 1],  # -2: the same, so together nothing
    ]
    upper = [[None, None]] * 5 + [[1, None], [None, None], [None, None]]
    bank = bank_of(lower, upper, [1, 5, 3, 7, 9, 11, 2, 2])
    compiled = inference.compile_votes(bank, np.array([4, 4]), np.array([False, True]))
    assert compiled.clauses.n_clauses == 2
    assert compiled.intercept.tolist() == [9 * ONE_VOTE]
    codes = np.array([[3, 0], [2, 255], [1, 3], [255, 255]], np.uint8)
    assert (compiled.votes(codes)[:, 0] / ONE_VOTE).tolist() == [9 + 4 - 5, 9 + 4, 9, 9]
    with pytest.raises(ValueError, match="is known"):
        compiled.votes(np.zeros((1, 1), np.uint64))


def test_no_clause_left_and_no_rows():
    bank = bank_of([[None], [None]], [[None], [None]], [1, 1])
    compiled = inference.compile_votes(bank, np.array([3]), np.array([False]))
    assert compiled.votes(np.zeros((3, 1), np.uint8)).tolist() == [[0], [0], [0]]
    assert compiled.votes(np.zeros((0, 1), np.uint8)).shape == (0, 1)
    outputs = inference.compile_outputs(bank, np.array([3]), np.array([False]))
    assert not outputs.outputs(np.zeros((70, 1), np.uint8)).any()
    assert outputs.outputs(np.zeros((0, 1), np.uint8)).shape == (0, 2)


def test_weights_up_to_the_type_s_end():
    bank = bank_of([[1], [1], [2]], [[None]] * 3, [1, 1, 1])
    one, other = 2**62 - 1, -(2**63)
    compiled = inference.compile_votes(
        bank, np.array([3]), np.array([False]), np.array([0, 0]), np.array([0, 2]), np.array([[one], [other]])
    )
    assert compiled.votes(np.array([[0], [1], [2]], np.uint8)).tolist() == [[0], [one], [one + other]]


def test_rows_may_be_read_only_or_strided():
    rng = np.random.default_rng(3)
    n_ranks, has_gaps, codes = random_rows(rng, 200, 80, 4, np.uint8, 0.1)
    bank = random_bank(rng, 2, 30, n_ranks, np.uint8, 0.03)
    compiled = inference.compile_votes(bank, n_ranks, has_gaps)
    expected = compiled.votes(codes)
    frozen = codes.copy()
    frozen.setflags(write=False)
    np.testing.assert_array_equal(compiled.votes(frozen), expected)
    np.testing.assert_array_equal(compiled.votes(np.asfortranarray(codes)), expected)


@pytest.mark.parametrize(
    ("codes", "message"),
    [(np.zeros((2, 3), np.uint8), "2 columns"), (np.zeros((2, 2), np.uint16), "give uint8")],
)
def test_wrong_rows_are_named(codes, message):
    bank = bank_of([[1, 1]], [[None, None]], [1])
    compiled = inference.compile_votes(bank, np.array([3, 3]), np.array([False, False]))
    with pytest.raises(ValueError, match=message):
        compiled.votes(codes)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([1, 2, 2, 3, 70, 255]), st.sampled_from([1, 5, 63, 64, 65, 130])),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from([0, 1, 64, 70]),
    st.integers(0, 2**32 - 1),
)
def test_packing_ranks(runs, n_rows, seed):
    rng = np.random.default_rng(seed)
    n_ranks = np.concatenate([np.full(min(length, 2000 // ranks), ranks) for ranks, length in runs])
    codes = (rng.random((n_rows, len(n_ranks))) * n_ranks).astype(np.uint8)
    codes[rng.random(codes.shape) < 0.1] = 255
    feature = np.repeat(np.arange(len(n_ranks)), n_ranks - 1)
    cut = np.concatenate([np.arange(n - 1) for n in n_ranks])
    ranks, known = codes[:, feature], codes[:, feature] < n_ranks[feature]
    bits = np.concatenate([known & (ranks <= cut), known & (ranks > cut)], axis=1)
    n_words = max(1, -(-bits.shape[1] // 64))
    padded = np.ones((n_rows, n_words * 64), bool)
    padded[:, : bits.shape[1]] = bits
    words = np.empty((n_rows, n_words), np.uint64)
    inference.pack_ranks(codes.reshape(-1), n_ranks.astype(np.int64), words)
    np.testing.assert_array_equal(words, np.packbits(padded, axis=1, bitorder="little").view(np.uint64))
