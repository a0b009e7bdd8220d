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
from os import PathLike
from os.path import exists
from typing import Any

from minagent import Message, load_checkpoint
from minagent.lab.picture.picture import Picture
from minagent.lab.picture.run_events import Run
from minagent.lab.processes.phases import Event, Place

NAMES = ("session", "model", "steps")


def crash(namespace: MutableMapping[str, Any]) -> str:
    """Take `session`, `model` and `steps` out of `namespace`, as a dying process would, and say so."""
    lost = [name for name in NAMES if namespace.pop(name, None) is not None]
    return f"Crashed: {', '.join(lost)} gone from memory." if lost else "Nothing to crash: they are gone already."


@dataclass(repr=False)
class KernelState:
    """The three variables in `namespace`, and the checkpoint at `path` that they can come back from."""

    namespace: MutableMapping[str, Any]
    path: str | PathLike[str]
    script: Sequence[Message]
    moments: list[tuple[str, list[str], bool]] = field(default_factory=list)  # and what was there: names, a file

    def __post_init__(self) -> None:
        self._saw("Before", "")

    def _saw(self, what: str, said: str) -> str:
        self.moments = [*self.moments[-5:], (what, [n for n in NAMES if n in self.namespace], exists(self.path))]
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
        events, before = list[Event](), list[str]()
        for step, (_, alive, stored) in enumerate(self.moments):
            for row, name in enumerate(NAMES, 1):
                events += [Event(row, "began", Place(step, "model"))] * (name in alive and name not in before)
                events.append(Event(row, "did" if name in alive else "gone", Place(step, "model")))
            events += [Event(0, "did", Place(step, "save"))] * stored
            before = alive
        places = [Place(step, phase) for step in range(len(self.moments)) for phase in ("model", "save")]
        told = " ".join(f"{what}: {', '.join(alive) or 'nothing'} in memory." for what, alive, _ in self.moments)
        steps = [what for what, *_ in self.moments]
        return Picture(Run(steps, places, events, newest=True, rows=NAMES, told=(told, self.said)), title)
