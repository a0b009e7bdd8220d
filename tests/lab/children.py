"""What the child processes of `test_child_process` do."""

import sys
from typing import NoReturn

from minagent.lab.processes.child_process import say, wait_for_parent


def repeat(*words: str) -> None:
    """Say each word when the parent says something."""
    for word in words:
        wait_for_parent()
        say(word)


def talk() -> None:
    """Say more than a pipe holds on standard error, and then one word."""
    sys.stderr.write("x" * 1_000_000)
    say("done")


def fail() -> NoReturn:
    """Raise."""
    raise ValueError("on purpose")
