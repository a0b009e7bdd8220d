"""What all views are made of, and two small ones. No logic: a button calls a method of a model, and all is redrawn.

Colours come from the page's theme, so that light and dark both read; each state is a word and a shape first. The line
of class `minagent-status` has the role "status": screen readers speak what it says.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from minagent.lab.kernel.environment import notebook_packages
from minagent.lab.kernel.kernel_state import KernelState

with notebook_packages():
    import ipywidgets
    import traitlets

STYLE = "<style>" + Path(__file__).with_name("views.css").read_text(encoding="utf-8") + "</style>"


def labelled(control: Any, label: str) -> Any:
    """Give a control its name, as wide as it needs to be."""
    control.description = label
    control.style.description_width = "initial"
    return control


def named(values: Iterable[str]) -> dict[str, str]:
    """Return options that are called what they are."""
    return {value: value for value in values}


class OneOf(ipywidgets.HBox):
    """A row of buttons of which one is chosen: that of `value`, which can be observed, and set.

    A list would be shorter, but there JupyterLab takes the arrow keys for itself.
    """

    value = traitlets.Any()

    def __init__(self, label: str, options: Mapping[str, Any], value: Any) -> None:
        self.options = options
        self.buttons = {name: ipywidgets.Button(tooltip=f"{label} {name}") for name in options}
        super().__init__([ipywidgets.Label(label), *self.buttons.values()])
        for name, button in self.buttons.items():
            button.on_click(lambda _, option=options[name]: self.set_trait("value", option))
        self.add_class("minagent-buttons")
        self.observe(self._mark, "value")
        self.value = value

    def _mark(self, _: Any) -> None:
        for name, button in self.buttons.items():
            button.description = f"✓ {name}" if self.options[name] == self.value else name


def bullets(lines: list[str], empty: str = "") -> str:
    """Return lines of HTML as a list, or the word that says that there are none."""
    return "<ul>" + "".join(f"<li>{item}</li>" for item in lines or [f"<em>{empty}</em>"]) + "</ul>"


def side_by_side(panels: Mapping[str, str]) -> str:
    """Return panels as HTML: each a title, and what is in it."""
    sections = (f'<section aria-label="{title}"><h4>{title}</h4>{body}</section>' for title, body in panels.items())
    return f'<div class="minagent-panels">{"".join(sections)}</div>'


class Status(ipywidgets.VBox):
    """The line that says what happened; with it comes the style sheet of the view, once."""

    def __init__(self) -> None:
        self.line = ipywidgets.HTML()
        super().__init__([ipywidgets.HTML(STYLE, layout={"display": "none"}), self.line])

    def say(self, sentence: str, *, error: bool = False) -> None:
        """Show a sentence, and have it spoken."""
        self.said = sentence
        kind = " minagent-error" if error else ""
        words = f'<p class="minagent minagent-status{kind}" role="status" aria-live="polite">{escape(sentence)}</p>'
        self.line.value = words

    @contextlib.contextmanager
    def errors_shown(self) -> Iterator[None]:
        """Show what is raised in this context."""
        # JupyterLab shows what a handler raises in its log console only, where no reader looks.
        try:
            yield
        except (Exception, KeyboardInterrupt) as error:
            self.say(f"{type(error).__name__}: {error}", error=True)


class ActionView(ipywidgets.VBox):
    """A row of buttons, a line that says what happened, and what the model looks like now."""

    def __init__(self, actions: dict[str, Callable[[], str]], greeting: str) -> None:
        self.buttons = {label: ipywidgets.Button(description=label) for label in actions}
        self.status = Status()
        self.status.say(greeting)
        self.picture = ipywidgets.HTML()
        for label, button in self.buttons.items():
            button.on_click(self.pressed(actions[label]))
        self.row = ipywidgets.HBox(list(self.buttons.values()))
        self.row.add_class("minagent-buttons")
        super().__init__([self.row, self.status, self.picture])
        self.redraw()

    def pressed(self, action: Callable[[], str]) -> Callable[[Any], None]:
        """Return what a button does that is for this action."""

        def handler(_: Any) -> None:
            said = ""
            with self.status.errors_shown():
                said = action()
            with self.status.errors_shown():
                self.redraw()  # before it is said: whoever hears it may look at once
                if said:
                    self.status.say(said)

        return handler

    def redraw(self) -> None:
        """Show the model as it is now."""
        self.picture.value = f'<div class="minagent">{self.draw()}</div>'

    def draw(self) -> str:
        """Return the model as HTML; nothing, if there is nothing to see."""
        return ""


class KernelStateView(ActionView):
    """Crash and Resume for the reader's own variables."""

    def __init__(self, kernel: KernelState) -> None:
        self.kernel = kernel
        super().__init__({"Crash": kernel.crash, "Resume": kernel.resume}, "Press Crash.")

    def __repr__(self) -> str:
        alive = [name for name, there in self.kernel.alive().items() if there]
        return f"Kernel state: {', '.join(alive) or 'nothing'} in memory"

    def draw(self) -> str:
        """Return the three names and whether they are there, as HTML."""
        lines = [f"{'● in memory' if there else '✗ gone'}: {name}" for name, there in self.kernel.alive().items()]
        return bullets(lines)


class ControlsView(ipywidgets.VBox):
    """Controls, and a sentence that says what follows from what is chosen."""

    def __init__(self, controls: Mapping[str, Any], say: Callable[..., str]) -> None:
        self.controls, self._say, self.status = controls, say, Status()
        for control in controls.values():
            control.observe(self._redraw, "value")
        super().__init__([*controls.values(), self.status])
        self._redraw(None)

    @property
    def said(self) -> str:
        """The sentence that is shown."""
        return self.status.said

    def _redraw(self, _: Any) -> None:
        with self.status.errors_shown():
            self.status.say(self._say(*(control.value for control in self.controls.values())))


class NumberView(ControlsView):
    """A number to choose, and what follows from it."""

    def __init__(self, label: str, value: int, limits: tuple[int, int], say: Callable[[int], str]) -> None:
        self.number = labelled(ipywidgets.BoundedIntText(value=value, min=limits[0], max=limits[1]), label)
        super().__init__({"number": self.number}, say)

    def __repr__(self) -> str:
        return f"{self.number.description} {self.number.value}: {self.said}"
