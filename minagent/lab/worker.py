"""The parent's hold on the process that is killed, which is in `agent_process`."""

import tempfile
import weakref
from pathlib import Path
from typing import IO, cast

from minagent.lab.child_process import kill_and_wait, send, start
from minagent.lab.example import ExampleName
from minagent.lab.phases import Recording, Report
from minagent.plain_json import parse


class WorkerDied(Exception):
    """The child ended before its work was done, and not by our hand."""


class Worker:
    """The child, as the parent holds it. It stands before its first phase when the constructor returns."""

    def __init__(self, folder: Path, recording: Recording, example: ExampleName) -> None:
        # A file, since a pipe that nobody reads fills up, and then the child waits for ever.
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the child
        command = "minagent.lab.agent_process", str(folder), recording, example
        self._process = start(*command, complaints=self._complaints)
        self._to_child = cast(IO[bytes], self._process.stdin)
        self._from_child = cast(IO[bytes], self._process.stdout)
        self.pid = self._process.pid
        # A lab that is dropped takes its process with it; so does the end of Python.
        self.kill = weakref.finalize(self, kill_and_wait, self._process)
        """Send SIGKILL, and wait until the process is gone from the process table."""
        self.report = self._read()

    def tear(self) -> None:
        """Let the child, which is about to write, die when half of it is written."""
        send(self._to_child, b"tear")
        self._process.communicate()

    def proceed(self) -> Report | None:
        """Let the child do its next phase. Return where it stands then, or None if its work is done.

        Raises:
            WorkerDied: somebody else killed it, or it failed.
        """
        send(self._to_child, b"go")
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
