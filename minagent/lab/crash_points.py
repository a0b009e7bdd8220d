"""The points at which a process can die, and a process that dies at the one that was chosen.

To die *at* a point is to die just before what it is named for:

    model     ask the model
    answer    take the model's answer in: it is paid for
    tool      run a tool
    result    take its result in: it has had its effect
    write     write to a file
    half      write the other half of the bytes
    fsync     force what was written to the disk
    rename    give a file its name
    insert    add a row to a database
    commit    commit a transaction

Nothing between two points can be seen from outside the process, on the disk or in the world; so they are all there are.
(For a process that dies. A power cut is another matter: see `power_loss`.)

A real process dies by SIGKILL. An imagined one dies by an exception that nothing catches, and from then on all that it
still tries to do to a file fails, too: the dead do not tidy up.
"""

import contextlib
import os
import signal
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from minagent import atomic, generations


class Crash(BaseException):
    """An imagined process is dead."""


def die_by_exception() -> NoReturn:
    """Die as an imagined process does."""
    raise Crash


def die_by_signal() -> NoReturn:
    """Die as a real process does."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("nobody comes here")


class CrashPoints:
    """Counts the points that a process comes to. It dies at number `die_at`, counted from 1; at none if that is 0."""

    def __init__(self, die_at: int, die: Callable[[], NoReturn]) -> None:
        self.names: list[str] = []
        """The points that it came to, in order."""
        self._die_at, self._die = die_at, die
        self.real = die is die_by_signal

    def about_to(self, name: str) -> None:
        """Come to a point."""
        self.names.append(name)
        if len(self.names) == self._die_at:
            self._die()

    def check_alive(self) -> None:
        """Keep the dead from doing anything."""
        if 0 < self._die_at <= len(self.names):
            self._die()

    @contextlib.contextmanager
    def watching_files(self) -> Iterator[None]:
        """Make each write, fsync and rename of minagent a point."""
        modules = (atomic, generations)
        for module in modules:
            setattr(module, "os", _WatchedOs(self))  # noqa: B010 - mypy would not have it otherwise
        try:
            yield
        finally:
            for module in modules:
                setattr(module, "os", os)  # noqa: B010


class _WatchedOs:
    """Stands where the module `os` stood."""

    def __init__(self, points: CrashPoints) -> None:
        self._points = points

    def __getattr__(self, name: str) -> Any:
        if name in ("link", "unlink", "ftruncate"):
            self._points.check_alive()
        return getattr(os, name)

    def write(self, descriptor: int, data: bytes) -> int:
        """Write in two halves: a process can be killed between them."""
        self._points.about_to("write")
        written = os.write(descriptor, data[: len(data) // 2])
        self._points.about_to("half")
        return written + os.write(descriptor, data[written:])

    def fsync(self, descriptor: int) -> None:
        """Force to disk; an imagined process need not, since the machine goes on."""
        self._points.about_to("fsync")
        if self._points.real:
            os.fsync(descriptor)

    def replace(self, source: str, target: str) -> None:
        """Rename."""
        self._points.about_to("rename")
        os.replace(source, target)


class WatchedDatabase:
    """A connection to a database; each statement that adds rows, and each commit of some, is a point."""

    def __init__(self, connection: sqlite3.Connection, points: CrashPoints) -> None:
        self._connection = connection
        self._points = points
        self._added = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        """Execute a statement."""
        self._come_to(statement)
        return self._connection.execute(statement, *values)

    def executemany(self, statement: str, rows: Any) -> sqlite3.Cursor:
        """Execute a statement for each row."""
        self._come_to(statement)
        return self._connection.executemany(statement, rows)

    def _come_to(self, statement: str) -> None:
        verb = statement.partition(" ")[0].lower()
        if verb == "insert" or (verb == "commit" and self._added):
            self._points.about_to(verb)
            self._added = verb == "insert"
        elif verb == "rollback":
            self._points.check_alive()
