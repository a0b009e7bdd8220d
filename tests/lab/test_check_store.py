"""The five requirements as a suite: green for a store that keeps them, and else red in the right row."""

import errno
import inspect
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from minagent.errors import InvalidValue
from minagent.lab.any_store.check_store import Row, Table, check_store
from minagent.log import LogDamaged, LogTooNew, records, replay
from minagent.log.records import Record
from minagent.log.stores.base import KEPT, Records, Store, check_append
from minagent.log.stores.file import FileStore
from minagent.log.stores.memory import MemoryStore
from minagent.plain_json import parse
from tests.log.stores.broken import BROKEN, UNNUMBERED, Opener, file, memory, of_one_thread, sqlite


def checked(opener: Opener, folder: Path) -> Table:
    """Return the table of a store that can be opened again."""
    reopen = opener(folder / "store")
    return check_store(reopen(), reopen)


def red(table: Table) -> set[str]:
    """Return the requirements that are not kept."""
    return {row.requirement for row in table.rows if row.verdict.startswith("BROKEN: ")}


@pytest.mark.parametrize("opener", [memory, file, sqlite])
def test_the_stores_of_the_package_keep_everything(opener: Opener, tmp_path: Path):
    """Opened again and again, as by other processes."""
    table = checked(opener, tmp_path)
    assert table.kept, str(table)
    assert red(table) == set()


RED: dict[str, set[str]] = {
    # Whoever comes, writes: so does the batch that conflicts.
    "LastWriteWins": {"atomic", "two writers"},
    # Of an empty batch nothing is left to conflict: a stale writer with nothing new is not told.
    "OneByOne": {"atomic", "two writers"},
    "RetriesAreFine": {"two writers"},
    "HundredAtOnce": {"atomic"},
    "Text": {"recoverable"},
    "Strips": {"recoverable"},
    "OnePage": {"recoverable"},
    "ShortColumn": {"recoverable"},
    "CountsFromWhatIsLeft": {"recoverable"},
    "TakesTooHighALength": {"two writers"},
    "DeletesRecordsOnly": {"recoverable"},
    "KeepsTheLast": {"recoverable"},
    "KeepsTheLonger": {"recoverable"},
    "Normalizes": {"recoverable"},
    # A line that is no JSON does not come back; if it is a damaged record, nobody is told.
    "SkipsWhatIsNoJson": {"recoverable", "verifiable"},
    # Another opener finds nothing: all that needs two of them is red, but damage is told by one.
    "Lazy": {"recoverable", "idempotent", "atomic", "versioned", "two writers"},
    # A checkpoint that comes after the deletion is taken for one of the next session, since that begins too early.
    "Forgetful": {"recoverable", "two writers"},
    "WithoutTombstone": {"recoverable", "two writers"},
    "OneTooMany": {"recoverable"},
    # An append to a file without a name is lost, and two writers with two files never conflict.
    "OldDescriptor": {"recoverable", "two writers"},
    "Prefixes": {"recoverable"},
    "KeepsOne": {"recoverable"},
    "TextDocuments": {"recoverable"},
    "PlainNames": {"recoverable"},
    # Reading writes: so does a resume, and so does a refusal of what is too new.
    "ReadMark": {"idempotent", "versioned"},
    "SkipsWhatIsNewer": {"versioned"},
    "ShortLines": {"recoverable"},
    "InPieces": {"atomic"},
    "InTwoSteps": {"two writers"},
}
OPENERS = {name: opener for name, (_, opener) in BROKEN.items()} | UNNUMBERED


@pytest.mark.parametrize("name", OPENERS)
def test_a_broken_store_is_red_in_the_right_rows(name: str, tmp_path: Path):
    """And in no other."""
    table = checked(OPENERS[name], tmp_path)
    assert red(table) == RED[name], str(table)
    assert not table.kept


DECODE = records.decode


def no_digest(line: bytes, before: str, seq: int) -> tuple[Record, str]:
    """Decode a record as if there were no digests."""
    try:
        fields = parse(line)
        if fields.pop("v") > records.VERSION:
            raise LogTooNew
        digest = fields.pop("sha256")
        return Record(**fields), digest
    except (ValueError, LookupError, TypeError) as error:
        raise LogDamaged(str(error)) from error


def no_version(line: bytes, before: str, seq: int) -> tuple[Record, str]:
    """Decode a record as if what is newer were damaged."""
    try:
        return DECODE(line, before, seq)
    except LogTooNew as error:
        raise LogDamaged(str(error)) from error


@pytest.mark.parametrize(("decode", "row"), [(no_digest, "verifiable"), (no_version, "versioned")])
def test_a_log_that_does_not_look_is_red(decode: Callable[..., Any], row: str, monkeypatch: pytest.MonkeyPatch):
    """What no store can break, since SessionLog does the work: without the digest, without the version."""
    for module in (records, replay):
        monkeypatch.setattr(module, "decode", decode)
    assert red(check_store(MemoryStore())) == {row}


def test_a_log_that_is_resumed_otherwise_each_time_is_red(monkeypatch: pytest.MonkeyPatch):
    """As if its state depended on how often it was read."""
    load, times = replay.load, iter(range(10**6))

    def counting(*arguments: Any) -> Any:
        state, report = load(*arguments)
        state.session.metadata = {"resumed": next(times)}
        return state, report

    monkeypatch.setattr("minagent.log.session_log.load", counting)
    assert "idempotent" in red(check_store(MemoryStore()))


class _NaiveStore:
    """A reader's first: a list for each session. It looks at no expected length, and gives its own lists away."""

    def __init__(self) -> None:
        self.logs: defaultdict[str, list[bytes]] = defaultdict(list)
        self.documents: defaultdict[str, dict[int, bytes]] = defaultdict(dict)

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        self.logs[session_id] += records

    def read(self, session_id: str, since: int = 0) -> Records:
        lines = self.logs[session_id]
        return Records(min(since, len(lines)), lines[since:] if since else lines)

    def truncate_before(self, session_id: str, number: int) -> None:
        del self.logs[session_id][:number]

    def put_checkpoint(self, session_id: str, number: int, document: bytes) -> None:
        self.documents[session_id][number] = document

    def checkpoints(self, session_id: str) -> list[tuple[int, bytes]]:
        return sorted(self.documents[session_id].items(), reverse=True)

    def delete(self, session_id: str) -> None:
        del self.logs[session_id], self.documents[session_id]

    def sessions(self) -> list[str]:
        return sorted(self.logs)


class _DictStore:
    """The same, put right."""

    def __init__(self) -> None:
        self.logs: dict[str, Records] = {}
        self.documents: dict[str, dict[int, bytes]] = {}
        self.lock = threading.Lock()

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        with self.lock:
            log = self.read(session_id)
            check_append(records, expected_length, log.length)
            self.logs[session_id] = Records(log.first, [*log.lines, *records])

    def read(self, session_id: str, since: int = 0) -> Records:
        log = self.logs.get(session_id, Records(0, []))
        start = min(max(since - log.first, 0), len(log.lines))
        return Records(log.first + start, log.lines[start:])

    def truncate_before(self, session_id: str, number: int) -> None:
        with self.lock:
            self.logs[session_id] = self.read(session_id, number)

    def put_checkpoint(self, session_id: str, number: int, document: bytes) -> None:
        with self.lock:
            documents = {**self.documents.get(session_id, {}), number: document}
            self.documents[session_id] = dict(sorted(documents.items(), reverse=True)[:KEPT])

    def checkpoints(self, session_id: str) -> list[tuple[int, bytes]]:
        return [pair for pair in self.documents.get(session_id, {}).items() if pair[0] >= self.read(session_id).first]

    def delete(self, session_id: str) -> None:
        with self.lock:
            self.documents.pop(session_id, None)
            if length := self.read(session_id).length:
                self.logs[session_id] = Records(length + 1, [])

    def sessions(self) -> list[str]:
        return sorted(name for name, log in self.logs.items() if log.lines)


NAIVE = """\
requirement  tried                                 times  verdict
recoverable  logs, checkpoints, ids; not reopened     97  BROKEN: the list that read returns is the
                                                          reader's own
idempotent   one log, many resumes; not reopened      19  kept
atomic       bad and stale batches; not reopened      14  BROKEN: InvalidValue for the record b''
verifiable   each character damaged, each line      1677  kept
versioned    versions 1 and 2; not reopened            4  kept
two writers  stale appends, threads; not reopened     19  BROKEN: Conflict(0, 1): one record is
                                                          there, 0 expected"""


def test_a_naive_store_of_the_readers_own_is_told_what_it_lacks():
    """In words that say what was expected; no two runs differ."""
    assert str(check_store(_NaiveStore())) == NAIVE
    assert str(check_store(_NaiveStore())) == NAIVE
    assert max(map(len, NAIVE.splitlines())) <= 100


def test_the_same_store_put_right_keeps_everything():
    """In thirty lines, its docstring apart."""
    table = check_store(_DictStore())
    assert table.kept, str(table)
    assert len([line for line in inspect.getsource(_DictStore).splitlines() if line.strip()]) - 1 <= 30


@pytest.mark.parametrize("method", ["append", "read", "truncate_before", "put_checkpoint", "checkpoints", "delete"])
def test_an_exception_is_a_verdict(method: str):
    """With its type and its message's first line; the other rows go on."""
    store = MemoryStore()

    def refuse(*_: Any) -> None:
        raise NotImplementedError(f"{method}: later\nand {store}")

    setattr(store, method, refuse)
    table = check_store(store)
    assert len(table.rows) == 6
    assert f"BROKEN: NotImplementedError: {method}: later" in [row.verdict for row in table.rows]
    assert not table.kept


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (FileNotFoundError(errno.ENOENT, "No such file", "/tmp/a3f9/log"), "FileNotFoundError: No such file"),  # noqa: S108
        (ValueError(f"cannot keep {object()!r} 三\ud83d"), r"ValueError: cannot keep <object object> \u4e09\ud83d"),
        (RuntimeError(), "RuntimeError"),
        (KeyError("x" * 500), "KeyError: '" + "x" * 99),
    ],
)
def test_what_differs_from_run_to_run_is_not_in_a_verdict(error: Exception, said: str):
    """No path, and no object's place in memory; and nothing that could not be printed."""

    class Failing(MemoryStore):
        def sessions(self) -> list[str]:
            raise error

    rows = {row.requirement: row.verdict for row in check_store(Failing()).rows}
    assert rows["idempotent"] == f"BROKEN: {said}"
    assert rows["two writers"] == "kept"


def test_a_store_that_is_not_empty_is_refused():
    """Before anything is written; a second check of the same store is refused, too."""
    store = MemoryStore()
    store.append("mine", [b"{}"], 0)
    with pytest.raises(InvalidValue, match="store: it holds sessions already: give it a new, empty one"):
        check_store(store)
    assert store.sessions() == ["mine"]
    store.delete("mine")
    check_store(store)
    with pytest.raises(InvalidValue, match="holds sessions already"):
        check_store(store)


def test_what_was_opened_is_closed(tmp_path: Path):
    """And the reader's own object is not; a store that fails to close keeps what it keeps."""
    closed = []

    class Closing(FileStore):
        def close(self) -> None:
            super().close()
            closed.append(self)
            raise OSError("already closed")

    opened = [Closing(tmp_path)]

    def reopen() -> Store:
        opened.append(Closing(tmp_path))
        return opened[-1]

    assert check_store(opened[0], reopen).kept
    assert closed == opened[1:]


def test_a_store_of_one_thread_is_told_so(tmp_path: Path):
    """It keeps everything, and the rows say what was not tried."""
    table = check_store(of_one_thread(tmp_path)())
    assert table.kept
    assert [row.requirement for row in table.rows if "not by threads" in row.tried] == ["atomic", "two writers"]


TEXT = """\
requirement  tried                                 times  verdict
recoverable  logs                                      7  kept
two writers  stale appends, threads; not reopened   1234  BROKEN: one of two gets Conflict if both
                                                          expect the same"""


def test_the_table_as_text():
    """Aligned; what is too long for its column goes on below."""
    verdict = "BROKEN: one of two gets Conflict if both expect the same"
    table = Table(
        [
            Row("recoverable", "logs", 7, "kept"),
            Row("two writers", "stale appends, threads; not reopened", 1234, verdict),
        ]
    )
    assert not table.kept
    assert str(table) == TEXT
