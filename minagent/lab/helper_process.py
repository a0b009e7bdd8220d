"""A helper process with one thread, which forks a child for each order.

A fork of a notebook's kernel, which has many threads, may inherit a lock that nobody is left to open. A fork of the
helper does not, and costs milliseconds. The helper is a module run as a program: it reads one order after the other
from its standard input, and answers each with one line.
"""

import contextlib
import os
import signal
import sys
from typing import IO, ClassVar, Self, cast

from minagent.lab.child_process import start


def fork_child() -> int:
    """Fork, in the helper; return the child's process id, or 0 in the child.

    What the child prints goes to stderr: it must not get among the answers, nor keep their pipe open, and the parent
    waiting, if the helper dies before it.
    """
    child = os.fork()
    if child == 0:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return child


class HelperProcess:
    """The parent's hold on a helper. Use it in a `with` statement."""

    module: ClassVar[str]
    """What is run as the helper."""
    hint: ClassVar[str] = ""
    """What may be wrong with an order on which the helper died."""

    def __enter__(self) -> Self:
        self._helper = start(self.module)
        return self

    def __exit__(self, *_: object) -> None:
        self._helper.communicate()

    def ask(self, order: bytes) -> bytes:
        """Send an order and return the answer, without its line break.

        Raises:
            RuntimeError: the helper is gone; its complaint, if it had one, is on stderr.
        """
        if self._helper.poll() is not None:
            raise RuntimeError(f"the helper is gone, after an error or an interrupt: begin new {type(self).__name__}")
        to_helper, from_helper = cast(IO[bytes], self._helper.stdin), cast(IO[bytes], self._helper.stdout)
        try:
            to_helper.write(order)
            to_helper.flush()
            answer = from_helper.readline()
        except BaseException:
            self.kill()  # an interrupt: to which order the next answer belongs, nobody could tell
            raise
        if not answer:
            self.kill()
            raise RuntimeError(f"the helper ended with code unknown; it says why on stderr. {self.hint}".strip())
        return answer.rstrip(b"\n")

    def kill(self) -> None:
        """Kill the helper, and the child that it waits for: that must not go on writing to a folder that goes."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._helper.pid, signal.SIGKILL)
        self._helper.communicate()
