"""Thresholds and costs, against counting by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from tmcore.thresholds import asked_for, confusion, cost_curve


@pytest.fixture(params=[0, 1, 2])
def rows(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(request.param)
    labels = rng.integers(0, 2, 80)
    shares = np.clip(rng.normal(0.35 + 0.3 * labels, 0.25), 0, 1).round(2)  # with ties, 0 and 1
    return labels, shares


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.5, 1.0])
def test_confusion_is_scikit_learns(rows: tuple[np.ndarray, np.ndarray], threshold: float) -> None:
    labels, shares = rows
    found = confusion(labels, shares, threshold)
    expected = confusion_matrix(labels, (shares >= threshold).astype(int), labels=[0, 1]).ravel().tolist()
    assert [found.negatives, found.false_alarms, found.misses, found.hits] == expected
    assert found.accuracy == np.mean(labels == (shares >= threshold))
    assert found.cost(2.0, 5.0) == pytest.approx((2 * expected[1] + 5 * expected[2]) / 80)


@pytest.mark.parametrize(("false_alarm", "miss"), [(1, 1), (1, 5), (10, 1), (0, 1), (1, 0)])
def test_curve_and_best_threshold_by_trying_them_all(
    rows: tuple[np.ndarray, np.ndarray], false_alarm: float, miss: float
) -> None:
    labels, shares = rows
    curve = cost_curve(labels, shares, false_alarm, miss)
    for threshold, cost in zip(curve.thresholds, curve.costs, strict=True):
        assert confusion(labels, shares, threshold).cost(false_alarm, miss) == pytest.approx(cost)
    tried = [confusion(labels, shares, t).cost(false_alarm, miss) for t in np.linspace(0, 1.001, 1500)]
    assert confusion(labels, shares, curve.best_threshold).cost(false_alarm, miss) == pytest.approx(
        min(tried)
    )


def test_near_thresholds_are_within_noise_row_by_row(rows: tuple[np.ndarray, np.ndarray]) -> None:
    labels, shares = rows
    curve = cost_curve(labels, shares, 1, 3)

    def costs(threshold: float) -> np.ndarray:
        predicted = shares >= threshold
        return (predicted & (labels == 0)) * 1.0 + (~predicted & (labels == 1)) * 3.0

    close = []
    for threshold in curve.thresholds:
        gap = costs(threshold) - costs(curve.best_threshold)
        if gap.mean() <= 1.96 * gap.std() / len(gap) ** 0.5 + 1e-12:
            close.append(threshold)
    assert curve.near == (pytest.approx(close[0]), pytest.approx(close[-1]))


def test_exact_probabilities_ask_for_the_share_of_the_costs() -> None:
    rng = np.random.default_rng(1)
    shares = rng.random(200_000)
    labels = (rng.random(200_000) < shares).astype(int)
    assert asked_for(1, 4) == 0.2
    assert cost_curve(labels, shares, 1, 4).best_threshold == pytest.approx(0.2, abs=0.03)


@pytest.mark.parametrize(("false_alarm", "miss"), [(0, 0), (-1, 2)])
def test_costs_without_a_choice_are_refused(false_alarm: float, miss: float) -> None:
    with pytest.raises(ValueError, match="0 or more"):
        cost_curve(np.array([0, 1]), np.array([0.2, 0.8]), false_alarm, miss)
