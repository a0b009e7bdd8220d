"""A process to be killed: an agent at work on an example.

Before each phase of its work (see `phases`) it writes one line to its standard output, and waits for one line on its
standard input. So the parent always knows where it stands, and it does not know what comes:

    child   {"phase": "model", "step": 0, "messages": 2, "cursor": 0, "trace": []}
    parent  go
    child   {"phase": "save", "step": 0, "messages": 4, "cursor": 1, "trace": ["tool_call"]}
    parent  tear        (or kill -9)

After "tear" it dies by itself, when half of what it is about to write is in the file. A child whose parent is gone
reads an end of file, and leaves.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from minagent import Checkpoint, pending_calls, save_checkpoint, step_once
from minagent.agent import NOT_RECORDED, Recorder
from minagent.lab.processes import phases
from minagent.lab.processes.child_process import say, wait_for_parent
from minagent.lab.processes.crash_points import CrashPoints, die_at, first, instead
from minagent.lab.processes.phases import Phase, Recording, Report
from minagent.lab.world.example import EXAMPLES, SESSION, Example, ExampleName
from minagent.lab.world.ledger import Ledger
from minagent.log import FileStore, InDoubt, SessionLog
from minagent.tools import Effect

HALF = 2  # the second crash point of every write: see `crash_points`


def with_keys(example: Example) -> Example:
    """Return the example with tools that know a repeated request by its key."""
    tools: dict[Callable[..., Any], Effect] = {
        tool: "read_only" if effect == "read_only" else "idempotent" for tool, effect in example.tools.items()
    }
    return example._replace(tools=tools)


class _AgentProcess:
    def __init__(
        self, folder: Path, recording: Recording, example: Example, own: dict[str, Callable[..., Any]]
    ) -> None:
        ledger = Ledger(folder / phases.LEDGER)
        keys = recording == "log with keys"
        self.path, self.recording = folder / phases.CHECKPOINT, recording
        self.example = with_keys(example) if keys else example
        self.agent = self.example.agent(phases.WatchedTools(ledger, self.about_to, honours_keys=keys))
        self.model = phases.WatchedModel(self.example.script, ledger, self.about_to)
        self.recorder: Recorder = NOT_RECORDED
        if recording == "before side effects":
            self.recorder = phases.SavePlan(self.agent.registry, lambda: self.save("plan"))
        began = self._open_log() if recording.startswith("log") else example.begin_or_resume(self.agent, self.path)
        self.session, self.model.cursor, self.steps = began.session, began.model_cursor, began.steps
        if "load" in own and self.path.exists():
            self.session, model, self.steps = own["load"](self.path, example.script)
            self.model.script, self.model.cursor = model.script, model.cursor
        self.take_step = own.get("step", partial(step_once, log=self.recorder))
        self._torn = contextlib.ExitStack()

    def _open_log(self) -> Checkpoint:
        store = FileStore(self.path.parent)
        if not store.read(SESSION).lines:
            SessionLog.begin(store, self.example.begin(self.agent), 0, writer="agent", incarnation="i1")
        watched = instead(store, append=first(self._about_to_append, store.append))
        self.recorder = log = SessionLog.resume(watched, SESSION, writer="agent")
        return Checkpoint(log.state.session, log.state.model_cursor, log.state.steps)

    def about_to(self, phase: Phase, doubt: str = "") -> None:
        trace = [step.kind for step in self.steps]
        say(Report(phase, self.step, len(self.session.messages), self.model.cursor, trace, doubt)._asdict())
        if wait_for_parent() == "tear":
            self._torn.enter_context(CrashPoints(die_at(HALF)).watching_files())

    def _about_to_append(self, *_: object) -> None:
        self.about_to("plan" if pending_calls(self.session.messages) else "save")

    def save(self, phase: Phase) -> None:
        self.about_to(phase)
        save_checkpoint(self.path, self.session, self.model, self.steps)

    def run(self) -> None:
        every = phases.INTERVAL.get(self.recording, 0)
        while not self.session.answered:
            left = len(self.model.script) - (self.model.cursor or 0)  # of a script that was cut short, too
            self.step = len(self.example.script) - left - bool(pending_calls(self.session.messages))
            try:
                status = self.take_step(self.agent, self.session, self.model, self.steps)
            except InDoubt as doubt:
                self.about_to("doubt", doubt.key)
                sys.exit("nobody has said what became of the call in doubt")
            except KeyboardInterrupt:
                status = "paused"
            if every and (status == "done" or (self.step + 1) % every == 0):
                self.save("save")


def work(folder: Path, recording: Recording, example: ExampleName, **own: Callable[..., Any]) -> None:
    """Be the process. It works in its folder, so that the process table tells which one is whose.

    `own` may have a `step`, which takes the place of step_once, and a `load`, of load_checkpoint.
    """
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background of a shell it would be ignored
    _AgentProcess(folder, recording, EXAMPLES[example], own).run()
