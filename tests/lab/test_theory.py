"""The closed forms: published numbers, limits, and brute force where that is possible."""

import math

import numpy as np
import pytest

from minagent.lab.frequency.simulate import expected_overhead
from minagent.lab.frequency.theory import (
    best_interval,
    daly_interval,
    lost_at_a_boundary,
    lost_at_a_moment,
    total_time,
    young_interval,
)
from tests.lab.closed_forms import executed_steps, full_save_bytes

DAY, QUARTER = 24 * 60.0, 15.0


@pytest.mark.parametrize(("between", "published"), [(DAY, 117), (DAY / 4, 57), (QUARTER, 9.1)])
def test_the_published_optima_come_out(between: float, published: float):
    """Daly 2006, figures 3 to 5, in minutes: a save takes 5. Equation 37 and the exact optimum round to the same."""
    digits = 1 if published < 10 else 0
    assert round(daly_interval(5, between), digits) == published
    assert abs(best_interval(5, between) - daly_interval(5, between)) < 0.03


@pytest.mark.parametrize(("between", "hours"), [(DAY, 547.88), (DAY / 4, 610.22), (QUARTER, 2504.2)])
def test_the_published_total_times_come_out(between: float, hours: float):
    """500 hours of work, a restart of 10 minutes, at the optimum."""
    best = best_interval(5, between)
    assert total_time([best], 5, between, 10) / best * 500 == pytest.approx(hours, abs=0.05)


@pytest.mark.parametrize("save", [36.0, 1e6])
def test_a_very_dear_save_has_a_best_interval_too(save: float):
    """It comes near the time between failures."""
    assert best_interval(save, 1.0) == pytest.approx(1)


@pytest.mark.parametrize("save", [0.001, 0.1, 1.0, 10.0])
def test_the_best_interval_is_the_best(save: float):
    """No interval a thousandth longer or shorter takes less time for the same work."""
    best = best_interval(save, 1.0)

    def overhead(interval: float) -> float:
        return total_time([interval], save, 1.0, 0.5) / interval

    assert overhead(best) < min(overhead(best * 0.999), overhead(best * 1.001))


def test_young_is_the_limit_for_cheap_saves():
    """And too long where a save is dear: by a third with Daly's 15 minutes."""
    assert young_interval(1e-9, 1.0) == pytest.approx(best_interval(1e-9, 1.0), rel=1e-4)
    assert young_interval(5, QUARTER) / best_interval(5, QUARTER) == pytest.approx(1.336, abs=0.001)


@pytest.mark.parametrize(("steps", "every"), [(100, 10), (37, 10), (100, 7), (5, 5), (5, 99), (1, 1)])
def test_steps_lost_at_a_boundary(steps: int, every: int):
    """Against counting them, one boundary at a time."""
    counted = sum(done % every for done in range(steps)) / steps
    assert lost_at_a_boundary(steps, every) == pytest.approx(counted)


@pytest.mark.parametrize(("steps", "every"), [(37, 10), (20, 5), (7, 99)])
def test_steps_lost_at_any_moment(steps: int, every: int):
    """Against a clock that ticks through a run, and a crash at each tick."""
    lost = [0] * 5
    for done in range(steps):
        lost += [done % every] * 20
        if (done + 1) % every == 0 and done + 1 < steps:
            lost += [every] * 5
    assert lost_at_a_moment(steps, every, step=20, save=5) == pytest.approx(sum(lost) / len(lost))


def test_executed_steps():
    """Three that can be done by hand: one step, two without a save between, and no crashes."""
    assert executed_steps(1, 1, 0.5) == pytest.approx(2)
    assert executed_steps(2, 2, 0.5) == pytest.approx(6)
    assert executed_steps(2, 1, 0.5) == pytest.approx(4)
    assert executed_steps(1000, 10, 1e-12) == pytest.approx(1000)
    assert executed_steps(1000, 10, 0) == 1000


def test_overhead_of_a_run_that_is_saved_here_and_there():
    """Two segments, of three seconds and of four."""
    saved = np.array([False, True, True])
    expected = total_time([3.0, 4.0], 0.5, 60.0, 2.0) / 7 - 1
    assert expected_overhead(np.array([1.0, 2.0, 4.0]), saved, 0.5, 60.0, 2.0) == pytest.approx(expected)


def test_bytes_of_full_saves():
    """1 + 2 + 3 steps."""
    assert full_save_bytes(3, 100) == 600


def test_total_time_without_failures_is_work_and_saves():
    """The limit, for failures that hardly ever come."""
    assert total_time([3, 4], 1, 1e9, 10) == pytest.approx(9)
    assert math.isfinite(total_time([1000], 1, 10, 0))
    assert total_time([10_000], 1, 10, 0) == math.inf
