"""The model behind the crash lab: a real process to step, kill and resume. No widgets in it.

    lab = CrashLab()
    lab.step()                    # on to the next phase: model, tool, result, save
    lab.run_to(1, "tool")         # on until the process stands before the tool of step 1
    lab.crash()                   # SIGKILL, now
    lab.resume()                  # a new process, from what the disk holds
    lab.run()                     # on to the end

Each action returns a sentence that says what happened; `events` keeps them all. The three panels of the lab are
`process`, `files()` and `ledger`: what the process knows, what the disk holds, what the outside world saw.
"""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from minagent.checkpoint import recover_checkpoint
from minagent.document import decode
from minagent.errors import CheckpointError, CheckpointMissing
from minagent.generations import numbered
from minagent.lab.example import ExampleName
from minagent.lab.ledger import Ledger
from minagent.lab.phases import Phase
from minagent.lab.worker import CHECKPOINT, LEDGER, Recording, Report, Worker, WorkerDied

State = Literal["ready", "running", "dead", "done"]
Verdict = Literal["good", "bad"]

DOING: dict[Phase, str] = {
    "model": "ask the model",
    "tool": "run the tool",
    "result": "take the result in",
    "save": "save",
}
"""What each phase does, in the order of a step."""

WAY_ON: dict[State, str] = {"ready": "Step", "running": "Step, Run or Crash", "dead": "Resume", "done": "Reset"}
"""What to press next in each state."""


@dataclass(frozen=True)
class StoredFile:
    """One file on the disk."""

    name: str
    size: int
    """In bytes."""
    verdict: Verdict
    """Whether it loads: "good" or "bad"."""
    messages: int
    """How many messages it holds; 0 if it is bad."""

    def __str__(self) -> str:
        return f"{self.name}: {self.size} bytes, {self.verdict}, {self.messages} messages"


class NotNow(Exception):
    """The action does not fit the state that the lab is in; the message says what does."""


class CrashLab:
    """One agent at work in a process of its own, its disk, and the world outside.

    `folder` is the lab's own: `reset` empties it. If none is given, it is a temporary one that goes with the lab.
    """

    def __init__(
        self, folder: Path | None = None, recording: Recording = "every step", example: ExampleName = "arithmetic"
    ) -> None:
        if folder is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="minagent-", ignore_cleanup_errors=True)
        self.folder = folder or Path(self._temporary.name, "lab")
        self.recording = recording
        self.example = example
        self.ledger = Ledger(self.folder / LEDGER)
        self.state: State = "ready"
        self.process: Worker | None = None
        """The newest process; it is alive in state "running" only."""
        self.events: list[str] = []

    @property
    def phases(self) -> list[Phase]:
        """The phases of a step, in order."""
        return [phase for phase in DOING if phase != "save" or self.recording != "nothing"]

    @property
    def report(self) -> Report | None:
        """Where the living process stands; None if there is none."""
        return self.process.report if self.process is not None and self.state == "running" else None

    def step(self) -> str:
        """Let the process do its next phase. In state "ready" this starts it, before its first phase."""
        if self.state == "ready":
            return self._start("A process starts.")
        worker = self._living("step")
        try:
            worker.proceed()
        except WorkerDied as error:
            self.state = "dead"
            return self._say(f"The process died, and not by this lab: {error}")
        except BaseException:
            worker.kill()  # an interrupt, perhaps between "go" and the answer: where it stands is not known any more
            self.state = "dead"
            raise
        return self._say_where("")

    def run_to(self, step: int, phase: Phase) -> str:
        """Go on until the process stands before `phase` of `step` (from 0), or has ended without coming there."""
        said = self.step() if self.report is None else self.events[-1]
        while self.report is not None and (self.report.step, self.report.phase) != (step, phase):
            said = self.step()
        return said

    def run(self) -> str:
        """Go on until the work is done."""
        said = self.step()
        while self.state == "running":
            said = self.step()
        return said

    def crash(self) -> str:
        """Kill the process with SIGKILL where it stands."""
        worker = self._living("crash")
        stood = _where(worker.report)
        worker.kill()
        self.state = "dead"
        return self._say(f"Crashed by SIGKILL. It stood at {stood}. Its memory is gone.")

    def resume(self) -> str:
        """Start a new process after a crash. It loads what the disk holds, or begins anew if that is nothing."""
        if self.state != "dead":
            raise NotNow(f"There is nothing to resume: the process is {self.state}. Press {WAY_ON[self.state]}.")
        return self._start(f"Resumed in a new process, {self._what_loads()}.")

    def reset(self) -> str:
        """Bring back the start: no process, an empty disk, a world that saw nothing."""
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.events.clear()
        self.state = "ready"
        return self._say("Reset: no process, an empty disk, an empty ledger.")

    def close(self) -> None:
        """Leave no process behind."""
        if self.process is not None and self.state == "running":
            self.process.kill()
            self.state = "dead"
        self.process = None

    def files(self) -> list[StoredFile]:
        """Return the checkpoints on the disk, the newest first, each checked as loading it would check it."""
        path = self.folder / CHECKPOINT
        older = [file for file in numbered(path).values() if not (path.exists() and path.samefile(file))]
        return [_examine(file) for file in (path, *older) if file.exists()]

    def __str__(self) -> str:
        """Return the three panels as text, without what differs from run to run (the pid)."""
        bill = self.ledger.bill()
        effects = [effect["name"] + " (again)" * bool(effect["repeat"]) for effect in self.ledger.effects()]
        return "\n".join([
            f"process  {self.state}{_knows(self.report)}",
            f"disk     {_disk(self.files())}",
            f"world    {', '.join(effects) or 'no effects'}; model calls paid: {bill.calls}, {bill.tokens} tokens",
        ])  # fmt: skip

    def _start(self, said: str) -> str:
        self.process = Worker(self.folder, self.recording, self.example)
        self.state = "running"
        return self._say_where(said)

    def _what_loads(self) -> str:
        try:
            _, report = recover_checkpoint(self.folder / CHECKPOINT)
        except CheckpointMissing:
            return "from the first question: the disk holds nothing"
        except CheckpointError as error:
            return f"which can load nothing: {error}"
        return str(report) if report.passed_over else "from the checkpoint"

    def _living(self, action: str) -> Worker:
        if self.process is None or self.state != "running":
            raise NotNow(f"There is no process to {action}: it is {self.state}. Press {WAY_ON[self.state]}.")
        return self.process

    def _say_where(self, said: str) -> str:
        if self.process is not None and self.process.report is None:
            self.state = "done"
            return self._say(f"{said} Done: the process has ended by itself.".strip())
        return self._say(f"{said} Now at {_where(self.report)}.".strip())

    def _say(self, sentence: str) -> str:
        self.events.append(sentence)
        return sentence


def _where(report: Report | None) -> str:
    return "no step" if report is None else f"step {report.step}, about to {DOING[report.phase]}"


def _knows(report: Report | None) -> str:
    if report is None:
        return ""
    trace = ", ".join(report.trace) or "empty"
    return f" at {_where(report)}; {report.messages} messages, cursor {report.cursor}, trace: {trace}"


def _disk(files: list[StoredFile]) -> str:
    if not files:
        return "empty"
    older = ", ".join(f"{file.name.rpartition('.')[2]} {file.verdict}" for file in files[1:])
    return f"{files[0]}; older: {older}" if older else str(files[0])


def _examine(path: Path) -> StoredFile:
    data = path.read_bytes()
    try:
        return StoredFile(path.name, len(data), "good", len(decode(data).session.messages))
    except CheckpointError:
        return StoredFile(path.name, len(data), "bad", 0)
