"""A store in a folder: for each session a log in JSON Lines, its checkpoints, and a lock.

    %41nn.log.jsonl              the log of the session "Ann"
    %41nn.checkpoint-120.json    stands for the records before number 120
    %41nn.lock                   held while the others are changed; never replaced, and never removed

What is in the log is in `json_lines`.

An append is one write to the end of the file, and one fsync. Truncation and deletion write a new file and move it over
the old one. So whoever waits for the lock must look, once it has it, which file has the name now.

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
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from minagent.atomic import make_folder, replace_atomically, write_all
from minagent.errors import InvalidValue
from minagent.log.errors import AppendUnknown, Conflict, LogDamaged
from minagent.log.stores.base import KEPT, Records, check_append
from minagent.log.stores.json_lines import batch, first_number, header, read_header, records_of, whole

PLAIN = frozenset((string.ascii_lowercase + string.digits + "-_").encode())
"""Bytes of an id that stand for themselves in a file name. Capitals do not: on some disks A and a are one name."""
LONGEST_NAME = 180  # in bytes; the name of a longer id is its digest
NOBODY_EXPECTS = 2**40  # the length of a log that cannot be read any more, once it is deleted


@dataclass
class _Open:
    """The files of one session, open from one append to the next, and where the log ends: so nobody has to look."""

    session_id: str
    process: int  # a fork shares its parent's open files, and with them its locks: it must open its own
    lock: int
    path: str  # of the log
    log: int = -1
    length: int = 0  # records that were ever appended
    end: int = 0  # where the last whole batch ends, in bytes

    def close_log(self) -> None:
        """Close the log, if it is open."""
        log, self.log = self.log, -1
        if log >= 0:
            _close(log)


class FileStore:
    """Keeps records in files below `folder`. Threads may share it, and processes the folder."""

    _open: _Open | None = None

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder)
        self._thread = threading.Lock()

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        """Add records to the end of a log: one write, one fsync."""
        with self._locked(session_id) as files:
            self._look_at_the_end(files)
            check_append(records, expected_length, files.length)
            if data := batch(records):
                append_or_undo(files.log, data, files.end)
                files.length, files.end = files.length + len(records), files.end + len(data)

    def _look_at_the_end(self, files: _Open) -> None:
        """Find out where the log ends now."""
        try:
            there = os.stat(files.path)
        except FileNotFoundError:  # and no other error: there may be a log that cannot be seen now
            replace_atomically(files.path, header(files.session_id, 0))
            there = os.stat(files.path)
        if files.log < 0 or not os.path.samestat(os.fstat(files.log), there):
            # Writer A has the log open. B truncates: a new file has the name now, and what A would append to the old
            # one, nobody would ever read. While the old one is open, its number is not given to another file.
            files.close_log()
            files.log = os.open(files.path, os.O_RDWR | os.O_APPEND)
            with open(files.path, "rb") as file:
                line = file.readline()
            files.length, files.end = first_number(line, files.session_id), len(line)
        new = whole(_read(files.log, files.end, there.st_size))
        files.length, files.end = files.length + new.count(b"\n"), files.end + len(new)
        if files.end < there.st_size:
            os.ftruncate(files.log, files.end)  # torn: else the next record would be glued to it

    def read(self, session_id: str, since: int = 0) -> Records:
        """Return the records from number `since` on, or from the first that is left, once nobody writes."""
        if not os.path.exists(self._path(session_id, "log.jsonl")):
            return Records(0, [])
        with self._locked(session_id):
            return self._records(session_id, since)

    def _records(self, session_id: str, since: int = 0) -> Records:
        return records_of(Path(self._path(session_id, "log.jsonl")).read_bytes(), session_id, since)

    def truncate_before(self, session_id: str, number: int) -> None:
        """Remove the records before this number."""
        if os.path.exists(self._path(session_id, "log.jsonl")):
            with self._locked(session_id):
                records = self._records(session_id)
                if (gone := min(number - records.first, len(records.lines))) > 0:
                    self._replace(session_id, records.first + gone, records.lines[gone:])

    def delete(self, session_id: str) -> None:
        """Remove a session; its length stays, and one more. What a crash leaves of its checkpoints does not count."""
        if os.path.exists(self._path(session_id, "log.jsonl")):
            with self._locked(session_id):
                try:
                    length = self._records(session_id).length
                except LogDamaged:
                    length = NOBODY_EXPECTS
                self._replace(session_id, length + 1, [])
                for file in self._checkpoint_files(session_id).values():
                    os.unlink(file)

    def _replace(self, session_id: str, first: int, lines: list[bytes]) -> None:
        self._remove_temporary(session_id)
        data = header(session_id, first) + b"".join(line + b"\n" for line in lines)
        replace_atomically(self._path(session_id, "log.jsonl"), data)

    def put_checkpoint(self, session_id: str, number: int, document: bytes) -> None:
        """Keep a document that stands for the records before this number."""
        with self._locked(session_id):
            self._remove_temporary(session_id)
            replace_atomically(self._path(session_id, f"checkpoint-{number}.json"), document)
            for _, old in sorted(self._checkpoint_files(session_id).items(), reverse=True)[KEPT:]:
                os.unlink(old)

    def checkpoints(self, session_id: str) -> list[tuple[int, bytes]]:
        """Return the checkpoints with their numbers, the newest first."""
        if not os.path.exists(self._path(session_id, "log.jsonl")):
            return []
        with self._locked(session_id):
            first = self._records(session_id).first
            files = sorted(self._checkpoint_files(session_id).items(), reverse=True)
            return [(number, Path(file).read_bytes()) for number, file in files if number >= first]

    def sessions(self) -> list[str]:
        """Return the ids of all sessions that have records, sorted. A file that is not a log is named in a warning."""
        found = []
        for path in self.folder.glob("*.log.jsonl"):
            try:
                with path.open("rb") as file:
                    session_id = str(read_header(file.readline(), path.name)["session"])
                if Path(self._path(session_id, "log.jsonl")) == path and self.read(session_id).lines:
                    found.append(session_id)
            except LogDamaged as error:
                warnings.warn(f"passed over, not a log of ours: {error}", stacklevel=2)
        return sorted(found)

    def close(self) -> None:
        """Close the files that are kept open for the next append. A store that is dropped is closed, too."""
        with self._thread:
            self._forget_open()

    def _forget_open(self) -> None:
        files = self._open
        if files is not None:
            try:
                files.close_log()
            finally:  # an interrupt here must not leave the lock held by nobody
                self._open = None
                _close(files.lock)

    __del__ = _forget_open

    @contextlib.contextmanager
    def _locked(self, session_id: str) -> Iterator[_Open]:
        """Lend the files of a session, while nobody else uses them."""
        with self._thread:
            if self._open is None or (self._open.session_id, self._open.process) != (session_id, os.getpid()):
                self._forget_open()
                make_folder(self.folder)
                lock = os.open(self._path(session_id, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
                self._open = _Open(session_id, os.getpid(), lock, self._path(session_id, "log.jsonl"))
            files = self._open
            try:
                fcntl.flock(files.lock, fcntl.LOCK_EX)  # waits; it goes with the process, however that ends
                yield files
            except (Conflict, InvalidValue):
                raise
            except BaseException:
                self._forget_open()  # what it knows may be half of it; the lock goes, too
                raise
            finally:
                if self._open is files:
                    fcntl.flock(files.lock, fcntl.LOCK_UN)

    def _path(self, session_id: str, kind: str) -> str:
        return os.path.join(self.folder, f"{_file_name(session_id)}.{kind}")

    def _checkpoint_files(self, session_id: str) -> dict[int, str]:
        name = re.compile(re.escape(_file_name(session_id)) + r"\.checkpoint-(0|[1-9][0-9]*)\.json")
        found = map(name.fullmatch, os.listdir(self.folder) if os.path.isdir(self.folder) else [])
        return {int(match[1]): os.path.join(self.folder, match[0]) for match in found if match}

    def _remove_temporary(self, session_id: str) -> None:
        """Remove what a process left that died in mid-save. The lock is held, so it is nobody's who lives."""
        prefix = f".{_file_name(session_id)}."
        for name in os.listdir(self.folder):
            if name.startswith(prefix) and name.endswith(".tmp"):
                os.unlink(os.path.join(self.folder, name))


def append_or_undo(descriptor: int, data: bytes, end: int) -> None:
    """Add `data` durably to an open file that ends at `end`. After AppendUnknown it may be there, else not."""
    try:
        write_all(descriptor, data)
        os.fsync(descriptor)
    except BaseException as error:
        try:
            os.ftruncate(descriptor, end)
            os.fsync(descriptor)
        except OSError:
            raise AppendUnknown(f"an append failed, and so did undoing it: {error}") from error
        raise


@functools.lru_cache
def _file_name(session_id: str) -> str:
    data = session_id.encode("utf-8", "surrogatepass")
    name = "".join(chr(byte) if byte in PLAIN else f"%{byte:02x}" for byte in data) or "%"
    return name if len(name) <= LONGEST_NAME else f"%%{hashlib.sha256(data).hexdigest()}"


def _read(descriptor: int, start: int, end: int) -> bytes:
    """Read a part of a file, however little of it a single call returns."""
    parts = []
    while start < end and (part := os.pread(descriptor, end - start, start)):
        parts.append(part)
        start += len(part)
    return b"".join(parts)


def _close(descriptor: int) -> None:
    # What was written is on the disk by now, or an error has said that it is not: a failing close adds nothing.
    with contextlib.suppress(OSError):
        os.close(descriptor)
