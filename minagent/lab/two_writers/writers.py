"""Several processes that write to one session at once, and none of which gives up.

    race(folder, "file", writers=8, count=200).kept          1,600, of 1,600 that were acknowledged
    race(folder, "last write wins", writers=8, count=200)    keeps a few hundred of them

A writer appends its records one by one. After a Conflict it knows how long the log is now, and tries again. Each record
says which number its writer meant it to have in the log.

A writer is a process. It says "ready" when its store is open, waits for a line, appends, and says how many
conflicts there were. So all begin at once.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from minagent.atomic import replace_atomically
from minagent.lab.processes.child_process import say, start, wait_for_parent
from minagent.lab.world.example import SESSION
from minagent.log import Conflict, open_store
from minagent.log.stores.base import Records, Store


class LastWriteWins:
    """Not a store: the whole state is read, changed, and written back, atomically and durably, on no condition."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "state.jsonl"

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:  # noqa: ARG002
        """Write everything that was there a moment ago, and these records."""
        state = self.read(session_id).lines + list(records)
        replace_atomically(self.path, b"".join(line + b"\n" for line in state))

    def read(self, session_id: str) -> Records:  # noqa: ARG002
        """Return what the last write left."""
        return Records(0, self.path.read_bytes().splitlines() if self.path.exists() else [])


def opened(store: str, folder: Path) -> Store | LastWriteWins:
    """Open "last write wins", a "file" or an "sqlite" store in a folder that exists, or the store of an address."""
    if store == "last write wins":
        return LastWriteWins(folder)
    return open_store({"file": f"file:{folder}", "sqlite": f"sqlite:{folder / 'sessions.db'}"}.get(store, store))


def record(name: str, n: int, number: int) -> bytes:
    """Return a writer's record number `n`, meant to be record `number` of the log."""
    return f'{{"n":{n},"number":{number},"writer":"{name}"}}'.encode()


def append_all(log: Store | LastWriteWins, name: str, count: int) -> int:
    """Append `count` records, trying again after each Conflict; return how many conflicts there were."""
    conflicts = length = 0
    for n in range(count):
        while True:
            try:
                log.append(SESSION, [record(name, n, length)], length)
            except Conflict as conflict:
                conflicts, length = conflicts + 1, conflict.length
            else:
                length += 1
                break
    return conflicts


class Race(NamedTuple):
    """What came of it."""

    acknowledged: int  # appends that returned: whoever asked for them was told that they are done
    kept: int  # records that are in the log in the end, each counted once
    conflicts: int  # appends that were refused, and tried again


def race(folder: Path, store: str, writers: int, count: int) -> Race:
    """Let this many processes append this many records each, all at once. ChildDied, if one of them failed."""
    children = [start(write, folder, store, f"w{number}", count) for number in range(writers)]
    try:
        for child in children:
            child.hear()
        for child in children:
            child.tell("go")
        conflicts = sum(child.hear() for child in children)
    finally:
        for child in children:
            child.kill()
    return Race(writers * count, len(set(opened(store, folder).read(SESSION).lines)), conflicts)


def write(folder: Path, store: str, name: str, count: int) -> None:
    """Be a writer."""
    log = opened(store, folder)
    say("ready")
    wait_for_parent()
    say(append_all(log, name, count))
