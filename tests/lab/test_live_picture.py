"""The picture that lives: where one can click is where the process can die, and there the picture draws it then."""

import re
from pathlib import Path
from typing import get_args

import pytest

from minagent.lab.crash_lab.crashlab import CrashLab
from minagent.lab.crash_lab.live_picture import CELL, LivePicture
from minagent.lab.picture.picture import LEFT, WIDTH
from minagent.lab.picture.shapes import Lines, Rect
from minagent.lab.processes.phases import Recording
from minagent.lab.world.example import ExampleName
from tests.examined import Examined


def tracks(grid: str) -> list[float]:
    """Return the sizes of a grid's rows or columns."""
    return [float(size) for size in re.findall(r"minmax\(0, ([\d.]+)fr\)", grid)]


def cells(picture: LivePicture) -> list[tuple[float, float, float]]:
    """Return left, right and middle height of the button of each place."""
    columns, rows = tracks(picture.grid_columns), tracks(picture.grid_rows)
    lefts = [sum(columns[: 2 * number + 1]) for number in range(len(picture.run.places))]
    return [(left, left + columns[2 * number + 1], rows[0] + rows[1] / 2) for number, left in enumerate(lefts)]


@pytest.mark.parametrize("recording", get_args(Recording))
@pytest.mark.parametrize("example", get_args(ExampleName))
def test_a_button_is_where_its_cell_will_be(tmp_path: Path, recording: Recording, example: ExampleName):
    """As wide as it, and in the row of its process; the whole grid is as large as the picture."""
    lab = CrashLab(tmp_path / "lab", recording, example)
    before = LivePicture(lab.tally.run)
    lab.run()
    after = LivePicture(lab.tally.run)
    drawn = [shape for shape in after.shapes if isinstance(shape, Rect) and shape.height == CELL and shape.x >= LEFT]
    assert len(drawn) == len(lab.points)
    for (left, right, middle), cell in zip(cells(before), drawn, strict=True):
        assert (cell.x - 1, cell.x + cell.width + 1) == pytest.approx((left, right), abs=0.01)
        assert cell.y + cell.height / 2 == pytest.approx(middle)
    assert sum(tracks(before.grid_columns)) == pytest.approx(WIDTH, abs=0.01)
    assert sum(tracks(before.grid_rows)) == pytest.approx(before.size[1])


@pytest.mark.parametrize("recording", get_args(Recording))
def test_where_one_can_click_is_where_the_process_can_die(tmp_path: Path, recording: Recording, examined: Examined):
    """At each place of a run, and after each resume; then the cross is in the cell that was clicked."""
    lab = CrashLab(tmp_path / "lab", recording, "errand")
    for number, place in enumerate(lab.points):
        lab.reset()
        picture = LivePicture(lab.tally.run)
        assert picture.ahead == lab.points
        left, right, middle = cells(picture)[number]
        lab.die_at(*place)
        dead = LivePicture(lab.tally.run)
        assert dead.ahead == []
        [cross] = [shape for shape in dead.shapes if isinstance(shape, Lines) and shape.width == 3]
        xs, ys = zip(*(point for line in cross.lines for point in line), strict=True)
        assert left <= sum(xs) / 4 <= right
        assert sum(ys) / 4 == pytest.approx(middle)
        lab.resume()
        here = lab.report
        ahead = lab.points[lab.points.index((here.step, here.phase)) :] if here else []
        assert LivePicture(lab.tally.run).ahead == ahead
        if here:
            lab.run()
            assert LivePicture(lab.tally.run).ahead == []
        lab.close()
    examined("crashes in the crash lab", len(lab.points))


def test_what_was_paid_counts_charges_and_not_requests(tmp_path: Path):
    """A known key charges nothing."""
    for recording, paid in (("every step", 52), ("log with keys", 26), ("log", 26)):
        lab = CrashLab(tmp_path / recording, recording, "errand")  # type: ignore[arg-type]
        lab.die_at(1, "result")
        lab.resume()
        if lab.state == "running":
            lab.run()
        assert LivePicture(lab.tally.run).paid == paid
        lab.close()
