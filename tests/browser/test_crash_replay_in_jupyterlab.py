"""A reader opens 7.3.6b in JupyterLab, runs it, picks a crash point; a real process is killed there, by keyboard."""

import pytest
from playwright.sync_api import Locator, expect

from minagent.lab.matrix.real_crashes import replay
from tests.examined import Examined

NOTEBOOK = "7.3.6b_crash_matrix.ipynb"
NAME = "chapter, killed at point"


@pytest.fixture
def view(notebook: Locator) -> Locator:
    """The widget on the page."""
    number = notebook.page.get_by_role("spinbutton", name=NAME, exact=True)
    return notebook.locator(".jp-OutputArea-output").filter(has=number)


def test_a_key_crashes_a_real_process(view: Locator, examined: Examined):
    """The status line says what the model behind the widget says."""
    status = view.get_by_role("status")
    expect(status).to_have_text(replay("chapter", 10))
    view.get_by_role("spinbutton", name=NAME, exact=True).focus()
    view.page.keyboard.press("ArrowDown")
    expect(status).to_have_text(replay("chapter", 9))
    examined("crashes by hand in JupyterLab", 1)
