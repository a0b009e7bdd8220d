"""The frequency explorer as a widget, and its picture. No logic: each control changes the choice, all is redrawn."""

import base64
import io
from html import escape
from typing import Any

from minagent.lab.frequency.explorer import POLICY_NAMES, Choice, View, explore
from minagent.lab.frequency.simulate import LAWS
from minagent.lab.kernel.environment import notebook_packages
from minagent.lab.views import plots
from minagent.lab.views.widgets import ControlsView, OneOf, labelled, named

with notebook_packages():
    import ipywidgets
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullLocator

BETWEEN_FAILURES = {"30 seconds": 30.0, "1 minute": 60.0, "5 minutes": 300.0, "10 minutes": 600.0, "1 hour": 3600.0}
COUNTS_SHOWN = [1, 2, 5, 10, 20, 50, 100]
SAVE_COSTS = {"10 ms": 0.01, "100 ms": 0.1, "1 s": 1.0, "10 s": 10.0}


def picture(view: View) -> Figure:
    """Draw the cost of each interval, the best and the chosen one, and beside it one run."""
    figure = Figure(figsize=(9.6, 3.4), dpi=80)
    FigureCanvasAgg(figure)
    cost, run = figure.subplots(1, 2, width_ratios=(2, 3))
    figure.subplots_adjust(left=0.07, right=0.98, bottom=0.16, top=0.88, wspace=0.2)
    plots.curves(cost, view.counts, {"": view.overheads}, "steps from save to save", "% more time, on average")
    top = 3 * view.best[1]
    cost.set(xscale="log", xlim=(0.8, 130), ylim=(0, top))
    cost.set_xticks(COUNTS_SHOWN, map(str, COUNTS_SHOWN))
    cost.xaxis.set_minor_locator(NullLocator())
    plots.mark(cost, *view.best, "best", 3, 2)
    count, overhead = view.chosen
    inside = overhead < top and count < COUNTS_SHOWN[-1]
    plots.mark(cost, min(count, 100), min(overhead, 0.7 * top), "chosen" if inside else "off the chart", 3, 1)
    plots.history(run, view.spans)
    return figure


class FrequencyView(ControlsView):
    """Failure rate, cost of a save, spread of the steps, and policy: what it costs, and one run, drawn at random."""

    def __init__(self, choice: Choice) -> None:
        controls = {
            "policy": OneOf("Policy:", named(POLICY_NAMES), choice.policy),
            "interval": labelled(ipywidgets.BoundedIntText(choice.interval, 1, 200), "N"),
            "between_failures": OneOf("A failure each:", BETWEEN_FAILURES, choice.between_failures),
            "save_seconds": OneOf("A save takes:", SAVE_COSTS, choice.save_seconds),
            "law": OneOf("Lengths of steps:", named(LAWS), choice.law),
            "seed": labelled(ipywidgets.BoundedIntText(choice.seed, 1, 999), "Draw number"),
        }
        self.picture = ipywidgets.HTML()
        super().__init__(controls, self._draw)
        self.children += (self.picture,)

    def __repr__(self) -> str:
        return f"Frequency explorer: {self.said}"

    def _draw(self, *chosen: Any) -> str:
        view = explore(Choice(*chosen))
        self.picture.value = _image(picture(view), view.sentence)
        return view.sentence


def _image(figure: Figure, said: str) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    data = base64.b64encode(buffer.getvalue()).decode()
    return f'<img style="max-width: 100%" alt="{escape(said)}" src="data:image/png;base64,{data}">'
