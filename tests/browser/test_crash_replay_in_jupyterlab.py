"""A reader opens 7.3.6b in JupyterLab, runs it, picks a crash point; a real process is killed there, by keyboard."""

import pytest
from playwright.sync_api import Locator, expect

from minagent.lab.matrix.real_crashes import replay
from minagent.lab.matrix.variants import VARIANTS
from tests.examined import Examined

NOTEBOOK = "7.3.6b_crash_matrix.ipynb"


@pytest.fixture
def view(notebook: Locator) -> Locator:
    """The widget on the page."""
    button = notebook.page.get_by_role("button", name="Crash a real process")
    return notebook.locator(".jp-OutputArea-output").filter(has=button)


def test_every_control_has_a_name(view: Locator):
    """What a screen reader says of each."""
    names = [text.removeprefix("✓ ") for text in view.get_by_role("button").all_inner_texts()]
    assert names == [*VARIANTS, "Crash a real process"]
    expect(view.get_by_role("spinbutton", name="Crash at point", exact=True)).to_be_visible()


def test_a_key_crashes_a_real_process(view: Locator, examined: Examined):
    """The status line says which point is chosen, and then what the model behind the widget says."""
    view.get_by_role("button", name="one transaction").press("Enter")
    status = view.get_by_role("status")
    expect(status).to_contain_text("Point 10: step 0, commit")
    view.get_by_role("spinbutton", name="Crash at point").focus()
    view.page.keyboard.press("ArrowDown")
    expect(status).to_contain_text("Point 9: step 0, insert")
    view.get_by_role("button", name="Crash a real process").press("Enter")
    expect(status).to_have_text(replay("one transaction", 9))
    examined("crashes by hand in JupyterLab", 1)
