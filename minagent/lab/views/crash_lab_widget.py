"""The whole crash lab as a widget: each way of recording, each set of tools, each place to crash, and the score.

No logic: a button calls one method of the model, and all is redrawn.
"""

from collections.abc import Callable
from functools import cache, partial
from html import escape
from typing import Any, get_args

from minagent.lab.crash_lab.crashlab import CrashLab
from minagent.lab.crash_lab.disk import call_in_doubt
from minagent.lab.kernel.environment import notebook_packages
from minagent.lab.processes.phases import Phase, Recording
from minagent.lab.views.widgets import CrashLabView, OneOf, named
from minagent.lab.world.example import ExampleName
from minagent.log import DidNotHappen, Happened, Unknown

with notebook_packages():
    import ipywidgets

EVENTS_SHOWN = 8
NOT_SEEN = "it happened, says a person; the outside world has not seen it"
"""The result of a call that is said to have happened, where the ledger has none."""

TABLE = """<style>
.minagent table { border-collapse: collapse; margin: 8px 0; color: inherit }
.minagent caption { text-align: left; font-weight: bold; padding: 4px 0 }
.minagent th, .minagent td { border: 1px solid var(--jp-border-color1, #bdbdbd); padding: 2px 12px; text-align: left }
</style>"""


class WholeLabView(CrashLabView):
    """The crash lab with everything that it can do."""

    def __init__(self, lab: CrashLab) -> None:
        super().__init__(lab)
        self.recording = OneOf("Recording:", named(get_args(Recording)), lab.recording)
        self.example = OneOf("Tools:", named(get_args(ExampleName)), lab.example)
        for row in (self.recording, self.example):
            row.observe(self._choose, "value")
        self.points = ipywidgets.VBox()
        self._row = cache(self._new_row)  # or each choice would send the page dozens of new buttons
        self._show_points()
        self.children = (self.recording, self.example, self.points, self.row, self.status, self.picture)

    def __repr__(self) -> str:
        return f"Whole crash lab: {self.lab.recording}, {self.lab.example}, {self.lab.state}"

    def actions(self, lab: CrashLab) -> dict[str, Callable[[], str]]:
        """Return what each button does."""
        return {
            "Run to it": lambda: lab.run_to(*self.point),
            **super().actions(lab),
            "Crash in mid-write": lab.tear,
            "Cut the power": lab.cut_power,
            "It happened": self._it_happened,
            "It did not": partial(lab.resolve, DidNotHappen()),
            "Nobody knows": partial(lab.resolve, Unknown()),
        }

    def draw(self) -> str:
        """Return lane and panels, the score and what happened, as HTML."""
        return TABLE + super().draw() + self._score() + self._events()

    def _score(self) -> str:
        counts, theory = self.lab.score.named().items(), self.lab.tally.predicted.named()
        rows = "".join(f"<tr><th scope=row>{name}</th><td>{n}</td><td>{theory[name]}</td></tr>" for name, n in counts)
        heads = "<th scope=col>what</th><th scope=col>so far</th><th scope=col>in the end, says theory</th>"
        return f"<table><caption>Score of the crashes</caption><tr>{heads}</tr>{rows}</table>"

    def _events(self) -> str:
        items = "".join(f"<li>{escape(event)}</li>" for event in self.lab.events[-EVENTS_SHOWN:])
        return f'<h4>What happened</h4><ol class="minagent-events" aria-label="What happened">{items}</ol>'

    def _show_points(self) -> None:
        """Show all crash points, a row of buttons for each step; the first one is chosen."""
        self.point = self.lab.points[0]
        steps = dict(self.lab.points)
        self.rows = [self._row(*(point for point in self.lab.points if point[0] == step)) for step in steps]
        for row in self.rows:
            row.value = self.point
        self.points.children = self.rows

    def _new_row(self, *points: tuple[int, Phase]) -> OneOf:
        row = OneOf("Crash before:", {_name(point): point for point in points}, self.point)
        row.observe(self._choose_point, "value")
        return row

    def _choose_point(self, change: Any) -> None:
        if change["new"] != self.point:  # else a row is told what is chosen
            self.point = change["new"]
            for row in self.rows:
                row.value = self.point
            self.status.say(f"Crash point: before {_name(self.point)}. Press Run to it.")

    def _it_happened(self) -> str:
        """Say that the call in doubt happened, with the result that the ledger has."""
        call = call_in_doubt(self.lab.folder)
        return self.lab.resolve(Happened((call and self.lab.ledger.newest_result(call)) or NOT_SEEN))

    def _choose(self, _: Any) -> None:
        with self.status.errors_shown():
            said = self.lab.choose(self.recording.value, self.example.value)
            self._show_points()
            self.redraw()
            self.status.say(said)


def _name(point: tuple[int, Phase]) -> str:
    return f"step {point[0]}: {point[1]}"
