"""The reader's own variables: gone after a crash, back after a resume."""

from pathlib import Path
from typing import Any

import pytest

from minagent import Agent, CheckpointMissing, FakeModel, Session, Step, save_checkpoint, step_once
from minagent.lab.kernel.kernel_state import KernelState, crash
from minagent.lab.world.example import SCRIPT


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
