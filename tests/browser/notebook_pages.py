"""Notebooks in JupyterLab, each on a page of its own; their cells run side by side."""

from typing import Literal

from playwright.sync_api import BrowserContext, Page

Theme = Literal["light", "dark"]

PROMPTS = ".jp-Notebook .jp-CodeCell .jp-InputArea-prompt"
ALL_HAVE_RUN = (
    "prompts => [...document.querySelectorAll(prompts)].every(prompt => /\\[\\d+\\]/.test(prompt.textContent))"
)
IN_THEME = "is => document.body.dataset.jpThemeLight === is && !document.getElementById('jupyterlab-splash')"


class NotebookPages:
    """The pages of a browser window, by notebook."""

    def __init__(self, window: BrowserContext, address: str) -> None:
        self._window = window
        self._address = address.partition("/lab")[0]
        self._pages: dict[str, Page] = {}
        self.cells_run: dict[str, int] = {}
        """How many code cells have run on the page of each notebook; only of those that were asked for."""

    def begin(self, *notebooks: str) -> None:
        """Open notebooks that are not open, and begin to run all their cells."""
        new = [notebook for notebook in notebooks if notebook not in self._pages]
        for notebook in new:
            self._pages[notebook] = self._window.new_page()
            # A workspace for each: two pages with one would take the notebook away from each other.
            place = f"/lab/workspaces/{notebook.replace('.', '-')}/tree/notebooks/{notebook}?reset"
            self._pages[notebook].goto(self._address + place, wait_until="commit")
        for notebook in new:
            run_all(self._pages[notebook])

    def begun(self, notebook: str) -> Page:
        """Return the page of a notebook; its cells may still be running."""
        self.begin(notebook)
        return self._pages[notebook]

    def finished(self, notebook: str) -> Page:
        """Return the page of a notebook when all its cells have run."""
        page = self.begun(notebook)
        page.wait_for_function(ALL_HAVE_RUN, arg=PROMPTS, polling=100)
        self.cells_run[notebook] = page.locator(PROMPTS).count()
        return page

    def close(self, notebook: str) -> None:
        """Close a page. When its notebook is asked for again, it is opened and run again."""
        self._pages.pop(notebook).close()


def run_all(page: Page) -> None:
    """Wait for the kernel, and begin to run all cells."""
    page.locator("#jp-main-statusbar").get_by_text("(ipykernel) | Idle").wait_for()
    # The stored cells carry the numbers of their last run: without them, a number means that the cell has run now.
    choose(page, "Edit", "Clear Outputs of All Cells")
    choose(page, "Run", "Run All Cells")


def show_in(page: Page, theme: Theme) -> None:
    """Choose JupyterLab's light or dark theme, and wait until all is drawn in it."""
    is_light = str(theme == "light").lower()
    if page.evaluate("document.body.dataset.jpThemeLight") != is_light:
        choose(page, "Settings", "Theme", f"JupyterLab {theme.capitalize()}")
        page.wait_for_function(IN_THEME, arg=is_light)


def choose(page: Page, menu: str, *items: str) -> None:
    """Choose from a menu, and from the menus that open in it."""
    page.get_by_role("menuitem", name=menu, exact=True).click()
    for item in items:
        page.locator(".lm-Menu-itemLabel").get_by_text(item, exact=True).click()
