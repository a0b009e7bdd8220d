"""Can a figure be read? No text on another one, and none on a curve.

How wide the page is does not matter: letters and lines grow and shrink together.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations, pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

SLACK = 1.0  # pixels that two boxes may share: a box is a little larger than its letters


def unreadable(figure: Figure) -> list[str]:
    """Return what cannot be read, in words."""
    figure.canvas.draw()
    # An annotation's own extent would have its arrow in it.
    boxes = [(text.get_text(), Text.get_window_extent(text)) for text in _texts(figure) if text.get_text().strip()]
    found = [f"{one!r} is on {two!r}" for (one, b1), (two, b2) in combinations(boxes, 2) if _share(b1, b2)]
    curves = [curve for axes in figure.axes for curve in _curves(axes)]
    return found + [f"{name!r} is on a curve" for name, box in boxes if any(_meet(box, curve) for curve in curves)]


def _texts(figure: Figure) -> Iterator[Text]:
    """Yield the texts that are drawn: not those at ticks beyond the limits."""
    yield from figure.texts
    for axes in figure.axes:
        yield from (axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts)
        yield from (legend.get_texts() if (legend := axes.get_legend()) else ())
        yield from _labels(axes.xaxis, axes.get_xlim())
        yield from _labels(axes.yaxis, axes.get_ylim())


def _labels(axis: Axis, limits: Iterable[float]) -> Iterator[Text]:
    low, high = sorted(limits)
    for minor in (False, True):
        for place, label in zip(axis.get_ticklocs(minor=minor), axis.get_ticklabels(minor=minor), strict=True):
            if low <= place <= high and label.get_visible():
                yield label


def _curves(axes: Axes) -> Iterator[np.ndarray]:
    """Yield each curve that is drawn, as many points in pixels; and where it leaves its axes, no more of it."""
    for line in axes.lines:
        points = axes.transData.transform(np.column_stack([line.get_xdata(), line.get_ydata()]).astype(float))
        if line.get_linestyle() not in ("None", "") and len(points) > 1:
            between = np.linspace(0, 1, 50)[:, None]
            curve = np.concatenate([a + (b - a) * between for a, b in pairwise(points)])
            low, high = axes.bbox.min, axes.bbox.max
            yield curve[((curve >= low) & (curve <= high)).all(axis=1)]


def _share(one: Bbox, two: Bbox) -> bool:
    wide, high = min(one.x1, two.x1) - max(one.x0, two.x0), min(one.y1, two.y1) - max(one.y0, two.y0)
    return bool(wide > SLACK and high > SLACK)


def _meet(box: Bbox, curve: np.ndarray) -> bool:
    low, high = np.array(box.min) + SLACK, np.array(box.max) - SLACK
    return bool(((curve > low) & (curve < high)).all(axis=1).any())
