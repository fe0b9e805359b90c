"""The Compare page where a number is predicted: its scores, other models, other runs and other seeds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from beans import choose, open_page, press, text_of
from houses import learned
from scipy import stats
from sklearn.metrics import mean_absolute_error, r2_score

from dashboard.compare_view import models, other_run
from dashboard.compare_view.judging import all_rows
from dashboard.compare_view.words import NumberWords
from dashboard.session import Session
from dashboard.style import amount
from tmcore.compare import difference
from tmcore.contenders import Measured
from tmcore.measures import Answers
from tmcore.regressor import TsetlinRegressor
from tmcore.splits import random_splits


@pytest.fixture(scope="module")
def current() -> Iterator[Session]:
    found = learned()
    job = found.job
    assert job is not None
    job.settle()
    assert job.wait_until_idle(60)
    yield found
    job.close()


def plain(text: str) -> str:
    return text.replace("\u00a0", " ")


def test_the_sentence_says_how_far_the_rules_are_off_and_how_little_is_known(current: Session) -> None:
    job = current.job
    assert job is not None
    assert job.settled is not None
    page = open_page("compare.py", current)
    assert not page.exception
    predicted = job.settled.predict(job.X_test)
    missed = np.abs(job.y_test - predicted)
    low, high = stats.t.interval(0.95, 29, loc=missed.mean(), scale=stats.sem(missed))
    text = text_of(page)
    assert plain(f"30 unseen rows by {amount(missed.mean(), 'EUR')} on average") in text
    assert plain(f"of all rows it may be {amount(low)} to {amount(high, 'EUR')}") in text
    expected = [mean_absolute_error(job.y_test, predicted), r2_score(job.y_test, predicted)]
    assert page.dataframe[0].value["score"].tolist() == [float(f"{score:.3g}") for score in expected]
    assert [page.button_group[0].options] == [["How sure", "Other models", "Another run", "Other seeds"]]


def test_judging_on_repeated_splits_trains_regressors(current: Session) -> None:
    split, job = current.split, current.job
    assert split is not None
    assert job is not None
    page = open_page("compare.py", current)
    page.select_slider[0].set_value(5).run()
    page = press(page, "Judge on 5 splits", "judge")
    assert not page.exception
    assert current.comparing is not None
    found = current.comparing.tasks["judge"].result.judgement
    X, y = all_rows(split)
    rows = random_splits(y, 5, split.test_share, by_class=False)[3]
    model = TsetlinRegressor(n_clauses=20, epochs=4, s=3.0, random_state=5)
    predicted = model.fit(X.iloc[rows.train], y.iloc[rows.train]).predict(X.iloc[rows.test])
    assert found.trials.loc[3, "MAE"] == pytest.approx(mean_absolute_error(y.iloc[rows.test], predicted))
    assert found.trials.loc[3, "R2"] == pytest.approx(r2_score(y.iloc[rows.test], predicted))
    row, text = found.intervals.loc["MAE"], text_of(page)
    ends = f"{amount(row['low'])} to {amount(row['high'], 'EUR')}"
    assert plain(f"Off by {amount(row['mean'], 'EUR')} on average, give or take: {ends}") in text
    assert plain(f"Always the mean would be off by {amount(found.trials['simplest'].mean(), 'EUR')}") in text


def test_other_models_are_measured_beside_it(current: Session) -> None:
    split = current.split
    assert split is not None
    page = choose(open_page("compare.py", current), "models")
    page = press(page, "Compare on this split", "models")
    assert not page.exception
    assert current.comparing is not None
    measured, words = current.comparing.tasks["models"].result, NumberWords(split)
    assert plain(models.finding(measured, words)) in text_of(page)
    frame = models.as_frame(measured, words)
    assert list(frame.index[:4]) == ["Intervals", "Thresholds", "Weighted intervals", "Always the mean"]
    mean = np.full(len(split.y_test), split.y_train.mean())
    assert frame.loc["Always the mean", "mean error (MAE), EUR"] == pytest.approx(
        mean_absolute_error(split.y_test, mean)
    )
    best = frame["mean error (MAE), EUR"].idxmin()
    assert models.finding(measured, words).startswith(
        "No other model does better" if best == "Intervals" else f"Best mean error (MAE): {best}"
    )


def test_what_one_row_or_one_split_cannot_tell_is_not_told(current: Session) -> None:
    split = current.split
    assert split is not None
    words, truth = NumberWords(split), np.array([1.0])

    def model(name: str, predicted: float) -> Measured:
        answers = Answers(truth, np.array([predicted]), np.zeros((1, 0)))
        scores = {"MAE": abs(predicted - 1.0), "R2": np.nan}
        return Measured(name, "", True, scores, {}, None, None, None, 0, 0, 0.0, answers)

    told = models.finding([model("Intervals", 3.0), model("Ridge regression", 2.0)], words)
    assert told.startswith("Best mean error (MAE): Ridge regression")
    assert "noise" not in told
    assert told.endswith("how sure that is cannot be said from these rows")
    unknown = {"mean": 2.0, "low": np.nan, "high": np.nan}
    assert words.verdict(unknown, 1).endswith("on average in the only split")
    assert words.verdict(unknown, 3).endswith("on average in each of 3 splits")


def test_another_run_is_trained_and_compared(current: Session) -> None:
    page = choose(open_page("compare.py", current), "run")
    held, job = current.comparing, current.job
    assert held is not None
    assert job is not None
    next(button for button in page.button if button.label == "Train it beside this run").click()
    page.run()
    if "other" in held.tasks:
        assert held.tasks["other"].wait(60)
        page.run()
    assert not page.exception
    (other,) = held.beside
    assert other.name == "seed 3"
    assert job.settled is not None
    found = difference(job.settled.rules_, other.model.rules_)
    text = text_of(page)
    assert other_run.finding(found) in text
    apart = np.abs(job.settled.predict(job.X_test) - other.model.predict(job.X_test)).mean()
    assert plain(f"the two predictions are {amount(apart, 'EUR')} apart on average") in text
    model = TsetlinRegressor(n_clauses=20, epochs=4, s=3.0, random_state=3).fit(job.X_train, job.y_train)
    assert other.model.rules_.to_text() == model.rules_.to_text()


def test_other_seeds(current: Session) -> None:
    page = choose(open_page("compare.py", current), "seeds")
    page.select_slider[0].set_value(5).run()
    page = press(page, "Train with 5 other seeds", "seeds")
    assert not page.exception
    assert current.comparing is not None
    found = current.comparing.tasks["seeds"].result
    assert f"{found.n_usual} of" in text_of(page)
    assert "moving the number the same way" in text_of(page)
