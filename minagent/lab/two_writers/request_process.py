"""A request in a process of its own, which can be killed, and stopped for a while, before each operation.

The process is `main` of this module. It writes one line before each operation and one at its end, and waits for
a line after each of the former:

    {"next": "read"}
    {"next": "append"}
    {"ending": "done"}
"""

from collections.abc import Iterable
from pathlib import Path
from typing import cast

from minagent.lab.processes.child_process import say, start, wait_for_parent
from minagent.lab.two_writers.interleavings import Outcome, meeting
from minagent.lab.two_writers.request import Ending, Place, Request, Rule
from minagent.log.stores.open_store import open_store
from minagent.plain_json import parse


class InProcess:
    """Runs a request in a process, at the place in this folder, with the store of this address."""

    def __init__(self, customer: str, rule: Rule, folder: Path, store: str) -> None:
        self.next: str | None = None
        self.ending: Ending | None = None
        self.process = start("minagent.lab.two_writers.request_process", customer, rule, str(folder), store)
        self._listen()

    def _listen(self) -> None:
        """Take in what the process says next; raise RuntimeError if that is nothing."""
        self.next = None  # where it stands is not known until it says so
        if not (line := self.process.hear()):
            self.die()
            raise RuntimeError("the request ended without a word; it says why on stderr")
        said = parse(line)
        self.next, self.ending = said.get("next"), said.get("ending")
        if self.ending is not None:
            self.process.wait()

    def go(self) -> None:
        """Let it do what it is about to do, up to its next operation; raise RuntimeError if it says nothing more."""
        self.process.tell(b"go")
        self._listen()

    def die(self) -> None:
        """Kill it before it does that."""
        self.next = None
        self.process.kill()

    def stop(self) -> None:
        """Stop it, as a machine does that falls asleep, and wait until it has stopped."""
        self.process.stop()

    def wake(self) -> None:
        """Let it run again."""
        self.process.wake()


def on_processes(rule: Rule, moves: Iterable[str], folder: Path, store: str) -> Outcome:
    """Make these moves with two processes, in a new folder, at a store of this address. Who has not ended is killed."""
    folder.mkdir(parents=True)
    place = Place(folder, open_store(store))
    with meeting(rule, place, lambda name, rule, _: InProcess(name, rule, folder, store)) as met:
        for move in moves:
            met.make(move)
        return met.outcome()


def _about_to(operation: str) -> None:
    say({"next": operation})
    wait_for_parent()


def main(customer: str, rule: str, folder: str, store: str) -> None:
    """Be the process."""
    place = Place(Path(folder), open_store(store))
    say({"ending": Request(customer, cast(Rule, rule), place, _about_to).run()})
