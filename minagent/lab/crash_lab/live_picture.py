"""The picture of a run that is under way, as a page shows it: its lanes, and where the cells are that are ahead."""

from dataclasses import replace
from itertools import pairwise

from minagent.lab.picture.picture import LEFT, ROW, WIDTH, Picture
from minagent.lab.picture.run_events import Run
from minagent.lab.picture.shapes import to_svg
from minagent.lab.processes.phases import Event, Place

CELL = 24.0  # the height of one, in pixels of the picture


class LivePicture(Picture):
    """Before the start there is a row already, for the process that will start."""

    def __init__(self, run: Run) -> None:
        waits = Event(1, "began", run.places[0])
        super().__init__(run if run.all("began") else replace(run, events=[waits]), "")

    @property
    def svg(self) -> str:
        """The picture, with its words for who cannot see it."""
        return to_svg(self.shapes, self.size, "The run so far", repr(self))

    @property
    def paid(self) -> int:
        """What the customer has paid so far, in dollars."""
        return sum(effect.dollars for effect in self.run.effects if effect.before is not None)

    @property
    def ahead(self) -> list[Place]:
        """Where the newest process can be killed: the place at which it stands, and those that follow."""
        began, places = self.run.all("began")[-1], self.run.places
        if began.at.phase == "doubt" or began.process in self.run.killed:
            return []
        done = [places.index(did.at) + 1 for did in self.run.all("did") if did.process == began.process]
        return [*places[max(done, default=places.index(began.at)) :]]

    @property
    def grid_columns(self) -> str:
        """The columns of a CSS grid as wide as the picture: that of the n-th place, from 0, is column 2n + 2."""
        edges = [LEFT, *(edge for place in self.run.places for edge in self.columns[place]), WIDTH]
        return _tracks([LEFT, *(right - left for left, right in pairwise(edges[1:]))])

    @property
    def grid_rows(self) -> str:
        """Its rows: the second one is that of the newest process."""
        above = self.top + ROW * (len(self.run.all("began")) - 1) - CELL / 2
        return _tracks([above, CELL, self.size[1] - above - CELL])


def _tracks(sizes: list[float]) -> str:
    return " ".join(f"minmax(0, {size:g}fr)" for size in sizes)
