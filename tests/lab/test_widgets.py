"""The views: a button does what its word says, and what the view shows is what the model says."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from minagent import ToolCall, save_checkpoint
from minagent.lab.crash_lab.crashlab import CrashLab
from minagent.lab.kernel.kernel_state import KernelState
from minagent.lab.views.crash_lab_widget import CrashLabView
from minagent.lab.views.widgets import KernelStateView, NumberView
from minagent.lab.world.example import SCRIPT


def text(html: str) -> str:
    """Return what a reader sees of a piece of HTML."""
    return re.sub(r"\s*\|[\s|]*", " | ", re.sub(r"<style>.*?</style>|<[^>]+>", "|", html, flags=re.DOTALL)).strip("| ")


@pytest.fixture
def view(lab: CrashLab) -> CrashLabView:
    """The view of a lab before its start."""
    return CrashLabView(lab)


def press(view: CrashLabView | KernelStateView, *labels: str) -> str:
    """Click buttons by their labels; return what the status line says then."""
    for label in labels:
        view.buttons[label].click()
    return text(view.status.line.value)


def test_the_start_shows_three_empty_panels(view: CrashLabView):
    """Nothing runs before the reader presses something."""
    assert text(view.picture.value) == (
        "Nothing in the world was changed twice. | Process: what it knows | ○ not started | "
        "Disk: what it holds | empty | Outside world: what it saw | no effects | model calls paid: 0, 0 tokens"
    )
    assert text(view.status.line.value) == "Press Step, or a cell ahead: the process dies there."


def test_panels_show_process_disk_and_world(view: CrashLabView, lab: CrashLab):
    """Step to the second model call: 4 messages known, a good file, one effect."""
    press(view, *["Step"] * 5)
    shown = text(view.picture.value)
    assert lab.process is not None
    size = (lab.folder / "disk" / "session.json").stat().st_size
    assert f"● alive, pid {lab.process.pid} | step 1 | messages: 4 | cursor: 1 | trace: tool_call" in shown
    assert f"✓ session.json: {size} bytes, good, 4 messages" in shown
    assert "add → 5" in shown


def test_crash_blanks_the_process_and_resume_fills_it(view: CrashLabView):
    """The pid goes, the disk stays, and a repeat is marked by a word."""
    press(view, "Step", "Step", "Step", "Step")
    assert press(view, "Crash") == "Crashed by SIGKILL. It stood at step 0, about to save. Its memory is gone."
    assert "Process: what it knows | ✗ killed | Disk" in text(view.picture.value)
    assert text(view.drawn.value).endswith("process 1 | killed | world | returned 5? No process knows | lost")
    assert press(view, "Resume").startswith("Resumed in a new process, from the first question")
    assert press(view, "Run") == "Done: the process has ended by itself."
    assert "add → 5 | add → 5 | ⟲ repeat 1 | multiply → 20" in text(view.picture.value)
    assert "session.json" in text(view.picture.value)
    assert press(view, "Reset").startswith("Reset")
    assert "no effects" in text(view.picture.value)


def test_an_action_that_does_not_fit_is_said_in_the_view(view: CrashLabView):
    """JupyterLab hides what a handler raises; the view does not."""
    assert "Press Step" in press(view, "Resume")
    assert "minagent-error" in view.status.line.value


def test_status_is_announced_and_everything_has_a_word(view: CrashLabView):
    """A screen reader hears what happened, and what the picture shows; no control is an icon alone."""
    assert 'role="status"' in view.status.line.value
    buttons = [*view.buttons.values(), *view.cells.children]
    assert all(button.description and not button.icon for button in buttons)
    assert "<desc>Nothing in the world was changed twice. The model was asked 0 times" in view.drawn.value


def test_the_style_sheet_comes_once(view: CrashLabView):
    """Not again with each redraw."""
    before = [widget.value for widget in view.status.children]
    press(view, "Step", "Run")
    assert [before[0][:7], before[0][-8:]] == ["<style>", "</style>"]
    assert [widget.value for widget in view.status.children] == [before[0], view.status.line.value]
    assert "<style" not in view.status.line.value + view.picture.value + view.drawn.value


def test_the_stored_form_is_short_and_has_no_pid(view: CrashLabView, lab: CrashLab):
    """What nbval compares and GitHub shows."""
    press(view, "Step")
    assert repr(view) == "Crash lab: running"


def test_a_lab_that_records_nothing_has_no_phase_for_it(tmp_path: Path):
    """The cells are the phases that there are."""
    view = CrashLabView(CrashLab(tmp_path, recording="nothing"))
    assert [cell.description for cell in view.cells.children][:4] == [
        "step 0: model", "step 0: tool", "step 0: result", "step 1: model",
    ]  # fmt: skip


@pytest.fixture
def kernel_view(session: object, model: object, steps: object, tmp_path: Path) -> Callable[[], KernelStateView]:
    """A function that makes the view of the three variables."""
    namespace = {"session": session, "model": model, "steps": steps}
    return lambda: KernelStateView(KernelState(namespace, tmp_path / "session.json", SCRIPT))


def test_the_kernel_s_variables_go_and_come(kernel_view: Callable[[], KernelStateView]):
    """The same two buttons for the reader's own names, an error in words included."""
    view = kernel_view()
    assert repr(view) == "Kernel state: session, model, steps in memory"
    assert press(view, "Crash") == "Crashed: session, model, steps gone from memory."
    assert text(view.picture.value) == "✗ gone: session | ✗ gone: model | ✗ gone: steps"
    assert repr(view) == "Kernel state: nothing in memory"
    assert press(view, "Resume").startswith("CheckpointMissing: no checkpoint at")


def test_resume_in_the_view(kernel_view: Callable[[], KernelStateView]):
    """Saved, crashed, resumed."""
    view = kernel_view()
    there = view.kernel.namespace
    save_checkpoint(view.kernel.path, there["session"], there["model"], there["steps"])
    assert press(view, "Crash", "Resume") == "Resumed: 2 messages, cursor 0, 0 steps in the trace."
    assert text(view.picture.value) == "● in memory: session | ● in memory: model | ● in memory: steps"


def test_a_number_and_what_follows_from_it():
    """Choosing another number says another sentence, in a line that is announced; limits hold."""
    view = NumberView("cut after byte", 3, (0, 9), lambda n: f"{n} <b> bytes")
    assert repr(view) == "cut after byte 3: 3 <b> bytes"
    view.number.value = 99
    assert view.said == "9 <b> bytes"
    assert text(view.status.line.value) == "9 &lt;b&gt; bytes"
    assert 'role="status"' in view.status.line.value


def test_a_sentence_that_fails_is_said_too():
    """The number and the sentence beside it never disagree."""

    def share(n: int) -> str:
        if n == 0:
            raise ValueError("nobody to share with")
        return f"{6 / n} each"

    view = NumberView("share among", 1, (0, 9), share)
    view.number.value = 0
    assert view.said == "ValueError: nobody to share with"


def test_a_picture_that_cannot_be_drawn_is_said_in_the_view(view: CrashLabView, lab: CrashLab):
    """The lab goes on; the old picture does not pass for the new one."""
    lab.ledger.path.parent.mkdir(parents=True)
    lab.ledger.path.write_bytes(b"no JSON\n")
    assert "JSONDecodeError" in press(view, "Step")


def test_names_from_outside_are_text_and_not_html(view: CrashLabView, lab: CrashLab):
    """A tool's name may be anything."""
    lab.ledger.record_effect(ToolCall("c1", "<img src=x>", {}), "<b>")
    view.redraw()
    assert "&lt;img src=x&gt; → &lt;b&gt;" in view.picture.value
