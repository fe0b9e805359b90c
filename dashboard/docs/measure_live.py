"""Measure the live view in headless Chromium: ``python dashboard/docs/measure_live.py --minutes 10``.

Starts a dashboard of its own, trains Heart with 100 clauses and COMPAS with 500, and prints, for each: distinct
snapshots painted a second, frames a second (requestAnimationFrame), the median of 20 clicks on Play and Pause until the
page shows them and until the server confirms them, the median of 20 jumps to random rows, and the memory of browser and
server at the start, each minute and at the end of the minutes asked for, in which the run learns all the time, with how
much it grew a minute (least squares). Needs Playwright and Chromium.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FIND = """(body) => {
  for (const host of document.querySelectorAll("[data-testid=stBidiComponentIsolated]")) {
    const root = host.shadowRoot && host.shadowRoot.querySelector(".live");
    if (root) return new Function("root", "return " + body)(root);
  }
  return null;
}"""
COUNT_FRAMES = """() => {
  window.framesDrawn = 0;
  const count = () => { window.framesDrawn += 1; requestAnimationFrame(count); };
  requestAnimationFrame(count);
}"""
MOST_CLAUSES = 500
"""The slider's end; the page starts at 100."""

CASES = (("Heart", 100), ("COMPAS", MOST_CLAUSES))


@contextlib.contextmanager
def dashboard(folder: Path) -> Iterator[tuple[str, int]]:
    """A dashboard of its own: its address and process."""
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "dashboard.cli", "--port", str(port), "--no-browser", "--no-store"],
        cwd=folder,
        env={**os.environ, "HOME": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(300):
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/_stcore/health", timeout=2):
                break
            time.sleep(0.2)
        yield address, server.pid
    finally:
        server.terminate()
        server.wait(20)


def megabytes(pids: list[int]) -> float:
    """Proportional memory of processes (Linux), which counts shared pages once."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
    return total / 1024


def offspring(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with contextlib.suppress(OSError):
            for child in (task / "children").read_text().split():
                found += offspring(int(child))
    return found


class Page:
    """The Train page in one tab."""

    def __init__(self, tab: Any) -> None:
        self.tab = tab

    def ask(self, body: str) -> Any:
        """Evaluate a JavaScript expression of ``root``, the live view's element."""
        return self.tab.evaluate(FIND, body)

    def wait(self, condition: str, seconds: float = 60) -> float:
        """Seconds until a condition holds."""
        began = time.monotonic()
        while not self.ask(condition):
            if time.monotonic() - began > seconds:
                raise TimeoutError(f"{condition}: {self.ask('JSON.stringify(root.dataset)')}")
            time.sleep(0.005)
        return time.monotonic() - began

    def open(self, address: str, sample: str, clauses: int) -> None:
        """Open an example and start a run with that many clauses."""
        self.tab.goto(address)
        named = self.tab.get_by_role("button", name=f"Open {sample}")
        named.or_(self.tab.locator(f".st-key-open-{sample.lower()} button")).first.click(timeout=60_000)
        self.tab.get_by_role("button", name="Train on this").click(timeout=60_000)
        self.wait("root.dataset.confirmed == 'ready' && Number(root.dataset.painted) > 0", 180)
        slider = self.tab.get_by_role("slider", name="Clauses").first
        slider.focus()
        if clauses == MOST_CLAUSES:
            self.tab.keyboard.press("End")
        self.wait(f"root.querySelector('h1').textContent.startsWith('{clauses} clauses')", 60)
        self.wait("root.dataset.confirmed == 'ready'", 60)
        self.tab.evaluate("document.activeElement.blur()")

    def keep_learning(self) -> None:
        """Play on, also where the run has ended."""
        if self.ask("root.dataset.confirmed") in ("ready", "paused", "finished"):
            self.tab.wait_for_timeout(1100)  # just after the end of a run it would be taken for a pause
            self.tab.keyboard.press(" ")
            self.wait("root.dataset.confirmed == 'learning'", 10)

    def rates(self, seconds: float) -> tuple[float, float, int]:
        """Snapshots painted and animation frames a second while learning, and snapshots the server made."""
        self.keep_learning()
        first = (
            int(self.ask("root.dataset.painted")),
            self.tab.evaluate("framesDrawn"),
            int(self.ask("root.dataset.sequence")),
        )
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            self.tab.wait_for_timeout(250)
            self.keep_learning()  # the run may end meanwhile
        spent = time.monotonic() - began
        last = (
            int(self.ask("root.dataset.painted")),
            self.tab.evaluate("framesDrawn"),
            int(self.ask("root.dataset.sequence")),
        )
        return (last[0] - first[0]) / spent, (last[1] - first[1]) / spent, last[2] - first[2]

    def clicks(self, count: int) -> tuple[float, float]:
        """Median seconds from a click on Play or Pause until it shows, and until the server confirms it."""
        shown, confirmed = [], []
        for _ in range(count):
            self.keep_learning()
            began = time.monotonic()
            self.tab.keyboard.press(" ")
            self.wait("root.querySelector('.state').textContent == 'Paused'", 10)
            shown.append(time.monotonic() - began)
            self.wait("root.dataset.confirmed != 'learning'", 10)
            confirmed.append(time.monotonic() - began)
            self.tab.wait_for_timeout(150)
        return statistics.median(shown), statistics.median(confirmed)

    def jumps(self, count: int) -> float:
        """Median seconds from a click on the film bar until the page shows another row."""
        if self.ask("root.dataset.confirmed") == "learning":
            self.tab.keyboard.press(" ")
            self.wait("root.dataset.confirmed == 'paused'", 10)
        self.tab.wait_for_timeout(400)
        axis = float(self.ask("root.querySelector('.bar').getAttribute('aria-valuemax')"))
        choose, taken = random.Random(0), []
        reach = min(1.0, self.end_of_bar(axis))
        for _ in range(count):
            before, box = self.ask("root.dataset.step"), self.tab.locator(".bar").bounding_box()
            x = box["x"] + 6 + (box["width"] - 12) * choose.uniform(0.02, 0.95) * reach
            began = time.monotonic()
            self.tab.mouse.click(x, box["y"] + 30)
            self.wait(f"root.dataset.step != '{before}'", 10)
            taken.append(time.monotonic() - began)
            self.tab.wait_for_timeout(150)
        self.tab.keyboard.press("End")
        return statistics.median(taken)

    def end_of_bar(self, last: float) -> float:
        """Which share of the bar the run fills: the axis ends at 1, 2, 5, 10, 20, 40, 80 ... epochs."""
        rows = float(
            self.ask(
                "Number(root.querySelector('.sub').textContent.match(/([\\d,]+) training rows/)[1].replaceAll(',', ''))"
            )
        )
        epochs, ends = last / rows, [1, 2, 5, 10, 20, 40]
        while ends[-1] < epochs:
            ends.append(2 * ends[-1])
        return epochs / next(end for end in ends if end >= epochs)


def memory_over(
    page: Page, minutes: float, browser_pid: int, server: int
) -> list[tuple[float, float, float]]:
    """Minute, browser MB and server MB at the start, each minute and at the end, while the run learns."""
    began = time.monotonic()
    marks: list[tuple[float, float, float]] = []
    while True:
        minute = (time.monotonic() - began) / 60
        if minute >= min(len(marks), minutes):
            marks.append((minute, megabytes(offspring(browser_pid)), megabytes([server])))
        if minute >= minutes:
            return marks
        page.keep_learning()
        page.tab.wait_for_timeout(500)


def print_memory(marks: list[tuple[float, float, float]]) -> None:
    """A line each for browser and server."""
    minutes = [mark[0] for mark in marks]
    for place, name in ((1, "browser"), (2, "server")):
        values = [mark[place] for mark in marks]
        slope = statistics.linear_regression(minutes, values).slope
        shown = "  ".join(f"{value:.0f}" for value in values)
        print(f"  {name} MB, each minute{' ' * (9 - len(name))}{shown}  ({slope:+.1f} MB a minute)")


def measure(
    browser: Any, address: str, server: int, browser_pid: int, case: tuple[str, int], minutes: float
) -> None:
    """Print one case's numbers."""
    sample, clauses = case
    tab = browser.new_page(viewport={"width": 1280, "height": 1000})
    page = Page(tab)
    page.open(address, sample, clauses)
    tab.evaluate(COUNT_FRAMES)
    print(f"\n{sample}, {clauses} clauses at 1×")
    painted, frames, made = page.rates(12)
    print(f"  snapshots painted a second  {painted:.1f}")
    print(f"  frames a second             {frames:.0f}")
    print(f"  snapshots made in 12 s      {made}")
    shown, confirmed = page.clicks(20)
    print(f"  click to effect, median     {shown:.3f} s shown, {confirmed:.3f} s confirmed by the server")
    print(f"  jump to a row, median       {page.jumps(20):.3f} s")
    print_memory(memory_over(page, minutes, browser_pid, server))
    painted, frames, _ = page.rates(8)
    print(f"  at the end                  {painted:.1f} snapshots, {frames:.0f} frames a second")
    tab.close()


def main() -> int:
    """Run both cases."""
    options = argparse.ArgumentParser(description="Measure the live view in headless Chromium.")
    options.add_argument(
        "--minutes", type=float, default=1.0, help="how long each case trains for the memory (default 1)"
    )
    chosen = options.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("Chromium is not installed.", file=sys.stderr)
        return 1
    from playwright.sync_api import sync_playwright

    machine = platform.processor() or platform.machine()
    print(f"{machine}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    with (
        tempfile.TemporaryDirectory() as folder,
        dashboard(Path(folder)) as (address, server),
        sync_playwright() as driver,
    ):
        before = set(offspring(os.getpid()))
        browser = driver.chromium.launch(executable_path=chromium, args=flags)
        started = [pid for pid in offspring(os.getpid()) if pid not in before]
        for case in CASES:
            measure(browser, address, server, started[0], case, chosen.minutes)
        browser.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
