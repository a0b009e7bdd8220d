"""What happened in a run, event by event as it was seen, and what follows from the events."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from minagent.lab.processes.phases import Event, Place, What

WRITES = ("plan", "save", "doubt")  # what leaves something on the disk; a doubt does when somebody has decided it
MANY = 5  # effects: a sentence does not name each of them


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
    in_vain: Sequence[int] = ()  # processes all of whose work is lost, though they were not killed
    told: tuple[str, str] | None = None  # what is said below, if not `outcome` and `price`

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
        return [event for event in self.all("did") if event.at.phase.startswith(WRITES)]

    @cached_property
    def killed(self) -> set[int]:
        """The processes that were killed."""
        return {event.process for event in self.all("killed")}

    def loaded(self, began: Event) -> Event | None:
        """Return what a process went on from: of what was on the disk, the newest before its first place."""
        there = [w for w in self.written if self.events.index(w) < self.events.index(began)]
        if not self.newest:
            before = [w for w in there if self.order(w.at) < self.order(began.at)]
            there = sorted(before, key=lambda write: (self.order(write.at), write.process))
        return there[-1] if there else None

    @cached_property
    def _kept(self) -> dict[int, Event | None]:
        newest = max(self.written, key=lambda write: self.order(write.at), default=None)
        next_one = {began.process - 1: self.loaded(began) for began in reversed(self.all("began"))}
        return {event.process: next_one.get(event.process, newest) for event in self.events}

    def lost(self, did: Event) -> bool:
        """Return whether a phase was done in vain: its process died, and the next one goes on from before it."""
        kept = self._kept[did.process]
        after = kept is None or self.order(did.at) > self.order(kept.at)
        return did.process in self.in_vain or (did.process in self.killed and after)

    def again(self, did: Event) -> bool:
        """Return whether an earlier process had done this phase already, or the world had seen its effect."""
        earlier = {other.at for other in self.all("did") if other.process < did.process and not self.rows}
        return did.at in earlier | {e.at for e in self.effects if e.before and e.process == did.process}

    def unknown(self, effect: Effect) -> bool:
        """Return whether nobody but the world knows of it: its process died, and nothing of it is written down."""
        later = self.events[self.events.index(effect) + 1 :] if effect in self.events else ()
        done = {event.at for event in later if isinstance(event, Event) and event.what == "did"}
        known = done & {effect.at, effect.at._replace(phase="doubt")}  # done again, or decided
        own = [w for w in self.written if w.process == effect.process and self.order(w.at) > self.order(effect.at)]
        return effect.process in self.in_vain or (effect.process in self.killed and not own and not known)

    @cached_property
    def skipped(self) -> list[Effect]:
        """What never was: the tools that no process ran, though a later step was done."""
        done = {did.at for did in self.all("did")}
        last = max(done, default=Place(0, "model")).step
        missed = [at for at in self.places if at.phase == "tool" and at not in done and at.step < last]
        return [Effect(0, at, f"{self.steps[at.step]} never ran", changes=True, dollars=0, before=0) for at in missed]

    @cached_property
    def undecided(self) -> list[str]:
        """The tools of which nobody has said whether they ran, and the world does not say so either."""
        doubts = {e.at for e in self.all("began") if e.at.phase == "doubt"} - {e.at for e in self.all("did")}
        return [self.steps[at.step] for at in sorted(doubts) if at.step not in {e.at.step for e in self.harm}]

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
            "No process knows": [e.label for e in self.harm if self.unknown(e)],
            "Never run": [self.steps[e.at.step] for e in self.skipped],
            "In doubt": self.undecided,
        }
        for words, labels in found.items():
            if different := list(dict.fromkeys(labels)):
                told = ", ".join(different) if len(different) < MANY else f"{len(different)} effects"
                said.append(f"{words}: {told}.")
        return " ".join(said) or "Nothing in the world was changed twice."

    @property
    def price(self) -> str:
        """What the model's provider is owed for, in words; of one step alone, what its window is."""
        if self.window:
            return f"The window: {self.window[0].label}, and until the {self.window[1].at.phase} no disk knows of it."
        calls = [did.at.step for did in self.all("did") if did.at.phase == "model"]
        asked, steps = len(calls), len(set(calls))
        return f"The model was asked {asked} time{'s' * (asked != 1)} for {steps} step{'s' * (steps != 1)}."
