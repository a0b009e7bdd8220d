"""The reader's own variables: gone after a crash, back after a resume."""

from pathlib import Path
from typing import Any

import pytest

from minagent import Agent, CheckpointMissing, FakeModel, Session, Step, save_checkpoint, step_once
from minagent.lab.kernel.kernel_state import KernelState, crash
from minagent.lab.picture.shapes import GREEN, ORANGE, Lines
from minagent.lab.world.example import SCRIPT
from tests.lab.pictures import misdrawn


def test_crash_and_resume_bring_back_equal_objects(
    agent: Agent, session: Session, model: FakeModel, steps: list[Step], tmp_path: Path
):
    """What comes back is equal, and comes from the disk."""
    step_once(agent, session, model, steps)
    path = tmp_path / "session.json"
    save_checkpoint(path, session, model, steps)
    namespace: dict[str, Any] = {"session": session, "model": model, "steps": steps, "other": 1}
    kernel = KernelState(namespace, path, SCRIPT)
    assert kernel.crash() == "Crashed: session, model, steps gone from memory."
    assert namespace == {"other": 1}
    assert kernel.alive() == {"session": False, "model": False, "steps": False}
    assert kernel.resume() == "Resumed: 4 messages, cursor 1, 1 steps in the trace."
    assert (namespace["session"], namespace["model"].cursor, namespace["steps"]) == (session, 1, steps)
    assert namespace["session"] is not session


def test_a_resume_from_an_older_checkpoint_says_so(
    agent: Agent, session: Session, model: FakeModel, steps: list[Step], tmp_path: Path
):
    """In the sentence, where the reader looks."""
    path = tmp_path / "session.json"
    for _ in range(2):
        step_once(agent, session, model, steps)
        save_checkpoint(path, session, model, steps)
    path.write_bytes(b"")
    said = KernelState({}, path, SCRIPT).resume()
    assert said.startswith("Resumed: 4 messages, cursor 1, 1 steps in the trace. But: loaded session.json.step-1")
    assert "steps lost: 1" in said


def test_a_second_crash_finds_nothing():
    """Pressing the button twice is no error."""
    assert crash({}) == "Nothing to crash: they are gone already."


def test_nothing_on_disk_is_said_and_changes_nothing(tmp_path: Path):
    """Resume before the first save: an error, and the namespace as it was."""
    namespace: dict[str, Any] = {}
    with pytest.raises(CheckpointMissing):
        KernelState(namespace, tmp_path / "session.json", SCRIPT).resume()
    assert namespace == {}


def test_the_picture_shows_when_each_name_was_there(
    agent: Agent, session: Session, model: FakeModel, steps: list[Step], tmp_path: Path
):
    """Gone at the crash, and back by an arrow from the file; a name that stays away has no arrow."""
    path = tmp_path / "session.json"
    step_once(agent, session, model, steps)
    save_checkpoint(path, session, model, steps)
    namespace: dict[str, Any] = {"session": session, "model": model, "steps": steps}
    kernel = KernelState(namespace, path, SCRIPT)
    kernel.crash()
    assert arrows_and_crosses(kernel) == (0, 3)
    kernel.resume()
    assert arrows_and_crosses(kernel) == (3, 3)
    assert repr(kernel.picture("")) == (
        "Before: session, model, steps in memory. Crash: nothing in memory. Resume: session, model, steps in memory. "
        "Resumed: 4 messages, cursor 1, 1 steps in the trace."
    )
    for _ in range(9):
        kernel.crash()
    assert len(kernel.picture("").run.steps) == 6


def arrows_and_crosses(kernel: KernelState) -> tuple[int, int]:
    """Return how many arrows and crosses there are in the picture, which can be read."""
    picture = kernel.picture("Three names, and one file")
    assert misdrawn(picture) == []
    colors = [shape.color for shape in picture.shapes if isinstance(shape, Lines)]
    return colors.count(GREEN), colors.count(ORANGE)
