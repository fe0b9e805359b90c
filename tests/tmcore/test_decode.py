"""Decoding gives rows that encode to the same ranks."""

import numpy as np
import pandas as pd
import pytest

from tmcore.decode import decode, decode_labels
from tmcore.encode import Encoder


@pytest.mark.parametrize("max_levels", [255, 5, None])
def test_decoded_rows_encode_to_the_same_ranks(max_levels):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=80).round(2), "one": 3.0, "empty": np.nan})
    X["kind"] = pd.Categorical(rng.choice(["oak", "elm", "another value"], 80))
    X["sex"] = pd.Categorical(rng.choice(["f", "m"], 80))
    X["grade"] = pd.Categorical(rng.choice(["low", "mid", "high"], 80), ["low", "mid", "high"], ordered=True)
    X = X.mask(rng.random(X.shape) < 0.1)
    encoder = Encoder(max_levels).fit(X)
    other = X.assign(kind=pd.Categorical(rng.choice(["oak", "palm"], 80)), a=X["a"] * 3)
    for frame in (X, other):
        codes = encoder.transform(frame)
        np.testing.assert_array_equal(encoder.transform(decode(encoder, codes)), codes)


def test_labels_come_back_and_an_unseen_class_is_none_of_them():
    classes = np.array(["no", "yes"], dtype=object)
    assert decode_labels(classes, np.array([1, 0, -1])).tolist() == ["yes", "no", "another value"]
    assert decode_labels(np.array([3, 7]), np.array([0, 1])).tolist() == [3, 7]
    assert decode_labels(np.array([3, 7]), np.array([0, -1])).tolist() == [3, 8]
    assert decode_labels(np.array([False, True]), np.array([0, 1])).tolist() == [False, True]
