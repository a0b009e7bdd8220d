"""How fast the frequency explorer answers."""

from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

from minagent.lab.frequency.explorer import Choice
from minagent.lab.views.explorer_widget import FrequencyView


def test_a_redraw_of_the_explorer(benchmark: Callable[..., Any]):
    """From a moved slider to the new picture: the goal is 200 ms."""
    view = FrequencyView(Choice())
    intervals: Iterator[int] = cycle(range(3, 13))

    def move() -> None:
        view.controls["interval"].value = next(intervals)

    benchmark(move)
    assert view.status.said.startswith("Every")
