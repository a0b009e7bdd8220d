"""A crash lab on a page, as a reader sees it."""

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from minagent.lab.score import Score


class CrashLabOnPage:
    """Its buttons, its status line, and its panels."""

    def __init__(self, view: Locator) -> None:
        self.view = view
        self.status = view.get_by_role("status")

    def panel(self, name: str) -> Locator:
        """Return one of the three panels."""
        return self.view.get_by_role("region", name=name)

    def button(self, label: str) -> Locator:
        """Return a button; one that is chosen has a mark before its label."""
        return self.view.get_by_role("button", name=re.compile(rf"^(✓ )?{re.escape(label)}$"))

    def press(self, label: str, said: str) -> None:
        """Press a button, and wait until the status line says that it was done."""
        self.button(label).click()
        expect(self.status).to_contain_text(said)

    def pid(self) -> int:
        """Return the process id that the page shows."""
        expect(self.panel("Process")).to_contain_text("pid")
        found = re.search(r"pid (\d+)", self.panel("Process").inner_text())
        assert found
        return int(found[1])


class WholeLabOnPage(CrashLabOnPage):
    """The whole lab, worked by keyboard."""

    def __init__(self, page: Page) -> None:
        super().__init__(page.locator(".jp-OutputArea-output").filter(has=page.get_by_label("What happened")))

    def press(self, label: str, said: str) -> None:
        """Press Enter on a button, and wait until the status line says that it was done."""
        self.button(label).press("Enter")
        expect(self.status).to_contain_text(said)

    def expect_score(self, expected: Score) -> None:
        """Check that the page shows this score, measured and from theory."""
        cells = [str(count) for count in vars(expected).values() for _ in range(2)]
        expect(self.view.get_by_role("table").locator("td")).to_have_text(cells)


def folder_of(pid: int) -> Path:
    """Return the folder in which a worker keeps its files, as the process table knows it."""
    return Path(f"/proc/{pid}/cwd").readlink()
