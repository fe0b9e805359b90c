"""Draws: known values of splitmix64, equal in Python and compiled, fair and uncorrelated between neighbours."""

import numba
import numpy as np

from tmcore.machine import streams


def test_splitmix64_known_values():
    """The first outputs of splitmix64 seeded with 1234567, as published with its reference code."""
    known = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert [streams.mix(1234567 + (i + 1) * streams.GOLDEN) for i in range(5)] == known


def test_xorshift32_known_values():
    """Marsaglia's xorshift32 (13, 17, 5) from 1: computed from its definition with Python integers."""
    word, got = 1, []
    for _ in range(3):
        word = streams.xorshift(word)
        got.append(word)
    assert got == [270369, 67634689, 2647435461]


def test_compiled_python_and_array_keys_are_equal():
    @numba.njit
    def compiled(word, index):
        return streams.key_at_u(word, index)

    word = streams.key(2**63 - 1, streams.CLAUSES)
    expected = [streams.key_at(word, i) for i in range(50)]
    assert [int(compiled(np.uint64(word), i)) for i in range(50)] == expected
    assert streams.keys_at(word, 50).tolist() == expected


def test_row_order_is_a_permutation_that_changes_with_seed_and_epoch():
    orders = [streams.row_order(seed, epoch, 100) for seed, epoch in ((0, 0), (0, 1), (1, 0))]
    for order in orders:
        np.testing.assert_array_equal(np.sort(order), np.arange(100))
    assert len({tuple(order) for order in orders}) == 3


def draws(n_steps, n_clauses, n_features):
    """Bound draws (steps, clauses, features, 2) and selection draws, as a machine makes them."""
    words = np.array(
        [
            streams.keys_at(
                streams.key_at(streams.key_at(streams.key(7, streams.CLAUSES), step), 0), n_clauses
            )
            for step in range(n_steps)
        ]
    )
    lanes = np.maximum(words & np.uint64(0xFFFFFFFF), 1).astype(np.uint32)
    bounds = []
    for _ in range(n_features):
        lanes = lanes ^ (lanes << np.uint32(13))
        lanes = lanes ^ (lanes >> np.uint32(17))
        lanes = lanes ^ (lanes << np.uint32(5))
        bounds.append(np.stack([lanes & 0xFFFF, lanes >> np.uint32(16)], -1))
    return np.stack(bounds, 2), (words >> np.uint64(32)).astype(np.uint32)


def test_draws_are_fair_and_independent_of_their_neighbours():
    """Events of chance 1/3: their share, and the correlation with every kind of neighbour, lie within |z| < 4."""
    bounds, selection = draws(2000, 50, 8)
    event = bounds <= streams.event_limit(3.0)
    chosen = selection < 2**32 // 3

    def z_share(events, p):
        return (events.mean() - p) / np.sqrt(p * (1 - p) / events.size)

    def z_pairs(a, b, p):
        return ((a - p) * (b - p)).sum() / (p * (1 - p) * np.sqrt(a.size))

    p = 21845 / 65536
    zs = [
        z_share(event, p),
        z_share(chosen, 1 / 3),
        z_pairs(event[1:], event[:-1], p),  # step
        z_pairs(event[:, 1:], event[:, :-1], p),  # clause
        z_pairs(event[:, :, 1:], event[:, :, :-1], p),  # feature
        z_pairs(event[:, :, 2:], event[:, :, :-2], p),
        z_pairs(event[..., 0], event[..., 1], p),  # lower and upper bound
        z_pairs(chosen[:, :, None, None] * np.ones(event.shape), event, p),  # selection and bounds
        z_pairs(chosen[1:], chosen[:-1], p),
        z_pairs(chosen[:, 1:], chosen[:, :-1], p),
    ]
    assert max(map(abs, zs)) < 4, zs
