"""Policies: each alone, combined, printed, and refused where it makes no sense."""

import math
from typing import Any

import pytest

from minagent import (
    AnyOf,
    AtEnd,
    BeforeSideEffects,
    EverySeconds,
    EverySteps,
    EveryTokens,
    Policy,
    Unsaved,
    YoungDaly,
)
from minagent.policy import daly_interval

NOTHING = Unsaved()


@pytest.mark.parametrize(
    ("policy", "not_yet", "now"),
    [
        (EverySteps(3), Unsaved(steps=2), Unsaved(steps=3)),
        (EverySeconds(30), Unsaved(seconds=29.9), Unsaved(seconds=30)),
        (EveryTokens(1000), Unsaved(tokens=999), Unsaved(tokens=1000)),
        (BeforeSideEffects(), Unsaved(about_to_run=("read_only",)), Unsaved(about_to_run=("read_only", "idempotent"))),
        (BeforeSideEffects(), Unsaved(steps=99), Unsaved(about_to_run=("non_idempotent",))),
        (EverySteps(3) | EverySeconds(30), Unsaved(steps=2, seconds=29), Unsaved(steps=1, seconds=31)),
        (EverySteps(3) | EverySeconds(30), NOTHING, Unsaved(steps=3)),
        (YoungDaly(200), Unsaved(seconds=18, save_seconds=1), Unsaved(seconds=20, save_seconds=1)),
        (YoungDaly(200, at_least=60), Unsaved(seconds=59, save_seconds=1), Unsaved(seconds=60, save_seconds=1)),
        (YoungDaly(200, at_most=5), Unsaved(seconds=4, save_seconds=1), Unsaved(seconds=5, save_seconds=1)),
    ],
    ids=str,
)
def test_a_policy_is_due_when_it_says(policy: Policy, not_yet: Unsaved, now: Unsaved):
    """Just before: no. From there on: yes."""
    assert not policy.due(not_yet)
    assert policy.due(now)


def test_at_the_end_is_never_due_on_the_way():
    """The end itself is saved by the runner in any case."""
    everything = Unsaved(10**9, 1e9, 10**9, ("non_idempotent",), 1.0)
    assert not AtEnd().due(everything)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (EverySteps(1), "every step"),
        (EverySteps(10), "every 10 steps"),
        (EverySeconds(30), "every 30 seconds"),
        (EverySeconds(0.5), "every 0.5 seconds"),
        (EveryTokens(2000), "every 2000 tokens"),
        (BeforeSideEffects(), "before side effects"),
        (AtEnd(), "at the end"),
        (EverySteps(5) | EverySeconds(9) | AtEnd(), "every 5 steps or every 9 seconds or at the end"),
        (YoungDaly(3600), "Young/Daly for a failure in 3600 seconds"),
    ],
    ids=str,
)  # fmt: skip
def test_a_policy_says_what_it_is(policy: Policy, said: str):
    """In the words of a table or a plot."""
    assert str(policy) == said


def test_policies_are_values():
    """Equal if they say the same, usable as keys, and written as they are typed."""
    assert EverySteps(2) | AtEnd() == AnyOf((EverySteps(2), AtEnd()))
    assert {EverySteps(2): 1}[EverySteps(2)] == 1
    assert repr(EverySteps(2)) == "EverySteps(count=2)"


@pytest.mark.parametrize("wrong", [0, -1, 2.5, True, "2", None], ids=repr)
@pytest.mark.parametrize("policy", [EverySteps, EveryTokens])
def test_a_count_below_one_is_refused(policy: type, wrong: object):
    """Nothing that would never save, or divide by zero later."""
    with pytest.raises(ValueError, match="a whole number of at least 1, not"):
        policy(wrong)


@pytest.mark.parametrize("wrong", [0, -1, math.inf, math.nan, "30", None, True])
@pytest.mark.parametrize("policy", [EverySeconds, YoungDaly])
def test_a_time_that_is_no_time_is_refused(policy: type, wrong: float):
    """For never there is AtEnd."""
    with pytest.raises(ValueError, match="must be a number above 0, not"):
        policy(wrong)


@pytest.mark.parametrize(("least", "most"), [(-1, 5), (6, 5), (math.nan, 5)])
def test_bounds_the_wrong_way_round_are_refused(least: float, most: float):
    """Instead of one of them winning in silence."""
    with pytest.raises(ValueError, match="needs 0 <= least <= most"):
        YoungDaly(3600, at_least=least, at_most=most)


@pytest.mark.parametrize("wrong", [(), (EverySteps(1), 5), EverySteps(1), (EverySteps,)], ids=repr)
def test_any_of_takes_policies(wrong: Any):
    """Not none, and nothing else, which would fail in the middle of a run."""
    with pytest.raises(ValueError, match="AnyOf takes a tuple of policies"):
        AnyOf(wrong)


def test_a_policy_is_combined_with_policies():
    """Anything else is a mistake in the line that makes it."""
    with pytest.raises(TypeError, match="unsupported operand"):
        EverySteps(2) | 5  # type: ignore[operator]


def test_young_daly_keeps_its_bounds_when_it_rounds():
    """It may save before the best interval, if that is nearer, but never before `at_least`."""
    policy = YoungDaly(200, at_least=60, at_most=90)
    assert not policy.due(Unsaved(steps=1, seconds=59, save_seconds=1))
    assert policy.due(Unsaved(steps=1, seconds=60, save_seconds=1))
    assert policy.due(Unsaved(steps=99, seconds=90, save_seconds=1e6))


def test_daly_s_published_optima():
    """Daly 2006, figures 3 to 5: a save of 5 minutes; a failure in 24 hours, 6 hours, 15 minutes on average."""
    minutes = [daly_interval(5, 24 * 60), daly_interval(5, 6 * 60), daly_interval(5, 15)]
    assert [round(m) for m in minutes[:2]] == [117, 57]
    assert round(minutes[2], 1) == 9.1


def test_daly_s_formula_has_an_end():
    """Where a save takes longer than two failures are apart, the formula does not hold; Daly takes the time between."""
    assert daly_interval(30, 15) == daly_interval(31, 15) == 15
    assert daly_interval(20, 15) < 15
    assert daly_interval(0, 15) == 0
