"""A textbook Tsetlin machine in numpy with numpy's own random numbers: checks accuracy, not speed."""

from __future__ import annotations

import numpy as np


class PlainMachine:
    """Two classes, Boolean input, equations 3 to 10 of the SSL paper line by line.

    Parameters
    ----------
    n_clauses, T, s, n_states : as in `Parameters`
    seed : int
    """

    def __init__(self, n_clauses: int, T: float, s: float, n_states: int, seed: int) -> None:
        self.m, self.T, self.s, self.n = n_clauses, T, s, n_states
        self.rng = np.random.default_rng(seed)
        self.sign = np.where(np.arange(n_clauses) % 2 == 0, 1, -1)

    def fit(self, X: np.ndarray, y: np.ndarray, epochs: int) -> PlainMachine:
        """Learn `epochs` passes; X is 0/1 of shape (n_rows, n_bits)."""
        literals = np.hstack([X, 1 - X]).astype(bool)
        self.states = self.n + self.rng.integers(0, 2, (self.m, literals.shape[1]))
        for _ in range(epochs):
            for row in self.rng.permutation(len(y)):
                self._learn(literals[row], int(y[row]))
        return self

    def _learn(self, literals: np.ndarray, y: int) -> None:
        include: np.ndarray = np.asarray(self.states > self.n)
        outputs = np.asarray(~(include & ~literals).any(1))
        v = np.clip((self.sign * outputs).sum(), -self.T, self.T)
        selected = self.rng.random(self.m) < ((self.T - v) if y else (self.T + v)) / (2 * self.T)
        for j in np.flatnonzero(selected):
            if (self.sign[j] == 1) == (y == 1):
                event = self.rng.random(len(literals)) < 1 / self.s
                rewarded = literals & outputs[j]
                self.states[j] += rewarded & ~event
                self.states[j] -= ~rewarded & event
            elif outputs[j]:
                self.states[j] += ~literals & ~include[j]
        np.clip(self.states, 1, 2 * self.n, out=self.states)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Classes 0 and 1; an empty clause outputs 0."""
        literals = np.hstack([X, 1 - X]).astype(np.int64)
        include = (self.states > self.n).astype(np.int64)
        violated = include @ (1 - literals.T)
        outputs = (violated == 0) & (include.sum(1) > 0)[:, None]
        return ((self.sign[:, None] * outputs).sum(0) >= 0).astype(int)
