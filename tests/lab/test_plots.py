"""The figures: what is drawn is what was given."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from minagent.lab.plots import HATCHES, STYLES, bars, byte_map, grouped_bars, lines


def new_axes() -> Axes:
    """Return axes to draw on."""
    axes: Axes = Figure().subplots()
    return axes


def widths(axes: Axes) -> list[float]:
    """Return how long the bars are."""
    return [bar.get_width() for bar in axes.patches if isinstance(bar, Rectangle)]


def test_bars_are_as_long_as_their_numbers():
    """One bar a name, in order, each with its number beside it."""
    axes = new_axes()
    bars(axes, {"session": 700, "steps": 90}, "bytes")
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


def test_lines_differ_by_marker_and_dash_and_carry_their_names():
    """Nobody needs the colours to tell them apart."""
    axes = new_axes()
    lines(axes, {"absolute": [1, 2, 3], "sliced": [1, 1, 1]}, "crashes", "cursor")
    assert [np.asarray(line.get_ydata()).tolist() for line in axes.lines] == [[1, 2, 3], [1, 1, 1]]
    assert [(line.get_marker(), line.get_linestyle()) for line in axes.lines] == [style[1:] for style in STYLES[:2]]
    assert [text.get_text() for text in axes.texts] == ["absolute", "sliced"]


def test_a_byte_map_has_a_cell_for_each_byte():
    """In rows; the last one is filled up."""
    axes = new_axes()
    byte_map(axes, [0, 8, 3], width=2)
    assert np.asarray(axes.images[0].get_array()).tolist() == [[0, 8], [3, 0]]
