"""Data -> matplotlib Axes. One look: Okabe-Ito colours, labels beside the marks, a white ground in every theme."""

from collections.abc import Mapping

from matplotlib.axes import Axes

BLUE = "#0072B2"


def bars(axes: Axes, values: Mapping[str, int], unit: str) -> None:
    """Draw one horizontal bar for each value, the first on top, with its name and its number beside it."""
    names = list(values)
    marks = axes.barh(names, [values[name] for name in names], color=BLUE)
    axes.bar_label(marks, padding=3)
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    axes.margins(x=0.15)
    axes.spines[["top", "right"]].set_visible(False)
    axes.figure.set_facecolor("white")
