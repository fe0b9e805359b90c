"""The Score page: a second CSV through the rules in use; predictions, votes and the rules that hold, to take away."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard import column_choice, session, style
from dashboard.column_choice import Choice
from dashboard.compare_view.state import HALF, comparing
from dashboard.goals import Goal, NumberGoal
from dashboard.rule_list.listing import safe_file_name
from dashboard.session import Session
from tmcore.read_csv import MAX_BYTES, read_raw
from tmcore.scoring import Scored, score

if TYPE_CHECKING:
    from dashboard.editing import Editing
    from dashboard.jobs import Job

MEMO = "tsetlin_score_page"
RENAMED = "tsetlin_score_columns"
ROWS_SHOWN = 1000
NOTES_SHOWN = 6


@dataclass(frozen=True, eq=False)
class Answer:
    """A file's answers, or what is in the way, for one file, draft of the rules and threshold (``of``).

    ``choice`` are the columns that are called otherwise, where that is what is in the way.
    """

    of: tuple[object, ...]
    scored: Scored | None
    csv: bytes = b""
    error: str = ""
    choice: Choice | None = None


def _nothing_yet(current: Session) -> None:
    style.empty("No rules to score with yet. Train a machine first.", "score")
    label, target = ("Choose data", "data") if current.split is None else ("Train", "train")
    with st.container(horizontal=True, horizontal_alignment="center"):
        if st.button(label, type="primary"):
            st.switch_page(f"views/{target}.py")


def _threshold(current: Session, editing: Editing) -> float:
    """The threshold in use: the one chosen for the settled rules that are in use, a half for edited rules."""
    held, model = comparing(current), editing.learned.model
    return HALF if held is None or model is None or editing.is_edited else held.threshold_for(model)


def _renamed(file: object, job: Job) -> dict[str, str]:
    """The columns that the visitor chose for this file and run, by the names of the training."""
    chosen_for, renamed = st.session_state.get(RENAMED, (None, {}))
    return renamed if chosen_for == _of(file, job) else {}


def _of(file: object, job: Job) -> tuple[object, str]:
    assert job.run is not None
    return file, job.run.id


def _answer(current: Session, job: Job, editing: Editing, file: object, source: bytes) -> Answer:
    """The kept answer where nothing changed, else a new one."""
    threshold, renamed = _threshold(current, editing), _renamed(file, job)
    of = (file, editing.draft, threshold, job, renamed)
    kept = st.session_state.get(MEMO)
    if isinstance(kept, Answer) and kept.of == of:
        return kept
    assert job.run is not None
    choice = None
    try:
        if len(source) > MAX_BYTES:
            raise ValueError(
                f"The file has more than {MAX_BYTES // 2**20:,} MB. Use tmcore predict, or split it."
            )
        raw = read_raw(source)
        choice = column_choice.choice(raw, job.run.encoder)
        scored = score(
            raw,
            job.run.encoder,
            editing.rules(),
            None if editing.is_edited else editing.learned.model,
            None if threshold == HALF else threshold,
            editing.numbers(),
            renamed,
        )
        answer = Answer(of, scored, scored.to_csv())
    except ValueError as error:
        answer = Answer(of, None, error=str(error), choice=choice)
    st.session_state[MEMO] = answer
    return answer


def headline(scored: Scored, goal: Goal) -> str:
    """The page's sentence: how many rows get which class, or which numbers."""
    if isinstance(goal, NumberGoal):
        numbers = pd.Series(scored.predicted, dtype="float64")
        spread = f"{style.amount(numbers.min())} to {goal.amount(numbers.max())}, mean {goal.amount(numbers.mean())}"
        return f"{style.count(len(scored), 'new row')}: {style.short(goal.label)} from {spread}"
    counts = Counter(str(label) for label in scored.predicted)
    parts = [f"{number:,} {style.short(name)}" for name, number in counts.most_common(4)]
    if len(counts) > 4:
        parts.append(f"{sum(counts.values()) - sum(n for _, n in counts.most_common(4)):,} other")
    return f"{style.count(len(scored), 'new row')}: {', '.join(parts)}"


def _rows(scored: Scored) -> pd.DataFrame:
    frame = pd.DataFrame(list(scored.cells(0, ROWS_SHOWN)), columns=pd.Index(scored.head()))
    return frame.assign(prediction=frame["prediction"].astype(str)) if len(scored.classes) else frame


def _columns(scored: Scored, goal: Goal) -> dict[str, Any]:
    share = st.column_config.NumberColumn(format="%.3f")
    votes = st.column_config.NumberColumn(format="%+.2f")
    shown: dict[str, Any] = {
        "row": st.column_config.NumberColumn(width="small"),
        "rules": st.column_config.TextColumn("rules that hold", width="large"),
    }
    if isinstance(goal, NumberGoal):
        name = ", ".join(filter(None, (f"predicted {style.short(goal.label)}", goal.unit)))
        largest = max((abs(number) for number in scored.predicted), default=0.0)
        shown["prediction"] = st.column_config.NumberColumn(name, format=style.three_digits(largest))
    for name in scored.head():
        if name.startswith("probability "):
            shown[name] = share
        elif name.startswith("votes"):
            shown[name] = votes
    return shown


def _detail(current: Session, job: Job, editing: Editing, file_name: str) -> str:
    parts = [
        f"{style.short(file_name)} through {style.count(len(editing.rules()), 'rule')} from {style.short(job.name)}"
    ]
    model, threshold = editing.learned.model, _threshold(current, editing)
    if isinstance(job.goal, NumberGoal):
        parts += ["edited by hand"] * editing.is_edited
    elif editing.is_edited:
        parts.append("edited by hand, so votes but no probabilities")
    elif model is None:
        parts.append("not settled, so votes but no probabilities")
    elif threshold != HALF:
        name = style.short(model.rule_classes_[1])
        parts.append(f"{name} from a probability of {threshold:.2f} on, the threshold from the Compare page")
    return " · ".join(parts)


def _uploader(job: Job) -> tuple[str, object, bytes] | None:
    file = st.file_uploader(
        f"A CSV with the columns the rules were trained on, up to {MAX_BYTES // 2**20} MB",
        type=["csv", "tsv", "txt"],
        key="score_upload",
    )
    if file is not None:
        st.session_state["score_file"] = (file.name, file.file_id, file.getvalue())
    kept = st.session_state.get("score_file")
    if kept is None and len(job.X_test) and st.button("Try it with the test rows", key="score_test_rows"):
        source = job.X_test.to_csv(index=False).encode()
        st.session_state["score_file"] = ("test rows.csv", "test rows", source)
        st.rerun()
    return kept


def _in_the_way(answer: Answer, name: str, file: object, job: Job) -> None:
    """Why a file cannot be scored, and the choice of its columns where that is all."""
    choice = answer.choice
    asked = choice is not None and choice.possible
    missing = 0 if choice is None else len(choice.missing)
    title = (
        f"{style.count(missing, 'column')} missing, or called otherwise"
        if asked
        else "This file cannot be scored"
    )
    style.sentence(title, style.short(name))
    if not asked:
        st.markdown(f":red[:material/error:] {style.plain(answer.error)}")
    elif choice is not None:
        renamed = column_choice.show(choice, f"score_column_{file}")
        if renamed is not None:
            st.session_state[RENAMED] = _of(file, job), renamed
            st.rerun()


def _take(scored: Scored, csv: bytes, name: str, renamed: bool) -> None:
    """What there is to say about a file, and its answers to download; ``renamed`` columns can be chosen again."""
    for note in scored.notes[:NOTES_SHOWN]:
        st.markdown(f":material/info: {style.plain(note)}")
    if len(scored.notes) > NOTES_SHOWN:
        st.caption(f"{len(scored.notes) - NOTES_SHOWN} more notes.")
    with st.container(horizontal=True):
        st.download_button(
            "Download all rows as CSV",
            csv,
            file_name=safe_file_name(name, "csv").replace("_rules.", "_scored."),
            mime="text/csv",
            type="primary",
            on_click="ignore",
        )
        if renamed and st.button("Choose the columns again", key="score_columns_again"):
            del st.session_state[RENAMED]
            st.rerun()


def _table(scored: Scored, goal: Goal, how: str) -> None:
    what = "All" if len(scored) <= ROWS_SHOWN else f"The first {ROWS_SHOWN:,} of"
    two = len(scored.classes) == 2
    votes = f"The higher the votes, the more for {style.short(scored.classes[1])}. " if two else ""
    style.section(
        f"{what} {style.count(len(scored), 'row')}",
        f"{votes}Row numbers are the file's, the header being row 1. Rules have their numbers from the Rules page. "
        f"tmcore predict gives the same on the command line{how and ', ' + how}.",
    )
    st.dataframe(_rows(scored), column_config=_columns(scored, goal), hide_index=True, height=528)


def show() -> None:
    """Draw the page."""
    current = session.current()
    job, editing = current.job, current.rules()
    if job is None or editing is None or job.run is None:
        _nothing_yet(current)
        return
    head = st.container()
    kept = _uploader(job)
    if kept is None:
        with head:
            style.sentence(
                f"{style.count(len(editing.rules()), 'rule')} ready for new rows",
                f"{style.short(job.name)} · upload a second CSV; it stays on this machine",
            )
        return
    name, file, source = kept
    answer = _answer(current, job, editing, file, source)
    if answer.scored is None:
        with head:
            _in_the_way(answer, name, file, job)
        return
    with head:
        style.sentence(headline(answer.scored, job.goal), _detail(current, job, editing, name))
        renamed = bool(_renamed(file, job))
        _take(answer.scored, answer.csv, name, renamed)
    _table(answer.scored, job.goal, "with --column for each column read as another" if renamed else "")


show()
