"""The widget in which a reader says which of two processes goes on, without a front end."""

from collections.abc import Iterator

import pytest

from minagent.lab.two_writers.interleavings import every_meeting
from minagent.lab.two_writers.request import Rule
from minagent.lab.two_writers.request_process import InProcess, in_words
from minagent.lab.views.two_writers import RULES, TwoWritersView
from tests.conftest import in_process_table


@pytest.fixture
def view() -> Iterator[TwoWritersView]:
    """A view of two requests that write as the chapter does."""
    view = TwoWritersView("last write wins")
    yield view
    view.close()


def press(view: TwoWritersView, *labels: str) -> str:
    """Press these buttons; return what is said then."""
    for label in labels:
        view.buttons[label].click()
    return view.status.said


def alive(view: TwoWritersView) -> list[InProcess]:
    """Return the processes that have not ended."""
    requests = [r for r in view.model.met.requests.values() if isinstance(r, InProcess)]
    return [request for request in requests if in_process_table(request.process.pid)]


def test_the_reader_says_who_goes_on(view: TwoWritersView):
    """Each move says what it was, and what comes next; the panels say what is stored, and who was charged."""
    assert view.status.said == "A is about to read. B is about to read. Who goes on?"
    assert press(view, "A goes on") == "A: read. A is about to charge."
    assert press(view, "B goes on", "A goes on") == "A: charge. A is about to save."
    assert "<li>A</li>" in view.picture.value
    assert press(view, "B goes on", "A goes on") == "A: save. A was told: done."
    assert "assistant: A is charged." in view.picture.value
    said = press(view, "B goes on")
    assert said.startswith("Both have ended. A was told done, and nothing of its turn is stored. A was charged,")
    assert "assistant: A is charged." not in view.picture.value
    assert repr(view) == f"Two writers: {said}"


def test_what_cannot_be_done_is_said(view: TwoWritersView):
    """And nothing changes."""
    assert press(view, "Time passes").startswith("Not now: time changes something once, and only while somebody waits")
    assert press(view, "A dies") == "A dies before it could read."
    assert press(view, "A goes on") == "Not now: A has ended."
    assert press(view, "B dies").startswith("Not now: one of the two has died already")
    assert len(alive(view)) == 1


def test_a_lease_can_run_out(view: TwoWritersView):
    """B takes over from A, which is slow, and both charge A's customer, with one key."""
    view.rule.value = "lease"
    assert view.status.said == "Two requests begin. How they write: lease."
    press(view, *["A goes on"] * 4)
    assert press(view, "B goes on") == "B: read. B is about to wait."
    assert press(view, "Time passes") == "As much time has passed as a lease lasts."
    while view.model.met.requests["B"].next is not None:
        press(view, "B goes on")
    said = press(view, "A goes on", "A goes on")
    assert said == "Both have ended. A charge was made twice, though by its key it is known as one."
    assert "A was told: lease lost." in view.picture.value


@pytest.mark.parametrize("rule", RULES)
def test_whatever_goes_wrong_is_said(rule: Rule):
    """Each outcome of every order has its words."""
    for met in every_meeting(rule):
        wrong = bool(met.lost or met.unrecorded or met.repeated)
        assert wrong == (in_words(met) != "Nothing is lost, and nothing was done twice.")


def test_no_process_outlives_the_view(view: TwoWritersView):
    """Nor what was begun before, nor the folder."""
    first = alive(view)
    press(view, "A goes on", "Begin anew")
    folder = view.model.met.place.checkpoint.parent
    second = alive(view)
    assert [len(first), len(second)] == [2, 2]
    assert all(not in_process_table(request.process.pid) for request in first)
    view.close()
    assert alive(view) == []
    assert not folder.exists()
    with pytest.raises(RuntimeError, match="run its cell again"):
        view.model.begin("lease")
    assert not any(in_process_table(request.process.pid) for request in first + second)
