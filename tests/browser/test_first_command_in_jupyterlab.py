"""A reader types the README's first command, and opens the address that it prints."""

from playwright.sync_api import expect

from tests.browser.notebooks import Notebooks

FIRST = "7.3.0_start_here.ipynb"


def test_the_readme_s_first_command_opens_the_start_notebook(notebooks: Notebooks):
    """What it prints is the address of the notebook, for who has to open a browser by hand."""
    notebook = notebooks.lab.bring_to_front(FIRST)
    expect(notebook.get_by_role("heading", name="7.3.0 Start here: agents that survive a crash")).to_be_visible()
