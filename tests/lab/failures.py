"""Failures that only tests ask for: at given moments."""

from collections.abc import Iterator, Sequence

import numpy as np


def recorded_failures(times: Sequence[float]) -> Iterator[float]:
    """Return the failures of a recording: seconds from the start of the run, in ascending order. They serve one run."""
    return iter(np.diff(times, prepend=0.0).tolist())
