"""A reader opens 7.3.8 in JupyterLab, runs it, and turns the explorer's controls, by keyboard alone."""

from dataclasses import replace

import pytest
from playwright.sync_api import Locator, expect

from minagent.lab.frequency.explorer import POLICY_NAMES, Choice, explore
from minagent.lab.frequency.simulate import LAWS
from minagent.lab.views.explorer_widget import BETWEEN_FAILURES, SAVE_COSTS

NOTEBOOK = "7.3.8_how_often.ipynb"


@pytest.fixture
def view(notebook: Locator) -> Locator:
    """The explorer on the page."""
    button = notebook.page.get_by_role("button", name="Young/Daly")
    return notebook.locator(".jp-OutputArea-output").filter(has=button)


def test_every_control_has_a_name(view: Locator):
    """What a screen reader says of each, in order; of a row of buttons, one is marked."""
    rows = [POLICY_NAMES, BETWEEN_FAILURES, SAVE_COSTS, LAWS]
    buttons = [text.removeprefix("✓ ") for text in view.get_by_role("button").all_inner_texts()]
    assert buttons == [name for row in rows for name in row]
    expect(view.get_by_role("button", name="✓")).to_have_text(
        ["✓ every N steps", "✓ 1 minute", "✓ 1 s", "✓ exponential"]
    )
    expect(view.get_by_role("button", name="10 ms")).to_have_attribute("title", "A save takes: 10 ms")
    for name in ("N", "Draw number"):
        expect(view.get_by_role("spinbutton", name=name, exact=True)).to_be_visible()


def test_a_key_redraws_picture_and_sentence(view: Locator):
    """Tab goes from button to button, Enter or Space chooses; the sentence is the model's, and the picture's words."""
    keyboard = view.page.keyboard
    view.get_by_role("button", name="every N steps").focus()
    keyboard.press("Tab")
    keyboard.press("Enter")
    timed = Choice("every N x 5 seconds", 5, between_failures=60.0)
    expect(view.get_by_role("status")).to_have_text(explore(timed).sentence)
    view.get_by_role("spinbutton", name="N", exact=True).focus()
    keyboard.press("ArrowUp")
    expect(view.get_by_role("status")).to_have_text(explore(replace(timed, interval=6)).sentence)
    view.get_by_role("button", name="10 minutes").focus()
    keyboard.press("Space")
    sentence = explore(replace(timed, interval=6, between_failures=600.0)).sentence
    expect(view.get_by_role("status")).to_have_text(sentence)
    expect(view.get_by_role("img", name=sentence)).to_be_visible()
