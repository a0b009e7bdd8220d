"""The widget that replays one crash of the matrix on real processes."""

import pytest

from minagent.lab.matrix import real_crashes
from minagent.lab.matrix.crash_matrix import Harm, single_crashes
from minagent.lab.matrix.real_crashes import crash_points, in_words, replay
from minagent.lab.matrix.variants import VARIANTS
from minagent.lab.views import crash_replay
from minagent.lab.views.crash_replay import CrashReplayView


def test_a_point_is_named_by_number_step_and_what_comes_next():
    """All of them, in order."""
    points = crash_points("chapter")
    assert (len(points), points[0], points[9], points[-1]) == (
        48, "1: step 0, model", "10: step 0, rename", "48: answer, fsync",
    )  # fmt: skip


@pytest.mark.parametrize("name", VARIANTS)
def test_a_replay_says_what_the_matrix_says(name: str):
    """On real processes; the sentence is computed from what was found."""
    number = 8
    said = replay(name, number)
    expected = in_words(single_crashes(VARIANTS[name])[number - 1].outcome)
    assert said.startswith("2 processes, the first killed by SIGKILL at point 8.")
    assert said.endswith(f" {expected}, as the matrix says.")
    assert ("ledger" in said) == (name != "one transaction")


def test_a_difference_would_be_said(monkeypatch: pytest.MonkeyPatch):
    """The sentence can say that the two do not agree."""
    monkeypatch.setattr(real_crashes, "run", lambda *_: ([], Harm(0, 7, 0, 0, 0, 0)))
    assert replay("log, keys", 1).endswith("Nothing lost, nothing twice, but the matrix says: Charges repeated: 7.")


def test_the_button_replays_what_is_chosen():
    """And the line says beforehand which point that is."""
    view = CrashReplayView("chapter", 10)
    assert view.status.said == "Point 10: step 0, rename. Press Crash a real process."
    view.number.value = 48
    assert list(view.variant.buttons) == list(VARIANTS)
    view.variant.buttons["log, keys"].click()
    assert [name for name, button in view.variant.buttons.items() if button.description[0] == "✓"] == ["log, keys"]
    assert (view.number.max, view.status.said) == (50, "Point 48: answer, write. Press Crash a real process.")
    view.number.value = 8
    view.button.click()
    assert view.status.said == replay("log, keys", 8)
    assert repr(view) == f"Crash replay: {view.status.said}"


def test_a_number_that_is_too_high_is_the_last_one():
    """Another way of recording has fewer points."""
    view = CrashReplayView("saved after each tool", 90)
    view.variant.value = "chapter"
    assert (view.number.value, view.status.said) == (48, "Point 48: answer, fsync. Press Crash a real process.")


def test_an_error_is_shown_in_the_view(monkeypatch: pytest.MonkeyPatch):
    """Where a reader looks."""

    def fail(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(crash_replay, "replay", fail)
    view = CrashReplayView("chapter", 1)
    view.button.click()
    assert "No space left" in view.status.said
