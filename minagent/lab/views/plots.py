"""Data -> matplotlib Axes.

One look: Okabe-Ito colours (the purple darker, so that words in it can be read), markers, dashes and hatches beside
them, names at the marks, a white ground in every theme.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from minagent.lab.kernel.environment import notebook_packages

with notebook_packages():
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch, Rectangle
    from matplotlib.ticker import MaxNLocator

BLUE, ORANGE, GREEN, PURPLE, BLACK = "#0072B2", "#D55E00", "#009E73", "#9C4F80", "#000000"
STYLES = ((BLUE, "o", "-"), (ORANGE, "s", "--"), (GREEN, "^", ":"), (PURPLE, "D", "-."), (BLACK, "v", (0, (1, 3))))
"""Colour, marker and line of the first to the fifth series: each tells them apart by itself."""
HATCHES = ("", "///", "...")


def _finish(axes: Axes, x_label: str = "", y_label: str = "") -> None:
    axes.set(xlabel=x_label, ylabel=y_label)
    axes.spines[["top", "right"]].set_visible(False)
    axes.figure.set_facecolor("white")


def grouped_bars(axes: Axes, groups: Mapping[str, Mapping[str, float]], unit: str, digits: int = 0) -> None:
    """Draw for each group one horizontal bar a series, the first on top, each with its number beside it."""
    series = list(next(iter(groups.values())))
    height = 0.8 / len(series)
    for place, name in enumerate(series):
        values = [group[name] for group in groups.values()]
        middles = [i + (place - (len(series) - 1) / 2) * height for i in range(len(values))]
        color, _, _ = STYLES[place]
        marks = axes.barh(middles, values, height, color=color, hatch=HATCHES[place], edgecolor="white", label=name)
        axes.bar_label(marks, padding=3, fmt=f"{{:.{digits}f}}")
    axes.set_yticks(range(len(groups)), list(groups))
    axes.invert_yaxis()
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.margins(x=0.15)
    if len(series) > 1:
        axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(series))
    _finish(axes, unit)


def _name(axes: Axes, name: str, at: tuple[float, float], offset: tuple[float, float], color: str, **more: Any) -> None:
    axes.annotate(name, at, offset, textcoords="offset points", color=color, **more)


def curves(axes: Axes, x: Sequence[float], series: Mapping[str, Sequence[float]], x_label: str, y_label: str) -> None:
    """Draw one smooth curve a series over the same `x`, each with its name at its end."""
    for (name, values), (color, _, line) in zip(series.items(), STYLES, strict=False):
        axes.plot(x, values, color=color, linestyle=line)
        _name(axes, name, (x[-1], values[-1]), (6, 0), color, va="center", annotation_clip=False)
    _finish(axes, x_label, y_label)


def measured(axes: Axes, x: Sequence[float], y: Sequence[float], errors: Sequence[float], style: int = 0) -> None:
    """Draw dots with a bar of `errors` up and down each: what was measured, on the curve of what was expected."""
    color, marker, _ = STYLES[style]
    axes.errorbar(x, y, yerr=errors, color=color, marker=marker, linestyle="none", capsize=4, markerfacecolor="white")


def mark(axes: Axes, x: float, y: float, name: str, place: int, style: int = 0) -> None:
    """Draw a mark on a curve, with its name `place` lines above it; below it if that is negative."""
    color, marker, _ = STYLES[style]
    axes.plot([x], [y], color=color, marker=marker, markersize=9, markeredgecolor="white", linestyle="none")
    arrow = {"arrowstyle": "-", "color": color}
    _name(axes, name, (x, y), (0, 14 * place), color, ha="center", va="center", arrowprops=arrow)


SPANS = {"restart": ("#999999", "..."), "work": (BLUE, ""), "save": (BLACK, ""), "lost": (ORANGE, "///")}
"""Colour and hatch of each kind of time in a history."""


def history(axes: Axes, spans: Sequence[tuple[int, str, float, float]]) -> None:
    """Draw a run, one row a process: when it restarted, worked, saved, and what was lost. A cross is a crash.

    A span is the number of the process, from 0, a kind of SPANS, and begin and end in seconds.
    """
    for kind, (color, hatch) in SPANS.items():
        chosen = [span for span in spans if span[1] == kind]
        rows, starts = [process for process, *_ in chosen], [begin for _, _, begin, _ in chosen]
        lengths = [end - begin for _, _, begin, end in chosen]
        axes.barh(rows, lengths, 0.7, starts, color=color, hatch=hatch, edgecolor="white", linewidth=0)
    last = {process: (kind, end) for process, kind, _, end in spans}
    crashed = [process for process, (kind, _) in last.items() if kind != "save"]  # one that finishes saves last
    (cross,) = axes.plot([last[row][1] for row in crashed], crashed, "x", color=BLACK, markersize=8, label="crash")
    axes.invert_yaxis()
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    key = partial(Patch, edgecolor="white", linewidth=0)
    keys = [key(facecolor=color, hatch=hatch, label=kind) for kind, (color, hatch) in SPANS.items()]
    sizes = {"ncols": 5, "handlelength": 1.5, "columnspacing": 1.2, "handletextpad": 0.5}
    axes.legend(handles=[*keys, cross], frameon=False, loc="lower left", bbox_to_anchor=(-0.02, 1), **sizes)
    _finish(axes, "seconds", "process")


HARMS = {  # letter and colour of each kind of harm that a crash does
    "repeated": ("R", "#F6C199"),
    "unrecorded": ("N", "#D9B8DC"),
    "missing": ("M", "#9FC9E6"),
    "unknown": ("U", "#E3E3E3"),
}


def crash_map(axes: Axes, rows: Mapping[str, Sequence[tuple[str, Mapping[str, int]]]]) -> None:
    """Draw one row a way of recording, and in it one box a crash point: its name, and what a crash there does.

    A box has the point's name and, for each kind of harm in HARMS, its letter and how much there is of it.
    """
    for row, points in enumerate(rows.values()):
        for column, (point, harm) in enumerate(points):
            done = {kind: harm[kind] for kind in HARMS if harm.get(kind)}
            color = next((HARMS[kind][1] for kind in done), "white")
            box = Rectangle((column, row), 1, 1, facecolor=color, edgecolor=BLACK, linewidth=2 if done else 0.3)
            axes.add_patch(box)
            axes.text(column + 0.5, row + 0.05, point, ha="center", va="top", fontsize=8, rotation=90)
            letters = "\n".join(f"{HARMS[kind][0]}{count}" for kind, count in done.items())
            axes.text(column + 0.5, row + 0.95, letters, ha="center", va="bottom", fontsize=8, weight="bold")
    axes.set(xlim=(0, max(map(len, rows.values()))), ylim=(len(rows), 0), xticks=[])
    axes.set_yticks([row + 0.5 for row in range(len(rows))], list(rows))
    axes.tick_params(length=0)
    there = {kind for points in rows.values() for _, harm in points for kind in harm if harm[kind]}
    shown = {kind: harm for kind, harm in HARMS.items() if kind in there}
    keys = [
        Patch(facecolor=color, edgecolor=BLACK, label=f"{letter}  {kind}") for kind, (letter, color) in shown.items()
    ]
    axes.legend(handles=keys, frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(keys))
    axes.spines[:].set_visible(False)
    axes.figure.set_facecolor("white")
