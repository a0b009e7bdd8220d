"""Shapes -> SVG: attributes alone, so that two pictures in a page do not meet; the same text each time."""

from collections.abc import Sequence
from html import escape

from minagent.lab.picture.shapes import DARKER, WHITE, Lines, Rect, Shape, Text


def to_svg(shapes: Sequence[Shape], size: tuple[float, float], title: str, description: str) -> str:
    """Return a picture of this width and height, on a ground of its own, with words for who cannot see it."""
    wide, high = size
    box = f'width="{wide:g}" height="{high:g}" viewBox="0 0 {wide:g} {high:g}"'
    words = f"<title>{escape(title)}</title><desc>{escape(description)}</desc>"
    body = "\n".join([words, *map(_element, [Rect(0, 0, wide, high, WHITE, "none"), *shapes])])
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box} font-family="sans-serif" role="img">{body}</svg>'


def _element(shape: Shape) -> str:
    match shape:
        case Rect(x, y, width, height, fill, stroke, dashed, round):
            place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{width / 2 if round else 2:g}"'
            dashes = ' stroke-dasharray="3 2"' if dashed else ""
            return f'<rect {place} fill="{fill}" stroke="{stroke}" stroke-width="1.5"{dashes}/>'
        case Lines(lines, color, width):
            path = "".join("M" + "L".join(f"{x:g},{y:g}" for x, y in line) for line in lines)
            return f'<path d="{path}" fill="none" stroke="{color}" stroke-width="{width:g}"/>'
        case Text((x, y), text, size, color, bold, centered):
            look = f'font-size="{size:g}" fill="{DARKER.get(color, color)}"' + ' font-weight="700"' * bold
            anchor = ' text-anchor="middle"' if centered else ""
            return f'<text x="{x:g}" y="{y:g}" {look}{anchor}>{escape(text)}</text>'
