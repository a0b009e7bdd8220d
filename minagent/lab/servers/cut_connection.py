"""A connection that is cut before an answer: what was asked for is done, or not, and nobody knows (7.3.9).

    outcomes(server)    # [("not added", 0), ("unknown", 1), ("done", 1)], or the like

We stand between client and server, and let so many answers through: none, then one, and so on, until all come.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from minagent.lab.servers.crashes import store_at
from minagent.lab.servers.local_servers import S3Server, Server
from minagent.lab.world.example import SESSION
from minagent.log import AppendUnknown, Conflict
from minagent.log.stores.base import Store

ANSWERS = 100  # more than an append takes


@contextmanager
def cut_off(server: Server, folder: Path) -> Iterator[tuple[str, list[int]]]:
    """A way to the server that is cut when as many answers as `left` says have come back. Yields address and `left`."""
    left = [10**9]

    def passed_on(source: socket.socket, target: socket.socket, answers: bool, asked: threading.Event) -> None:
        # A long answer comes in pieces, and not in the same ones each time: the first one after a question counts.
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if not answers:
                    asked.set()
                elif asked.is_set():
                    asked.clear()
                    left[0] -= 1
                if left[0] < 0:
                    break
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def serve() -> None:
        with suppress(OSError):
            while True:
                caller, _ = listening.accept()
                there, asked = connected(server), threading.Event()
                for ends in [(caller, there, False), (there, caller, True)]:
                    threading.Thread(target=passed_on, args=(*ends, asked), daemon=True).start()

    listening, url = listener(server, folder)
    threading.Thread(target=serve, daemon=True).start()
    try:
        yield url, left
    finally:
        listening.close()


def connected(server: Server) -> socket.socket:
    """Return a connection to it."""
    if isinstance(server, S3Server):
        host, port = server.host.split(":")
        return socket.create_connection((host, int(port)))
    there = socket.socket(socket.AF_UNIX)
    there.connect(str(server.socket))
    return there


def listener(server: Server, folder: Path) -> tuple[socket.socket, str]:
    """Return a socket that listens as the server does, and the address of a store there."""
    if isinstance(server, S3Server):
        listening = socket.create_server(("127.0.0.1", 0))
        return listening, server.url.replace(server.host, f"127.0.0.1:{listening.getsockname()[1]}")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(folder / server.socket.name))
    listening.listen()
    return listening, server.url.replace(str(server.folder), str(folder))


def outcomes(server: Server) -> list[tuple[str, int]]:
    """Append a record, again and again, with one answer more each time; return what was told, and how many came."""
    found = list[tuple[str, int]]()
    with (
        TemporaryDirectory() as name,
        cut_off(server, Path(name)) as (url, left),
        store_at(server.url) as direct,
        store_at(url) as store,
    ):
        for answers in range(ANSWERS):
            before = direct.read(SESSION).length
            left[0] = answers
            told = _appended(store, before)
            left[0] = 10**9
            found.append((told, _settled(direct, before) - before))
            if told == "done":
                break
    return found


def _appended(store: Store, length: int) -> str:
    """Append a record, and return what was told."""
    try:
        store.append(SESSION, [b"record %d" % length], length)
    except AppendUnknown:
        return "unknown"
    except OSError:
        return "not added"
    return "done"


def _settled(store: Store, length: int) -> int:
    """Return the length once no append is under way: an empty one waits for its turn."""
    with suppress(Conflict):
        store.append(SESSION, [], length)
    return store.read(SESSION).length
