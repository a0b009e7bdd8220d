"""A request in a process of its own, which can be killed, and stopped for a while, before each operation.

The process is this module, run as a program. It writes one line before each operation and one at its end, and waits for
a line after each of the former:

    {"next": "read"}
    {"next": "append"}
    {"ending": "done"}
"""

import os
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import IO, cast

from minagent.lab.child_process import kill_and_wait, say, send, start, wait_for_parent
from minagent.lab.interleavings import Outcome, meeting
from minagent.lab.request import Ending, Place, Request, Rule
from minagent.log.stores.open_store import open_store
from minagent.plain_json import parse


class InProcess:
    """Runs a request in a process, at the place in this folder, with the store of this address."""

    def __init__(self, customer: str, rule: Rule, folder: Path, store: str) -> None:
        self.next: str | None = None
        self.ending: Ending | None = None
        self.process = start("minagent.lab.request_process", customer, rule, str(folder), store)
        self._listen()

    def _listen(self) -> None:
        """Take in what the process says next; raise RuntimeError if that is nothing."""
        try:
            line = cast(IO[bytes], self.process.stdout).readline()
        except BaseException:
            self.die()  # an interrupt: to which operation the next line belongs, nobody could tell
            raise
        if not line:
            self.die()
            raise RuntimeError("the request ended without a word; it says why on stderr")
        said = parse(line)
        self.next, self.ending = said.get("next"), said.get("ending")
        if self.ending is not None:
            self.process.communicate()

    def go(self) -> None:
        """Let it do what it is about to do, up to its next operation; raise RuntimeError if it says nothing more."""
        send(cast(IO[bytes], self.process.stdin), b"go")
        self._listen()

    def die(self) -> None:
        """Kill it before it does that."""
        self.next = None
        kill_and_wait(self.process)

    def stop(self) -> None:
        """Stop it, as a machine does that falls asleep, and wait until it has stopped."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)  # not waitid: Python has that on macOS from 3.13 on

    def wake(self) -> None:
        """Let it run again."""
        self.process.send_signal(signal.SIGCONT)


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


if __name__ == "__main__":
    customer, rule, folder, store = sys.argv[1:]
    place = Place(Path(folder), open_store(store))
    say({"ending": Request(customer, cast(Rule, rule), place, _about_to).run()})
