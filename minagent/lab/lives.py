"""Real processes that live a life, and may be killed before its end.

A *life* is an object with a method `live`. Each is sent to a small helper process, which forks a child to live it.
"""

import contextlib
import os
import pickle
import sys
from typing import Protocol

from minagent.lab.helper_process import HelperProcess, fork_child


class Living(Protocol):
    """What a process is to do."""

    def live(self) -> None:
        """Come to the end, or be killed by SIGKILL."""


class Lives(HelperProcess):
    """The helper, which forks a process for each life. Use it in a `with` statement."""

    module = "minagent.lab.lives"

    def finishes(self, life: Living) -> bool:
        """Run one process; return whether it came to the end, or was killed.

        Raises:
            RuntimeError: it ended otherwise; it says why on stderr.
        """
        code = self.ask(pickle.dumps(life))
        if code not in (b"0", b"-9"):
            self.kill()
            raise RuntimeError(f"a process of this trial ended with code {code.decode()}; it says why on stderr")
        return code == b"0"


def _serve() -> None:
    """The helper's side: for each life, fork a process, wait for its end, and say how it ended."""
    with contextlib.suppress(EOFError):
        while True:
            life = pickle.load(sys.stdin.buffer)  # noqa: S301 - it comes from the process that has started this one
            child = fork_child()
            if child == 0:
                life.live()
                os._exit(0)
            _, status = os.waitpid(child, 0)
            print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    _serve()
