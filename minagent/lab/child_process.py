"""A process of ours, and the pipes to it: a module that is run as a program, and one line at a time, each way.

The parent's side is `start`, `send` and `kill_and_wait`, the child's `say` and `wait_for_parent`.
"""

import contextlib
import subprocess
import sys
from typing import IO, Any

from minagent.plain_json import canonical


def start(module: str, *arguments: str, complaints: IO[bytes] | None = None) -> subprocess.Popen[bytes]:
    """Start a module, with pipes to its standard input and from its standard output; `complaints` is its stderr.

    It has a session of its own: Jupyter interrupts a cell by a signal to the kernel's whole group of processes.
    """
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=complaints,
        start_new_session=True,
    )


def send(to_child: IO[bytes], line: bytes) -> None:
    """Send a line. If the child is dead, nothing is sent: reading from it will tell."""
    with contextlib.suppress(BrokenPipeError):
        to_child.write(line + b"\n")
        to_child.flush()


def kill_and_wait(process: subprocess.Popen[bytes]) -> None:
    """Send SIGKILL, and wait until the process is gone from the process table."""
    process.kill()
    process.communicate()


def say(value: Any) -> None:
    """Tell the parent a value, as a line of JSON."""
    sys.stdout.buffer.write(canonical(value) + b"\n")
    sys.stdout.buffer.flush()


def wait_for_parent() -> str:
    """Return the parent's next line, without its line break. If the parent is gone, end here."""
    line = sys.stdin.buffer.readline()
    if not line:
        sys.exit("the parent is gone")
    return line.decode().strip()
