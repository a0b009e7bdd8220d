"""A reader opens 7.3.5 in JupyterLab, runs it, and presses Step, Crash and Resume."""

import re
from pathlib import Path

from playwright.sync_api import Locator, expect

from minagent.document import decode
from minagent.lab.processes.phases import CHECKPOINT, LEDGER
from minagent.lab.world.ledger import Ledger
from tests.browser.crash_lab_page import CrashLabOnPage, folder_of
from tests.conftest import in_process_table
from tests.examined import Examined

NOTEBOOK = "7.3.5_run_crash_resume.ipynb"


def disk_line(folder: Path) -> str:
    """Return what the disk panel ought to say, read from the disk."""
    data = (folder / CHECKPOINT).read_bytes()
    return f"✓ session.json: {len(data)} bytes, good, {len(decode(data).session.messages)} messages"


def test_step_crash_resume_by_hand(notebook: Locator, examined: Examined):
    """What the page shows is what the disk and the process table say, before the crash, after it, and at the end."""
    lab = CrashLabOnPage(notebook)
    lab.press("Reset", "Reset: no process, an empty disk")
    expect(lab.panel("Disk")).to_contain_text("empty")
    lab.press("Step", "Now at step 0, about to ask the model.")
    for doing in ("run the tool", "take the result in", "save"):
        lab.press("Step", f"Now at step 0, about to {doing}.")
    lab.press("Step", "Now at step 1, about to ask the model.")
    killed = lab.pid()
    folder = folder_of(killed)
    assert in_process_table(killed)
    expect(lab.panel("Disk")).to_contain_text(disk_line(folder))
    expect(lab.panel("Outside world")).to_contain_text("add → 5")

    lab.press("Crash", "Crashed by SIGKILL.")
    examined("crashes by hand in JupyterLab", 1)
    expect(lab.panel("Process")).not_to_contain_text("pid")
    assert not in_process_table(killed)
    expect(lab.panel("Disk")).to_contain_text(disk_line(folder))

    lab.press("Resume", "Resumed in a new process, from the checkpoint.")
    assert lab.pid() != killed
    assert in_process_table(lab.pid())
    assert folder_of(lab.pid()) == folder
    lab.press("Run", "Done: the process has ended by itself.")
    expect(lab.panel("Disk")).to_contain_text(disk_line(folder))
    assert decode((folder / CHECKPOINT).read_bytes()).model_cursor == 3
    effects = [effect["name"] for effect in Ledger(folder / LEDGER).effects()]
    assert effects == ["add", "multiply"]
    shown = lab.panel("Outside world").get_by_role("listitem").all_inner_texts()
    assert shown == ["add → 5", "multiply → 20"]


def test_the_variables_go_and_come_by_hand(notebook: Locator, examined: Examined):
    """Crash takes the notebook's own names away: the next cell raises NameError. Resume brings them back."""
    page = notebook.page
    buttons = page.get_by_role("button", name="Resume")
    view = notebook.locator(".jp-OutputArea-output").filter(has=buttons, has_not=page.locator(".minagent-live"))
    cell = notebook.locator(".jp-CodeCell").filter(has_text=re.compile(r"^\s*(\[\d+\]:?)?\s*len\(session\.messages\)"))
    view.get_by_role("button", name="Crash").click()
    expect(view.get_by_role("status")).to_contain_text("session, model, steps gone from memory")
    examined("crashes by hand in JupyterLab", 1)
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    expect(cell.locator(".jp-OutputArea-output")).to_contain_text("name 'session' is not defined")
    view.get_by_role("button", name="Resume").click()
    expect(view.get_by_role("status")).to_contain_text("Resumed: 7 messages")
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    expect(cell.locator(".jp-OutputArea-output")).to_have_text("7")
