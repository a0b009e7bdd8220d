"""Closed forms that only tests ask for."""

import math


def executed_steps(steps: int, every: int, p: float) -> float:
    """Return how many steps are begun, on average, until `steps` are done, if each one begun crashes with p.

    A save and a restart take no time here. Without saves on the way, `every` is `steps`.
    """

    def until_done(length: int) -> float:
        return math.expm1(-length * math.log1p(-p)) / p  # ((1 - p) ** -length - 1) / p, also for a very small p

    whole, rest = divmod(steps, every)
    return whole * until_done(every) + until_done(rest) if p else steps


def lost_per_crash(mean: float, variation: float, every: int) -> float:
    """Return the work lost by a crash, on average, if it is saved after each `every` steps and crashes are rare.

    `mean` is the length of a step, and `variation` its squared coefficient of variation: variance / mean^2. A crash
    strikes long steps more often than short ones; that is what the second term counts.
    """
    return every * mean / 2 * (1 + variation / every)


def full_save_bytes(steps: int, step_bytes: int) -> int:
    """Return the bytes that are written if the whole session is saved after each step, and each adds `step_bytes`."""
    return step_bytes * steps * (steps + 1) // 2
