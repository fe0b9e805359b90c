"""The peers, each behind the same two calls, where they are installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np


def installed(module: str) -> bool:
    """Whether a package can be imported."""
    return importlib.util.find_spec(module) is not None


class GreenTsetlin:
    """green-tsetlin's machine: clauses shared by all classes, one thread."""

    name = "green-tsetlin"

    def __init__(
        self, n_literals: int, n_clauses: int, n_classes: int, T: float, s: float, boost: bool
    ) -> None:
        import green_tsetlin

        self._library = green_tsetlin
        self.machine = green_tsetlin.TsetlinMachine(
            n_literals=n_literals,
            n_clauses=n_clauses,
            n_classes=n_classes,
            s=float(s),
            threshold=int(T),
            boost_true_positives=boost,
        )

    def train(
        self, X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray, epochs: int
    ) -> dict[str, Any]:
        """Train; returns seconds of every epoch (without evaluation) and test accuracy after every epoch."""
        trainer = self._library.Trainer(
            self.machine, seed=42, n_jobs=1, n_epochs=epochs, progress_bar=False, load_best_state=False
        )
        trainer.set_train_data(X, y.astype(np.uint32))
        trainer.set_eval_data(X_test, y_test.astype(np.uint32))
        trainer.train()
        return {"seconds": trainer.results["train_time_of_epochs"], "accuracy": trainer.results["eval_log"]}

    def predictor(self) -> Callable[[np.ndarray], np.ndarray]:
        """The compiled predictor, applied to every row."""
        predictor = self.machine.get_predictor()
        return lambda X: np.array([predictor.predict(row) for row in X])
