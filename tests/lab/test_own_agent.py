"""An agent whose step or load is somebody's own: in a real process, interrupted and killed."""

import json
from pathlib import Path
from typing import Any

import pytest

from minagent import Agent, FakeModel, Message, Session, Step
from minagent.lab.crash_lab.own_agent import OwnAgentLab
from minagent.lab.picture.picture import Picture
from minagent.lab.picture.shapes import GREEN, ORANGE, Lines, Rect, Text
from minagent.lab.processes.child_process import sendable
from tests.conftest import in_process_table
from tests.lab.pictures import misdrawn


def load_sliced(path: Path, script: Any) -> Any:
    """Give the model what is left of the script."""
    state = json.loads(path.read_bytes())
    return Session.restore(state["session"]), FakeModel(script[state["model_cursor"] :]), []


def simple_step(agent: Agent, session: Session, model: FakeModel, steps: list[Step]) -> str:
    """Work on a copy of the messages, and put it into the session at the end."""
    answer = model.complete(session.messages, []).message
    results = [Message("tool", agent.registry.call(call), tool_call_id=call.id) for call in answer.tool_calls]
    session.messages = [*session.messages, answer, *results]
    return "paused" if answer.tool_calls else "done"


def drawn(lab: OwnAgentLab) -> Picture:
    """Return the picture, when one has looked whether it can be read."""
    picture = lab.picture("A run")
    assert misdrawn(picture) == []
    return picture


def interrupted(lab: OwnAgentLab) -> Picture:
    """Interrupt the charge, let it be saved, kill the process, and have another one go on to the end."""
    lab.run_to(1, "tool")
    assert lab.interrupt() == "Interrupted. Now at step 1, about to save."
    lab.step()
    assert lab.process is not None
    first = lab.process.pid
    lab.crash()
    assert not in_process_table(first)
    lab.resume()
    lab.run()
    return drawn(lab)


def test_a_simple_step_that_is_interrupted_and_saved_is_skipped():
    """Its cursor has moved, and its messages have not: nobody is charged, and the picture says what never ran."""
    lab = OwnAgentLab("errand", step=simple_step)
    picture = interrupted(lab)
    assert repr(picture) == "Never run: charge_card. The model was asked 4 times for 4 steps."
    assert [effect["name"] for effect in lab.ledger.effects()] == ["look_up_price", "send_mail"]
    words = {shape.text: shape.color for shape in picture.shapes if isinstance(shape, Text)}
    assert words["charge_card never ran"] == words["‖ interrupted"] == words["killed"] == ORANGE


def test_step_once_goes_on_with_the_open_call():
    """The arrow leads back from the save to the tool: nothing is skipped, and the model is not asked again."""
    picture = interrupted(OwnAgentLab("errand"))
    assert repr(picture) == "The customer paid 26 dollars: charged once. The model was asked 4 times for 4 steps."
    (arrow,) = [shape for shape in picture.shapes if isinstance(shape, Lines) and shape.color == GREEN]
    start, *_, end = arrow.lines[0]
    assert end[0] < start[0]
    assert not picture.run.skipped


def test_a_sliced_cursor_never_gets_on():
    """Each process goes on from the newest save, which says 1 each time, and charges again."""
    lab = OwnAgentLab("errand", load=load_sliced)
    lab.run_to(1, "model")
    for _ in range(3):
        lab.crash()
        lab.resume()
        lab.run_to(2, "model")
    lab.crash()
    picture = drawn(lab)
    assert repr(picture) == "The customer paid 78 dollars: charged 3 times. The model was asked 4 times for 2 steps."
    assert [shape.text for shape in picture.shapes if isinstance(shape, Text)].count("cursor 1") == 4
    run = picture.run
    assert [run.loaded(began) for began in run.all("began")] == [None, *run.written[:3]]
    assert not any(map(run.lost, run.all("did")))
    saves = [shape for shape in picture.shapes if isinstance(shape, Rect) and (shape.width, shape.height) == (12, 14)]
    starts = {shape.lines[0][0] for shape in picture.shapes if isinstance(shape, Lines) and shape.color == GREEN}
    assert starts == {(save.x + 6, save.y + 7) for save in saves[:3]}


def test_what_a_notebook_defines_is_sent_as_its_text(monkeypatch: pytest.MonkeyPatch):
    """It finds json, os, Path and minagent's names there, what its own cell defines, and nothing else."""
    assert sendable(pair) is pair
    monkeypatch.setattr(pair, "__module__", "__main__")
    assert sendable(pair)(2) == ('{"a": 2}', "Session")
    monkeypatch.setattr(other, "__module__", "__main__")
    assert sendable(other)() == ('{"a": 3}', "Session")
    monkeypatch.setattr(elsewhere, "__module__", "__main__")
    with pytest.raises(NameError, match="LATER"):
        sendable(elsewhere)()


def pair(number: int) -> tuple[str, str]:
    """Use what is there."""
    return json.dumps({"a": number}), Session.__name__


def other() -> object:
    """Use what is defined beside it."""
    return pair(3)


def elsewhere() -> object:
    """Use what is not there yet."""
    return LATER


LATER = "after the function that is sent"
