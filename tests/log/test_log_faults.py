"""A session log struck at each of its file calls: afterwards it says what it said before, or one append more."""

import copy
import errno
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from minagent import FakeModel, Session, ToolRegistry, init_session, step_once
from minagent.lab.faults.file_calls import NO_STRIKE, Fault, Strike, run
from minagent.lab.world.example import EXAMPLES
from minagent.log import FileStore, SessionLog
from tests.examined import Examined

ERRAND = EXAMPLES["errand"]
Action = Callable[[Path, bytes], None]


def take(log: SessionLog) -> None:
    """Take a step and record it."""
    session: Session = copy.deepcopy(log.state.session)
    model, trace = FakeModel(ERRAND.script), list(log.state.steps)
    model.cursor = log.state.model_cursor
    step_once(ERRAND.agent(ToolRegistry()), session, model, trace)
    log.record(session, model.cursor)


def begin(path: Path, _: bytes) -> None:
    """Begin a session, two steps long, with a checkpoint after the first."""
    agent = ERRAND.agent(ToolRegistry())
    session = init_session(agent, ERRAND.task, session_id="demo", created_at="2026-01-01T00:00:00Z")
    log = SessionLog.begin(FileStore(path.parent), session, 0, writer="w1", incarnation="i1")
    take(log)
    log.compact()
    take(log)


def record(path: Path, _: bytes) -> None:
    """Take one more step."""
    take(SessionLog.resume(FileStore(path.parent), "demo", writer="w2"))


def compact(path: Path, _: bytes) -> None:
    """Write a second checkpoint, and remove the records before the first."""
    SessionLog.resume(FileStore(path.parent), "demo", writer="w2").compact()


@pytest.mark.parametrize("action", [record, compact], ids=lambda action: action.__name__)
@pytest.mark.parametrize("fault", ["kill", "fail once", "fail always", "short once", "short always"])
def test_struck_at_each_file_call(tmp_path: Path, action: Action, fault: Fault, examined: Examined):
    """Nothing acknowledged is lost, nothing is half there, and the run goes on to the same end."""
    lengths, begun = set(), tmp_path / "begun"
    run(begin, begun / "x", b"", NO_STRIKE)
    for number in range(1, 200):
        path = tmp_path / str(number) / "x"
        shutil.copytree(begun, path.parent)
        done = run(action, path, b"", Strike(fault, number, errno.ENOSPC))
        log = SessionLog.resume(FileStore(path.parent), "demo", writer="w3")
        steps = log.state.session.step_count
        assert steps == 3 if action is record and done.ended == "finished" else steps in (2, 2 + (action is record))
        lengths.add(steps)
        while not log.state.session.answered:
            take(log)
        assert [step.detail for step in log.state.steps][:2] == ["look_up_price -> 26", "charge_card -> charged 26"]
        assert SessionLog.resume(FileStore(path.parent), "demo", writer="w4").state == log.state
        if len(done.events) < number:
            break
        examined("file calls struck", 1)
    assert lengths == ({2, 3} if action is record and not fault.startswith("short") else {3 if action is record else 2})
