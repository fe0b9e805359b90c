"""Still pictures made with plotly. Names from the data are escaped: plotly reads text as a little HTML."""

from __future__ import annotations

from html import escape

import pandas as pd
import plotly.graph_objects as go

from dashboard import style

MOST_BARS = 8
NEARLY_EVEN = 0.1
SPREAD_BINS = 24


def balance_finding(counts: pd.Series) -> str:
    """The class balance in one sentence, from rows per class."""
    shares = counts / counts.sum()
    names = [style.short(name) for name in counts.index]
    if len(shares) == 1:
        return f"Every row is {names[0]}"
    if float(shares.max() - shares.min()) <= NEARLY_EVEN * float(shares.max()):
        return f"The {len(shares)} classes are nearly even"
    largest = shares.to_numpy().argmax()
    return f"{style.percent(float(shares.iloc[largest]))} of rows are {names[largest]}"


def class_balance(counts: pd.Series) -> go.Figure:
    """Horizontal bars of rows per class, in the classes' own order; the classes after the eighth are one bar."""
    total = int(counts.sum())
    rows = [
        (f"{style.mark(i)} {style.short(name)}", int(n), style.hue(i))
        for i, (name, n) in enumerate(counts.items())
    ]
    if len(rows) > MOST_BARS:
        rest = rows[MOST_BARS - 1 :]
        rows = [*rows[: MOST_BARS - 1], (f"{len(rest)} more classes", sum(n for _, n, _ in rest), "axis")]
    figure = go.Figure(
        go.Bar(
            x=[n for _, n, _ in rows],
            y=[escape(label) for label, _, _ in rows],
            orientation="h",
            marker_color=[style.token(colour) for _, _, colour in rows],
            text=[f"{n:,} · {style.percent(n / total)}" for _, n, _ in rows],
            textposition="outside",
            cliponaxis=False,
            hoverinfo="skip",
            textfont={"color": style.token("ink2")},
        )
    )
    figure.update_layout(style.chart_layout(height=30 * len(rows) + 12), bargap=0.45)
    figure.update_xaxes(visible=False, range=[0, 1.5 * max(n for _, n, _ in rows)])
    figure.update_yaxes(autorange="reversed", automargin=True, ticksuffix="  ", gridcolor="rgba(0,0,0,0)")
    return figure


def spread(numbers: pd.Series, mean: float, unit: str | None) -> go.Figure:
    """Rows by their number in equal bins, with a line at the mean."""
    figure = go.Figure(
        go.Histogram(
            x=numbers, nbinsx=SPREAD_BINS, marker_color=style.token("c0"), hoverinfo="skip", opacity=0.72
        )
    )
    figure.update_layout(style.chart_layout(height=150), bargap=0.06)
    figure.add_vline(x=mean, line={"color": style.token("ink"), "width": 2})
    figure.update_xaxes(showgrid=False, title={"text": escape(unit)} if unit else None)
    figure.update_yaxes(nticks=4, automargin=True)
    return figure
