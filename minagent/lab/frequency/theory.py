"""How often to save: the closed forms.

Times are in one unit, whichever it is: seconds, minutes, steps. The names that the field uses, and ours:

    M        mean time between failures              between_failures
    delta    the time that a save takes              save
    R        the time that a restart takes           restart
    tau      work between two saves                  interval
    p        how likely it is that a step crashes    p

Failures come at random, without memory, and may strike in a save and in a restart as well, except where it is said.

Source: chapter 7.3.8; Young 1974 (doi 10.1145/361147.361115); Daly 2006 (doi 10.1016/j.future.2004.11.016).
"""

import math
from collections.abc import Iterable

from minagent.lab.frequency.young_daly import daly_interval  # noqa: F401 - found here, beside the other formulas
from minagent.lab.kernel.environment import notebook_packages

with notebook_packages():
    import numpy as np
    import numpy.typing as npt


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


def executed_steps(steps: int, every: int, p: float) -> float:
    """Return how many steps are begun, on average, until `steps` are done, if each one begun crashes with p.

    A save and a restart take no time here. Without saves on the way, `every` is `steps`.
    """

    def until_done(length: int) -> float:
        return math.expm1(-length * math.log1p(-p)) / p  # ((1 - p) ** -length - 1) / p, also for a very small p

    whole, rest = divmod(steps, every)
    return whole * until_done(every) + until_done(rest) if p else steps


def young_interval(save: float, between_failures: float) -> float:
    """Return Young's interval, which is good where `save` is much less than `between_failures`."""
    return math.sqrt(2 * save * between_failures)


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


def expected_overhead(
    phases: npt.NDArray[np.float64],
    saved: npt.NDArray[np.bool_],
    save: float,
    between_failures: float,
    restart: float = 0.0,
) -> float:
    """Return what saves and failures add to the time of a run, on average, as a part of its work.

    The run is a row of `phases`, each so long; `saved` says after which of them there is a save, the last among them.
    """
    segments = np.diff(np.cumsum(phases)[saved], prepend=0.0)
    return total_time(segments, save, between_failures, restart) / float(phases.sum()) - 1


def lost_per_crash(mean: float, variation: float, every: int) -> float:
    """Return the work lost by a crash, on average, if it is saved after each `every` steps and crashes are rare.

    `mean` is the length of a step, and `variation` its squared coefficient of variation: variance / mean^2. A crash
    strikes long steps more often than short ones; that is what the second term counts.
    """
    return every * mean / 2 * (1 + variation / every)


def full_save_bytes(steps: int, step_bytes: int) -> int:
    """Return the bytes that are written if the whole session is saved after each step, and each adds `step_bytes`."""
    return step_bytes * steps * (steps + 1) // 2
