"""A Jupyter kernel that is not the reader's own: it runs cells, is killed, and is started again, as JupyterLab does it.

kernel = ChildKernel()
kernel.run("x = 1")
kernel.crash()                  # SIGKILL
kernel.restart()
kernel.run("x")                 # "NameError: name 'x' is not defined"
"""

import signal
import subprocess
import weakref
from collections.abc import Callable
from typing import Any

from minagent.lab.kernel.environment import notebook_packages

with notebook_packages():
    from jupyter_client.manager import KernelManager

PATIENCE = 180.0  # seconds to wait for a kernel


class ChildKernel:
    """The kernel, as its owner holds it. It goes with this object."""

    def __init__(self) -> None:
        self._managers: list[KernelManager] = []  # one for each process that was started
        self.close: Callable[[], Any] = weakref.finalize(self, _close, self._managers)  # leaves no process behind
        self.restart()

    @property
    def _manager(self) -> KernelManager:
        return self._managers[-1]

    def restart(self) -> None:
        """Start a process, which knows nothing."""
        self._managers.append(KernelManager(kernel_name="python3"))
        self._manager.start_kernel(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._client = self._manager.blocking_client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=PATIENCE)

    @property
    def alive(self) -> bool:
        """Whether its process lives."""
        return bool(self._manager.is_alive())

    def run(self, code: str) -> str:
        """Run a cell, and return what it prints, the value of its last line, or its error."""
        shown: list[str] = []

        def show(message: dict[str, Any]) -> None:
            content = message["content"]
            match message["msg_type"]:
                case "stream":
                    shown.append(content["text"])
                case "execute_result":
                    shown.append(content["data"]["text/plain"])
                case "error":
                    shown.append(f"{content['ename']}: {content['evalue']}")

        self._client.execute_interactive(code, output_hook=show, timeout=PATIENCE)
        return "".join(shown).strip()

    def crash(self) -> None:
        """Kill it with SIGKILL, and wait until it is gone."""
        self._client.stop_channels()
        self._manager.signal_kernel(signal.SIGKILL)
        self._manager.shutdown_kernel(now=True)


def _close(managers: list[KernelManager]) -> None:
    for manager in managers:
        if manager.has_kernel:
            manager.shutdown_kernel(now=True)
