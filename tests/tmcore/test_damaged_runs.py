"""Files of runs and of their progress whose parts do not fit together are refused with one sentence."""

import json

import numpy as np
import pytest

from tmcore import Parameters, TrainingRun

X = np.random.default_rng(0).normal(size=(60, 3))
y = (X[:, 0] > 0).astype(int)


@pytest.fixture(params=["classes", "numbers"])
def saved(request, tmp_path):
    """Paths of the rows and of the progress of one run."""
    run = TrainingRun(X, y, Parameters(n_clauses=20, epochs=3), (X[:20], y[:20]), task=request.param)
    run.advance(epochs=2)
    rows, progress = tmp_path / "rows.tm", tmp_path / "progress.tm"
    run.save_rows(rows)
    run.save_progress(progress)
    return rows, progress


def change(path, name, value):
    """Put another value into the file, or take the old one out."""
    with np.load(path) as stored:
        arrays = dict(stored)
    meta = json.loads(arrays.pop("meta").tobytes())
    for part in (meta, arrays):
        if name in part:
            part[name] = value(part[name]) if callable(value) else value
            if part[name] is None:
                part.pop(name)
    with path.open("wb") as file:
        np.savez_compressed(file, meta=np.frombuffer(json.dumps(meta).encode(), np.uint8), **arrays)


def refuse(saved):
    with pytest.raises(ValueError, match=r"is damaged|belongs to another run") as error:
        TrainingRun.load(*saved)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "value", [None, lambda a: a[:-1], lambda a: a.astype(str), lambda a: np.full_like(a, 200)]
)
@pytest.mark.parametrize("name", ["codes", "labels", "held_out_codes", "held_out_labels"])
def test_rows_that_do_not_fit_are_refused(saved, name, value):
    large = callable(value) and value(np.zeros(2))[0] == 200.0
    with np.load(saved[0]) as stored:
        if (large and stored[name].dtype == np.float64) or (value is None and name == "held_out_labels"):
            return  # another number to predict; no rows held out
    change(saved[0], name, value)
    refuse(saved)


@pytest.mark.parametrize("name", ["parameters", "encoder"])
@pytest.mark.parametrize("value", [None, "x", 3, [[]]])
def test_settings_that_are_none_are_refused(saved, name, value):
    change(saved[0], name, value)
    refuse(saved)


@pytest.mark.parametrize("value", [None, "x", lambda a: a[:-1] if isinstance(a, np.ndarray) else [3]])
@pytest.mark.parametrize(
    "name",
    [
        "run",
        "step",
        "history",
        "planes",
        "weights",
        "checkpoint_planes",
        "checkpoint_weights",
        "checkpoint_steps",
    ],
)
def test_progress_that_does_not_fit_is_refused(saved, name, value):
    change(
        saved[1], name, np.array(value) if value == "x" and name not in ("run", "step", "history") else value
    )
    refuse(saved)
