"""A training run in files: one with its rows, and a small one for what it has learned since, to be saved often."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tmcore import files, replay
from tmcore.boolean import check_sparse
from tmcore.encode import MISSING
from tmcore.encoders import AnyEncoder, read_encoder
from tmcore.history import Change
from tmcore.machine.state import MachineState
from tmcore.state_checks import check_state
from tmcore.task import Task, task_from_dict

if TYPE_CHECKING:
    from tmcore.training import TrainingRun

MAX_CHECKPOINT_BYTES = 2 * 2**20
"""Checkpoints that are saved; going back lays down others on its way."""


def write_run(run: TrainingRun, path: str | Path) -> None:
    """Write rows, settings and progress to one file."""
    (meta, arrays), (progress, learned) = _rows(run), _progress(run)
    files.write(path, "run", meta | progress, arrays | learned)


def write_rows(run: TrainingRun, path: str | Path) -> None:
    """Write rows and first settings: the run at step 0. None of it changes while another thread learns."""
    files.write(path, "run", *_rows(run))


def write_progress(run: TrainingRun, path: str | Path) -> None:
    """Write all but rows and first settings; the file says which run it belongs to."""
    meta, arrays = _progress(run)
    files.write(path, "progress", meta | {"run": run.id}, arrays)


def read_run(kind: type[TrainingRun], path: str | Path, progress: str | Path | None) -> TrainingRun:
    """A run from a file of its rows, moved on to where `write_progress`'s file stands.

    Raises
    ------
    ValueError
        A file is something else, of another version, damaged, or of another run.
    """
    meta, arrays = files.read(path, "run")
    with files.fitting(path):
        run = _begin(kind, meta, arrays)
    run_id = meta.get("id")  # files of runs begun before they had one go unchecked
    run.id = run_id or run.id
    if progress is not None:
        meta, arrays = files.read(progress, "progress")
        if run_id is not None and meta.get("run") != run_id:
            raise ValueError(f"{progress} belongs to another run than {path}.")
    if "step" in meta or progress is not None:
        with files.fitting(progress or path):
            _move_on(run, meta, arrays)
    return run


def _begin(kind: type[TrainingRun], meta: dict[str, Any], arrays: dict[str, np.ndarray]) -> TrainingRun:
    """The run at step 0."""
    encoder, task = read_encoder(meta["encoder"]), task_from_dict(meta, arrays["labels"])
    codes, held_out = files.rows_from_arrays("codes", arrays), None
    _check_rows(encoder, task, codes, task.targets, 0)
    if "held_out_labels" in arrays:
        held_out = files.rows_from_arrays("held_out_codes", arrays), arrays["held_out_labels"]
        _check_rows(encoder, task, *held_out, -1)
    return kind.encoded(files.parameters_from_dict(meta["parameters"]), encoder, task, codes, held_out)


def _check_rows(encoder: AnyEncoder, task: Task, codes: Any, targets: np.ndarray, least: int) -> None:
    """Raise ValueError for ranks and targets that compiled code would take for places outside of its arrays."""
    if sparse.issparse(codes):
        check_sparse(codes)
    shape = len(targets), len(encoder.n_ranks)
    files.check_array("codes", codes, shape, np.uint8, np.uint16)
    files.check_array("labels", targets, shape[:1], np.float64 if task.name == "numbers" else np.int64)
    if not sparse.issparse(codes) and ((codes >= encoder.n_ranks) & (codes != MISSING[codes.dtype])).any():
        raise ValueError("codes hold ranks that no column has")
    if task.name == "classes" and ((targets < least) | (targets >= len(task.classes))).any():
        raise ValueError("labels name classes that are not there")


def _rows(run: TrainingRun) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    arrays = {"labels": run.targets} | files.rows_to_arrays("codes", run.codes)
    if run.held_out is not None:
        arrays |= {"held_out_labels": run.held_out[1]} | files.rows_to_arrays(
            "held_out_codes", run.held_out[0]
        )
    meta = {
        "id": run.id,
        "parameters": files.parameters_to_dict(run.first_parameters),
        "encoder": run.encoder.to_dict(),
        **run.task.to_dict(),
    }
    return meta, arrays


def _progress(run: TrainingRun) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    states = run.checkpoints.states(MAX_CHECKPOINT_BYTES)
    meta = {
        "step": run.step,
        "history": [vars(record) for record in run.history],
        "changes": [vars(change) for change in run.changes],
    }
    arrays = {
        "planes": run.machine.state.planes,
        "weights": run.machine.state.weights,
        "counts": run.machine.counts,
        "checkpoint_steps": np.array([state.step for state in states]),
        "checkpoint_planes": np.stack([state.planes for state in states]),
        "checkpoint_weights": np.stack([state.weights for state in states]),
    }
    return meta, arrays


def _move_on(run: TrainingRun, meta: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    n_clauses = run.first_parameters.n_clauses
    kept = (arrays[f"checkpoint_{name}"] for name in ("planes", "weights", "steps"))
    states = [
        MachineState(planes, weights, n_clauses, int(step))
        for planes, weights, step in zip(*kept, strict=True)
    ]
    state = MachineState(arrays["planes"], arrays["weights"], n_clauses, int(meta["step"]))
    for found in (state, *states):
        check_state(found, run.machine)
    for found in states:
        run.checkpoints.add(found)
    run.history = [run.task.record(**record) for record in meta["history"]]
    run.changes = [Change(**change) for change in meta["changes"]]
    run.machine = run.make_machine(run.first_parameters, state)
    replay.apply_changes(run.machine, run.changes)
    run.machine.counts[:] = arrays["counts"]
