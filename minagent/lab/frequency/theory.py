"""How often to save: the closed forms, and a policy made of them.

Times are in one unit, whichever it is: seconds, minutes, steps. The names that the field uses, and ours:

    M        mean time between failures              between_failures
    delta    the time that a save takes              save
    R        the time that a restart takes           restart
    tau      work between two saves                  interval

Failures come at random, without memory, and may strike in a save and in a restart as well, except where it is said.

Source: Young 1974 (doi 10.1145/361147.361115); Daly 2006 (doi 10.1016/j.future.2004.11.016).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from minagent.errors import InvalidValue
from minagent.runner import Unsaved


def lost_at_a_boundary(steps: int, every: int) -> float:
    """Return the steps lost, on average, by a crash after one of 0, 1, ..., steps - 1 steps, saved after each `every`.

    The rule of thumb (every - 1) / 2 is right where `every` divides `steps`.
    """
    whole, rest = divmod(steps, every)
    return (whole * every * (every - 1) / 2 + rest * (rest - 1) / 2) / steps


def lost_at_a_moment(steps: int, every: int, step: float, save: float) -> float:
    """Return the complete steps lost, on average, by a crash at any moment before `steps` steps are complete.

    A step takes the time `step`, and a save `save`; there is one before the first step. A crash in a save loses all
    steps since the one before.
    """
    saves = (steps - 1) // every
    in_steps = step * steps * lost_at_a_boundary(steps, every)
    return (in_steps + save * saves * every) / (save + steps * step + saves * save)


def young_interval(save: float, between_failures: float) -> float:
    """Return Young's interval, which is good where `save` is much less than `between_failures`."""
    return math.sqrt(2 * save * between_failures)


def daly_interval(save: float, between_failures: float) -> float:
    """Return the best time between two saves, without that of the saves: Daly 2006, equation 37.

    `save` is the time that a save takes, `between_failures` the mean time between failures, in the same unit. The
    failures come at random; whether a restart is slow or fast makes no difference.
    """
    if save >= 2 * between_failures:
        return between_failures
    ratio = save / (2 * between_failures)
    return young_interval(save, between_failures) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - save


def best_interval(save: float, between_failures: float) -> float:
    """Return the interval with the least total time, whatever a save takes.

    There the derivative is zero: tau/M + log(1 - tau/M) + delta/M = 0. (Solved with Lambert's function, W, it reads
    tau = M (1 + W(-exp(-1 - delta/M))).) Here it is solved by halving: slow, plain, and it cannot go wrong.
    """
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        too_short = middle + math.log1p(-middle) + save / between_failures > 0
        low, high = (middle, high) if too_short else (low, middle)
    return low * between_failures


def total_time(segments: Iterable[float], save: float, between_failures: float, restart: float) -> float:
    """Return the time that a run takes, on average. Its segments, each of so much work, end in a save.

    A stretch x that is retried from its start until no failure strikes in it takes M (e^(x/M) - 1), and e^(x/M) - 1
    failures strike. Each one costs a restart, which takes M (e^(R/M) - 1) by the same rule. Their sum, for one segment
    of tau work: M e^(R/M) (e^((tau + delta)/M) - 1), Daly's formula. Where no float is large enough, it is math.inf.
    """
    mean = between_failures
    try:
        return mean * math.exp(restart / mean) * sum(math.expm1((work + save) / mean) for work in segments)
    except OverflowError:
        return math.inf


@dataclass(frozen=True)
class YoungDaly:
    """Save as often as pays: the interval follows from what the newest save cost and from how often processes die.

    A guess of `mean_time_between_failures` (in seconds) will do: wrong by a factor of two, it costs little. The
    interval stays between `at_least` and `at_most` seconds.
    """

    mean_time_between_failures: float
    at_least: float = 0.0
    at_most: float = math.inf

    def __post_init__(self) -> None:
        mean = self.mean_time_between_failures
        if type(mean) not in (int, float) or not 0 < mean < math.inf:
            raise InvalidValue("mean_time_between_failures", f"must be a number above 0, not {mean!r}")
        if not 0 <= self.at_least <= self.at_most:
            raise InvalidValue("at_least", f"0 <= at_least <= at_most, not {self.at_least!r} and {self.at_most!r}")

    def __str__(self) -> str:
        return f"Young/Daly for a failure in {self.mean_time_between_failures:g} seconds"

    def due(self, unsaved: Unsaved) -> bool:
        """Return whether the best interval has passed."""
        best = daly_interval(unsaved.save_seconds, self.mean_time_between_failures)
        # The next chance comes a step later, as steps have been so far. Now is nearer to the best interval, as a ratio,
        # if the geometric mean of the two times is past it.
        middle = unsaved.seconds * math.sqrt(1 + 1 / unsaved.steps) if unsaved.steps else unsaved.seconds
        return unsaved.seconds >= self.at_least and middle >= min(max(best, self.at_least), self.at_most)
