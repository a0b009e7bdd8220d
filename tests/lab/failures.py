"""Failures that only tests ask for: in steps, and at given moments."""

import math
from collections.abc import Sequence

import numpy as np

from minagent.lab.frequency.simulate import Failures, exponential


def failures_per_step(p: float, rng: np.random.Generator) -> Failures:
    """Return failures that strike each step that is begun with probability p, somewhere within it."""
    return Failures(exponential(-1 / math.log1p(-p), rng), "steps")


def recorded_failures(times: Sequence[float]) -> Failures:
    """Return the failures of a recording: seconds from the start of the run, in ascending order. They serve one run."""
    return Failures(iter(np.diff(times, prepend=0.0).tolist()), "seconds")
