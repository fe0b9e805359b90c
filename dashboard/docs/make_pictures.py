"""Take the pictures of the README and the docs: start the dashboard, train on Heart, and photograph every page.

Needs the test extra and Chromium: ``python dashboard/docs/make_pictures.py [--chromium PATH]``.
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent / "pictures"
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
]
SHOTS: tuple[tuple[Literal["light", "dark"], int], ...] = (("light", 1280), ("dark", 1280), ("light", 700))


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str, seconds: float = 60) -> None:
    """Return once the server answers."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(url, timeout=2)
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
    raise SystemExit(f"No server answered at {url} within {seconds:.0f} s.")


def photograph(page: Page, name: str) -> None:
    """One full-page picture, once nothing moves any more."""
    page.wait_for_timeout(1500)
    height = page.evaluate(
        "() => { const m = document.querySelector('[data-testid=stMain]');"
        " return Math.min(2600, Math.max(900, m ? m.scrollHeight : 900)) }"
    )
    size = page.viewport_size or {"width": 1280, "height": 900}
    page.set_viewport_size({"width": size["width"], "height": int(height)})
    page.wait_for_timeout(1500)
    page.screenshot(path=HERE / f"{name}.png")
    page.set_viewport_size({"width": size["width"], "height": 900})


def visit(page: Page, title: str) -> None:
    """Open a page by its place in the navigation, which is folded away where the window is narrow."""
    page.locator(f"a[href$='/{title.lower()}']").first.evaluate("link => link.click()")
    page.wait_for_timeout(2500)


def stage(page: Page, suffix: str) -> None:
    """Views of the Train page beside its usual one: by feature, in the past, and why a bound moved."""
    page.keyboard.press("v")
    page.wait_for_timeout(1500)
    photograph(page, f"by_feature_{suffix}")
    page.keyboard.press("v")
    for _ in range(12):
        page.keyboard.press("ArrowLeft")
    page.wait_for_timeout(1500)
    photograph(page, f"rewound_{suffix}")
    page.keyboard.press("End")
    page.wait_for_timeout(1000)
    page.keyboard.press("y")
    page.wait_for_timeout(2500)
    photograph(page, f"why_{suffix}")
    page.keyboard.press("y")
    page.wait_for_timeout(1000)


def session(page: Page, url: str, suffix: str) -> None:
    """Data, Train, Rules, Explain, Compare, in one go."""
    page.goto(url)
    page.get_by_role("button", name="Open Heart").first.click(timeout=60_000)
    page.get_by_role("button", name="Train on this").first.wait_for(timeout=60_000)
    photograph(page, f"data_{suffix}")
    page.get_by_role("button", name="Train on this").first.click()
    live = page.locator(".live")
    live.first.wait_for(timeout=60_000)
    page.wait_for_timeout(2000)
    page.get_by_role("button", name="Play").first.click()
    page.wait_for_timeout(6000)
    page.get_by_role("button", name="Pause").first.click()
    photograph(page, f"train_{suffix}")
    stage(page, suffix)
    page.get_by_role("button", name="One epoch").first.click()
    page.wait_for_timeout(1500)
    page.get_by_role("button", name="Settle").first.click()
    page.wait_for_timeout(6000)
    for title in ("Rules", "Explain", "Compare"):
        visit(page, title)
        photograph(page, f"{title.lower()}_{suffix}")


def main() -> None:
    """Start a server that keeps nothing, and take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    HERE.mkdir(exist_ok=True)
    port = free_port()
    command = [sys.executable, "-m", "dashboard.cli", "--port", str(port), "--no-browser", "--no-store"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}/"
        wait_for(url)
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=options.chromium, args=ARGUMENTS)
            for scheme, width in SHOTS:
                context = browser.new_context(
                    viewport={"width": width, "height": 900}, color_scheme=scheme, device_scale_factor=1
                )
                session(context.new_page(), url, f"{scheme}_{width}")
                context.close()
            browser.close()
    finally:
        server.terminate()


if __name__ == "__main__":
    main()
