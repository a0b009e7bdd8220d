"""What the crash lab's disk holds, file by file, and what of it would outlive a power cut."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from minagent import Checkpoint, CheckpointError, CheckpointMissing, recover_checkpoint
from minagent.checkpoint import numbered
from minagent.document import decode
from minagent.lab.processes.phases import CHECKPOINT, Recording
from minagent.lab.world.example import SESSION
from minagent.log import FileStore, LogError, LogMissing, SessionLog
from minagent.log.records import State
from minagent.log.stores.json_lines import whole


class StoredFile(NamedTuple):
    """One file on the disk."""

    name: str
    size: int  # in bytes
    verdict: Literal["good", "bad"]  # whether it loads
    messages: int  # how many messages it holds; 0 if it is bad

    def __str__(self) -> str:
        return f"{self.name}: {self.size} bytes, {self.verdict}, {self.messages} messages"


def stored_files(folder: Path) -> list[StoredFile]:
    """Return the log and the checkpoints, the newest first, each checked as loading it would check it."""
    path = folder / CHECKPOINT
    generations = map(Path, numbered(path).values())
    older = [file for file in generations if not (path.exists() and path.samefile(file))]
    files = [_examined(file, partial(decode, file.read_bytes())) for file in (path, *older) if file.exists()]
    lines = path.with_name(f"{SESSION}.log.jsonl")
    return [_examined(lines, partial(logged, folder)), *files] if lines.exists() else files


def in_short(files: list[StoredFile]) -> str:
    """Return the files in one line."""
    if not files:
        return "empty"
    older = ", ".join(f"{file.name.rpartition('.')[2]} {file.verdict}" for file in files[1:])
    return f"{files[0]}; older: {older}" if older else str(files[0])


def _examined(path: Path, load: Callable[[], Checkpoint | State | None]) -> StoredFile:
    try:
        loaded = load()
    except (CheckpointError, LogError):
        return StoredFile(path.name, path.stat().st_size, "bad", 0)
    return StoredFile(path.name, path.stat().st_size, "good", 0 if loaded is None else len(loaded.session.messages))


def log(folder: Path, writer: str) -> SessionLog:
    """Return the log."""
    return SessionLog.resume(FileStore((folder / CHECKPOINT).parent), SESSION, writer=writer)


def logged(folder: Path) -> State | None:
    """Return what the log says; None if there is none."""
    try:
        return log(folder, "reader").state
    except LogMissing:
        return None


def what_loads(folder: Path, recording: Recording) -> str:
    """Return from where a new process goes on, in words."""
    if recording.startswith("log"):
        return "from the log" if logged(folder) is not None else "from the first question"
    try:
        _, report = recover_checkpoint(folder / CHECKPOINT)
    except CheckpointMissing:
        return "from the first question: the disk holds nothing"
    except CheckpointError as error:
        return f"which can load nothing: {error}"
    return str(report) if report.passed_over else "from the checkpoint"


def drop_unforced(folder: Path) -> None:
    """Take away what was written and not forced to the disk: what a power cut may do (a model of it).

    What a save or an append has not finished is a temporary file, or the end of the log.
    """
    disk = (folder / CHECKPOINT).parent
    for temporary in disk.glob(".*.tmp"):
        temporary.unlink()
    for lines in disk.glob("*.log.jsonl"):
        lines.write_bytes(whole(lines.read_bytes()))
