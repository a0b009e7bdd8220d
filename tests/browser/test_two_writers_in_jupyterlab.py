"""A reader opens 7.3.9b in JupyterLab, runs it, and has two real processes meet, by keyboard alone."""

import pytest
from playwright.sync_api import Locator, expect

from minagent.lab.two_writers.interleavings import MeetingOutcome, every_meeting
from minagent.lab.two_writers.request import Rule
from minagent.lab.two_writers.request_process import in_words
from minagent.lab.views.two_writers import RULES
from tests.browser.access import pale, serious
from tests.examined import Examined

NOTEBOOK = "7.3.9b_two_writers.ipynb"


@pytest.fixture
def view(notebook: Locator) -> Locator:
    """The widget on the page."""
    button = notebook.page.get_by_role("button", name="Begin anew")
    return notebook.locator(".jp-OutputArea-output").filter(has=button)


def press(view: Locator, label: str) -> None:
    """Press a button by keyboard."""
    view.get_by_role("button", name=label, exact=True).press("Enter")


def bad_or_first(rule: Rule) -> MeetingOutcome:
    """Return the first order in which something goes wrong; the first of all if there is none."""
    met = list(every_meeting(rule))
    return next((one for one in met if one.lost or one.repeated), met[0])


@pytest.mark.parametrize("rule", RULES)
def test_two_processes_meet_as_the_reader_says(view: Locator, rule: Rule, examined: Examined):
    """Each press is a move of a real process; in the end the status line says what went wrong, as the threads do."""
    status = view.get_by_role("status")
    press(view, "✓ last write wins" if rule == "last write wins" else rule)
    press(view, "Begin anew")
    expect(status).to_have_text(f"Two requests begin. How they write: {rule}.")
    met = bad_or_first(rule)
    for move, what in met.moves[:-1]:
        press(view, f"{move} goes on")
        expect(status).to_contain_text(f"{move}: {what}.")
    press(view, f"{met.moves[-1][0]} goes on")
    expect(status).to_have_text(f"Both have ended. {in_words(met)}")
    for name, ending in met.endings.items():
        expect(view.get_by_label(f"Request {name}")).to_contain_text(f"{name} was told: {ending}.")
    assert serious(view.page) == []
    assert pale(view.page) == []
    examined("states of views looked at by axe and for contrast", 1)


def test_what_cannot_be_done_is_said(view: Locator):
    """A move of a request that has ended."""
    press(view, "A goes on")
    expect(view.get_by_role("status")).to_have_text("Not now: A has ended.")
