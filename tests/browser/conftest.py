"""A browser for the tests of this folder, one JupyterLab, and the notebook that a module looks at."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page

from tests.browser.jupyterlab import browser, find_browser, jupyterlab, window
from tests.browser.jupyterlab_page import JupyterLabPage
from tests.browser.notebooks import Notebooks
from tests.examined import Examined


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A browser."""
    if find_browser() is None:
        pytest.skip("no Chromium on this machine")
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def offline(chromium: Browser) -> Iterator[Page]:
    """A page that reaches nobody. A module has one for all that it looks at: each new one is a new process, or two."""
    with window(chromium, height=720, offline=True) as opened:
        yield opened.new_page()


@pytest.fixture(scope="session")
def notebooks(
    request: pytest.FixtureRequest, chromium: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Notebooks]:
    """The notebooks in JupyterLab."""
    chosen = [item for item in request.session.items if isinstance(item, pytest.Function)]
    needed = {item.module.NOTEBOOK for item in chosen if "notebook" in item.fixturenames}
    with jupyterlab(tmp_path_factory.mktemp("jupyterlab")) as address, window(chromium) as opened:
        yield Notebooks(JupyterLabPage(opened.new_page(), address), needed)


@pytest.fixture
def notebook(request: pytest.FixtureRequest, notebooks: Notebooks, examined: Examined) -> Locator:
    """The notebook NOTEBOOK of the module, all its cells run, in front. The tests of a run share it."""
    name = request.module.NOTEBOOK
    notebooks.begin(name)
    cells = notebooks.lab.finish(name)
    if name not in notebooks.have_run:
        notebooks.have_run.add(name)
        examined("notebook cells run in JupyterLab", cells)
    return notebooks.lab.front
