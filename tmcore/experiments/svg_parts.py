"""The few SVG elements that the pictures of experiments and benchmarks are made of."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

INK, INK3, LINE, AXIS = "#1A2130", "#656E7C", "#DDE1E7", "#8A93A1"
"""Text, secondary text, grid lines, and lines to compare with."""

Points = list[tuple[float, float]]


def figure(width: float, height: float, description: str, parts: list[str]) -> str:
    """Put the parts on a white page; `description` is read aloud instead of the picture."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" font-family="Source Sans 3, Helvetica Neue, Arial, sans-serif" font-size="12" '
            f'role="img" aria-label={quoteattr(description)}>',
            f'<rect width="{width}" height="{height}" fill="#FFFFFF"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


def text(
    x: float, y: float, words: str, colour: str, size: float = 12, anchor: str = "start", weight: int = 400
) -> str:
    """Text at its base line."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" font-size="{size}" text-anchor="{anchor}" '
        f'font-weight="{weight}">{escape(words)}</text>'
    )


def line(points: Points, colour: str, dashes: str = "", width: float = 1.8) -> str:
    """A line through points."""
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return f'<path d="M{path}" stroke="{colour}" stroke-width="{width}" stroke-dasharray="{dashes}" fill="none"/>'


def circle(x: float, y: float, colour: str, fill: str) -> str:
    """A small round mark."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{fill}" stroke="{colour}"/>'


def square(x: float, y: float, colour: str, fill: str) -> str:
    """A small square mark."""
    return f'<rect x="{x - 2.3:.1f}" y="{y - 2.3:.1f}" width="4.6" height="4.6" fill="{fill}" stroke="{colour}"/>'
