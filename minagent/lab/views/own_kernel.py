"""Killing the kernel that the reader sits in: clearly marked, after a confirmation, and with a place to resume from.

view = OwnKernelView()          # three buttons
demo_folder()                   # a folder that is still there afterwards, and that a new kernel finds again
"""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from minagent.lab.crash_lab.crashlab import NotNow
from minagent.lab.processes.crash_points import die
from minagent.lab.views.widgets import ActionView

WARNING = (
    "This kills the kernel of this very notebook: every variable is gone, and every widget on the page is dead. "
    "JupyterLab will say that the kernel appears to have died, and restart it; press Ok there. Then run the cell "
    "below. Press Yes, kill it, or No, keep it."
)


def demo_folder(*, fresh: bool = False) -> Path:
    """Return a folder of this user's that outlives the kernel; empty, if it is to be fresh."""
    folder = Path(tempfile.gettempdir(), f"minagent-demo-{os.getuid()}")
    if fresh:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


class OwnKernelView(ActionView):
    """A button that asks, one that kills this kernel, and one that does not."""

    def __init__(self, kill: Callable[[], object] = die) -> None:
        self._kill = kill
        self._asked = False
        actions = {"Crash this notebook's kernel": self.ask, "Yes, kill it": self.kill, "No, keep it": self.keep}
        super().__init__(actions, "Nothing is killed before you have said yes.")
        for button in self.buttons.values():
            button.layout.width = "auto"

    def __repr__(self) -> str:
        return f"Own kernel: {self.status.said}"

    def ask(self) -> str:
        """Say what will happen, and wait for a yes."""
        self._asked = True
        return WARNING

    def kill(self) -> str:
        """Kill this process with SIGKILL."""
        if not self._asked:
            raise NotNow("Press Crash this notebook's kernel first: it says what will happen.")
        self._asked = False
        self._kill()
        return "Killed."

    def keep(self) -> str:
        """Do nothing."""
        self._asked = False
        return "Nothing was killed."

    def draw(self) -> str:
        """Return nothing: what there is to see is JupyterLab's own dialog."""
        return ""
