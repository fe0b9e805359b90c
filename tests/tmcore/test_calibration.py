"""The calibration study measures what it says, on rows its machines did not see."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from tmcore.experiments import calibration
from tmcore.experiments.calibration import measures, reliability
from tmcore.experiments.defaults import best_threshold


def test_reliability_by_hand():
    y = np.array([0, 0, 1, 0, 1, 1])
    probabilities = np.array([0.1, 0.2, 0.3, 0.6, 0.8, 0.9])
    predicted, found, shares = reliability(y, probabilities, bins=2)
    assert predicted == pytest.approx([0.2, 2.3 / 3])
    assert found == pytest.approx([1 / 3, 2 / 3])
    assert shares == pytest.approx([0.5, 0.5])


def test_measures_of_true_probabilities_are_good_and_of_exaggerated_ones_bad():
    rng = np.random.default_rng(0)
    truth = rng.random(20_000)
    y = (rng.random(20_000) < truth).astype(int)
    honest, loud = measures(y, truth), measures(y, np.where(truth > 0.5, 0.99, 0.01))
    assert honest["Brier"] == pytest.approx(brier_score_loss(y, truth))
    assert honest["Brier"] == pytest.approx(1 / 6, abs=0.005)  # the mean of p (1 - p)
    assert honest["off"] < 0.02
    assert loud["off"] == pytest.approx(0.24, abs=0.01)  # 0.25 is found where 0.01 is said
    assert loud["AUC"] < honest["AUC"]


def test_the_study_gives_a_table_a_report_and_a_picture(monkeypatch, tmp_path):
    monkeypatch.setattr(calibration, "FOLDS", 2)
    calibration.main(["--data", "heart", "--rows", "60", "--out", str(tmp_path)])
    text = (tmp_path / "calibration.md").read_text()
    assert "| heart | 60 |" in text
    tree = ElementTree.parse(tmp_path / "calibration.svg")
    names = [element.text for element in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert "heart" in names
    assert "refit, calibrated" in names


def test_the_smoothed_threshold_ignores_a_lucky_spike():
    """Accuracy is best by a hair at one odd threshold, and good over a wide range elsewhere."""

    def score(y: np.ndarray, predicted: np.ndarray) -> float:
        share = predicted.mean()
        return 1.0 if abs(share - 0.9) < 0.005 else float(0.9 - abs(share - 0.5))

    proba = 1 / (1 + np.exp(-np.linspace(-3, 3, 1000)))
    threshold = best_threshold(score, np.zeros(1000), proba)
    assert threshold == pytest.approx(0.5, abs=0.03)
