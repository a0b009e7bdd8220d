"""A browser for the tests of this folder, and the notebook that a module looks at."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.jupyterlab import browser, find_browser, jupyterlab, open_and_run


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser, for all tests of a module."""
    if find_browser() is None:
        pytest.skip("no Chromium on this machine")
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[Page]:
    """The notebook NOTEBOOK of the module, all its cells run."""
    with jupyterlab(tmp_path_factory.mktemp("jupyterlab")) as address:
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        open_and_run(page, address, request.module.NOTEBOOK)
        yield page
