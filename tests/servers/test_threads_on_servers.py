"""Threads that share one store on a server: each call has a connection to itself, and nothing is lost."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from minagent.lab.servers.local_servers import S3Server, Server
from minagent.log import Conflict
from minagent.log.stores.base import Store

THREADS = 6
BEYOND = 10**9  # a number that no record has: a read from there on tells the length


def test_threads_that_share_a_store_lose_nothing(server: Server, reopen: Callable[[], Store]):
    """They append to one session all at once, and to one of their own, in turn."""
    store, appends = reopen(), 3 if isinstance(server, S3Server) else 10

    def append_all(thread: int) -> None:
        for number in range(appends):
            store.append(f"of {thread}", [b"%d" % number], number)
            while not added(store, b"%d.%d" % (thread, number)):
                pass

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(append_all, range(THREADS)))
    shared = store.read("shared").lines
    for thread in range(THREADS):
        assert store.read(f"of {thread}").lines == [b"%d" % number for number in range(appends)]
        own = [line for line in shared if line.startswith(b"%d." % thread)]
        assert own == [b"%d.%d" % (thread, number) for number in range(appends)]
    assert len(shared) == THREADS * appends


def added(store: Store, record: bytes) -> bool:
    """Append a record to what all of them share, unless another one was quicker."""
    try:
        store.append("shared", [record], store.read("shared", BEYOND).length)
    except Conflict:
        return False
    return True


@pytest.mark.parametrize("server", ["postgresql"], indirect=True)
def test_a_thread_that_waits_for_a_session_keeps_no_other_one_waiting(server: Server, reopen: Callable[[], Store]):
    """Somebody else has locked a session's row: an append to it waits, an append to another session does not."""
    store = reopen()
    store.append("locked", [b"0"], 0)
    with psycopg.connect(server.url) as somebody, ThreadPoolExecutor(2) as pool:
        somebody.execute("SELECT * FROM minagent_sessions FOR UPDATE")
        waits = pool.submit(store.append, "locked", [b"1"], 1)
        pool.submit(store.append, "free", [b"0"], 0).result(timeout=120)
        assert not waits.done()
        somebody.rollback()
        waits.result(timeout=120)
    assert [store.read(session).lines for session in ("free", "locked")] == [[b"0"], [b"0", b"1"]]
