"""One file for a run or a model: arrays and a JSON description in a zip, read back without running anything."""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from scipy import sparse

from tmcore.parameters import Parameters

FORMAT_VERSION = 2

MAX_BYTES = 4 * 2**30
"""Most that a file may unpack to, so that a small one made to do harm cannot fill the memory."""

UNFIT = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What goes wrong where contents that could be read do not fit together."""


def write(path: str | Path, kind: str, meta: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Write atomically: the file is either the old one or the whole new one, whatever happens meanwhile.

    Parameters
    ----------
    kind : str
        "run" or "model"; `read` insists on it.
    meta : dict
        JSON-able.

    Raises
    ------
    ValueError
        It would not be read back, since it takes more than MAX_BYTES; or `path` is a folder or a device.
    OSError
        It cannot be written there.
    """
    size = sum(array.nbytes for array in arrays.values())
    if size > MAX_BYTES:
        raise ValueError(
            f"The {kind} takes {size / 2**30:.1f} GB and a file may hold {MAX_BYTES // 2**30} GB;"
            " use fewer clauses or rows."
        )
    text = json.dumps({"format": f"tmcore-{kind}", "version": FORMAT_VERSION, **meta}, allow_nan=False)
    arrays = {**arrays, "meta": np.frombuffer(text.encode(), np.uint8)}
    with replacing(path) as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write to that takes the place of `path` when it is whole, and is gone where that fails."""
    path = Path(path)
    check_replaceable(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    except OSError as error:  # it names the temporary file
        raise type(error)(error.errno, error.strerror, str(path)) from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def check_replaceable(path: Path) -> None:
    """Raise ValueError for a folder, and for a device such as /dev/null, which a file must not take the place of."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file to write.")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is a device or a pipe, which cannot be replaced; name a file to write.")


@contextmanager
def fitting(path: str | Path) -> Iterator[None]:
    """Says in one sentence that a file is damaged where what it holds does not fit together."""
    try:
        yield
    except UNFIT as error:
        raise ValueError(
            f"{path} is damaged, or was written by another version of tmcore: what it holds does not fit together"
            f" ({type(error).__name__}: {error})."
        ) from error


def check_array(name: str, found: np.ndarray, shape: tuple[int, ...], *dtypes: Any) -> None:
    """Raise ValueError where an array from a file has another shape, or none of the types."""
    if found.shape != shape or found.dtype not in dtypes:
        raise ValueError(f"{name} has the wrong shape {found.shape} or type {found.dtype}")


def read(path: str | Path, kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read a file of the given kind.

    Raises
    ------
    ValueError
        The file is something else, of another version, or damaged.
    """
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                size = sum(item.file_size for item in archive.infolist())
        except Exception as error:  # where bytes are damaged, readers raise nearly anything
            raise _damaged(path) from error
        if size > MAX_BYTES:
            raise ValueError(
                f"{path} would unpack to {size / 2**30:.1f} GB, more than tmcore puts into a file."
            )
        file.seek(0)
        try:
            with np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            meta = json.loads(arrays.pop("meta").tobytes())
            found, version = meta["format"], int(meta["version"])
        except Exception as error:
            raise _damaged(path) from error
    if found != f"tmcore-{kind}":
        raise ValueError(f"{path} holds a {found}, not a tmcore-{kind}.")
    if version > FORMAT_VERSION:
        raise ValueError(
            f"{path} was written by a newer tmcore (format {version}); update tmcore to read it."
        )
    if version < FORMAT_VERSION:
        raise ValueError(
            f"{path} was written by an older tmcore (format {version}), which kept its clauses in another order;"
            " train it anew with this one."
        )
    return meta, arrays


def _damaged(path: str | Path) -> ValueError:
    return ValueError(f"{path} is not a file that tmcore wrote, or it is damaged.")


def rows_to_arrays(name: str, rows: Any) -> dict[str, np.ndarray]:
    """Encoded rows, dense or sparse, as arrays to write."""
    if not sparse.issparse(rows):
        return {name: rows}
    return {
        f"{name}_indptr": rows.indptr,
        f"{name}_indices": rows.indices,
        f"{name}_shape": np.array(rows.shape),
    }


def rows_from_arrays(name: str, arrays: dict[str, np.ndarray]) -> Any:
    """Encoded rows back from `rows_to_arrays`."""
    if name in arrays:
        return arrays[name]
    indptr, indices, shape = (arrays[f"{name}_{part}"] for part in ("indptr", "indices", "shape"))
    return sparse.csr_matrix((np.ones(len(indices), np.uint8), indices, indptr), shape=tuple(shape))


def parameters_to_dict(parameters: Parameters) -> dict[str, Any]:
    """The settings as JSON-able values."""
    values = {name: _plain(value) for name, value in dataclasses.asdict(parameters).items()}
    if isinstance(parameters.class_weight, Mapping):
        values["class_weight"] = [[_plain(label), float(w)] for label, w in parameters.class_weight.items()]
    return values


def parameters_from_dict(values: dict[str, Any]) -> Parameters:
    """The settings back from `parameters_to_dict`, checked."""
    weights = values.get("class_weight")
    if isinstance(weights, list):
        values = {**values, "class_weight": dict(weights)}
    return Parameters().replace(**values)


def labels_to_list(classes: np.ndarray) -> dict[str, Any]:
    """Class labels with their type, as JSON-able values."""
    values = [_plain(value) for value in classes]
    return {"dtype": "object" if classes.dtype.kind == "O" else classes.dtype.str, "values": values}


def labels_from_list(data: dict[str, Any]) -> np.ndarray:
    """Class labels back from `labels_to_list`."""
    return np.array(data["values"], dtype=data["dtype"])


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
