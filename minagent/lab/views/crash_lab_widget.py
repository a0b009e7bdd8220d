"""The crash lab as a widget: that of the early notebooks, and the whole one. No logic, as in all views."""

from collections.abc import Callable
from functools import cache, partial
from html import escape
from typing import Any, get_args

from minagent.lab.crash_lab.crashlab import WAY_ON, CrashLab, State
from minagent.lab.kernel.environment import notebook_packages
from minagent.lab.processes.phases import Phase, Recording
from minagent.lab.views.widgets import ActionView, OneOf, bullets, named, side_by_side
from minagent.lab.world.example import ExampleName
from minagent.log import DidNotHappen, Unknown

with notebook_packages():
    import ipywidgets

STATE_WORDS: dict[State, str] = {
    "ready": "○ not started",
    "running": "● alive",
    "in doubt": "? waits: a call is in doubt",
    "dead": "✗ killed",
    "done": "✓ finished",
}

EVENTS_SHOWN = 8

TABLE = """<style>
.minagent table { border-collapse: collapse; margin: 8px 0; color: inherit }
.minagent caption { text-align: left; font-weight: bold; padding: 4px 0 }
.minagent th, .minagent td { border: 1px solid var(--jp-border-color1, #bdbdbd); padding: 2px 12px; text-align: left }
</style>"""


class CrashLabView(ActionView):
    """The crash lab of the early notebooks: lane of phases, buttons, and the panels process, disk and outside world."""

    def __init__(self, lab: CrashLab) -> None:
        self.lab = lab
        super().__init__(self.actions(lab), f"Press {WAY_ON[lab.state]}.")

    def actions(self, lab: CrashLab) -> dict[str, Callable[[], str]]:
        """Return what each button does."""
        return {"Step": lab.step, "Run": lab.run, "Crash": lab.crash, "Resume": lab.resume, "Reset": lab.reset}

    def __repr__(self) -> str:
        return f"Crash lab: {self.lab.state}"

    def draw(self) -> str:
        """Return lane and panels as HTML."""
        return self._lane() + side_by_side({
            "Process: what it knows": self._process(),
            "Disk: what it holds": self._disk(),
            "Outside world: what it saw": self._world(),
        })  # fmt: skip

    def _lane(self) -> str:
        stood = self.lab.stood
        items = "".join(self._phase(phase, here=phase == (stood and stood.phase)) for phase in self.lab.phases)
        return f'<ol class="minagent-lane" aria-label="Phases of a step">{items}</ol>'

    def _phase(self, phase: Phase, *, here: bool) -> str:
        if here and self.lab.state == "dead":
            return f'<li class="minagent-died">✗ {phase}: died before it</li>'
        return f'<li aria-current="step">▶ {phase}: next</li>' if here else f"<li>{phase}</li>"

    def _process(self) -> str:
        word, report = STATE_WORDS[self.lab.state], self.lab.report
        if report is None or self.lab.process is None:
            return bullets([word])
        knows = {"messages": report.messages, "cursor": report.cursor, "trace": ", ".join(report.trace) or "empty"}
        lines = [f"{word}, pid {self.lab.process.pid}", f"step {report.step}"]
        return bullets([*lines, *(f"{name}: {escape(str(value))}" for name, value in knows.items())])

    def _disk(self) -> str:
        shapes = {"good": "✓", "bad": "✗"}
        return bullets([f"{shapes[file.verdict]} {escape(str(file))}" for file in self.lab.files()], "empty")

    def _world(self) -> str:
        effects = [
            f"{escape(effect['name'])} → {escape(effect['result'])}"
            + (f' <span class="minagent-repeat">⟲ repeat {effect["repeat"]}</span>' if effect["repeat"] else "")
            for effect in self.lab.ledger.effects()
        ]
        bill = self.lab.ledger.bill()
        return bullets(effects, "no effects") + f"<p>model calls paid: {bill.calls}, {bill.tokens} tokens</p>"


class WholeLabView(CrashLabView):
    """The crash lab with all that it can do: each way of recording, set of tools, and place to crash, and the score."""

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
            "It happened": lab.it_happened,
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

    def _choose(self, _: Any) -> None:
        with self.status.errors_shown():
            said = self.lab.choose(self.recording.value, self.example.value)
            self._show_points()
            self.redraw()
            self.status.say(said)


def _name(point: tuple[int, Phase]) -> str:
    return f"step {point[0]}: {point[1]}"
