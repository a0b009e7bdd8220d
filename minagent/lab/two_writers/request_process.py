"""Requests in processes of their own, each to be killed or stopped before each operation; what two of them did, drawn.

The process writes one line before each operation and one at its end, and waits for a line after each of the former:

    {"next": "read"}
    {"next": "append"}
    {"ending": "done"}
"""

from collections.abc import Iterable
from pathlib import Path
from typing import cast

from minagent.lab.picture.run_events import Effect, Run
from minagent.lab.processes.child_process import say, start, wait_for_parent
from minagent.lab.processes.phases import Event, What
from minagent.lab.processes.phases import Place as Column
from minagent.lab.two_writers.interleavings import CUSTOMERS, Meeting, MeetingOutcome, meeting
from minagent.lab.two_writers.request import LEASE_SECONDS, Ending, Place, Request, Rule
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


def in_words(met: MeetingOutcome) -> str:
    """Return what went wrong, in words."""
    known = "" if met.repeated_with_keys else ", though by its key it is known as one"
    found = [f"{name} was told done, and nothing of its turn is stored." for name in met.lost]
    found += [f"{name} was charged, and nothing stored says so." for name in met.unrecorded]
    found += [f"A charge was made twice{known}."] * bool(met.repeated)
    return " ".join(found) or "Nothing is lost, and nothing was done twice."


class Notes:
    """Makes the moves of a meeting, and notes what came of each: a column for each move."""

    def __init__(self, met: Meeting) -> None:
        self.met, self._last = met, ("", "", True)
        self.columns, self.places = ["begin"], [Column(0, "save")]
        self.events: list[Event | Effect] = [Event(0, "did", self.places[0])]

    def make(self, move: str) -> None:
        """Make a move; or "A sleeps", "A wakes": its process is stopped, and goes on; or "A ends": all its moves."""
        name, _, what = move.partition(" ")
        if what == "sleeps":
            cast("InProcess", self.met.requests[name]).stop()
            self._note(name, "asleep", self.places[-1])
        elif what == "wakes":
            cast("InProcess", self.met.requests[name]).wake()
        elif what == "ends":
            while self.met.requests[name].next is not None:
                self.make(name)
        else:
            operation, before = self.met.operation(move), self.met.place.contents()
            self.met.make(move)
            landed = self.met.place.contents() != before or operation in ("read", "wait")
            if (move, operation, landed) != self._last:  # several appends with nothing between them are one
                self._moved(name, "killed" if what else "did" if landed else "refused", operation)
            self._last = move, operation, landed

    def _moved(self, name: str, what: What, operation: str) -> None:
        at = Column(len(self.places), "save" if operation in ("append", "save") else "model")
        self.columns.append(operation or f"{LEASE_SECONDS:g} s pass")
        self.places.append(at)
        if operation:
            self._note(name, "died" if what == "killed" else what, at)
        if (operation, what) == ("charge", "did"):
            *earlier, customer = [customer for customer, _ in self.met.place.charges()]
            process, label = self.events[-1].process, f"charged {customer}"
            self.events.append(Effect(process, at, label, True, 0, earlier.count(customer)))

    def _note(self, name: str, what: What, at: Column) -> None:
        process = CUSTOMERS.index(name) + 1
        if process not in {event.process for event in self.events}:
            self.events.append(Event(process, "began", at))
        self.events.append(Event(process, what, at))


def played(rule: Rule, moves: Iterable[str], folder: Path, store: str) -> tuple[MeetingOutcome, Run]:
    """Make these moves with two processes, in a new folder, at a store of this address. Who has not ended is killed."""
    folder.mkdir(parents=True)
    place = Place(folder, open_store(store))
    with meeting(rule, place, lambda name, rule, _: InProcess(name, rule, folder, store)) as two:
        notes = Notes(two)
        for move in moves:
            notes.make(move)
        met = two.outcome()
    told = in_words(met), " ".join(f"{name} was told: {ending}." for name, ending in met.endings.items())
    in_vain = [CUSTOMERS.index(name) + 1 for name in {*met.lost, *met.unrecorded}]
    return met, Run(notes.columns, notes.places, notes.events, newest=True, rows=CUSTOMERS, in_vain=in_vain, told=told)


def _about_to(operation: str) -> None:
    say({"next": operation})
    wait_for_parent()


def _be(customer: str, rule: Rule, folder: Path, store: str) -> None:
    """Be the process."""
    say({"ending": Request(customer, rule, Place(folder, open_store(store)), _about_to).run()})
