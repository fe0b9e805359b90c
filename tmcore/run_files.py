"""A training run in files: one with its rows, and a small one for what it has learned since, to be saved often."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tmcore import files, replay
from tmcore.encoders import read_encoder
from tmcore.history import Change
from tmcore.machine.state import MachineState
from tmcore.task import task_from_dict

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
    """A run from a file of its rows, moved on to where `write_progress`'s file stands."""
    meta, arrays = files.read(path, "run")
    held_out = None
    if "held_out_labels" in arrays:
        held_out = files.rows_from_arrays("held_out_codes", arrays), arrays["held_out_labels"]
    run = kind.encoded(
        files.parameters_from_dict(meta["parameters"]),
        read_encoder(meta["encoder"]),
        task_from_dict(meta, arrays["labels"]),
        files.rows_from_arrays("codes", arrays),
        held_out,
    )
    run_id = meta.get("id")  # files of runs begun before they had one go unchecked
    run.id = run_id or run.id
    if progress is not None:
        meta, arrays = files.read(progress, "progress")
        if run_id is not None and meta["run"] != run_id:
            raise ValueError(f"{progress} belongs to another run than {path}.")
    if "step" in meta:
        _move_on(run, meta, arrays)
    return run


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
    for name, fresh in vars(run.machine.state).items():
        if isinstance(fresh, np.ndarray):
            for found in (arrays[name], arrays[f"checkpoint_{name}"][0]):
                if (found.shape, found.dtype) != (fresh.shape, fresh.dtype):
                    raise ValueError(
                        "The run was written by another version of tmcore; train it anew with this one."
                    )
    kept = (arrays[f"checkpoint_{name}"] for name in ("planes", "weights", "steps"))
    for planes, weights, step in zip(*kept, strict=True):
        run.checkpoints.add(MachineState(planes, weights, n_clauses, int(step)))
    run.history = [run.task.record(**record) for record in meta["history"]]
    run.changes = [Change(**change) for change in meta["changes"]]
    state = MachineState(arrays["planes"], arrays["weights"], n_clauses, meta["step"])
    run.machine = run.make_machine(run.first_parameters, state)
    replay.apply_changes(run.machine, run.changes)
    run.machine.counts[:] = arrays["counts"]
