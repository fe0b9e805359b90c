"""The store: each owner sees only its own runs, writes are whole or not at all, and damage is one sentence."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest

from dashboard import store, your_runs
from dashboard.outcome import Standing
from dashboard.store import KeptRun, Store
from tmcore import files
from tmcore.scores import Scores


def test_a_run_comes_back_as_it_was_saved(kept: Store, made_up: Any) -> None:
    run = made_up.trained(100)
    run.snapshot()
    run_id = made_up.keep(kept, "ann", run, "Hearts <b>")
    run.change(s=4.0)
    run.advance(samples=60)
    assert kept.update(run_id, run.parameters, 500, run)
    line, loaded = kept.load("ann", run_id)
    assert (line.name, line.step, line.end_step, line.parameters.s, line.n_rows) == (
        "Hearts <b>",
        160,
        500,
        4.0,
        made_up.N,
    )
    assert line.epoch == 2
    assert line.test_accuracy == run.history[-1].test_accuracy
    assert made_up.same(run, loaded)
    run.learn(77)
    loaded.learn(77)
    assert made_up.same(run, loaded)


def test_a_list_of_before_is_added_to(kept: Store, made_up: Any) -> None:
    run_id = made_up.keep(kept, "ann", made_up.trained(5))
    with kept._list() as entries:
        for name in ("target", "test_mae", "test_r2", "n_rules"):
            entries.execute(f"ALTER TABLE runs DROP COLUMN {name}")
    kept.prepare()
    assert [(run.id, run.target, run.test_mae, run.test_r2) for run in kept.runs("ann")] == [
        (run_id, None, None, None)
    ]


def test_the_list_has_the_settled_rules_until_the_run_learns_on(kept: Store, made_up: Any) -> None:
    run = made_up.trained(100)
    run.snapshot()
    run_id = made_up.keep(kept, "ann", run)
    (line,) = kept.runs("ann")
    assert line.n_rules is None
    assert "by votes" in your_runs.about(line)
    standing = Standing(Scores(0.9, 0.9, 0.78, 0.7), 17, 34)
    kept.update(run_id, run.parameters, 500, run, standing)
    for _ in range(2):
        (line,) = kept.runs("ann")
        assert (line.n_rules, line.n_literals, line.test_accuracy) == (17, 34, 0.78)
        told = your_runs.about(line).replace("\u00a0", " ")
        assert "78 % of unseen rows right · 34 literals in 17 settled rules" in told
        kept.update(run_id, run.parameters, 500, run)  # it was opened again
    run.advance(samples=1)
    run.snapshot()
    kept.update(run_id, run.parameters, 500, run)
    (line,) = kept.runs("ann")
    assert (line.n_rules, line.n_literals) == (None, run.history[-1].n_literals)


@pytest.mark.parametrize("before", ["nothing", "an empty file", "a list of the first version"])
def test_servers_that_start_at_once_make_one_list(kept: Store, before: str) -> None:
    kept.folder.mkdir(parents=True, exist_ok=True)
    if before != "nothing":
        (kept.folder / "runs.sqlite").touch()  # as a kill leaves it
    if before == "a list of the first version":
        kept.prepare()
        with kept._list() as entries:
            entries.execute("ALTER TABLE runs DROP COLUMN target")
    else:
        assert kept.runs("ann") == []
        assert not kept.keeps_others("ann")
    together = threading.Barrier(8, timeout=20)

    def start() -> list[KeptRun]:
        together.wait()
        Store(kept.folder).prepare()
        return Store(kept.folder).runs("ann")

    with ThreadPoolExecutor(8) as servers:
        started = [servers.submit(start) for _ in range(8)]
        assert [one.result(30) for one in started] == [[]] * 8
    with kept._list() as entries:
        columns = [name for _, name, *_ in entries.execute("PRAGMA table_info(runs)")]
    assert set(columns) >= set(KeptRun.__dataclass_fields__)
    assert len(columns) == len(set(columns))


def test_owners_see_their_own_runs_only_and_keys_are_not_written(kept: Store, made_up: Any) -> None:
    ids = {owner: made_up.keep(kept, owner, made_up.trained(5)) for owner in ("ann-key", "bob-key")}
    assert [run.id for run in kept.runs("ann-key")] == [ids["ann-key"]]
    assert kept.runs("") == kept.runs("eve") == []
    assert kept.keeps_others("eve")
    assert kept.keeps_others("ann-key")
    with pytest.raises(ValueError, match="not kept any more"):
        kept.load("bob-key", ids["ann-key"])
    kept.delete("bob-key", ids["ann-key"])
    kept.delete("eve")
    assert len(kept.runs("ann-key")) == 1
    assert b"bob-key" not in (kept.folder / "runs.sqlite").read_bytes()
    kept.delete("ann-key")
    assert kept.runs("ann-key") == []
    assert not kept.keeps_others("bob-key")
    assert [folder.name for folder in (kept.folder / "runs").iterdir()] == [ids["bob-key"]]


def test_a_failed_write_leaves_the_last_state(
    kept: Store, made_up: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = made_up.trained(40)
    run_id = made_up.keep(kept, "ann", run)
    kept.update(run_id, made_up.PARAMETERS, 500, run)
    run.learn(10)
    with monkeypatch.context() as patched:
        patched.setattr(files.os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(OSError, match="disk full"):
            kept.update(run_id, made_up.PARAMETERS, 500, run)
    assert kept.load("ann", run_id)[1].step == 40
    assert sorted(path.name for path in (kept.folder / "runs" / run_id).iterdir()) == ["progress", "rows"]


def test_damaged_or_lost_files_are_one_sentence(kept: Store, made_up: Any) -> None:
    run_id = made_up.keep(kept, "ann", made_up.trained(5))
    rows = kept.folder / "runs" / run_id / store.ROWS
    rows.write_bytes(rows.read_bytes()[:100])
    with pytest.raises(ValueError, match="damaged"):
        kept.load("ann", run_id)
    rows.unlink()
    with pytest.raises(ValueError, match="files of the run on made up are gone"):
        kept.load("ann", run_id)


def test_what_a_killed_server_left_is_swept_up(
    kept: Store, made_up: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = made_up.keep(kept, "ann", made_up.trained(5))
    left = kept.folder / "runs" / "left"
    left.mkdir()
    kept.prepare()
    assert left.exists()
    monkeypatch.setattr(store, "LEFT_SECONDS", -1.0)
    kept.prepare()
    assert [folder.name for folder in (kept.folder / "runs").iterdir()] == [run_id]


def test_a_damaged_line_or_list_does_not_take_the_others_along(kept: Store, made_up: Any) -> None:
    ids = [made_up.keep(kept, "ann", made_up.trained(5), name) for name in ("one", "two")]
    with kept._list() as entries:
        entries.execute("UPDATE runs SET parameters = '{\"s\": 3' WHERE id = ?", (ids[0],))
        entries.execute("UPDATE runs SET owner = owner || 'x' WHERE id = 'nobody'")
    listed = {run.id: run for run in kept.runs("ann")}
    assert (listed[ids[0]].parameters, listed[ids[1]].parameters) == (None, made_up.PARAMETERS)
    assert kept.load("ann", ids[0])[1].parameters == made_up.PARAMETERS  # the files have them too
    (kept.folder / store.LIST).write_bytes(b"no longer a database" * 100)
    with pytest.raises(
        ValueError, match=r"list of kept runs cannot be read .*; move the file .*runs\.sqlite away"
    ):
        kept.runs("ann")


def test_a_list_that_is_busy_is_not_to_be_moved_away(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.prepare()
    connect = sqlite3.connect
    monkeypatch.setattr(store.sqlite3, "connect", lambda path, timeout: connect(path, timeout=0))
    with closing(connect(kept.folder / store.LIST)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for ask in (kept.runs, kept.keeps_others):
            with pytest.raises(ValueError, match="another program is writing to it, so reload the page"):
                ask("ann")
    assert kept.runs("ann") == []


def test_nor_one_that_cannot_be_opened(kept: Store) -> None:
    kept.folder.mkdir(parents=True, exist_ok=True)
    (kept.folder / store.LIST).mkdir()
    with pytest.raises(ValueError, match=r"see that .*runs\.sqlite can be read and written"):
        kept.runs("ann")
