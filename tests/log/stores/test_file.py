"""The file store on a bad day: killed and failing at each file call, torn tails, and several processes at once."""

import errno
import fcntl
import json
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from minagent.lab.faults.file_calls import NO_STRIKE, Ended, Fault, Strike, run
from minagent.lab.processes.child_process import start
from minagent.lab.two_writers.writers import append_all, record, write
from minagent.lab.world.example import SESSION
from minagent.log import AppendUnknown, Conflict, LogDamaged
from minagent.log.stores.file import FileStore, _Open
from tests.examined import Examined
from tests.lab.test_faults import FAULTS

OLD, NEW = [b'{"n":1}', b'{"n":2}'], [b'{"n":3}', '{"n":"四"}'.encode() * 40]


def prepare(path: Path, _: bytes) -> None:
    """Two records, and a checkpoint of the first."""
    FileStore(path.parent).append("demo", OLD, 0)
    FileStore(path.parent).put_checkpoint("demo", 1, b"one")


def append(path: Path, _: bytes) -> None:
    """Add a batch of two."""
    FileStore(path.parent).append("demo", NEW, 2)


def truncate(path: Path, _: bytes) -> None:
    """Leave one record."""
    FileStore(path.parent).truncate_before("demo", 1)


def put_checkpoint(path: Path, _: bytes) -> None:
    """Write a second checkpoint."""
    FileStore(path.parent).put_checkpoint("demo", 2, b"two")


def delete(path: Path, _: bytes) -> None:
    """Remove all."""
    FileStore(path.parent).delete("demo")


Seen = tuple[int, list[bytes], list[tuple[int, bytes]]]

BEFORE: Seen = (0, OLD, [(1, b"one")])
AFTER: dict[Callable[[Path, bytes], None], Seen] = {
    append: (0, OLD + NEW, [(1, b"one")]),
    truncate: (1, OLD[1:], [(1, b"one")]),
    put_checkpoint: (0, OLD, [(2, b"two"), (1, b"one")]),
    delete: (3, [], []),
}
"""What a reader sees before and after each operation: first number, records, checkpoints."""


def seen(folder: Path) -> Seen:
    """Return what a reader sees."""
    store = FileStore(folder)
    records = store.read("demo")
    return records.first, records.lines, store.checkpoints("demo")


@pytest.mark.parametrize("operation", AFTER, ids=lambda operation: operation.__name__)
@pytest.mark.parametrize(("fault", "error"), [("kill", errno.EIO), *FAULTS])
def test_struck_at_each_file_call(
    tmp_path: Path,
    operation: Callable[[Path, bytes], None],
    fault: Fault,
    error: int,
    examined: Examined,
):
    """Before or after, never between; what has returned is there, what has raised is not, unless it said so."""
    before_or_after = {repr(BEFORE): "before", repr(AFTER[operation]): "after"}
    found: set[tuple[Ended, str]] = set()
    for number in range(1, 100):
        path = tmp_path / str(number) / "store" / "x"
        run(prepare, path, b"", NO_STRIKE)
        done = run(operation, path, b"", Strike(fault, number, error))
        state = before_or_after[repr(seen(path.parent))]
        if operation is append and done.ended == "raised" and "AppendUnknown" not in done.error:
            assert state == "before", done
        if done.ended == "finished":
            assert state == "after", done
        found.add((done.ended, state))
        go_on(path.parent)
        if len(done.events) < number:
            break
        examined("file calls struck", 1)
    assert ("finished", "after") in found
    if fault == "kill":
        assert ("killed", "before") in found


def go_on(folder: Path) -> None:
    """The next writer finds a length, and adds to it; nothing is glued to what was torn."""
    length = FileStore(folder).read("demo").length
    lines = FileStore(folder).read("demo").lines
    FileStore(folder).append("demo", [b'{"n":"next"}'], length)
    assert FileStore(folder).read("demo").lines == [*lines, b'{"n":"next"}']


def test_every_truncation_of_the_file_is_a_shorter_log_of_whole_batches(tmp_path: Path, examined: Examined):
    """Cut anywhere: what is left is read, what is torn is counted, and cut away by the next append."""
    store = FileStore(tmp_path)
    batches = [[b'{"n":1}'], [b'{"n":2}', b'{"n":3}', b'{"n":4}'], [b'{"n":5}']]
    ends, data = {0: 0}, b""
    for batch in batches:
        store.append("demo", batch, store.read("demo").length)
        data = (tmp_path / "demo.log.jsonl").read_bytes()
        ends[len(data)] = store.read("demo").length
    header = len(data.partition(b"\n")[0]) + 1
    examined("cuts", len(data) - header)
    for cut in range(header, len(data)):
        (tmp_path / "demo.log.jsonl").write_bytes(data[:cut])
        records = FileStore(tmp_path).read("demo")
        whole = max((end for end in ends if end <= cut), default=0)
        assert records.length == ends[whole]
        assert records.torn == cut - max(whole, header)
        FileStore(tmp_path).append("demo", [b'{"n":9}'], records.length)
        assert FileStore(tmp_path).read("demo").lines == [*records.lines, b'{"n":9}']
        assert FileStore(tmp_path).read("demo").torn == 0


@pytest.mark.parametrize("damage", [b"", b"\n", b"{", b'{"first":"x"}\n', b"[]\n", b"\0" * 30])
def test_a_damaged_first_line_is_an_error(tmp_path: Path, damage: bytes):
    """Not an empty session: that would be begun again on top."""
    store = FileStore(tmp_path)
    store.append("demo", OLD, 0)
    (tmp_path / "demo.log.jsonl").write_bytes(damage)
    for use in (lambda: store.read("demo"), lambda: FileStore(tmp_path).append("demo", OLD, 0)):
        with pytest.raises(LogDamaged, match=r"the log of 'demo': its first line is damaged"):
            use()


def test_an_append_that_cannot_be_undone_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The write is in the file, its fsync failed, and so does cutting it off: whoever reads again can tell."""
    store = FileStore(tmp_path)
    store.append("demo", OLD, 0)

    def refuse(*_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", refuse)
    monkeypatch.setattr(os, "ftruncate", refuse)
    with pytest.raises(AppendUnknown, match="and so did undoing it"):
        store.append("demo", NEW, 2)
    monkeypatch.undo()
    assert store.read("demo").lines == OLD + NEW
    with pytest.raises(Conflict):
        store.append("demo", NEW, 2)
    store.append("demo", NEW, 4)


def test_a_read_that_returns_little_is_read_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Linux returns 2 GiB at most: what was not read must not be taken for torn, and cut off."""
    FileStore(tmp_path).append("demo", OLD + NEW, 0)
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda descriptor, size, start: pread(descriptor, min(size, 7), start))
    FileStore(tmp_path).append("demo", OLD, 4)
    assert FileStore(tmp_path).read("demo").lines == OLD + NEW + OLD


@pytest.mark.parametrize("call", ["open", "fstat", "pread", "stat"])
def test_a_failing_look_at_the_end_leaves_nothing_half_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
):
    """The same object goes on as a new one would, and closes no file of anybody else's."""
    store = FileStore(tmp_path)
    store.append("demo", OLD, 0)
    FileStore(tmp_path).truncate_before("demo", 1)
    FileStore(tmp_path).append("demo", NEW, 2)
    original = getattr(os, call)

    def refuse(*arguments: object, **options: object) -> object:
        if call != "open" or str(arguments[0]).endswith(".jsonl"):
            raise OSError(errno.EMFILE, "Too many open files")
        return original(*arguments, **options)

    monkeypatch.setattr(os, call, refuse)
    with pytest.raises(OSError, match="Too many open files"):
        store.append("demo", OLD, 4)
    monkeypatch.undo()
    with (tmp_path / "mine").open("wb") as mine:
        store.append("demo", OLD, 4)
        mine.write(b"mine")
    assert store.read("demo").lines == [*OLD[1:], *NEW, *OLD]
    assert (tmp_path / "mine").read_bytes() == b"mine"


def test_a_first_line_that_is_cut_or_of_another_session_is_an_error(tmp_path: Path):
    """What is appended would be glued to it; and a copied log is not the log of its new name."""
    store = FileStore(tmp_path)
    store.append("demo", OLD, 0)
    (tmp_path / "fork.log.jsonl").write_bytes((tmp_path / "demo.log.jsonl").read_bytes())
    with pytest.raises(LogDamaged, match="the log of 'fork' is one of 'demo'"):
        store.read("fork")
    (tmp_path / "demo.log.jsonl").write_bytes((tmp_path / "demo.log.jsonl").read_bytes().partition(b"\n")[0])
    for _ in range(3):
        with pytest.raises(LogDamaged, match="its first line is damaged"):
            store.append("demo", OLD, 0)


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_forked_process_takes_its_own_lock(tmp_path: Path):
    """Parent and child share open files, and with them a lock: two would hold it at once."""
    store = FileStore(tmp_path)
    store.append("demo", OLD, 0)
    child = os.fork()
    if child == 0:
        append_all(store, "child", 200)
        os._exit(0)
    append_all(store, "parent", 200)
    assert os.waitpid(child, 0)[1] == 0
    lines = FileStore(tmp_path).read("demo").lines
    assert len(lines) == len(set(lines)) == 2 + 400


def test_threads_may_share_a_store(tmp_path: Path):
    """One of them appends at a time."""
    store = FileStore(tmp_path)

    threads = [threading.Thread(target=append_all, args=(store, name, 50)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = store.read(SESSION).lines
    assert [json.loads(line)["number"] for line in lines] == list(range(100))


def test_a_reader_never_sees_half_a_record(tmp_path: Path):
    """While another process appends, truncates nothing and hurries: each line is whole at each moment."""
    store = FileStore(tmp_path)
    writer = start(write, tmp_path, "file", "a", 300)
    writer.hear()
    writer.tell("go")
    lengths = []
    with ThreadPoolExecutor(1) as pool:
        conflicts = pool.submit(writer.hear)
        while not conflicts.done():
            records = store.read(SESSION)
            assert records.lines == [record("a", n, n) for n in range(records.length)]
            lengths.append(records.length)
    assert (lengths, conflicts.result()) == (sorted(lengths), 0)
    assert store.read(SESSION).length == 300


@pytest.mark.parametrize("folder", [".", "", "./sessions", "sessions/../sessions"])
def test_sessions_are_found_by_whatever_name_the_folder_has(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Names of files are put together in one way and found in another."""
    monkeypatch.chdir(tmp_path)
    FileStore(folder).append("demo", [b"1"], 0)
    assert FileStore(folder).sessions() == ["demo"]


def test_two_interrupts_leave_the_lock_to_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The second one comes while the files are closed after the first; nobody must wait for ever then."""
    store = FileStore(tmp_path)
    store.append("demo", [b"1"], 0)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("minagent.log.stores.file.append_or_undo", interrupt)
        patched.setattr(_Open, "close_log", interrupt)
        with pytest.raises(KeyboardInterrupt):
            store.append("demo", [b"2"], 1)
    lock = os.open(tmp_path / "demo.lock", os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(lock)
    store.append("demo", [b"2"], 1)
