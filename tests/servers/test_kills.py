"""Clients and servers that die, and connections that break: nothing acknowledged is lost, nothing is there twice."""

import random
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from minagent.lab.processes.child_process import say, start, wait_for_parent
from minagent.lab.servers import cut_connection
from minagent.lab.servers.cut_connection import outcomes
from minagent.lab.servers.local_servers import S3Server, Server, alive
from minagent.lab.two_writers.writers import race
from minagent.lab.world.example import SESSION
from minagent.log import AppendUnknown, open_store
from minagent.log.stores.base import Store
from tests.examined import Examined
from tests.servers.conftest import LASTING


def test_eight_writers_at_once_lose_nothing(server: Server, tmp_path: Path, examined: Examined):
    """1,600 appends are acknowledged, and 1,600 are there; on the S3, which is slow, 200."""
    count = 25 if isinstance(server, S3Server) else 200
    result = race(tmp_path, server.url, writers=8, count=count)
    examined("appends of eight writers on a server", result.acknowledged)
    assert result.acknowledged == result.kept == 8 * count


def append_for_ever(url: str) -> None:
    """Append numbered records, and say the number of each that was acknowledged."""
    store = open_store(url)
    say("ready")
    wait_for_parent()
    for number in range(10**6):
        store.append("demo", [b"%d" % number], number)
        say(number)


def test_a_client_killed_at_any_moment_loses_nothing_acknowledged(
    server: Server, reopen: Callable[[], Store], examined: Examined
):
    """One append at most is there of which it was not told."""
    rng = random.Random(7309)  # noqa: S311 - no secret
    for _ in range(10):
        reader = reopen()
        child = start(append_for_ever, server.url)
        child.hear()
        child.tell("go")
        heard = [child.hear() for _ in range(rng.randint(1, 20))]
        child.kill()
        there = reader.read("demo").lines
        assert there == [b"%d" % number for number in range(len(there))]
        assert len(there) >= len(heard)
        examined("clients of a server killed", 1)
        server.forget_everything()


@LASTING
def test_a_server_killed_at_any_moment_loses_nothing_acknowledged(
    server: Server, reopen: Callable[[], Store], examined: Examined
):
    """SIGKILL to all of its processes, in the middle of appends; it comes back, and so does the client's store."""
    rng, acknowledged = random.Random(7310), 0  # noqa: S311
    store = reopen()
    for _ in range(10):
        killer = threading.Timer(rng.uniform(0.0, 0.05), server.kill)
        killer.start()
        unknown = 0
        with suppress(OSError, AppendUnknown):
            while True:
                unknown = 1
                store.append("demo", [b"%d" % acknowledged], acknowledged)
                acknowledged, unknown = acknowledged + 1, 0
        killer.join()
        server.start()
        there = store.read("demo").lines  # the same store: it connects again by itself
        assert there == [b"%d" % number for number in range(len(there))]
        assert acknowledged <= len(there) <= acknowledged + unknown
        acknowledged = len(there)
        examined("servers killed", 1)


def test_a_connection_cut_before_an_answer_leaves_it_unknown_and_never_twice(server: Server):
    """Before the first answer, the second, ..., until all come: what was told is there; the rest, once or not."""
    found = outcomes(server)
    may_come = {"done": {1}, "unknown": {0, 1}, "not added": {0}}
    assert all(came in may_come[told] for told, came in found)
    assert {told for told, _ in found} >= {"unknown", "done"}
    length = sum(came for _, came in found)
    assert open_store(server.url).read(SESSION).lines == [b"record %d" % number for number in range(length)]


def test_an_answer_that_comes_in_pieces_is_one_answer(server: Server, monkeypatch: pytest.MonkeyPatch):
    """Else a cut falls now between two answers and now into one, and what is found differs from run to run."""
    whole = outcomes(server)
    server.forget_everything()
    monkeypatch.setattr(cut_connection, "connected", in_pieces(cut_connection.connected, random.Random(7311)))  # noqa: S311
    assert outcomes(server) == whole


def in_pieces(connected: Callable[[Server], socket.socket], rng: random.Random) -> Callable[[Server], socket.socket]:
    """Return connections whose answers come in pieces of a few bytes."""

    def connect(server: Server) -> socket.socket:
        there, (near, far) = connected(server), socket.socketpair()
        for source, target, most in [(far, there, 1 << 16), (there, far, 40)]:
            threading.Thread(target=passed_on, args=(source, target, most), daemon=True).start()
        return near

    def passed_on(source: socket.socket, target: socket.socket, most: int) -> None:
        with suppress(OSError):
            while data := source.recv(rng.randint(1, most)):
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    return connect


@LASTING
def test_the_processes_of_a_server_are_gone_when_it_is_killed(server: Server, reopen: Callable[[], Store]):
    """All of them, and not when they notice that the first is gone: here they cannot notice it."""
    reopen().read("demo")
    family = server.processes()
    for process in family:
        process.suspend()
    server.kill()
    assert not [process for process in family if alive(process)]
    server.start()
