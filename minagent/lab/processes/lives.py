"""Real processes that live a life, and may be killed before its end.

A *life* is an object with a method `live`. Each is sent to a child of its own.
"""

import base64
import os
import pickle
import signal
from typing import Protocol

from minagent.lab.processes.child_process import start


class Living(Protocol):
    """What a process is to do."""

    def live(self) -> None:
        """Finish the work, or be killed by SIGKILL."""


def finishes(life: Living) -> bool:
    """Run one process; return whether it finished its work, or was killed.

    Raises:
        RuntimeError: it ended otherwise; it says why on stderr. (A class that a notebook defines cannot be sent to it.)
    """
    pickled = base64.b64encode(pickle.dumps(life)).decode()
    child = start("minagent.lab.processes.lives", pickled, imports=[type(life).__module__])
    try:
        code = child.wait()
    except BaseException:
        child.kill()  # an interrupt: it must not go on writing to a folder that goes
        raise
    if code not in (0, -signal.SIGKILL):
        raise RuntimeError(
            f"a process of this trial ended with code {code}; it says why on stderr. "
            "(A class that a notebook defines cannot be sent to it.)"
        )
    return code == 0


def main(life: str) -> None:
    """Be the process."""
    os.dup2(2, 1)  # nobody reads what it prints
    pickle.loads(base64.b64decode(life)).live()  # noqa: S301 - it comes from the process that has started this one
