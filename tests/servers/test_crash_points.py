"""Client or server killed at every crash point of the standard run: the transcript is that of the undisturbed run."""

from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from minagent import Message
from minagent.lab.matrix import variants
from minagent.lab.matrix.variants import STANDARD, VARIANTS, Life
from minagent.lab.processes.child_process import start
from minagent.lab.processes.crash_points import CrashPoints, die_at, instead
from minagent.lab.servers.local_servers import Server
from minagent.lab.world.example import SESSION
from minagent.lab.world.payments import open_payments
from minagent.log import AppendUnknown, SessionLog, open_store
from minagent.log.stores.object_store import ObjectStore
from minagent.log.stores.postgres import PostgresStore
from tests.examined import Examined
from tests.servers.conftest import LASTING, close, forget_everything

WITH_KEYS = VARIANTS["log, keys"]


def watched(url: str, points: CrashPoints) -> Any:
    """Return a store with a point before each thing that an append sends, and one when it has returned."""
    store: Any = open_store(url)

    def append(*arguments: Any) -> None:
        place, sends = way_out(store)
        real = getattr(place, sends)

        def send(*sent: Any, **options: Any) -> Any:
            points.about_to("send")
            return real(*sent, **options)

        with mock.patch.object(place, sends, send):
            store.append(*arguments)
        points.about_to("sent")

    return instead(store, append=append, close=partial(close, store))


def way_out(store: Any) -> tuple[Any, str]:
    """Return through what a store sends what changes something: an object, and the name of its method."""
    if isinstance(store, PostgresStore):
        return store._connection, "execute"
    if isinstance(store, ObjectStore):
        return store, "_put"
    connection = store._pool.get_connection()
    store._pool.release(connection)
    return connection, "send_command"


def live(folder: Path, url: str, points: CrashPoints) -> None:
    """Be a process that goes on from what the server holds, to the end."""
    variants.store_of = lambda *_: watched(url, points)
    payments = open_payments(folder / "payments.db")
    with closing(payments.database):
        Life(folder, WITH_KEYS, STANDARD, payments, points).live()


def live_until(folder: Path, url: str, number: int) -> None:
    """Be one that dies at its point of this number."""
    live(folder, url, CrashPoints(die_at(number)))


@pytest.fixture
def begin(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Path]:
    """Begin a session on an empty server, in a new folder."""

    def again() -> Path:
        forget_everything(server)
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        store = open_store(server.url)
        monkeypatch.setattr(variants, "store_of", lambda *_: instead(store, close=partial(close, store)))
        payments = open_payments(folder / "payments.db")
        with closing(payments.database):
            Life(folder, WITH_KEYS, STANDARD, payments, CrashPoints(lambda _: None)).begin()
        return folder

    return again


def what_is_left(server: Server, folder: Path) -> tuple[list[Message], list[str]]:
    """Return the transcript, and the charges."""
    store: Any = open_store(server.url)
    payments = open_payments(folder / "payments.db")
    with closing(payments.database):
        messages = SessionLog.resume(store, SESSION, writer="reader").state.session.messages
        close(store)
        return messages, payments.charges()


def test_a_client_killed_at_each_point(server: Server, begin: Callable[[], Path], examined: Examined):
    """Another process goes on: nobody is charged twice, and nothing is missing."""
    folder = begin()
    assert start(live_until, folder, server.url, 0).finished()
    undisturbed = what_is_left(server, folder)
    assert len(undisturbed[1]) == len(set(undisturbed[1])) == STANDARD.steps * STANDARD.tools
    number, finished = 0, False
    while not finished:
        number, folder = number + 1, begin()
        finished = start(live_until, folder, server.url, number).finished()
        assert finished or start(live_until, folder, server.url, 0).finished()
        assert what_is_left(server, folder) == undisturbed
    examined("crash points of a client of a server", number - 1)
    assert number > 30


@LASTING
def test_a_server_killed_at_each_point(server: Server, begin: Callable[[], Path], examined: Examined):
    """It comes back, and whoever was told of it resumes."""
    folder, number, came_there = begin(), 0, True
    live(folder, server.url, CrashPoints(lambda _: None))
    undisturbed = what_is_left(server, folder)
    while came_there:
        number, folder, came_there = number + 1, begin(), False

        def kill_it_there(point: int, number: int = number) -> None:
            nonlocal came_there
            if point == number:
                came_there = True
                server.kill()
                server.start()

        with suppress(OSError, AppendUnknown):
            live(folder, server.url, CrashPoints(kill_it_there))
        live(folder, server.url, CrashPoints(lambda _: None))
        assert what_is_left(server, folder) == undisturbed
    examined("crash points at which a server was killed", number - 1)
    assert number > 30
