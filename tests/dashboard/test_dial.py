"""The readability dial of the Rules page: its points, named points, scores, and what follows the chosen one."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from scipy import stats
from streamlit.testing.v1 import AppTest

from dashboard import dial_view, edit_panel, session
from dashboard.dial_measures import ByAccuracy, ByR2
from dashboard.dialling import Dialling, Mark, Pick, picks
from dashboard.goals import ClassGoal, NumberGoal
from dashboard.jobs import Job
from dashboard.style import amount
from tmcore.dial import Estimate, NumberPointScores, Point
from tmcore.number_rules import NumberRules
from tmcore.parameters import Parameters
from tmcore.ruleset import RuleSet
from tmcore.scores import NumberScores, Scores

VIEW = Path(session.__file__).parent / "views" / "rules.py"
HOSTILE = "<img src=x onerror=alert(1)>"

MARKS = (
    Mark(0, 0, 0.5, 0.5, 0.5, 0.0),
    Mark(2, 3, 0.8, 0.7, 0.78, 0.02),
    Mark(5, 7, 0.85, 0.9, 0.81, 0.03),
    Mark(9, 12, 0.9, 0.8, 0.80, 0.02),
)


def settled_job(weights: str, harvest: int = 0) -> Job:
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(150, 5)), columns=[*"abcd", HOSTILE])
    noisy = X["a"] + 0.7 * X["b"] + 0.5 * X[HOSTILE] + rng.normal(0, 0.6, 150)
    y = pd.Series(np.where(noisy > 0, HOSTILE, "small"))
    parameters = Parameters(n_clauses=20, epochs=5, weights=weights, harvest=harvest)
    run = Job(X[:110], y[:110], X[110:], y[110:], parameters, "beans")
    run.set_speed("max")
    run.play()
    assert run.wait_until_idle(120)
    run.settle()
    assert run.wait_until_idle(120)
    return run


@pytest.fixture(scope="module")
def job() -> Iterator[Job]:
    run = settled_job("refit")
    yield run
    run.close()


@pytest.fixture(scope="module")
def dial(job: Job) -> Dialling:
    """A dial whose points have been scored."""
    assert job.outcome is not None
    made = Dialling(job.outcome, job)
    made.begin()
    assert made.task is not None
    assert made.task.wait(60)
    assert not made.is_scored
    made.begin()  # retraining this takes a few seconds, so nobody is asked
    assert made.task.wait(120)
    assert made.task.error is None
    return made


def test_named_points_and_their_losses_by_hand() -> None:
    # 0.81 - 0.03 = 0.78 is still within one standard error of the best
    assert picks(MARKS) == (
        Pick("Simplest within noise", MARKS[1], pytest.approx(3.0)),
        Pick("Most accurate", MARKS[2], 0.0),
        Pick("Every rule", MARKS[3], pytest.approx(1.0)),
    )
    assert [dial_view.pick_words(pick, ByAccuracy()).replace("\u00a0", " ") for pick in picks(MARKS)] == [
        "Simplest within noise: 2 rules, −3.0 points",
        "Most accurate: 5 rules, no loss",
        "Every rule: 9 rules, −1.0 points",
    ]
    assert dial_view.finding(MARKS).replace("\u00a0", " ") == "2 rules are within noise of the best"


def test_of_equal_points_the_one_with_fewer_rules_is_most_accurate() -> None:
    equal = (Mark(3, 3, 1.0, None, 0.9, 0.01), Mark(4, 5, 1.0, None, 0.9, 0.01))
    assert [pick.mark.n_rules for pick in picks(equal)] == [3, 3, 4]


def test_nothing_is_named_before_retraining() -> None:
    assert picks((Mark(1, 1, 0.9, 0.9),)) == ()


@pytest.mark.parametrize(("r2", "found"), [((0.5, 0.1), (0.5, 0.1)), ((math.nan, math.nan), None)])
def test_a_retrained_r2_that_is_no_number_is_none(
    r2: tuple[float, float], found: tuple[float, float] | None
) -> None:
    nothing = np.zeros(0, np.int64)
    point = Point(1.0, nothing, nothing, nothing, 0, 0, NumberPointScores(Estimate(2.0, 0.1), Estimate(*r2)))
    assert ByR2().found(point) == found


def check_marks(dial: Dialling, job: Job) -> None:
    assert dial.found is not None
    marks = dial.found.marks
    assert len(marks) > 3
    for mark in marks:
        rules = dial.outcome.estimator.at(mark.n_rules).rules_
        assert mark.train == np.mean(rules.predict(job.X_train) == job.y_train.to_numpy())
        assert mark.test == np.mean(rules.predict(job.X_test) == job.y_test.to_numpy())


def test_marks_say_what_the_rules_at_each_point_get_right(dial: Dialling, job: Job) -> None:
    check_marks(dial, job)
    assert dial.found is not None
    for mark in dial.found.marks:
        assert len(dial.outcome.estimator.at(mark.n_rules).rules_) == mark.n_rules


def test_marks_of_a_harvested_model_are_of_its_pooled_clauses() -> None:
    run = settled_job("refit", harvest=3)
    assert run.outcome is not None
    made = Dialling(run.outcome, run)
    made.begin()
    assert made.task is not None
    assert made.task.wait(60)
    assert made.task.error is None
    check_marks(made, run)
    run.close()


def test_scores_are_those_of_the_estimator(dial: Dialling) -> None:
    assert dial.found is not None
    expected = [point.scores for point in dial.outcome.estimator.score_path()]
    found = [(mark.mean, mark.error) for mark in dial.found.marks]
    assert found == [(score.accuracy.mean, score.accuracy.error) for score in expected if score is not None]


def test_files_say_scores_with_their_intervals() -> None:
    goal, rules = ClassGoal(pd.Series(["no", "no", "yes"])), RuleSet(np.array(["no", "yes"]), 0.0, (), ())
    test = pd.DataFrame(index=range(54)), pd.Series(["no"] * 27 + ["yes"] * 27)
    told = goal.in_files(Scores(0.9, 0.9, 48 / 54, 0.9), rules, test, (0.812, 0.023))
    # Wilson's interval of 48 of 54 by its formula: (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n)
    z, n, p = 1.959964, 54, 48 / 54
    middle, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)
    assert told == (
        (
            "right on unseen rows",
            f"89 % of 54 rows; of all rows {100 * low:.0f} to {100 * high:.0f} % (95 % interval)",
        ),
        ("for comparison", "always “no” would get 50\u00a0%"),
        ("right when retrained on parts of the training rows", "81.2 % ± 2.3 points (standard error)"),
    )
    assert goal.in_files(Scores(0.9, 0.9), rules, (test[0][:0], test[1][:0]), None) == ()


def test_files_say_mean_errors_with_their_intervals() -> None:
    rng = np.random.default_rng(0)
    y = pd.Series(rng.normal(100, 20, 40), name="price (EUR)")
    rules, goal = NumberRules(np.array([]), 90.0, (), ()), NumberGoal(y)
    test = pd.DataFrame(index=y.index), y
    told = dict(goal.in_files(NumberScores(1.0, 0.5, 17.25, -0.3), rules, test, None))
    missed = np.abs(y - 90.0)
    low, high = stats.t.interval(0.95, 39, loc=missed.mean(), scale=stats.sem(missed))
    said = f"17.2 EUR; of all rows {amount(low, 'EUR')} to {amount(high, 'EUR')} (95 % interval)"
    assert told["mean absolute error on 40 unseen rows"].replace("\u00a0", " ") == said.replace("\u00a0", " ")
    assert told["R² on 40 unseen rows"].startswith("−0.30; of all rows −")
    mean, off = amount(y.mean(), "EUR"), amount(float((y - y.mean()).abs().mean()), "EUR")
    assert told["for comparison"] == f"always the mean of the training rows, {mean}, would miss by {off}"


def test_every_point_keeps_its_own_edits(job: Job, dial: Dialling) -> None:
    assert dial.found is not None
    other = next(m.n_rules for m in dial.found.marks if 0 < m.n_rules != dial.settled_rules)
    settled = dial.editing()
    settled.switch(1, on=False)
    dial.choose(other)
    assert (len(dial.editing().rules()), dial.in_use, dial.editing().is_edited) == (other, other, False)
    assert dial.model is not dial.outcome.estimator
    dial.choose(10**6)
    assert dial.in_use == other
    dial.choose(dial.settled_rules)
    assert dial.editing() is settled
    assert dial.model is dial.outcome.estimator
    settled.undo()


def test_payload_is_json_with_every_share_on_the_chart(job: Job, dial: Dialling) -> None:
    assert dial.found is not None
    sent = json.loads(json.dumps(dial_view.payload(dial, dial.found.marks, job), allow_nan=False))
    shares = [point[key] for point in sent["points"] for key in ("mean", "test")]
    assert sent["low"] <= min(shares)
    assert max(shares) <= sent["high"]
    assert sent["baseline"] == job.y_train.value_counts(normalize=True).max()
    assert sent["chosen"] == dial.settled_rules


def open_page(job: Job, dial: Dialling | None = None) -> AppTest:
    page = AppTest.from_file(str(VIEW), default_timeout=60)
    page.session_state[session.KEY] = session.Session(job=job, trained_name="beans", dial=dial)
    return page.run()


def text_of(page: AppTest) -> str:
    parts = [*page.title, *page.subheader, *page.markdown, *page.caption]
    return re.sub(r"[\\\u2060]", "", "\n".join(str(part.value) for part in parts)).replace("\u00a0", " ")


def test_page_follows_the_named_point(job: Job, dial: Dialling) -> None:
    page = open_page(job, dial)
    assert not page.exception
    assert dial.found is not None
    every = dial.found.marks[-1].n_rules
    page.button(key="dial_Every rule").click().run()
    assert not page.exception
    rules = dial.outcome.estimator.at(every).rules_
    right = np.mean(rules.predict(job.X_test) == job.y_test.to_numpy())
    assert f"{every} rules with {rules.n_literals} literals get {100 * right:.0f} % of unseen" in text_of(
        page
    )
    assert len(page.session_state[session.KEY].rules().rules()) == every
    assert "gave the same votes as the model" in text_of(page)
    page.radio(key="takeaway_format").set_value("model").run()
    assert "tmcore.load read the file back" in text_of(page)
    page.button(key="dial_settled").click().run()
    assert f"{dial.settled_rules} rules with" in text_of(page)


def test_votes_have_no_dial_and_the_page_says_why() -> None:
    job = settled_job("none")
    try:
        page = open_page(job)
        assert not page.exception
        assert (
            "The dial from few rules to many needs settled weights (Rule weights: Settled at the end)."
            in text_of(page)
        )
    finally:
        job.close()


def test_weights_are_typed_with_either_minus(job: Job) -> None:
    editing = session.Session(job=job).rules()
    assert editing is not None
    for typed in ("−1.250", "-1.250"):
        assert re.fullmatch(edit_panel.WEIGHT, typed)
        st.session_state["table"] = {"edited_rows": {"0": {"weight": typed}}, "deleted_rows": []}
        edit_panel._take_table(editing, "table", [1], ["weight"])
        assert editing.rules().rules[0].weights == -1.25
        editing.undo()
    assert not re.fullmatch(edit_panel.WEIGHT, "1e3; x")


def test_pruning_names_its_loss_and_is_one_edit(job: Job) -> None:
    page = open_page(job)
    rules = session.Session(job=job).rules().rules()  # type: ignore[union-attr]
    covers = [float(np.mean(rule_rows)) for rule_rows in rules.outputs(job.X_train).T]
    least = np.ceil(200 * min(covers)) / 2 + 0.5
    page.slider(key="edit_support_0").set_value(least).run()
    assert not page.exception
    rare = [number for number, share in enumerate(covers, start=1) if 100 * share < least]
    assert 0 < len(rare) < len(covers)
    left = [rule for rule, share in zip(rules, covers, strict=True) if 100 * share >= least]
    assert re.search(f"Leaving out {len(rare)} rules? (loses|gains) ", text_of(page))
    page.button(key="edit_prune").click().run()
    assert not page.exception
    editing = page.session_state[session.KEY].rules()
    assert editing.draft.off == frozenset(rare)
    assert [rule.conditions for rule in editing.rules()] == [rule.conditions for rule in left]
    assert f"{len(left)} rule" in page.title[0].value.replace("\u00a0", " ")
    page.button(key="edit_undo").click().run()
    assert not page.session_state[session.KEY].rules().is_edited
