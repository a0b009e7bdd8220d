"""The whole crash lab as a widget: every button, in every state, in any order, and nothing is left behind."""

import gc
import random
from pathlib import Path
from typing import get_args

import ipywidgets
import pytest

from minagent.lab.crash_lab.crashlab import CrashLab
from minagent.lab.processes.phases import DOING, Recording
from minagent.lab.views.crash_lab_widget import WholeLabView
from minagent.lab.world.example import ExampleName
from tests.conftest import in_process_table
from tests.lab.test_widgets import text


@pytest.fixture
def view(tmp_path: Path) -> WholeLabView:
    """The lab of the errand, with a log."""
    return WholeLabView(CrashLab(tmp_path / "lab", "log", "errand"))


def press(view: WholeLabView, *labels: str) -> str:
    """Click buttons by their labels; return what the status line says then."""
    for label in labels:
        view.buttons[label].click()
    return view.status.said


def cells(view: WholeLabView) -> dict[str, ipywidgets.Button]:
    """Return the buttons of all places by their names, in order."""
    return {cell.description: cell for cell in view.cells.children}


def die_at(view: WholeLabView, name: str) -> str:
    """Click the cell of a place; return what the status line says then."""
    cells(view)[name].click()
    return view.status.said


def rare(view: WholeLabView) -> list[str]:
    """Return the buttons that are not there at all times, and are now."""
    return [label for label, button in view.buttons.items() if button.layout.display != "none"][5:]


def test_a_call_in_doubt_is_resolved_by_buttons(view: WholeLabView):
    """Die after the charge: unknown is said aloud, a person looks, and the run goes on."""
    assert die_at(view, "step 1: result").endswith(
        "It stood at step 1, about to take the result in. Its memory is gone."
    )
    assert press(view, "Resume").endswith("about to stop: a tool may have run, and nobody knows.")
    assert "? waits: a call is in doubt" in text(view.picture.value)
    assert "Press It happened, It did not or Nobody knows" in press(view, "Run")
    assert press(view, "It happened").startswith("Recorded: Happened(result='charged 26').")
    assert press(view, "Run") == "Done: the process has ended by itself."
    shown = text(view.picture.value)
    assert "effects unknown | 1 | 1 | model calls paid twice | 0 | 0" in shown
    assert "effects repeated | 0 | 0" in shown


@pytest.mark.parametrize(("verdict", "mails"), [("It did not", 2), ("Nobody knows", 1)])
def test_the_other_two_verdicts(view: WholeLabView, verdict: str, mails: int):
    """A wrong guess sends the mail twice, and the score says so."""
    view.lab.run_to(2, "save")
    press(view, "Crash in mid-write", "Resume", verdict, "Run")
    assert [effect["name"] for effect in view.lab.ledger.effects()].count("send_mail") == mails
    assert view.lab.score.effects_repeated == mails - 1


@pytest.mark.parametrize(
    ("point", "said"),
    [
        ("step 2: tool", "it happened, says a person; the outside world has not seen it"),
        ("step 2: result", "sent to Ann: lamp, 26 dollars"),
    ],
)
def test_what_happened_has_the_result_of_its_own_call(view: WholeLabView, point: str, said: str):
    """Of the call in doubt, not of whichever tool was last; and where the ledger has none, that is said."""
    die_at(view, point)
    press(view, "Resume")
    assert press(view, "It happened").startswith(f"Recorded: Happened(result='{said}').")


@pytest.mark.parametrize("recording", get_args(Recording))
@pytest.mark.parametrize("example", get_args(ExampleName))
def test_every_phase_of_every_step_is_a_button(view: WholeLabView, recording: Recording, example: ExampleName):
    """In the order of the run; those ahead can be pressed, and the process dies just there."""
    view.recording.buttons[recording].click()
    view.example.buttons[example].click()
    names = [f"step {step}: {phase}" for step, phase in view.lab.points]
    assert list(cells(view)) == names
    assert not any(cell.disabled for cell in view.cells.children)
    step, phase = view.lab.points[-2]
    assert die_at(view, names[-2]).startswith(f"Crashed by SIGKILL. It stood at step {step}, about to {DOING[phase]}.")
    assert all(cell.disabled for cell in view.cells.children)
    press(view, "Resume")
    ahead = [name for name, cell in cells(view).items() if not cell.disabled]
    here = view.lab.report
    assert ahead == (names[names.index(f"step {here.step}: {here.phase}") :] if here else [])
    view.lab.close()


def test_rare_actions_are_there_when_they_can_be_done(view: WholeLabView):
    """And only then; each of them does something then."""
    assert rare(view) == []
    press(view, "Step")
    assert rare(view) == ["Cut the power"]
    press(view, "Step")
    assert rare(view) == ["Crash in mid-write", "Cut the power"]
    press(view, "Crash")
    assert rare(view) == []
    press(view, "Resume")
    die_at(view, "step 1: result")
    press(view, "Resume")
    assert rare(view) == ["It happened", "It did not", "Nobody knows"]
    press(view, "It happened")
    assert rare(view) == ["Cut the power"]


def test_the_focus_goes_on_when_a_button_goes(view: WholeLabView, monkeypatch: pytest.MonkeyPatch):
    """Who works by keyboard is never left nowhere: to the button that leads on."""
    focused = []
    monkeypatch.setattr(ipywidgets.Button, "focus", lambda button: focused.append(button.description))
    press(view, "Step", "Crash", "Resume")
    assert focused == []
    die_at(view, "step 1: result")
    press(view, "Resume", "It happened", "Cut the power")
    assert focused == ["Resume", "Step", "Resume"]


def test_what_the_customer_paid_is_a_number_and_in_words(view: WholeLabView):
    """Green is not said in words, red is."""
    assert text(view.picture.value).startswith("What the customer paid: | $0 | Nothing in the world was changed twice.")
    view.recording.buttons["every step"].click()
    die_at(view, "step 1: result")
    assert "No process knows: charged 26." in text(view.picture.value)
    press(view, "Resume", "Run")
    assert text(view.picture.value).startswith(
        "What the customer paid: | $52 | ✗ The customer paid 52 dollars: charged twice."
    )
    assert "minagent-wrong" in view.picture.value
    view.recording.buttons["log with keys"].click()
    die_at(view, "step 1: result")
    press(view, "Resume", "Run")
    assert text(view.picture.value).startswith(
        "What the customer paid: | $26 | The customer paid 26 dollars: charged once."
    )
    assert "minagent-wrong" not in view.picture.value


def test_what_is_done_from_code_is_seen_at_once(view: WholeLabView):
    """The picture grows phase by phase while the process runs."""
    drawn = []
    view.drawn.observe(lambda change: drawn.append(change["new"]), "value")
    view.lab.run()
    assert len(drawn) == len(set(drawn)) == len(view.lab.points)


def test_a_choice_begins_anew_and_is_marked_by_a_sign(view: WholeLabView):
    """Its points are counted anew, too."""
    press(view, "Step", "Step")
    view.recording.buttons["every step"].click()
    assert view.status.said.startswith("Chosen: every step; errand. Reset")
    view.example.buttons["arithmetic"].click()
    marked = [b.description for b in (*view.recording.buttons.values(), *view.example.buttons.values())]
    assert [word for word in marked if word.startswith("✓")] == ["✓ every step", "✓ arithmetic"]
    assert len(cells(view)) == len(view.lab.points) == 10
    assert repr(view) == "Whole crash lab: every step, arithmetic, ready"


def test_a_hundred_sequences_of_clicks_leave_the_lab_consistent(view: WholeLabView):
    """Whatever is pressed: no exception comes out, one process at most is alive, and the start can be brought back."""
    rng = random.Random(7311)  # noqa: S311 - no secret
    clicks = [*view.buttons.values(), *view.recording.buttons.values(), *view.example.buttons.values()]
    pids = set()
    for _ in range(100):
        for button in rng.choices(clicks, k=8):
            button.click()
            assert "Error" not in view.status.said.partition(":")[0], (button.description, view.status.said)
            if view.lab.process is not None:
                pids.add(view.lab.process.pid)
            living = {pid for pid in pids if in_process_table(pid)}
            alive = view.lab.state in ("running", "in doubt")
            assert living == ({view.lab.process.pid} if alive and view.lab.process is not None else set())
        rng.choice(view.cells.children).click()
    assert press(view, "Reset").startswith("Reset: no process")
    assert not any(in_process_table(pid) for pid in pids)
    assert view.lab.score == view.lab.tally.predicted


def test_a_lab_that_is_dropped_leaves_no_process(tmp_path: Path):
    """Nor does a cell that is run twice."""
    view = WholeLabView(CrashLab(tmp_path, "log with keys", "errand"))
    press(view, "Step")
    assert view.lab.process is not None
    pid = view.lab.process.pid
    view.close_all()
    del view
    gc.collect()
    assert not in_process_table(pid)
