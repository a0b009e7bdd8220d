"""JupyterLab on a page, as a reader sees it: its menus, its list of files, and a tab for each notebook."""

from typing import Literal

from playwright.sync_api import Locator, Page

Theme = Literal["light", "dark"]

FRONT = ".jp-NotebookPanel:not(.lm-mod-hidden)"
"""The notebook whose tab is in front."""
PROMPTS = f"{FRONT} .jp-CodeCell .jp-InputArea-prompt"
ALL_HAVE_RUN = (
    "prompts => [...document.querySelectorAll(prompts)].every(prompt => /\\[\\d+\\]/.test(prompt.textContent))"
)
IN_THEME = "is => document.body.dataset.jpThemeLight === is && !document.getElementById('jupyterlab-splash')"


def alone(address: str, notebook: str) -> str:
    """Return the address at which a notebook has a page to itself, given the one that JupyterLab printed."""
    # In a workspace of its own: two pages with one workspace take their notebooks away from each other.
    server = address.partition("/lab")[0]
    return f"{server}/lab/workspaces/{notebook.replace('.', '-')}/tree/notebooks/{notebook}?reset"


class JupyterLabPage:
    """A page with JupyterLab on it; `address` is that of its first notebook."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.front = page.locator(FRONT)
        page.goto(address, wait_until="commit")

    def open(self, notebook: str) -> None:
        """Open a notebook from the list of files."""
        self.page.locator(".jp-DirListing-item").get_by_text(notebook, exact=True).dblclick()
        self._tab(notebook).wait_for()

    def bring_to_front(self, notebook: str) -> Locator:
        """Bring the tab of a notebook to the front, and return the notebook."""
        tab = self._tab(notebook)
        tab.click()
        self.page.locator(f"{FRONT}[aria-labelledby='{tab.get_attribute('id')}']").wait_for()
        return self.front

    def begin_to_run(self, notebook: str) -> None:
        """Wait for the kernel, and begin to run all cells."""
        self.bring_to_front(notebook)
        self.wait_for_kernel()
        # The stored cells carry the numbers of their last run: without them, a number means that the cell has run now.
        self.choose("Edit", "Clear Outputs of All Cells")
        self.choose("Run", "Run All Cells")

    def wait_for_kernel(self) -> None:
        """Wait until the kernel of the notebook in front waits for work."""
        self.page.locator("#jp-main-statusbar").get_by_text("(ipykernel) | Idle").wait_for()

    def finish(self, notebook: str) -> int:
        """Bring a notebook to the front, wait until all its code cells have run, and return how many they are."""
        self.bring_to_front(notebook)
        self.page.wait_for_function(ALL_HAVE_RUN, arg=PROMPTS, polling=50)
        return self.page.locator(PROMPTS).count()

    def show_in(self, theme: Theme) -> None:
        """Choose the light or the dark theme, and wait until all is drawn in it."""
        is_light = str(theme == "light").lower()
        if self.page.evaluate("document.body.dataset.jpThemeLight") != is_light:
            self.choose("Settings", "Theme", f"JupyterLab {theme.capitalize()}")
            self.page.wait_for_function(IN_THEME, arg=is_light, polling=50)

    def choose(self, menu: str, *items: str) -> None:
        """Choose from a menu, and from the menus that open in it."""
        self.page.locator(".lm-MenuBar-itemLabel").get_by_text(menu, exact=True).click()
        for item in items:
            self.page.locator(".lm-Menu-itemLabel").get_by_text(item, exact=True).click()

    def _tab(self, notebook: str) -> Locator:
        return self.page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab").filter(has_text=notebook)
