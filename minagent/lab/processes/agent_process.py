"""The process that is killed: an agent at work on an example. Its parent's hold on it is in `worker`.

Before each phase of its work (see `phases`) it writes one line to its standard output, and waits for one line on its
standard input. So the parent always knows where it stands, and it does not know what comes:

    child   {"phase": "model", "step": 0, "messages": 2, "cursor": 0, "trace": []}
    parent  go
    child   {"phase": "save", "step": 0, "messages": 4, "cursor": 1, "trace": ["tool_call"]}
    parent  tear        (or kill -9)

After "tear" it dies by itself, when half of what it is about to write is in the file. A child whose parent is gone
reads an end of file, and leaves.
"""

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

from minagent import Checkpoint, SaveWhen, Session, Unsaved, pending_calls, save_checkpoint, step_once
from minagent.agent import NOT_RECORDED, Recorder
from minagent.lab.processes.child_process import say, wait_for_parent
from minagent.lab.processes.crash_points import CrashPoints, die_at
from minagent.lab.processes.phases import (
    CHECKPOINT,
    INTERVAL,
    LEDGER,
    Phase,
    Recording,
    Report,
    WatchedModel,
    WatchedTools,
)
from minagent.lab.world.example import EXAMPLES, SESSION, Example, ExampleName
from minagent.lab.world.ledger import Ledger
from minagent.log import FileStore, InDoubt, SessionLog
from minagent.models import Reply
from minagent.tools import Effect

HALF = 2  # the second crash point of every write: see `crash_points`


def with_keys(example: Example) -> Example:
    """Return the example with tools that know a repeated request by its key."""
    tools: dict[Callable[..., Any], Effect] = {
        tool: "read_only" if effect == "read_only" else "idempotent" for tool, effect in example.tools.items()
    }
    return replace(example, tools=tools)


class _TellingStore(FileStore):
    """A store that stops before each append."""

    def __init__(self, folder: Path, write: Callable[[Callable[[], None]], None]) -> None:
        super().__init__(folder)
        self._write = write

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        self._write(lambda: super(_TellingStore, self).append(session_id, records, expected_length))


class _SavePlan(Recorder):
    """Saves what the model wants, before a tool with side effects runs."""

    def __init__(self, process: "_AgentProcess") -> None:
        self._process = process

    def answered(self, session: Session, model_cursor: int | None, reply: Reply) -> None:  # noqa: ARG002
        effects = self._process.agent.registry.effects(reply.message.tool_calls)
        if SaveWhen(before_side_effects=True).due(Unsaved(about_to_run=effects)):
            self._process.save("plan")


class _AgentProcess:
    def __init__(self, folder: Path, recording: Recording, example: Example) -> None:
        ledger = Ledger(folder / LEDGER)
        keys = recording == "log with keys"
        self.path, self.recording = folder / CHECKPOINT, recording
        self.example = with_keys(example) if keys else example
        self.agent = self.example.agent(WatchedTools(ledger, self.about_to, honours_keys=keys))
        self.model = WatchedModel(self.example.script, ledger, self.about_to)
        self.order = "go"
        self.log = self._open_log() if recording.startswith("log") else None
        start = self._start()
        self.session, self.model.cursor, self.steps = start.session, start.model_cursor, start.steps
        self.step = self.session.step_count

    def _open_log(self) -> SessionLog:
        folder = self.path.parent
        if not FileStore(folder).read(SESSION).lines:
            session = self.example.begin(self.agent)
            SessionLog.begin(FileStore(folder), session, 0, writer="agent", incarnation="i1")
        return SessionLog.resume(_TellingStore(folder, self._append), SESSION, writer="agent")

    def _start(self) -> Checkpoint:
        if self.log is None:
            return self.example.begin_or_resume(self.agent, self.path)
        state = self.log.state
        return Checkpoint(state.session, state.model_cursor, state.steps)

    def about_to(self, phase: Phase, doubt: str = "") -> None:
        trace = [step.kind for step in self.steps]
        report = Report(phase, self.step, len(self.session.messages), self.model.cursor, trace, doubt)
        say(asdict(report))
        self.order = wait_for_parent()

    def _write(self, phase: Phase, action: Callable[[], None]) -> None:
        """Write something to the disk, or half of it."""
        self.about_to(phase)
        with CrashPoints(die_at(HALF if self.order == "tear" else 0)).watching_files():
            action()

    def _append(self, action: Callable[[], None]) -> None:
        self._write("plan" if pending_calls(self.session.messages) else "save", action)

    def save(self, phase: Phase) -> None:
        self._write(phase, lambda: save_checkpoint(self.path, self.session, self.model, self.steps))

    def run(self) -> None:
        while not self.session.answered:
            if self.log is None:
                self._step_and_save()
            else:
                self._step_with_log(self.log)
            self.step += 1

    def _step_and_save(self) -> None:
        plan = _SavePlan(self) if self.recording == "before side effects" else NOT_RECORDED
        status = step_once(self.agent, self.session, self.model, self.steps, plan)
        every = INTERVAL.get(self.recording, 0)
        if every and (status == "done" or (self.step + 1) % every == 0):
            self.save("save")

    def _step_with_log(self, log: SessionLog) -> None:
        try:
            step_once(self.agent, self.session, self.model, self.steps, log=log)
        except InDoubt as doubt:
            self.about_to("doubt", doubt.key)
            sys.exit("nobody has said what became of the call in doubt")


def main(folder: str, recording: str, example: str) -> None:
    """Be the process. It works in its folder, so that the process table tells which one is whose."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    _AgentProcess(Path(folder), cast(Recording, recording), EXAMPLES[cast(ExampleName, example)]).run()
