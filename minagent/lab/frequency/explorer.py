"""The model behind the frequency explorer: what a policy costs on average, and one run of it, drawn at random.

    view = explore(Choice(policy="every N steps", interval=10, between_failures=600.0, save_seconds=1.0))
    print(view.sentence)

Steps take STEP_SECONDS on average, a restart RESTART_SECONDS, and each fourth step changes the world.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from minagent import SaveWhen
from minagent.lab.frequency.simulate import (
    Law,
    Outcome,
    Workload,
    draw,
    expected_overhead,
    failures_at_random,
    save_places,
    simulate,
)
from minagent.lab.frequency.theory import YoungDaly, best_interval, daly_interval, young_interval
from minagent.lab.kernel.environment import notebook_packages
from minagent.runner import Policy

with notebook_packages():
    import numpy as np
    import numpy.typing as npt

STEPS = 400  # the steps of the run on which costs are computed
SHOWN_STEPS = 60  # the steps of the run that is drawn
STEP_SECONDS = 5.0
RESTART_SECONDS = 2.0
COUNTS = sorted({round(1.25**power) for power in range(1, 23)})
"""The intervals, in steps, for which the cost is computed."""
MOST = 400.0  # percent: a cost above it is shown as this
SHOWN_PROCESSES = 20  # of a run with more crashes, only this many processes are drawn

PolicyName = Literal["every N steps", "every N x 5 seconds", "Young/Daly", "before side effects", "at the end"]
POLICY_NAMES: tuple[PolicyName, ...] = get_args(PolicyName)


@dataclass(frozen=True)
class Choice:
    """What a reader can turn."""

    policy: PolicyName = "every N steps"
    interval: int = 10  # the N of the first two policies
    between_failures: float = 600.0  # seconds from one failure to the next, on average
    save_seconds: float = 1.0
    law: Law = "exponential"
    seed: int = 1

    def made(self) -> Policy:
        """Return the policy itself."""
        makers: dict[PolicyName, Callable[[], Policy]] = {
            "every N steps": lambda: SaveWhen(steps=self.interval),
            "every N x 5 seconds": lambda: SaveWhen(seconds=self.interval * STEP_SECONDS),
            "Young/Daly": lambda: YoungDaly(self.between_failures),
            "before side effects": lambda: SaveWhen(before_side_effects=True),
            "at the end": SaveWhen,
        }
        return makers[self.policy]()


Span = tuple[int, str, float, float]
"""The number of a process, what it does ("restart", "work", "save", "lost"), from when to when, in seconds."""


class View(NamedTuple):
    """What there is to see of a choice."""

    counts: list[int]  # intervals in steps, and below what each costs if all is saved at that interval
    overheads: list[float]  # the time that is added to the work, in percent of it, on average; at most MOST
    chosen: tuple[float, float]
    """Of the chosen policy: how many steps lie between two saves, on average, and its overhead."""
    best: tuple[float, float]
    """The best interval in steps, one at least, by the exact formula for steps of one length, and its overhead."""
    spans: list[Span]  # one run, for `plots.history`
    sentence: str


def explore(choice: Choice) -> View:
    """Compute the costs, and draw one run."""
    rng = np.random.default_rng(choice.seed)
    work = Workload(draw(choice.law, STEPS, STEP_SECONDS, rng), effect_every=4)
    saved = save_places(choice.made(), work, choice.save_seconds)
    chosen = STEPS / int(saved.sum()), _overhead(work, saved, choice)
    overheads = [_overhead(work, save_places(SaveWhen(steps=count), work, 0.0), choice) for count in COUNTS]
    best = max(1.0, best_interval(choice.save_seconds, choice.between_failures) / STEP_SECONDS)
    shown = Workload(work.seconds[:SHOWN_STEPS], effect_every=4)
    failures = failures_at_random(choice.between_failures, rng)
    outcome = simulate(shown, choice.made(), failures, choice.save_seconds, RESTART_SECONDS)
    return View(
        counts=COUNTS,
        overheads=overheads,
        chosen=chosen,
        best=(best, float(np.interp(best, COUNTS, overheads))),
        spans=history(outcome, choice.save_seconds, RESTART_SECONDS),
        sentence=_sentence(choice, chosen, overheads, outcome),
    )


def _overhead(work: Workload, saved: npt.NDArray[np.bool_], choice: Choice) -> float:
    """Return what a reader sees of an overhead: percent, and at most MOST."""
    overhead = expected_overhead(work.phases, saved, choice.save_seconds, choice.between_failures, RESTART_SECONDS)
    return min(100 * overhead, MOST)


def history(outcome: Outcome, save_seconds: float, restart_seconds: float) -> list[Span]:
    """Return what the processes of a run did, the first SHOWN_PROCESSES of them."""
    places = np.flatnonzero(outcome.saved) + 1
    starts = [0, *outcome.fell_back_to.tolist()]
    ends = [*outcome.fell_back_to.tolist(), len(outcome.saved)]
    lives = [*outcome.ended_after.tolist(), np.inf]
    spans: list[Span] = []
    born = 0.0
    for process, (at, end, life) in enumerate(zip(starts, ends, lives, strict=True)):
        if process == SHOWN_PROCESSES:
            break
        now = born + min(restart_seconds if process else 0.0, life)
        spans.append((process, "restart", born, now))
        for place in places[(places > at) & (places <= end)].tolist():
            saving = now + float(outcome.clock[place] - outcome.clock[at]) - save_seconds
            spans += [(process, "work", now, saving), (process, "save", saving, saving + save_seconds)]
            now, at = saving + save_seconds, place  # noqa: PLW2901 - the next stretch begins here
        if life < np.inf:
            spans.append((process, "lost", now, born + life))
        born += life
    return spans


def _sentence(choice: Choice, chosen: tuple[float, float], overheads: list[float], outcome: Outcome) -> str:
    cheapest = min(range(len(COUNTS)), key=lambda place: overheads[place])
    formulas = {
        name: formula(choice.save_seconds, choice.between_failures) / STEP_SECONDS
        for name, formula in {"exact": best_interval, "Daly": daly_interval, "Young": young_interval}.items()
    }
    run = (
        f"This run: {len(outcome.lost_steps)} crashes, {outcome.lost_steps.sum()} steps taken again, "
        f"{outcome.repeated_effects.sum()} effects repeated, {outcome.writes} writes."
        if outcome.finished
        else "This run gets nowhere: no process lives long enough to save, so it was given up."
    )
    more = f"more than {MOST:.0f}" if chosen[1] == MOST else f"{chosen[1]:.1f}"
    policy = str(choice.made())
    return (
        f"{policy[0].upper()}{policy[1:]}: {more} % more time, on average. {run} "
        f"Cheapest of the fixed ones: {SaveWhen(steps=COUNTS[cheapest])}, {overheads[cheapest]:.1f} %. "
        f"The best interval by formula, in steps: {', '.join(f'{name} {n:.1f}' for name, n in formulas.items())}."
    )
