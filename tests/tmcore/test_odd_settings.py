"""Settings of odd types are taken as what they mean, or refused with one sentence."""

import numpy as np
import pytest

import tmcore
from tmcore import Parameters, TsetlinClassifier

X = np.random.default_rng(0).normal(size=(60, 3))
y = (X[:, 0] > 0).astype(int)
PLAIN = {
    "n_clauses": 10,
    "epochs": 3,
    "T": 5,
    "max_levels": 8,
    "harvest": 2,
    "random_state": 3,
    "max_literals": 4,
}


def test_numbers_of_other_types_give_the_same_model(tmp_path):
    odd = {
        "n_clauses": np.int8(10), "epochs": 3.0, "T": np.array(5), "max_levels": 8.0, "harvest": np.uint8(2),
        "random_state": np.int32(3), "max_literals": 4.0, "early_stopping": np.False_, "s": np.float32(2.0),
    }  # fmt: skip
    expected = TsetlinClassifier(**PLAIN).fit(X, y)
    model = TsetlinClassifier(**odd).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    model.save(tmp_path / "model.tm")
    loaded = tmcore.load(tmp_path / "model.tm")
    np.testing.assert_array_equal(loaded.decision_function(X), expected.decision_function(X))


def test_settings_hold_python_numbers():
    kept = Parameters(n_clauses=np.int16(20), T=np.float32(2.5), epochs=2e1, boost_true_positive=np.True_)
    assert kept == Parameters(n_clauses=20, T=2.5, epochs=20, boost_true_positive=True)
    found = kept.n_clauses, kept.T, kept.epochs, kept.boost_true_positive
    assert [type(value) for value in found] == [int, float, int, bool]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"weights": np.array(["refit", "none"])}, "weights is array.*use one of 'refit'"),
        ({"T": 10**400}, "T is 1000.*use a number from 0.5 to 8192"),
        ({"n_jobs": "a"}, "n_jobs is 'a'; use a whole number"),
        ({"n_jobs": 0}, "n_jobs is 0; use a whole number"),
        ({"n_jobs": 1.5}, "n_jobs is 1.5; use a whole number"),
        ({"random_state": "a"}, "random_state is 'a'; use a whole number"),
        ({"random_state": 1.5}, "random_state is 1.5; use a whole number"),
        ({"class_weight": {0: "a"}}, "class 0 the weight 'a'; use a number from"),
        ({"class_weight": {0: None}}, "class 0 the weight None; use a number from"),
        ({"class_weight": {1: np.inf}}, "class 1 the weight inf; use a number from"),
        ({"class_weight": {1: np.nan}}, "class 1 the weight nan; use a number from"),
        ({"class_weight": {1: 1e-300}}, "class 1 the weight 1e-300; use a number from"),
    ],
)
def test_nonsense_is_refused_with_one_sentence(settings, expected):
    with pytest.raises(ValueError, match=expected):
        TsetlinClassifier(**{"n_clauses": 10, "epochs": 3, **settings}).fit(X, y)


def test_the_most_lopsided_class_weights_are_learned_with():
    model = TsetlinClassifier(n_clauses=10, epochs=3, random_state=0, class_weight={0: 1e6, 1: 1e-6}).fit(
        X, y
    )
    assert (model.predict(X) == 0).all()
