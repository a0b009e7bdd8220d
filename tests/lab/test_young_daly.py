"""The policy that saves as often as pays: when it is due, what it refuses, and Daly's own figures."""

import math

import pytest

from minagent import InvalidValue, Unsaved
from minagent.lab.frequency.theory import YoungDaly, daly_interval


@pytest.mark.parametrize(
    ("policy", "not_yet", "now"),
    [
        (YoungDaly(200), Unsaved(seconds=18, save_seconds=1), Unsaved(seconds=20, save_seconds=1)),
        (YoungDaly(200, at_least=60), Unsaved(seconds=59, save_seconds=1), Unsaved(seconds=60, save_seconds=1)),
        (YoungDaly(200, at_most=5), Unsaved(seconds=4, save_seconds=1), Unsaved(seconds=5, save_seconds=1)),
    ],
    ids=str,
)
def test_it_is_due_when_it_says(policy: YoungDaly, not_yet: Unsaved, now: Unsaved):
    """Just before: no. From there on: yes."""
    assert not policy.due(not_yet)
    assert policy.due(now)


def test_it_says_what_it_is():
    """In the words of a table or a plot."""
    assert str(YoungDaly(3600)) == "Young/Daly for a failure in 3600 seconds"


@pytest.mark.parametrize("wrong", [0, -1, math.inf, math.nan, "30", None, True])
def test_a_time_that_is_no_time_is_refused(wrong: float):
    """Between failures some time passes, and not for ever."""
    with pytest.raises(InvalidValue, match="must be a number above 0, not"):
        YoungDaly(wrong)


@pytest.mark.parametrize(("least", "most"), [(-1, 5), (6, 5), (math.nan, 5)])
def test_bounds_the_wrong_way_round_are_refused(least: float, most: float):
    """Instead of one of them winning in silence."""
    with pytest.raises(InvalidValue, match="0 <= at_least <= at_most, not"):
        YoungDaly(3600, at_least=least, at_most=most)


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
