"""Pick one crash of the matrix, and have it happen to a real process."""

from typing import Any

from minagent.lab.kernel.environment import notebook_packages
from minagent.lab.matrix.real_crashes import crash_points, replay
from minagent.lab.matrix.variants import VARIANTS
from minagent.lab.views.widgets import ControlsView, OneOf, labelled, named

with notebook_packages():
    import ipywidgets


class CrashReplayView(ControlsView):
    """A way of recording, a point, a button, and a line that says what the point is, and then what happened."""

    def __init__(self, variant: str, number: int) -> None:
        self.variant = OneOf("Recording:", named(VARIANTS), variant)
        self.number = labelled(ipywidgets.BoundedIntText(number, min=1, max=number), "Crash at point")
        self.button = ipywidgets.Button(description="Crash a real process")
        self.button.on_click(self._crash)
        super().__init__({"variant": self.variant, "number": self.number}, self._where)
        row = ipywidgets.HBox([self.number, self.button]).add_class("minagent-buttons")
        self.children = (self.variant, row, self.status)

    def __repr__(self) -> str:
        return f"Crash replay: {self.said}"

    def _where(self, variant: str, number: int) -> str:
        points = crash_points(variant)
        self.number.max = len(points)
        return f"Point {points[min(number, len(points)) - 1]}. Press {self.button.description}."

    def _crash(self, _: Any) -> None:
        with self.status.errors_shown():
            self.status.say(replay(self.variant.value, self.number.value))
