"""What happened in a run, event by event as it was seen, and what follows from the events."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from minagent.lab.processes.phases import Phase

WRITES = ("plan", "save", "doubt")  # what leaves something on the disk; a doubt does when somebody has decided it
MANY = 5  # effects: a sentence does not name each of them
What = Literal["began", "did", "killed"]


class Place(NamedTuple):
    """Where a process stands: before a phase of a step."""

    step: int  # from 0
    phase: Phase


@dataclass(frozen=True)
class Event:
    """A process has begun at a place, has done what comes there, or was killed before it had."""

    process: int  # from 1, in the order in which they began
    what: What
    at: Place


@dataclass(frozen=True)
class Effect:
    """A tool had its effect in the world; or it was a known key, and nothing happened."""

    process: int
    at: Place
    label: str  # in words: "charged 26"
    changes: bool  # False for a tool that only reads
    dollars: int  # what a customer pays for it
    before: int | None  # how often the world had seen the same; None if it knew the key, and did nothing


@dataclass(frozen=True)
class Run:
    """One task, by as many processes as it took."""

    steps: Sequence[str]  # the name of each step's tool, or "answer"
    places: Sequence[Place]  # of a run that nothing disturbs, in order
    events: Sequence[Event | Effect]
    window: tuple[Effect, Event] | None = None  # of one step: an effect, and the write that is the first to know of it

    def order(self, at: Place) -> float:
        """Return how far in the run a place is. A doubt is before its tool: if that did not run, it runs next."""
        return self.places.index(at._replace(phase="tool")) - 0.5 if at.phase == "doubt" else self.places.index(at)

    def all(self, what: What) -> list[Event]:
        """Return the events of a kind, in order."""
        return [event for event in self.events if isinstance(event, Event) and event.what == what]

    @cached_property
    def effects(self) -> list[Effect]:
        """What the world saw, in order."""
        return [event for event in self.events if isinstance(event, Effect)]

    @cached_property
    def written(self) -> list[Event]:
        """What came to the disk, in order."""
        return [event for event in self.all("did") if event.at.phase in WRITES]

    def loaded(self, began: Event) -> Event | None:
        """Return what a process went on from: of what was on the disk, the newest before its first place."""
        there = [w for w in self.written if w.process < began.process and self.order(w.at) < self.order(began.at)]
        return max(there, key=lambda write: (self.order(write.at), write.process), default=None)

    def killed(self, process: int) -> bool:
        """Return whether a process was killed."""
        return process in {event.process for event in self.all("killed")}

    def lost(self, did: Event) -> bool:
        """Return whether a phase was done in vain: its process died, and the next one goes on from before it."""
        kept = max((self.order(write.at) + 0.5 for write in self.written), default=0)
        following = (self.order(began.at) for began in self.all("began") if began.process == did.process + 1)
        return self.killed(did.process) and self.order(did.at) >= next(following, kept)

    def again(self, did: Event) -> bool:
        """Return whether an earlier process had done this phase already."""
        return any(other.at == did.at and other.process < did.process for other in self.all("did"))

    def unknown(self, effect: Effect) -> bool:
        """Return whether nobody but the world knows of it: its process died, and nothing of it is written down."""
        later = {e.at for e in self.events[self.events.index(effect) + 1 :] if isinstance(e, Event) and e.what == "did"}
        own = [w for w in self.written if w.process == effect.process and self.order(w.at) > self.order(effect.at)]
        known = own or later & {effect.at, effect.at._replace(phase="doubt")}  # done again, or decided
        return self.killed(effect.process) and not known

    @cached_property
    def harm(self) -> list[Effect]:
        """The effects that should not be: those that changed the world again, or that nobody knows of."""
        return [e for e in self.effects if e.changes and (e.before or self.unknown(e))]

    @property
    def outcome(self) -> str:
        """What the world has of it, in words."""
        charges = [e.dollars for e in self.effects if e.dollars and e.before is not None]
        times = {1: "once", 2: "twice"}.get(len(charges), f"{len(charges)} times")
        said = [f"The customer paid {sum(charges)} dollars: charged {times}."] if charges else []
        again = [e for e in self.harm if e.before and not e.dollars]
        for words, found in (("Done again", again), ("No process knows", filter(self.unknown, self.harm))):
            if labels := list(dict.fromkeys(e.label for e in found)):
                told = ", ".join(labels) if len(labels) < MANY else f"{len(labels)} effects"
                said.append(f"{words}: {told}.")
        return " ".join(said) or "Nothing in the world was changed twice."

    @cached_property
    def asked(self) -> list[int]:
        """The step of each model call."""
        return [did.at.step for did in self.all("did") if did.at.phase == "model"]

    @property
    def price(self) -> str:
        """What the model's provider is owed for, in words; of one step alone, what its window is."""
        if self.window:
            return f"The window: {self.window[0].label}, and until the {self.window[1].at.phase} no disk knows of it."
        asked, steps = len(self.asked), len(set(self.asked))
        return f"The model was asked {asked} time{'s' * (asked != 1)} for {steps} step{'s' * (steps != 1)}."
