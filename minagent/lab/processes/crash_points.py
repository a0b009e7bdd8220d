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

A real process dies by SIGKILL. An imagined one goes on: what it would have left, had it died, is copied at each point.
"""

import contextlib
import os
import signal
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from minagent import atomic, checkpoint
from minagent.log.stores import file


def die() -> NoReturn:
    """Die as a process does that is killed."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("nobody comes here")


def die_at(number: int) -> Callable[[int], None]:
    """Return what dies at this point, counted from 1; at none if that is 0."""

    def come_to(point: int) -> None:
        if point == number:
            die()

    return come_to


class CrashPoints:
    """Counts the points that a process comes to, and tells `come_to` the number of each.

    An imagined process need not wait until what it writes is forced to the disk, since the machine goes on.
    """

    def __init__(self, come_to: Callable[[int], object], *, imagined: bool = False) -> None:
        self.names: list[str] = []  # the points that it came to, in order
        self.imagined = imagined
        self._come_to = come_to

    def about_to(self, name: str) -> None:
        """Come to a point."""
        self.names.append(name)
        self._come_to(len(self.names))

    @contextlib.contextmanager
    def watching_files(self) -> Iterator[None]:
        """Make each write, fsync and rename of minagent a point."""
        modules = (atomic, checkpoint, file)
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
        return getattr(os, name)

    def write(self, descriptor: int, data: bytes) -> int:
        """Write in two halves: a process can be killed between them."""
        self._points.about_to("write")
        written = os.write(descriptor, data[: len(data) // 2])
        self._points.about_to("half")
        return written + os.write(descriptor, data[written:])

    def fsync(self, descriptor: int) -> None:
        """Force to disk."""
        self._points.about_to("fsync")
        if not self._points.imagined:
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
