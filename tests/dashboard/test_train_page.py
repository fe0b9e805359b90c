"""The Train page in Chromium: flags of changes, many classes, and a server that does not answer."""

from __future__ import annotations

import itertools
import re
import signal
from collections.abc import Callable
from typing import Any

import pytest

from dashboard import style

pytestmark = pytest.mark.browser

KINDS = [
    "chronic obstructive pulmonary disease", "acute bronchitis", "community-acquired pneumonia",
    "asthma with exacerbation", "interstitial lung disease, unspecified", "healthy control without any symptoms",
    "pulmonary embolism", "lung cancer", "tuberculosis", "sarcoidosis",
]  # fmt: skip


@pytest.fixture(scope="module")
def server(make_server: Callable[..., Any]) -> Any:
    return make_server(8, "--no-store")


def kinds_csv(n_classes: int) -> bytes:
    lines = [
        f'{i % 17},{(7 * i) % 23},{(i * i) % 11},"{KINDS[i % n_classes]}"' for i in range(40 * n_classes)
    ]
    return "\n".join(["oxygen saturation (%),age (years),visits,diagnosis", *lines]).encode()


@pytest.fixture
def kinds_run(new_tab: Callable[..., Any], server: Any) -> Callable[[int], Any]:
    """Opens the Train page of a table of so many classes, with one epoch learned."""

    def arrive(n_classes: int) -> Any:
        tab = new_tab(server.address)
        file = {"name": "kinds.csv", "mimeType": "text/csv", "buffer": kinds_csv(n_classes)}
        tab.page.locator("input[type=file]").set_input_files(file, timeout=60_000)
        tab.page.get_by_role("button", name="Train on this").click(timeout=60_000)
        tab.is_ready()
        tab.page.keyboard.press("e")
        tab.shows("root.dataset.confirmed == 'paused'")
        return tab

    return arrive


def scrolls(page: Any) -> bool:
    """Whether anything on the page can be scrolled sideways."""
    return bool(
        page.evaluate(
            "[document.documentElement, document.querySelector('[data-testid=stMain]')]"
            ".some(node => node.scrollWidth > node.clientWidth)"
        )
    )


@pytest.mark.parametrize("n_classes", [6, 10])
def test_many_classes_fit_and_are_told_apart(kinds_run: Callable[[int], Any], n_classes: int) -> None:
    tab = kinds_run(n_classes)
    page = tab.page
    tab.ask("root.querySelector('.standing').scrollIntoView()")
    tab.shows(f"root.querySelectorAll('.standing tbody tr').length == {n_classes}")
    for width in (1280, 700):
        page.set_viewport_size({"width": width, "height": 1000})
        page.wait_for_timeout(600)
        assert not scrolls(page)
        inside = "[...root.querySelectorAll('.standing th, .standing td')].every(c => c.offsetWidth >= 24)"
        assert tab.ask(inside)
    heads = tab.ask("[...root.querySelectorAll('.standing tbody th')].map(th => th.textContent)")
    marks, names = zip(*(head.split(" ", 1) for head in heads), strict=True)
    assert len(set(marks)) == n_classes
    assert list(names) == sorted(KINDS[:n_classes])
    assert tab.ask("root.querySelectorAll('.classes span').length") == n_classes
    # A cell is said in full, by keyboard too.
    first = page.locator(".standing td[data-r='0'][data-k='0']")
    first.focus()
    page.keyboard.press("ArrowRight")
    tab.shows("[...root.querySelectorAll('.standing .cap')].at(-1).textContent.includes('are taken for ▲ ')")
    words = tab.ask("[...root.querySelectorAll('.standing .cap')].at(-1).textContent")
    right = first.locator("xpath=following-sibling::td[1]")
    n = right.locator("b").text_content()
    one, other = re.escape(names[0]), re.escape(names[1])
    counted = rf"{n} of \d+ test rows \(\d+ of \d+ training rows\)"
    assert re.fullmatch(rf"Of ● {one}, {counted} are taken for ▲ {other}\.", words)


def test_flags_of_many_changes_never_overlap_and_lead_to_each(new_run: Any, server: Any) -> None:
    tab = new_run(server.address)
    page = tab.page
    slider = page.get_by_role("slider", name="Specificity s")
    for change in range(12):
        page.evaluate("document.activeElement.blur()")
        before = tab.step
        page.keyboard.press("n" if change % 3 else "e")
        tab.shows(f"root.dataset.confirmed == 'paused' && Number(root.dataset.step) > {before}")
        slider.focus()
        page.keyboard.press("ArrowRight")
        tab.shows(f"root.dataset.changes == '{change + 1}'")
    page.wait_for_timeout(1000)  # the time axis has grown by then
    flags = "[...root.querySelectorAll('.flag:not([hidden])')]"
    boxes = tab.ask(f"{flags}.map(f => f.getBoundingClientRect()).map(b => [b.left, b.right])")
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(boxes))
    held = tab.ask(f"{flags}.map(f => f.textContent)")
    counts = [int(m[1]) if (m := re.fullmatch(r"(\d+) changes", words)) else 1 for words in held]
    assert sum(counts) == 12
    assert max(counts) > 1
    # By keyboard: into the list of the last flag, and to the moment of its first change.
    many = counts.index(max(counts))
    page.locator(".flag").nth(many).focus()
    tab.shows(f"root.querySelectorAll('.flaglist li').length == {max(counts)}")
    page.keyboard.press("ArrowDown")
    entry = tab.ask("root.getRootNode().activeElement.textContent")
    found = re.fullmatch(r"s ([\d.]+) → ([\d.]+)epoch [\d.]+, after row ([\d,]+)", entry)
    assert found is not None
    assert float(found[2]) - float(found[1]) == pytest.approx(0.1)
    page.keyboard.press("Enter")
    tab.shows(f"root.dataset.step == '{found[3].replace(',', '')}'")
    page.keyboard.press("Escape")
    assert tab.ask("root.querySelector('.flaglist').hidden")
    assert tab.ask("root.getRootNode().activeElement.classList.contains('flag')")


def test_a_server_that_does_not_answer_is_said_to_and_forgotten(new_run: Any, server: Any) -> None:
    tab = new_run(server.address)
    tab.play()
    server.process.send_signal(signal.SIGSTOP)
    try:
        tab.shows("root.querySelector('.state').textContent.startsWith('No answer from the server')", 60)
        assert int(tab.ask("root.dataset.silent")) >= 3
        said = tab.ask("root.querySelector('.notice').textContent")
        assert "for 8 s, then pauses it" in said or "has paused the run by now" in said
        tab.shows("root.querySelector('.notice').textContent.includes('has paused the run by now')", 60)
    finally:
        server.process.send_signal(signal.SIGCONT)
    # It paused itself, or what the page had asked came first and it learns on; the page shows which.
    tab.shows(
        "root.dataset.silent == '' && ['Learning', 'Paused'].includes(root.querySelector('.state').textContent)",
        90,
    )
    if tab.ask("root.dataset.confirmed") == "paused":
        tab.shows("root.querySelector('.notice').textContent.startsWith('Paused itself')")


@pytest.mark.parametrize(
    ("names", "starts"),
    [
        (["asymptomatic", "atypical", "non-anginal", "typical"], ["As", "At", "N", "T"]),
        (["Good", "Middle", "Morning", "so"], ["G", "Mi", "Mo", "S"]),
        (["No", "None", "no data"], ["No", "Non", "No d"]),
    ],
)
def test_values_above_a_column_begin_differently(browser: Any, names: list[str], starts: list[str]) -> None:
    page = browser.new_page()
    script = style.text_of("live/matrix.js")
    assert page.evaluate(f"(names) => {{ {script}; return nameStarts(names); }}", names) == starts
    page.close()
