"""The notebooks that the tests look at, open in one JupyterLab; their cells run side by side."""

from collections.abc import Iterable

from tests.browser.jupyterlab_page import JupyterLabPage


class Notebooks:
    """They are tabs of one page, which begins with the address that JupyterLab printed."""

    def __init__(self, lab: JupyterLabPage, needed: Iterable[str]) -> None:
        self.lab = lab
        self._waiting = {*needed}
        self._begun: set[str] = set()
        self.have_run: set[str] = set()
        """Those that a test has found run to the end."""

    def begin(self, notebook: str) -> None:
        """Open a notebook that is not open, and begin to run all its cells; then all that are needed later."""
        if notebook in self._begun:
            return
        # The first one begins alone, and the others when its tests are done: on a page with little else it is looked at
        # in many states, by axe, which reads all of a page, and in many crashes, each of which sets styles anew.
        new = [notebook, *sorted(self._waiting - {notebook})] if self._begun else [notebook]
        for name in new:
            self.lab.open(name)
        for name in new:
            self.lab.begin_to_run(name)
        self._begun.update(new)
        self._waiting.difference_update(new)

    def forget(self, notebook: str) -> None:
        """Run a notebook once more when it is asked for again."""
        self._begun.discard(notebook)
