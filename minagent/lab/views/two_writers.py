"""Two requests to one session, and you say who goes on. A widget, and the model behind it; the processes are real."""

import contextlib
import tempfile
import weakref
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import get_args

from minagent.lab.two_writers.interleavings import CUSTOMERS, TIME_PASSES, Meeting, Outcome, meeting
from minagent.lab.two_writers.request import Place, Rule
from minagent.lab.two_writers.request_process import InProcess
from minagent.lab.views.widgets import ActionView, OneOf, bullets, named, side_by_side
from minagent.log.stores.file import FileStore

RULES: tuple[Rule, ...] = get_args(Rule)


class TwoWriters:
    """A meeting of two processes that can be begun anew, under the same rule or another."""

    def __init__(self, rule: Rule) -> None:
        self._open = contextlib.ExitStack()
        self.close = weakref.finalize(self, self._open.close)
        """Kill the processes and remove their folder. So does the end of Python."""
        self.begin(rule)

    def begin(self, rule: Rule) -> str:
        """Begin anew; raise RuntimeError after `close`."""
        if not self.close.alive:
            raise RuntimeError("this view is closed: run its cell again")
        self._open.close()
        folder = Path(self._open.enter_context(tempfile.TemporaryDirectory()))
        place = Place(folder, FileStore(folder))

        def start(name: str, rule: Rule, _: Place) -> InProcess:
            return InProcess(name, rule, folder, f"file:{folder}")

        self.met: Meeting = self._open.enter_context(meeting(rule, place, start))
        return f"Two requests begin. How they write: {rule}."

    def make(self, move: str) -> str:
        """Make a move, and return what happened."""
        if move not in self.met.possible(deaths=True, delays=True):
            return f"Not now: {self._why_not(move)}"
        self.met.make(move)
        if all(request.next is None for request in self.met.requests.values()):
            return f"Both have ended. {in_words(self.met.outcome())}"
        if move == TIME_PASSES:
            return "As much time has passed as a lease lasts."
        _, what = self.met.moves[-1]
        return f"{move} before it could {what}." if move.endswith("dies") else f"{move}: {what}. {self.says(move)}"

    def _why_not(self, move: str) -> str:
        if move == TIME_PASSES:
            return "time changes something once, and only while somebody waits for a lease."
        name = move.partition(" ")[0]
        ended = self.met.requests[name].next is None
        return f"{name} has ended." if ended else "one of the two has died already, and one death is enough."

    def says(self, name: str) -> str:
        """Return what a request is about to do, or how it ended."""
        request = self.met.requests[name]
        if request.next is not None:
            return f"{name} is about to {request.next}."
        return f"{name} has died." if request.ending is None else f"{name} was told: {request.ending}."


def in_words(met: Outcome) -> str:
    """Return what went wrong, in words."""
    found = [
        *(f"{name} was told done, and nothing of its turn is stored." for name in met.lost),
        *(f"{name} was charged, and nothing stored says so." for name in met.unrecorded),
    ]
    if met.repeated:
        found.append(
            "A charge was made twice"
            + (", though by its key it is known as one." if not met.repeated_with_keys else ".")
        )
    return " ".join(found) or "Nothing is lost, and nothing was done twice."


class TwoWritersView(ActionView):
    """A button for each move, and what is stored and what was charged."""

    def __init__(self, rule: Rule) -> None:
        self.model = TwoWriters(rule)
        self.rule = OneOf("How they write:", named(RULES), rule)
        moves = {f"{name} goes on": name for name in CUSTOMERS} | {f"{name} dies": f"{name} dies" for name in CUSTOMERS}
        actions = {label: self._move(move) for label, move in moves.items()}
        actions |= {"Time passes": self._move(TIME_PASSES), "Begin anew": self._begin}
        super().__init__(actions, f"{self.model.says('A')} {self.model.says('B')} Who goes on?")
        self.children = (self.rule, self.row, self.status, self.picture)
        self.rule.observe(lambda _: self.buttons["Begin anew"].click(), "value")

    def __repr__(self) -> str:
        return f"Two writers: {self.status.said}"

    def close(self) -> None:
        """End the processes, too."""
        self.model.close()
        super().close()

    def _move(self, move: str) -> Callable[[], str]:
        return lambda: self.model.make(move)

    def _begin(self) -> str:
        return self.model.begin(self.rule.value)

    def draw(self) -> str:
        """Return the two requests, what is stored, and what was charged, as HTML."""
        met = self.model.met
        messages, in_doubt = met.place.stored(met.rule)
        charges = [f"{customer}{f', key {key}' if key else ''}" for customer, key in met.place.charges()]
        stored = [f"{message.role}: {message.content or 'calls charge'}" for message in messages]
        panels = {
            **{f"Request {name}": [self.model.says(name)] for name in CUSTOMERS},
            "Stored": stored + [f"in doubt: {key}" for key in in_doubt],
            "Charged": charges,
        }
        return side_by_side({title: bullets([*map(escape, lines)], "nobody") for title, lines in panels.items()})
