"""The whole crash lab as a widget: each way of recording, each set of tools, each place to crash, and the score.

No logic: a button calls one method of the model, and all is redrawn.
"""

from collections.abc import Callable, Iterable
from functools import partial
from html import escape
from typing import cast, get_args

import ipywidgets

from minagent import DidNotHappen, Happened, Unknown
from minagent.lab.crashlab import CrashLab
from minagent.lab.disk import call_in_doubt
from minagent.lab.example import ExampleName
from minagent.lab.phases import Phase, Recording
from minagent.lab.widgets import CrashLabView

EVENTS_SHOWN = 8
NOT_SEEN = "it happened, says a person; the outside world has not seen it"
"""The result of a call that is said to have happened, where the ledger has none."""

TABLE = """<style>
.minagent table { border-collapse: collapse; margin: 8px 0; color: inherit }
.minagent caption { text-align: left; font-weight: bold; padding: 4px 0 }
.minagent th, .minagent td { border: 1px solid var(--jp-border-color1, #bdbdbd); padding: 2px 12px; text-align: left }
</style>"""


class Choice(ipywidgets.HBox):
    """A row of buttons of which one is chosen.

    A list would be shorter, but there JupyterLab takes the arrow keys for itself.
    """

    def __init__(self, label: str, options: Iterable[str], value: str, choose: Callable[[str], None]) -> None:
        self.buttons = {option: ipywidgets.Button() for option in options}
        for option, button in self.buttons.items():
            button.layout.width = "auto"
            button.on_click(lambda _, option=option: choose(option))
        super().__init__([ipywidgets.Label(label), *self.buttons.values()])
        self.layout.flex_flow = "row wrap"
        self.mark(value)

    def mark(self, value: str) -> None:
        """Show which one is chosen."""
        for option, button in self.buttons.items():
            button.description = f"✓ {option}" if option == value else option


class WholeLabView(CrashLabView):
    """The crash lab with everything that it can do."""

    def __init__(self, lab: CrashLab) -> None:
        super().__init__(lab)
        self.recording = Choice("Recording:", get_args(Recording), lab.recording, self._choose_recording)
        self.example = Choice("Tools:", get_args(ExampleName), lab.example, self._choose_example)
        self.points = ipywidgets.VBox()
        self._show_points()
        self.children = (self.recording, self.example, self.points, self.row, self.status, self.picture)

    def __repr__(self) -> str:
        return f"Whole crash lab: {self.lab.recording}, {self.lab.example}, {self.lab.state}"

    def actions(self, lab: CrashLab) -> dict[str, Callable[[], str]]:
        """Return what each button does."""
        return {
            "Run to it": self._run_to_point,
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
        theory = self.lab.tally.predicted.named()
        rows = "".join(
            f"<tr><th scope=row>{name}</th><td>{count}</td><td>{theory[name]}</td></tr>"
            for name, count in self.lab.score.named().items()
        )
        heads = "<th scope=col>what</th><th scope=col>so far</th><th scope=col>in the end, says theory</th>"
        return f"<table><caption>Score of the crashes</caption><tr>{heads}</tr>{rows}</table>"

    def _events(self) -> str:
        events = self.lab.events[-EVENTS_SHOWN:]
        items = "".join(f"<li>{escape(event)}</li>" for event in events)
        return f'<h4>What happened</h4><ol class="minagent-events" aria-label="What happened">{items}</ol>'

    def _show_points(self) -> None:
        """Show all crash points, a row of buttons for each step; the first one is chosen."""
        self.point = self.lab.points[0]
        steps = dict.fromkeys(step for step, _ in self.lab.points)
        rows = [[_name(point) for point in self.lab.points if point[0] == step] for step in steps]
        self.rows = [Choice("Crash before:", names, _name(self.point), self._choose_point) for names in rows]
        self.points.children = self.rows

    def _choose_point(self, name: str) -> None:
        self.point = next(point for point in self.lab.points if _name(point) == name)
        for row in self.rows:
            row.mark(name)
        self.status.say(f"Crash point: before {name}. Press Run to it.")

    def _run_to_point(self) -> str:
        return self.lab.run_to(*self.point)

    def _it_happened(self) -> str:
        """Say that the call in doubt happened, with the result that the ledger has."""
        call = call_in_doubt(self.lab.folder)
        return self.lab.resolve(Happened((call and self.lab.ledger.newest_result(call)) or NOT_SEEN))

    def _choose_recording(self, recording: str) -> None:
        self._choose(cast(Recording, recording), self.lab.example)

    def _choose_example(self, example: str) -> None:
        self._choose(self.lab.recording, cast(ExampleName, example))

    def _choose(self, recording: Recording, example: ExampleName) -> None:
        with self.status.errors_shown():
            said = self.lab.choose(recording, example)
            self.recording.mark(recording)
            self.example.mark(example)
            self._show_points()
            self.redraw()
            self.status.say(said)


def _name(point: tuple[int, Phase]) -> str:
    return f"step {point[0]}: {point[1]}"
