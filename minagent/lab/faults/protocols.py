"""Ways to save a file, from the simplest to the one that holds. Each is a `save` and the `load` that goes with it.

    in place              truncate, write
    in place + fsync      the same, forced to disk
    rename                a temporary file, moved over the old one
    rename + fsync        the temporary file forced to disk before it is moved
    rename + both fsyncs  and its folder after
    minagent              save_checkpoint, with generations beside

A save is a plain function of the path and the bytes. It is run for real, and struck at each of its file calls:

    survey(MINAGENT, [old, new], "kill")        # one outcome for each file call of the save, and one for none

The save of the new version is struck at its n-th file call, for n = 1, 2, ... until it needs no n-th one; each time in
a fresh folder, in which the older versions were saved before. Then: what loads? And after one more save, undisturbed?
"""

import errno
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

from minagent import CheckpointMissing, FakeModel, recover_checkpoint, save_checkpoint
from minagent.atomic import replace_atomically
from minagent.document import decode, encode
from minagent.lab.faults.file_calls import NO_STRIKE, Ended, Fault, Strike, run

Found = Literal["old", "new", "unreadable"]


class Protocol(NamedTuple):
    """One way to save, and how to load what it saved."""

    name: str
    save: Callable[[Path, bytes], None]
    load: Callable[[Path], Any]  # return the saved JSON value, or raise if there is none that can be read


def save_in_place(path: Path, data: bytes) -> None:
    """Truncate and write: what `open(path, "w")` does."""
    path.write_bytes(data)


def save_in_place_fsync(path: Path, data: bytes) -> None:
    """Truncate, write, and force to disk."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def save_by_rename(path: Path, data: bytes) -> None:
    """Write a temporary file and move it over the old one."""
    temporary = path.with_suffix(".tmp")
    temporary.write_bytes(data)
    os.replace(temporary, path)


def save_by_rename_fsync(path: Path, data: bytes) -> None:
    """Force the temporary file to disk before it is moved."""
    temporary = path.with_suffix(".tmp")
    save_in_place_fsync(temporary, data)
    os.replace(temporary, path)


def save_with_minagent(path: Path, data: bytes) -> None:
    """Save the checkpoint that `data` is, with everything that save_checkpoint does."""
    checkpoint = decode(data)
    model = FakeModel([])
    model.cursor = checkpoint.model_cursor
    save_checkpoint(path, checkpoint.session, model, checkpoint.steps)


def load_json(path: Path) -> Any:
    """Load a JSON document, and believe whatever it says."""
    return json.loads(path.read_bytes())


def load_with_minagent(path: Path) -> Any:
    """Load the newest good checkpoint, as recover_checkpoint does."""
    return json.loads(encode(recover_checkpoint(path)[0]))


IN_PLACE = Protocol("in place", save_in_place, load_json)
ATOMIC = Protocol("rename + both fsyncs", replace_atomically, load_json)
MINAGENT = Protocol("minagent", save_with_minagent, load_with_minagent)

PROTOCOLS = (
    IN_PLACE,
    Protocol("in place + fsync", save_in_place_fsync, load_json),
    Protocol("rename", save_by_rename, load_json),
    Protocol("rename + fsync", save_by_rename_fsync, load_json),
    ATOMIC,
    MINAGENT,
)


class Struck(NamedTuple):
    """What one struck save left behind."""

    number: int  # which file call was struck, from 1; one more than there are if the save needed no such call
    call: str  # its name; "none" if the save needed no such call
    ended: Ended
    error: str  # what the save raised, if it did
    found: Found  # what loads afterwards
    found_next: Found  # what loads after one more save, undisturbed


def survey(protocol: Protocol, versions: list[bytes], fault: Fault, error: int = errno.EIO) -> list[Struck]:
    """Strike the save of the last of `versions` at each of its file calls; the others were saved before it.

    `error` is what failing calls raise: errno.EIO (a broken disk), errno.ENOSPC (a full one).
    """
    outcomes: list[Struck] = []
    while not outcomes or outcomes[-1].call != "none":
        outcomes.append(_strike(protocol, versions, Strike(fault, len(outcomes) + 1, error)))
    return outcomes


def _strike(protocol: Protocol, versions: list[bytes], strike: Strike) -> Struck:
    with tempfile.TemporaryDirectory(prefix="minagent-") as folder:
        path = Path(folder, "session.json")
        struck = run(protocol.save, path, versions[-1], strike, versions[:-1])
        found = what_loads(protocol, path, versions)
        run(protocol.save, path, versions[-1], NO_STRIKE)
        call = struck.events[strike.at - 1]["call"] if len(struck.events) >= strike.at else "none"
        return Struck(strike.at, call, struck.ended, struck.error, found, what_loads(protocol, path, versions))


def what_loads(protocol: Protocol, path: Path, versions: list[bytes]) -> Found:
    """Load what is at `path`: the last version is new, the one before it old. No file is old where none was before."""
    old = json.loads(versions[-2]) if len(versions) > 1 else None
    try:
        loaded = protocol.load(path)
    except (CheckpointMissing, FileNotFoundError):
        loaded = None
    except Exception:
        return "unreadable"
    if loaded == json.loads(versions[-1]):
        return "new"
    return "old" if loaded == old else "unreadable"
