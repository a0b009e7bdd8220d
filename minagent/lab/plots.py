"""Data -> matplotlib Axes.

One look: Okabe-Ito colours, markers, dashes and hatches beside them, names at the marks, a white ground in every theme.
"""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

BLUE, ORANGE, GREEN, BLACK = "#0072B2", "#D55E00", "#009E73", "#000000"
STYLES = ((BLUE, "o", "-"), (ORANGE, "s", "--"), (GREEN, "^", ":"))
"""Colour, marker and line of the first, second and third series: each tells them apart by itself."""
HATCHES = ("", "///", "...")


def _finish(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.figure.set_facecolor("white")


def bars(axes: Axes, values: Mapping[str, int], unit: str) -> None:
    """Draw one horizontal bar for each value, the first on top, with its name and its number beside it."""
    grouped_bars(axes, {name: {"": value} for name, value in values.items()}, unit)


def grouped_bars(axes: Axes, groups: Mapping[str, Mapping[str, int]], unit: str) -> None:
    """Draw for each group one horizontal bar a series, the first on top, each with its number beside it."""
    series = list(next(iter(groups.values())))
    height = 0.8 / len(series)
    for place, name in enumerate(series):
        values = [group[name] for group in groups.values()]
        middles = [i + (place - (len(series) - 1) / 2) * height for i in range(len(values))]
        color, _, _ = STYLES[place]
        marks = axes.barh(middles, values, height, color=color, hatch=HATCHES[place], edgecolor="white", label=name)
        axes.bar_label(marks, padding=3)
    axes.set_yticks(range(len(groups)), list(groups))
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.margins(x=0.15)
    if len(series) > 1:
        axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(series))
    _finish(axes)


def lines(axes: Axes, series: Mapping[str, Sequence[float]], x_label: str, y_label: str) -> None:
    """Draw one line a series over 0, 1, 2, ..., each with its name at its end."""
    for (name, values), (color, marker, line) in zip(series.items(), STYLES, strict=False):
        axes.plot(range(len(values)), values, color=color, marker=marker, linestyle=line)
        axes.annotate(name, (len(values) - 1, values[-1]), (8, 0), textcoords="offset points", color=color, va="center")
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.margins(x=0.1)
    _finish(axes)


def byte_map(axes: Axes, undetected: Sequence[int], width: int = 64) -> None:
    """Draw a file as rows of `width` bytes, each the darker the more of its 8 bits can be flipped unnoticed."""
    rows = [list(undetected[start : start + width]) for start in range(0, len(undetected), width)]
    rows[-1] += [0] * (width - len(rows[-1]))
    image = axes.imshow(rows, cmap="Greys", vmin=0, vmax=8, aspect="equal", interpolation="nearest")
    bar = axes.figure.colorbar(image, ax=axes, orientation="horizontal", shrink=0.5, pad=0.2)
    bar.set_label("bits of a byte that can be flipped unnoticed")
    axes.set_xlabel("byte of the row")
    axes.set_ylabel("row")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.figure.set_facecolor("white")
