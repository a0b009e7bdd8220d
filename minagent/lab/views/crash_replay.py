"""Pick one crash of the matrix, and have it happen to a real process. A widget, and the model behind it."""

from typing import Any

from minagent.lab.kernel.environment import notebook_packages
from minagent.lab.matrix.crash_matrix import Outcome, run
from minagent.lab.matrix.real_crashes import RealCrashes
from minagent.lab.matrix.variants import STANDARD, VARIANTS
from minagent.lab.views.widgets import OneOf, Status, labelled, named

with notebook_packages():
    import ipywidgets

WORDS = {
    "lost": "results lost",
    "repeated": "charges repeated",
    "missing": "charges missing",
    "unrecorded": "charges that the session does not know",
    "unknown": "calls of which nobody knows",
    "paid_again": "model calls paid again",
}
"""What went wrong, in words."""


def crash_points(variant: str) -> list[str]:
    """Return the points of the standard run, each with its number and the step it is in."""
    ((names, *_), _) = run(VARIANTS[variant], STANDARD, [])
    labels, step = [], -1
    for number, name in enumerate(names, 1):
        step += name == "model"
        labels.append(f"{number}: step {step}, {name}" if step < STANDARD.steps else f"{number}: answer, {name}")
    return labels


def replay(variant: str, number: int) -> str:
    """Crash a real process at this point, have another one go on, and say what came of it."""
    _, expected = run(VARIANTS[variant], STANDARD, [number])
    with RealCrashes() as real:
        lives, found = real.run(VARIANTS[variant], STANDARD, [number])
        charges = len(real.service.charges())
    agree = "as the matrix says" if found == expected else f"but the matrix says: {in_words(expected)}"
    ledger = (
        "" if VARIANTS[variant].recording == "database" else f" The payment service's ledger has {charges} charges."
    )
    return f"{lives} processes, the first killed by SIGKILL at point {number}.{ledger} {in_words(found)}, {agree}."


def in_words(outcome: Outcome) -> str:
    """Return what went wrong, in words."""
    found = [f"{said}: {count}" for name, said in WORDS.items() if (count := getattr(outcome, name))]
    return "; ".join(found).capitalize() or "Nothing lost, nothing twice"


class CrashReplayView(ipywidgets.VBox):
    """A way of recording, a point, a button, and a line that says what the point is, and then what happened."""

    def __init__(self, variant: str, number: int) -> None:
        self.variant = OneOf("Recording:", named(VARIANTS), variant)
        self.number = labelled(ipywidgets.BoundedIntText(number, min=1, max=number), "Crash at point")
        self.button = ipywidgets.Button(description="Crash a real process")
        self.button.layout.width = "auto"
        self.status = Status()
        self.variant.observe(self._say_where, "value")
        self.number.observe(self._say_where, "value")
        self.button.on_click(self._crash)
        super().__init__([self.variant, ipywidgets.HBox([self.number, self.button]), self.status])
        self.children[1].layout.flex_flow = "row wrap"
        self._say_where(None)

    def __repr__(self) -> str:
        return f"Crash replay: {self.status.said}"

    def _say_where(self, _: Any) -> None:
        with self.status.errors_shown():
            points = crash_points(self.variant.value)
            self.number.max = len(points)
            self.status.say(f"Point {points[self.number.value - 1]}. Press {self.button.description}.")

    def _crash(self, _: Any) -> None:
        with self.status.errors_shown():
            self.status.say(replay(self.variant.value, self.number.value))
