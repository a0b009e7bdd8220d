"""Who may write in a session: one process at a time, for a while. A lease is a record of the session's log.

    lease = Lease(log, seconds=30)
    while not lease.acquire():      # another process is at work, or died a moment ago
        time.sleep(1)
    run_with_log(agent, log, model)
    lease.release()

Each record of the holder shows that it lives, since nobody else may append. Whoever finds the session taken measures,
with its own clock, for how long the log does not grow; after that many seconds it takes over. The clocks of two
machines are never compared. A holder that does one thing for longer, such as a slow tool, calls `renew` meanwhile.

A holder may be late and not dead: stopped, swapped out, its machine asleep. When it wakes, it knows nothing of that.
But its next append expects a length that the log no longer has, so nothing of it lands, and it gets LeaseLost. (The
length, which never goes down, plays the part of a fencing token.)

The fence is around the log, and not around the tools. If the holder falls asleep between an intent and its tool, it
has the effect when it wakes, whoever has the lease by then. Against that a tool needs a key.

Source: chapter 7.3.9; Gray and Cheriton, "Leases" (1989).
"""

import contextlib
import time
from collections.abc import Callable

from minagent.log.errors import Conflict, LeaseLost
from minagent.log.records import check_lease_seconds
from minagent.log.session_log import SessionLog


class Lease:
    """The right of one writer to write in one session. `clock` returns seconds, of which only differences count."""

    def __init__(self, log: SessionLog, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        check_lease_seconds(seconds)
        self.log = log
        self.seconds = seconds
        self._clock = clock
        self._seen = (0, 0.0)  # how long the log was when it was last seen to have grown, and when that was

    def acquire(self) -> bool:
        """Take the lease, and return whether it is ours now. It is not while another's has not run out, as we see it.

        What the log holds may be other than before: go on from its `state`.

        Raises:
            OSError, AppendUnknown: as `SessionLog.record`.
            LogMissing, LogDamaged: as `SessionLog.resume`.
        """
        self.log.refresh()
        with contextlib.suppress(Conflict, LeaseLost):  # another was faster
            if not self._is_held_by_another():
                self._write()
                return True
        return False

    def _is_held_by_another(self) -> bool:
        lease, now = self.log.lease, self._clock()
        if lease is None or lease["holder"] == self.log.writer:
            return False
        if self._seen[0] != self.log.length or now < self._seen[1]:
            self._seen = (self.log.length, now)
        return bool(now - self._seen[1] < lease["seconds"])

    def renew(self) -> None:
        """Show that we live; raise LeaseLost if another has taken over."""
        self.log.check_lease()
        self._write()

    def release(self) -> None:
        """Give the lease back; raise LeaseLost if another has taken over."""
        self.log.check_lease()
        self.log.append(("lease", {"lease": None}))

    def _write(self) -> None:
        self.log.append(("lease", {"lease": {"holder": self.log.writer, "seconds": self.seconds}}))
