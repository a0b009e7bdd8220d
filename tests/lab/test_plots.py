"""The figures: what is drawn is what was given."""

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from minagent.lab.plots import bars


def test_bars_are_as_long_as_their_numbers():
    """One bar a name, in order, each with its number beside it."""
    axes = Figure().subplots()
    bars(axes, {"session": 700, "steps": 90}, "bytes")
    assert [bar.get_width() for bar in axes.patches if isinstance(bar, Rectangle)] == [700, 90]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["session", "steps"]
    assert [label.get_text() for label in axes.texts] == ["700", "90"]
    assert axes.get_xlabel() == "bytes"
