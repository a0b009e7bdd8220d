"""The parent's hold on the process that is killed, which is in `agent_process`."""

import tempfile
from pathlib import Path

from minagent.lab.processes.child_process import start
from minagent.lab.processes.phases import Recording, Report
from minagent.lab.world.example import ExampleName
from minagent.plain_json import parse


class WorkerDied(Exception):
    """The child ended before its work was done, and not by our hand."""


class Worker:
    """The child, as the parent holds it. It stands before its first phase when the constructor returns."""

    def __init__(self, folder: Path, recording: Recording, example: ExampleName) -> None:
        # A file, since a pipe that nobody reads fills up, and then the child waits for ever.
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the child
        command = "minagent.lab.processes.agent_process", str(folder.absolute()), recording, example
        self.child = start(*command, complaints=self._complaints)
        self.pid = self.child.pid
        self.kill = self.child.kill
        """Send SIGKILL, and wait until the process is gone from the process table."""
        self.report = self._read()

    def tear(self) -> None:
        """Let the child, which is about to write, die when half of it is written."""
        self.child.tell(b"tear")
        self.child.wait()

    def proceed(self) -> Report | None:
        """Let the child do its next phase. Return where it stands then, or None if its work is done.

        Raises:
            WorkerDied: somebody else killed it, or it failed.
        """
        self.child.tell(b"go")
        self.report = self._read()
        return self.report

    def _read(self) -> Report | None:
        # If a reader presses Interrupt, where the child stands is not known any more: `hear` kills it.
        if line := self.child.hear():
            return Report(**parse(line))
        if (code := self.child.wait()) != 0:
            self._complaints.seek(0)
            complaint = self._complaints.read().decode(errors="replace")
            raise WorkerDied(f"process {self.pid} ended with code {code}. {complaint}")
        return None
