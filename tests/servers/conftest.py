"""One PostgreSQL, one Redis and one S3 for the whole run, and the stores on them."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from minagent.lab.processes.child_process import start
from minagent.lab.servers.crashes import close
from minagent.lab.servers.local_servers import PostgresServer, RedisServer, S3Server, Server
from minagent.log import open_store
from minagent.log.stores.base import Store
from tests.conftest import OF_THE_RUN

KINDS: dict[str, Callable[[Path], Server]] = {"postgresql": PostgresServer, "redis": RedisServer, "s3": S3Server}
LASTING = pytest.mark.parametrize("server", ["postgresql", "redis"], indirect=True)
"""For a test that kills a server: on those whose disk holds what they have acknowledged. (The S3 is in memory.)"""


def load_drivers() -> None:
    """Be a process that needs this module, so that the launcher has the drivers, and not each process loads them."""


@pytest.fixture(scope="session")
def running() -> Iterator[dict[str, Server]]:
    """The servers, started once for the run."""
    assert start(load_drivers).finished()
    servers = {kind: make(OF_THE_RUN / f"{kind}-{os.getpid()}") for kind, make in KINDS.items()}
    yield servers
    for server in servers.values():
        server.stop()


@pytest.fixture(params=KINDS)
def server(request: pytest.FixtureRequest, running: dict[str, Server]) -> Server:
    """One of them after the other, empty."""
    found = running[request.param]
    if found.process.poll() is not None:  # a test that failed left it dead
        found.start()
    found.forget_everything()
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
        close(store)
