"""Equations 4 to 17 of the SSL paper on values worked out by hand."""

import itertools

import numpy as np
import pytest

from tmcore.machine import IntervalMachine, interval_moves, intervals, streams, votes
from tmcore.machine.reference import ReferenceIntervals
from tmcore.machine.state import LANES, ONE_VOTE
from tmcore.parameters import Parameters

N = 50
N_RANKS = 6  # levels u_0..u_5, cuts c_0..c_4
LAST = N_RANKS - 1


def machine_with(lower, upper, lower_in, upper_in, gaps=False, **settings):
    """A machine of two clauses and one feature; clause 0 has the given bounds, clause 1 is left empty."""
    parameters = Parameters(n_clauses=2, T=1.0, n_states=N, weights="none", **settings)
    machine = IntervalMachine(parameters, 2, np.array([N_RANKS]), np.array([gaps]))
    planes = np.array([[lower, 0], [upper, LAST], [N + lower_in, N], [N + upper_in, N]])
    machine.set_planes(planes[:, None, :, None])
    return machine


@pytest.mark.parametrize(("lower_in", "upper_in"), list(itertools.product([False, True], repeat=2)))
def test_equations_11_to_13_and_4(lower_in, upper_in):
    """Bounds L = c_1 and U = c_3: ranks 2 and 3 lie in (L, U], ranks 0 and 1 at or below L, 4 and 5 above U."""
    machine = machine_with(2, 3, lower_in, upper_in)
    codes = np.arange(N_RANKS, dtype=np.uint8)[:, None]
    expected = {
        (True, True): [0, 0, 1, 1, 0, 0],  # (11)
        (True, False): [0, 0, 1, 1, 1, 1],  # (12)
        (False, True): [1, 1, 1, 1, 0, 0],  # (13)
        (False, False): [0, 0, 0, 0, 0, 0],  # an empty clause outputs 0 when predicting (4)
    }[lower_in, upper_in]
    np.testing.assert_array_equal(machine.outputs(codes)[:, 0, 0], expected)
    while_learning = np.zeros(LANES, np.uint8)
    intervals.block_outputs(machine.tests[0], codes[0], while_learning)
    assert while_learning[1] == 1  # an empty clause outputs 1 while learning (4)


@pytest.mark.parametrize("gaps", [False, True])
def test_missing_violates_included_bounds_and_open_ends_say_known_only_with_gaps(gaps):
    missing, known = np.array([[255]], np.uint8), np.array([[0]], np.uint8)
    assert not machine_with(2, LAST, True, False, gaps).outputs(missing)[0, 0, 0]
    assert not machine_with(0, 3, False, True, gaps).outputs(missing)[0, 0, 0]
    for open_end in (machine_with(0, LAST, True, False, gaps), machine_with(0, LAST, False, True, gaps)):
        assert open_end.outputs(missing)[0, 0, 0] == (not gaps)
        assert open_end.outputs(known)[0, 0, 0]


def test_equation_6_a_tie_is_class_one():
    from tmcore.training import winners

    np.testing.assert_array_equal(winners(np.array([[-1], [0], [1]])), [0, 1, 1])


@pytest.mark.parametrize(
    ("v", "y", "share"),
    [
        (0, 1, 0.5),
        (0, 0, 0.5),
        (2, 1, 0.25),
        (2, 0, 0.75),
        (4, 1, 0),
        (9, 1, 0),
        (9, 0, 1),
        (-9, 1, 1),
        (-9, 0, 0),
    ],
)
def test_equations_7_and_10(v, y, share):
    """T = 4: (T - v) / 2T selects for y = 1 and (T + v) / 2T for y = 0, with v clamped to [-4, 4]."""
    limit = votes.selection_limit(v * ONE_VOTE, 4 * ONE_VOTE, y)
    assert limit == share * 2**32


@pytest.mark.parametrize("s", [1.0, 1.5, 2.0, 3.9, 10.0, 100.0])
def test_equations_14_to_17_the_event_has_probability_one_over_s(s):
    """Draws 0..65535 up to the limit are the 1/s event; all others are its complement (s - 1) / s."""
    assert (streams.event_limit(s) + 1) / 65536 == pytest.approx(1 / s, abs=1 / 65536)


def moved(kind, code, lower, upper, event, paper=False, boost=False, tie=0):
    """Both bounds (lower, upper) and both states, after one row of code `code` to a clause with N + 1, N + 1."""
    u = np.uint8
    rule = (u(N), u(2 * N), u(boost), u(paper))
    with np.errstate(over="ignore"):  # a byte wraps, as the compiled kernel's does
        feature = interval_moves.feature_terms.py_func(wrapping, u(LAST), u(code), u(paper))
        before = (u(lower), u(upper), u(N + 1), u(N + 1))
        got = interval_moves.move.py_func(
            wrapping, u(kind), u(event), u(event), u(tie), *before, u(code), feature, rule
        )
    return tuple(int(x) for x in got[:4])


def wrapping(value):
    """One byte, wrapping as the compiled kernel's does."""
    return np.uint8(int(value) & 255)


RECOGNISE, FORGET, REJECT = 1, 2, 4
UP, DOWN, STAY = N + 2, N, N + 1


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        # Ia, (s-1)/s draw, L < x <= U: both automata +1, both bounds tighten by one.
        ((RECOGNISE, 3, 1, 5, 0), (2, 4, UP, UP)),
        # ... held where the row would be pushed out: rank 3 with L already just below it and U at it.
        ((RECOGNISE, 3, 3, 3, 0), (3, 3, UP, UP)),
        # Ia with the 1/s draw: nothing.
        ((RECOGNISE, 3, 1, 5, 1), (1, 5, STAY, STAY)),
        # Type I, output 1, lower violated: Ib for the lower bound (16), nothing for the upper.
        ((RECOGNISE, 1, 2, 5, 1), (1, 5, DOWN, STAY)),
        ((RECOGNISE, 1, 2, 5, 0), (2, 5, STAY, STAY)),
        # Type I, output 1, upper violated: Ib for the upper bound (17).
        ((RECOGNISE, 4, 0, 3, 1), (0, 4, STAY, DOWN)),
        # Type I, output 0: Ib for both, they widen.
        ((FORGET, 3, 2, 4, 1), (1, 5, DOWN, DOWN)),
        ((FORGET, 3, 2, 4, 0), (2, 4, STAY, STAY)),
        # Type II, lower violated: its automaton +1; the bound stays, it excludes the row already.
        ((REJECT, 1, 2, 5, 1), (2, 5, UP, STAY)),
        ((REJECT, 4, 0, 3, 0), (0, 3, STAY, UP)),
        # Type II inside: the nearer bound steps. Rank 2 in [1, 5]: L needs 2 steps, U 4.
        ((REJECT, 2, 1, 5, 0), (2, 5, STAY, STAY)),
        # Rank 4 in [0, 4]: U needs 1 step, L 5.
        ((REJECT, 4, 0, 4, 0), (0, 3, STAY, STAY)),
        # The top rank can be cut off only from above, rank 0 only from below.
        ((REJECT, 5, 5, 5, 0), (5, 4, STAY, STAY)),
        ((REJECT, 0, 0, 0, 0), (1, 0, STAY, STAY)),
    ],
)
def test_contrastive_moves(case, expected):
    assert moved(*case) == expected


def test_a_tie_goes_either_way():
    assert moved(REJECT, 3, 2, 4, 0, tie=1) == (3, 4, STAY, STAY)
    assert moved(REJECT, 3, 2, 4, 0, tie=0) == (2, 3, STAY, STAY)


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ((RECOGNISE, 3, 1, 5, 0), (2, 4, UP, UP)),
        # The paper's Ia tightens even where that excludes the rewarded row.
        ((RECOGNISE, 3, 3, 3, 0), (4, 2, UP, UP)),
        # The paper's Type II widens the violated bound and includes it more firmly.
        ((REJECT, 1, 2, 5, 0), (1, 5, UP, STAY)),
        ((REJECT, 4, 0, 3, 0), (0, 4, STAY, UP)),
        # A false positive inside every bound gets no correction.
        ((REJECT, 3, 1, 5, 0), (1, 5, STAY, STAY)),
        # L >= U, both violated: both are updated.
        ((REJECT, 3, 4, 2, 0), (3, 3, UP, UP)),
    ],
)
def test_paper_moves(case, expected):
    assert moved(*case, paper=True) == expected


def test_missing_moves_automata_but_not_bounds():
    assert moved(FORGET, 255, 2, 4, 1) == (2, 4, DOWN, DOWN)
    assert moved(REJECT, 255, 2, 4, 0) == (2, 4, UP, UP)
    assert moved(REJECT, 255, 2, 4, 0, paper=True) == (2, 4, UP, UP)


def test_boost_confirms_always():
    assert moved(RECOGNISE, 3, 1, 5, 1, boost=True) == (2, 4, UP, UP)


def test_weights_of_the_weighted_machine():
    """gamma = 0.5: 1 -> 1.5 -> 2.25 when recognised, back by division when rejected; gamma 0 is the plain machine."""
    update = votes.update_weight.py_func
    assert update(-ONE_VOTE, 1, 1, ONE_VOTE // 2) == -3 * ONE_VOTE // 2  # a negative clause keeps its sign
    half = ONE_VOTE // 2
    assert update(ONE_VOTE, 1, 1, half) == 3 * half
    assert update(3 * half, 1, 1, half) == int(2.25 * ONE_VOTE)
    assert update(int(2.25 * ONE_VOTE), 4, 1, half) == 3 * half
    assert update(ONE_VOTE, 1, 1, 0) == update(ONE_VOTE, 4, 1, 0) == ONE_VOTE
    assert update(1, 4, 1, half) == 1  # never 0, so the sign stays
    assert [update(w * ONE_VOTE, k, 2, 0) // ONE_VOTE for w, k in ((1, 1), (2, 4), (1, 4))] == [2, 1, 1]


def test_the_twin_records_the_draws_that_decided():
    """Every recorded decision follows from its own draw, chance and position."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, N_RANKS, (30, 2)).astype(np.uint8)
    twin = ReferenceIntervals(
        Parameters(n_clauses=10, T=2.0), 2, np.array([N_RANKS] * 2), np.array([False] * 2)
    )
    seen = set()
    for row, code in enumerate(codes):
        (decision,) = twin.learn(code, int(code[0] > 2))
        assert decision.step == row
        for clause in decision.clauses:
            assert clause.selected == (clause.draw < decision.chance)
            seen.add(clause.feedback)
            for bound in clause.bounds:
                assert bound.event == (bound.draw * 2 < 65536)  # s = 2
                assert abs(bound.state[1] - bound.state[0]) <= 1
                assert abs(bound.position[1] - bound.position[0]) <= 1
    assert seen == {"", "Ia", "Ib", "II"}
