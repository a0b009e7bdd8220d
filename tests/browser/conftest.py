"""One browser and one JupyterLab for all tests of this folder, and the notebook that a module looks at."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser.jupyterlab import browser, find_browser, jupyterlab, window
from tests.browser.notebook_pages import NotebookPages
from tests.examined import Examined

HERE = Path(__file__).parent


def needed(item: pytest.Item) -> str | None:
    """Return the notebook that a test of this folder needs, run: NOTEBOOK of its module."""
    if item.path.parent == HERE and isinstance(item, pytest.Function):
        return getattr(item.module, "NOTEBOOK", None)
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put first what needs no notebook: meanwhile the notebooks run."""
    places = [place for place, item in enumerate(items) if item.path.parent == HERE]
    ordered = sorted((items[place] for place in places), key=lambda item: needed(item) is not None)
    for place, item in zip(places, ordered, strict=True):
        items[place] = item


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A browser."""
    if find_browser() is None:
        pytest.skip("no Chromium on this machine")
    with browser() as started:
        yield started


@pytest.fixture(scope="session")
def offline(chromium: Browser) -> Iterator[BrowserContext]:
    """A window that reaches nobody."""
    with window(chromium, height=720, offline=True) as opened:
        yield opened


@pytest.fixture(scope="session")
def address(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """What the README's first command prints."""
    with jupyterlab(tmp_path_factory.mktemp("jupyterlab")) as printed:
        yield printed


@pytest.fixture(scope="session")
def notebooks(chromium: Browser, address: str) -> Iterator[NotebookPages]:
    """The pages of the notebooks."""
    with window(chromium) as opened:
        yield NotebookPages(opened, address)


@pytest.fixture(scope="session", autouse=True)
def _begun(request: pytest.FixtureRequest) -> None:
    """Begin with all notebooks that the chosen tests need: they run side by side, and while other tests go on."""
    chosen = {notebook for item in request.session.items if (notebook := needed(item))}
    if chosen:
        request.getfixturevalue("notebooks").begin(*sorted(chosen))


@pytest.fixture
def page(request: pytest.FixtureRequest, notebooks: NotebookPages, examined: Examined) -> Page:
    """The page of the notebook NOTEBOOK of the module, all its cells run. The tests of a run share it."""
    notebook = request.module.NOTEBOOK
    if notebook not in notebooks.cells_run:
        notebooks.finished(notebook)
        examined("notebook cells run in JupyterLab", notebooks.cells_run[notebook])
    return notebooks.finished(notebook)
