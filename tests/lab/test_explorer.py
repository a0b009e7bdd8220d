"""The frequency explorer: what it says is what the formulas and the simulation say, for every choice."""

import itertools
import re

import numpy as np
import pytest

from minagent.lab.frequency.explorer import (
    MOST,
    POLICY_NAMES,
    RESTART_SECONDS,
    SHOWN_PROCESSES,
    STEP_SECONDS,
    STEPS,
    Choice,
    PolicyName,
    explore,
    history,
)
from minagent.lab.frequency.simulate import LAWS, Workload, simulate
from minagent.lab.frequency.theory import total_time
from minagent.lab.views.explorer_widget import BETWEEN_FAILURES, SAVE_COSTS, FrequencyView, picture
from tests.lab.failures import recorded_failures


def test_costs_are_those_of_the_closed_form():
    """For steps of one length, each cost is Daly's formula."""
    view = explore(Choice(law="constant", save_seconds=1.0, between_failures=300.0))
    for count, overhead in zip(view.counts, view.overheads, strict=True):
        if STEPS % count == 0:
            expected = total_time([count * STEP_SECONDS], 1.0, 300.0, RESTART_SECONDS) / (count * STEP_SECONDS) - 1
            assert overhead == pytest.approx(min(100 * expected, MOST))
    assert view.best[1] == pytest.approx(min(view.overheads), rel=0.05)


@pytest.mark.parametrize("policy", POLICY_NAMES)
def test_every_policy_can_be_chosen(policy: PolicyName):
    """And its cost lies on the curve, or near it, as policies by time do."""
    view = explore(Choice(policy=policy, law="constant", interval=10))
    count, overhead = view.chosen
    if policy == "at the end":
        assert (count, overhead) == (STEPS, MOST)
        return
    assert overhead == pytest.approx(float(np.interp(count, view.counts, view.overheads)), rel=0.3)
    assert view.sentence[0].isupper()


def test_the_history_by_hand():
    """Two steps of 2 s, a save of 1 s after each, a restart of 3 s, killed after 4 s: in the second step."""
    outcome = simulate(Workload(np.full(2, 2.0)), Choice(interval=1).made(), recorded_failures([4.0]), 1.0, 3.0)
    assert history(outcome, 1.0, 3.0) == [
        (0, "restart", 0.0, 0.0),
        (0, "work", 0.0, 2.0),
        (0, "save", 2.0, 3.0),
        (0, "lost", 3.0, 4.0),
        (1, "restart", 4.0, 7.0),
        (1, "work", 7.0, 9.0),
        (1, "save", 9.0, 10.0),
    ]


@pytest.mark.parametrize("seed", range(5))
def test_a_history_has_no_gap_and_adds_up(seed: int):
    """Each span begins where the one before ends, and the last ends when the run does."""
    choice = Choice(between_failures=60.0, interval=3, seed=seed)
    rng = np.random.default_rng(seed)
    outcome = simulate(
        Workload(rng.exponential(5.0, 60)), choice.made(), recorded_failures([50, 90, 95, 200]), 1.0, 2.0
    )
    spans = history(outcome, 1.0, 2.0)
    for (_, _, _, end), (_, _, begin, _) in itertools.pairwise(spans):
        assert begin == pytest.approx(end)
    assert spans[-1][3] == pytest.approx(outcome.seconds)


def test_a_run_that_gets_nowhere_says_so():
    """Its cost is off the chart, and only some of its processes are drawn."""
    view = explore(Choice(policy="at the end", between_failures=20.0))
    assert "gets nowhere" in view.sentence
    assert f"more than {MOST:.0f} %" in view.sentence
    assert max(process for process, *_ in view.spans) == SHOWN_PROCESSES - 1


def test_a_control_redraws_the_picture_and_the_sentence():
    """The widget shows what the model says, for the values of its controls."""
    view = FrequencyView(Choice())
    before = view.picture.value
    view.controls["interval"].value = 3
    assert view.picture.value != before
    assert view.status.said == explore(Choice(interval=3)).sentence
    assert repr(view) == f"Frequency explorer: {view.status.said}"
    alternative = re.search(r'alt="([^"]*)"', view.picture.value)
    assert alternative is not None
    assert alternative[1] == view.status.said


def test_a_button_redraws_and_is_marked_by_a_sign():
    """Each choice is there, in the order of the model, and one of each row is chosen."""
    view = FrequencyView(Choice())
    rows = ("policy", "between_failures", "save_seconds", "law")
    names = [list(view.controls[row].buttons) for row in rows]
    assert names == [list(POLICY_NAMES), list(BETWEEN_FAILURES), list(SAVE_COSTS), list(LAWS)]
    for row, name in zip(rows, ("at the end", "5 minutes", "10 s", "constant"), strict=True):
        view.controls[row].buttons[name].click()
    assert view.status.said == explore(Choice("at the end", 10, 300.0, 10.0, "constant")).sentence
    marked = [b.description for row in rows for b in view.controls[row].buttons.values() if b.description[0] == "✓"]
    assert marked == ["✓ at the end", "✓ 5 minutes", "✓ 10 s", "✓ constant"]


def test_every_combination_of_the_controls_can_be_drawn():
    """No corner of the explorer raises, or warns."""
    for between, save, policy in itertools.product(BETWEEN_FAILURES.values(), SAVE_COSTS.values(), POLICY_NAMES):
        view = explore(Choice(policy, 50, between, save, "two kinds"))
        assert all(0 < overhead <= MOST for overhead in view.overheads)
    for law in LAWS:
        figure = picture(explore(Choice(law=law, between_failures=30.0)))
        assert len(figure.axes) == 2


def test_an_error_is_shown_in_the_view():
    """And the next change of a control works again."""
    view = FrequencyView(Choice())
    view.controls["seed"].min = -1
    view.controls["seed"].value = -1
    assert "ValueError" in view.status.said
    view.controls["seed"].value = 2
    assert view.status.said == explore(Choice(seed=2)).sentence
