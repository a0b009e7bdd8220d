"""Generations: what stays, what goes, and what must never be taken for the state before."""

import builtins
import errno
import os
import threading
from pathlib import Path

import pytest

from minagent import (
    CheckpointTooNew,
    FakeModel,
    InvalidValue,
    Message,
    Session,
    recover_checkpoint,
    save_checkpoint,
)
from minagent.checkpoint import KEPT


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the checkpoints of a test go."""
    return tmp_path / "session.json"


def save(path: Path, name: str, number: int) -> None:
    """Save a session of this name that has taken so many steps."""
    answers = [Message("assistant", f"{name} {n}") for n in range(number)]
    save_checkpoint(path, Session(name, [Message("user", "hi"), *answers], "now"), FakeModel([]), [])


def found(path: Path) -> tuple[str, int, str, int | None]:
    """Return what loads: the session's name, its steps, the file, and how many steps are lost."""
    checkpoint, report = recover_checkpoint(path)
    return checkpoint.session.id, checkpoint.session.step_count, report.loaded, report.steps_lost


def names(path: Path) -> list[str]:
    """Return the names of all files."""
    return sorted(os.listdir(path.parent))


@pytest.mark.parametrize("lose_newest", [lambda path: path.write_bytes(b""), lambda path: path.unlink()])
@pytest.mark.parametrize(("first", "second"), [("A", "B"), ("B", "A")])
def test_a_session_s_generations_are_not_another_s_to_replace(path: Path, lose_newest: object, first: str, second: str):
    """Even where the newest name was damaged or deleted: what is left is whose it was, until somebody removes it."""
    for number in (1, 2, 3):
        save(path, first, number)
    lose_newest(path)  # type: ignore[operator]
    before = names(path)
    with pytest.raises(InvalidValue, match=f"is of another session, '{first}'"):
        save(path, second, 3)
    assert names(path) == before
    for file in path.parent.iterdir():
        file.unlink()
    save(path, second, 3)
    assert found(path) == (second, 3, "session.json", 0)


def test_what_is_damaged_is_nobody_s(path: Path):
    """It could not be gone on from: the save goes on without it, and a damaged newest is set aside."""
    for number in (1, 2, 3):
        save(path, "A", number)
    for file in path.parent.iterdir():
        file.write_bytes(b"")
    save(path, "B", 4)
    assert found(path) == ("B", 4, "session.json", 0)
    assert names(path) == ["session.json", "session.json.bad", "session.json.step-4"]


def test_a_damaged_newest_without_a_number_is_set_aside_however_well_it_begins(path: Path):
    """Copied over the newest, and flipped near its end: no other name leads to its bytes."""
    for number in (1, 2, 3):
        save(path, "A", number)
    damaged = path.read_bytes()[:-90] + b"?" + path.read_bytes()[-89:]
    path.unlink()
    path.write_bytes(damaged)
    save(path, "A", 4)
    assert path.with_name("session.json.bad").read_bytes() == damaged


def test_a_failed_save_takes_nothing_away(path: Path, monkeypatch: pytest.MonkeyPatch):
    """The disk is full at the first write: what was there is there, generations included."""
    for number in (1, 2, 3):
        save(path, "A", number)
    monkeypatch.setattr(os, "write", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
    with pytest.raises(OSError, match="full"):
        save(path, "A", 4)
    monkeypatch.undo()
    path.write_bytes(b"")
    assert found(path) == ("A", 2, "session.json.step-2", 1)


def test_a_file_that_came_without_generations_gets_its_own(path: Path):
    """A backup that was put back, or the chapter's document: the save after it keeps it as the one before."""
    save(path, "A", 3)
    path.with_name("session.json.step-3").unlink()
    save(path, "A", 4)
    path.write_bytes(b"")
    assert found(path) == ("A", 3, "session.json.step-3", 1)


@pytest.mark.parametrize("newest", [None, b""])
def test_a_newer_generation_is_never_replaced(path: Path, monkeypatch: pytest.MonkeyPatch, newest: bytes | None):
    """Also where the newest name is gone or damaged, and only numbered files are newer."""
    monkeypatch.setattr("minagent.document.VERSION", 2)
    for number in (1, 2, 3):
        save(path, "A", number)
    monkeypatch.undo()
    path.unlink()
    if newest is not None:
        path.write_bytes(newest)
    before = {name: (path.parent / name).read_bytes() for name in names(path)}
    with pytest.raises(CheckpointTooNew):
        save(path, "A", 1)
    assert {name: (path.parent / name).read_bytes() for name in names(path)} == before


def test_a_given_up_line_is_gone_before_the_new_one_is_the_newest(path: Path, monkeypatch: pytest.MonkeyPatch):
    """Rolled back from step 3 to step 1, and killed before tidying: no fallback finds the old step 3."""
    for number in (1, 2, 3):
        save(path, "A", number)
    monkeypatch.setattr(os, "replace", _killed_at_the_second_call(os.replace))
    with pytest.raises(KeyboardInterrupt):
        save(path, "A", 1)
    monkeypatch.undo()
    assert names(path) == [".session.json.newest.tmp", "session.json", "session.json.step-1"]
    assert found(path)[:2] == ("A", 3)


def _killed_at_the_second_call(real: object) -> object:
    calls = []

    def replace(*arguments: object) -> None:
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        real(*arguments)  # type: ignore[operator]

    return replace


def test_steps_lost_is_unknown_where_no_name_tells(path: Path):
    """The newest is damaged, and its numbered name was deleted: saying 0 would be a guess."""
    for number in (1, 2, 3):
        save(path, "A", number)
    path.with_name("session.json.step-3").unlink()
    path.write_bytes(b"")
    assert found(path) == ("A", 2, "session.json.step-2", None)
    assert "steps lost: unknown" in str(recover_checkpoint(path)[1])


def test_names_that_only_look_like_generations_are_left_alone(path: Path):
    """A folder, leading zeros, digits of another script: none of them counts, none of them stops a save."""
    (path.parent / "session.json.step-999").mkdir()
    for name in ("session.json.step-007", "session.json.step-٣", "session.json.step-", "xsession.json.step-8"):
        (path.parent / name).write_bytes(b"")
    for number in range(6):
        save(path, "A", number)
    path.write_bytes(b"")
    assert found(path) == ("A", 4, "session.json.step-4", 1)
    assert len(names(path)) == 5 + 1 + KEPT


def test_two_sessions_in_one_folder_do_not_touch_each_other_s_files(tmp_path: Path):
    """As with run and run.1: the temporary files of one are none of the other's, in whatever order they save."""
    failed = []

    def work(name: str) -> None:
        try:
            for number in range(60):
                save(tmp_path / name, name, number)
        except OSError as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in ("run", "run.1")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert [found(tmp_path / name)[:2] for name in ("run", "run.1")] == [("run", 59), ("run.1", 59)]


def test_what_died_in_mid_save_goes_before_the_next_one_needs_its_room(path: Path, monkeypatch: pytest.MonkeyPatch):
    """On a full disk the stale temporary files may be what fills it."""
    save(path, "A", 1)
    stale = path.with_name(".session.json.step-2.abcdefgh.tmp")
    stale.write_bytes(b"half")
    write = os.write

    def write_if_there_is_room(descriptor: int, data: bytes) -> int:
        if stale.exists():
            raise OSError(errno.ENOSPC, "full")
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", write_if_there_is_room)
    save(path, "A", 2)
    assert found(path) == ("A", 2, "session.json", 0)


def test_bad_ones_do_not_pile_up(path: Path, monkeypatch: pytest.MonkeyPatch):
    """Ten damages keep the last one, and so do saves that fail over it."""
    for number in range(10):
        save(path, "A", number)
        path.write_bytes(b"bad %d" % number)
    save(path, "A", 10)
    assert [name for name in names(path) if "bad" in name] == ["session.json.bad"]
    assert path.with_name("session.json.bad").read_bytes() == b"bad 9"
    path.write_bytes(b"bad")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(errno.EIO, "broken")))
    for _ in range(5):
        with pytest.raises(OSError, match="broken"):
            save(path, "A", 11)
    monkeypatch.undo()
    assert [name for name in names(path) if "bad" in name] == ["session.json.bad"]
    assert path.with_name("session.json.bad").read_bytes() == path.read_bytes() == b"bad"


def test_a_read_that_fails_does_not_make_a_good_file_bad(path: Path, monkeypatch: pytest.MonkeyPatch):
    """Too many open files, for a moment: the save says so, and nothing is set aside."""
    save(path, "A", 1)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(builtins, "open", refuse)
    with pytest.raises(OSError, match="Too many open files"):
        save(path, "A", 2)
    monkeypatch.undo()
    assert names(path) == ["session.json", "session.json.step-1"]


def test_a_new_folder_s_name_is_forced_to_disk_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Otherwise a power cut may take an acknowledged first save with its folder."""
    forced = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        forced.append(os.fstat(descriptor).st_ino)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    save(tmp_path / "new" / "sub" / "session.json", "A", 1)
    folders = (tmp_path, tmp_path / "new", tmp_path / "new" / "sub")
    assert {folder.stat().st_ino for folder in folders} <= set(forced)


@pytest.mark.parametrize("odd", ["a b", "a[b]", "a*b", "a>b", "a\nb", "a\udcffb", "会话"])
def test_any_file_name_will_do(tmp_path: Path, odd: str):
    """Names are taken as they are, never as patterns."""
    path = tmp_path / odd
    for number in (1, 2, 3, 4):
        save(path, "A", number)
    path.write_bytes(b"")
    assert found(path) == ("A", 3, f"{odd}.step-3", 1)


def test_a_path_without_a_name_is_refused():
    """The empty path is the current folder, and no file."""
    with pytest.raises(InvalidValue, match="needs the name of a file"):
        save_checkpoint("", Session("A", [], "now"), FakeModel([]), [])
