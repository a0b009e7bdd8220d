"""The shell around the loop: how often it saves changes nothing but how often it saves."""

from pathlib import Path
from typing import Any

import pytest

from minagent import (
    Agent,
    FakeModel,
    Session,
    Step,
    load_checkpoint,
    run_with_checkpoints,
    runner,
    save_checkpoint,
    validate,
)
from minagent.lab.example import SCRIPT


@pytest.mark.parametrize(("every", "cursors"), [(1, [1, 2, 3]), (2, [2, 3]), (3, [3]), (100, [3])])
def test_result_is_the_same_for_every_interval(
    agent: Agent, session: Session, model: FakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    every: int, cursors: list[int],
):  # fmt: skip
    """Seven messages, valid; the last step is always saved (7.3.8)."""
    saved = []

    def save(path: Path, *state: Any) -> None:
        saved.append(model.cursor)
        save_checkpoint(path, *state)

    monkeypatch.setattr(runner, "save_checkpoint", save)
    run_with_checkpoints(agent, session, model, [], tmp_path / "session.json", every=every)
    assert saved == cursors
    loaded, _, _ = load_checkpoint(tmp_path / "session.json", SCRIPT)
    assert loaded == session
    assert len(loaded.messages) == 7
    assert validate(loaded)


@pytest.mark.parametrize("every", [0, -1])
def test_an_interval_below_one_is_refused_before_anything_runs(
    agent: Agent, session: Session, model: FakeModel, steps: list[Step], tmp_path: Path, every: int
):
    """every=0 would never save, or divide by zero: say so at once."""
    with pytest.raises(ValueError, match="every must be at least 1"):
        run_with_checkpoints(agent, session, model, steps, tmp_path / "session.json", every=every)
    assert (model.cursor, steps) == (0, [])


def test_a_save_that_fails_once_loses_nothing(
    agent: Agent, session: Session, model: FakeModel, steps: list[Step], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The disk is full after a tool has run: the error comes out, and going on later repeats no tool (openai 4615)."""
    path = tmp_path / "session.json"
    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(OSError, match="No space left"):
        run_with_checkpoints(agent, session, model, steps, path, every=1)
    monkeypatch.undo()
    run_with_checkpoints(agent, session, model, steps, path, every=1)
    loaded, loaded_model, loaded_steps = load_checkpoint(path, SCRIPT)
    assert (loaded, loaded_model.cursor, loaded_steps) == (session, 3, steps)
    assert [step.detail for step in steps][:2] == ["add -> 5", "multiply -> 20"]


def refuse(descriptor: int) -> None:
    """Raise what a full disk raises."""
    raise OSError(28, "No space left on device")
