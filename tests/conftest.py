"""Shared fixtures: a browser, and the dashboard served as a visitor would start it."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest


def chromium_path() -> str | None:
    """Where Chromium is, if it is."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip browser tests where Chromium is missing, except where CI is set: there they run and fail."""
    if chromium_path() is None and not os.environ.get("CI"):
        skip = pytest.mark.skip(reason="Chromium is not installed")
        for item in items:
            if "browser" in item.keywords:
                item.add_marker(skip)


def free_port() -> int:
    """A port of this machine that nothing listens on."""
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def serve(command: list[str], folder: Path) -> Iterator[str]:
    """Run a ``tsetlin-dashboard`` command in a home of its own until the block ends; the address of the page."""
    port = free_port()
    environment = {**os.environ, "HOME": str(folder), "PYTHONUNBUFFERED": "1"}
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(
            [*command, "--port", str(port), "--no-browser"],
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=log,
        )
        try:
            address = f"http://127.0.0.1:{port}"
            end = time.monotonic() + 60
            while True:
                with (
                    contextlib.suppress(OSError),
                    urllib.request.urlopen(f"{address}/_stcore/health", timeout=2),
                ):
                    break
                assert server.poll() is None, (folder / "server.log").read_text()
                assert time.monotonic() < end, "the server did not answer within a minute"
                time.sleep(0.2)
            yield address
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


@pytest.fixture(scope="session")
def serve_dashboard() -> Callable[[list[str], Path], AbstractContextManager[str]]:
    """:func:`serve`, for tests that start a dashboard of their own."""
    return serve


@pytest.fixture(scope="session")
def dashboard_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of one running dashboard."""
    with serve([sys.executable, "-m", "dashboard.cli"], tmp_path_factory.mktemp("home")) as address:
        yield address


@pytest.fixture(scope="session")
def launch() -> Iterator[Callable[..., object]]:
    """Starts a headless Chromium, driven by Playwright, with further flags."""
    from playwright.sync_api import sync_playwright

    path = chromium_path()
    assert path is not None, "Chromium is not installed, and CI is set: install the package chromium."
    usual = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    with sync_playwright() as playwright:
        yield lambda *flags: playwright.chromium.launch(executable_path=path, args=[*usual, *flags])


@pytest.fixture(scope="session")
def browser(launch: Callable[..., Any]) -> Iterator[object]:
    """Headless Chromium."""
    running = launch()
    yield running
    running.close()
