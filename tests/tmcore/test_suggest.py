"""Suggested settings: scores recomputed apart, the same outcome on every backend, and time kept."""

from __future__ import annotations

import threading
import time

import distributed
import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.model_selection import train_test_split

import sample_data
from tmcore import Parameters, TsetlinClassifier, suggest
from tmcore.suggest import suggest_settings

SEARCHED = ["n_clauses", "T", "s", "epochs"]
LONG = 600.0


@pytest.fixture(autouse=True)
def few_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suggest, "N_DRAWN", 3)
    monkeypatch.setattr(suggest, "RUNGS", ((1.0, 2), (0.5, 3)))
    monkeypatch.setattr(
        suggest, "GRID", {"n_clauses": (10, 20), "T": (0.25, 0.5), "s": (2.0, 4.0), "epochs": (4, 8)}
    )


def table(n_rows: int = 100, noise: float = 0.0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.random(n_rows).round(2), "b": rng.random(n_rows).round(2)})
    y = (X["a"] > 0.5).to_numpy() ^ (rng.random(n_rows) < noise)
    return X, np.where(y, "yes", "no")


def same(first: suggest.Suggestion, second: suggest.Suggestion) -> bool:
    return first.parameters == second.parameters and first.trials.drop(columns="seconds").equals(
        second.trials.drop(columns="seconds")
    )


@pytest.mark.parametrize("weights", ["refit", "none"])
def test_losses_are_those_of_settled_models_on_rows_held_out(weights: str) -> None:
    X, y = table(noise=0.1)
    found = suggest_settings(
        X, y, LONG, parameters=Parameters(n_clauses=20, epochs=3, weights=weights), random_state=4
    )
    assert found.measure == ("log loss" if weights == "refit" else "1 - balanced accuracy")
    assert found.complete
    seeds = np.random.default_rng([4, 1]).integers(2**31, size=3).tolist()
    assert sorted(found.trials["splits"]) == [2, 2, 3, 3]
    for _, row in found.trials.iterrows():
        losses = []
        for seed in seeds[: int(row["splits"])]:
            train, test = train_test_split(np.arange(100), test_size=0.2, random_state=seed, stratify=y)
            train.sort()
            model = TsetlinClassifier(
                n_clauses=int(row["n_clauses"]), T=row["T"], s=row["s"], epochs=int(row["epochs"]), weights=weights,
                random_state=seed,
            ).fit(X.iloc[train], y[train])  # fmt: skip
            if weights == "refit":
                losses.append(log_loss(y[test], model.predict_proba(X.iloc[test])))
            else:
                losses.append(1 - balanced_accuracy_score(y[test], model.predict(X.iloc[test])))
        assert row["loss"] == pytest.approx(np.mean(losses), abs=1e-6)


def test_settings_that_are_clearly_better_are_suggested() -> None:
    X, y = table()
    untrained = Parameters(n_clauses=20, epochs=0)
    found = suggest_settings(X, y, LONG, parameters=untrained)
    best = found.trials.iloc[0]
    assert found.trials["chosen"].tolist() == [True, False, False, False]
    assert best["difference"] + best["standard_error"] < 0
    assert found.trials["loss"][0] == pytest.approx(np.log(2), abs=0.01)  # intercept alone, balanced classes
    chosen = found.parameters
    assert [chosen.n_clauses, chosen.vote_target, chosen.s, chosen.epochs] == best[SEARCHED].tolist()
    assert chosen.replace(n_clauses=20, T="auto", s=2.0, epochs=0) == untrained


def test_settings_stay_where_nothing_can_be_learned() -> None:
    X, _ = table()
    y = np.random.default_rng(5).integers(0, 2, 100)
    given = Parameters(n_clauses=20, epochs=0)
    assert suggest_settings(X, y, LONG, parameters=given).parameters == given


def test_standard_error_is_corrected_for_overlap() -> None:
    yardstick = suggest._Candidate(0, Parameters(), {0: 1.0, 1: 1.0, 2: 1.0, 3: 1.0})
    other = suggest._Candidate(1, Parameters(), {0: 0.9, 1: 0.7, 3: 0.8})
    # Differences -0.1, -0.3, -0.2: variance 0.01, times 1/3 + a fifth of the rows over four fifths.
    assert suggest._difference(other, yardstick) == pytest.approx((-0.2, np.sqrt(0.01 * (1 / 3 + 1 / 4))))


def test_gamma_is_searched_for_real_weights_only() -> None:
    drawn = suggest.draw_candidates(Parameters(weights="real"), 0)[1:]
    assert len({candidate.parameters.gamma for candidate in drawn} - {0.01}) > 0
    assert {candidate.parameters.gamma for candidate in suggest.draw_candidates(Parameters(), 0)} == {0.01}


def test_same_seed_same_suggestion_on_every_backend() -> None:
    X, y = table(noise=0.1)
    alone = suggest_settings(X, y, LONG, random_state=1)
    with joblib.parallel_backend("threading", n_jobs=2):
        assert same(suggest_settings(X, y, LONG, random_state=1), alone)
    with joblib.parallel_backend("loky", n_jobs=2):
        assert same(suggest_settings(X, y, LONG, random_state=1), alone)


def test_dask_cluster_gives_the_same_suggestion() -> None:
    X, y = table(noise=0.1)
    alone = suggest_settings(X, y, LONG, random_state=1)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_backend("dask"),
    ):
        assert same(suggest_settings(X, y, LONG, random_state=1), alone)
        assert sum(client.run(lambda dask_worker: len(dask_worker.state.log)).values()) > 0


def test_time_is_kept_and_the_given_settings_stay_if_it_is_too_short() -> None:
    telco = sample_data.load("telco_churn")
    X, y = telco.features(), telco.labels()
    given = Parameters(n_clauses=400, epochs=2000)
    start = time.monotonic()
    found = suggest_settings(X, y, 2.0, parameters=given)
    assert time.monotonic() - start < 20  # a single trial takes minutes
    assert (found.parameters, found.complete) == (given, False)
    assert found.trials["splits"].sum() == 0


def test_a_stop_from_the_page_ends_the_search() -> None:
    X, y = table()
    stop, seen = threading.Event(), []

    def progress(done: int, planned: int) -> None:
        seen.append((done, planned))
        if done == 3:
            stop.set()

    found = suggest_settings(X, y, LONG, progress=progress, stop=stop)
    assert [done for done, _ in seen] == [1, 2, 3]
    assert {planned for _, planned in seen} == {2 * 4 + 2}
    assert not found.complete
    assert found.trials["splits"].sum() == 3


def test_large_tables_are_thinned_by_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suggest, "MAX_ROWS", 50)
    X, y = table(500)
    rows, labels = suggest._rows(X, y, 0)
    assert len(rows) == len(labels) == 50
    assert (labels == "yes").mean() == pytest.approx((y == "yes").mean(), abs=0.02)
    assert labels.tolist() == y[rows.index].tolist()


@pytest.mark.parametrize(
    ("y", "seconds", "sentence"),
    [
        (["a"] * 10, 1.0, "y holds one class only, a; at least two are needed"),
        (["a"] * 9 + ["b"], 1.0, "Only class a has two or more rows; the search needs two such classes."),
        (["a", "b"] * 4, 1.0, "y holds 8 labels for 10 rows; give one label a row."),
        (["a", "b"] * 5, 0.0, "seconds is 0.0; give the search more than 0 seconds."),
    ],
)
def test_what_cannot_be_searched_is_refused(y: list[str], seconds: float, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        suggest_settings(table(10)[0], y, seconds)
