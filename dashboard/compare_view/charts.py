"""The Compare page's still pictures. Names from the data are escaped: plotly reads text as a little HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dashboard import style
from tmcore.contenders import Measured
from tmcore.thresholds import Confusion, CostCurve

CONFIG = {"displayModeBar": False, "staticPlot": True}


def _rows_layout(figure: go.Figure, names: Sequence[str], height: int) -> None:
    figure.update_layout(style.chart_layout(height))
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=[f"{escape(name)}  " for name in names],
        range=[len(names) - 0.5, -0.5],
        automargin=True,
        showgrid=False,
        tickfont={"color": style.token("ink"), "size": 13},
    )


def _interval(
    figure: go.Figure, place: float, low: float, high: float, colour: str, width: float = 6
) -> None:
    if np.isfinite([low, high]).all():
        line = {"color": style.token(colour), "width": width}
        figure.add_scatter(x=[low, high], y=[place, place], mode="lines", line=line, hoverinfo="skip")


@dataclass(frozen=True)
class JudgedRow:
    """One measure in the picture: its score with its interval, the splits behind it, and the run's own test rows.

    ``text`` is the score in words, or why there is none; ``own`` is NaN where it is the score itself.
    """

    name: str
    score: float
    low: float
    high: float
    text: str
    splits: tuple[float, ...] = ()
    own: float = np.nan


def judged(rows: Sequence[JudgedRow], longest: int) -> go.Figure:
    """Each measure on a line: the mean and its interval; below them every split, and the run's own rows hollow.

    ``longest`` is the length of the longest name in all pictures that stand above each other.
    """
    figure, ink = go.Figure(), style.token("ink")
    for place, row in enumerate(rows):
        _interval(figure, place, row.low, row.high, "accent", 5)
        below = place + 0.3
        marker = {"color": style.token("axis"), "size": 6, "opacity": 0.75}
        _dots(figure, row.splits, below, marker)
        _dots(
            figure,
            [row.own],
            below,
            {"color": style.token("bg"), "size": 9, "line": {"width": 1.5, "color": ink}},
        )
        _dots(
            figure,
            [row.score],
            place,
            {"symbol": "line-ns", "size": 13, "line": {"width": 2.5, "color": ink}},
        )
        known = np.isfinite(row.score)
        figure.add_annotation(
            x=(row.high if np.isfinite(row.high) else row.score) if known else 0, y=place, text=f" {escape(row.text)}",
            xref="x" if known else "paper", showarrow=False, xanchor="left", xshift=4,
            font={"color": ink, "size": 13, "weight": 600} if known else {"size": 12.5},
        )  # fmt: skip
    _rows_layout(figure, [row.name for row in rows], 54 * len(rows) + 34)
    figure.update_layout(margin_l=round(5.5 * longest) + 12)
    ends = np.array([end for row in rows for end in (row.low, row.high, row.score, row.own, *row.splits)])
    ends = ends[np.isfinite(ends)] if np.isfinite(ends).any() else np.array([0.0, 1.0])
    room = (ends.max() - ends.min()) or abs(ends.max()) or 1.0
    figure.update_xaxes(range=[ends.min() - 0.04 * room, ends.max() + 0.16 * room], nticks=7)
    return figure


def _dots(figure: go.Figure, values: Sequence[float], place: float, marker: dict[str, Any]) -> None:
    figure.add_scatter(x=[*values], y=[place] * len(values), mode="markers", marker=marker, hoverinfo="skip")


def models(measured: Sequence[Measured], measure: str, value: Callable[[float], str]) -> go.Figure:
    """One score of each model with its interval: machines filled, the others hollow; ``value`` writes a score."""
    figure = go.Figure()
    for place, one in enumerate(measured):
        score, (low, high) = one.scores[measure], one.intervals[measure]
        colour, width = ("accent", 4) if one.is_machine else ("axis", 2)
        _interval(figure, place, low, high, colour, width)
        line = {"width": 2, "color": style.token("accent" if one.is_machine else "ink2")}
        fill = style.token("accent" if one.is_machine else "bg")
        _dots(figure, [score], place, {"color": fill, "size": 10, "line": line})
        if np.isfinite(score):
            figure.add_annotation(
                x=score, y=place, yshift=12, text=escape(value(score)), showarrow=False, font={"size": 11.5}
            )
    _rows_layout(figure, [one.name for one in measured], 34 * len(measured) + 34)
    ends = [
        end for one in measured for end in (*one.intervals[measure], one.scores[measure]) if np.isfinite(end)
    ] or [0.0, 1.0]
    room = 0.06 * ((max(ends) - min(ends)) or abs(max(ends)) or 1.0)
    figure.update_xaxes(range=[min(ends) - room, max(ends) + room], nticks=6)
    return figure


def costs(curve: CostCurve, chosen: float, per: int) -> go.Figure:
    """Cost per so many rows at every threshold, cross-validated; the cheapest, what is as good, and the one in use."""
    figure = go.Figure()
    figure.add_vrect(*curve.near, fillcolor=style.token("accent-soft"), line_width=0, layer="below")
    edges = np.append(curve.thresholds, 1.0)
    line = {"color": style.token("accent"), "width": 2, "shape": "hv"}
    figure.add_scatter(
        x=edges, y=per * np.append(curve.costs, curve.costs[-1]), mode="lines", line=line, hoverinfo="skip"
    )
    figure.add_vline(chosen, line={"color": style.token("ink"), "width": 2})
    marker = {"color": style.token("accent"), "size": 10}
    figure.add_scatter(
        x=[curve.best_threshold],
        y=[per * curve.costs[curve.best]],
        mode="markers",
        marker=marker,
        hoverinfo="skip",
    )
    layout = style.chart_layout(210)
    layout["margin"] = {"l": 0, "r": 8, "t": 24, "b": 4}
    figure.update_layout(layout)
    right = chosen > 0.8
    figure.add_annotation(
        x=chosen, y=1, yref="paper", yanchor="bottom", xanchor="right" if right else "left", showarrow=False,
        text=f"<b>in use {chosen:.2f}</b>", font={"color": style.token("ink"), "size": 12.5},
    )  # fmt: skip
    figure.update_xaxes(range=[0, 1], dtick=0.2, tickformat=".1f", title=None)
    figure.update_yaxes(rangemode="tozero", nticks=5)
    return figure


def confusions(shown: Sequence[tuple[str, Confusion]], names: Iterable[object]) -> go.Figure:
    """Four squares a group of rows, their areas the shares of rows: filled where right, hollow where wrong."""
    figure = go.Figure()
    for block, (title, found) in enumerate(shown):
        cells = ((found.negatives, found.false_alarms), (found.misses, found.hits))
        left = 3.1 * block
        figure.add_annotation(
            x=left + 0.5, y=-1.16, text=f"<b>{escape(title)}</b>", showarrow=False,
            font={"color": style.token("ink"), "size": 13},
        )  # fmt: skip
        for true in (0, 1):
            for said in (0, 1):
                number, right = cells[true][said], true == said
                size = 78 * (number / max(found.n_rows, 1)) ** 0.5
                colour = style.token(style.hue(true))
                marker = {
                    "symbol": "square",
                    "size": max(size, 1),
                    "color": colour if right else "rgba(0,0,0,0)",
                    "opacity": 0.75 if right else 1,
                    "line": {"width": 0 if right else 2, "color": colour},
                }
                figure.add_scatter(x=[left + said], y=[true], mode="markers", marker=marker, hoverinfo="skip")
                figure.add_annotation(
                    x=left + said, y=true, yshift=-size / 2 - 11, text=f"<b>{number:,}</b>", showarrow=False,
                    font={"color": style.token("ink"), "size": 13},
                )  # fmt: skip
        for said in (0, 1):
            figure.add_annotation(
                x=left + said, y=-0.72, text=f"said {style.mark(said)}", showarrow=False, font={"size": 12}
            )
    figure.update_layout(style.chart_layout(300))
    figure.update_xaxes(visible=False, range=[-0.9, 3.1 * (len(shown) - 1) + 1.9])
    figure.update_yaxes(
        range=[1.75, -1.35],
        tickvals=[0, 1],
        ticktext=[
            f"is {style.mark(k)} {escape(style.short(name, style.LONGEST_BESIDE))}  "
            for k, name in enumerate(names)
        ],
        showgrid=False,
        automargin=True,
    )
    return figure
