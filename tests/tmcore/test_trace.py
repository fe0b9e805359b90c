"""Why did it move? The trace equals what the kernel did, and its words say so."""

import numpy as np
import pandas as pd
import pytest

from tmcore import Parameters, TrainingRun
from tmcore.trace import explain, probability, twin_of, votes
from tmcore.trace_words import bound_words, sentences, value_words


def table(n_classes=2, n_rows=60):
    rng = np.random.default_rng(4)
    X = pd.DataFrame(
        {"size": rng.integers(0, 9, n_rows) / 2, "kind": rng.choice(["oak", "elm", "fir"], n_rows)}
    )
    X["sex"] = pd.Categorical(rng.choice(["female", "male"], n_rows))
    X["grade"] = pd.Categorical(
        rng.choice(["low", "mid", "high"], n_rows), ["low", "mid", "high"], ordered=True
    )
    X.loc[rng.random(n_rows) < 0.2, "size"] = np.nan
    names = np.array(["yes", "no", "maybe"])[:n_classes]
    return X, names[(X["size"].fillna(0) * 2).astype(int) % n_classes]


CASES = [
    ("intervals", "contrastive", "real", None),
    ("intervals", "paper", "integer", "balanced"),
    ("thresholds", "contrastive", "integer", None),
]


@pytest.mark.parametrize(("representation", "rule", "weights", "balance"), CASES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_trace_equals_what_the_kernel_did(representation, rule, weights, balance, n_classes):
    parameters = Parameters(
        n_clauses=8,
        T=3.0,
        representation=representation,
        bound_rule=rule,
        weights=weights,
        class_weight=balance,
    )
    run = TrainingRun(*table(n_classes), parameters)
    run.learn(50)
    run.change(s=4.0)
    run.learn(70)
    for step in (0, 49, 50, 119):
        trace = run.explain(step)
        before, after = run.machine_at(step), run.at(step + 1)
        assert trace.step == step
        assert trace.parameters.s == (4.0 if step >= 50 else 2.0)
        assert len(trace.decisions) == n_classes - 1
        assert str(run.classes[run.labels[trace.row]]) == trace.classes[trace.label]
        twin = twin_of(run.machine_at(step + 1))
        replayed = twin_of(before)
        replayed.learn(np.array(trace.codes), trace.label)
        np.testing.assert_array_equal(replayed.states(), twin.states())
        assert replayed.weights == twin.weights
        given = np.zeros_like(after.feedback)
        for decision in trace.decisions:
            for clause in decision.clauses:
                if clause.feedback:
                    given[decision.machine, clause.clause, ("Ia", "Ib", "II").index(clause.feedback)] += 1
                assert clause.weight[1] == after.bank.weights[decision.machine, clause.clause]
                for bound in clause.bounds:
                    array = after.bank.lower if bound.side == "lower" else after.bank.upper
                    place = decision.machine, clause.clause, bound.feature
                    assert bound.position[1] == array[place]
        np.testing.assert_array_equal(given, after.feedback)
        if representation == "thresholds":
            moved = run.machine_at(step + 1).states() != before.states()
            assert len(trace.literals) == moved.sum()


def test_the_present_step_tells_what_the_next_row_will_do():
    run = TrainingRun(*table(), Parameters(n_clauses=8))
    run.learn(20)
    told = run.explain(20)
    run.learn(1)
    assert told == explain(run, 20)
    with pytest.raises(ValueError, match="Step 22 is not in this run"):
        run.explain(22)


def test_probability_is_that_of_equations_7_and_10():
    run = TrainingRun(*table(), Parameters(n_clauses=8, T=5.0))
    run.learn(100)
    for step in range(60, 100):
        trace = run.explain(step)
        decision = trace.decision()
        v = max(-5.0, min(5.0, votes(decision)))
        wanted = (5 - v) / 10 if trace.label == 1 else (5 + v) / 10
        assert probability(decision) == pytest.approx(wanted, abs=1e-9)
        for clause in decision.clauses:
            assert clause.selected == (clause.draw / 2**32 < wanted)


def story(run, wanted):
    """The words of the first clause that got this feedback."""
    for step in range(run.step):
        trace = run.explain(step)
        for clause in trace.decision().clauses:
            if clause.feedback == wanted and clause.selected:
                return trace, clause, sentences(trace, run.encoder, clause.clause)
    raise AssertionError(wanted)


@pytest.mark.parametrize("representation", ["intervals", "thresholds"])
@pytest.mark.parametrize(
    ("feedback", "say"),
    [
        ("Ia", "is confirmed"),
        ("Ib", "are weakened"),
        ("II", "made to exclude this row"),
        ("", "nothing to correct"),
    ],
)
def test_words_of_each_feedback(representation, feedback, say):
    run = TrainingRun(*table(), Parameters(n_clauses=8, T=4.0, representation=representation, weights="real"))
    run.learn(60)
    trace, clause, words = story(run, feedback)
    text = " ".join(words)
    assert f"training row {trace.row + 1} is learned. Its class is {trace.classes[trace.label]}." in words[0]
    assert f"= {probability(trace.decision()):.3f} (equation {7 if trace.label else 10})" in text
    assert f"Clause {clause.clause} votes for {'no' if clause.clause % 2 else 'yes'}." in text
    assert f"Its draw {clause.draw / 2**32:.3f} is below" in text
    assert say in text
    assert all(sentence[0].isupper() or sentence[0].isdigit() or ":" in sentence for sentence in words)
    if feedback in ("Ia", "II"):
        before, after = (weight / 2**16 for weight in clause.weight)
        assert (
            f"from {before:.4f} to {after:.4f}, {'times' if feedback == 'Ia' else 'divided by'} 1 + γ" in text
        )


def test_words_of_a_bound_name_its_cuts_and_its_memory():
    run = TrainingRun(*table(), Parameters(n_clauses=8, T=4.0))
    run.learn(60)
    told = 0
    for step in range(20, 60):
        trace = run.explain(step)
        for clause in trace.decision().clauses:
            for bound in clause.bounds:
                feature = run.encoder.features[bound.feature]
                if (
                    feature.column != "size"
                    or bound.position[0] == bound.position[1]
                    or bound.side == "upper"
                ):
                    continue
                words = sentences(trace, run.encoder, clause.clause, feature=bound.feature)
                line = next(line for line in words if line.startswith("size, lower bound"))
                tight = bound.position[1] > bound.position[0]
                ends = [
                    "no lower limit" if not at else f"size > {feature.cuts[at - 1]:g}"
                    for at in bound.position
                ]
                assert (
                    f"it {'tightens' if tight else 'widens'} from {ends[0]} to {ends[1]}".lower()
                    in line.lower()
                )
                if bound.state[0] != bound.state[1]:
                    assert f"from {bound.state[0]} to {bound.state[1]} of 100" in line
                told += 1
    assert told > 5


def test_words_of_values_and_bounds():
    X, y = table()
    encoder = TrainingRun(X, y, Parameters(n_clauses=2)).encoder
    of = {f.category or f.column: f for f in encoder.features}
    cuts = [f"{cut:g}" for cut in of["size"].cuts]
    assert value_words(of["size"], 0, 255) == f"size ≤ {cuts[0]}"
    assert value_words(of["size"], 1, 255) == f"{cuts[0]} < size ≤ {cuts[1]}"
    assert value_words(of["size"], len(cuts), 255) == f"size > {cuts[-1]}"
    assert value_words(of["size"], 255, 255) == "size is missing"
    assert value_words(of["oak"], 0, 255) == "kind is not oak"
    assert value_words(of["sex"], 1, 255) == "sex is male"
    assert bound_words(of["oak"], "lower", 1) == "kind is oak"
    assert bound_words(of["oak"], "upper", 0) == "kind is not oak"
    assert bound_words(of["sex"], "upper", 0) == "sex is female"
    assert bound_words(of["grade"], "lower", 2) == "grade is at least high"
    assert bound_words(of["grade"], "upper", 1) == "grade is at most mid"
    assert bound_words(of["size"], "upper", len(cuts)) == "no upper limit"


def test_words_for_three_classes_and_wrong_asks():
    run = TrainingRun(*table(3), Parameters(n_clauses=4))
    run.learn(30)
    trace = run.explain(12)
    own, other = (d.machine for d in trace.decisions)
    assert f"the clauses of {trace.classes[own]} that it is one" in sentences(trace, run.encoder, 0)[1]
    assert "that it is none" in sentences(trace, run.encoder, 0, machine=other)[1]
    with pytest.raises(ValueError, match="Clause 4 does not exist; use 0 to 3"):
        sentences(trace, run.encoder, 4)
    third = ({0, 1, 2} - {own, other}).pop()
    with pytest.raises(ValueError, match="choose one of those"):
        sentences(trace, run.encoder, 0, machine=third)
