"""Rule-level differences, stability over seeds, and the other models on the same split."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, mean_absolute_error, r2_score
from sklearn.tree import DecisionTreeClassifier

from tmcore.compare import Pair, difference, recurring, shape, spans, stability
from tmcore.conditions import Condition
from tmcore.contenders import (
    Contender,
    array_bytes,
    baselines,
    compare_models,
    machines,
    path_lengths,
    usual_pipeline,
)
from tmcore.judge import fit
from tmcore.number_rules import NumberRules
from tmcore.parameters import Parameters
from tmcore.regressor import TsetlinRegressor
from tmcore.rule import Rule
from tmcore.ruleset import RuleSet

SIZES = ("s", "m", "l")


def age(lower: float | None = None, upper: float | None = None) -> Condition:
    return Condition("age", "age", "numeric", "years", lower=lower, upper=upper)


def town(name: str) -> Condition:
    return Condition("town", "town", "nominal", is_in=name)


def not_town(*names: str) -> Condition:
    return Condition("town", "town", "nominal", not_in=names)


def size(*levels: str) -> Condition:
    return Condition("size", "size", "ordinal", levels=levels, all_levels=SIZES)


def rules(*listed: Rule) -> RuleSet:
    return RuleSet(np.array(["ill", "well"]), 0.0, listed, ())


def test_same_moved_and_only_here() -> None:
    first = rules(
        Rule((age(lower=50),), 1.0),
        Rule((age(10, 20), town("a")), -1.0),
        Rule((town("a"),), 0.5),
        Rule((size("m", "l"),), 0.5),
    )
    second = rules(
        Rule((size("l"),), 0.25),
        Rule((town("a"), age(10, 25)), -3.0),
        Rule((age(lower=50),), 2.0),
        Rule((town("b"),), 0.5),
        Rule((age(upper=50),), 1.0),
        Rule((not_town("a"),), 0.5),
    )
    found = difference(first, second, {"age": 50.0, "size": 2.0})
    assert found.same == (Pair(1, 3, 0.0),)
    # one of two bounds moved by 5 of 50; one level of two moved
    assert found.moved == (Pair(2, 2, pytest.approx(0.05)), Pair(4, 1, pytest.approx(0.5)))
    assert (found.only_first, found.only_second) == ((3,), (4, 5, 6))


def test_direction_and_class_make_another_rule() -> None:
    names = ("ill", "well")
    assert shape(Rule((age(lower=5),), 1.0), names) == shape(Rule((age(lower=9),), 0.1), names)
    different = [
        Rule((age(lower=5),), 1.0),
        Rule((age(lower=5),), -1.0),
        Rule((age(upper=5),), 1.0),
        Rule((age(5, 9),), 1.0),
        Rule((town("a"),), 1.0),
        Rule((not_town("a"),), 1.0),
        Rule((not_town("a", "b"),), 1.0),
        Rule((size("m", "l"),), 1.0),
        Rule((size("s", "m"),), 1.0),
    ]
    assert len({shape(rule, names) for rule in different}) == len(different)
    assert shape(Rule((not_town("a", "b"),), 1.0), names) == shape(Rule((not_town("b", "a"),), 1.0), names)


@pytest.mark.parametrize("seed", range(4))
def test_pairs_have_the_least_total_distance_and_keep_equal_rules(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cuts = [rng.integers(0, 40, n).astype(float) for n in (4, 5)]
    first, second = (rules(*[Rule((age(lower=cut),), 1.0) for cut in part]) for part in cuts)
    found = difference(first, second, {"age": 1.0})
    pairs = [*found.same, *found.moved]

    def value(order: tuple[int, ...]) -> tuple[int, float]:
        gaps = [abs(a - cuts[1][k]) for a, k in zip(cuts[0], order, strict=True)]
        return -sum(gap == 0 for gap in gaps), sum(gaps)

    best = min(value(order) for order in itertools.permutations(range(5), 4))
    assert (-len(found.same), sum(pair.distance for pair in pairs)) == best
    assert {pair.first for pair in pairs} == {1, 2, 3, 4}
    assert len(found.only_second) == 1


def test_ranges_are_those_of_the_rows() -> None:
    one = rules(Rule((age(10, 20), size("m", "l")), 1.0))
    X = pd.DataFrame({"age": [0.0, np.nan, 90.0], "size": ["s", "m", "l"]})
    assert spans([one], X) == {"age": 90.0, "size": 2.0}
    assert spans([one]) == {"age": 10.0, "size": 2.0}


def test_recurring_counts_sets_and_keeps_where_bounds_were() -> None:
    reference = rules(Rule((age(lower=50),), 1.0), Rule((town("a"),), 1.0))
    sets = [
        rules(Rule((age(lower=48),), 0.2), Rule((age(lower=30),), 0.9)),  # two of one shape count once
        rules(Rule((age(lower=52),), 2.0), Rule((town("b"),), 1.0)),
        rules(Rule((town("b"),), 3.0)),
        rules(),
    ]
    found = recurring(reference, sets)
    assert [(one.number, one.n_seeds) for one in found.rules] == [(1, 2), (2, 0), (None, 2)]
    assert found.rules[0].ranges == {"age": [(30.0, 52.0)]}  # of the heaviest of each set
    assert found.rules[2].example == sets[2][0]
    assert found.n_usual == 0
    assert recurring(reference, sets[:2]).n_usual == 1


def table(n: int = 90, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": pd.Series(rng.choice(["x", "y", "z"], n), dtype="category"),
            "c": pd.Categorical(rng.choice(SIZES, n), SIZES, ordered=True),
        }
    )
    y = np.where(X["a"] + (X["b"] == "x") > 0.3, "yes", "no")
    X.loc[rng.random(n) < 0.1, "a"] = np.nan
    X.loc[rng.random(n) < 0.1, "b"] = np.nan
    return X, pd.Series(y)


def test_stability_trains_with_the_seeds_given() -> None:
    X, y = table()
    parameters = Parameters(n_clauses=10, epochs=3)
    models = {seed: fit(X, y, parameters.replace(random_state=seed)) for seed in (3, 4)}
    assert models[3] is not None
    assert models[4] is not None
    found = stability(X, y, parameters, [3, 4], models[3].rules_)
    assert {one.to_text() for one in found.sets} == {models[3].rules_.to_text(), models[4].rules_.to_text()}
    names = models[3].rules_.class_names
    shapes = [{shape(rule, names) for rule in model.rules_} for model in models.values() if model is not None]
    assert {one.form: one.n_seeds for one in found.rules} == {
        form: sum(form in own for own in shapes) for form in shapes[0] | shapes[1]
    }


def test_models_are_scored_on_the_same_split() -> None:
    X, y = table()
    train, test = (X[:60], y[:60]), (X[60:], y[60:])
    parameters = Parameters(n_clauses=10, epochs=3, weights="real")
    told: list[tuple[int, int]] = []
    chosen = [*machines(parameters), *baselines()[:3]]
    found = compare_models(train, test, chosen, progress=lambda done, planned: told.append((done, planned)))
    assert told == [(k, 6) for k in range(6)]
    assert [one.name for one in found[:3]] == ["Intervals", "Thresholds", "Weighted intervals"]
    for one, changes in zip(
        found, ({"weights": "refit"}, {"weights": "refit", "representation": "thresholds"}, {}), strict=False
    ):
        model = fit(*train, parameters.replace(**changes))
        assert model is not None
        assert one.scores["F1"] == pytest.approx(f1_score(test[1], model.predict(test[0]), pos_label="yes"))
        assert (one.n_literals, one.n_rules) == (model.n_literals_, len(model.rules_))
    commonest, tree = found[3], found[4]
    assert commonest.scores["accuracy"] == np.mean(test[1] == train[1].mode()[0])
    assert commonest.scores["AUC"] == 0.5
    assert tree.n_rules is not None
    assert tree.n_rules <= 8
    assert all(one.testing_bytes <= one.training_bytes for one in found)


def test_pipeline_reads_gaps_places_and_categories_never_seen() -> None:
    X, y = table()
    new = pd.DataFrame(
        {"a": [np.nan, 1.0], "b": ["never", None], "c": pd.Categorical(["l", None], SIZES, ordered=True)}
    )
    model = usual_pipeline(X, LogisticRegression()).fit(X, y)
    read = model[:-1].transform(new)
    median = X["a"].median()
    # a with its gap marked, c as a place, then b one-hot: x, y, z, missing
    places = pd.Series([SIZES.index(one) for one in X["c"]])
    assert read[0].tolist() == [median, 2.0, 1.0, 0, 0, 0, 0]
    assert read[1].tolist() == [1.0, places.median(), 0.0, 0, 0, 0, 1]


def test_tree_paths_and_bytes() -> None:
    X = np.arange(8.0)[:, None]
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, [0, 0, 1, 1, 0, 0, 1, 1])
    expected = tree.decision_path(X).toarray().sum(axis=1) - 1
    leaves = tree.apply(X)
    assert sorted(path_lengths(tree)) == sorted(expected[np.unique(leaves, return_index=True)[1]].tolist())
    shared = np.zeros(100)
    assert array_bytes({"a": shared, "b": [shared, np.zeros(3, np.uint8)], "c": "text"}) == 803
    assert array_bytes(tree) >= tree.tree_.__getstate__()["nodes"].nbytes


def test_stopping_keeps_what_was_measured() -> None:
    X, y = table()
    halting = Contender("none", "", False, lambda X, y, stop: None)
    first, *_ = baselines()
    assert [one.name for one in compare_models((X, y), (X, y), [first, halting, first])] == [first.name]


def test_models_of_numbers_are_scored_on_the_same_split() -> None:
    X, _ = table()
    y = pd.Series(40 + 30.0 * (X["a"] > 0) + np.random.default_rng(1).normal(scale=2, size=90))
    train, test = (X[:60], y[:60]), (X[60:], y[60:])
    parameters = Parameters(n_clauses=10, epochs=3)
    found = compare_models(
        train, test, [*machines(parameters, task="numbers"), *baselines(0, "numbers")[:4]], task="numbers"
    )
    assert [one.name for one in found[3:]] == [
        "Always the mean",
        "Shallow tree",
        "Ridge regression",
        "Random forest",
    ]
    for one, changes in zip(
        found[:3], ({}, {"representation": "thresholds"}, {"weights": "real"}), strict=True
    ):
        model = TsetlinRegressor(n_clauses=10, epochs=3, random_state=0, **changes).fit(*train)
        assert one.scores["MAE"] == pytest.approx(mean_absolute_error(test[1], model.predict(test[0])))
        assert (one.n_literals, one.n_rules) == (model.n_literals_, len(model.rules_))
    mean = np.full(30, train[1].mean())
    assert found[3].scores["MAE"] == pytest.approx(mean_absolute_error(test[1], mean))
    assert found[3].scores["R2"] == pytest.approx(r2_score(test[1], mean))
    assert found[3].intervals["R2"][0] < found[3].scores["R2"] < found[3].intervals["R2"][1]
    assert found[4].n_rules is not None
    assert found[6].scores["MAE"] < found[3].scores["MAE"]


def test_rules_of_numbers_come_back_when_they_move_the_number_the_same_way() -> None:
    def numbers(*listed: Rule) -> NumberRules:
        return NumberRules(np.array([]), 100.0, listed, ())

    first = numbers(Rule((age(lower=50),), 12.0), Rule((town("a"),), -3.0))
    second = numbers(Rule((age(lower=40),), 2.0), Rule((town("a"),), 3.0))
    found = difference(first, second, {"age": 50.0})
    assert found.moved == (Pair(1, 1, pytest.approx(0.2)),)
    assert (found.only_first, found.only_second) == ((2,), (2,))
    again = recurring(first, [second, first])
    assert [(one.number, one.n_seeds) for one in again.rules] == [(1, 2), (2, 1), (None, 1)]


def test_stability_of_numbers_trains_regressors_with_the_seeds_given() -> None:
    X, _ = table()
    y = 40 + 30.0 * (X["a"] > 0)
    models = [TsetlinRegressor(n_clauses=10, epochs=3, random_state=seed).fit(X, y) for seed in (3, 4)]
    found = stability(X, y, Parameters(n_clauses=10, epochs=3), [3, 4], models[0].rules_)
    assert {one.to_text() for one in found.sets} == {model.rules_.to_text() for model in models}
    own = {shape(rule, ("lower", "higher")) for rule in models[0].rules_}
    assert {one.form for one in found.rules if one.number is not None} == own
