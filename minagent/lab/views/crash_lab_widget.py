"""The crash lab as a widget: that of the early notebooks, and the whole one. No logic, as in all views."""

import re
from collections.abc import Callable
from functools import cache, partial
from html import escape
from typing import Any, get_args

from minagent.lab.crash_lab.crashlab import WAY_ON, CrashLab, State
from minagent.lab.crash_lab.live_picture import LivePicture
from minagent.lab.kernel.environment import notebook_packages
from minagent.lab.picture.run_events import WRITES
from minagent.lab.processes.phases import Place, Recording
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


class CrashLabView(ActionView):
    """The crash lab: the picture of its run, buttons, and three panels.

    The cells ahead are buttons, too: the process runs to the one that is pressed, and dies there.
    """

    def __init__(self, lab: CrashLab) -> None:
        self.lab = lab
        self.drawn = ipywidgets.HTML()
        self.live = ipywidgets.Box([self.drawn]).add_class("minagent-live")
        self._cells = cache(self._new_cells)  # or each choice would send the page dozens of new buttons
        super().__init__(self.actions(lab), f"Press {WAY_ON[lab.state]}, or a cell ahead: the process dies there.")
        self.children: tuple[Any, ...] = (self.row, self.status, self.live, self.picture)
        lab.watchers.append(self.redraw)

    def actions(self, lab: CrashLab) -> dict[str, Callable[[], str]]:
        """Return what each button does."""
        return {"Step": lab.step, "Run": lab.run, "Crash": lab.crash, "Resume": lab.resume, "Reset": lab.reset}

    def __repr__(self) -> str:
        return f"Crash lab: {self.lab.state}"

    def _new_cells(self, *places: Place) -> Any:
        cells = [ipywidgets.Button(description=f"step {place.step}: {place.phase}") for place in places]
        for number, (cell, place) in enumerate(zip(cells, places, strict=True)):
            cell.tooltip = f"{cell.description}. Run to here, then die."
            cell.layout.grid_area = f"2 / {2 * number + 2}"
            cell.on_click(self.pressed(partial(self.lab.die_at, *place)))
        return ipywidgets.GridBox(cells)

    def pressed(self, action: Callable[[], str]) -> Callable[[Any], None]:
        """Return what a button does; if it is gone then, the focus is on the one that leads on."""
        press = super().pressed(action)

        def handler(button: Any) -> None:
            press(button)
            if button.disabled or button.layout.display == "none":
                self.buttons[re.split(", | or ", WAY_ON[self.lab.state])[0]].focus()

        return handler

    def redraw(self) -> None:
        """Show the lab as it is now."""
        self.now = LivePicture(self.lab.tally.run)
        self.drawn.value = f'<div class="minagent">{self.now.svg}</div>'
        self.cells = self._cells(*self.now.run.places)
        self.cells.layout.grid_template_columns = self.now.grid_columns
        self.cells.layout.grid_template_rows = self.now.grid_rows
        for place, cell in zip(self.now.run.places, self.cells.children, strict=True):
            cell.disabled = place not in self.now.ahead
        self.live.children = (self.drawn, self.cells)
        for label, button in self.buttons.items():
            looks = "danger" if label == "Crash" else "info"
            button.button_style = looks if label in WAY_ON[self.lab.state] else ""
        super().redraw()

    def draw(self) -> str:
        """Return what the customer paid, and the panels, as HTML."""
        return self._paid() + side_by_side({
            "Process: what it knows": self._process(),
            "Disk: what it holds": self._disk(),
            "Outside world: what it saw": self._world(),
        })  # fmt: skip

    def _paid(self) -> str:
        run = self.now.run
        mark = "✗ " if run.harm else "? " if run.undecided else ""
        kind = " minagent-wrong" if mark else ""
        number = f"What the customer paid: <b>${self.now.paid}</b> " if "charge_card" in run.steps else ""
        return f'<p class="minagent-paid{kind}">{number}{mark}{escape(run.outcome)}</p>'

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
    """The crash lab with all that it can do: each way of recording and set of tools, rare actions, and the score."""

    def __init__(self, lab: CrashLab) -> None:
        super().__init__(lab)
        self.recording = OneOf("Recording:", named(get_args(Recording)), lab.recording)
        self.example = OneOf("Tools:", named(get_args(ExampleName)), lab.example)
        for row in (self.recording, self.example):
            row.observe(self._choose, "value")
        self.children = (self.recording, self.example, *self.children)

    def __repr__(self) -> str:
        return f"Whole crash lab: {self.lab.recording}, {self.lab.example}, {self.lab.state}"

    def actions(self, lab: CrashLab) -> dict[str, Callable[[], str]]:
        """Return what each button does."""
        return {
            **super().actions(lab),
            "Crash in mid-write": lab.tear,
            "Cut the power": lab.cut_power,
            "It happened": lab.it_happened,
            "It did not": partial(lab.resolve, DidNotHappen()),
            "Nobody knows": partial(lab.resolve, Unknown()),
        }

    def redraw(self) -> None:
        """Show the lab as it is now, and of its rare actions those that can be done now."""
        super().redraw()
        state, stood = self.lab.state, self.lab.report
        writing = stood is not None and stood.phase in WRITES
        possible = [True] * 5 + [writing, state == "running"] + [state == "in doubt"] * 3
        for button, shown in zip(self.buttons.values(), possible, strict=True):
            button.layout.display = None if shown else "none"

    def draw(self) -> str:
        """Return what the base class shows, and the score, as HTML."""
        counts, theory = self.lab.score.named().items(), self.lab.tally.predicted.named()
        rows = "".join(f"<tr><th scope=row>{name}</th><td>{n}</td><td>{theory[name]}</td></tr>" for name, n in counts)
        heads = "<th scope=col>what</th><th scope=col>so far</th><th scope=col>in the end, says theory</th>"
        return f"{super().draw()}<table><caption>Score of the crashes</caption><tr>{heads}</tr>{rows}</table>"

    def _choose(self, _: Any) -> None:
        with self.status.errors_shown():
            self.status.say(self.lab.choose(self.recording.value, self.example.value))
