"""The process that is killed: an agent at work on an example, and the parent's hold on it.

Before each phase of its work the child writes one line to its standard output and waits for one line on its standard
input. So the parent always knows where the child stands, and the child does not know what comes: "go", or SIGKILL.

    child   {"phase": "model", "step": 0, "messages": 2, "cursor": 0, "trace": []}
    parent  go
    child   {"phase": "tool", "step": 0, "messages": 2, "cursor": 1, "trace": []}
    parent  (kill -9)

The phases of a step are those of `phases`.

A child whose parent is gone reads an end of file instead of "go", and leaves.
"""

import contextlib
import subprocess
import sys
import tempfile
import weakref
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Literal, cast

from minagent import save_checkpoint, step_once
from minagent.lab.example import EXAMPLES, ExampleName
from minagent.lab.ledger import Ledger
from minagent.lab.phases import Phase, WatchedModel, WatchedTools
from minagent.plain_json import canonical, parse

Recording = Literal["nothing", "every step"]

CHECKPOINT = Path("disk", "session.json")
LEDGER = Path("world", "ledger.jsonl")


@dataclass(frozen=True)
class Report:
    """Where the child stands, and what it knows."""

    phase: Phase
    """What it is about to do."""
    step: int
    """The step it is in, counted from 0."""
    messages: int
    """How many messages its session holds. Those of the step under way are not among them yet."""
    cursor: int | None
    trace: list[str]
    """The kinds of the steps taken so far."""


class WorkerDied(Exception):
    """The child ended before its work was done, and not by our hand."""


class Worker:
    """The child, as the parent holds it. It stands before its first phase when the constructor returns."""

    def __init__(self, folder: Path, recording: Recording, example: ExampleName) -> None:
        # A file, since a pipe that nobody reads fills up, and then the child waits for ever.
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the child
        # A session of its own: Jupyter interrupts a cell by a signal to the kernel's whole group of processes.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "minagent.lab.worker", str(folder), recording, example],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            start_new_session=True,
        )
        self._to_child = cast(IO[bytes], self._process.stdin)
        self._from_child = cast(IO[bytes], self._process.stdout)
        self.pid = self._process.pid
        # A lab that is dropped takes its process with it; so does the end of Python.
        self.kill = weakref.finalize(self, _kill, self._process)
        """Send SIGKILL, and wait until the process is gone from the process table."""
        self.report = self._read()

    def proceed(self) -> Report | None:
        """Let the child do its next phase. Return where it stands then, or None if its work is done.

        Raises:
            WorkerDied: somebody else killed it, or it failed.
        """
        with contextlib.suppress(BrokenPipeError):  # it is dead; reading will tell
            self._to_child.write(b"go\n")
            self._to_child.flush()
        self.report = self._read()
        return self.report

    def _read(self) -> Report | None:
        try:
            line = self._from_child.readline()
        except BaseException:
            # A reader presses Interrupt: where the child stands is not known any more, and would be told wrong for
            # ever after. So it goes.
            self.kill()
            raise
        if line:
            return Report(**parse(line))
        self._process.communicate()
        if self._process.returncode != 0:
            self._complaints.seek(0)
            complaint = self._complaints.read().decode(errors="replace")
            raise WorkerDied(f"process {self.pid} ended with code {self._process.returncode}. {complaint}")
        return None


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


class _Child:
    """The child's side: the chapter's loop, step and save, until done."""

    def __init__(self, folder: Path, recording: Recording, example: ExampleName) -> None:
        ledger = Ledger(folder / LEDGER)
        self.recording = recording
        self.example = EXAMPLES[example]
        self.path = folder / CHECKPOINT
        self.agent = self.example.agent(WatchedTools(ledger, self.about_to))
        self.model = WatchedModel(self.example.script, ledger, self.about_to)
        start = self.example.begin_or_resume(self.agent, self.path)
        self.session, self.model.cursor, self.steps = start.session, start.model_cursor, start.steps
        self.step = self.session.step_count

    def about_to(self, phase: Phase) -> None:
        trace = [step.kind for step in self.steps]
        report = Report(phase, self.step, len(self.session.messages), self.model.cursor, trace)
        sys.stdout.buffer.write(canonical(asdict(report)) + b"\n")
        sys.stdout.buffer.flush()
        if not sys.stdin.buffer.readline():
            sys.exit("the parent is gone")

    def run(self) -> None:
        while not self.session.answered:
            step_once(self.agent, self.session, self.model, self.steps)
            if self.recording == "every step":
                self.about_to("save")
                save_checkpoint(self.path, self.session, self.model, self.steps)
            self.step += 1


if __name__ == "__main__":
    folder, recording, example = sys.argv[1:]
    _Child(Path(folder), cast(Recording, recording), cast(ExampleName, example)).run()
