"""The class to predict, from the table through the run, its film and its copy in the store, where it sorts first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import f1_score

from dashboard import keeping, kept_table, takeaway
from dashboard.live.facts import facts
from dashboard.live.rival import Rival
from dashboard.session import Session
from dashboard.store import Store
from tmcore.history import Record
from tmcore.table import read_table

VALUES = [7 * i % 60 for i in range(60)]
CSV = ("size,state\n" + "\n".join(f"{i},{'ill' if i >= 40 else 'well'}" for i in VALUES)).encode()


@pytest.fixture
def current(made_up: Any) -> Iterator[Session]:
    """A session with a run on rows of which a third are ill."""
    found = Session(owner="ann")
    found.open_table(read_table(CSV, target="state"), "<i>wards", CSV)
    found.train_on()
    found.start(keeping.new_job(found, made_up.PARAMETERS.replace(weights="refit")))
    assert found.job is not None
    assert found.job.wait_until_idle(120)
    found.job.one_epoch()
    assert found.job.wait_until_idle(10)
    yield found
    found.drop_job("the test ends")


def test_the_run_speaks_for_it(current: Session, made_up: Any) -> None:
    job = current.job
    assert job is not None
    assert job.run is not None
    assert job.run.classes.tolist() == ["well", "ill"]
    settled = made_up.settle(job)
    assert settled.rule_classes_.tolist() == ["well", "ill"]
    assert settled.rules_.class_names == ("well", "ill")
    assert job.latest is not None
    said = job.run.classes[(job.latest.votes[:, 0] >= 0).astype(int)]
    last = job.run.history[-1]
    assert isinstance(last, Record)
    assert last.train_f1 == f1_score(job.y_train, said, pos_label="ill")
    about = takeaway._about(job, ())
    assert dict(about.card)["class to predict"] == "ill"


def test_the_live_view_draws_its_rows_as_class_1(current: Session) -> None:
    job = current.job
    assert job is not None
    assert job.run is not None
    told = facts(job.run, job)
    assert told["classes"] == ["well", "ill"]
    well, ill = np.array(told["columns"][0]["counts"])
    size = job.X_train["size"]
    edges = np.linspace(size.min(), size.max(), len(ill) + 1)
    expected = np.histogram(size[job.y_train == "ill"], edges)[0]
    assert (ill.tolist(), int(well.sum())) == (expected.tolist(), int((job.y_train == "well").sum()))
    labels = np.array(told["points"]["labels"])
    n = told["points"]["train"]
    assert (labels[:n].sum(), labels[n:].sum()) == ((job.y_train == "ill").sum(), (job.y_test == "ill").sum())


def test_the_thresholds_machine_beside_it_too(current: Session) -> None:
    assert current.job is not None
    rival = Rival(current.job)
    try:
        assert rival.job.wait_until_idle(120)
        assert rival.job.run is not None
        assert rival.job.run.classes.tolist() == ["well", "ill"]
    finally:
        rival.close()


@pytest.mark.parametrize("with_table", [True, False])
def test_a_kept_run_comes_back_with_it(
    kept: Store, current: Session, made_up: Any, until: Any, with_table: bool
) -> None:
    assert current.job is not None
    current.drop_job("it comes back")
    until(lambda: kept.runs("ann"))
    run_id = kept.runs("ann")[0].id
    if not with_table:
        for name in (kept_table.TABLE, kept_table.SPLIT):
            Path(kept.folder / "runs" / run_id / name).unlink()
    again = Session(owner="ann")
    keeping.open_run(again, run_id)
    try:
        assert again.split is not None
        assert again.split.positive_class == "ill"
        assert again.job is not None
        assert again.job.wait_until_idle(60)
        assert again.job.run is not None
        assert again.job.run.classes.tolist() == ["well", "ill"]
        anew = keeping.new_job(again, made_up.PARAMETERS)
        assert anew.wait_until_idle(60)
        assert anew.run is not None
        assert anew.run.classes.tolist() == ["well", "ill"]
        anew.close()
    finally:
        again.drop_job("the test ends")
