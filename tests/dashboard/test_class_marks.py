"""Many classes: marks and colours that can be told apart, and the mistakes told where a matrix is too large."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from dashboard import style
from dashboard.jobs import Job
from dashboard.live.answers import answers_of
from dashboard.live.facts import facts
from dashboard.live.standing import confusion, largest_mistakes
from tmcore.parameters import Parameters

N_MARKS = 12
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
# Machado, Oliveira and Fernandes (2009), severity 1, for linear RGB.
SIGHT = {
    "usual": np.eye(3),
    "protan": np.array([[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0519]]),
    "deutan": np.array([[0.3673, 0.8606, -0.2279], [0.2803, 0.6727, 0.0470], [-0.0118, 0.0429, 0.9689]]),
    "tritan": np.array([[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]]),
}


def linear(colour: str) -> np.ndarray:
    share = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    xyz = TO_XYZ @ np.clip(rgb, 0, 1) / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(one: str, other: str) -> float:
    high, low = sorted((float(TO_XYZ[1] @ linear(c)) for c in (one, other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_every_class_has_a_mark_of_its_own() -> None:
    marks = [style.mark(k) for k in range(40)]
    assert len(set(marks)) == 40
    assert all(len(mark) == 1 for mark in marks[:N_MARKS])
    assert marks[N_MARKS] == "#13"
    assert [style.hue(k) for k in (0, N_MARKS - 1, N_MARKS)] == ["c0", "c11", "axis"]


@pytest.mark.parametrize("dark", [False, True])
def test_class_colours_differ_for_every_sight(dark: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "is_dark", lambda: dark)
    colours = [style.token(style.hue(k)) for k in range(N_MARKS)]
    assert all(contrast(colour, style.token("bg")) >= 3 for colour in colours)
    for matrix in SIGHT.values():
        seen = [lab(matrix @ linear(colour)) for colour in colours]
        assert min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(seen, 2)) > 15


def test_the_largest_mistakes_come_first() -> None:
    labels, predicted = np.array([0, 0, 0, 1, 1, 2, 2, 2]), np.array([1, 1, 0, 1, 0, 0, 0, 0])
    assert largest_mistakes(confusion(labels, predicted, 3)) == [(2, 0, 3), (0, 1, 2), (1, 0, 1)]
    assert largest_mistakes([[4, 0], [0, 2]]) == []


def test_fourteen_classes_are_told_by_their_mistakes() -> None:
    kinds = [f"kind {i:02d}" for i in range(14)]
    X = pd.DataFrame({"a": [float(i % 14) for i in range(140)]})
    y = pd.Series([kinds[i % 14] for i in range(140)])
    job = Job(X, y, X[:28], y[:28], Parameters(n_clauses=10, epochs=2), "made up")
    assert job.wait_until_idle(120)
    job.one_epoch()
    assert job.wait_until_idle(20)
    assert job.run is not None
    assert job.latest is not None
    assert facts(job.run, job)["marks"][11:] == ["⧗", "#13", "#14"]
    told = answers_of(job.run, job).standing(job.run.machine, job.latest)
    wrong = round(28 * (1 - (job.latest.scores.test_accuracy or 0)))  # type: ignore[union-attr]
    assert 0 < sum(n for _, _, n in told["mistakes"]) <= wrong
    assert all(is_ != taken for is_, taken, _ in told["mistakes"])
    assert set(told) == {"trainBalanced", "testBalanced", "mistakes"}
    job.close()
