"""A table whose target is a price, and sessions that are trained on it."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.metrics import mean_absolute_error, r2_score

from dashboard import keeping
from dashboard.jobs import Job
from dashboard.session import Session
from tmcore.parameters import Parameters
from tmcore.table import read_table

PARAMETERS = Parameters(n_clauses=20, epochs=4, s=3.0, random_state=2)


def houses(n_rows: int = 150) -> pd.DataFrame:
    """Rooms with gaps, a place, and a price in EUR that they decide."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"rooms": rng.integers(1, 9, n_rows).astype(float)})
    frame["<b>place</b>"] = rng.choice(["town", "hill", "shore"], n_rows)
    frame["area (m2)"] = rng.uniform(20, 200, n_rows).round(1)
    price = 100 + 80.0 * (frame["rooms"] > 4) + 45.5 * (frame["<b>place</b>"] == "shore")
    frame["price (EUR)"] = (price + 0.3 * frame["area (m2)"] + rng.normal(scale=9, size=n_rows)).round(2)
    frame.loc[::11, "rooms"] = np.nan
    return frame


def csv() -> bytes:
    return houses().to_csv(index=False).encode()


def opened(owner: str = "") -> Session:
    current = Session(owner=owner, parameters=PARAMETERS)
    current.open_table(read_table(csv(), target="price (EUR)"), "houses", csv())
    current.train_on()
    return current


def learned() -> Session:
    """A session whose run has learned."""
    current = opened()
    current.start(keeping.new_job(current, current.parameters))
    job = current.job
    assert job is not None
    job.set_speed("max")
    job.play()
    assert job.wait_until_idle(60)
    return current


def by_hand(job: Job) -> dict[str, tuple[float, float]]:
    """MAE and R2 of the votes, by scikit-learn: lowest + votes / T * width."""
    run = job.run
    assert run is not None
    span = run.target_range
    assert span is not None
    found = {}
    for part, codes, y in (
        ("train", run.codes, job.y_train),
        ("test", run.encoder.transform(job.X_test), job.y_test),
    ):
        votes = run.machine.votes(run.machine.prepare(codes))[:, 0] / 2**16
        predicted = span.lowest + votes / job.parameters.vote_target * span.width
        found[part] = mean_absolute_error(y, predicted), r2_score(y, predicted)
    return found
