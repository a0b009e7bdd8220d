"""An instructor opens the live demo in JupyterLab: the whole lab, by its buttons, and the kernel that dies for real."""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from playwright.sync_api import Locator, expect

from minagent.lab.crash_lab.crashlab import CrashLab
from minagent.lab.crash_lab.disk import stored_files
from minagent.lab.crash_lab.score import predicted
from minagent.lab.processes.phases import LEDGER, Phase, Recording
from minagent.lab.world.example import EXAMPLES, ExampleName
from minagent.lab.world.ledger import Ledger
from tests.browser.crash_lab_page import WholeLabOnPage, folder_of
from tests.browser.jupyterlab_page import JupyterLabPage
from tests.browser.notebooks import Notebooks
from tests.conftest import in_process_table
from tests.examined import Examined

NOTEBOOK = "live_demo.ipynb"

CRASHES = 40
RNG = random.Random(7310)  # noqa: S311 - no secret


@pytest.fixture
def lab(notebook: Locator) -> WholeLabOnPage:
    """The lab on the page."""
    return WholeLabOnPage(notebook)


@pytest.fixture
def doomed(notebook: Locator, notebooks: Notebooks) -> Iterator[JupyterLabPage]:
    """The page, for a test that kills its kernel: its views are dead then, and who comes later needs new ones."""
    yield notebooks.lab
    notebooks.forget(NOTEBOOK)


def draw() -> list[tuple[Recording, ExampleName, int, Phase]]:
    """Draw crash points over all ways of recording and all tools."""
    cases = []
    recordings = list(get_args(Recording)) * 7
    for recording in recordings[:CRASHES]:
        example = RNG.choice(get_args(ExampleName))
        points = CrashLab(Path("nowhere"), recording, example).points
        cases.append((recording, example, *RNG.choice(points)))
    return cases


def test_every_way_of_recording_does_what_theory_says_on_the_page(lab: WholeLabOnPage, examined: Examined):
    """Forty crash points: the score is that of theory, the panels are what disk, ledger and process table say."""
    deaths: dict[str, str] = {"Crash": "Crashed by SIGKILL", "Cut the power": "Power cut", "Crash in mid-write": "half"}
    for recording, example, step, phase in draw():
        lab.press(recording, f"Chosen: {recording};")
        lab.press(example, f"; {example}.")
        if (step, phase) != (0, "model"):  # which is chosen already
            lab.press(f"step {step}: {phase}", f"Crash point: before step {step}: {phase}.")
        lab.press("Run to it", f"Now at step {step}, about to")
        pid = lab.pid()
        folder = folder_of(pid)
        assert in_process_table(pid)
        death = RNG.choice(list(deaths)[: 3 if phase in ("plan", "save") else 2])
        lab.press(death, deaths[death])
        assert not in_process_table(pid)
        expect(lab.panel("Process")).not_to_contain_text("pid")
        lab.press("Resume", "Resumed in a new process")
        if "nobody knows" in lab.status.inner_text():
            happened = any(effect["name"] != "look_up_price" for effect in Ledger(folder / LEDGER).effects()[step:])
            lab.press("It happened" if happened else "It did not", "Recorded")
        lab.press("Run", "Done: the process has ended by itself.")
        lab.expect_score(predicted(recording, EXAMPLES[example], step, phase))
        for file in stored_files(folder):
            expect(lab.panel("Disk")).to_contain_text(str(file))
        effects = [re.compile(rf"^{effect['name']} ") for effect in Ledger(folder / LEDGER).effects()]
        expect(lab.panel("Outside world").get_by_role("listitem")).to_have_text(effects)
        examined("crashes by hand in JupyterLab", 1)


def test_the_kernel_itself_dies_and_the_cell_after_it_resumes(doomed: JupyterLabPage, examined: Examined):
    """Three times in a row: the question, the kill, JupyterLab's dialog, and the state from the disk."""
    page = doomed.page
    cells = doomed.front.locator(".jp-CodeCell")
    widget = cells.filter(has_text="OwnKernelView()")
    resume = cells.filter(has_text="from the disk:")

    def run(cell: Locator) -> None:
        cell.locator(".cm-content").click()
        page.keyboard.press("Control+Enter")
        expect(cell.locator(".jp-InputArea-prompt")).to_have_text(re.compile(r"\[\d+\]:"))

    for _ in range(3):
        run(widget)
        widget.get_by_role("button", name="Crash this notebook's kernel").click()
        expect(widget.get_by_role("status")).to_contain_text("every variable is gone")
        widget.get_by_role("button", name="Yes, kill it").click()
        dialog = page.get_by_role("dialog").filter(has_text="appears to have died")
        dialog.get_by_role("button", name="Ok").click()
        doomed.wait_for_kernel()
        run(resume)
        expect(resume.locator(".jp-OutputArea-output")).to_contain_text("from the disk: 4 messages")
        expect(resume.locator(".jp-OutputArea-output")).to_contain_text("再乘 4 得 20")
        examined("crashes by hand in JupyterLab", 1)
