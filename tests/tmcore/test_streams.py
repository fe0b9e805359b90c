"""Draws: known values of splitmix64, equal in Python and compiled, fair and uncorrelated between neighbours."""

import numba
import numpy as np
import pytest

from tmcore.machine import literals, streams


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


def test_the_next_word_is_two_odd_multiplications_and_a_shift():
    """Worked out as arithmetic modulo 2**64."""
    for word in (1, 0xDEADBEEF, 2**64 - 1):
        first = word * (1 + 2**21) % 2**64
        expected = (first ^ first // 2**30) * (1 + 2**11) % 2**64
        assert streams.next64(word) == expected


def test_bound_draws_are_a_permutation_of_32_bits():
    """A full finaliser loses nothing: equal draws of one feature need equal words."""
    words = np.random.default_rng(0).integers(0, 2**32, 20_000)
    assert len({streams.mix32_at(int(word), 3) for word in words}) == len(set(words.tolist()))


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

    def mixed(words, index):
        x = words + (np.asarray(index + 1).astype(np.uint32) * np.uint32(0x9E3779B9))
        x = (x ^ x >> np.uint32(16)) * np.uint32(0x7FEB352D)
        x = (x ^ x >> np.uint32(15)) * np.uint32(0x846CA68B)
        return x ^ x >> np.uint32(16)

    key = streams.key(7, streams.CLAUSES)
    at_step = np.array([streams.key_at(streams.key_at(key, step), 0) for step in range(n_steps)], np.uint64)
    clauses = np.arange(n_clauses)
    selection = mixed((at_step >> np.uint64(32)).astype(np.uint32)[:, None], clauses)
    lanes = mixed((at_step & np.uint64(0xFFFFFFFF)).astype(np.uint32)[:, None], clauses)
    assert int(selection[3, 5]) == streams.mix32_at(int(at_step[3]) >> 32, 5)
    bounds = []
    for feature in range(n_features):
        x = mixed(lanes, feature)
        assert int(x[0, 0]) == streams.mix32_at(int(lanes[0, 0]), feature)
        bounds.append(np.stack([x & 0xFFFF, x >> np.uint32(16)], -1))
    return np.stack(bounds, 2), selection


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


@pytest.mark.parametrize("s", [3.0, 25.0])
def test_draws_for_literals_are_fair_and_independent_of_their_neighbours(s):
    """Events of chance 1/s, 64 literals a word: their share and every kind of neighbour lie within |z| < 4.5."""
    n_steps, n_clauses, n_words = 300, 20, 6
    key = streams.key(5, streams.CLAUSES)
    lanes, words = np.zeros(n_words, np.uint64), np.zeros((n_steps, n_clauses, n_words), np.uint64)
    probability = streams.short_probability(s)
    for step in range(n_steps):
        at_step = streams.key_at(streams.key_at(key, step), 0) & 0xFFFFFFFF
        for clause in range(n_clauses):
            word = np.uint32(streams.mix32_at(at_step, clause))
            literals.draw_events(word, probability, lanes, words[step, clause])
    bits = np.unpackbits(words.view(np.uint8), axis=-1, bitorder="little")
    event = bits.reshape(n_steps, n_clauses, n_words, 64).astype(float)
    p = probability / 65536

    def z(a, b):
        return ((a - p) * (b - p)).sum() / (p * (1 - p) * np.sqrt(a.size))

    zs = [(event.mean() - p) / np.sqrt(p * (1 - p) / event.size)]
    zs += [z(event[1:], event[:-1]), z(event[:, 1:], event[:, :-1]), z(event[:, :, 1:], event[:, :, :-1])]
    zs += [z(event[..., apart:], event[..., :-apart]) for apart in (1, 2, 6, 7, 13, 17, 20, 32)]
    assert max(map(abs, zs)) < 4.5, zs


@pytest.mark.parametrize("s", [1.0, 1.37, 2.0, 3.9, 10.0, 11.7647, 25.0, 333.3, 60000.0])
def test_the_short_probability_is_close_and_has_few_digits(s):
    """Within 1/512 of 1/s, or within half of 1/65536; no shorter binary fraction is."""
    probability, exact = streams.short_probability(s), 65536 / s
    assert abs(probability - exact) <= max(exact / 512, 0.5)
    unit = probability & -probability
    shorter = round(exact / (2 * unit)) * 2 * unit
    assert abs(shorter - exact) > exact / 512 or probability == 65536
