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


def points(view: WholeLabView) -> dict[str, ipywidgets.Button]:
    """Return the buttons of all crash points by their names, in order."""
    return {name: button for row in view.rows for name, button in row.buttons.items()}


def choose(view: WholeLabView, name: str) -> None:
    """Click a crash point, as a reader does."""
    points(view)[name].click()


def test_a_call_in_doubt_is_resolved_by_buttons(view: WholeLabView):
    """Die after the charge: unknown is said aloud, a person looks, and the run goes on."""
    choose(view, "step 1: result")
    assert press(view, "Run to it") == "Now at step 1, about to take the result in."
    assert press(view, "Crash", "Resume").endswith("about to stop: a tool may have run, and nobody knows.")
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
    choose(view, "step 2: save")
    press(view, "Run to it", "Crash in mid-write", "Resume", verdict, "Run")
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
    choose(view, point)
    press(view, "Run to it", "Crash", "Resume")
    assert press(view, "It happened").startswith(f"Recorded: Happened(result='{said}').")


@pytest.mark.parametrize("recording", get_args(Recording))
@pytest.mark.parametrize("example", get_args(ExampleName))
def test_every_phase_of_every_step_is_a_button(view: WholeLabView, recording: Recording, example: ExampleName):
    """In the order of the run, one chosen at a time; the run goes just there."""
    view.recording.buttons[recording].click()
    view.example.buttons[example].click()
    assert list(points(view)) == [f"step {step}: {phase}" for step, phase in view.lab.points]
    step, phase = view.lab.points[-2]
    choose(view, f"step {step}: {phase}")
    assert view.status.said == f"Crash point: before step {step}: {phase}. Press Run to it."
    marked = [button.description for button in points(view).values() if button.description.startswith("✓")]
    assert marked == [f"✓ step {step}: {phase}"]
    assert press(view, "Run to it") == f"Now at step {step}, about to {DOING[phase]}."
    view.lab.close()


def test_a_choice_begins_anew_and_is_marked_by_a_sign(view: WholeLabView):
    """Its points are counted anew, too."""
    press(view, "Step", "Step")
    view.recording.buttons["every step"].click()
    assert view.status.said.startswith("Chosen: every step; errand. Reset")
    view.example.buttons["arithmetic"].click()
    marked = [b.description for b in (*view.recording.buttons.values(), *view.example.buttons.values())]
    assert [word for word in marked if word.startswith("✓")] == ["✓ every step", "✓ arithmetic"]
    assert len(points(view)) == len(view.lab.points) == 10
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
        rng.choice(list(points(view).values())).click()
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


@pytest.mark.parametrize("recording", get_args(Recording))
@pytest.mark.parametrize("example", get_args(ExampleName))
def test_the_lane_shows_the_phases_that_there_are(tmp_path: Path, recording: Recording, example: ExampleName):
    """In the order of a step."""
    view = WholeLabView(CrashLab(tmp_path / "lab", recording, example))
    assert text(view.picture.value).startswith(" | ".join(view.lab.phases) + " | Process")
