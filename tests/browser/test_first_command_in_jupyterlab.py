"""A reader types the README's first command, and opens the address that it prints."""

from playwright.sync_api import Browser, expect

from tests.browser.jupyterlab import window


def test_the_readme_s_first_command_opens_the_start_notebook(chromium: Browser, address: str):
    """What it prints is the address of the notebook, for who has to open a browser by hand."""
    with window(chromium) as opened:
        page = opened.new_page()
        page.goto(address)
        expect(page.get_by_role("heading", name="7.3.0 Start here: agents that survive a crash")).to_be_visible()
