"""Events -> shapes: time runs to the right, a process is a row, and below them are the disk and the world."""

import textwrap
from collections.abc import Sequence
from itertools import groupby

from minagent.lab.picture import shapes as draw
from minagent.lab.picture.run_events import Effect, Event, Place, Run
from minagent.lab.picture.shapes import BLUE, GREEN, GREY, INK, ORANGE, PALE, WHITE, YELLOW, Rect, Shape, Text

WIDTH, MARGIN = 660.0, 12.0  # JupyterLab cuts off what is wider than its page
LEFT, RIGHT = 84.0, 608.0  # of the columns; beside them are the names of the rows, and the word at the last cross
NARROWEST, WIDEST = 28.0, 110.0  # columns
ROW, LINE = 34.0, 20.0  # heights: of a process, and of a line of marks
# What was done, by whether it was done again, and whether it was lost.
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


class Layout:
    """The shapes of a run's picture, and its width and height."""

    def __init__(self, run: Run, title: str) -> None:
        self.run, self.title, self._y = run, title, 24.0  # the height at which the next thing goes
        self.columns, self.by_phase = columns(run.places)
        self.shapes: list[Shape] = []
        self._say(title, 15, INK)
        self._heads()
        self._processes_and_disk()
        self._world()
        if run.window:
            left, right = (self._x(end.at) for end in run.window)
            self.shapes.append(Rect(left, 78, right - left, self._y - 84, YELLOW, ORANGE, dashed=True))
            self.shapes.append(Text(((left + right) / 2, self._y - 11), "window", bold=True, centered=True))
            self._y += 16
        if title:  # else it is part of a page, which has the words
            self._say(run.outcome, 13, ORANGE if run.harm else GREEN)
            self._say(run.price, 11, INK)
        self._key()
        self.shapes.sort(key=lambda shape: not (isinstance(shape, Rect) and shape.fill in (PALE, YELLOW)))  # below all
        self.size = (WIDTH, self._y)

    def _say(self, text: str, size: float, color: str) -> None:
        for line in textwrap.wrap(text, int((WIDTH - 2 * MARGIN) / size / 0.64)):
            self.shapes.append(Text((MARGIN, self._y), line, size, color, bold=True))
            self._y += 1.5 * size

    def _x(self, place: Place) -> float:
        return sum(self.columns[place]) / 2

    def _heads(self) -> None:
        heads = [(self._x(place), 26, str(place.phase)) for place in self.run.places]
        for step in dict.fromkeys(place.step for place in self.run.places):
            edges = [edge for place in self.run.places if place.step == step for edge in self.columns[place]]
            middle = (edges[0] + edges[-1]) / 2
            heads += [(middle, 0, f"step {step}"), (middle, 13, self.run.steps[step])]
        if not self.by_phase:
            heads = [(24, 0, "step"), *((x, y, text.removeprefix("step ")) for x, y, text in heads if y == 0)]
        self.shapes += [Text((x, self._y + y), text, 9, GREY, centered=True) for x, y, text in heads]
        self._y += 50 if self.by_phase else 22

    def _processes_and_disk(self) -> None:
        """Draw a row for each process, the disk, and an arrow from what is on it to whatever went on from that."""
        began, written, self.top = self.run.all("began"), self.run.written, self._y
        self._y += ROW * len(began)
        xs = [self._x(write.at) for write in written]
        marks = dict(zip(written, zip(xs, self._lane("disk", [(x - 8, x + 8) for x in xs]), strict=True), strict=True))
        loaded = [self.run.loaded(event) for event in began]
        for number, (event, write) in enumerate(zip(began, loaded, strict=True)):
            y = self.top + ROW * number
            if write is not None:
                self.shapes.append(draw.arrow(marks[write], (self.columns[event.at][0], y)))
            elif number > 0 and event.at.step == 0:
                self.shapes.append(Text((MARGIN, y + 15), "starts over", 9, GREY))
            self._process(event, y)
        for write, (x, y) in marks.items():
            self.shapes.append(Rect(x - 6, y - 7, 12, 14, GREEN if write in loaded else WHITE, GREEN))

    def _process(self, began: Event, y: float) -> None:
        run, process = self.run, began.process
        self.shapes.append(Text((MARGIN, y + 4), f"process {process}", bold=True))
        done = [did for did in run.all("did") if did.process == process and did.at.phase != "doubt"]
        looks = groupby(done, lambda did: (did.at if self.by_phase else did.at.step, run.again(did), run.lost(did)))
        for (_, again, lost), group in looks:
            edges = [edge for did in group for edge in self.columns[did.at]]
            self.shapes += cell(edges[0], edges[-1], y, again=again, lost=lost)
        for x in (self._x(event.at) for event in run.all("killed") if event.process == process):
            cross = ((x - 7, y - 7), (x + 7, y + 7)), ((x - 7, y + 7), (x + 7, y - 7))
            self.shapes += [draw.Lines(cross, ORANGE, 3), Text((x + 12, y + 4), "killed", 11, ORANGE, bold=True)]
        if began.at.phase == "doubt":
            x = self._x(began.at) + 1
            words = Text((x + 5, y + 4), "?\u00a0\u00a0 in doubt", 11, ORANGE, bold=True)
            self.shapes += [Rect(x, y - 12, 18, 24, WHITE, ORANGE, dashed=True), words]

    def _world(self) -> None:
        marks, boxes = [(effect, self._x(effect.at), self._words(effect)) for effect in self.run.effects], []
        for _, x, text in marks:
            room = 6 + (bool(text) and 10 + draw.width(text, 11, bold=True))
            boxes.append((x - 6, x + room) if x + room < WIDTH else (x - room, x + 6))
        for (effect, x, text), (left, _), y in zip(marks, boxes, self._lane("world", boxes), strict=True):
            color = ORANGE if effect in self.run.harm else INK
            fill = INK if effect.before == 0 and color == INK else WHITE
            self.shapes.append(Rect(x - 5.5, y - 5.5, 11, 11, fill, color, round=True))
            if text:
                self.shapes.append(Text((x + 10 if left == x - 6 else left, y + 4), text, 11, color, color == ORANGE))

    def _words(self, effect: Effect) -> str:
        label = effect.label if self.by_phase else ""  # of many steps, only what went wrong is told
        if effect.before is None:
            return f"same key: nothing {'charged' if effect.dollars else 'done'}"
        if effect.before:
            return f"{label} again".strip()
        return f"{label}? No process knows" if self.run.unknown(effect) else label

    def _lane(self, name: str, boxes: Sequence[tuple[float, float]]) -> list[float]:
        """Draw a lane, and return the height of each box in it: on the first line where no other is in the way."""
        lines: list[list[tuple[float, float]]] = [[] for _ in boxes]
        found = []
        for left, right in boxes:
            free = (n for n, line in enumerate(lines) if all(right < start or end < left for start, end in line))
            found.append(next(free))
            lines[found[-1]].append((left, right))
        top, used = self._y, max(found, default=0) + 1
        self.shapes.append(Rect(LEFT - 8, top - 11, WIDTH - LEFT, LINE * used + 2, PALE, "none"))
        self.shapes.append(Text((MARGIN, top + 4), name, bold=True))
        self._y += LINE * used + 14
        return [top + LINE * line for line in found]

    def _key(self) -> None:
        """Say what the cells mean that are there."""
        there = {(self.run.again(did), self.run.lost(did)) for did in self.run.all("did")}
        self._y += 8
        for number, (again, lost) in enumerate(look for look in LOOKS if look in there):
            x = MARGIN + 120 * number
            self.shapes += cell(x, x + 22, self._y, again=again, lost=lost)
            self.shapes.append(Text((x + 27, self._y + 4), LOOKS[again, lost], 9, GREY))
        self._y += 20
