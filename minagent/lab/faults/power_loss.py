"""What can survive a power loss: a model of the page cache, and every disk that it allows.

    recording = record(protocol, [old, new])
    count(protocol, [old, new], survivors(recording))     # how many cases load as old, as new, or not at all

What a process writes is in memory first, in the *page cache*; the system writes it to disk when it likes. The rules:

1. A save is its file calls, recorded from a real run. Each write is cut into three blocks.
2. The disk holds contents (files) and names (entries of the folder). `open` may make a name and may cut a content to
   nothing; `write` changes one block of a content; `replace`, `link` and `unlink` change names.
3. A power loss may come before the first of these operations or after any of them. An operation that was not forced to
   disk by then has reached it or not, each one for itself: every subset is possible.
4. `fsync` of a file forces out what was done to its content; `fsync` of the folder, what was done to its names.
5. Operations that reach the disk do so in the order in which they were made. A block that is missing before a later one
   reads as NUL bytes.

A killed process is the mild case: the page cache outlives it, so everything that was done before survives.

Source: Pillai et al., "All File Systems Are Not Created Equal", OSDI 2014 (the method).
"""

import base64
import itertools
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from minagent.lab.faults.file_calls import NO_STRIKE, run
from minagent.lab.faults.protocols import Found, Protocol, what_loads

BLOCKS = 3
FOLDER = 0  # stands for the folder where a number stands for a content


class Change(NamedTuple):
    """One operation that a disk may or may not have seen; or an fsync, which forces others to it."""

    kind: Literal["names", "cut", "write", "fsync"]
    about: int  # a content, as a number, or the FOLDER
    names: Mapping[str, int | None] = {}  # the content that a name has from then on; None: there is no such name
    offset: int = 0
    data: bytes = b""


class Disk(NamedTuple):
    """What is on the disk: the number of a content behind each name, and the contents."""

    names: tuple[tuple[str, int], ...]
    contents: tuple[tuple[int, bytes], ...]

    def files(self) -> dict[str, bytes]:
        """Return the bytes behind each name."""
        contents = dict(self.contents)
        return {name: contents.get(number, b"") for name, number in self.names}


class RecordedSave(NamedTuple):
    """A save, as the changes that it makes to the disk that was there before."""

    before: Disk
    changes: tuple[Change, ...]


def record(protocol: Protocol, versions: list[bytes]) -> RecordedSave:
    """Run a save for real, after those of the older versions, and return what it does.

    ValueError, if it raised, or does something that the harness does not see: then no count could be believed.
    """
    with tempfile.TemporaryDirectory(prefix="minagent-") as folder:
        path = Path(folder, "session.json")
        for version in versions[:-1]:
            run(protocol.save, path, version, NO_STRIKE)
        stats = {file.name: (os.stat(file).st_ino, file.read_bytes()) for file in Path(folder).iterdir()}
        before = Disk(tuple((name, n) for name, (n, _) in stats.items()), tuple({*stats.values()}))
        done = run(protocol.save, path, versions[-1], NO_STRIKE)
        if done.ended != "finished":
            raise ValueError(f"the save {done.ended} {done.error}")
        recording = RecordedSave(before, tuple(_changes(before, done.events)))
        there = {file.name: file.read_bytes() for file in Path(folder).iterdir()}
        if apply(before, recording.changes).files() != there:
            raise ValueError("the save does something that cannot be followed, such as a file in another folder")
        return recording


def _changes(before: Disk, events: list[dict[str, Any]]) -> Iterator[Change]:
    names = dict(before.names)
    fresh = itertools.count(max(names.values(), default=0) + 1)
    for event in events:
        call, name = event["call"], event["path"]
        if name is None:
            continue  # something from elsewhere; the check at the end of record will notice
        if new := _new_names(event, names, next(fresh)):
            names = _renamed(names, new)
            yield Change("names", FOLDER, new)
        elif call == "open" and event["truncates"]:
            yield Change("cut", names[name])
        elif call == "write":
            yield from _blocks(names[name], event["offset"], base64.b64decode(event["data"]))
        elif call == "fsync":
            yield Change("fsync", FOLDER if name == "." else names[name])


def _new_names(event: dict[str, Any], names: dict[str, int], fresh: int) -> dict[str, int | None]:
    name = event["path"]
    match event["call"]:
        case "open" if event["creates"] and name not in names:
            return {name: fresh}
        case "link":
            return {event["to"]: names[name]}
        case "replace" | "rename":
            return {name: None, event["to"]: names[name]}
        case "unlink" | "remove" if name in names:
            return {name: None}
    return {}


def _renamed(names: dict[str, int], new: Mapping[str, int | None]) -> dict[str, int]:
    return {name: content for name, content in {**names, **new}.items() if content is not None}


def _blocks(content: int, offset: int, data: bytes) -> Iterator[Change]:
    size = -(-len(data) // BLOCKS)
    for start in range(0, len(data), size or 1):
        yield Change("write", content, offset=offset + start, data=data[start : start + size])


def survivors(recording: RecordedSave) -> Iterator[tuple[int, Disk]]:
    """Yield every disk that a power loss may leave, with the number of operations made by then.

    The same disk comes once for each moment and each subset of operations that leads to it.
    """
    for made in range(len(recording.changes) + 1):
        done = recording.changes[:made]
        changes = [(i, change) for i, change in enumerate(done) if change.kind != "fsync"]
        doubtful = [i for i, change in changes if not _forced(change, done[i:])]
        for subset in itertools.product((False, True), repeat=len(doubtful)):
            lost = {i for i, survived in zip(doubtful, subset, strict=True) if not survived}
            yield made, apply(recording.before, [change for i, change in changes if i not in lost])


def killed(recording: RecordedSave) -> Iterator[tuple[int, Disk]]:
    """Yield every disk that a kill of the process may leave, with the number of operations made by then."""
    for made in range(len(recording.changes) + 1):
        yield made, apply(recording.before, recording.changes[:made])


def _forced(change: Change, later: tuple[Change, ...]) -> bool:
    return any(other.kind == "fsync" and other.about == change.about for other in later)


def apply(disk: Disk, changes: list[Change] | tuple[Change, ...]) -> Disk:
    """Return the disk after these changes."""
    names, contents = dict(disk.names), dict(disk.contents)
    for change in changes:
        if change.kind == "names":
            names = _renamed(names, change.names)
        elif change.kind == "cut":
            contents[change.about] = b""
        elif change.kind == "write":
            rest = contents.get(change.about, b"")
            head = rest[: change.offset].ljust(change.offset, b"\0")
            contents[change.about] = head + change.data + rest[change.offset + len(change.data) :]
    return Disk(tuple(sorted(names.items())), tuple(sorted(contents.items())))


def count(protocol: Protocol, versions: list[bytes], disks: Iterable[tuple[int, Disk]]) -> Counter[Found]:
    """Put each disk into a real folder, load it, and count what loads."""
    seen: dict[Disk, Found] = {}
    counted: Counter[Found] = Counter()
    for _, disk in disks:
        if disk not in seen:
            seen[disk] = _load(protocol, versions, disk)
        counted[seen[disk]] += 1
    return counted


def _load(protocol: Protocol, versions: list[bytes], disk: Disk) -> Found:
    with tempfile.TemporaryDirectory(prefix="minagent-") as folder:
        for name, data in disk.files().items():
            Path(folder, name).write_bytes(data)
        return what_loads(protocol, Path(folder, "session.json"), versions)
