"""Model files whose parts do not fit together, or that would do harm, are refused with one sentence."""

import json
import os
import zipfile

import numpy as np
import pandas as pd
import pytest

import tmcore
from tmcore import TsetlinClassifier, TsetlinRegressor, files

X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["a", "b", "c"])
y = (X["a"] > 0).astype(int)


@pytest.fixture(scope="module", params=[TsetlinClassifier, TsetlinRegressor])
def model(request):
    return request.param(n_clauses=20, epochs=5, harvest=2, random_state=0).fit(X, y)


def rewritten(model, folder, change):
    """A file of the model with its JSON and its arrays changed."""
    path = folder / "model.tm"
    model.save(path)
    with np.load(path) as stored:
        arrays = dict(stored)
    meta = json.loads(arrays.pop("meta").tobytes())
    change(meta, arrays)
    with path.open("wb") as file:
        np.savez_compressed(file, meta=np.frombuffer(json.dumps(meta).encode(), np.uint8), **arrays)
    return path


def refuse(path):
    with pytest.raises(ValueError, match=r"damaged|older tmcore|is .*; use") as error:
        tmcore.load(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("value", [-1, "x", {}, [], [[]], "gone"])
@pytest.mark.parametrize(
    "name", ["version", "parameters", "encoder", "feature_names", "step", "n_batches", "settled"]
)
def test_json_that_says_something_else_is_refused(model, tmp_path, name, value):
    def change(meta, arrays):
        if value == "gone":
            meta.pop(name)
        else:
            meta[name] = value

    refuse(rewritten(model, tmp_path, change))


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a[..., :-1],
        lambda a: a.astype(np.float64),
        lambda a: a.astype(str),
        lambda a: np.array(0),
        None,
    ],
    ids=["cut", "floats", "texts", "one", "gone"],
)
def test_arrays_of_another_kind_are_refused(model, tmp_path, change):
    model.save(tmp_path / "whole.tm")
    with np.load(tmp_path / "whole.tm") as stored:
        names = [name for name in stored.files if name not in ("meta", "bank_polarity")]
    for name in names:

        def changed(meta, arrays, name=name):
            array = arrays.pop(name)
            if change is not None:
                arrays[name] = change(array)

        refuse(rewritten(model, tmp_path, changed))


@pytest.mark.parametrize("place", [-1, 10_000])
@pytest.mark.parametrize("name", ["settled_machines", "settled_clauses"])
def test_clauses_that_are_not_there_are_refused(model, tmp_path, name, place):
    def change(meta, arrays):
        arrays[name] = np.full_like(arrays[name], place)

    refuse(rewritten(model, tmp_path, change))


def test_bounds_beyond_the_ranks_are_refused_before_compiled_code_sees_them(model, tmp_path):
    def change(meta, arrays):
        arrays["planes"] = np.full_like(arrays["planes"], 255)

    refuse(rewritten(model, tmp_path, change))


def test_a_setting_that_is_not_known_is_refused(model, tmp_path):
    refuse(rewritten(model, tmp_path, lambda meta, arrays: meta["parameters"].update(new_thing=3)))


def test_a_file_that_unpacks_to_very_much_is_not_unpacked(tmp_path):
    path = tmp_path / "bomb.tm"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for k in range(5):
            with archive.open(f"{k}.npy", "w") as file:
                file.write(bytes(1 << 20))
    limit = files.MAX_BYTES
    try:
        files.MAX_BYTES = 4 << 20
        with pytest.raises(ValueError, match=r"would unpack to 0\.0 GB, more than tmcore puts into a file"):
            tmcore.load(path)
        with pytest.raises(ValueError, match=r"The model takes .* GB and a file may hold"):
            files.write(tmp_path / "large.tm", "model", {}, {"a": np.zeros(5 << 20, np.uint8)})
    finally:
        files.MAX_BYTES = limit
    assert os.listdir(tmp_path) == ["bomb.tm"]


def test_a_folder_and_a_pipe_are_not_replaced(model, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ValueError, match="is a folder; name a file"):
        model.save(tmp_path)
    with pytest.raises(ValueError, match="is a device or a pipe, which cannot be replaced"):
        model.save(pipe)
    assert pipe.is_fifo()
    with pytest.raises(FileNotFoundError) as error:
        model.save(tmp_path / "no" / "model.tm")
    assert error.value.filename == str(tmp_path / "no" / "model.tm")
    assert os.listdir(tmp_path) == ["pipe"]
