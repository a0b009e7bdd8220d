"""When to save: SaveWhen alone and combined, printed, and refused where it makes no sense."""

import math
from typing import Any

import pytest

from minagent import InvalidValue, SaveWhen, Unsaved

NOTHING = Unsaved()


@pytest.mark.parametrize(
    ("policy", "not_yet", "now"),
    [
        (SaveWhen(steps=3), Unsaved(steps=2), Unsaved(steps=3)),
        (SaveWhen(seconds=30), Unsaved(seconds=29.9), Unsaved(seconds=30)),
        (SaveWhen(tokens=1000), Unsaved(tokens=999), Unsaved(tokens=1000)),
        (
            SaveWhen(before_side_effects=True),
            Unsaved(about_to_run=("read_only",)),
            Unsaved(about_to_run=("read_only", "idempotent")),
        ),
        (SaveWhen(before_side_effects=True), Unsaved(steps=99), Unsaved(about_to_run=("non_idempotent",))),
        (SaveWhen(steps=3, seconds=30), Unsaved(steps=2, seconds=29), Unsaved(steps=1, seconds=31)),
        (SaveWhen(steps=3, seconds=30), NOTHING, Unsaved(steps=3)),
    ],
    ids=str,
)
def test_a_policy_is_due_when_it_says(policy: SaveWhen, not_yet: Unsaved, now: Unsaved):
    """Just before: no. From there on: yes."""
    assert not policy.due(not_yet)
    assert policy.due(now)


def test_at_the_end_is_never_due_on_the_way():
    """The end itself is saved by the runner in any case."""
    everything = Unsaved(10**9, 1e9, 10**9, ("non_idempotent",), 1.0)
    assert not SaveWhen().due(everything)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (SaveWhen(steps=1), "every step"),
        (SaveWhen(steps=10), "every 10 steps"),
        (SaveWhen(seconds=30), "every 30 seconds"),
        (SaveWhen(seconds=0.5), "every 0.5 seconds"),
        (SaveWhen(tokens=2000), "every 2000 tokens"),
        (SaveWhen(before_side_effects=True), "before side effects"),
        (SaveWhen(), "at the end"),
        (SaveWhen(5, 9, before_side_effects=True), "every 5 steps or every 9 seconds or before side effects"),
    ],
    ids=str,
)  # fmt: skip
def test_a_policy_says_what_it_is(policy: SaveWhen, said: str):
    """In the words of a table or a plot."""
    assert str(policy) == said


def test_policies_are_values():
    """Equal if they say the same, usable as keys, and written as they are typed."""
    assert SaveWhen(2) == SaveWhen(steps=2) != SaveWhen(steps=2, before_side_effects=True)
    assert {SaveWhen(steps=2): 1}[SaveWhen(steps=2)] == 1
    assert repr(SaveWhen(steps=2)) == "SaveWhen(steps=2, seconds=inf, tokens=inf, before_side_effects=False)"


@pytest.mark.parametrize("wrong", [0, -1, True, "2", None, -math.inf, math.nan], ids=repr)
@pytest.mark.parametrize("name", ["steps", "seconds", "tokens"])
def test_a_limit_that_cannot_be_reached_is_refused(name: str, wrong: float):
    """For never there is nothing to say: it is what a policy begins with."""
    given: dict[str, Any] = {name: wrong}
    with pytest.raises(InvalidValue, match=f"{name}: must be a number above 0, not"):
        SaveWhen(**given)
