"""The stores of minagent, and stores that each break one promise on purpose."""

import threading
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

from minagent.lab.any_store.session_checks import WRITERS
from minagent.log import Conflict
from minagent.log.contract import OpenStore
from minagent.log.stores.base import KEPT, Records, Store, check_append
from minagent.log.stores.file import FileStore, _Open
from minagent.log.stores.memory import MemoryStore, _Log
from minagent.log.stores.sqlite import SqliteStore
from minagent.plain_json import parse

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


class _Through:
    """Passes everything on to another store."""

    def __init__(self, real: Store) -> None:
        self.real = real

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        self.real.append(session_id, records, expected_length)

    def read(self, session_id: str, since: int = 0) -> Records:
        return self.real.read(session_id, since)

    def truncate_before(self, session_id: str, number: int) -> None:
        self.real.truncate_before(session_id, number)

    def put_checkpoint(self, session_id: str, number: int, document: bytes) -> None:
        self.real.put_checkpoint(session_id, number, document)

    def checkpoints(self, session_id: str) -> list[tuple[int, bytes]]:
        return self.real.checkpoints(session_id)

    def delete(self, session_id: str) -> None:
        self.real.delete(session_id)

    def sessions(self) -> list[str]:
        return self.real.sessions()


class _LastWriteWins(_Through):
    """Breaks 1: whoever comes, writes."""

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        super().append(session_id, records, self.read(session_id).length)


class _OneByOne(_Through):
    """Breaks 2: a batch in pieces."""

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        for place, record in enumerate(records):
            super().append(session_id, [record], expected_length + place)


class _Text(_Through):
    """Breaks 3: reads text, and changes what is no UTF-8."""

    def read(self, session_id: str, since: int = 0) -> Records:
        records = super().read(session_id, since)
        lines = [line.decode(errors="replace").encode() for line in records.lines]
        return Records(records.first, lines)


class _Lazy(MemoryStore):
    """Breaks 4: what it was told is in this object alone."""


class _Forgetful(FileStore):
    """Breaks 6: a deleted session begins again at 0."""

    def delete(self, session_id: str) -> None:
        super().delete(session_id)
        Path(self._path(session_id, "log.jsonl")).unlink(missing_ok=True)


class _WithoutTombstone(MemoryStore):
    """Breaks 6 by one: whoever knew the last length writes into the next session."""

    def delete(self, session_id: str) -> None:
        super().delete(session_id)
        if session_id in self._logs:
            self._logs[session_id].first -= 1


class _OneTooMany(_Through):
    """Breaks 7: the record of that number goes, too."""

    def truncate_before(self, session_id: str, number: int) -> None:
        super().truncate_before(session_id, number + 1)


class _OldDescriptor(FileStore):
    """Breaks 7 and 6: it appends to the file that it has open, whatever has the name by now."""

    def _look_at_the_end(self, files: _Open) -> None:
        if files.log < 0:
            super()._look_at_the_end(files)


class _Prefixes(_Through):
    """Breaks 8: deletes all whose names begin so."""

    def delete(self, session_id: str) -> None:
        for session in self.sessions():
            if session.startswith(session_id):
                super().delete(session)


class _KeepsOne(_Through):
    """Breaks 9: the newest checkpoint alone."""

    def checkpoints(self, session_id: str) -> list[tuple[int, bytes]]:
        return super().checkpoints(session_id)[:1]


class _TextDocuments(_Through):
    """Breaks 9: reads its checkpoints as text."""

    def checkpoints(self, session_id: str) -> list[tuple[int, bytes]]:
        return [(n, document.decode(errors="replace").encode()) for n, document in super().checkpoints(session_id)]


class _PlainNames(FileStore):
    """Breaks 10: the id, with its slashes taken out, is the file's name."""

    def _path(self, session_id: str, kind: str) -> str:
        return str(self.folder / f"{session_id.replace('/', '_')}.{kind}")


class _RetriesAreFine(_Through):
    """Breaks 1: a stale append of what is there already is taken for a repetition."""

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        try:
            super().append(session_id, records, expected_length)
        except Conflict:
            there = self.read(session_id, expected_length).lines[: len(records)]
            if expected_length < 0 or not records or there != list(records):
                raise


class _HundredAtOnce(_Through):
    """Breaks 2: a long batch in pieces."""

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        for start in range(0, max(len(records), 1), 100):
            super().append(session_id, records[start : start + 100], expected_length + start)


class _Strips(_Through):
    """Breaks 3: takes white space off."""

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        check_append(records, expected_length, self.read(session_id).length)
        super().append(session_id, [record.strip() or record for record in records], expected_length)


class _OnePage(_Through):
    """Breaks 3: gives the first page of what it was asked for."""

    def read(self, session_id: str, since: int = 0) -> Records:
        records = super().read(session_id, since)
        return Records(records.first, records.lines[:1000])


class _ShortColumn(_Through):
    """Breaks 3: cuts off what is too long for its column, without a word."""

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        super().append(session_id, [record[:65535] for record in records], expected_length)


class _CountsFromWhatIsLeft(_Through):
    """Breaks 7: after a truncation, it counts from what is left."""

    def read(self, session_id: str, since: int = 0) -> Records:
        first = super().read(session_id).first
        return super().read(session_id, since + 1 if 0 < first < since else since)


class _TakesTooHighALength(_Through):
    """Breaks 6: after a truncation, a length that is too high is as good as the right one."""

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        there = self.read(session_id)
        super().append(session_id, records, min(expected_length, there.length) if there.first else expected_length)


class _DeletesRecordsOnly(_Through):
    """Breaks 8: where there is no record, there is nothing to delete."""

    def delete(self, session_id: str) -> None:
        if self.read(session_id).lines:
            super().delete(session_id)


class _KeepsTheLast(MemoryStore):
    """Breaks 9: those that were put last."""

    def put_checkpoint(self, session_id: str, number: int, document: bytes) -> None:
        kept = self._logs.setdefault(session_id, _Log()).checkpoints
        kept.pop(number, None)
        kept[number] = document
        for old in list(kept)[:-KEPT]:
            del kept[old]


class _KeepsTheLonger(_Through):
    """Breaks 9: a document does not replace a longer one."""

    def put_checkpoint(self, session_id: str, number: int, document: bytes) -> None:
        if len(dict(self.checkpoints(session_id)).get(number, b"")) <= len(document):
            super().put_checkpoint(session_id, number, document)


class _Normalizes(_Through):
    """Breaks 10: two ways to write an id are one to it, as on some disks."""

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        super().append(unicodedata.normalize("NFC", session_id), records, expected_length)

    def read(self, session_id: str, since: int = 0) -> Records:
        return super().read(unicodedata.normalize("NFC", session_id), since)


class _ReadMark(_Through):
    """Writes down who has read: so reading is no longer harmless."""

    def read(self, session_id: str, since: int = 0) -> Records:
        marks = super().read("read mark")
        if session_id != "read mark":
            self.append("read mark", [b"read"], marks.length)
        return super().read(session_id, since)


class _SkipsWhatIsNoJson(_Through):
    """Breaks 3, by good will: what it cannot parse, it passes over."""

    def read(self, session_id: str, since: int = 0) -> Records:
        records = super().read(session_id, since)
        lines = [line for line in records.lines if is_json(line)]
        return Records(records.first, lines)


def is_json(line: bytes) -> bool:
    """Return whether a line can be parsed."""
    try:
        parse(line)
    except ValueError:
        return False
    return True


class _SkipsWhatIsNewer(_Through):
    """Breaks 3, for records and documents of versions to come: it passes over them."""

    def read(self, session_id: str, since: int = 0) -> Records:
        records = super().read(session_id, since)
        lines = [line for line in records.lines if not line.startswith(NEWER)]
        return Records(records.first, lines)

    def checkpoints(self, session_id: str) -> list[tuple[int, bytes]]:
        return [(n, document) for n, document in super().checkpoints(session_id) if not document.startswith(NEWER)]


NEWER = b'{"v":2,'


class _ShortLines(_Through):
    """Has room for short records only."""

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        if max(map(len, records), default=0) > 1000:
            raise OSError("the value is too large for its column")
        super().append(session_id, records, expected_length)


class _InPieces(MemoryStore):
    """Breaks 2 for who looks at the right moment: a batch that is checked whole, and added in pieces."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.seen = threading.Event(), threading.Event()

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        check_append(records, expected_length, super().read(session_id).length)
        for place, record in enumerate(records):
            super().append(session_id, [record], expected_length + place)
            if session_id == "seen":  # the right moment
                self.begun.set()
                self.seen.wait(120)

    def read(self, session_id: str, since: int = 0) -> Records:
        if session_id == "seen":
            self.begun.wait(120)
        records = super().read(session_id, since)
        if session_id == "seen":
            self.seen.set()
        return records


class _InTwoSteps(MemoryStore):
    """Breaks 1 for who comes at the same moment: it looks, and then it writes."""

    def __init__(self) -> None:
        super().__init__()
        self.moment = threading.Barrier(WRITERS)

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        there = self.read(session_id)
        check_append(records, expected_length, there.length)
        if session_id == "threads" and expected_length == 0:
            self.moment.wait(120)
        log = self._logs.setdefault(session_id, _Log())
        log.first, log.lines = there.first, [*there.lines, *records]


class _OfOneThread(MemoryStore):
    """Breaks nothing, and yet no other thread can use it."""

    def __init__(self) -> None:
        super().__init__()
        self.thread = threading.get_ident()

    def read(self, session_id: str, since: int = 0) -> Records:
        if threading.get_ident() != self.thread:
            raise RuntimeError("a connection is of the thread that has opened it")
        return super().read(session_id, since)


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


def over(kind: Callable[[Store], Store], opener: Opener) -> Opener:
    """Open what breaks a promise of the store below it."""

    def broken(folder: Path) -> OpenStore:
        reopen = opener(folder)
        return lambda: kind(reopen())

    return broken


THROUGH: dict[str, tuple[int, Callable[[Store], Store]]] = {
    "LastWriteWins": (1, _LastWriteWins),
    "RetriesAreFine": (1, _RetriesAreFine),
    "OneByOne": (2, _OneByOne),
    "HundredAtOnce": (2, _HundredAtOnce),
    "Text": (3, _Text),
    "Strips": (3, _Strips),
    "OnePage": (3, _OnePage),
    "ShortColumn": (3, _ShortColumn),
    "CountsFromWhatIsLeft": (7, _CountsFromWhatIsLeft),
    "TakesTooHighALength": (6, _TakesTooHighALength),
    "SkipsWhatIsNoJson": (3, _SkipsWhatIsNoJson),
    "OneTooMany": (7, _OneTooMany),
    "Prefixes": (8, _Prefixes),
    "DeletesRecordsOnly": (8, _DeletesRecordsOnly),
    "KeepsOne": (9, _KeepsOne),
    "TextDocuments": (9, _TextDocuments),
    "KeepsTheLonger": (9, _KeepsTheLonger),
    "Normalizes": (10, _Normalizes),
}
"""By name: the number of the promise that it breaks of any store, and what is put before that store."""

BROKEN: dict[str, tuple[int, Opener]] = {
    **{name: (number, over(kind, file)) for name, (number, kind) in THROUGH.items()},
    "Lazy": (4, anew(_Lazy)),
    "Forgetful": (6, below(_Forgetful)),
    "WithoutTombstone": (6, one(_WithoutTombstone)),
    "OldDescriptor": (7, below(_OldDescriptor)),
    "KeepsTheLast": (9, one(_KeepsTheLast)),
    "PlainNames": (10, below(_PlainNames)),
}
"""By name: the number of the promise that a store breaks, and how it is opened."""

UNNUMBERED: dict[str, Opener] = {
    "ReadMark": over(_ReadMark, memory),
    "SkipsWhatIsNewer": over(_SkipsWhatIsNewer, memory),
    "ShortLines": over(_ShortLines, memory),
    "InPieces": one(_InPieces),
    "InTwoSteps": one(_InTwoSteps),
}
"""Stores that break what no check of a single promise tries."""

of_one_thread = one(_OfOneThread)
