"""A store in a folder: for each session a log in JSON Lines, its checkpoints, and a lock.

    %41nn.log.jsonl              the log of the session "Ann"
    %41nn.checkpoint-120.json    stands for the records before number 120
    %41nn.lock                   held while the others are changed; never replaced, and never removed

The log begins with a line of its own, which names the session and the number of the first record:

    {"first":0,"session":"Ann"}
    {"v":1,"seq":0, ... }
    {"v":1,"seq":1, ... }␠
    {"v":1,"seq":2, ... }

A space before the line break (drawn as ␠) says that the batch goes on in the next line. What follows the last line
without one is of an append that was cut off: it counts for nothing, and the next append cuts it away.

An append is one write to the end of the file, and one fsync. Truncation and deletion write a new file and move it over
the old one. So whoever waits for the lock must look, once he has it, which file has the name now.

This needs `flock`, as Linux and macOS have it, and a file system whose locks work: a local one.
"""

import contextlib
import fcntl
import functools
import hashlib
import os
import re
import string
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from os import PathLike
from pathlib import Path

from minagent.atomic import make_folder, replace_atomically, write_all
from minagent.errors import AppendUnknown, InvalidValue, LogDamaged
from minagent.plain_json import canonical, parse
from minagent.stores.base import KEPT, Records, check_append

PLAIN = frozenset((string.ascii_lowercase + string.digits + "-_").encode())
"""Bytes of an id that stand for themselves in a file name. Capitals do not: on some disks A and a are one name."""
LONGEST_NAME = 180
"""In bytes; the name of a longer id is its digest."""


@dataclass
class _Open:
    """The files of one session, open from one append to the next, and where the log ends: so nobody has to look."""

    session_id: str
    process: int
    """A fork shares its parent's open files, and with them its locks: it must open its own."""
    lock: int
    log: int = -1
    length: int = 0
    """Records that were ever appended."""
    end: int = 0
    """Where the last whole batch ends, in bytes."""

    def close(self) -> None:
        for descriptor in (self.lock, self.log):
            with contextlib.suppress(OSError):  # what was written is on the disk by now, or an error has said it is not
                os.close(descriptor)


class FileStore:
    """Keeps records in files below `folder`. Threads may share it, and processes the folder."""

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder)
        self._open: _Open | None = None
        self._thread = threading.Lock()

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        """Add records to the end of a log: one write, one fsync."""
        with self._locked(session_id) as files:
            self._look_at_the_end(files)
            check_append(records, expected_length, files.length)
            if records:
                data = b" \n".join(records) + b"\n"
                self._write(files, data)
                files.length += len(records)
                files.end += len(data)

    def _write(self, files: _Open, data: bytes) -> None:
        try:
            write_all(files.log, data)
            os.fsync(files.log)
        except BaseException as error:
            try:
                os.ftruncate(files.log, files.end)
                os.fsync(files.log)
            except OSError:
                self._forget_open()
                raise AppendUnknown(
                    f"an append to {files.session_id!r} failed, and so did undoing it: {error}"
                ) from error
            raise

    def _look_at_the_end(self, files: _Open) -> None:
        """Find out where the log ends now. The lock is held."""
        path = self._path(files.session_id, "log.jsonl")
        try:
            there = os.stat(path)
        except FileNotFoundError:
            replace_atomically(path, _header(files.session_id, 0))
            there = os.stat(path)
        if files.log < 0 or not os.path.samestat(os.fstat(files.log), there):
            # Writer A has the log open. B truncates: a new file has the name now, and what A would append to the old
            # one, nobody would ever read. While the old one is open, its number is not given to another file.
            with contextlib.suppress(OSError):
                os.close(files.log)
            files.log = os.open(path, os.O_RDWR | os.O_APPEND)
            with path.open("rb") as file:
                header = file.readline()
            files.length, files.end = _first(header, path), len(header)
        new = _whole(os.pread(files.log, there.st_size - files.end, files.end)) if there.st_size > files.end else b""
        files.length += new.count(b"\n")
        files.end += len(new)
        if files.end < there.st_size:
            os.ftruncate(files.log, files.end)  # torn: else the next record would be glued to it

    def read(self, session_id: str, since: int = 0) -> Records:
        """Return the records from number `since` on, or from the first that is left. Takes no lock."""
        path = self._path(session_id, "log.jsonl")
        try:
            header, _, rest = path.read_bytes().partition(b"\n")
        except FileNotFoundError:
            return Records(0, [], [])
        first, whole = _first(header, path), _whole(rest)
        lines = [line.rstrip(b" ") for line in whole.split(b"\n")[:-1]]
        starts = accumulate((len(line) + 1 for line in whole.split(b"\n")[:-1]), initial=len(header) + 1)
        start = min(max(since - first, 0), len(lines))
        return Records(first + start, lines[start:], list(starts)[start:-1], torn=len(rest) - len(whole))

    def truncate_before(self, session_id: str, number: int) -> None:
        """Remove the records before this number."""
        with self._locked(session_id):
            records = self.read(session_id)
            gone = min(number - records.first, len(records.lines))
            if gone > 0:
                self._replace(session_id, records.first + gone, records.lines[gone:])

    def delete(self, session_id: str) -> None:
        """Remove a session; its length stays, and one more. What a crash leaves of its checkpoints does not count."""
        with self._locked(session_id):
            if self._path(session_id, "log.jsonl").exists():
                self._replace(session_id, self.read(session_id).length + 1, [])
                for file in self._checkpoint_files(session_id).values():
                    file.unlink()

    def _replace(self, session_id: str, first: int, lines: list[bytes]) -> None:
        self._remove_temporary(session_id)
        data = b"".join(line + b"\n" for line in lines)
        replace_atomically(self._path(session_id, "log.jsonl"), _header(session_id, first) + data)

    def put_checkpoint(self, session_id: str, number: int, document: bytes) -> None:
        """Keep a document that stands for the records before this number."""
        with self._locked(session_id):
            self._remove_temporary(session_id)
            replace_atomically(self._path(session_id, f"checkpoint-{number}.json"), document)
            files = self._checkpoint_files(session_id)
            for old in sorted(files, reverse=True)[KEPT:]:
                files[old].unlink()

    def checkpoints(self, session_id: str) -> list[tuple[int, bytes]]:
        """Return the checkpoints with their numbers, the newest first."""
        first = self.read(session_id).first
        files = sorted(self._checkpoint_files(session_id).items(), reverse=True)
        return [(number, file.read_bytes()) for number, file in files if number >= first]

    def sessions(self) -> list[str]:
        """Return the ids of all sessions that have records, sorted."""
        found = []
        for path in self.folder.glob("*.log.jsonl"):
            header, _, rest = path.read_bytes().partition(b"\n")
            if _whole(rest):
                found.append(str(parse(header)["session"]))
        return sorted(found)

    def close(self) -> None:
        """Close the files that are kept open for the next append."""
        with self._thread:
            self._forget_open()

    def _forget_open(self) -> None:
        files, self._open = self._open, None
        if files is not None:
            files.close()

    @contextlib.contextmanager
    def _locked(self, session_id: str) -> Iterator[_Open]:
        with self._thread:
            if self._open is None or (self._open.session_id, self._open.process) != (session_id, os.getpid()):
                self._forget_open()
                make_folder(self.folder)
                lock = os.open(self._path(session_id, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
                self._open = _Open(session_id, os.getpid(), lock)
            files = self._open
            fcntl.flock(files.lock, fcntl.LOCK_EX)  # waits; it goes with the process, however that ends
            try:
                yield files
            finally:
                if files is self._open:
                    fcntl.flock(files.lock, fcntl.LOCK_UN)

    def _path(self, session_id: str, kind: str) -> Path:
        return self.folder / f"{_file_name(session_id)}.{kind}"

    def _checkpoint_files(self, session_id: str) -> dict[int, Path]:
        name = re.compile(re.escape(_file_name(session_id)) + r"\.checkpoint-(0|[1-9][0-9]*)\.json")
        names = os.listdir(self.folder) if self.folder.is_dir() else []
        return {int(match[1]): self.folder / match[0] for match in map(name.fullmatch, names) if match}

    def _remove_temporary(self, session_id: str) -> None:
        """Remove what a process left that died in mid-save. The lock is held, so it is nobody's who lives."""
        prefix = f".{_file_name(session_id)}."
        for name in os.listdir(self.folder):
            if name.startswith(prefix) and name.endswith(".tmp"):
                (self.folder / name).unlink()


@functools.lru_cache
def _file_name(session_id: str) -> str:
    data = session_id.encode("utf-8", "surrogatepass")
    name = "".join(chr(byte) if byte in PLAIN else f"%{byte:02x}" for byte in data) or "%"
    return name if len(name) <= LONGEST_NAME else f"%%{hashlib.sha256(data).hexdigest()}"


def _header(session_id: str, first: int) -> bytes:
    return canonical({"first": first, "session": session_id}) + b"\n"


def _first(header: bytes, path: Path) -> int:
    try:
        return int(parse(header)["first"])
    except (ValueError, KeyError, TypeError, InvalidValue) as error:
        raise LogDamaged(f"{path.name}: its first line is damaged: {error}") from error


def _whole(data: bytes) -> bytes:
    """Return the whole batches with which `data` begins: up to the last line that ends in no space."""
    end = data.rfind(b"\n")
    while end > 0 and data[end - 1 : end] == b" ":
        end = data.rfind(b"\n", 0, end)
    return data[: end + 1]
