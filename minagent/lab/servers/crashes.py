"""The crash matrix's agent with its log on a server: client or server is killed at a point of the run (7.3.6, 7.3.9).

    calm = undisturbed(server.url)               # the transcript, and the charges
    client_dies(server.url, 7) == calm           # a process is killed at its seventh point; another one goes on
    server_dies(server, 7) == calm               # there the server is killed, and started again; so is the run

The points are those of the matrix, and besides one before each thing that an append sends, and one when it has
returned. None comes back if a run has no such point. Each run deletes the lab's session on the server, and begins it.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import get_ident
from typing import Any, NamedTuple

from minagent import Message
from minagent.lab.matrix.variants import STANDARD, VARIANTS, Life
from minagent.lab.processes.child_process import start
from minagent.lab.processes.crash_points import CrashPoints, die_at, first, instead
from minagent.lab.servers.local_servers import Server
from minagent.lab.world.example import SESSION
from minagent.lab.world.payments import open_payments
from minagent.log import AppendUnknown, SessionLog, open_store
from minagent.log.stores.base import Store
from minagent.log.stores.object_store import ObjectStore
from minagent.log.stores.postgres import PostgresStore

WITH_KEYS = VARIANTS["log, keys"]


class End(NamedTuple):
    """What a run has left."""

    transcript: list[Message]
    charges: list[str]


def close(store: Store) -> None:
    """Close a store that can be closed: one of objects keeps no connection."""
    getattr(store, "close", lambda: None)()


@contextmanager
def store_at(url: str) -> Iterator[Store]:
    """Open the store of an address for as long as it is needed."""
    store = open_store(url)
    try:
        yield store
    finally:
        close(store)


def watched(store: Store, points: CrashPoints) -> Any:
    """Return the store with a point before each thing that an append sends, and one when it has returned."""

    def append(*arguments: Any) -> None:
        place, sends = _way_out(store)
        real = getattr(place, sends)
        setattr(place, sends, first(lambda *_: points.about_to("send"), real))
        try:
            store.append(*arguments)
        finally:
            setattr(place, sends, real)
        points.about_to("sent")

    return instead(store, append=append, close=partial(close, store))


def _way_out(store: Any) -> tuple[Any, str]:
    """Return through what a store sends what changes something: an object, and the name of its method."""
    if isinstance(store, PostgresStore):
        return store._connections[get_ident()], "execute"
    if isinstance(store, ObjectStore):
        return store, "_put"
    connection = store._pool.get_connection()
    store._pool.release(connection)
    return connection, "send_command"


class _LifeOnServer(Life):
    def __init__(self, folder: Path, url: str, come_to: Callable[[int], object]) -> None:
        payments = open_payments(folder / "payments.db")
        super().__init__(folder, WITH_KEYS, STANDARD, payments, CrashPoints(come_to))
        self.url = url

    def store(self) -> Any:
        return watched(open_store(self.url), self.points)

    @classmethod
    def begin_one(cls, folder: Path, url: str) -> None:
        """Put a new session on the server."""
        with store_at(url) as store:
            store.delete(SESSION)
        life = cls(folder, url, die_at(0))
        with closing(life.payments.database):
            life.begin()


def live(folder: Path, url: str, come_to: Callable[[int], object]) -> None:
    """Go on from what the server holds, to the end."""
    life = _LifeOnServer(folder, url, come_to)
    with closing(life.payments.database):
        life.live()


def live_until(folder: Path, url: str, number: int) -> None:
    """Be a process that dies at its point of this number; at none, if that is 0."""
    live(folder, url, die_at(number))


def _run(url: str, lives: Callable[[Path], bool]) -> End | None:
    """Begin a session, let `lives` bring it to its end, and return what is left; None if that says so by False."""
    with tempfile.TemporaryDirectory(prefix="minagent-") as name:
        folder = Path(name)
        _LifeOnServer.begin_one(folder, url)
        if not lives(folder):
            return None
        payments = open_payments(folder / "payments.db")
        with closing(payments.database), store_at(url) as store:
            transcript = SessionLog.resume(store, SESSION, writer="reader").state.session.messages
            return End(transcript, payments.charges())


def undisturbed(url: str) -> End | None:
    """Return what a run leaves to which nothing happens."""
    return _run(url, lambda folder: start(live_until, folder, url, 0).finished())


def client_dies(url: str, number: int) -> End | None:
    """Kill a process at its point of this number, and let another one go on."""

    def lives(folder: Path) -> bool:
        died = not start(live_until, folder, url, number).finished()
        return died and start(live_until, folder, url, 0).finished()

    return _run(url, lives)


def server_dies(server: Server, number: int) -> End | None:
    """Kill the server when a run comes to this point, and start it again; let whoever was told of it resume."""
    came_there = False

    def kill_it_there(point: int) -> None:
        nonlocal came_there
        if point == number:
            came_there = True
            server.kill()
            server.start()

    def lives(folder: Path) -> bool:
        with suppress(OSError, AppendUnknown):
            live(folder, server.url, kill_it_there)
        live(folder, server.url, die_at(0))
        return came_there

    return _run(server.url, lives)
