"""What happened in a run, event by event as it was seen, and what follows from the events."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from minagent.lab.processes.phases import Phase

WRITES = ("plan", "save", "doubt")  # what leaves something on the disk; a doubt does when somebody has decided it
MANY = 5  # effects: a sentence does not name each of them
What = Literal["began", "did", "killed", "interrupted", "torn", "asleep", "refused", "gone"]


class Place(NamedTuple):
    """Where a process stands: before a phase of a step."""

    step: int  # from 0
    phase: Phase


@dataclass(frozen=True)
class Event:
    """A process has begun at a place, has done what comes there, or was killed or interrupted before it had.

    "torn": killed when half of what it wrote was written.
    """

    process: int  # from 1, in the order in which they began
    what: What
    at: Place
    cursor: int | None = None  # that a save has


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
    newest: bool = False  # whether each process goes on from the newest write, whatever that says
    rows: Sequence[str] = ()  # what the rows are called, if they are no processes of an agent
    done: str = "done"  # what a cell means that is neither lost nor done again
    nobody: str = "No process knows"  # said of an effect that is unknown

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
        there = [w for w in self.written if self.events.index(w) < self.events.index(began)]
        if self.newest:
            return there[-1] if there else None
        before = [w for w in there if self.order(w.at) < self.order(began.at)]
        return max(before, key=lambda write: (self.order(write.at), write.process), default=None)

    def killed(self, process: int) -> bool:
        """Return whether a process was killed."""
        return process in {event.process for event in self.all("killed")}

    def lost(self, did: Event) -> bool:
        """Return whether a phase was done in vain: its process died, and the next one goes on from before it."""
        newest = max(self.written, key=lambda write: self.order(write.at), default=None)
        following = (self.loaded(began) for began in self.all("began") if began.process == did.process + 1)
        kept = next(following, newest)
        return self.killed(did.process) and (kept is None or self.order(did.at) > self.order(kept.at))

    def again(self, did: Event) -> bool:
        """Return whether an earlier process had done this phase already."""
        return any(other.at == did.at and other.process < did.process for other in self.all("did"))

    def unknown(self, effect: Effect) -> bool:
        """Return whether nobody but the world knows of it: its process died, and nothing of it is written down."""
        if not self.killed(effect.process):
            return False
        later = {e.at for e in self.events[self.events.index(effect) + 1 :] if isinstance(e, Event) and e.what == "did"}
        own = [w for w in self.written if w.process == effect.process and self.order(w.at) > self.order(effect.at)]
        known = own or later & {effect.at, effect.at._replace(phase="doubt")}  # done again, or decided
        return not known

    @cached_property
    def skipped(self) -> list[Effect]:
        """What never was: the tools that no process ran, nor is in doubt of, though a later step was done."""
        done = [did.at for did in self.all("did")]
        ran = {at.step for at in done if at.phase == "tool"} | {began.at.step for began in self.doubts}
        last = max(done, default=Place(0, "model")).step
        missed = [at for at in self.places if at.phase == "tool" and at.step not in ran and at.step < last]
        return [Effect(0, at, f"{self.steps[at.step]} never ran", changes=True, dollars=0, before=0) for at in missed]

    @property
    def doubts(self) -> list[Event]:
        """The processes that began in doubt."""
        return [began for began in self.all("began") if began.at.phase == "doubt"]

    @cached_property
    def undecided(self) -> list[str]:
        """The tools of which nobody has said whether they ran, and the world does not say so either."""
        known = {did.at.step for did in self.all("did") if did.at.phase == "doubt"} | {e.at.step for e in self.harm}
        return [self.steps[began.at.step] for began in self.doubts if began.at.step not in known]

    @cached_property
    def harm(self) -> list[Effect]:
        """The effects that should not be: those that changed the world again, or that nobody knows of; the skipped."""
        return [e for e in self.effects if e.changes and (e.before or self.unknown(e))] + self.skipped

    @property
    def outcome(self) -> str:
        """What the world has of it, in words."""
        charges = [e.dollars for e in self.effects if e.dollars and e.before is not None]
        times = {1: "once", 2: "twice"}.get(len(charges), f"{len(charges)} times")
        said = [f"The customer paid {sum(charges)} dollars: charged {times}."] if charges else []
        found = {
            "Done again": [e.label for e in self.harm if e.before and not e.dollars],
            self.nobody: [e.label for e in self.harm if self.unknown(e)],
            "Never run": [self.steps[e.at.step] for e in self.skipped],
            "In doubt": self.undecided,
        }
        for words, labels in found.items():
            if different := list(dict.fromkeys(labels)):
                told = ", ".join(different) if len(different) < MANY else f"{len(different)} effects"
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
