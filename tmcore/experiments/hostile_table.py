"""A table whose names and categories try to break out of whatever they are written into."""

from __future__ import annotations

import numpy as np
import pandas as pd

IMAGE = "<img src=x onerror=alert(1)>"
SMILE = "\N{GRINNING FACE} `tick`"
DROP = "'; DROP TABLE data; --"
TEXTS = (
    "it's",
    'say "hi"',
    "two\nlines",
    "cr\r\nlf",
    "\N{GRINNING FACE}",
    DROP,
    "</td><script>alert(1)</script>",
    "back\\slash",
    "`tick`",
    "1",
    "2.5",
    "=1+1",
    " space ",
    "tab\there",
    "|pipe|",
    "]]>&amp;",
    '"""',
)
CLASSES = ("it's", '<b>"x"', "c\n3", "d")
LEVELS = ("low", "it's mid", "<b>top")


def hostile_table(n_classes: int, n_rows: int = 300, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Return features of every kind, a tenth of the cells missing, and 2 to 4 classes that depend on them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "select": rng.integers(0, 40, n_rows) / 8,
            "a \"quoted\" 'name'": rng.normal(size=n_rows).round(3),
            "two\nlines": pd.Categorical(rng.choice(TEXTS, n_rows)),
            IMAGE: pd.Categorical(rng.choice(["1", "2", "10"], n_rows)),
            SMILE: pd.Categorical(rng.choice(LEVELS, n_rows), categories=LEVELS, ordered=True),
            DROP: rng.choice([True, False], n_rows),
            "=cmd|' /C calc'!A0": rng.choice(["yes", "no'"], n_rows),
            "predicted_votes": rng.choice([0.1, 0.2, 0.30000000000000004], n_rows),
            "rule 1": rng.integers(-5, 5, n_rows).astype(float),
            "\\": rng.normal(size=n_rows),
        }
    )
    score = (
        frame["select"]
        + 2 * frame["two\nlines"].isin(TEXTS[:6])
        + 1.5 * (frame[IMAGE] == "1")
        + 1.5 * frame[DROP]
        + 2 * (frame[SMILE] == LEVELS[2])
        + (frame["predicted_votes"] > 0.15)
        + frame["\\"]
    )
    labels = np.array(CLASSES[:n_classes])[pd.qcut(score, n_classes, labels=False)]
    frame[DROP] = frame[DROP].astype("boolean")
    for name in frame.columns:
        frame[name] = frame[name].mask(rng.random(n_rows) < 0.1)
    return frame, pd.Series(labels)
