"""An instructor opens the live demo in JupyterLab: its lab, button by button; all of it, as the guide has it; two."""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args
from urllib.parse import urlsplit

import ipywidgets
import pytest
from playwright.sync_api import Locator, expect

from minagent.lab.crash_lab.crashlab import CrashLab
from minagent.lab.crash_lab.disk import stored_files
from minagent.lab.crash_lab.score import predicted
from minagent.lab.processes.phases import LEDGER, Phase, Recording
from minagent.lab.views.crash_lab_widget import WholeLabView
from minagent.lab.world.example import EXAMPLES, ExampleName
from minagent.lab.world.ledger import Ledger
from tests.browser.crash_lab_page import WholeLabOnPage, folder_of
from tests.browser.jupyterlab_page import JupyterLabPage
from tests.browser.notebooks import Notebooks
from tests.conftest import in_process_table
from tests.examined import Examined
from tests.test_instructors_guide import GUIDE

NOTEBOOK = "live_demo.ipynb"

CLICKS = 150
RNG = random.Random(7310)  # noqa: S311 - no secret

COPY = """async notebook => {
    const token = document.cookie.match(/_xsrf=([^;]*)/)
    const asked = {method: 'POST', headers: {'X-XSRFToken': token ? token[1] : ''},
        body: JSON.stringify({copy_from: 'notebooks/' + notebook})}
    return (await (await fetch('/api/contents/notebooks', asked)).json()).name
}"""
"""Have the server copy a notebook, as JupyterLab's *Duplicate* does, and return the name of the copy."""


@pytest.fixture
def lab(notebook: Locator) -> WholeLabOnPage:
    """The first of the labs on the page."""
    return WholeLabOnPage(notebook)


@pytest.fixture
def doomed(notebook: Locator, notebooks: Notebooks) -> Iterator[JupyterLabPage]:
    """The page, for a test that kills its kernel: its views are dead then, and who comes later needs new ones."""
    yield notebooks.lab
    notebooks.forget(NOTEBOOK)


def draw() -> list[tuple[Recording, ExampleName, int, Phase]]:
    """Draw crash points over all ways of recording and all tools."""
    labs = [CrashLab(Path("nowhere"), way, tools) for way in get_args(Recording) for tools in get_args(ExampleName)]
    return [(lab.recording, lab.example, *RNG.choice(lab.points)) for lab in labs]


def test_every_way_of_recording_does_what_theory_says_on_the_page(lab: WholeLabOnPage, examined: Examined):
    """Of each and its tools a crash point: the score is theory's, the panels are what disk, ledger, processes say."""
    for recording, example, step, phase in draw():
        lab.choose(recording, example)
        lab.press("Step", "A process starts.")
        pid = lab.pid()
        folder = folder_of(pid)
        assert in_process_table(pid)
        lab.press(f"step {step}: {phase}", "Crashed by SIGKILL")
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


def buttons(view: WholeLabView) -> list[ipywidgets.Button]:
    """Return the buttons of a lab that can be pressed now: one of a row first, so that rows with few come, too."""
    shown = [button for button in view.buttons.values() if button.layout.display != "none"]
    cells = [cell for cell in view.cells.children if not cell.disabled]
    choices = [*view.recording.buttons.values(), *view.example.buttons.values()]
    return RNG.choice([row for row in (shown, shown, cells, choices) if row])


def seen(html: str) -> list[str]:
    """Return the words that are on a page with this HTML, without the process id."""
    return re.sub(r"pid \d+", "pid", re.sub(r"<[^>]+>", " ", html)).split()


def test_random_clicks_end_as_in_the_model(lab: WholeLabOnPage, tmp_path: Path, examined: Examined):
    """A hundred and fifty, by mouse and keys: after each the page says and draws what a lab beside it does."""
    twin = WholeLabView(CrashLab(tmp_path / "lab", "log", "errand"))
    lab.choose("log", "errand")
    for number in range(CLICKS):
        button = RNG.choice(buttons(twin))
        name = button.description.removeprefix("✓ ")
        killed = twin.lab.tally.run.all("killed")
        button.click()
        if number % 2:
            lab.button(name).click()
        else:
            lab.button(name).press("Enter")
        expect(lab.status).to_have_text(twin.status.said)
        expect(lab.view.locator("svg desc")).to_have_text(twin.now.run.outcome + " " + twin.now.run.price)
        examined("crashes by hand in JupyterLab", int(len(twin.lab.tally.run.all("killed")) > len(killed)))
    assert seen(lab.view.locator(".minagent:has(section)").inner_html()) == seen(twin.picture.value)
    assert seen(lab.view.locator("svg").inner_html()) == seen(twin.drawn.value.partition("<svg")[2].partition(">")[2])
    shown = lab.view.get_by_role("button").all_inner_texts()
    rows = (twin.recording.buttons, twin.example.buttons, twin.buttons)
    usable = [b for row in rows for b in row.values() if b.layout.display != "none"]
    assert shown == [b.description for b in (*usable, *(cell for cell in twin.cells.children if not cell.disabled))]
    twin.lab.close()


def script() -> dict[str, tuple[list[str], int | None]]:
    """Return what the guide has for each screen: the buttons to press, in order, and the number to read aloud."""
    rows = re.findall(r"^\| \d+ \| (\w+) \| ([^|]*) \| [^|]* \| ([^|]*)\|$", GUIDE.read_text("utf-8"), re.MULTILINE)
    found = {}
    for screen, do, point in rows:
        number = re.search(r"\*\*(\d+)\*\*", point)
        found[screen] = (re.findall(r"(?<!\*)\*([^*]+)\*", do), int(number[1]) if number else None)
    return found


def run(cell: Locator) -> None:
    """Run a cell, and wait for it."""
    cell.locator(".cm-content").click()
    cell.page.keyboard.press("Control+Enter")
    expect(cell.locator(".jp-InputArea-prompt")).to_have_text(re.compile(r"\[\d+\]:"))


def kill_and_resume(page: JupyterLabPage, presses: list[str]) -> None:
    """The finale: the question, the kill, JupyterLab's dialog, and the state from the disk."""
    cells = page.front.locator(".jp-CodeCell")
    widget = cells.filter(has_text="OwnKernelView()")
    run(widget)
    for press in presses:
        widget.get_by_role("button", name=press).click()
    dialog = page.page.get_by_role("dialog").filter(has_text="appears to have died")
    dialog.get_by_role("button", name="Ok").click()
    page.wait_for_kernel()
    resume = cells.filter(has_text="from the disk:")
    run(resume)
    expect(resume.locator(".jp-OutputArea-output")).to_contain_text("from the disk: 4 messages")
    expect(resume.locator(".jp-OutputArea-output")).to_contain_text("再乘 4 得 20")


def test_the_demo_is_played_as_the_guide_has_it_and_another_tab_keeps_its_own(
    doomed: JupyterLabPage, examined: Examined
):
    """Screen by screen, in the guide's words; nobody but this machine is asked. A second demo begins anew meanwhile."""
    page, asked = doomed.page, set[str | None]()
    page.on("request", lambda request: asked.add(urlsplit(request.url).hostname))
    cells = doomed.front.locator(".jp-CodeCell")
    plan = script()
    run(cells.first)
    labs = cells.filter(has_text="WholeLabView(")
    for number, screen in enumerate("1234"):
        presses, dollars = plan[screen]
        run(labs.nth(number))
        lab = WholeLabOnPage(doomed.front, number)
        for press in presses:
            lab.button(press).click()
        expect(lab.view.locator("svg desc")).to_have_text(re.compile(r"for 4 steps\.$"))
        assert dollars is not None
        lab.expect_paid(dollars)
    presses, _ = plan["5"]
    run(cells.filter(has_text="in memory and on the disk:"))
    copy = page.evaluate(COPY, NOTEBOOK)
    page.get_by_role("button", name="Refresh the file browser.").first.click()
    doomed.open(copy)
    doomed.bring_to_front(copy)
    doomed.wait_for_kernel()
    other = doomed.front.locator(".jp-CodeCell")
    run(other.first)  # which empties the folder of the demo in its own tab
    doomed.bring_to_front(NOTEBOOK)
    kill_and_resume(doomed, presses)
    doomed.bring_to_front(copy)
    resume = other.filter(has_text="from the disk:")
    run(resume)
    expect(resume.locator(".jp-OutputArea-output")).to_contain_text("no checkpoint at")  # it has saved nothing
    examined("crashes by hand in JupyterLab", 5)
    assert asked - {None, ""} <= {"127.0.0.1"}
