"""Shapes -> PNG, by matplotlib, with two pixels for one."""

import io
from collections.abc import Sequence
from typing import Any

from minagent.lab.kernel.environment import notebook_packages
from minagent.lab.picture.shapes import DARKER, Lines, Rect, Shape, Text

with notebook_packages():
    from matplotlib.artist import Artist
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure
    from matplotlib.patches import Ellipse, Rectangle
    from matplotlib.text import Text as Label


def to_png(shapes: Sequence[Shape], size: tuple[float, float]) -> bytes:
    """Return a picture of this width and height, as a file."""
    # An inch has 72 points: so a pixel of the picture is one, and has two in the file.
    figure = Figure(figsize=(size[0] / 72, size[1] / 72), dpi=144, facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, size[0]), ylim=(size[1], 0))
    axes.axis("off")
    for number, shape in enumerate(shapes):
        axes.add_artist(_artist(shape)).set_zorder(number)
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


def _artist(shape: Shape) -> Artist:
    match shape:
        case Rect(x, y, width, height, fill, stroke, dashed, round):
            look: dict[str, Any] = {"facecolor": fill, "edgecolor": stroke, "linewidth": 1.5}
            look["linestyle"] = (0, (3, 2)) if dashed else "-"
            if round:
                return Ellipse((x + width / 2, y + height / 2), width, height, **look)
            return Rectangle((x, y), width, height, **look)
        case Lines(lines, color, width):
            return LineCollection(lines, colors=color, linewidths=width)
        case Text((x, y), text, size, color, bold, centered):
            look = {"fontsize": size, "weight": "bold" if bold else "normal", "ha": "center" if centered else "left"}
            return Label(x, y, text, color=DARKER.get(color, color), family="DejaVu Sans", parse_math=False, **look)
