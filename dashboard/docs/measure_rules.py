"""Measure the Rules page in headless Chromium: ``python dashboard/docs/measure_rules.py --rules 2000 --columns 200``.

Starts a page of its own with as many rules, from a machine trained for one epoch on 1,000 made-up rows, and prints the
median seconds from an action until the page shows its effect: another order, one class, one feature, a rule switched
off (the page's sentence), the rows of a rule, a point of the dial. Needs Playwright and Chromium.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

PAGE = """import streamlit as st
from dashboard import session, style
from dashboard.docs.measure_rules import made_up
st.set_page_config(layout="wide")
style.inject()
if session.KEY not in st.session_state:
    st.session_state[session.KEY] = made_up({rules}, {columns})
st.navigation([st.Page({view!r})], position="hidden").run()
"""
N_ROWS = 1000


def made_up(n_rules: int, n_columns: int) -> Any:
    """A session with a run whose rules are that many, with a dial of four points."""
    from dashboard.dialling import Dialling
    from dashboard.jobs import Job
    from dashboard.session import Session
    from tmcore.dial import Point
    from tmcore.parameters import Parameters

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(N_ROWS, n_columns)), columns=[f"column {k}" for k in range(n_columns)])
    y = pd.Series(np.where(X.iloc[:, :9].sum(axis=1) + rng.normal(size=N_ROWS) > 0, "yes", "no"))
    parameters = Parameters(n_clauses=n_rules + n_rules // 10 * 2, epochs=1, weights="none")
    job = Job(X[:800], y[:800], X[800:], y[800:], parameters, "made up")
    job.set_speed("max")
    while job.state != "finished":  # its lease may lapse before it has learned, and it pauses
        job.play()
        job.wait_until_idle(600)
        time.sleep(0.1)
    job.settle()
    job.wait_until_idle(600)
    assert job.outcome is not None
    model = job.outcome.estimator
    settled = model.settled_
    assert settled is not None
    use = slice(0, n_rules)
    settled = replace(
        settled, clauses=settled.clauses[use], machines=settled.machines[use], weights=settled.weights[use],
        refitted=True,
    )  # fmt: skip
    model.settled_, model.rules_ = settled, replace(model.rules_, rules=model.rules_.rules[use])
    n_points = [n for n in (10, 50, 500, n_rules) if n <= len(settled.clauses)]
    model._path = tuple(
        Point(1.0, settled.clauses[:n], settled.weights[:n], settled.intercept, n, 3 * n) for n in n_points
    )
    dial = Dialling(job.outcome, job)
    dial.retrain = lambda: None  # type: ignore[method-assign]
    return Session(job=job, trained_name="made up", dial=dial)


class Page:
    """The Rules page in one tab."""

    def __init__(self, tab: Any) -> None:
        self.tab = tab

    def settle(self) -> None:
        """Wait until nothing runs on the server and what it sent is drawn."""
        self.tab.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]", timeout=120_000)

    def first(self) -> str:
        """The text of the list's beginning."""
        return "\n".join(self.tab.locator(".list .row[data-number]").all_inner_texts()[:8])

    def sentence(self) -> str:
        """The page's sentence."""
        return str(self.tab.locator("h1").first.inner_text())

    def until(self, changed: Any, seconds: float = 60) -> float:
        """Seconds until a condition holds."""
        began = time.perf_counter()
        while not changed():
            if time.perf_counter() - began > seconds:
                raise TimeoutError("the page did not change")
            time.sleep(0.005)
        return time.perf_counter() - began

    def choose(self, label: str, text: str) -> float:
        """Choose in one of the list's fields; seconds until the list is another."""
        before = self.first()
        began = time.perf_counter()
        self.tab.get_by_label(label, exact=True).select_option(text)
        self.until(lambda: self.first() != before)
        return time.perf_counter() - began

    def press(self, name: str) -> float:
        """Press a part of the class control; seconds until the list is another."""
        before = self.first()
        began = time.perf_counter()
        self.tab.locator(".list .segments button", has_text=name).first.click()
        self.until(lambda: self.first() != before)
        return time.perf_counter() - began

    def flip(self, place: int) -> float:
        """Switch a rule; seconds until the page's sentence is another."""
        before = self.sentence()
        began = time.perf_counter()
        self.tab.locator(".list [data-part=switch]").nth(place).click()
        self.until(lambda: self.sentence() != before)
        return time.perf_counter() - began

    def rows(self, place: int) -> float:
        """Ask for the rows of a rule; seconds until they are there."""
        number = self.tab.locator(".list .row[data-number]").nth(place).get_attribute("data-number")
        began = time.perf_counter()
        self.tab.locator(".list [data-part=rows]").nth(place).click()
        title = self.tab.get_by_role("heading", name=f"Rule {number} covers")
        self.until(lambda: title.count() and self.tab.locator(".covered .inner .line").count())
        return time.perf_counter() - began

    def turn(self, key: str) -> float:
        """Move the dial by a key; seconds until the page's sentence is another (0.35 s of it wait for more keys)."""
        before = self.sentence()
        self.tab.get_by_role("slider", name="Number of rules").focus()
        began = time.perf_counter()
        self.tab.keyboard.press(key)
        self.until(lambda: self.sentence() != before)
        return time.perf_counter() - began - 0.35


def measure(page: Page, times: int) -> None:
    """Print the medians."""
    taken: dict[str, list[float]] = {
        name: [] for name in ("sort", "class", "feature", "switch", "rows", "dial")
    }

    def take(name: str, seconds: float) -> None:
        taken[name].append(seconds)
        page.settle()
        page.tab.wait_for_timeout(300)

    for turn in range(times):
        take("sort", page.choose("Sort", "Fewest literals first"))
        take("sort", page.choose("Sort", "Heaviest first"))
        take("class", page.press("no"))
        take("class", page.press("All"))
        take("feature", page.choose("Feature", "column 0"))
        take("feature", page.choose("Feature", "Any feature"))
        take("switch", page.flip(0))
        take("switch", page.flip(0))
        take("rows", page.rows(2 * turn % 8))
        take("rows", page.rows(2 * turn % 8 + 1))
        take("dial", page.turn("ArrowLeft"))
        take("dial", page.turn("ArrowRight"))
    for name, seconds in taken.items():
        print(
            f"  {name:<8} median {statistics.median(seconds):.2f} s, most {max(seconds):.2f} s of {len(seconds)}"
        )


def look(address: str, chromium: str, chosen: argparse.Namespace) -> None:
    """Open the page in Chromium and print what is measured."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page(viewport={"width": 1280, "height": 1000})
        tab.goto(address)
        page = Page(tab)
        tab.get_by_role("slider", name="Number of rules").wait_for(timeout=300_000)
        page.settle()
        machine = platform.processor() or platform.machine()
        print(f"{machine}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        print(f"{tab.locator('h1').first.inner_text()}; {chosen.columns} columns")
        measure(page, chosen.times)
        browser.close()


def main() -> int:
    """Start the page, measure, stop it."""
    options = argparse.ArgumentParser(description="Measure the Rules page in headless Chromium.")
    options.add_argument("--rules", type=int, default=2000)
    options.add_argument("--columns", type=int, default=200)
    options.add_argument(
        "--times", type=int, default=5, help="repetitions of every pair of actions (default 5)"
    )
    chosen = options.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("Chromium is not installed.", file=sys.stderr)
        return 1
    view = Path(__file__).parents[1] / "views" / "rules.py"
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        script = Path(folder) / "page.py"
        script.write_text(PAGE.format(rules=chosen.rules, columns=chosen.columns, view=str(view)))
        words = ["-m", "streamlit", "run", str(script), f"--server.port={port}", "--server.headless=true"]
        server = subprocess.Popen(
            [
                sys.executable,
                *words,
                "--server.address=127.0.0.1",
                "--browser.gatherUsageStats=false",
                "--runner.postScriptGC=false",
            ],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(view.parents[2]), *sys.path])},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_for(f"http://127.0.0.1:{port}/_stcore/health")
            look(f"http://127.0.0.1:{port}", chromium, chosen)
        finally:
            server.terminate()
            server.wait(20)
    return 0


def wait_for(address: str) -> None:
    """Wait until a server answers."""
    for _ in range(300):
        try:
            urllib.request.urlopen(address, timeout=2).close()
            return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(f"{address} does not answer.")


if __name__ == "__main__":
    raise SystemExit(main())
