"""Shared look: colour tokens for charts, escaped text, numbers as printed, and the page's small parts."""

from __future__ import annotations

import math
import re
from functools import cache
from importlib.resources import files
from typing import Any

import streamlit as st

from tmcore.conditions import visible
from tmcore.export.glyphs import CLASS_MARKS
from tmcore.export.glyphs import mark as mark  # the shape of a class, for pages and reports alike

NO_BREAK = "\u00a0"
MINUS = "\u2212"
LONGEST_NAME = 80
LONGEST_BESIDE = 28
"""Characters of a name beside a picture or above a column of numbers."""

MOST_DECIMALS = 3

_WORD_JOINER = "\u2060"
# What Streamlit turns into arrows and links even where every sign is escaped: -> <- -- <= >= ~= http:// www. a@b
_JOINED = re.compile(r"-(?=[->])|<(?=[-=])|[>~](?==)|:(?=//)|www(?=\.)|\w(?=@)", re.IGNORECASE)
_MARKDOWN = re.compile(r"([!-/:-@\[-`{-~])")
_TOKEN = re.compile(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)")


@cache
def text_of(name: str) -> str:
    """The text of a file shipped in the package, for example ``"rule_list/rule_list.js"``."""
    return files("dashboard").joinpath(name).read_text(encoding="utf-8")


@cache
def _tokens() -> dict[str, tuple[str, str]]:
    return {name: (light, dark) for name, light, dark in _TOKEN.findall(text_of("tokens.css"))}


def is_dark() -> bool:
    """Whether the visitor sees the dark theme."""
    return st.context.theme.type == "dark"


def token(name: str) -> str:
    """The hex colour of a token of ``tokens.css`` in the visitor's theme.

    Raises
    ------
    KeyError
        If there is no such token.
    """
    return _tokens()[name][is_dark()]


def component_css(name: str) -> str:
    """A component's stylesheet with the shared colour tokens before it."""
    return text_of("tokens.css") + text_of(name)


def short(text: object, most: int = LONGEST_NAME) -> str:
    """A name on one line, of at most so many characters, with what cannot be seen made visible."""
    line = visible(text)
    return line if len(line) <= most else line[: most - 1] + "…"


def plain(text: object) -> str:
    """Text for a Streamlit label or Markdown element that shows exactly these characters, whatever they are.

    Every sign of Markdown is escaped. An invisible word joiner splits what would become an arrow or a link.
    """
    return _MARKDOWN.sub(r"\\\1", _JOINED.sub(rf"\g<0>{_WORD_JOINER}", visible(text)))


def count(number: int, noun: str = "", plural: str | None = None) -> str:
    """A count with its noun: ``count(1204, "row")`` is "1,204 rows"."""
    if not noun:
        return f"{number:,}"
    return f"{number:,}{NO_BREAK}{noun if number == 1 else plural or noun + 's'}"


def size(n_bytes: int) -> str:
    """The size of a file: "8.9 KB", "1.2 MB"."""
    unit, length = ("MB", 2**20) if n_bytes >= 2**20 else ("KB", 2**10)
    return f"{n_bytes / length:,.1f}{NO_BREAK}{unit}"


def percent(share: float) -> str:
    """A share as a whole percentage: "85 %" with a no-break space; with decimals where it would be all or nothing."""
    decimals = 0
    while decimals < MOST_DECIMALS and 0 < share < 1 and round(100 * share, decimals) in (0, 100):
        decimals += 1
    return f"{100 * share:.{decimals}f}{NO_BREAK}%"


def signed(number: float, digits: int = 2) -> str:
    """A number with its sign, with a true minus: "+0.36", "−1.17"."""
    return f"{number:+.{digits}f}".replace("-", MINUS)


def share(number: float) -> str:
    """A share such as R², with two decimals and a true minus."""
    return f"{round(number, 2) + 0.0:.2f}".replace("-", MINUS)


def amount(number: float, unit: str = "") -> str:
    """A size of anything with three digits, and its unit: "1,240 kg", "0.00314", "−12.3"."""
    if number and not 1e-4 <= abs(number) < 1e9:
        text = f"{number:.2e}"
    else:
        decimals = 2 - math.floor(math.log10(abs(number))) if number else 0
        text = f"{round(number, decimals):,.{max(0, decimals)}f}"
    return text.replace("-", MINUS) + (f"{NO_BREAK}{unit}" if unit else "")


def three_digits(largest: float) -> str:
    """The printf format of a column of numbers that gives the largest of them three digits."""
    if not 0 < largest < math.inf:
        return "%.3f"
    return f"%.{max(0, 2 - math.floor(math.log10(largest)))}f"


def figure(number: float) -> str:
    """A number from the data with at most four digits, but every one before the point: "1,234,567", "0.1235"."""
    if number and not 1e-4 <= abs(number) < 1e15:
        return amount(number)
    decimals = 3 - math.floor(math.log10(abs(number))) if number else 0
    text = f"{number:,.{max(0, decimals)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", MINUS)


def hue(index: int) -> str:
    """The colour token of a class; classes beyond the twelfth are neutral."""
    return f"c{index}" if index < len(CLASS_MARKS) else "axis"


def icon() -> str:
    """The interval glyph as SVG, for the browser tab and the folded header."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="30" viewBox="0 0 30 30">'
        f'<path d="M1 15h28" stroke="{token("axis")}"/>'
        f'<path d="M9 15h13" stroke="{token("accent")}" stroke-width="6"/>'
        f'<path d="M9 8v14M22 8v14" stroke="{token("ink")}" stroke-width="2"/></svg>'
    )


def logo() -> str:
    """The interval glyph with the product's name, as SVG in the visitor's theme."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="176" height="24" viewBox="0 0 176 24">'
        f'<path d="M1 12h28" stroke="{token("axis")}"/>'
        f'<path d="M9 12h13" stroke="{token("accent")}" stroke-width="6"/>'
        f'<path d="M9 5v14M22 5v14" stroke="{token("ink")}" stroke-width="2"/>'
        "<text x=\"40\" y=\"17\" font-family=\"'Source Sans 3','Source Sans Pro','Helvetica Neue',Arial,"
        f'\'Liberation Sans\',sans-serif" font-size="15" font-weight="650" fill="{token("ink")}">'
        "Tsetlin dashboard</text></svg>"
    )


def inject() -> None:
    """Add the page's stylesheet; its text is constant."""
    st.html(f"<style>{text_of('tokens.css')}{text_of('style.css')}</style>")


def sentence(headline: str, below: str = "") -> None:
    """The sentence a page opens with, and one line of detail under it. Both are shown as plain text."""
    st.title(plain(headline), anchor=False)
    if below:
        st.caption(plain(below))


def section(title: str, caption: str = "") -> None:
    """A section's title and what it shows. Both are shown as plain text."""
    st.subheader(plain(title), anchor=False)
    if caption:
        st.caption(plain(caption))


def empty(headline: str, picture: str) -> None:
    """A page with nothing to show yet: its own picture and one sentence. Buttons follow it.

    ``picture`` names an SVG file in ``dashboard/pictures``; its ``var(--token)`` colours are filled in.
    """
    drawing = re.sub(r"var\(--([\w-]+)\)", lambda match: token(match[1]), text_of(f"pictures/{picture}.svg"))
    with st.container(horizontal_alignment="center", key="empty"):
        st.image(drawing, width=520)
        st.title(plain(headline), anchor=False, text_alignment="center")


def chart_layout(height: int) -> dict[str, Any]:
    """Plotly layout settings every chart starts from: no frame, hairlines, the tokens' ink."""
    axis = {"gridcolor": token("line"), "zeroline": False, "showline": False, "ticks": ""}
    return {
        "height": height,
        "margin": {"l": 0, "r": 0, "t": 4, "b": 4},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": token("ink2"), "size": 12.5},
        "showlegend": False,
        "xaxis": dict(axis),
        "yaxis": dict(axis),
        "dragmode": False,
    }
