"""One PostgreSQL and one Redis for the whole run, and the stores on them."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from minagent.lab.servers.local_servers import PostgresServer, RedisServer, Server
from minagent.log import open_store
from minagent.log.stores.base import Store
from tests.conftest import OF_THE_RUN

KINDS: dict[str, Callable[[Path], Server]] = {"postgresql": PostgresServer, "redis": RedisServer}


@pytest.fixture(scope="session")
def running() -> Iterator[dict[str, Server]]:
    """The servers, started once for the run."""
    os.chmod(OF_THE_RUN, 0o711)  # noqa: S103 - started by root, they run as `nobody`, who has to come through
    servers = {kind: make(OF_THE_RUN / f"{kind}-{os.getpid()}") for kind, make in KINDS.items()}
    yield servers
    for server in servers.values():
        server.stop()


def forget_everything(server: Server) -> None:
    """Empty a server, as its stores cannot: they keep the length of what they have deleted."""
    if isinstance(server, PostgresServer):
        import psycopg  # noqa: PLC0415 - an extra

        with psycopg.connect(server.url) as database:
            for table in ("sessions", "records", "checkpoints"):
                database.execute(f"DROP TABLE IF EXISTS minagent_{table}".encode())
    else:
        import redis  # noqa: PLC0415

        redis.Redis.from_url(server.url).flushall()


@pytest.fixture(params=KINDS)
def server(request: pytest.FixtureRequest, running: dict[str, Server]) -> Server:
    """One of them after the other, empty."""
    found = running[request.param]
    if found.process.poll() is not None:  # a test that failed left it dead
        found.start()
    forget_everything(found)
    return found


@pytest.fixture
def reopen(server: Server) -> Iterator[Callable[[], Store]]:
    """Open a store on it once more, as another process would."""
    opened: list[Store] = []

    def again() -> Store:
        opened.append(open_store(server.url))
        return opened[-1]

    yield again
    for store in opened:
        store.close()  # type: ignore[attr-defined]
