"""A process whose file calls are watched, and one of them struck by a fault.

A *file call* is a call of one of the functions of `os` in CALLS that concerns the folder of a save. The faults:

    kill          SIGKILL before the call: the process is gone
    fail once     the call raises OSError, as on a disk that is full or broken; later ones work
    fail always   the call and all after it raise
    short once    a write writes half of its bytes, and says so, as it may on a disk that is almost full
    short always  each write from there on does

The save runs in a child (see `child_process`). That costs milliseconds, so every call can be struck.

How it works: the child replaces the functions in `os` by ones that first say what they are about to do. Python's own
`open` does not go through `os`; the standard library has a second one, written in Python, that does.
"""

import base64
import builtins
import contextlib
import errno
import fcntl
import importlib
import inspect
import io
import json
import os
import signal
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from minagent.lab.processes.child_process import start

CALLS = ("open", "write", "fsync", "close", "replace", "rename", "link", "unlink", "remove", "mkdir", "listdir",
         "ftruncate")  # fmt: skip

OPEN_IN_PYTHON = importlib.import_module("_pyio").open
"""Does what `open` does, by way of `os`. (Imported by name: it has no types.)"""

Fault = Literal["none", "kill", "fail once", "fail always", "short once", "short always"]
Ended = Literal["finished", "killed", "raised"]


@dataclass(frozen=True)
class Strike:
    """A fault, and the number of the file call that it strikes."""

    fault: Fault
    at: int
    error: int = errno.EIO


NO_STRIKE = Strike("none", 0)


@dataclass(frozen=True)
class Run:
    """One run of a save."""

    events: list[dict[str, Any]]
    """The file calls that it made or was about to make, in order.

    Each has `call`, its name, and `path`, a name in the folder of the save, or "." for the folder itself. A replace,
    a rename and a link have `to`; an open has `creates` and `truncates`; a write has `offset`, and
    `data`, in base64.
    """
    ended: Ended
    error: str


def run(
    save: Callable[[Path, bytes], None], path: Path, data: bytes, strike: Strike, before: Sequence[bytes] = ()
) -> Run:
    """Run `save(path, data)` in a child, struck as told. A save from a notebook may use os, json and Path.

    The child saves what was `before`, undisturbed and unwatched.
    """
    order = {
        "save": _reference(save),
        "path": str(path),
        "versions": [base64.b64encode(version).decode() for version in (*before, data)],
        "strike": vars(strike),
    }
    child = start("minagent.lab.faults.file_calls", json.dumps(order), imports=[save.__module__])
    events = [json.loads(event) for event in iter(child.hear, b"")]
    code = child.wait()
    raised = events.pop()["raised"] if events and "raised" in events[-1] else ""
    if code not in (0, -signal.SIGKILL):
        raise RuntimeError(f"the process that saves ended with code {code}; it says why on stderr")
    return Run(events, "killed" if code else "raised" if raised else "finished", raised)


def _reference(function: Callable[..., Any]) -> dict[str, str]:
    if function.__module__ == "__main__":
        return {"name": function.__name__, "source": textwrap.dedent(inspect.getsource(function))}
    return {"name": function.__name__, "module": function.__module__}


def _resolve(reference: dict[str, str]) -> Callable[[Path, bytes], None]:
    if "module" in reference:
        function = getattr(importlib.import_module(reference["module"]), reference["name"])
    else:
        namespace: dict[str, Any] = {"os": os, "json": json, "Path": Path}
        exec(reference["source"], namespace)  # noqa: S102 - the reader's own function, sent by the reader's own notebook
        function = namespace[reference["name"]]
    return cast(Callable[[Path, bytes], None], function)


def main(order: str) -> None:
    """Be the child: save, watched, and say each file call."""
    said = json.loads(order)
    save, strike = _resolve(said["save"]), Strike(**said["strike"])
    pipe = os.dup(1)
    os.dup2(2, 1)  # what the save prints must not get among the events
    path, (*before, data) = Path(said["path"]), map(base64.b64decode, said["versions"])
    for version in before:
        with contextlib.suppress(BaseException):  # what it leaves is what the next one finds
            save(path, version)
    _Child(pipe, path, strike).run(save, data)


class _Child:
    """The child's side: a save whose file calls are watched, and struck."""

    def __init__(self, pipe: int, path: Path, strike: Strike) -> None:
        self.pipe, self.path, self.strike = pipe, path, strike
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
            self._say({"raised": f"{type(error).__name__}: {error}"})
        os._exit(0)

    def _say(self, event: dict[str, Any]) -> None:
        self.real["write"](self.pipe, json.dumps(event).encode() + b"\n")

    def _watched(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            paths = [self._name(argument) for argument in (*arguments, *options.values())[:2]]
            if not any(paths):  # not in the folder of the save: none of our business
                return self.real[name](*arguments, **options)
            self.number += 1
            self._say(_describe(name, paths, arguments))
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
