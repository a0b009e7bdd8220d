"""The figures: what is drawn is what was given."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation

from minagent.lab.views.plots import (
    HATCHES,
    SPANS,
    crash_map,
    curves,
    grouped_bars,
    history,
    mark,
    measured,
)


def new_axes() -> Axes:
    """Return axes to draw on."""
    axes: Axes = Figure().subplots()
    return axes


def widths(axes: Axes) -> list[float]:
    """Return how long the bars are."""
    return [bar.get_width() for bar in axes.patches if isinstance(bar, Rectangle)]


def notes(axes: Axes) -> list[tuple[str, tuple[float, float]]]:
    """Return the annotations, each with the place that it belongs to."""
    return [(text.get_text(), text.xy) for text in axes.texts if isinstance(text, Annotation)]


def test_bars_are_as_long_as_their_numbers():
    """One bar a name, in order, each with its number beside it."""
    axes = new_axes()
    grouped_bars(axes, {"session": {"": 700}, "steps": {"": 90}}, "bytes")
    assert widths(axes) == [700, 90]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["session", "steps"]
    assert [label.get_text() for label in axes.texts] == ["700", "90"]
    assert axes.get_xlabel() == "bytes"


def test_grouped_bars_have_one_bar_for_each_series():
    """And tell the series apart by hatch as well as by colour, and name them."""
    axes = new_axes()
    grouped_bars(axes, {"a": {"kill": 1, "power": 2}, "b": {"kill": 3, "power": 4}}, "states")
    assert widths(axes) == [1, 3, 2, 4]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["kill", "power"]
    assert {patch.get_hatch() or "" for patch in axes.patches} == set(HATCHES[:2])


def test_numbers_at_bars_have_the_digits_that_were_asked_for():
    """Overheads are not whole numbers."""
    axes = new_axes()
    grouped_bars(axes, {"a": {"by steps": 3.67, "by the clock": 3.54}}, "%", digits=1)
    assert [label.get_text() for label in axes.texts] == ["3.7", "3.5"]


def test_curves_carry_their_names_at_their_ends():
    """Five of them can be told apart without colours."""
    axes = new_axes()
    curves(axes, [1, 2], {name: [1.0, place] for place, name in enumerate("abcde")}, "x", "y")
    assert notes(axes) == [(n, (2, p)) for p, n in enumerate("abcde")]
    assert len({line.get_linestyle() for line in axes.lines}) >= 4


def test_what_was_measured_is_dots_with_bars_of_error():
    """On the curve of what was expected."""
    axes = new_axes()
    measured(axes, [1, 2], [5, 6], [0.5, 1])
    dots, *_ = axes.containers[0]
    assert np.asarray(dots.get_ydata()).tolist() == [5, 6]
    (segments,) = axes.containers[0][2]
    assert [segment[:, 1].tolist() for segment in segments.get_segments()] == [[4.5, 5.5], [5, 7]]


def test_a_mark_has_its_name():
    """At its place."""
    axes = new_axes()
    mark(axes, 3, 4, "best", 2)
    assert notes(axes) == [("best", (3, 4))]


def test_a_history_has_a_row_for_each_process_and_a_cross_for_each_crash():
    """Kinds of time differ by hatch as well as by colour; the process that came to the end has no cross."""
    axes = new_axes()
    history(axes, [(0, "work", 0, 3), (0, "lost", 3, 4), (1, "restart", 4, 5), (1, "work", 5, 9), (1, "save", 9, 10)])
    bars_drawn = [bar for bar in axes.patches if isinstance(bar, Rectangle)]
    assert sorted((bar.get_x(), bar.get_width()) for bar in bars_drawn) == [(0, 3), (3, 1), (4, 1), (5, 4), (9, 1)]
    (crosses,) = axes.lines
    assert (np.asarray(crosses.get_xdata()).tolist(), np.asarray(crosses.get_ydata()).tolist()) == ([4], [0])
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [*SPANS, "crash"]


def test_a_crash_map_has_a_box_for_each_point_with_what_a_crash_there_does():
    """Letters say it as well as colours, and the frame of a harmful box is thick."""
    axes = new_axes()
    crash_map(axes, {"one": [("model", {"repeated": 0}), ("write", {"repeated": 2, "paid_again": 1})],
                     "two": [("fsync", {"unknown": 1, "missing": 1})]})  # fmt: skip
    boxes = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert [(box.get_x(), box.get_y(), box.get_linewidth() > 1) for box in boxes] == [
        (0, 0, False), (1, 0, True), (0, 1, True),
    ]  # fmt: skip
    written = [text.get_text() for text in axes.texts if text.get_text()]
    assert written == ["model", "write", "R2", "fsync", "M1\nU1"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["one", "two"]
