"""The shapes of a picture, in pixels from its upper left corner, and how wide a text is."""

from dataclasses import dataclass

BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"  # Okabe and Ito's: the colour-blind tell them apart, too
INK, GREY, PALE, WHITE, YELLOW = "#1f2328", "#59636e", "#f1f3f5", "#ffffff", "#fbf5c4"
DARKER = {ORANGE: "#AE4C00", GREEN: "#007A59"}  # so that words of this colour can be read

# In ems of DejaVu Sans, rounded up; the fonts that a browser takes instead are narrower. All others are 0.65 wide.
WIDTHS = {0.41: "ijltfrI .,:;'|!()[]-/", 1.0: "mwMW%", 0.8: "ABCDEFGHJKLNOPQRSTUVXYZ"}
EMS = {character: ems for ems, characters in WIDTHS.items() for character in characters}
Point = tuple[float, float]


@dataclass(frozen=True)
class Rect:
    """A rectangle, or the ellipse in it."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    stroke: str
    dashed: bool = False
    round: bool = False


@dataclass(frozen=True)
class Lines:
    """Lines through points."""

    lines: tuple[tuple[Point, ...], ...]
    color: str
    width: float


@dataclass(frozen=True)
class Text:
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
    """Return an arrow that goes up or down first, and then to the right."""
    x, y = end
    return Lines(((start, (start[0], y), end), ((x - 6, y - 4), end, (x - 6, y + 4))), GREEN, 2)
