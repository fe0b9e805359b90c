"""Tasks in threads: progress, stopping, failing, and ending by themselves when nobody holds them."""

from __future__ import annotations

import gc
import threading
from typing import Any

import pytest

from dashboard import background
from dashboard.background import Task


@pytest.fixture(autouse=True)
def _no_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "warm_up", lambda: None)
    monkeypatch.setattr(background, "wait_for_kernels", lambda seconds: True)


def until_stopped(progress: Any, stop: threading.Event) -> str:
    progress(1, 4)
    assert stop.wait(20)
    return "what was done"


def test_result_and_progress() -> None:
    going = threading.Event()

    def work(progress: Any, stop: Any) -> int:
        progress(3, 5)
        assert going.wait(20)
        return 42

    task = Task("Counting", work)
    while task.progress != (3, 5):
        task.wait(0.01)
    assert task.busy
    assert task.seconds_left is not None
    assert task.result is None
    going.set()
    assert task.wait(20)
    assert (task.busy, task.result, task.error, task.seconds_left) == (False, 42, None, None)


def test_stop_keeps_what_was_done() -> None:
    task = Task("Waiting", until_stopped)
    task.stop()
    assert task.wait(20)
    assert (task.stopped, task.result) == (True, "what was done")


def test_failure_is_one_sentence() -> None:
    def work(progress: Any, stop: Any) -> None:
        raise ValueError("No split could be judged.")

    task = Task("Failing", work)
    assert task.wait(20)
    assert task.error == "No split could be judged."


def test_more_tasks_than_places_wait_and_can_be_stopped_waiting() -> None:
    working = [Task("Waiting", until_stopped) for _ in range(background.MOST_WORKING)]
    for task in working:
        while task.waiting:
            task.wait(0.01)
    third = Task("Waiting", until_stopped)
    assert not third.wait(0.2)
    assert third.waiting
    third.stop()
    assert third.wait(20)
    assert third.result is None
    for task in working:
        task.stop()
        assert task.wait(20)
        assert task.result == "what was done"


def test_a_task_that_nobody_holds_stops() -> None:
    ended = threading.Event()

    def work(progress: Any, stop: threading.Event) -> None:
        if stop.wait(20):
            ended.set()

    task = Task("Left", work)
    while task.waiting:
        task.wait(0.01)
    del task
    gc.collect()
    assert ended.wait(20)
