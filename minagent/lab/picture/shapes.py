"""The shapes of a picture, in pixels from its upper left corner, how wide a text is, and shapes -> SVG and PNG."""

import io
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

from minagent.lab.kernel.environment import notebook_packages

BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"  # Okabe and Ito's: the colour-blind tell them apart, too
INK, GREY, PALE, WHITE, YELLOW = "#1f2328", "#59636e", "#f1f3f5", "#ffffff", "#fbf5c4"
DARKER = {ORANGE: "#AE4C00", GREEN: "#007A59"}  # so that words of this colour can be read

# In ems of DejaVu Sans, rounded up; the fonts that a browser takes instead are narrower. All others are 0.65 wide.
WIDTHS = {0.41: "ijltfrI .,:;'|!()[]-/", 1.0: "mwMW%", 0.8: "ABCDEFGHJKLNOPQRSTUVXYZ"}
EMS = {character: ems for ems, characters in WIDTHS.items() for character in characters}
DASHES, BOLD, CENTERED = ' stroke-dasharray="3 2"', ' font-weight="700"', ' text-anchor="middle"'
Point = tuple[float, float]


class Rect(NamedTuple):
    """A rectangle, or the ellipse in it."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    stroke: str
    dashed: bool = False
    round: bool = False


class Lines(NamedTuple):
    """Lines through points."""

    lines: tuple[tuple[Point, ...], ...]
    color: str
    width: float


class Text(NamedTuple):
    """A line of text, from a point on its base line; or with its middle there."""

    at: Point
    text: str
    size: float = 11.0
    color: str = INK
    bold: bool = False
    centered: bool = False


Shape = Rect | Lines | Text


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Return how wide a text is, or a little more."""
    return sum(EMS.get(character, 0.65) for character in text) * size * (1.13 if bold else 1)


def hatching(x: float, y: float, width: float, height: float) -> Lines:
    """Return parallel lines that rise to the right, cut at the edges of a rectangle."""
    along = range(3, int(width + height), 6)
    lows = [(x + max(0, at - height), y + min(height, at)) for at in along]
    highs = [(x + min(width, at), y + max(0, at - width)) for at in along]
    return Lines(tuple(zip(lows, highs, strict=True)), ORANGE, 2)


def arrow(start: Point, end: Point) -> Lines:
    """Return an arrow that goes up or down first, and then to the right; if it must go back, between two rows."""
    x, y = end
    back = ((start[0], y + 17), (x - 8, y + 17), (x - 8, y))
    bends = back if x < start[0] else ((start[0], y),)
    return Lines(((start, *bends, end), ((x - 6, y - 4), end, (x - 6, y + 4))), GREEN, 2)


def to_svg(shapes: Sequence[Shape], size: tuple[float, float], title: str, description: str) -> str:
    """Return a picture on a ground of its own, with words for who cannot see it, and nothing that another may meet."""
    wide, high = size
    box = f'width="{wide:g}" height="{high:g}" viewBox="0 0 {wide:g} {high:g}"'
    words = f"<title>{escape(title)}</title><desc>{escape(description)}</desc>"
    body = "\n".join([words, *map(_element, [Rect(0, 0, wide, high, WHITE, "none"), *shapes])])
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box} font-family="sans-serif" role="img">{body}</svg>'


def _element(shape: Shape) -> str:
    match shape:
        case Rect(x, y, width, height, fill, stroke, dashed, round):
            place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{width / 2 if round else 2:g}"'
            return f'<rect {place} fill="{fill}" stroke="{stroke}" stroke-width="1.5"{DASHES * dashed}/>'
        case Lines(lines, color, width):
            path = "".join("M" + "L".join(f"{x:g},{y:g}" for x, y in line) for line in lines)
            return f'<path d="{path}" fill="none" stroke="{color}" stroke-width="{width:g}"/>'
        case Text((x, y), text, size, color, bold, centered):
            look = f'font-size="{size:g}" fill="{DARKER.get(color, color)}"' + BOLD * bold + CENTERED * centered
            return f'<text x="{x:g}" y="{y:g}" {look}>{escape(text)}</text>'


def to_png(shapes: Sequence[Shape], size: tuple[float, float]) -> bytes:
    """Return a picture of this width and height, as a file, by matplotlib, with two pixels for one."""
    with notebook_packages():  # which takes longer to load than all the rest
        from matplotlib import collections, figure, patches  # noqa: PLC0415

    # An inch has 72 points: so a pixel of the picture is one, and has two in the file.
    drawn = figure.Figure(figsize=(size[0] / 72, size[1] / 72), dpi=144, facecolor="white")
    axes = drawn.add_axes((0, 0, 1, 1), xlim=(0, size[0]), ylim=(size[1], 0))
    axes.axis("off")
    for number, shape in enumerate(shapes):
        match shape:
            case Rect(x, y, wide, high, fill, stroke, dashed, round):
                look: dict[str, Any] = {"fc": fill, "ec": stroke, "lw": 1.5, "ls": (0, (3, 2)) if dashed else "-"}
                at, kind = ((x + wide / 2, y + high / 2), patches.Ellipse) if round else ((x, y), patches.Rectangle)
                axes.add_patch(kind(at, wide, high, zorder=number, **look))
            case Lines(lines, color, width):
                axes.add_artist(collections.LineCollection(lines, colors=color, linewidths=width, zorder=number))
            case Text((x, y), text, points, color, bold, centered):
                look = {"size": points, "weight": 700 if bold else 400, "ha": "center" if centered else "left"}
                look |= {"color": DARKER.get(color, color), "family": "DejaVu Sans", "parse_math": False}
                axes.text(x, y, text, zorder=number, **look)
    file = io.BytesIO()
    drawn.savefig(file, format="png")
    return file.getvalue()
