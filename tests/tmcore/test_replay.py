"""Going back: any step equals a fresh run stopped there, branches go on from it, checkpoints stay within memory."""

import threading

import numpy as np
import pandas as pd
import pytest
from changed_runs import (
    assert_same_machine,
    assert_same_snapshot,
    change_lists,
    check_any_step,
    learn_with_changes,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tmcore import Parameters, TrainingRun, files, history
from tmcore.history import Checkpoints
from tmcore.machine.state import MachineState


def table(n_rows=40, n_classes=2, seed=0):
    """Numbers, a category and gaps."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n_rows).round(1), "b": rng.integers(0, 4, n_rows).astype(float)})
    X["c"] = pd.Categorical(rng.choice(["red", "green", "blue"], n_rows))
    X.loc[rng.random(n_rows) < 0.1, "a"] = np.nan
    return X, rng.integers(0, n_classes, n_rows)


def begun(parameters, n_classes):
    X, y = table(n_classes=n_classes)
    return TrainingRun(X, y, parameters, validation=(X[:10], y[:10]))


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["intervals", "thresholds"]),
    st.sampled_from([2, 3]),
    st.sampled_from(["none", "real", "integer"]),
    change_lists(120),
    st.lists(st.integers(0, 120), min_size=1, max_size=4),
    st.booleans(),
)
def test_any_step_equals_a_fresh_run_stopped_there(representation, n_classes, weights, changes, steps, dense):
    parameters = Parameters(n_clauses=6, representation=representation, weights=weights, random_state=5)
    check_any_step(lambda: begun(parameters, n_classes), changes, 120, steps, dense)


def test_looking_back_changes_nothing_and_may_happen_while_it_learns():
    X, y = table(400)
    run = TrainingRun(X, y, Parameters(n_clauses=50))
    other = TrainingRun(X, y, Parameters(n_clauses=50))
    thread = threading.Thread(target=run.learn, args=(60_000,))
    run.learn(500)
    wanted = run.at(300).votes
    thread.start()
    seen = [run.at(300).votes for _ in range(20)]
    thread.join()
    for votes in seen:
        np.testing.assert_array_equal(votes, wanted)
    other.learn(60_500)
    assert_same_machine(run.machine, other.machine)


@pytest.mark.parametrize("step", [-1, 81])
def test_a_step_that_is_not_in_the_run(step):
    run = TrainingRun(*table(), Parameters(n_clauses=4))
    run.learn(80)
    for ask in (run.at, run.machine_at, run.branch):
        with pytest.raises(ValueError, match=f"Step {step} is not in this run; use a step from 0 to 80"):
            ask(step)


@pytest.mark.parametrize("representation", ["intervals", "thresholds"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_branch_without_changes_equals_the_original(representation, n_classes):
    X, y = table(n_classes=n_classes)
    run = TrainingRun(X, y, Parameters(n_clauses=6, weights="real", representation=representation))
    for _ in range(3):
        run.advance(epochs=1)
    run.change(s=3.0)
    run.advance(epochs=2)
    branch = run.branch(130)
    assert branch.codes is run.codes
    assert [record.step for record in branch.history] == [40, 80, 120]
    assert branch.changes == run.changes
    branch.learn(70)
    assert_same_machine(branch.machine, run.machine)
    assert_same_machine(branch.machine_at(60), run.machine_at(60))


def test_a_branch_takes_its_own_way_and_leaves_the_original_alone():
    X, y = table()
    run = TrainingRun(X, y, Parameters(n_clauses=6))
    run.learn(200)
    kept = run.machine.state.copy()
    branch = run.branch(90, T=1.0, s=5.0, bound_rule="paper", boost_true_positive=True)
    expected = TrainingRun(X, y, Parameters(n_clauses=6))
    expected.learn(90)
    rules = {"T": 1.0, "s": 5.0, "bound_rule": "paper", "boost_true_positive": True}
    expected.machine.parameters = expected.parameters.replace(**rules)
    expected.learn(50)
    branch.learn(50)
    assert_same_machine(branch.machine, expected.machine)
    assert [(c.step, c.name) for c in branch.changes] == [(90, name) for name in rules]
    np.testing.assert_array_equal(run.machine.state.planes, kept.planes)
    assert run.changes == []
    assert_same_machine(branch.branch(120).machine, branch.machine_at(120))
    assert_same_machine(branch.machine_at(40), run.machine_at(40))
    assert (branch.machine.state.planes != run.machine_at(140).state.planes).any()


@pytest.mark.parametrize("weights", ["refit", "none", "integer"])
def test_new_weights_in_a_branch_start_anew_and_are_replayed(weights):
    X, _ = table()
    run = TrainingRun(X, X["b"] > 1, Parameters(n_clauses=6, weights="real", gamma=0.5, T=3.0))
    run.learn(200)
    branch = run.branch(150, weights=weights)
    units = branch.machine.bank().weights / 2**16
    expected = np.ones_like(units)
    if weights == "integer":
        old = run.machine_at(150).bank().weights / 2**16
        expected = np.maximum(1, np.floor(old + 0.5))
        assert (expected > 1).any()
    np.testing.assert_array_equal(units, expected)
    branch.learn(50)
    branch.checkpoints = branch.checkpoints.up_to(0)
    assert_same_machine(branch.machine_at(200), branch.machine)


@pytest.mark.parametrize("name", ["n_clauses", "n_states", "max_levels", "representation", "random_state"])
def test_what_a_branch_cannot_change(name):
    run = TrainingRun(*table(), Parameters(n_clauses=4))
    with pytest.raises(ValueError, match=f"{name} cannot change in a branch.*weights, or start a new run"):
        run.branch(0, **{name: 6})
    with pytest.raises(ValueError, match=r"s is 0\.5"):
        run.branch(0, s=0.5)


def test_restart_uses_the_encoded_rows_again():
    X, y = table()
    run = TrainingRun(X, y, Parameters(n_clauses=4), validation=(X[:10], y[:10]))
    run.learn(50)
    again = run.restart(Parameters(n_clauses=8, representation="thresholds"))
    fresh = TrainingRun(X, y, Parameters(n_clauses=8, representation="thresholds"), (X[:10], y[:10]))
    assert again.advance(epochs=1).record() == fresh.advance(epochs=1).record()
    with pytest.raises(ValueError, match="open the data again to change the levels"):
        run.restart(Parameters(n_clauses=4, max_levels=10))


def test_going_back_for_good_forgets_what_came_after():
    run = TrainingRun(*table(), Parameters(n_clauses=4))
    run.learn(40)
    run.change(s=3.0)
    run.learn(40)
    run.change(s=8.0)
    run.learn(40)
    run.go_to(run.machine_at(60).state)
    assert (run.step, run.parameters.s) == (60, 3.0)
    assert [change.value for change in run.changes] == [3.0]
    other = learn_with_changes(begun(run.first_parameters, 2), [(40, "s", 3.0)], 90)
    run.learn(30)
    assert_same_machine(run.machine, other.machine)


def test_checkpoints_thin_evenly_and_stay_within_their_memory(monkeypatch):
    state = MachineState(np.zeros(1000, np.uint8), np.zeros(3, np.int64), 2)
    monkeypatch.setattr(history, "MAX_CHECKPOINT_BYTES", 20 * 1024)
    kept, due = Checkpoints(state), 0.0
    for step in range(1, 1000):
        state.step, due = step, due + 0.01
        if due >= kept.spacing:
            kept.add(state)
            due = 0.0
        assert kept.n_bytes <= 20 * 1024
    steps = [s.step for s in kept.states(10**9)]
    assert steps[0] == 0
    assert 8 <= len(steps) <= 20
    gaps = np.diff(steps)
    assert gaps.max() <= 2 * gaps.min() + 2
    assert kept.before(steps[3] + 1).step == steps[3]
    assert len(kept.states(5 * 1024)) <= 5


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_loaded_run_goes_back_and_on_as_if_it_had_never_stopped(tmp_path, n_classes):
    X, y = table(n_classes=n_classes)
    run = TrainingRun(X, y, Parameters(n_clauses=6, weights="real"), validation=(X[:10], y[:10]))
    run.checkpoints.spacing = 0.0
    run.advance(samples=70)
    run.save(tmp_path / "run")
    run.change(T=2.0, gamma=0.3)
    run.advance(samples=70)
    run.save_progress(tmp_path / "progress")
    loaded = TrainingRun.load(tmp_path / "run", tmp_path / "progress")
    assert (loaded.history, loaded.changes) == (run.history, run.changes)
    assert len(loaded.checkpoints) > 2
    for step in (0, 69, 70, 71, 140):
        assert_same_machine(loaded.machine_at(step), run.machine_at(step))
    assert_same_snapshot(run.advance(samples=50), loaded.advance(samples=50))
    assert TrainingRun.load(tmp_path / "run").step == 70
    other = TrainingRun(X, y, Parameters(n_clauses=8))
    other.save(tmp_path / "other")
    with pytest.raises(ValueError, match="belongs to another run"):
        TrainingRun.load(tmp_path / "other", tmp_path / "progress")


def test_progress_belongs_to_its_run_whatever_settings_there_are_later(tmp_path, monkeypatch):
    X, y = table()
    run, same = (TrainingRun(X, y, Parameters(n_clauses=6)) for _ in range(2))
    for name, one in (("run", run), ("same", same)):
        one.save_rows(tmp_path / name)
        one.learn(10)
        one.save_progress(tmp_path / f"{name} progress")
    with pytest.raises(ValueError, match="belongs to another run"):
        TrainingRun.load(tmp_path / "run", tmp_path / "same progress")
    as_dict = files.parameters_to_dict
    monkeypatch.setattr(files, "parameters_to_dict", lambda parameters: as_dict(parameters) | {"new": 1})
    loaded = TrainingRun.load(tmp_path / "run", tmp_path / "run progress")
    loaded.learn(10)
    loaded.save_progress(tmp_path / "run progress")
    assert TrainingRun.load(tmp_path / "run", tmp_path / "run progress").step == 20
    meta, arrays = files.read(tmp_path / "run", "run")
    files.write(
        tmp_path / "old",
        "run",
        {"parameters": meta["parameters"], "encoder": meta["encoder"], "classes": meta["classes"]},
        arrays,
    )
    assert TrainingRun.load(tmp_path / "old", tmp_path / "run progress").step == 20
    branched, restarted = run.branch(5), run.restart(run.parameters)
    assert len({run.id, same.id, branched.id, restarted.id}) == 4


def test_a_state_of_another_layout_is_refused(tmp_path):
    run = TrainingRun(*table(), Parameters(n_clauses=6))
    run.learn(10)
    run.machine.state.planes = run.machine.state.planes.astype(np.uint16)
    run.save(tmp_path / "run")
    with pytest.raises(ValueError, match="written by another version"):
        TrainingRun.load(tmp_path / "run")
