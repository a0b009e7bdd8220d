"""Strike a save at each of its file calls, and look at what it leaves.

    survey(MINAGENT, [old, new], "kill")        # one outcome for each file call of the save, and one for none

The save of the new version is struck at its n-th file call, for n = 1, 2, ... until it needs no n-th one; each time in
a fresh folder, in which the older versions were saved before. Then: what loads? And after one more save, undisturbed?
The faults are those of `file_calls`.
"""

import errno
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from minagent import CheckpointMissing
from minagent.lab.faults.file_calls import NO_STRIKE, Ended, Fault, Strike, run
from minagent.lab.faults.protocols import Protocol

Found = Literal["old", "new", "unreadable"]


@dataclass(frozen=True)
class Outcome:
    """What one struck save left behind."""

    number: int  # which file call was struck, from 1; one more than there are if the save needed no such call
    call: str  # its name; "none" if the save needed no such call
    ended: Ended
    error: str  # what the save raised, if it did
    found: Found  # what loads afterwards
    found_next: Found  # what loads after one more save, undisturbed


def survey(protocol: Protocol, versions: list[bytes], fault: Fault, error: int = errno.EIO) -> list[Outcome]:
    """Strike the save of the last of `versions` at each of its file calls; the others were saved before it.

    `error` is what failing calls raise: errno.EIO (a broken disk), errno.ENOSPC (a full one).
    """
    outcomes: list[Outcome] = []
    while not outcomes or outcomes[-1].call != "none":
        outcomes.append(_strike(protocol, versions, Strike(fault, len(outcomes) + 1, error)))
    return outcomes


def _strike(protocol: Protocol, versions: list[bytes], strike: Strike) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="minagent-") as folder:
        path = Path(folder, "session.json")
        struck = run(protocol.save, path, versions[-1], strike, versions[:-1])
        found = what_loads(protocol, path, versions)
        run(protocol.save, path, versions[-1], NO_STRIKE)
        call = struck.events[strike.at - 1]["call"] if len(struck.events) >= strike.at else "none"
        return Outcome(strike.at, call, struck.ended, struck.error, found, what_loads(protocol, path, versions))


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
