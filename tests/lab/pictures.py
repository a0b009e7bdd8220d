"""Can a picture be read? No text on another one, nothing outside."""

from itertools import combinations

from minagent.lab.picture.picture import Picture
from minagent.lab.picture.shapes import Rect, Shape, Text, width

Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""


def box(shape: Shape) -> Box:
    """Return the rectangle that a shape is in."""
    match shape:
        case Rect(x, y, wide, high):
            return x, y, x + wide, y + high
        case Text((x, y), text, size, _, bold, centered):
            wide = width(text, size, bold=bold)
            left = x - wide / 2 if centered else x
            return left, y - 0.8 * size, left + wide, y + 0.22 * size
        case _:
            xs, ys = zip(*(point for line in shape.lines for point in line), strict=True)
            return min(xs), min(ys), max(xs), max(ys)


def misdrawn(picture: Picture) -> list[str]:
    """Return what cannot be read, in words."""
    wide, high = picture.size
    found = [f"wider than 700 pixels: {wide}"] if wide > 700 else []
    for shape in picture.shapes:
        left, top, right, bottom = box(shape)
        if not (left >= 0 and top >= 0 and right <= wide and bottom <= high):
            found.append(f"outside: {shape}")
    texts = [(shape.text, box(shape)) for shape in picture.shapes if isinstance(shape, Text)]
    for (one, (l1, t1, r1, b1)), (two, (l2, t2, r2, b2)) in combinations(texts, 2):
        if l1 < r2 and l2 < r1 and t1 < b2 and t2 < b1:
            found.append(f"{one!r} is on {two!r}")
    return found
