"""The simulation: against the closed forms, against itself step by step, and at its edges."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean, stdev

import numpy as np
import numpy.typing as npt
import pytest

from minagent import SaveWhen, Unsaved
from minagent.lab.frequency.simulate import (
    LAWS,
    PATIENCE,
    Law,
    Outcome,
    Workload,
    draw,
    expected_overhead,
    failures_at_random,
    save_places,
    simulate,
)
from minagent.lab.frequency.theory import (
    YoungDaly,
    best_interval,
    total_time,
)
from minagent.runner import Policy
from tests.lab.closed_forms import executed_steps, full_save_bytes, lost_per_crash
from tests.lab.failures import recorded_failures


def errors_apart(sample: list[float], expected: float) -> float:
    """Return how many standard errors the mean of a sample is from what was expected."""
    return abs(fmean(sample) - expected) / (stdev(sample) / math.sqrt(len(sample)))


@pytest.mark.parametrize(
    ("steps", "every", "p"), [(100, 10, 0.01), (37, 10, 0.01), (50, 7, 0.05), (20, 5, 0.2), (50, 50, 0.05)]
)
def test_executed_steps_agree_with_the_closed_form(steps: int, every: int, p: float):
    """Within 3 standard errors of 2,000 runs; a failure cuts one step, and loses those that were not saved.

    A step takes a second, so that the mean time between failures says how likely it is to be cut.
    """
    rng, work = np.random.default_rng(73), Workload(np.ones(steps))
    sample = []
    for _ in range(2000):
        outcome = simulate(work, SaveWhen(steps=every), failures_at_random(-1 / math.log1p(-p), rng))
        sample.append(steps + len(outcome.lost_steps) + float(outcome.lost_steps.sum()))
    assert errors_apart(sample, executed_steps(steps, every, p)) < 3
    assert errors_apart(sample, executed_steps(steps, every, p * 1.5)) > 3  # the test can fail


@pytest.mark.parametrize("minutes", [24 * 60.0, 6 * 60.0, 15.0])
@pytest.mark.parametrize("factor", [0.5, 1, 2])
def test_total_time_agrees_with_daly_s_formula(minutes: float, factor: float):
    """Within 0.5 percent, at half, one and two times the optimum; failures strike in saves and restarts as well."""
    interval, segments = best_interval(5, minutes) * factor, 200_000 if minutes == 15 else 50_000
    rng, work = np.random.default_rng(73), Workload(np.full(segments, interval))
    outcome = simulate(work, SaveWhen(steps=1), failures_at_random(minutes, rng), save_seconds=5, restart_seconds=10)
    assert outcome.finished
    assert outcome.seconds == pytest.approx(segments * total_time([interval], 5, minutes, 10), rel=0.005)


@pytest.mark.parametrize("law", list(LAWS))
def test_loss_per_crash_agrees_with_the_closed_form(law: Law):
    """Within 3 standard errors, with the mean and the variance of the steps that were drawn."""
    rng = np.random.default_rng(73)
    seconds = draw(law, 500_000, 5.0, rng)
    mean, variation = float(seconds.mean()), float(seconds.var() / seconds.mean() ** 2)
    lost = simulate(Workload(seconds), SaveWhen(steps=10), failures_at_random(5000.0, rng)).lost_seconds.tolist()
    assert errors_apart(lost, lost_per_crash(mean, variation, 10)) < 3
    if variation > 5:
        assert errors_apart(lost, lost_per_crash(mean, 0, 10)) > 3  # the variance is what makes the difference


@pytest.mark.parametrize("law", list(LAWS))
def test_steps_have_the_mean_that_was_asked_for(law: Law):
    """Pareto's is a little lower, since its longest are cut off."""
    seconds = draw(law, 400_000, 5.0, np.random.default_rng(73))
    assert seconds.mean() == pytest.approx(5, rel=0.05)
    assert seconds.min() > 0


def test_a_run_without_failures():
    """Nothing is lost, and the time is that of the steps and the saves."""
    outcome = simulate(Workload(np.full(10, 2.0)), SaveWhen(steps=4), recorded_failures([]), save_seconds=0.5)
    assert (outcome.finished, outcome.seconds, outcome.writes) == (True, 10 * 2 + 3 * 0.5, 4)
    assert [len(array) for array in (outcome.lost_steps, outcome.lost_seconds, outcome.repeated_effects)] == [0, 0, 0]


def test_one_failure_by_hand():
    """Steps of 2 s, a save of 1 s each 2 steps, a restart of 3 s; the failure comes 8 s after the start."""
    work = Workload(np.full(4, 2.0), effect_every=1)
    outcome = simulate(work, SaveWhen(steps=2), recorded_failures([8.0]), save_seconds=1, restart_seconds=3)
    # 0-2-4 two steps, 4-5 save, 5-7 third step, 7-8 part of the fourth: the third is lost, with its effect.
    assert (outcome.lost_steps.tolist(), outcome.lost_seconds.tolist()) == ([1], [3.0])
    assert (outcome.repeated_effects.tolist(), outcome.repeated_calls.tolist()) == ([1], [1])
    assert outcome.seconds == 8 + 3 + 2 * 2 + 1
    assert outcome.writes == 2 + 1 + 1


@pytest.mark.parametrize(
    ("at", "lost", "effects", "calls"),
    [
        (1.0, 0, 0, 0),  # in the first model call
        (1.7, 0, 0, 1),  # in the first tool: the answer is paid for, and lost
        (4.5, 2, 2, 2),  # in the save: complete steps, not on the disk
        (5.5, 0, 0, 0),  # after the save, in the model call
    ],
)
def test_what_is_lost_depends_on_the_phase(at: float, lost: int, effects: int, calls: int):
    """The same run, struck in different phases."""
    outcome = simulate(Workload(np.full(4, 2.0)), SaveWhen(steps=2), recorded_failures([at]), save_seconds=1)
    assert outcome.lost_steps.tolist() == [lost]
    assert outcome.repeated_effects.tolist() == [effects]
    assert outcome.repeated_calls.tolist() == [calls]


@pytest.mark.parametrize(("end", "crashes"), [(7.9, 1), (8.0, 0)])
def test_a_failure_at_the_very_end_comes_too_late(end: float, crashes: int):
    """The last save is complete."""
    assert len(simulate(Workload(np.full(4, 2.0)), SaveWhen(), recorded_failures([end])).lost_steps) == crashes


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: Workload(np.array([])), "one step at least"),
        (lambda: Workload(np.array([1.0, 0.0])), "a time above 0"),
        (lambda: Workload(np.ones(3), effect_every=0), "effect_every must be at least 1"),
        (lambda: simulate(Workload(np.ones(3)), SaveWhen(), recorded_failures([]), -1.0), "no negative time"),
    ],
)
def test_what_cannot_be_simulated_is_refused(wrong: Callable[[], object], said: str):
    """Instead of giving numbers that mean nothing."""
    with pytest.raises(ValueError, match=said):
        wrong()


def test_a_failure_in_a_restart_loses_nothing_more():
    """Only time: until then, and the restart that begins anew."""
    outcome = simulate(Workload(np.full(2, 2.0)), SaveWhen(steps=1), recorded_failures([3.0, 4.0]), restart_seconds=5)
    assert outcome.lost_steps.tolist() == [0, 0]
    assert outcome.lost_seconds.tolist() == [1.0, 0.0]
    assert outcome.seconds == 3 + 1 + 5 + 2


def test_saving_before_a_side_effect_saves_the_answer_and_not_the_effect():
    """Each second step has an effect. Struck after it, the answer is on the disk, and the effect is repeated."""
    outcome = simulate(
        Workload(np.full(4, 2.0), effect_every=2), SaveWhen(before_side_effects=True), recorded_failures([5.0])
    )
    assert outcome.saved.tolist() == [False, False, True, False, False, False, True, True]
    assert (outcome.repeated_calls.tolist(), outcome.repeated_effects.tolist()) == ([0], [1])


def test_a_run_that_gets_nowhere_is_given_up():
    """It saves at the end only, and no process lives that long."""
    failures = recorded_failures([float(second) for second in range(1, 5000)])
    outcome = simulate(Workload(np.ones(10)), SaveWhen(), failures)
    assert (outcome.finished, len(outcome.lost_steps), outcome.seconds) == (False, PATIENCE, PATIENCE)
    assert outcome.writes == 1 + PATIENCE  # one at the start of each process, and none after


BYTES_PER_STEP = 1500
"""What a step adds to the session: two messages."""


def written_bytes(outcome: Outcome) -> int:
    """Return how many bytes were written, each save being of the whole session."""
    places = np.concatenate([outcome.places, [0], outcome.fell_back_to])
    return int((places / 2 * BYTES_PER_STEP).sum())


def test_bytes_of_full_saves_are_those_of_the_closed_form():
    """They grow with the square of the run's length."""
    outcome = simulate(Workload(np.ones(200)), SaveWhen(steps=1), recorded_failures([]))
    assert written_bytes(outcome) == full_save_bytes(200, BYTES_PER_STEP)
    once = simulate(Workload(np.ones(4)), SaveWhen(steps=2), recorded_failures([3.0]))
    assert written_bytes(once) == (2 + 4 + 2) * BYTES_PER_STEP  # the second process writes what it has loaded


def test_a_seed_gives_the_same_run_again():
    """All that is random comes from the generator that is passed in."""

    def once() -> float:
        rng = np.random.default_rng(5)
        return simulate(Workload(draw("pareto", 500, 5.0, rng)), SaveWhen(steps=3), failures_at_random(60, rng)).seconds

    assert once() == once()


@pytest.mark.parametrize(
    ("policy", "places"),
    [
        (SaveWhen(steps=2), [3, 5]),
        (SaveWhen(seconds=3.9), [3, 5]),
        (SaveWhen(tokens=1000), [2, 5]),
        (SaveWhen(before_side_effects=True), [2, 5]),
        (YoungDaly(32.0), [2, 5]),
        (SaveWhen(), [5]),
    ],
    ids=str,
)
def test_the_real_policies_drive_the_simulation(policy: Policy, places: list[int]):
    """Three steps of 2 s, 1.6 s of them for the model: after which of the six phases is saved?"""
    work = Workload(np.full(3, 2.0), effect_every=2)
    assert np.flatnonzero(save_places(policy, work, save_seconds=0.3)).tolist() == places


def overhead(work: Workload, policy: Policy, save: float, between: float, restart: float = 0.0) -> float:
    """Return what a policy adds to the time of the work, as a part of it, by the exact expectation."""
    return expected_overhead(work.phases, save_places(policy, work, save), save, between, restart)


COUNTS = sorted({round(1.1**power) for power in range(1, 75)})
SAVES, BETWEEN = [0.01, 0.1, 1.0, 10.0], [60.0, 200.0, 600.0, 2000.0, 6000.0, 20000.0, 60000.0]


@functools.cache
def fixed_places(steps: int) -> dict[int, npt.NDArray[np.bool_]]:
    """Return where the fixed intervals save: by steps, whatever those and a save take. So it is computed once."""
    return {count: save_places(SaveWhen(steps=count), Workload(np.ones(steps)), 1.0) for count in COUNTS}


@pytest.mark.parametrize("law", ["constant", "exponential"])
@pytest.mark.parametrize("save", SAVES)
@pytest.mark.parametrize("between", BETWEEN)
def test_the_adaptive_policy_with_a_wrong_guess(law: Law, save: float, between: float):
    """A failure rate wrong by a factor of two costs at most a tenth of the overhead of the best fixed interval.

    Save costs and failure rates three decades apart. There is one exception: where the best interval is one or two
    steps, all of the same length, nobody can come near it, and it is a seventh.
    """
    work = Workload(draw(law, 4000, 5.0, np.random.default_rng(73)))
    fixed = fixed_places(len(work.seconds))
    overheads = {count: expected_overhead(work.phases, fixed[count], save, between, 0.0) for count in COUNTS}
    best = min(overheads, key=lambda count: overheads[count])
    limit = 1.15 if law == "constant" and best <= 2 else 1.1
    for wrong in (0.5, 2.0):
        assert overhead(work, YoungDaly(between * wrong), save, between) <= overheads[best] * limit
    assert overhead(work, YoungDaly(between * 8), save, between) > overheads[best] * 1.1 or best <= 2  # it can fail


@dataclass(frozen=True)
class BetweenSteps(SaveWhen):
    """Never between the model's answer and its tools: the rule that is studied in the literature."""

    def due(self, unsaved: Unsaved) -> bool:
        """Say yes once the time has passed and a step is complete."""
        return not unsaved.about_to_run and super().due(unsaved)


BETTER = {"constant": 1.0, "exponential": 0.965, "lognormal": 0.89, "pareto": 0.925, "two kinds": 0.74}
"""The overhead by the clock, as a part of that by steps, each at its best, if saves come between steps only.

For a save of 1 s, a restart of 2 s, a failure in half an hour, and 400,000 steps of 5 s on average, none over 600 s.
"""


def best_of(policies: list[Policy], work: Workload) -> Policy:
    """Return the policy of least overhead."""
    return min(policies, key=lambda policy: overhead(work, policy, 1.0, 1800.0, 2.0))


@pytest.mark.parametrize("law", list(LAWS))
def test_by_the_clock_is_better_than_by_steps_as_far_as_steps_differ(law: Law):
    """Equal for steps of one length; for others better by the ratio that theory gives; simulated failures agree."""
    rng = np.random.default_rng(73)
    sample, work = (Workload(np.minimum(draw(law, count, 5.0, rng), 600)) for count in (20_000, 400_000))
    by_steps = best_of([SaveWhen(steps=count) for count in range(4, 30, 2)], sample)
    by_clock = best_of([BetweenSteps(seconds=seconds) for seconds in range(20, 130, 10)], sample)

    expected = {}
    for policy in (by_steps, by_clock):
        outcome = simulate(work, policy, failures_at_random(1800.0, rng), save_seconds=1.0, restart_seconds=2.0)
        expected[policy] = expected_overhead(work.phases, outcome.saved, 1.0, 1800.0, 2.0)
        assert outcome.seconds / float(work.seconds.sum()) - 1 == pytest.approx(expected[policy], rel=0.1)
    assert expected[by_clock] / expected[by_steps] == pytest.approx(BETTER[law], abs=0.03)
