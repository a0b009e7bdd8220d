"""Events -> shapes: time runs to the right, a process is a row, and below them are the disk and the world."""

import textwrap
from collections.abc import Sequence
from itertools import groupby

from minagent.lab.picture import shapes as draw
from minagent.lab.picture.run_events import Effect, Run
from minagent.lab.picture.shapes import BLUE, GREEN, GREY, INK, ORANGE, PALE, WHITE, YELLOW, Rect, Shape, Text
from minagent.lab.processes.phases import Event, Place

WIDTH, MARGIN = 660.0, 12.0  # JupyterLab cuts off what is wider than its page
LEFT, RIGHT = 84.0, 608.0  # of the columns; beside them are the names of the rows, and the word at the last cross
NARROWEST, WIDEST = 28.0, 110.0  # columns
ROW, LINE = 34.0, 20.0  # heights: of a process, and of a line of marks
Mark = tuple[Rect, str]  # something in a lane, drawn at height 0, and words to it
# Whether it was done again, and whether it was lost.
LOOKS = {(False, False): "done", (False, True): "lost", (True, False): "done again", (True, True): "again, and lost"}


def columns(places: Sequence[Place]) -> tuple[dict[Place, tuple[float, float]], bool]:
    """Return where the column of each place is, and whether it has room for a name; else a step's phases share one."""
    steps = [list(step) for _, step in groupby(places, key=lambda place: place.step)]
    phase = (RIGHT - LEFT - 6 * len(steps)) / len(places)
    found, left, named = dict[Place, tuple[float, float]](), LEFT, phase >= NARROWEST
    for step in steps:
        wide = min(WIDEST, phase) if named else ((RIGHT - LEFT) / len(steps) - 2) / len(step)
        found |= {place: (left + n * wide, left + (n + 1) * wide) for n, place in enumerate(step)}
        left += len(step) * wide + (6 if named else 2)
    doubts = {at._replace(phase="doubt"): (x, x) for at, (x, _) in found.items() if at.phase == "tool"}
    return found | doubts, named


def cell(left: float, right: float, y: float, *, again: bool, lost: bool) -> list[Shape]:
    """Return what shows that something was done."""
    fill, stroke = ("#fbe3d3", ORANGE) if again else (WHITE if lost else BLUE, BLUE)
    box = (left + 1, y - 12, right - left - 2, 24)
    return [Rect(*box, fill, stroke, dashed=lost), *([draw.hatching(*box)] if again else [])]


class Picture:
    """The shapes of a run's picture, and its width and height. A cell stores it as SVG, as PNG, and in a sentence."""

    def __init__(self, run: Run, title: str) -> None:
        self.run, self.title, self._y = run, title, 24.0  # the height at which the next thing goes
        self.outcome, self.price = run.told or (run.outcome, run.price)
        self.columns, self.by_phase = columns(run.places)
        self.shapes: list[Shape] = []
        self._say(title, 15, INK)
        self._heads()
        self._processes_and_disk()
        if run.effects or not run.rows:
            self.shapes += self._lane("world", [*map(self._effect, [*run.effects, *run.skipped])])
        if run.window:
            left, right = (self._x(end.at) for end in run.window)
            self.shapes.append(Rect(left, 78, right - left, self._y - 84, YELLOW, ORANGE, dashed=True))
            self.shapes.append(Text(((left + right) / 2, self._y - 11), "window", bold=True, centered=True))
            self._y += 16
        if title:  # else it is part of a page, which has the words
            self._say(self.outcome, 13, ORANGE if run.harm or run.undecided else GREEN)
            self._say(self.price, 11, INK)
        self._key()
        self.shapes.sort(key=lambda shape: not (isinstance(shape, Rect) and shape.fill in (PALE, YELLOW)))  # below all
        self.size = (WIDTH, self._y)

    def __repr__(self) -> str:
        return f"{self.outcome} {self.price}"

    def _repr_svg_(self) -> str:
        return draw.to_svg(self.shapes, self.size, self.title, repr(self))

    def _repr_png_(self) -> tuple[bytes, dict[str, float]]:
        return draw.to_png(self.shapes, self.size), dict(zip(("width", "height"), self.size, strict=True))

    def _say(self, text: str, size: float, color: str) -> None:
        for line in textwrap.wrap(text, int((WIDTH - 2 * MARGIN) / size / 0.64)):
            self.shapes.append(Text((MARGIN, self._y), line, size, color, bold=True))
            self._y += 1.5 * size

    def _x(self, place: Place) -> float:
        return sum(self.columns[place]) / 2

    def _heads(self) -> None:
        names, short = self.run.steps, bool(self.run.rows) or not self.by_phase
        heads = [(self._x(place), 26, str(place.phase)) for place in self.run.places]
        for step, places in groupby(self.run.places, lambda place: place.step):
            edges = [edge for place in places for edge in self.columns[place]]
            middle = (edges[0] + edges[-1]) / 2
            heads += [(middle, 0, names[step] if self.run.rows else f"step {step}"), (middle, 13, names[step])]
        if short:
            heads = [(x, y, text.removeprefix("step ")) for x, y, text in heads if y == 0]
            heads += [(24, 0, "step")] * (not self.run.rows)
        self.shapes += [Text((x, self._y + y), text, 9, GREY, centered=True) for x, y, text in heads]
        self._y += 22 if short else 50

    def _processes_and_disk(self) -> None:
        """Draw a row for each process, the disk, and an arrow from what is on it to whatever went on from that."""
        began, written, self.top = self.run.all("began"), self.run.written, self._y
        first = {event.process: event for event in reversed(began)}
        rows = sorted(first)
        self._y += ROW * len(rows)
        loaded = [self.run.loaded(event) for event in began]
        marks = self._lane("disk", [self._write(write, loaded=write in loaded) for write in written])
        points = [(mark.x + 6, mark.y + 7) for mark in marks if isinstance(mark, Rect)]
        for event, write in zip(began, loaded, strict=True):
            y = self.top + ROW * rows.index(event.process)
            if write is not None:
                self.shapes.append(draw.arrow(points[written.index(write)], (self.columns[event.at][0], y)))
            elif y > self.top and event.at.step == 0 and not self.run.rows:
                self.shapes.append(Text((MARGIN, y + 15), "starts over", 9, GREY))
            if event is first[event.process]:
                self._process(event, y)
        self.shapes += marks

    def _process(self, began: Event, y: float) -> None:
        run, process = self.run, began.process
        name = run.rows[process - 1] if run.rows else f"process {process}"
        self.shapes.append(Text((MARGIN, y + 4), name, bold=True))
        own = [event for event in run.events if isinstance(event, Event) and event.process == process]
        done = [did for did in own if did.what == "did" and did.at.phase != "doubt"]
        looks = groupby(done, lambda did: (did.at if self.by_phase else did.at.step, run.again(did), run.lost(did)))
        for (_, again, lost), group in looks:
            edges = [edge for did in group for edge in self.columns[did.at]]
            self.shapes += cell(edges[0], edges[-1], y, again=again, lost=lost)
        for number, event in enumerate(own):
            end = max([self.columns[did.at][1] for did in own[:number] if did.what == "did"], default=LEFT)
            if event.what in ("interrupted", "asleep"):
                self.shapes.append(Text((end + 4, y + 3), f"‖ {event.what}", 9, ORANGE, bold=True))
            elif event.what not in ("began", "did"):
                x = max(self._x(event.at), end + 10 * self.by_phase)  # it may die where it had been before
                cross = ((x - 7, y - 7), (x + 7, y + 7)), ((x - 7, y + 7), (x + 7, y - 7))
                self.shapes += [draw.Lines(cross, ORANGE, 3), Text((x + 12, y + 4), event.what, 11, ORANGE, bold=True)]
        if began.at.phase == "doubt":
            self.shapes.append(Rect(self._x(began.at) + 1, y - 12, 18, 24, WHITE, ORANGE, dashed=True))
            self.shapes.append(Text((self._x(began.at) + 6, y + 4), "?\u00a0\u00a0 in doubt", 11, ORANGE, bold=True))

    def _write(self, write: Event, *, loaded: bool) -> Mark:
        lost, cursor = self.run.lost(write), f"cursor {write.cursor}" if self.run.newest and write.cursor else ""
        fill, color = GREEN if loaded else WHITE, ORANGE if lost else GREEN
        return Rect(self._x(write.at) - 6, -7, 12, 14, fill, color, dashed=lost), "lost" if lost else cursor

    def _effect(self, effect: Effect) -> Mark:
        never, harm = effect in self.run.skipped, effect in self.run.harm
        fill, color = INK if effect.before == 0 and not harm else WHITE, ORANGE if harm else INK
        words = effect.label if self.by_phase else "never ran" * never  # of many steps, only what went wrong is told
        if effect.before is None:
            words = f"same key: nothing {'charged' if effect.dollars else 'done'}"
        elif effect.before:
            words = f"{words} again".strip()
        elif self.run.unknown(effect):
            words += "? No process knows"
        return Rect(self._x(effect.at) - 5.5, -5.5, 11, 11, fill, color, dashed=never, round=True), words

    def _lane(self, name: str, marks: Sequence[Mark]) -> list[Shape]:
        """Draw a lane, and return the marks in it, each on the first line where it has room."""
        lines: list[list[tuple[float, float]]] = [[] for _ in range(len(marks) + 1)]
        drawn, top = list[Shape](), self._y
        self.shapes.append(Text((MARGIN, top + 4), name, bold=True))
        for mark, text in marks:
            x, color, half = mark.x + mark.width / 2, ORANGE if mark.stroke == ORANGE else INK, 6 if mark.round else 8
            room = half + (bool(text) and 10 + draw.width(text, 11, bold=True))
            left, right = (x - half, x + room) if x + room < WIDTH else (x - room, x + half)
            number = next(n for n, line in enumerate(lines) if all(right < a or b < left for a, b in line))
            lines[number].append((left, right))
            aside, y = 0 if mark.round else 9 * number, top + LINE * number  # an arrow passes by the marks above
            drawn.append(mark._replace(x=mark.x - aside, y=mark.y + y))
            at = (x - aside + 10 if left == x - half else left, y + 4)
            drawn += [Text(at, text, 11, color, color == ORANGE)] * bool(text)
        used = max(1, sum(map(bool, lines)))
        self.shapes.append(Rect(LEFT - 8, top - 11, WIDTH - LEFT, LINE * used + 2, PALE, "none"))
        self._y += LINE * used + 14
        return drawn

    def _key(self) -> None:
        """Say what the cells mean that are there."""
        there = {(self.run.again(did), self.run.lost(did)) for did in self.run.all("did")}
        there -= {(False, False)} if self.run.rows else set()
        self._y += 8
        for number, (again, lost) in enumerate(look for look in LOOKS if look in there):
            x = MARGIN + 120 * number
            self.shapes += cell(x, x + 22, self._y, again=again, lost=lost)
            self.shapes.append(Text((x + 27, self._y + 4), LOOKS[again, lost], 9, GREY))
        self._y += 20
