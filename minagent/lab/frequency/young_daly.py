"""A policy that saves as often as pays: the second one beside SaveWhen.

Source: chapter 7.3.8; Young 1974 (doi 10.1145/361147.361115); Daly 2006 (doi 10.1016/j.future.2004.11.016).
"""

import math
from dataclasses import dataclass

from minagent.errors import InvalidValue
from minagent.runner import Unsaved


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


def daly_interval(save: float, between_failures: float) -> float:
    """Return the best time between two saves, without that of the saves: Daly 2006, equation 37.

    `save` is the time that a save takes, `between_failures` the mean time between failures, in the same unit. The
    failures come at random; whether a restart is slow or fast makes no difference.
    """
    if save >= 2 * between_failures:
        return between_failures
    ratio = save / (2 * between_failures)
    young = math.sqrt(2 * save * between_failures)
    return young * (1 + math.sqrt(ratio) / 3 + ratio / 9) - save
