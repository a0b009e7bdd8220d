"""What an acknowledged append is worth, setting by setting: how many are gone when the server dies, or the power (7.3).

A killed server is really killed. The power stays on: what it would take is counted from the system calls of the server,
as strace sees them. What is acknowledged, and not yet forced to the disk in that moment, could be gone.
"""

import re
import time
from collections.abc import Iterable

from minagent.lab.servers.crashes import store_at
from minagent.lab.servers.local_servers import RedisServer, Server
from minagent.lab.world.example import SESSION

TRACED = "write,fsync,fdatasync"
KILLS = 3


class TracedRedis(RedisServer):
    """A Redis whose system calls are written down, in `trace`."""

    def _command(self) -> list[str]:
        self.trace = self.folder / "trace"
        tracer = ["strace", "-D", "-f", "-s", "8", "-e", f"trace={TRACED}", "-o", str(self.trace)]
        return [*tracer, *super()._command()]  # -D: Redis stays the process that is started here, and strace a helper

    def calls(self) -> list[str]:
        """Return its system calls, once it has ended and the last is written down."""
        while "+++ exited" not in (calls := self.trace.read_text(errors="replace").splitlines())[-1]:
            time.sleep(0.01)
        return calls


def append(url: str, count: int) -> int:
    """Append this many records, one by one, and return how long the log is then: all of it is acknowledged."""
    with store_at(url) as store:
        begin = store.read(SESSION).length
        for number in range(begin, begin + count):
            store.append(SESSION, [b"record %d" % number], number)
    return begin + count


def gone_after_a_kill(server: Server, url: str, count: int) -> int:
    """Return how many of so many acknowledged appends are gone, when the server is killed and started again.

    It is the most of three kills: a server that writes every 200 ms may just have written when one comes.
    """
    gone = []
    for _ in range(KILLS):
        acknowledged = append(url, count)
        server.kill()
        server.start()
        with store_at(url) as store:
            gone.append(acknowledged - store.read(SESSION).length)
    return max(gone)


def gone_after_a_power_cut(server: TracedRedis, count: int) -> int:
    """Return how many of so many acknowledged appends a power cut could take, in its worst moment."""
    append(server.url, count)
    server.stop()
    return most_unforced(server.calls())


def most_unforced(calls: Iterable[str]) -> int:
    """Return how many acknowledged appends were not forced to the disk, at most.

    Of the calls these count: `write(9, "*` adds to the append-only file, `write(8, ":-1` tells a client that its append
    is done. What was written before an fdatasync begins is on the disk when it ends.
    """
    written = told = forced = worst = 0
    begun: dict[str, int] = {}  # by thread: what was written when its fdatasync began
    for call in calls:
        thread, _, what = call.partition(" ")
        what = what.lstrip()
        if re.match(r'write\(\d+, "\*', what):
            written += 1
        elif re.match(r'write\(\d+, ":-1', what):
            told += 1
            worst = max(worst, told - forced)
        elif re.match(r"(fdatasync|fsync)\(", what):
            begun[thread] = written
        if re.search(r"(fdatasync|fsync).*= 0$", what):
            forced = max(forced, begun.pop(thread))
    return worst
