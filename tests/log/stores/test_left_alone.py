"""Stores whose files others have touched, or that nobody closes."""

import gc
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from minagent import Message, Session
from minagent.log import Conflict, FileStore, LogDamaged, SessionLog, SqliteStore


def begun(store: FileStore | SqliteStore, session_id: str) -> SessionLog:
    """Begin a session of this id."""
    return SessionLog.begin(store, Session(session_id, [Message("user", "hi")], "2026-01-01T00:00:00Z"))


DAMAGE: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "half a line": lambda path: path.write_bytes(path.read_bytes()[:9]),
    "another program's": lambda path: path.write_bytes(b'{"level":"info"}\n'),
    "another session's": lambda path: path.write_bytes(path.read_bytes().replace(b'"bad"', b'"BAD"', 1)),
    "not text": lambda path: path.write_bytes(b"\xff\xfe\x00\n"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_one_bad_file_hides_no_good_one(tmp_path: Path, damage: str):
    """The good ones are listed, the bad one is named, and its id can be deleted and begun again."""
    store = FileStore(tmp_path)
    for session_id in ("good", "bad", "fine"):
        begun(store, session_id)
    stale = SessionLog.resume(store, "bad")
    DAMAGE[damage](tmp_path / "bad.log.jsonl")
    if damage == "another session's":
        assert store.sessions() == ["fine", "good"]
    else:
        with pytest.warns(UserWarning, match="bad.log.jsonl"):
            assert store.sessions() == ["fine", "good"]
    with pytest.raises(LogDamaged):
        SessionLog.resume(store, "bad")
    store.delete("bad")
    assert store.sessions() == ["fine", "good"]
    log = begun(store, "bad")
    assert store.sessions() == ["bad", "fine", "good"]
    with pytest.raises(Conflict):  # the length has not gone down: what was expected before is not there
        stale.append(("metadata", {"metadata": {"a": 1}}))
    assert SessionLog.resume(store, "bad").state == log.state


def test_a_store_that_is_dropped_is_closed(tmp_path: Path):
    """A program opens one for each request, and never comes to the limit of open files."""
    for number in range(5):
        begun(FileStore(tmp_path), str(number))
        begun(SqliteStore(tmp_path / "sessions.db"), str(number))
    gc.collect()
    before = len(os.listdir("/dev/fd"))
    for number in range(200):
        begun(FileStore(tmp_path), f"f{number}")
        SessionLog.resume(FileStore(tmp_path), f"f{number}").checkpoint()
        begun(SqliteStore(tmp_path / "sessions.db"), f"s{number}")
    gc.collect()
    assert len(os.listdir("/dev/fd")) <= before


@pytest.mark.parametrize("gone", ["removed", "replaced", "moved away"])
def test_a_database_that_is_not_there_any_more_takes_nothing(tmp_path: Path, gone: str):
    """An append that has returned is somewhere, or there is an error."""
    path = tmp_path / "sessions.db"
    log = begun(SqliteStore(path), "demo")
    if gone == "moved away":
        path.rename(tmp_path / "elsewhere.db")
    else:
        for file in tmp_path.glob("sessions.db*"):
            file.unlink()
    if gone == "replaced":
        SqliteStore(path).close()
    with pytest.raises(OSError, match=r"sessions\.db"):
        log.append(("metadata", {"metadata": {"a": 1}}))
    with pytest.raises(OSError, match=r"sessions\.db"):
        log.checkpoint()
    with pytest.raises(OSError, match=r"sessions\.db"):
        log.store.sessions()


@pytest.mark.parametrize("gone", ["removed", "folder removed"])
def test_a_log_file_that_is_not_there_any_more_takes_nothing(tmp_path: Path, gone: str):
    """The same with files: the length is another one."""
    log = begun(FileStore(tmp_path / "sessions"), "demo")
    if gone == "removed":
        (tmp_path / "sessions" / "demo.log.jsonl").unlink()
    else:
        shutil.rmtree(tmp_path / "sessions")
    with pytest.raises((OSError, Conflict)):
        log.append(("metadata", {"metadata": {"a": 1}}))
