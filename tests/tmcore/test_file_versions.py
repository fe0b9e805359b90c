"""Files of other versions are refused with one sentence that says which way to go."""

import numpy as np
import pytest

from tmcore import files


@pytest.mark.parametrize(
    ("step", "expected"), [(1, "newer tmcore.*update"), (-1, "older tmcore.*train it anew")]
)
def test_another_format_is_refused(tmp_path, monkeypatch, step, expected):
    path = tmp_path / "model.tm"
    with monkeypatch.context() as other:
        other.setattr(files, "FORMAT_VERSION", files.FORMAT_VERSION + step)
        files.write(path, "model", {"name": "a"}, {"numbers": np.arange(3)})
    with pytest.raises(ValueError, match=expected):
        files.read(path, "model")


def test_the_present_format_comes_back(tmp_path):
    path = tmp_path / "model.tm"
    files.write(path, "model", {"name": "a"}, {"numbers": np.arange(3)})
    meta, arrays = files.read(path, "model")
    assert meta["name"] == "a"
    assert arrays["numbers"].tolist() == [0, 1, 2]
