"""Whose page it is: sessions by key, and kept runs that come back whole."""

from __future__ import annotations

import gc
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import keeping, kept_table, session, store
from dashboard.cli import main, parser
from dashboard.data_folder import FOLDER_VARIABLE, default_folder
from dashboard.file_rows import file_rows
from dashboard.session import Session
from dashboard.store import Store
from tmcore import files
from tmcore.table import read_table

APP = Path(session.__file__).parent / "app.py"


def csv() -> bytes:
    """Numbers with decimals, gaps, a level order that is not alphabetical, two codes, and what is to be predicted."""
    rng = np.random.default_rng(5)
    dose = rng.choice(["low", "middle", "high"], 90)
    size = rng.normal(5, 2, 90).round(3)
    lines = [
        f"{'' if i % 17 == 3 else size[i]},{dose[i]},{i % 2},{i % 5},{'late' if size[i] > 5 else 'early'}"
        for i in range(90)
    ]
    return "\n".join(["size (mm),dose,left,code,when", *lines]).encode()


def visit(key: str | None = None) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=60)
    if key is not None:
        app.query_params[keeping.ADDRESS_KEY] = key
    app.run()
    assert not app.exception
    return app


def session_of(app: AppTest) -> Session:
    found = app.session_state[session.KEY]
    assert isinstance(found, Session)
    return found


@pytest.fixture
def no_sessions() -> Iterator[None]:
    gc.collect()
    yield
    gc.collect()


@pytest.fixture
def chosen() -> Session:
    """A session whose table was changed by hand before it was trained on."""
    current = Session(owner="ann")
    table = read_table(csv()).with_target("when").with_role("code", "nominal").with_role("left", "ignored")
    table = table.with_order("dose", ["low", "middle", "high"]).with_positive_class("early")
    current.open_table(table, "made up", csv())
    current.seed, current.test_share = 4, 0.3
    current.train_on()
    return current


def learn_and_leave(current: Session, made_up: Any, until: Any, kept: Store) -> str:
    """Learn from 50 rows in a session and close the run; its id in the store."""
    current.start(keeping.new_job(current, made_up.PARAMETERS))
    job = current.job
    assert job is not None
    assert job.wait_until_idle(120)
    job.one_epoch()
    assert job.wait_until_idle(10)
    current.drop_job("the test goes on")
    until(lambda: kept.runs("ann") and kept.runs("ann")[0].step == len(job.y_train))
    return kept.runs("ann")[0].id


def test_a_kept_run_comes_back_with_its_table_and_split(
    kept: Store, chosen: Session, made_up: Any, until: Any
) -> None:
    run_id = learn_and_leave(chosen, made_up, until, kept)
    again = Session(owner="ann")
    keeping.open_run(again, run_id)
    table, before = again.table, chosen.table
    assert table is not None
    assert before is not None
    pd.testing.assert_frame_equal(table.frame, before.frame)
    assert (table.target, table.columns) == (before.target, before.columns)
    assert (table.problems, table.assumptions) == (before.problems, before.assumptions)
    assert again.split is not None
    assert chosen.split is not None
    for name in ("X_train", "X_test"):
        pd.testing.assert_frame_equal(getattr(again.split, name), getattr(chosen.split, name))
    for name in ("y_train", "y_test"):
        pd.testing.assert_series_equal(getattr(again.split, name), getattr(chosen.split, name))
    assert again.split.note == chosen.split.note
    assert again.split.positive_class == table.positive_class == "early"
    assert list(again.split.X_train["dose"].cat.categories) == ["low", "middle", "high"]
    assert (again.is_current, again.name, again.seed, again.test_share) == (True, "made up", 4, 0.3)
    job = again.job
    assert job is not None
    assert job.wait_until_idle(60)
    for old, new in zip(
        made_up.settled(chosen.split, len(job.y_train)).rules_, made_up.settle(job).rules_, strict=True
    ):
        assert (old.text(), old.support) == (new.text(), new.support)
    again.drop_job("the test ends")


def test_levels_rows_and_roles_of_a_kept_run_can_change(
    kept: Store, chosen: Session, made_up: Any, until: Any
) -> None:
    run_id = learn_and_leave(chosen, made_up, until, kept)
    again = Session(owner="ann")
    keeping.open_run(again, run_id)
    job = keeping.new_job(again, made_up.PARAMETERS.replace(max_levels=9))
    assert job.wait_until_idle(60)
    assert job.state == "ready"
    assert job.run is not None
    assert max(job.run.encoder.n_ranks) == 9
    job.close()
    assert again.table is not None
    again.edit(again.table.with_role("left", "boolean"))
    again.test_share = 0.5
    again.train_on()
    assert again.split is not None
    assert (len(again.split.y_test), "left" in again.split.X_train) == (45, True)


def test_a_run_kept_without_its_table_opens_with_its_encoded_rows(
    kept: Store, chosen: Session, made_up: Any, until: Any
) -> None:
    run_id = learn_and_leave(chosen, made_up, until, kept)
    folder = kept.folder / "runs" / run_id
    table = (folder / kept_table.TABLE).read_bytes()
    (folder / kept_table.TABLE).write_bytes(table[: len(table) // 2])
    for lost in (False, True):
        if lost:
            (folder / kept_table.TABLE).unlink()
            (folder / kept_table.SPLIT).unlink()
        again = Session(owner="ann")
        keeping.open_run(again, run_id)
        assert again.table is None
        assert again.split is not None
        assert chosen.split is not None
        assert again.split.y_test.tolist() == chosen.split.y_test.tolist()
        assert set(file_rows(again.split.X_train.index)) == set(file_rows(again.split.X_test.index)) == {""}
        assert file_rows(chosen.split.X_test.index) == chosen.split.X_test.index.astype(str).tolist()
        assert len(again.notices) == (0 if lost else 1)
        assert lost or "its table cannot be read" in again.notices[0]
        again.drop_job("the test ends")


def test_a_split_of_another_version_is_one_sentence(
    kept: Store, chosen: Session, made_up: Any, until: Any
) -> None:
    run_id = learn_and_leave(chosen, made_up, until, kept)
    path = kept.folder / "runs" / run_id / kept_table.SPLIT
    meta, places = files.read(path, "split")
    for changed in (meta | {"notes": meta["notes"] | {"folds": 5}}, {"sample": None}):
        files.write(
            path, "split", {k: v for k, v in changed.items() if k not in ("format", "version")}, places
        )
        with pytest.raises(ValueError, match="split is damaged, or was written by another version"):
            kept.table_of(run_id)


def test_deleting_a_run_deletes_its_table(kept: Store, chosen: Session, made_up: Any, until: Any) -> None:
    run_id = learn_and_leave(chosen, made_up, until, kept)
    assert sorted(path.name for path in (kept.folder / "runs" / run_id).iterdir()) == [
        "progress", "rows", "split", "table",
    ]  # fmt: skip
    assert (kept.folder / "runs" / run_id).stat().st_mode & 0o077 == 0
    kept.delete("ann", run_id)
    assert list((kept.folder / "runs").iterdir()) == []


def test_a_new_run_with_other_settings_uses_the_kept_rows(kept: Store, made_up: Any) -> None:
    run_id = made_up.keep(kept, "ann", made_up.trained(30))
    current = Session(owner="ann")
    keeping.open_run(current, run_id)
    for changes, state in (
        ({"n_clauses": 20, "representation": "thresholds"}, "ready"),
        ({"max_levels": 9}, "failed"),
    ):
        job = keeping.new_job(current, made_up.PARAMETERS.replace(**changes))
        assert job.wait_until_idle(60)
        assert job.state == state
        job.close()
    assert job.error is not None
    assert "open the data again" in job.error
    current.drop_job("the test ends")


def test_without_a_folder_nothing_is_kept(monkeypatch: pytest.MonkeyPatch, made_up: Any) -> None:
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    assert store.current() is None
    current = Session(owner="ann")
    current.open_table(read_table(csv()), "made up", csv())
    current.train_on()
    job = keeping.new_job(current, made_up.PARAMETERS)
    assert job.keeper is None
    job.close()


def test_the_command_line_says_where_runs_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert default_folder() == tmp_path / "tsetlin-dashboard"
    assert parser().parse_args([]).data_dir == tmp_path / "tsetlin-dashboard"
    (tmp_path / "file").write_text("in the way")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    assert main(["--port", str(port), "--data-dir", str(tmp_path / "file" / "kept")]) == 1
    assert "Choose another folder with --data-dir, or --no-store." in capsys.readouterr().err


def test_the_address_holds_a_key_and_a_second_tab_joins(kept: Store, no_sessions: None) -> None:
    first = visit()
    key = session_of(first).owner
    assert len(key) >= 20
    assert first.query_params[keeping.ADDRESS_KEY] in (key, [key])
    assert session_of(visit(key)) is session_of(first)
    assert session_of(visit()).owner != key
    invented = session_of(visit("a-key-that-somebody-made-up"))
    assert invented.owner not in ("a-key-that-somebody-made-up", key)


def test_after_a_restart_the_last_run_is_opened_and_listed(
    kept: Store, no_sessions: None, made_up: Any
) -> None:
    owner = "kept-from-before-the-restart"
    made_up.keep(kept, owner, made_up.trained(20), "Old")
    run_id = made_up.keep(kept, owner, made_up.trained(40), "New <b>*x*</b>")
    made_up.keep(kept, "bob", made_up.trained(40), "Secret")
    app = visit(owner)
    current = session_of(app)
    assert current.job is not None
    assert current.job.wait_until_idle(60)
    assert current.job.keeper is not None
    assert current.job.keeper.run_id == run_id
    words = " ".join(text.value.replace("\\", "") for text in app.markdown)
    assert "New <b>*x*</b>" in words
    assert "Old" in words
    assert "Secret" not in words
    assert any("with their tables" in text.value for text in app.caption)
    next(b for b in app.button if b.label == "Delete all").click().run()
    assert kept.runs(owner) == []
    assert len(kept.runs("bob")) == 1
    current.drop_job("the test ends")


def test_an_address_without_runs_says_that_others_have_theirs_and_nothing_of_them(
    kept: Store, no_sessions: None, made_up: Any
) -> None:
    elsewhere = "A run is found at the address of the page it was made at"
    assert not any(elsewhere in text.value for text in visit().caption)
    made_up.keep(kept, "bob", made_up.trained(5), "Secret")
    app = visit()
    assert any(elsewhere in text.value for text in app.caption)
    parts = [*app.title, *app.markdown, *app.caption, *app.subheader]
    assert not any("Secret" in text.value or "Your runs" in text.value for text in parts)
    kept.delete("bob")
    assert not any(elsewhere in text.value for text in visit().caption)


def test_a_damaged_list_is_one_sentence_on_the_page(kept: Store, no_sessions: None, made_up: Any) -> None:
    made_up.keep(kept, "ann", made_up.trained(5))
    (kept.folder / store.LIST).write_bytes(b"no longer a database" * 100)
    app = visit("ann")
    assert any("The list of kept runs cannot be read" in notice.value for notice in app.info)
    assert sum("The list of kept runs cannot be read" in text.value for text in app.caption) == 1
    assert any(button.label == "Open Heart" for button in app.button)
