"""The jobs' data, found through TMCORE_DATA."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from tmcore.experiments.datasets import data_folder

Parts = tuple[Any, np.ndarray, Any, np.ndarray]
"""Training rows and labels, test rows and labels."""

MNIST_THRESHOLD = 77
"""A pixel this bright is 1, as in the Weighted Tsetlin Machine paper."""


def mnist() -> Parts:
    """Training bits and labels, test bits and labels; uint8 of shape (n, 784)."""
    parts: list[np.ndarray] = []
    for part in ("train", "test"):
        table = pd.read_csv(data_folder() / f"mnist_{part}.csv.gz")
        labels = table.pop("label").to_numpy(np.int64)
        parts += [(table.to_numpy() >= MNIST_THRESHOLD).astype(np.uint8), labels]
    return parts[0], parts[1], parts[2], parts[3]


def imdb(
    n_rows: int = 5000, n_features: int = 5000
) -> tuple[sparse.csr_matrix, np.ndarray, sparse.csr_matrix, np.ndarray]:
    """Reviews as the best unigrams and bigrams by chi-square on the training rows.

    The files are sorted by label, so that the first rows of a fixed shuffle are taken.
    """
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.feature_selection import SelectKBest, chi2

    texts, labels = {}, {}
    for part in ("train", "test"):
        table = pd.read_csv(data_folder() / f"imdb_{part}_25k.csv.gz").sample(n_rows, random_state=0)
        texts[part], labels[part] = table["text"], table["label"].to_numpy(np.int64)
    words = CountVectorizer(ngram_range=(1, 2), binary=True, min_df=5, dtype=np.uint8)
    train = words.fit_transform(texts["train"])
    best = SelectKBest(chi2, k=n_features).fit(train, labels["train"])
    return (
        sparse.csr_matrix(best.transform(train)),
        labels["train"],
        sparse.csr_matrix(best.transform(words.transform(texts["test"]))),
        labels["test"],
    )


def cancer() -> tuple[pd.DataFrame, np.ndarray]:
    """Wisconsin breast cancer (569 x 30), 1 is malignant."""
    table = pd.read_csv(data_folder() / "breast_cancer_wdbc.csv")
    return table.drop(columns="target"), (table["target"] == "malignant").to_numpy(np.int64)


def adult() -> tuple[pd.DataFrame, np.ndarray]:
    """Adult (48,842 x 14), 1 is an income above 50K; categories as integers, as the SSL paper does, `?` as missing."""
    table = pd.read_csv(data_folder() / "adult.csv.gz", na_values="?", skipinitialspace=True)
    labels = table.pop("income").astype(str).str.contains(">50K").to_numpy(np.int64)
    table = table.drop(columns="split")
    for column in table:
        if not pd.api.types.is_numeric_dtype(table[column]):
            codes = table[column].astype("category").cat.codes
            table[column] = codes.where(codes >= 0, np.nan).astype(float)
    return table, labels


def noisy_xor(
    seed: int, n_rows: int = 5000, noise: float = 0.4
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Twelve bits, class x0 xor x1, training labels flipped with the given chance; test labels are clean."""
    rng = np.random.default_rng(seed)
    X, X_test = (rng.integers(0, 2, (n_rows, 12), dtype=np.uint8) for _ in range(2))
    y, y_test = (part[:, 0] ^ part[:, 1] for part in (X, X_test))
    return X, (y ^ (rng.random(n_rows) < noise)).astype(np.int64), X_test, y_test.astype(np.int64)


def wide_sparse(
    seed: int, n_rows: int = 2000, n_bits: int = 2000, share: float = 0.02
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Rows like short texts: a share of ones among many bits, 100 bits commoner in each of the two classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    own, other, n_own = 4 * share, share / 2, 100
    rates = np.full((2, n_bits), (share * n_bits - n_own * (own + other)) / (n_bits - 2 * n_own))
    rates[0, :n_own] = rates[1, n_own : 2 * n_own] = own
    rates[1, :n_own] = rates[0, n_own : 2 * n_own] = other
    return sparse.csr_matrix((rng.random((n_rows, n_bits)) < rates[y]).astype(np.uint8)), y
