"""How fast the simulation is."""

from collections.abc import Callable
from typing import Any

import numpy as np

from minagent import SaveWhen
from minagent.lab.frequency.simulate import Outcome, Workload, draw, failures_at_random, simulate


def test_a_million_simulated_steps(benchmark: Callable[..., Any]):
    """With 2,900 failures: the goal is two seconds on one core."""

    def run() -> Outcome:
        rng = np.random.default_rng(73)
        work = Workload(draw("exponential", 1_000_000, 5.0, rng))
        return simulate(
            work, SaveWhen(steps=10), failures_at_random(1800.0, rng), save_seconds=1.0, restart_seconds=2.0
        )

    outcome = benchmark(run)
    assert outcome.finished
    assert len(outcome.lost_steps) > 2500
