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
from typing import Any, NoReturn, TypeVar, cast

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
        fsync = first(lambda _: self.about_to("fsync"), (lambda _: None) if self.imagined else os.fsync)
        rename = first(lambda *_: self.about_to("rename"), os.replace)
        watched = instead(os, write=self._write, fsync=fsync, replace=rename)
        modules = (atomic, checkpoint, file)
        for module in modules:
            setattr(module, "os", watched)  # noqa: B010 - mypy would not have it otherwise
        try:
            yield
        finally:
            for module in modules:
                setattr(module, "os", os)  # noqa: B010

    def _write(self, descriptor: int, data: bytes) -> int:
        """Write in two halves: a process can be killed between them."""
        self.about_to("write")
        written = os.write(descriptor, data[: len(data) // 2])
        self.about_to("half")
        return written + os.write(descriptor, data[written:])

    def watched(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        """Return a connection on which each statement that adds rows, and each commit of some, is a point."""
        added = False

        def come_to(statement: str, *_: Any) -> None:
            nonlocal added
            verb = statement.partition(" ")[0].lower()
            if verb == "insert" or (verb == "commit" and added):
                self.about_to(verb)
                added = verb == "insert"

        watched = {name: first(come_to, getattr(connection, name)) for name in ("execute", "executemany")}
        return instead(connection, **watched)


T = TypeVar("T")


class _Other:
    def __init__(self, real: object, functions: dict[str, Callable[..., Any]]) -> None:
        self.__dict__ = {"_real": real, **functions}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def instead(real: T, **functions: Callable[..., Any]) -> T:
    """Return what can stand where this object stood: it has these functions, and everything else of the real one."""
    return cast("T", _Other(real, functions))


def first(come_to: Callable[..., object], function: Callable[..., Any]) -> Callable[..., Any]:
    """Return this function, with something that is done first: it gets the same arguments."""

    def call(*arguments: Any, **options: Any) -> Any:
        come_to(*arguments)
        return function(*arguments, **options)

    return call
