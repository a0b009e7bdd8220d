"""A crash lab for an agent whose step, or whose way to load, is the reader's own (7.3.3, 7.3.4)."""

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from minagent.lab.crash_lab.crashlab import CrashLab
from minagent.lab.picture.picture import Picture
from minagent.lab.processes.agent_process import work
from minagent.lab.processes.child_process import sendable
from minagent.lab.world.example import ExampleName


class OwnAgentLab(CrashLab):
    """`step` takes the place of step_once, `load` that of load_checkpoint. Both may be a notebook's own."""

    def __init__(self, example: ExampleName, **own: Callable[..., object]) -> None:
        super().__init__(example=example)
        self.work = partial(work, **{name: sendable(function) for name, function in own.items()})

    def interrupt(self) -> str:
        """Interrupt the process where it stands, as Jupyter does: Python raises KeyboardInterrupt. It saves then."""
        child, stood = self._living("interrupt")
        os.kill(child.pid, signal.SIGINT)
        self._hear(child)
        self.tally.note("interrupted", stood)
        return self._say_where("Interrupted.")

    def picture(self, title: str, step: int | None = None) -> Picture:
        """Return the picture of what has happened. Whatever a save says, it is the newest that was loaded."""
        return Picture(replace(super().picture(title, step).run, newest=True), title)
