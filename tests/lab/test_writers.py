"""Eight processes append to one session at once: a store with a condition keeps all; the last write keeps little."""

import json
import os
import signal
from pathlib import Path

import pytest

from minagent.lab.processes.child_process import Child, ChildDied, start
from minagent.lab.two_writers.writers import Race, append_all, opened, race, record, write
from minagent.lab.world.example import SESSION
from minagent.log import Conflict
from tests.conftest import in_process_table

WRITERS, COUNT = 8, 200


@pytest.mark.parametrize("store", ["file", "sqlite"])
def test_of_1600_appends_1600_are_kept(tmp_path: Path, store: str):
    """No number is there twice, none is left out, each is the one asked for, and each writer's are in order."""
    found = race(tmp_path, store, WRITERS, COUNT)
    assert (found.acknowledged, found.kept) == (1600, 1600)
    assert found.conflicts >= WRITERS  # one after the other, there would be one less: all but the first have one
    records = [json.loads(line) for line in opened(store, tmp_path).read(SESSION).lines]
    assert [record["number"] for record in records] == list(range(1600))
    for writer in range(WRITERS):
        assert [record["n"] for record in records if record["writer"] == f"w{writer}"] == list(range(COUNT))


def test_without_a_condition_most_are_lost(tmp_path: Path):
    """Each write is atomic and durable, and each was acknowledged; it is the whole state, as it was a moment ago."""
    found = race(tmp_path, "last write wins", WRITERS, COUNT)
    assert (found.acknowledged, found.conflicts) == (1600, 0)
    assert found.kept < 800


@pytest.mark.parametrize("store", ["file", "sqlite", "last write wins"])
def test_one_writer_alone_loses_nothing(tmp_path: Path, store: str):
    """The baseline, too: what it lacks is the condition, and nothing else."""
    assert race(tmp_path, store, 1, 10) == Race(10, 10, 0)
    assert opened(store, tmp_path).read(SESSION).lines == [record("w0", n, n) for n in range(10)]


@pytest.mark.parametrize("store", ["file", "sqlite"])
def test_a_writer_goes_on_from_where_the_log_ends(tmp_path: Path, store: str):
    """After one conflict it knows."""
    log = opened(store, tmp_path)
    assert [append_all(log, name, 3) for name in ("a", "b")] == [0, 1]
    assert log.read(SESSION).lines[3:] == [record("b", n, 3 + n) for n in range(3)]
    with pytest.raises(Conflict):
        log.append(SESSION, [record("c", 0, 5)], 5)


def test_a_writer_that_fails_is_an_error(tmp_path: Path):
    """Not a race with fewer writers."""
    (tmp_path / "sessions.db").write_bytes(b"no database" * 100)
    with pytest.raises(ChildDied, match=r"ended with code 1\.(?s:.*)SQLite cannot open"):
        race(tmp_path, "sqlite", 2, 1)


def test_a_writer_that_is_killed_is_an_error(tmp_path: Path):
    """Before its start, or on the way."""
    writer = start(write, tmp_path, "file", "a", 10)
    writer.hear()
    os.kill(writer.pid, signal.SIGKILL)
    writer.tell("go")
    with pytest.raises(ChildDied, match="ended with code -9"):
        writer.hear()


def test_nobody_waits_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """An interrupt ends the race, and all who run in it."""
    pids: list[int] = []

    def interrupted(writer: Child, _: bytes) -> None:
        pids.append(writer.pid)
        if len(pids) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Child, "tell", interrupted)
    with pytest.raises(KeyboardInterrupt):
        race(tmp_path, "file", 2, 10)
    assert not any(map(in_process_table, pids))
    assert opened("file", tmp_path).read(SESSION).lines == []
