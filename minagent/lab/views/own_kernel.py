"""Killing the kernel that the reader sits in: clearly marked, and after a confirmation."""

from collections.abc import Callable

from minagent.lab.crash_lab.crashlab import NotNow
from minagent.lab.processes.crash_points import die
from minagent.lab.views.widgets import ActionView

WARNING = (
    "This kills the kernel of this very notebook: every variable is gone, and every widget on the page is dead. "
    "JupyterLab will say that the kernel appears to have died, and restart it; press Ok there. Then run the cell "
    "below. Press Yes, kill it, or No, keep it."
)


class OwnKernelView(ActionView):
    """A button that asks, one that kills this kernel, and one that does not."""

    def __init__(self, kill: Callable[[], object] = die) -> None:
        self._kill = kill
        self._asked = False
        actions = {"Crash this notebook's kernel": self.ask, "Yes, kill it": self.kill, "No, keep it": self.keep}
        super().__init__(actions, "Nothing is killed before you have said yes.")

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
