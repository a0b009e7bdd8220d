"""The crash lab: from a button to its redraw, and from a crash to the resumed process."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from minagent.lab.crash_lab.crashlab import CrashLab
from minagent.lab.views.crash_lab_widget import WholeLabView


def test_a_button(benchmark: Callable[..., Any], tmp_path: Path):
    """One phase of a real process, and all panels drawn anew: the goal is 100 ms."""
    view = WholeLabView(CrashLab(tmp_path / "lab", "log with keys", "errand"))

    def step() -> None:
        view.buttons["Reset" if view.lab.state == "done" else "Step"].click()

    benchmark(step)
    view.lab.close()


def test_a_resume(benchmark: Any, tmp_path: Path):
    """A new process that has read the log and stands before its first phase: the goal is 1 s."""
    lab = CrashLab(tmp_path / "lab", "log with keys", "errand")
    lab.run_to(1, "model")

    def crash() -> None:
        lab.crash()

    benchmark.pedantic(lab.resume, setup=crash, rounds=10)
    lab.close()
