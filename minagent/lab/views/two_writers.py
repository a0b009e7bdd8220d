"""Two requests to one session, and you say who goes on."""

from collections.abc import Callable
from functools import partial
from html import escape
from typing import get_args

from minagent.lab.two_writers.interleavings import CUSTOMERS, TIME_PASSES
from minagent.lab.two_writers.request import Rule
from minagent.lab.two_writers.request_process import TwoWriters
from minagent.lab.views.widgets import ActionView, OneOf, bullets, named, side_by_side

RULES: tuple[Rule, ...] = get_args(Rule)


class TwoWritersView(ActionView):
    """A button for each move, and what is stored and what was charged."""

    def __init__(self, rule: Rule) -> None:
        self.model = TwoWriters(rule)
        self.rule = OneOf("How they write:", named(RULES), rule)
        moves = {f"{name} goes on": name for name in CUSTOMERS} | {f"{name} dies": f"{name} dies" for name in CUSTOMERS}
        moves |= {"Time passes": TIME_PASSES}
        actions: dict[str, Callable[[], str]] = {name: partial(self.model.make, move) for name, move in moves.items()}
        actions["Begin anew"] = lambda: self.model.begin(self.rule.value)
        super().__init__(actions, f"{self.model.says('A')} {self.model.says('B')} Who goes on?")
        self.children = (self.rule, self.row, self.status, self.picture)
        self.rule.observe(lambda _: self.buttons["Begin anew"].click(), "value")

    def __repr__(self) -> str:
        return f"Two writers: {self.status.said}"

    def close(self) -> None:
        """End the processes, too."""
        self.model.close()
        super().close()

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
