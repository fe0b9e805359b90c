"""The Compare page's still pictures. Names from the data are escaped: plotly reads text as a little HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard import style
from tmcore.contenders import Measured
from tmcore.judge import MEASURES
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
    )


def _interval(
    figure: go.Figure, place: float, low: float, high: float, colour: str, width: float = 6
) -> None:
    if np.isfinite([low, high]).all():
        line = {"color": style.token(colour), "width": width}
        figure.add_scatter(x=[low, high], y=[place, place], mode="lines", line=line, hoverinfo="skip")


def judged(
    intervals: pd.DataFrame, trials: pd.DataFrame | None, own: dict[str, float], names: Sequence[str]
) -> go.Figure:
    """Each measure on a line: the mean and its interval; below them every split, and the run's own rows hollow.

    ``names`` are those of the measures as shown.
    """
    figure = go.Figure()
    ink = style.token("ink")
    for place, name in enumerate(MEASURES):
        row = intervals.loc[name].to_dict()
        _interval(figure, place, row["low"], row["high"], "accent", 5)
        if trials is not None:
            values, below = trials[name].dropna(), place + 0.3
            marker = {"color": style.token("axis"), "size": 6, "opacity": 0.75}
            figure.add_scatter(
                x=values, y=[below] * len(values), mode="markers", marker=marker, hoverinfo="skip"
            )
            marker = {"color": style.token("bg"), "size": 9, "line": {"width": 1.5, "color": ink}}
            figure.add_scatter(x=[own[name]], y=[below], mode="markers", marker=marker, hoverinfo="skip")
        tick = {"symbol": "line-ns", "size": 13, "line": {"width": 2.5, "color": ink}}
        figure.add_scatter(x=[row["mean"]], y=[place], mode="markers", marker=tick, hoverinfo="skip")
        if np.isfinite(row["mean"]):
            end = row["high"] if np.isfinite(row["high"]) else row["mean"]
            figure.add_annotation(
                x=end, y=place, text=f" <b>{row['mean']:.2f}</b>", showarrow=False, xanchor="left", xshift=4,
                font={"color": ink, "size": 13},
            )  # fmt: skip
    _rows_layout(figure, names, 250)
    ends = intervals[["low", "high", "lowest", "highest"]].to_numpy()
    ends = ends[np.isfinite(ends)]
    figure.update_xaxes(range=[max(0.0, ends.min() - 0.02), ends.max() + 0.05], tickformat=".2f", nticks=7)
    return figure


def models(measured: Sequence[Measured], measure: str) -> go.Figure:
    """One score of each model with its interval: machines filled, the others hollow."""
    figure = go.Figure()
    for place, one in enumerate(measured):
        value, (low, high) = one.scores[measure], one.intervals[measure]
        _interval(
            figure, place, low, high, "accent" if one.is_machine else "axis", 4 if one.is_machine else 2
        )
        fill = style.token("accent") if one.is_machine else style.token("bg")
        marker = {
            "color": fill,
            "size": 10,
            "line": {"width": 2, "color": style.token("accent" if one.is_machine else "ink2")},
        }
        figure.add_scatter(x=[value], y=[place], mode="markers", marker=marker, hoverinfo="skip")
        if np.isfinite(value):
            figure.add_annotation(
                x=value, y=place, yshift=12, text=f"{value:.2f}", showarrow=False, font={"size": 11.5}
            )
    _rows_layout(figure, [one.name for one in measured], 34 * len(measured) + 34)
    ends = [
        end for one in measured for end in (*one.intervals[measure], one.scores[measure]) if np.isfinite(end)
    ]
    figure.update_xaxes(range=[max(0.0, min(ends) - 0.03), min(1.02, max(ends) + 0.03)], nticks=6)
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
        ticktext=[f"is {style.mark(k)} {escape(style.short(name))}  " for k, name in enumerate(names)],
        showgrid=False,
        automargin=True,
    )
    return figure
