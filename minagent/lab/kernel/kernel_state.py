"""The reader's own session, model and steps: taken out of the notebook's namespace, and brought back from disk.

    kernel = KernelState(globals(), path, script)
    kernel.crash()       # the next cell that says `session` raises NameError
    kernel.resume()      # they are there again, as the checkpoint has them

No process dies here. What dies is what a process would take with it, in the one place where a reader can look: the
names of the notebook itself. (Killing a process is the crash lab's part.)
"""

import warnings
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from minagent import Message, load_checkpoint

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

    def crash(self) -> str:
        """Take the three variables away, and say so."""
        return crash(self.namespace)

    def resume(self) -> str:
        """Bring the three variables back from disk, and say what came; raise CheckpointError if nothing can."""
        with warnings.catch_warnings(record=True) as said:
            session, model, steps = load_checkpoint(self.path, self.script)
        self.namespace.update(session=session, model=model, steps=steps)
        came = f"Resumed: {len(session.messages)} messages, cursor {model.cursor}, {len(steps)} steps in the trace."
        return " ".join([came, *(f"But: {warning.message}." for warning in said)])

    def alive(self) -> dict[str, bool]:
        """Return for each of the three names whether the namespace has it."""
        return {name: name in self.namespace for name in NAMES}
