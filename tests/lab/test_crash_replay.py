"""One crash of the matrix, picked, and replayed on real processes."""

import pytest

from minagent.lab.matrix import real_crashes
from minagent.lab.matrix.crash_matrix import Harm, single_crashes
from minagent.lab.matrix.real_crashes import in_words, replay
from minagent.lab.matrix.variants import VARIANTS
from minagent.lab.views.widgets import NumberView


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


def test_a_number_that_is_chosen_is_replayed():
    """As 7.3.6b does it."""
    view = NumberView("killed at point", 10, (1, 48), lambda number: replay("chapter", number))
    view.number.value = 5
    assert view.said == replay("chapter", 5)
    assert "charges repeated: 1" in view.said


def test_an_error_is_shown_in_the_view():
    """Where a reader looks."""

    def fail(_: int) -> str:
        raise OSError(28, "No space left on device")

    view = NumberView("killed at point", 1, (1, 48), fail)
    assert "No space left" in view.said
