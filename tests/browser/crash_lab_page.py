"""A crash lab on a page, as a reader sees it."""

import re
from itertools import count
from pathlib import Path

from playwright.sync_api import Locator, expect

from minagent.lab.crash_lab.score import Score

IS_SAID = """([views, said]) =>
    [...document.querySelectorAll(views + ' [role=status]')].some(line => line.textContent.includes(said))"""


NUMBERS = count()
"""Of the crash labs that were looked at."""


class CrashLabOnPage:
    """Its buttons, its status line, and its panels: of the crash labs of a notebook the one of this number, from 0."""

    def __init__(self, notebook: Locator, number: int = 0) -> None:
        self._page = notebook.page
        name = f"crash-lab-{next(NUMBERS)}"
        # By an id it is found at once: it is looked for thousands of times, and notebooks are large.
        found = notebook.locator(".jp-OutputArea-output:has(.minagent-live)").nth(number)
        found.evaluate("(view, name) => { view.id = name }", name)
        self.selector = f"#{name}"
        self.view = self._page.locator(self.selector)
        self.status = self.view.get_by_role("status")

    def panel(self, name: str) -> Locator:
        """Return one of the three panels."""
        return self.view.get_by_role("region", name=name)

    def button(self, label: str) -> Locator:
        """Return a button; one that is chosen has a mark before its label."""
        return self.view.get_by_role("button", name=re.compile(rf"^(✓ )?{re.escape(label)}$"))

    def press(self, label: str, said: str) -> None:
        """Press a button, and wait until the status line says that it was done."""
        self.button(label).click()
        self._expect(said)

    def _expect(self, said: str) -> None:
        # What follows would do alone, but it looks again after a second only, and this is done hundreds of times.
        self._page.wait_for_function(IS_SAID, arg=[self.selector, said], polling=20)
        expect(self.status).to_contain_text(said)

    def expect_paid(self, dollars: int) -> None:
        """Check the large number."""
        expect(self.view.locator(".minagent-paid b")).to_have_text(f"${dollars}")

    def pid(self) -> int:
        """Return the process id that the page shows."""
        expect(self.panel("Process")).to_contain_text("pid")
        found = re.search(r"pid (\d+)", self.panel("Process").inner_text())
        assert found
        return int(found[1])


class WholeLabOnPage(CrashLabOnPage):
    """The whole lab, worked by keyboard."""

    def press(self, label: str, said: str) -> None:
        """Press Enter on a button, and wait until the status line says that it was done."""
        self.button(label).press("Enter")
        self._expect(said)

    def choose(self, recording: str, example: str) -> None:
        """Have the lab at its start, with this way of recording and these tools."""
        for name in (recording, example):
            if not self.button(name).inner_text().startswith("✓"):
                self.press(name, name)
        self.press("Reset", "Reset: no process, an empty disk, an empty ledger.")

    def expect_score(self, expected: Score) -> None:
        """Check that the page shows this score, measured and from theory."""
        cells = [str(count) for count in vars(expected).values() for _ in range(2)]
        expect(self.view.get_by_role("table").locator("td")).to_have_text(cells)


def folder_of(pid: int) -> Path:
    """Return the folder in which a worker keeps its files, as the process table knows it."""
    return Path(f"/proc/{pid}/cwd").readlink()
