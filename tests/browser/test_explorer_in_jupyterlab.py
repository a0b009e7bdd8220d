"""A reader opens 7.3.8 in JupyterLab, runs it, and turns the explorer's controls, by keyboard alone."""

import pytest
from playwright.sync_api import Locator, Page, expect

from minagent.lab.explorer import Choice, explore

NOTEBOOK = "7.3.8_how_often.ipynb"


@pytest.fixture
def view(page: Page) -> Locator:
    """The explorer on the page."""
    return page.locator(".jp-OutputArea-output").filter(has=page.get_by_role("combobox", name="Policy"))


def test_every_control_has_a_name(view: Locator):
    """What a screen reader says of each, in order."""
    for role, name in (
        ("combobox", "Policy"),
        ("spinbutton", "N"),
        ("combobox", "A failure each"),
        ("combobox", "A save takes"),
        ("combobox", "Lengths of steps"),
        ("spinbutton", "Draw number"),
    ):
        expect(view.get_by_role(role, name=name, exact=True)).to_be_visible()  # type: ignore[arg-type]


def test_a_key_redraws_picture_and_sentence(view: Locator, page: Page):
    """The sentence is the model's, and it is what the picture says to who cannot see it."""
    choice = Choice("every N steps", 6, between_failures=60.0)
    view.get_by_role("combobox", name="Policy").focus()
    page.keyboard.press("Home")
    view.get_by_role("spinbutton", name="N", exact=True).focus()
    page.keyboard.press("ArrowUp")
    expect(view.get_by_role("status")).to_have_text(explore(choice).sentence)
    expect(view.get_by_role("img", name=explore(choice).sentence)).to_be_visible()
