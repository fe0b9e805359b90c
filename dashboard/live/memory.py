"""What one browser tab looks at, and the commands it sends."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dashboard.jobs import SPEEDS, Job
from dashboard.live.answers import answers_of
from dashboard.live.estimate import Estimate, measure
from dashboard.live.facts import facts
from dashboard.live.film import Film
from dashboard.live.payload import frame
from dashboard.live.rival import Rival
from dashboard.live.standing import memory
from dashboard.live.view import MOST_COLUMNS, View
from dashboard.why.payload import Why, row_line
from tmcore.machine import Machine
from tmcore.training import Snapshot, TrainingRun

STANDING_SECONDS = 0.5
"""Confusion matrices and fits are worked out at most this often while learning."""


@dataclass
class Memory:
    """One tab's place before a job: the view, the moment shown, and which commands were carried out.

    ``leave`` asks to go to the rules, ``branch`` to start a new run from that step.
    """

    job: Job
    view: View = field(default_factory=View)
    film: Film = field(init=False)
    why: Why | None = None
    rival: Rival | None = None
    run: TrainingRun | None = None
    facts: dict[str, Any] | None = None
    estimate: Estimate | None = None
    leave: bool = False
    branch: int | None = None
    sent: int = -1
    answered: int = 0
    page: tuple[object, ...] = ()
    done: deque[str] = field(default_factory=lambda: deque(maxlen=200))

    def __post_init__(self) -> None:
        self.film = Film(self.job)
        self._machine: tuple[int, Machine] | None = None
        self._line: tuple[TrainingRun, int, dict[str, Any]] | None = None
        self._stood: tuple[float, int, dict[str, Any] | None] = (0.0, -1, None)

    def refresh(self) -> None:
        """Follow the job to its present run."""
        run = self.job.run
        if run is None or run is self.run or self.job.latest is None:
            return
        before = self.facts and self.facts["key"]
        self.run, self.facts, self._machine = run, facts(run, self.job), None
        if self.rival is not None and not self.rival.fits(self.job):
            self._drop_rival()
        self.why, self.estimate = None, measure(run, self.job.parameters)
        if before != self.facts["key"]:
            self.view = View(sort=self.view.sort, shown=self.view.shown, wants=self.view.wants)
        self.arrange()

    def arrange(self) -> None:
        """Choose the clauses and columns anew, by the moment shown."""
        snapshot = self.film.shown
        if snapshot is not None and self.run is not None and self.facts is not None:
            self.view.arrange(snapshot, self.run.encoder, self.facts)

    # What is sent --------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether the page would change without another command."""
        return self.job.busy or self.film.playing or (self.rival is not None and self.rival.job.busy)

    def wait(self, seconds: float) -> None:
        """Renew what runs, and wait a moment for something new to show."""
        if self.rival is not None:
            self.rival.job.renew()
        if self.film.playing:
            self.job.renew()
            self.film.turn()
        elif self.job.busy:
            self.job.renew()
            self.job.wait_for_news(self.sent, seconds)
        elif self.busy:
            time.sleep(seconds)

    def frame(self) -> dict[str, Any]:
        """One frame."""
        self.refresh()
        self.sent = self.job.sequence
        self._propose()
        told = frame(self.job, self.view, self.facts["key"] if self.facts else "", self.film)
        told |= {"answer": self.answered, "busy": self.busy}
        snapshot, run = self.film.shown, self.run
        if snapshot is None or run is None or "rows" not in told or run is not self.job.run:
            return told
        if not snapshot.step and self.estimate is not None:
            told["estimate"] = {"text": self.estimate.text, "warn": self.estimate.too_much}
        if self.rival is not None:
            told["rival"] = self.rival.told()
        if self.job.speed == "slow" and snapshot.step:
            told["rowLine"] = self._row_line(run, snapshot.step - 1)
        if self.why is not None:
            told["why"] = self.why.told(run, self.job, self.view.machine)
        self._add_wanted(told, run, snapshot)
        return told

    def _propose(self) -> None:
        """Propose the map's pair anew while nothing moves, or when the one shown has become dull."""
        shown, run = self.film.shown, self.run
        if shown is None or run is None or self.facts is None or run is not self.job.run:
            return
        if not self.busy or self.view.pair_is_idle(shown, run.encoder):
            self.view.propose(shown, run.encoder, self.facts)

    def _row_line(self, run: TrainingRun, step: int) -> dict[str, Any]:
        """The row last learned, for slow motion."""
        if self._line is None or self._line[0] is not run or self._line[1] != step:
            self._line = run, step, row_line(run.explain(step), self.view.machine)
        return self._line[2]

    def _add_wanted(self, told: dict[str, Any], run: TrainingRun, snapshot: Snapshot) -> None:
        if not self.view.wants:
            return
        machine = self._machine_then(run, snapshot)
        if "memory" in self.view.wants:
            few = len(run.encoder.columns) <= MOST_COLUMNS
            columns = list(range(len(run.encoder.columns))) if few else self.view.columns
            features = [f for i in columns for f in run.encoder.columns[i].features]
            rows = np.argsort(-np.asarray(snapshot.bank.polarity), kind="stable").tolist()
            states = memory(machine, self.view.machine, rows, self.view.clause, features)
            told["memory"] = states | {"columns": columns}
        if "standing" in self.view.wants:
            when, number, _ = self._stood
            due = number != told["sequence"] and (not self.busy or time.monotonic() - when > STANDING_SECONDS)
            if due:
                stands = answers_of(run, self.job).standing(machine, snapshot)
                self._stood = time.monotonic(), told["sequence"], stands
            told["standing"] = self._stood[2]

    def _machine_then(self, run: TrainingRun, snapshot: Snapshot) -> Machine:
        """The run's machine at the moment shown."""
        if not self.film.past:
            return run.machine
        if self._machine is None or self._machine[0] != snapshot.step:
            self._machine = snapshot.step, run.machine_at(snapshot.step)
        return self._machine[1]

    # What is asked -------------------------------------------------------------------------------------------

    def take(self, ask: Any) -> None:
        """Carry out the commands the browser sent, each once."""
        if not isinstance(ask, dict) or not isinstance(ask.get("commands"), list):
            return
        if isinstance(ask.get("number"), int):
            self.answered = ask["number"]
        for sent in ask["commands"]:
            if isinstance(sent, dict) and isinstance(sent.get("id"), str) and sent["id"] not in self.done:
                self.done.append(sent["id"])
                self._obey(sent.get("name"), sent.get("value"))

    def _obey(self, name: Any, value: Any) -> None:
        if name in ("play", "pause", "one_row", "one_epoch", "go"):
            self._move(name, value)
        elif name in ("reset", "settle"):
            self.film.leave()
            getattr(self.job, name)()
            self._settle_down(name)
        elif name == "speed" and value in SPEEDS:
            self.job.set_speed(value)
            self.film.choose(value)
        elif name in ("why", "last_move", "close_why"):
            self._ask_why(name, value)
        elif name == "branch" and self.run is not None and (shown := self.film.shown) is not None:
            self.branch = shown.step
        elif name == "rules":
            self.leave = True
        elif name == "thresholds" and self.run is not None:
            self._drop_rival()
            self.rival = Rival(self.job)
        elif name == "no_thresholds":
            self._drop_rival()
        elif name == "view" and self.run is not None:
            self._look(value)

    def _move(self, name: str, value: Any) -> None:
        """A command of the film: in the past it moves there, at the newest moment it learns."""
        shown, run = self.film.shown, self.job.run
        if name == "go" and isinstance(value, int) and not isinstance(value, bool):
            self.film.go(value)
            self._follow_why()
        elif name != "go" and self.film.past and shown is not None and run is not None:
            if name == "play":
                self.film.play(self.job.speed)
            else:
                self.film.playing = False
            if name in ("one_row", "one_epoch"):
                self.film.go(shown.step + (1 if name == "one_row" else run.n_rows))
                self._follow_why()
        elif name != "go":
            getattr(self.job, name)()
            self._settle_down(name)
            if name == "one_row":
                self._follow_why()

    def _settle_down(self, name: str) -> None:
        if name in ("pause", "one_row", "reset"):
            self.job.wait_until_idle(0.2)
        else:
            self.job.wait_for_commands(0.1)

    def _ask_why(self, name: str, value: Any) -> None:
        if name == "close_why":
            self._close_why()
            return
        shown, run, view = self.film.shown, self.run, self.view
        if shown is None or run is None:
            return
        came_from = self.why.came_from if self.why else shown.step if self.film.past else None
        if name == "last_move":
            self.film.go(shown.step)
            step = self.film.last_move(view.machine, view.clause, view.feature)
            if step is not None:
                self.film.go(step + 1)
            self.why = Why(
                run, max(0, (shown.step if step is None else step + 1) - 1), view.clause, view.feature
            )
            self.why.found = step is not None
        else:
            clause = value if isinstance(value, int) and 0 <= value < len(shown.bank.polarity) else None
            if self.why is None or clause is None:
                self.film.go(shown.step)
                moment = self.film.shown or shown
                self.why = Why(run, max(0, moment.step - 1), view.clause if clause is None else clause, None)
            else:
                self.why.clause, self.why.chosen = clause, True
        self.why.came_from = came_from

    def _close_why(self) -> None:
        """Back to the moment before the question, unless the film plays or the newest moment is shown."""
        why, self.why = self.why, None
        if why is None or not self.film.past or self.film.playing:
            return
        if why.came_from is None:
            self.film.leave()
        else:
            self.film.go(why.came_from)

    def _follow_why(self) -> None:
        """An open explanation follows the moment shown."""
        if self.why is not None and (shown := self.film.shown) is not None:
            self.why.feature = None
            self.why.step, self.why.found = max(0, shown.step - 1), True

    def _look(self, value: Any) -> None:
        run = self.run
        assert run is not None
        n_machines, encoder = len(run.machine.state.weights), run.encoder
        sizes = n_machines, self.job.parameters.n_clauses, len(encoder.features), len(encoder.columns)
        if self.view.update(value, *sizes):
            self.arrange()

    def close(self) -> None:
        """Another job is looked at."""
        self._drop_rival()

    def _drop_rival(self) -> None:
        if self.rival is not None:
            self.rival.close()
            self.rival = None
