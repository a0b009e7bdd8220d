"""Every store passes every check, and every store that breaks one promise on purpose is caught."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from minagent.stores.base import Records
from minagent.stores.file import FileStore, _Open
from minagent.stores.json_lines import header
from minagent.stores.memory import MemoryStore
from minagent.stores.sql import SqliteStore
from tests.store_contract import CHECKS, OpenStore

Opener = Callable[[Path], OpenStore]


def memory(_: Path) -> OpenStore:
    """One object is the place; opening it again is taking it again."""
    store = MemoryStore()
    return lambda: store


def file(folder: Path) -> OpenStore:
    """The folder is the place."""
    return lambda: FileStore(folder)


def sqlite(folder: Path) -> OpenStore:
    """The database is the place."""
    folder.mkdir()
    return lambda: SqliteStore(folder / "sessions.db")


@pytest.mark.parametrize("number", CHECKS)
@pytest.mark.parametrize("opener", [memory, file, sqlite])
def test_the_store_keeps_its_promises(opener: Opener, number: int, tmp_path: Path):
    """One check a promise."""
    CHECKS[number](opener(tmp_path / "store"))


class _LastWriteWins(FileStore):
    """Breaks 1: whoever comes, writes."""

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        super().append(session_id, records, self.read(session_id).length)


class _OneByOne(FileStore):
    """Breaks 2: a batch in pieces."""

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        for place, record in enumerate(records):
            super().append(session_id, [record], expected_length + place)


class _Text(FileStore):
    """Breaks 3: reads text, and changes what is no UTF-8."""

    def read(self, session_id: str, since: int = 0) -> Records:
        records = super().read(session_id, since)
        lines = [line.decode(errors="replace").encode() for line in records.lines]
        return Records(records.first, lines, records.offsets)


class _Lazy(MemoryStore):
    """Breaks 4: what it was told is in this object alone."""


class _Forgetful(FileStore):
    """Breaks 6: a deleted session begins again at 0."""

    def delete(self, session_id: str) -> None:
        super().delete(session_id)
        self._path(session_id, "log.jsonl").unlink(missing_ok=True)


class _WithoutTombstone(MemoryStore):
    """Breaks 6 by one: whoever knew the last length writes into the next session."""

    def delete(self, session_id: str) -> None:
        super().delete(session_id)
        self._logs[session_id].first -= 1


class _OneTooMany(FileStore):
    """Breaks 7: the record of that number goes, too."""

    def truncate_before(self, session_id: str, number: int) -> None:
        super().truncate_before(session_id, number + 1)


class _OldDescriptor(FileStore):
    """Breaks 7 and 6: it appends to the file that it has open, whatever has the name by now."""

    def _look_at_the_end(self, files: _Open) -> None:
        if files.log < 0:
            super()._look_at_the_end(files)


class _Prefixes(FileStore):
    """Breaks 8: deletes all whose names begin so."""

    def delete(self, session_id: str) -> None:
        for session in self.sessions():
            if session.startswith(session_id):
                super().delete(session)


class _KeepsOne(FileStore):
    """Breaks 9: the newest checkpoint alone."""

    def checkpoints(self, session_id: str) -> list[tuple[int, bytes]]:
        return super().checkpoints(session_id)[:1]


class _PlainNames(FileStore):
    """Breaks 10: the id, with its slashes taken out, is the file's name."""

    def _path(self, session_id: str, kind: str) -> Path:
        return self.folder / f"{session_id.replace('/', '_')}.{kind}"


def anew(kind: type[MemoryStore]) -> Opener:
    """Open a new object each time."""
    return lambda _: kind


def one(kind: type[MemoryStore]) -> Opener:
    """Open one object each time."""

    def opener(_: Path) -> OpenStore:
        store = kind()
        return lambda: store

    return opener


def below(kind: type[FileStore]) -> Opener:
    """Open the folder."""
    return lambda folder: lambda: kind(folder)


BROKEN: list[tuple[int, Opener]] = [
    (1, below(_LastWriteWins)),
    (2, below(_OneByOne)),
    (3, below(_Text)),
    (4, anew(_Lazy)),
    (6, below(_Forgetful)),
    (6, one(_WithoutTombstone)),
    (7, below(_OneTooMany)),
    (7, below(_OldDescriptor)),
    (8, below(_Prefixes)),
    (9, below(_KeepsOne)),
    (10, below(_PlainNames)),
]


@pytest.mark.parametrize(("number", "opener"), BROKEN)
def test_a_store_that_breaks_a_promise_is_caught(number: int, opener: Opener, tmp_path: Path):
    """By the check of that promise."""
    with pytest.raises((Exception, pytest.fail.Exception)):
        CHECKS[number](opener(tmp_path / "store"))


def test_a_log_file_is_json_lines(tmp_path: Path):
    """The literal bytes: a first line of its own, and a space before the line break within a batch."""
    store = FileStore(tmp_path)
    store.append("Ann", [b'{"n":1}'], 0)
    store.append("Ann", [b'{"n":2}', b'{"n":3}'], 1)
    assert (tmp_path / "%41nn.log.jsonl").read_bytes() == (b'{"first":0,"session":"Ann"}\n{"n":1}\n{"n":2} \n{"n":3}\n')
    assert store.read("Ann").offsets == [28, 36, 45]
    store.truncate_before("Ann", 2)
    assert (tmp_path / "%41nn.log.jsonl").read_bytes() == header("Ann", 2) + b'{"n":3}\n'
    assert os.stat(tmp_path / "%41nn.log.jsonl").st_mode & 0o077 == 0
