"""The paper's numbers, reproduced on data that are not part of the package."""

import os

import pytest

from tmcore.experiments import ssl_paper

needs_data = pytest.mark.skipif("TMCORE_DATA" not in os.environ, reason="TMCORE_DATA is not set")


@needs_data
def test_balance_scale_and_bankruptcy_reach_the_papers_f1():
    means = ssl_paper.run().groupby("data")[["F1", "bounds"]].mean()
    assert means.loc["balance", "F1"] >= 0.93
    assert 100 <= means.loc["balance", "bounds"] <= 170
    assert means.loc["bankruptcy", "F1"] >= 0.985
