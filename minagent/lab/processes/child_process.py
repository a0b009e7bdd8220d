"""A process of ours, and the pipes to it: a call of a function, and one line at a time, each way.

    child = start(write, folder, "file", "w0", 200)
    child.hear()                  # the next value that it says; None if it has finished its work
    child.tell("go")
    child.kill()                  # SIGKILL; when this returns it is gone from the process table

The parent's side is `start` and `Child`, the child's `say` and `wait_for_parent`.
"""

import ast
import base64
import contextlib
import functools
import itertools
import json
import linecache
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import IO, Any, cast

import minagent
from minagent.plain_json import compact, parse


class ChildDied(RuntimeError):
    """A process has failed, or was killed by somebody else; the message has what it wrote to standard error."""

    def __init__(self, pid: int, code: int, complaint: str) -> None:
        hint = " (What a notebook defines cannot be sent to a process.)" if "Can't get attribute" in complaint else ""
        super().__init__(f"process {pid} ended with code {code}. {complaint}{hint}")
        self.code = code


def start(run: Callable[..., object], *arguments: Any) -> "Child":
    """Start a process that makes this call.

    The function is one of a module: of what a notebook defines, `sendable` is. The process has a session of its own:
    Jupyter interrupts a cell by a signal to the kernel's whole group of processes.
    """
    call = base64.b64encode(pickle.dumps((run, arguments))).decode()
    to_child, from_child = os.pipe(), os.pipe()
    complaints = tempfile.TemporaryFile()  # noqa: SIM115 - a pipe that nobody reads would fill up; `_end` closes it
    theirs = [to_child[0], from_child[1], complaints.fileno()]
    try:
        pid = _launcher(os.getpid()).ask({"start": call}, theirs)["pid"]
    except BaseException:
        os.close(to_child[1])
        os.close(from_child[0])
        raise
    finally:
        os.close(to_child[0])
        os.close(from_child[1])
    return Child(pid, open(to_child[1], "wb", buffering=0), open(from_child[0], "rb"), complaints)


def sendable(function: Callable[..., Any]) -> Any:
    """Return what can be sent in place of a notebook's function: its text. It may use json, os, Path and minagent."""
    if function.__module__ != "__main__":
        return function
    return functools.partial(_call_text, text_of(function), function.__name__)


def text_of(function: Callable[..., object]) -> str:
    """Return what another process needs of the cell or file that defines a function: all before it, and definitions."""
    code = cast("FunctionType", function).__code__
    linecache.checkcache(code.co_filename)  # a file may have been edited since
    cell = ast.parse("".join(linecache.getlines(code.co_filename))).body
    kept = (n for n in cell if n.lineno < code.co_firstlineno or getattr(n, "decorator_list", True) == [])
    return "\n".join(map(ast.unparse, kept))


def _call_text(text: str, name: str, *arguments: Any) -> Any:
    namespace: dict[str, Any] = {"json": json, "os": os, "Path": Path, **vars(minagent)}
    exec(text, namespace)  # noqa: S102 - the reader's own function, sent by the reader's own notebook
    return namespace[name](*arguments)


class Child:
    """The parent's hold on a process. One that is dropped is killed; so are all at the end of Python."""

    def __init__(self, pid: int, to_child: IO[bytes], from_child: IO[bytes], complaints: IO[bytes]) -> None:
        self.pid = pid
        self.complaint = ""  # what it wrote to standard error, once its end was waited for
        self._to_child, self._from_child, self._complaints = to_child, from_child, complaints
        self._code: list[int] = []  # shared with `_end`, which must not hold the child itself
        self.kill = weakref.finalize(self, _end, pid, self._code, to_child, from_child, complaints)
        """Send SIGKILL, and wait until the process is gone from the process table."""

    def tell(self, word: str) -> None:
        """Send a word. If the child is dead, nothing is sent: hearing from it will tell."""
        with contextlib.suppress(BrokenPipeError):
            self._to_child.write(word.encode() + b"\n")

    def hear(self) -> Any:
        """Return the next value that the child says; None if it has finished its work; else raise ChildDied.

        An interrupt kills it: to what its next line belongs, nobody could tell.
        """
        try:
            if line := self._from_child.readline():
                return parse(line)
            code = self.wait()
        except BaseException:
            self.kill()
            raise
        if code != 0:
            raise ChildDied(self.pid, code, self.complaint)
        return None

    def listen(self) -> tuple[list[Any], bool]:
        """Return all that the child says until its end, and whether it finished: if not, it was killed."""
        said: list[Any] = []
        try:
            said.extend(iter(self.hear, None))
        except ChildDied as death:
            if death.code != -signal.SIGKILL:
                raise
            return said, False
        return said, True

    def stop(self) -> None:
        """Stop it, as a machine does that falls asleep, and wait until it has stopped."""
        os.kill(self.pid, signal.SIGSTOP)
        _waited(self.pid, os.WUNTRACED)

    def wake(self) -> None:
        """Let it run again."""
        os.kill(self.pid, signal.SIGCONT)

    def wait(self) -> int:
        """Wait for its end, and return its exit code: minus the signal's number if it was killed."""
        if not self._code:
            self._code.append(os.waitstatus_to_exitcode(_waited(self.pid, 0)))
            self._complaints.seek(0)
            self.complaint = self._complaints.read().decode(errors="replace")
        self.kill()
        return self._code[0]

    def finished(self) -> bool:
        """Wait for its end: whether it finished its work, or was killed; ChildDied, if it ended otherwise."""
        _, finished = self.listen()
        return finished


def _end(pid: int, code: list[int], *pipes: IO[bytes]) -> None:
    if not code:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        code.append(os.waitstatus_to_exitcode(_waited(pid, 0)))
    for pipe in pipes:
        pipe.close()


def _waited(pid: int, options: int) -> Any:
    return _launcher(os.getpid()).ask({"wait": pid, "options": options})["status"]


class _Launcher:
    """The parent's hold on the launcher."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "minagent.lab.processes.launcher", str(theirs.fileno())]
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], start_new_session=True
            )
        self._answers = self._socket.makefile("rb")
        weakref.finalize(self, _dismiss, self._socket, self._answers, self._process)
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    def ask(self, order: dict[str, Any], files: list[int] | None = None) -> dict[str, Any]:
        """Give an order, and return the answer to it. Those to orders that were interrupted are passed over.

        RuntimeError, if the launcher is dead; the next order starts another one.
        """
        with self._lock:
            number = next(self._numbers)
            line = json.dumps({"number": number, **order}).encode() + b"\n"
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it died before, or with an order unread
                socket.send_fds(self._socket, [line], files or [])
                for said in self._answers:
                    answer: dict[str, Any] = json.loads(said)
                    if answer["number"] == number:
                        return answer
        _launcher.cache_clear()
        raise RuntimeError("the process that starts others is dead; it says why on stderr")


def _dismiss(connection: socket.socket, answers: IO[bytes], process: subprocess.Popen[bytes]) -> None:
    answers.close()
    connection.close()
    process.wait()


@functools.cache
def _launcher(_: int) -> _Launcher:
    """Return the launcher of the process with this id: a fork of one that has a launcher needs its own."""
    return _Launcher()


def say(value: Any) -> None:
    """Tell the parent a value, as a line of JSON."""
    os.write(1, compact(value) + b"\n")


def wait_for_parent() -> str:
    """Return the parent's next line, without its line break. If the parent is gone, end here."""
    line = sys.stdin.buffer.readline()
    if not line:
        sys.exit("the parent is gone")
    return line.decode().strip()
