"""The notebooks that the tests look at, open in one JupyterLab; their cells run side by side."""

from playwright.sync_api import BrowserContext

from tests.browser.jupyterlab_page import JupyterLabPage, alone

ALONE = "live_demo.ipynb"
"""It has a page to itself: axe, which reads all of a page, is run on it in many states, and its kernel dies."""


class Notebooks:
    """All notebooks but that one are tabs on a page that begins with the address that JupyterLab printed."""

    def __init__(self, window: BrowserContext, address: str) -> None:
        self._window = window
        self._address = address
        self._pages: dict[str, JupyterLabPage] = {}
        self.first_page = JupyterLabPage(window.new_page(), address)
        self.have_run: set[str] = set()
        """Those that a test has found run to the end."""

    def begin(self, *notebooks: str) -> None:
        """Open notebooks that are not open, and begin to run all their cells."""
        new = sorted({*notebooks} - {*self._pages}, key=lambda notebook: notebook != ALONE)
        for notebook in new:
            self._pages[notebook] = self._open(notebook)
        for notebook in new:
            self._pages[notebook].begin_to_run(notebook)

    def _open(self, notebook: str) -> JupyterLabPage:
        if notebook == ALONE:
            return JupyterLabPage(self._window.new_page(), alone(self._address, notebook))
        self.first_page.open(notebook)
        return self.first_page

    def page_of(self, notebook: str) -> JupyterLabPage:
        """Return the page that a notebook is on. Its cells may still be running."""
        self.begin(notebook)
        return self._pages[notebook]

    def close(self) -> None:
        """Close the page of the notebook that is alone. When it is asked for again, it is opened and run again."""
        self._pages.pop(ALONE).page.close()
