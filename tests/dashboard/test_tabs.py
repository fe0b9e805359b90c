"""Tabs that reload, lose their connection, are closed or meet a killed server, in Chromium."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dashboard import keeping
from dashboard.store import Store

LEASE = 3.0

pytestmark = pytest.mark.browser


class Line:
    """A connection from a port of its own to a server's, which can be cut and mended."""

    def __init__(self, port: int) -> None:
        self._far = port
        self._ends: set[socket.socket] = set()
        self._up = threading.Event()
        self._up.set()
        self._door = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._door.getsockname()[1]}"
        threading.Thread(target=self._answer, daemon=True).start()

    def _answer(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near = self._door.accept()[0]
                if not self._up.is_set():
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self._far))
                self._ends |= {near, far}
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                other.sendall(data)
        for end in (one, other):
            self._hang_up(end)

    def _hang_up(self, end: socket.socket) -> None:
        self._ends.discard(end)
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()

    def cut(self) -> None:
        self._up.clear()
        for end in list(self._ends):
            self._hang_up(end)

    def mend(self) -> None:
        self._up.set()

    def close(self) -> None:
        self.cut()
        self._door.close()


@pytest.fixture(scope="module")
def server(make_server: Callable[..., Any]) -> Any:
    return make_server(LEASE, "--data-dir", "kept", STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL="60")


@pytest.fixture
def line(server: Any) -> Iterator[Line]:
    made = Line(server.port)
    yield made
    made.close()


def test_a_reload_and_a_second_tab_find_the_run(new_run: Any, server: Any) -> None:
    tab = new_run(server.address)
    tab.play()
    before = tab.step
    assert keeping.ADDRESS_KEY + "=" in tab.page.url
    tab.page.reload()
    tab.shows(f"Number(root.dataset.step) > {before}", 60)
    assert tab.ask("root.dataset.confirmed") == "learning"
    second = type(tab)(tab.page.context.new_page())
    second.page.goto(tab.page.url)
    second.shows(f"Number(root.dataset.step) > {before}", 60)
    second.page.keyboard.press(" ")
    second.shows("root.dataset.confirmed == 'paused'")
    tab.shows("root.dataset.confirmed == 'paused'")
    assert tab.step == second.step


def test_a_short_cut_is_made_up_for_and_a_long_one_pauses_and_says_so(new_run: Any, line: Line) -> None:
    tab = new_run(line.address)
    tab.play()
    address = tab.page.url
    line.cut()
    reached = tab.step
    tab.page.wait_for_timeout(500)
    tab.page.keyboard.press("2")
    tab.page.wait_for_timeout(500)
    line.mend()
    tab.shows(f"Number(root.dataset.step) > {reached + 10}", 60)  # the same run, which may have paused by now
    tab.page.wait_for_timeout(2000)  # by then the page shows what the server knows
    tab.shows("root.querySelector('[data-speed=\"3x\"]').getAttribute('aria-pressed') == 'true'", 10)
    if tab.ask("root.dataset.confirmed") != "learning":
        tab.play(tab.step)
    line.cut()
    reached = tab.step
    tab.page.wait_for_timeout(1000 * (LEASE + 2))
    assert tab.ask("root.querySelector('.state').textContent").startswith("No answer from the server for ")
    line.mend()
    tab.shows("root.dataset.confirmed == 'paused'", 60)
    tab.shows("root.querySelector('.notice').textContent.startsWith('Paused itself')")
    assert tab.step > reached
    assert tab.page.url == address
    tab.page.get_by_role("button", name="Go on").click()
    tab.shows(f"root.dataset.confirmed == 'learning' && Number(root.dataset.step) > {tab.step + 10}")


def test_a_killed_server_costs_seconds_and_everything_is_there_again(new_run: Any, server: Any) -> None:
    tab = new_run(server.address)
    page = tab.page
    tab.play()
    page.wait_for_timeout(5000)
    reached, address = tab.step, page.url
    server.kill()
    page.wait_for_timeout(500)
    server.start()
    page.goto(address)
    tab.shows("root.dataset.state == 'paused'", 90)
    assert 0.2 * reached < tab.step <= reached + 500
    kept_at = tab.step
    page.keyboard.press("n")
    tab.shows(f"root.dataset.step == '{kept_at + 1}'")
    page.get_by_role("link", name="Data").click()
    page.get_by_text("270 rows, 13 columns, 2 classes").wait_for(timeout=30_000)
    page.get_by_text("from a kept run").wait_for(timeout=30_000)
    page.get_by_role("link", name="Compare").click()
    page.get_by_role("button", name="Settle now").click(timeout=30_000)
    page.get_by_text("unseen rows right; of all rows it may be").wait_for(timeout=60_000)
    page.get_by_role("link", name="Explain").click()
    page.get_by_text("rules say").first.wait_for(timeout=60_000)


def test_two_visitors_never_see_each_other(new_run: Any, new_tab: Any, server: Any) -> None:
    tab = new_run(server.address)
    tab.play()
    other = new_tab(server.address).page
    other.get_by_role("button", name="Open Heart").wait_for(timeout=60_000)
    assert other.get_by_text("Your runs").count() == 0
    assert other.url.split("=")[1] != tab.page.url.split("=")[1]
    other.goto(f"{server.address}/train")
    other.get_by_text("No data yet").first.wait_for(timeout=30_000)


def test_closed_tabs_of_learning_runs_leave_no_thread_after_the_lease(
    new_run: Any, server: Any, until: Any
) -> None:
    tabs = [new_run(server.address) for _ in range(2)]
    for tab in tabs:
        tab.play()
    during = server.n_threads
    for tab in tabs:
        tab.page.context.close()
    until(lambda: server.n_threads <= during - len(tabs), 30)


def test_twenty_closed_tabs_leave_no_thread_and_no_memory(
    launch: Any, make_server: Callable[..., Any], made_up: Any, until: Any
) -> None:
    server = make_server(LEASE, "--data-dir", "kept", STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL="2")
    run = made_up.trained(50)
    for number in range(24):
        made_up.keep(Store(server.folder / "kept"), f"owner-{number}", run)
    # One process for all pages, so that they share the compiled scripts.
    shared = launch("--process-per-site")

    def open_and_close(numbers: range) -> None:
        context = shared.new_context(viewport={"width": 500, "height": 300})
        pages = [context.new_page() for _ in numbers]
        for number, page in zip(numbers, pages, strict=True):
            page.goto(f"{server.address}/train?{keeping.ADDRESS_KEY}=owner-{number}", wait_until="commit")
        for page in pages:
            page.get_by_role("button", name="One epoch").wait_for(timeout=90_000)
        context.close()

    open_and_close(range(4))
    time.sleep(LEASE + 3)
    threads, megabytes = server.n_threads, server.megabytes
    open_and_close(range(4, 24))
    until(lambda: server.n_threads <= threads + 4, 30)
    until(lambda: server.megabytes < megabytes + 20, 30)
    shared.close()
