"""A process whose file calls are watched, and one of them struck by a fault.

A *file call* is a call of one of the functions of `os` in CALLS that concerns the folder of a save. The faults:

    kill          SIGKILL before the call: the process is gone
    fail once     the call raises OSError, as on a disk that is full or broken; later ones work
    fail always   the call and all after it raise
    short once    a write writes half of its bytes, and says so, as it may on a disk that is almost full
    short always  each write from there on does

The save runs in a child; that costs milliseconds, so every call can be struck. The child replaces the functions in
`os` by ones that first say what they are about to do. Python's own `open` does not go through `os`; the standard
library has a second one, written in Python, that does.
"""

import base64
import builtins
import contextlib
import errno
import fcntl
import importlib
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from minagent.lab.processes.child_process import say, sendable, start

CALLS = ("open", "write", "fsync", "close", "replace", "rename", "link", "unlink", "remove", "mkdir", "listdir",
         "ftruncate")  # fmt: skip

OPEN_IN_PYTHON = importlib.import_module("_pyio").open
"""Does what `open` does, by way of `os`. (Imported by name: it has no types.)"""

Fault = Literal["none", "kill", "fail once", "fail always", "short once", "short always"]
Ended = Literal["finished", "killed", "raised"]


class Strike(NamedTuple):
    """A fault, and the number of the file call that it strikes."""

    fault: Fault
    at: int
    error: int = errno.EIO


NO_STRIKE = Strike("none", 0)


class Run(NamedTuple):
    """One run of a save."""

    events: list[dict[str, Any]]  # the file calls that it made or was about to make, in order: see `_describe`
    ended: Ended
    error: str


def run(
    save: Callable[[Path, bytes], None], path: Path, data: bytes, strike: Strike, before: Sequence[bytes] = ()
) -> Run:
    """Run `save(path, data)` in a child, struck as told. A save from a notebook has os, json, Path, and its cell.

    The child saves what was `before`, undisturbed and unwatched.
    """
    child = start(_be_struck, sendable(save), path, (*before, data), strike)
    events, finished = child.listen()
    raised = events.pop()["raised"] if events and "raised" in events[-1] else ""
    return Run(events, "raised" if raised else "finished" if finished else "killed", raised)


def _be_struck(save: Callable[[Path, bytes], None], path: Path, versions: Sequence[bytes], strike: Strike) -> None:
    """Be the child: save, watched, and say each file call."""
    sys.stdout = sys.stderr  # what the save prints must not get among the events
    for version in versions[:-1]:
        with contextlib.suppress(BaseException):  # what it leaves is what the next one finds
            save(path, version)
    _Child(path, strike).run(save, versions[-1])


class _Child:
    """The child's side: a save whose file calls are watched, and struck."""

    def __init__(self, path: Path, strike: Strike) -> None:
        self.path, self.strike = path, strike
        self.number = 0
        self.open_files: dict[int, str] = {}
        self.real = {name: getattr(os, name) for name in CALLS}

    def run(self, save: Callable[[Path, bytes], None], data: bytes) -> None:
        for name in CALLS:
            setattr(os, name, self._watched(name))
        io.open = builtins.open = OPEN_IN_PYTHON
        try:
            save(self.path, data)
        except BaseException as error:
            say({"raised": f"{type(error).__name__}: {error}"})
        os._exit(0)

    def _watched(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            paths = [self._name(argument) for argument in (*arguments, *options.values())[:2]]
            if not any(paths):  # not in the folder of the save: none of our business
                return self.real[name](*arguments, **options)
            self.number += 1
            say(_describe(name, paths, arguments))
            result = self._struck(name, arguments, options)
            self._follow(name, paths, arguments, result)
            return result

        return call

    def _follow(self, name: str, paths: list[str | None], arguments: tuple[Any, ...], result: Any) -> None:
        """Keep in mind which open file has which name: a renamed one has the new."""
        if name == "open" and paths[0] is not None:
            self.open_files[result] = paths[0]
        elif name == "close":
            self.open_files.pop(arguments[0], None)
        elif name in ("replace", "rename"):
            self.open_files = {n: paths[1] or "" if old == paths[0] else old for n, old in self.open_files.items()}

    def _name(self, argument: Any) -> str | None:
        """Return the name in the folder of the save that an argument means; None if it means something else."""
        if isinstance(argument, int):
            return self.open_files.get(argument)
        if not isinstance(argument, str | os.PathLike):
            return None
        place = Path(argument)
        return place.name if place.parent == self.path.parent else "." if place == self.path.parent else None

    def _struck(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        fault, at = self.strike.fault, self.strike.at
        now = self.number >= at if fault.endswith("always") else self.number == at
        if now and fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if now and fault.startswith("fail"):
            raise OSError(self.strike.error, os.strerror(self.strike.error))
        if now and fault.startswith("short") and name == "write":
            descriptor, data = arguments
            arguments = descriptor, data[: max(1, len(data) // 2)]
        return self.real[name](*arguments, **options)


def _describe(name: str, paths: list[str | None], arguments: tuple[Any, ...]) -> dict[str, Any]:
    """Return a file call as JSON. Its `path` is a name in the folder of the save, or "." for the folder itself."""
    event: dict[str, Any] = {"call": name, "path": paths[0]}
    if name in ("replace", "rename", "link"):
        event["to"] = paths[1]
    if name == "open":
        event["creates"] = bool(arguments[1] & os.O_CREAT)
        event["truncates"] = bool(arguments[1] & os.O_TRUNC)
    if name == "write":
        descriptor, data = arguments
        appends = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_APPEND
        event["offset"] = os.fstat(descriptor).st_size if appends else os.lseek(descriptor, 0, os.SEEK_CUR)
        event["data"] = base64.b64encode(bytes(data)).decode()
    return event
