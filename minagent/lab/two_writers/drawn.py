"""What two processes did, move by move, as the store and the ledger have it, and as it can be drawn."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

from minagent.lab.picture.run_events import Effect, Event, Place, Run, What
from minagent.lab.two_writers.interleavings import CUSTOMERS, Meeting, MeetingOutcome
from minagent.lab.two_writers.request import LEASE_SECONDS, Rule
from minagent.lab.two_writers.request_process import InProcess, two_processes

WRITES = ("begin", "append", "save")


@dataclass(frozen=True, kw_only=True)
class MeetingRun(Run):
    """A meeting, a column for each move."""

    met: MeetingOutcome

    @cached_property
    def written(self) -> list[Event]:
        """What was stored, in order."""
        return [did for did in self.all("did") if self.steps[did.at.step] in WRITES]

    def lost(self, did: Event) -> bool:
        """Return whether it belongs to a turn of which nothing is left."""
        return did.process > 0 and self.rows[did.process - 1] in self.met.lost

    def again(self, did: Event) -> bool:
        """Return whether it was a charge that had been made before."""
        return any(effect.before for effect in self.effects if effect.at == did.at)

    def unknown(self, effect: Effect) -> bool:
        """Return whether nothing that is stored knows of it."""
        return effect.label.removeprefix("charged ") in self.met.unrecorded

    @property
    def outcome(self) -> str:
        """What went wrong, in words."""
        met, known = self.met, "" if self.met.repeated_with_keys else ", though by its key it is known as one"
        found = [f"{name} was told done, and nothing of its turn is stored." for name in met.lost]
        found += [f"{name} was charged, and nothing stored says so." for name in met.unrecorded]
        found += [f"A charge was made twice{known}."] * bool(met.repeated)
        return " ".join(found) or "Nothing is lost, and nothing was done twice."

    @property
    def price(self) -> str:
        """What each was told, in words."""
        return " ".join(f"{name} was told: {ending}." for name, ending in self.met.endings.items())


class Notes:
    """Makes the moves of a meeting, and notes what came of each."""

    def __init__(self, met: Meeting) -> None:
        self.met, self.columns, self._last = met, ["begin"], ("", "", True)
        self.events: list[Event | Effect] = [Event(0, "did", Place(0, "model"))]

    def make(self, move: str) -> None:
        """Make a move; or "A sleeps", "A wakes": its process is stopped, and goes on; or "A ends": all its moves."""
        name, _, what = move.partition(" ")
        if what == "sleeps":
            cast("InProcess", self.met.requests[name]).stop()
            self._note(name, "asleep")
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
                self._moved(name, what, operation, landed)
            self._last = move, operation, landed

    def _moved(self, name: str, what: str, operation: str, landed: bool) -> None:
        if name not in CUSTOMERS:
            self.columns.append(f"{LEASE_SECONDS:g} s pass")
            return
        self._note(name, "killed" if what else "did" if landed else "refused")
        if operation == "charge" and not what:
            *earlier, customer = [customer for customer, _ in self.met.place.charges()]
            before = earlier.count(customer)
            self.events.append(
                Effect(self.events[-1].process, self.events[-1].at, f"charged {customer}", True, 0, before)
            )
        self.columns.append(operation)

    def _note(self, name: str, what: What) -> None:
        process, at = CUSTOMERS.index(name) + 1, Place(len(self.columns), "model")
        if process not in {event.process for event in self.events}:
            self.events.append(Event(process, "began", at))
        self.events.append(Event(process, what, at))

    def run(self) -> MeetingRun:
        """Return what happened, once nobody goes on."""
        places = [Place(number, "model") for number in range(len(self.columns))]
        outcome = self.met.outcome()
        return MeetingRun(
            self.columns,
            places,
            tuple(self.events),
            newest=True,
            rows=CUSTOMERS,
            nobody="Nothing stored says so",
            met=outcome,
        )


def played(rule: Rule, moves: Iterable[str], folder: Path, store: str) -> MeetingRun:
    """Make these moves with two processes, in a new folder, at a store of this address. Who has not ended is killed."""
    folder.mkdir(parents=True)
    with two_processes(rule, folder, store) as met:
        notes = Notes(met)
        for move in moves:
            notes.make(move)
        return notes.run()
