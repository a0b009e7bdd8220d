"""The reader's own session, model and steps: taken out of the notebook's namespace, and brought back from disk.

    kernel = KernelState(globals(), path, script)
    kernel.crash()       # the next cell that says `session` raises NameError
    kernel.resume()      # they are there again, as the checkpoint has them

No process dies here. What dies is what a process would take with it, in the one place where a reader can look: the
names of the notebook itself. (Killing a process is the crash lab's part.)
"""

import warnings
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from os.path import exists
from typing import Any

from minagent import Message, load_checkpoint
from minagent.lab.picture.picture import Picture
from minagent.lab.picture.run_events import Event, Place, Run

NAMES = ("session", "model", "steps")


def crash(namespace: MutableMapping[str, Any]) -> str:
    """Take `session`, `model` and `steps` out of `namespace`, as a dying process would, and say so."""
    lost = [name for name in NAMES if namespace.pop(name, None) is not None]
    return f"Crashed: {', '.join(lost)} gone from memory." if lost else "Nothing to crash: they are gone already."


@dataclass(frozen=True, kw_only=True)
class MemoryRun(Run):
    """What was in memory, a row for each name, and a column for each moment at which somebody looked."""

    said: str

    @cached_property
    def written(self) -> list[Event]:
        """The checkpoint, at each moment at which it was there."""
        return [did for did in self.all("did") if did.process == 0]

    def again(self, did: Event) -> bool:  # noqa: ARG002
        """Nothing is done here; it is there or not."""
        return False

    lost = again

    @property
    def outcome(self) -> str:
        """What was there at each moment, in words."""
        seen = {did: self.rows[did.process - 1] for did in self.all("did") if did.process}
        names = [[name for did, name in seen.items() if did.at == place] for place in self.places]
        there = [f"{', '.join(found) or 'nothing'} in memory." for found in names]
        return " ".join(f"{what}: {words}" for what, words in zip(self.steps, there, strict=True))

    @property
    def price(self) -> str:
        """What was said last."""
        return self.said


@dataclass(repr=False)
class KernelState:
    """The three variables in `namespace`, and the checkpoint at `path` that they can come back from."""

    namespace: MutableMapping[str, Any]
    path: str | PathLike[str]
    script: Sequence[Message]
    moments: list[tuple[str, dict[str, bool], bool]] = field(default_factory=list)  # and what was there: names, a file

    def __post_init__(self) -> None:
        self._saw("Before", "")

    def _saw(self, what: str, said: str) -> str:
        self.moments = [*self.moments[-5:], (what, self.alive(), exists(self.path))]
        self.said = said
        return said

    def crash(self) -> str:
        """Take the three variables away, and say so."""
        return self._saw("Crash", crash(self.namespace))

    def resume(self) -> str:
        """Bring the three variables back from disk, and say what came; raise CheckpointError if nothing can."""
        with warnings.catch_warnings(record=True) as said:
            session, model, steps = load_checkpoint(self.path, self.script)
        self.namespace.update(session=session, model=model, steps=steps)
        came = f"Resumed: {len(session.messages)} messages, cursor {model.cursor}, {len(steps)} steps in the trace."
        return self._saw("Resume", " ".join([came, *(f"But: {warning.message}." for warning in said)]))

    def alive(self) -> dict[str, bool]:
        """Return for each of the three names whether the namespace has it."""
        return {name: name in self.namespace for name in NAMES}

    def picture(self, title: str) -> Picture:
        """Return what has happened to the three names, the last few moments of it, as a picture."""
        events, before = list[Event](), dict.fromkeys(NAMES, False)
        for step, (_, alive, stored) in enumerate(self.moments):
            at = Place(step, "model")
            for row, name in enumerate(NAMES, 1):
                events += [Event(row, "began", at)] * (alive[name] > before[name])
                events.append(Event(row, "did" if alive[name] else "gone", at))
            events += [Event(0, "did", at)] * stored
            before = alive
        steps = [what for what, *_ in self.moments]
        places = [Place(step, "model") for step in range(len(steps))]
        return Picture(
            MemoryRun(steps, places, tuple(events), newest=True, rows=NAMES, done="in memory", said=self.said), title
        )
