"""A request in a process of its own, which can be killed, and stopped for a while, before each operation.

The process writes one line before each operation and one at its end, and waits for a line after each of the former:

    {"next": "read"}
    {"next": "append"}
    {"ending": "done"}
"""

import tempfile
import weakref
from collections.abc import Iterable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from minagent.lab.processes.child_process import say, start, wait_for_parent
from minagent.lab.two_writers.interleavings import TIME_PASSES, Meeting, MeetingOutcome, meeting
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


def _meeting(rule: Rule, folder: Path, store: str) -> AbstractContextManager[Meeting]:
    place = Place(folder, open_store(store))
    return meeting(rule, place, lambda name, rule, _: InProcess(name, rule, folder, store))


def on_processes(rule: Rule, moves: Iterable[str], folder: Path, store: str) -> MeetingOutcome:
    """Make these moves with two processes, in a new folder, at a store of this address. Who has not ended is killed."""
    folder.mkdir(parents=True)
    with _meeting(rule, folder, store) as met:
        for move in moves:
            met.make(move)
        return met.outcome()


class TwoWriters:
    """A meeting of two processes that can be started over, under the same rule or another."""

    def __init__(self, rule: Rule) -> None:
        self._open = ExitStack()
        self.close = weakref.finalize(self, self._open.close)
        """Kill the processes and remove their folder. So does the end of Python."""
        self.begin(rule)

    def begin(self, rule: Rule) -> str:
        """Start over; raise RuntimeError after `close`."""
        if not self.close.alive:
            raise RuntimeError("this view is closed: run its cell again")
        self._open.close()
        folder = Path(self._open.enter_context(tempfile.TemporaryDirectory()))
        self.met = self._open.enter_context(_meeting(rule, folder, f"file:{folder}"))
        return f"Two requests begin. How they write: {rule}."

    def make(self, move: str) -> str:
        """Make a move, and return what happened."""
        if move not in self.met.possible(deaths=True, delays=True):
            return f"Not now: {self._why_not(move)}"
        self.met.make(move)
        if all(request.next is None for request in self.met.requests.values()):
            return f"Both have ended. {in_words(self.met.outcome())}"
        if move == TIME_PASSES:
            return "As much time has passed as a lease lasts."
        _, what = self.met.moves[-1]
        return f"{move} before it could {what}." if move.endswith("dies") else f"{move}: {what}. {self.says(move)}"

    def _why_not(self, move: str) -> str:
        if move == TIME_PASSES:
            return "time changes something once, and only while somebody waits for a lease."
        name = move.partition(" ")[0]
        ended = self.met.requests[name].next is None
        return f"{name} has ended." if ended else "one of the two has died already, and one death is enough."

    def says(self, name: str) -> str:
        """Return what a request is about to do, or how it ended."""
        request = self.met.requests[name]
        if request.next is not None:
            return f"{name} is about to {request.next}."
        return f"{name} has died." if request.ending is None else f"{name} was told: {request.ending}."


def in_words(met: MeetingOutcome) -> str:
    """Return what went wrong, in words."""
    found = [
        *(f"{name} was told done, and nothing of its turn is stored." for name in met.lost),
        *(f"{name} was charged, and nothing stored says so." for name in met.unrecorded),
    ]
    if met.repeated:
        known = "" if met.repeated_with_keys else ", though by its key it is known as one"
        found.append(f"A charge was made twice{known}.")
    return " ".join(found) or "Nothing is lost, and nothing was done twice."


def _about_to(operation: str) -> None:
    say({"next": operation})
    wait_for_parent()


def _be(customer: str, rule: Rule, folder: Path, store: str) -> None:
    """Be the process."""
    say({"ending": Request(customer, rule, Place(folder, open_store(store)), _about_to).run()})
