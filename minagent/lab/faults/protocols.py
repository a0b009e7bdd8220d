"""Ways to save a file, from the simplest to the one that holds. Each is a `save` and the `load` that goes with it.

    in place              truncate, write
    in place + fsync      the same, forced to disk
    rename                a temporary file, moved over the old one
    rename + fsync        the temporary file forced to disk before it is moved
    rename + both fsyncs  and its folder after
    minagent              save_checkpoint, with generations beside

A save is a plain function of the path and the bytes. It is run for real, with faults, by `faults`, and what it does is
replayed against a power loss by `power_loss`.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from minagent import FakeModel, recover_checkpoint, save_checkpoint
from minagent.atomic import replace_atomically
from minagent.document import decode, encode


@dataclass(frozen=True)
class Protocol:
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
