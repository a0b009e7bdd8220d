"""A browser for the tests of this folder."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.jupyterlab import browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser, for all tests of a module."""
    with browser() as started:
        yield started
