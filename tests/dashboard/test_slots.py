"""Places and turns: first come, first served, and nothing is held by who is gone."""

from __future__ import annotations

import gc
import threading
import time

from dashboard.slots import Slots, Turns


class Holder:
    """Somebody who wants a place."""


def test_places_go_in_the_order_of_asking() -> None:
    slots, (a, b, c, d) = Slots(2), (Holder() for _ in range(4))
    assert [slots.take(one) for one in (a, b, c, d)] == [True, True, False, False]
    slots.release(a)
    assert [slots.take(one) for one in (d, c, b, a)] == [False, True, True, False]
    slots.release(b)
    assert slots.take(d)


def test_who_is_gone_leaves_the_queue() -> None:
    slots = Slots(1)
    a, b, c = Holder(), Holder(), Holder()
    assert [slots.take(one) for one in (a, b, c)] == [True, False, False]
    del a, b
    gc.collect()
    assert slots.take(c)


def test_turns_are_handed_on_in_order_and_never_overlap() -> None:
    turns, never = Turns(1), threading.Event()
    order: list[int] = []
    inside: list[int] = []

    def work(number: int) -> None:
        for _ in range(5):
            with turns.turn(never) as has_turn:
                assert has_turn
                inside.append(number)
                assert len(inside) == 1
                time.sleep(0.005)
                order.append(inside.pop())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(order) == 20
    assert all(len(set(order[k : k + 4])) == 4 for k in range(3, 12))  # nobody twice while another waits


def test_two_work_at_a_time_where_two_may() -> None:
    turns, never, both = Turns(2), threading.Event(), threading.Barrier(2, timeout=10)

    def work() -> None:
        with turns.turn(never):
            both.wait()

    other = threading.Thread(target=work)
    other.start()
    work()
    other.join(10)
    assert not both.broken


def test_who_is_asked_for_something_else_stops_waiting() -> None:
    turns, stop, never = Turns(1), threading.Event(), threading.Event()
    with turns.turn(never):
        stop.set()
        with turns.turn(stop) as has_turn:
            assert not has_turn
    with turns.turn(never) as has_turn:
        assert has_turn
