"""Failures at random, and what they cost: runs of a million steps, without a process or a disk.

    work = Workload(draw("exponential", 1000, 5.0, rng), effect_every=4)
    outcome = simulate(work, SaveWhen(steps=10), failures_at_random(1800.0, rng), save_seconds=1.0)

A step is two phases: the model answers, then its tools run. After each phase the policy is asked whether to save, as
`run_with_checkpoints` asks it. A failure throws away what came after the newest save that was complete; then the run is
restarted, and takes the same steps again, each as long as before. A failure may strike in a restart, too.

Only failures are followed one by one; between two of them everything follows from running sums over the phases.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from minagent.lab.frequency.theory import total_time
from minagent.lab.kernel.environment import notebook_packages
from minagent.runner import Policy, SaveWhen, Unsaved
from minagent.tools import Effect

with notebook_packages():
    import numpy as np
    import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

TOOL_SHARE = 0.2  # the part of a step in which its tools run; in the rest, the model answers
TOKENS_PER_STEP = 500
CHANGES: tuple[Effect, ...] = ("non_idempotent",)
READS: tuple[Effect, ...] = ("read_only",)
PATIENCE = 1000  # failures in a row without a new save after which a run is given up: it gets nowhere

Law = Literal["constant", "exponential", "lognormal", "pareto", "two kinds"]

LAWS: dict[Law, Callable[[np.random.Generator, int], Floats]] = {
    "constant": lambda _, count: np.ones(count),
    "exponential": lambda rng, count: rng.exponential(1.0, count),
    "lognormal": lambda rng, count: rng.lognormal(-(1.5**2) / 2, 1.5, count),
    "pareto": lambda rng, count: np.minimum((1 + rng.pareto(1.5, count)) / 3, 120.0),
    "two kinds": lambda rng, count: np.array([0.2, 16.2])[rng.choice(2, count, p=[0.95, 0.05])],
}
"""How the lengths of steps are spread, around a mean of 1 (a little less for Pareto, which is cut off at 120)."""


def draw(law: Law, count: int, mean: float, rng: np.random.Generator) -> Floats:
    """Return the lengths of `count` steps in seconds."""
    return LAWS[law](rng, count) * mean


@dataclass(frozen=True)
class Workload:
    """The steps of a run."""

    seconds: Floats  # how long each step takes; shape (steps,)
    effect_every: int = 1  # every this many steps, the tool changes the world; in the others it only reads

    def __post_init__(self) -> None:
        if not len(self.seconds) or not (self.seconds > 0).all():
            raise ValueError("a run needs one step at least, and each step needs a time above 0")
        if self.effect_every < 1:
            raise ValueError(f"effect_every must be at least 1, not {self.effect_every}")

    @cached_property
    def effects(self) -> Ints:
        """1 for each step that changes the world, 0 for the others; shape (steps,)."""
        steps = np.arange(1, len(self.seconds) + 1)
        return np.where(steps % self.effect_every == 0, 1, 0)

    @cached_property
    def phases(self) -> Floats:
        """The seconds of each phase, model and tools in turn; shape (2 * steps,)."""
        return np.outer(self.seconds, (1 - TOOL_SHARE, TOOL_SHARE)).ravel()


def failures_at_random(mean: float, rng: np.random.Generator) -> Iterator[float]:
    """Yield the time from each failure to the next: `mean` seconds on average, and without memory (exponential)."""
    while True:
        yield from rng.exponential(mean, 1000).tolist()


class Outcome(NamedTuple):
    """What became of a run. The arrays have one entry for each failure."""

    saved: npt.NDArray[np.bool_]  # whether there is a save after each phase; shape (2 * steps,)
    clock: Floats
    """When each phase would be done and saved if nothing failed, in seconds, after a 0; shape (2 * steps + 1,)."""
    finished: bool  # false for a run that was given up, since it got nowhere
    seconds: float  # from the start to the end, or to when it was given up
    fell_back_to: Ints  # how many phases were saved when the attempt ended; the next one begins there
    ended_after: Floats  # how long the attempt was, restart included, in seconds
    lost_steps: Ints  # complete steps that are taken again. Besides, a failure as a rule cuts a step short
    lost_seconds: Floats  # time that is gone: since the newest save that was complete
    repeated_effects: Ints  # changes to the world that are made again
    repeated_calls: Ints  # answers of the model that are paid for again

    @property
    def writes(self) -> int:
        """How many checkpoints were written: those of the policy, and one at the start of each attempt."""
        return len(self.places) + 1 + len(self.lost_steps)

    @property
    def places(self) -> Ints:
        """After how many phases the saves came that the run reached."""
        reached = len(self.saved) if self.finished else self.fell_back_to[-1]
        return np.flatnonzero(self.saved[:reached]) + 1


def save_places(policy: Policy, work: Workload, save_seconds: float) -> npt.NDArray[np.bool_]:
    """Return after which phases the policy saves; after the last one in any case. A crash changes nothing in that."""
    if isinstance(policy, SaveWhen) and policy == SaveWhen(steps=policy.steps):  # by steps alone: no need to ask it
        steps = np.arange(1, len(work.phases) + 1) / 2
        return np.array((steps % np.ceil(policy.steps) == 0) | (steps == len(work.seconds)), dtype=np.bool_)
    unsaved = Unsaved(save_seconds=save_seconds)
    saved: list[bool] = []
    effects = work.effects.tolist()
    for number, seconds in enumerate(work.phases.tolist()):
        unsaved.seconds += seconds
        if number % 2:
            unsaved.steps += 1
            unsaved.about_to_run = ()
        else:
            unsaved.tokens += TOKENS_PER_STEP
            unsaved.about_to_run = CHANGES if effects[number // 2] else READS
        saved.append(bool(policy.due(unsaved)))
        if saved[-1]:
            unsaved = Unsaved(save_seconds=save_seconds)
    saved[-1] = True
    return np.array(saved)


def expected_overhead(
    phases: Floats, saved: npt.NDArray[np.bool_], save: float, between_failures: float, restart: float = 0.0
) -> float:
    """Return what saves and failures add to the time of a run, on average, as a part of its work.

    The run is a row of `phases`, each so long; `saved` says after which of them there is a save, the last among them.
    """
    segments = np.diff(np.cumsum(phases)[saved], prepend=0.0)
    return total_time(segments, save, between_failures, restart) / float(phases.sum()) - 1


def simulate(
    work: Workload, policy: Policy, failures: Iterator[float], save_seconds: float = 0.0, restart_seconds: float = 0.0
) -> Outcome:
    """Run the steps to their end, through all failures: the seconds from each to the next."""
    if save_seconds < 0 or restart_seconds < 0:
        raise ValueError("a save and a restart take no negative time")
    saved = save_places(policy, work, save_seconds)
    clock = _running_sum(work.phases + saved * save_seconds)
    attempts, finished = _attempts(clock, np.flatnonzero(saved) + 1, failures, restart_seconds)
    back, reached, gaps = np.array(attempts).reshape(-1, 3).T
    fell_back_to = back.astype(int)
    done = np.searchsorted(clock[1:] - saved * save_seconds, reached, side="right")
    last = float(clock[-1] - clock[fell_back_to[-1]]) + restart_seconds if attempts else float(clock[-1])
    effects = _running_sum(work.effects).astype(int)
    return Outcome(
        saved=saved,
        clock=clock,
        finished=finished,
        seconds=float(gaps.sum()) + last * finished,
        fell_back_to=fell_back_to,
        ended_after=gaps,
        lost_steps=done // 2 - fell_back_to // 2,
        lost_seconds=reached - clock[fell_back_to],
        repeated_effects=effects[done // 2] - effects[fell_back_to // 2],
        repeated_calls=(done + 1) // 2 - (fell_back_to + 1) // 2,
    )


def _running_sum(values: npt.ArrayLike) -> Floats:
    """Return the sums of the first 0, 1, 2, ... values."""
    return np.concatenate([[0.0], np.cumsum(values)])


def _attempts(
    clock: Floats, places: Ints, gaps: Iterator[float], restart: float
) -> tuple[list[tuple[int, float, float]], bool]:
    """Return for each failure where the attempt fell back to, the time that it reached, and the gap before it.

    And whether the end was reached, after the last failure.
    """
    starts = [0, *places.tolist()]
    marks = clock[starts].tolist()
    attempts: list[tuple[int, float, float]] = []
    at = in_a_row = 0
    for gap in gaps:
        reached = marks[at] + gap - (restart if attempts else 0.0)
        if reached >= marks[-1]:
            break
        back = max(at, bisect_right(marks, reached) - 1)
        attempts.append((starts[back], max(reached, marks[at]), gap))
        in_a_row = in_a_row + 1 if back == at else 0
        at = back
        if in_a_row == PATIENCE:
            return attempts, False
    return attempts, True
