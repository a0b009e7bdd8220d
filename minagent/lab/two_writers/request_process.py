"""A request in a process of its own, which can be killed, and stopped for a while, before each operation.

The process writes one line before each operation and one at its end, and waits for a line after each of the former:

    {"next": "read"}
    {"next": "append"}
    {"ending": "done"}
"""

from contextlib import AbstractContextManager
from pathlib import Path

from minagent.lab.processes.child_process import say, start, wait_for_parent
from minagent.lab.two_writers.interleavings import Meeting, meeting
from minagent.lab.two_writers.request import Ending, Place, Request, Rule
from minagent.log import open_store


class InProcess:
    """Runs a request in a process, at the place in this folder, with the store of this address."""

    def __init__(self, customer: str, rule: Rule, folder: Path, store: str) -> None:
        self.next: str | None = None
        self.ending: Ending | None = None
        self.process = start(_be, customer, rule, folder, store)
        self.stop, self.wake = self.process.stop, self.process.wake
        self._listen()

    def _listen(self) -> None:
        self.next = None  # where it stands is not known until it says so
        said = self.process.hear()
        self.next, self.ending = said.get("next"), said.get("ending")
        if self.ending is not None:
            self.process.wait()

    def go(self) -> None:
        """Let it do what it is about to do, up to its next operation; raise ChildDied if it comes to none."""
        self.process.tell("go")
        self._listen()

    def die(self) -> None:
        """Kill it before it does that."""
        self.next = None
        self.process.kill()


def two_processes(rule: Rule, folder: Path, store: str) -> AbstractContextManager[Meeting]:
    """Begin a meeting of two processes, in this folder, at a store of this address. Who has not ended is killed."""
    place = Place(folder, open_store(store))
    return meeting(rule, place, lambda name, rule, _: InProcess(name, rule, folder, store))


def _about_to(operation: str) -> None:
    say({"next": operation})
    wait_for_parent()


def _be(customer: str, rule: Rule, folder: Path, store: str) -> None:
    """Be the process."""
    say({"ending": Request(customer, rule, Place(folder, open_store(store)), _about_to).run()})
