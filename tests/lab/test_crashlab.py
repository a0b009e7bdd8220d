"""The crash lab: real processes, killed and resumed."""

import gc
import itertools
import os
import shutil
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import pytest

from minagent import CheckpointMissing, FakeModel, Session, Step, load_checkpoint
from minagent.lab.crash_lab.crashlab import CrashLab, NotNow
from minagent.lab.processes.agent_process import work
from minagent.lab.processes.child_process import ChildDied, start
from minagent.lab.processes.phases import CHECKPOINT, Event, Phase, Place, Recording
from minagent.lab.world.example import ANSWER, SCRIPT
from tests.conftest import in_process_table

RunState = tuple[Session, int | None, list[Step]]
"""What a checkpoint brings back: session, cursor, trace."""


def saved(lab: CrashLab) -> RunState:
    """Return what the lab's disk holds."""
    session, model, steps = load_checkpoint(lab.folder / CHECKPOINT, SCRIPT)
    return session, model.cursor, steps


def effects(lab: CrashLab) -> list[str]:
    """Return the names of the tools that had their effect, in order."""
    return [effect["name"] for effect in lab.ledger.effects()]


@pytest.fixture
def uninterrupted(tmp_path: Path) -> RunState:
    """The end state of a run that nothing disturbs."""
    lab = CrashLab(tmp_path / "uninterrupted")
    lab.run()
    return saved(lab)


def test_each_phase_of_each_step_is_a_place_to_stop(lab: CrashLab):
    """Ten crash points in the example: four phases in a step with a tool, two in the last one."""
    seen = []
    lab.step()
    while lab.report is not None:
        seen.append((lab.report.step, lab.report.phase))
        lab.step()
    with_tool: list[Phase] = ["model", "tool", "result", "save"]
    assert seen == [(0, p) for p in with_tool] + [(1, p) for p in with_tool] + [(2, "model"), (2, "save")]
    assert lab.state == "done"


def test_the_killed_process_is_gone_and_another_goes_on(lab: CrashLab, uninterrupted: RunState):
    """SIGKILL after the first save: the pid leaves the process table, the ledger shows one add and one multiply."""
    lab.run_to(1, "model")
    assert lab.process is not None
    killed = lab.process.pid
    assert in_process_table(killed)
    assert (len(saved(lab)[0].messages), [step.kind for step in saved(lab)[2]]) == (4, ["tool_call"])
    lab.crash()
    assert not in_process_table(killed)
    lab.resume()
    assert lab.process.pid != killed
    lab.run()
    assert_went_on(lab, uninterrupted)


def assert_went_on(lab: CrashLab, uninterrupted: RunState) -> None:
    """Check the end of a run: the state of one that nothing disturbed, and each effect once in the world."""
    session, cursor, steps = saved(lab)
    assert (session, cursor, steps) == uninterrupted
    assert [m.tool_call_id for m in session.messages if m.role == "tool"] == ["c1", "c2"]
    assert (len(session.messages), session.messages[-1].content, cursor) == (7, ANSWER, 3)
    assert [step.kind for step in steps] == ["tool_call", "tool_call", "final"]
    assert effects(lab) == ["add", "multiply"]


def test_a_load_that_starts_afresh_fails_the_test_above(lab: CrashLab, uninterrupted: RunState):
    """The proof that it bites: with the checkpoint gone behind the loader's back, the ledger shows two adds."""
    lab.run_to(1, "model")
    lab.crash()
    shutil.rmtree((lab.folder / CHECKPOINT).parent)
    assert "disk holds nothing" in lab.resume()
    lab.run()
    with pytest.raises(AssertionError, match="add"):
        assert_went_on(lab, uninterrupted)
    assert effects(lab) == ["add", "add", "multiply"]
    assert [effect["repeat"] for effect in lab.ledger.effects()] == [0, 1, 0]


BOUNDARIES = range(3)
CHAINS = [c for n in (1, 2, 3) for c in itertools.combinations_with_replacement(BOUNDARIES, n)]


@pytest.mark.parametrize("chain", CHAINS, ids=str)
def test_every_chain_of_crashes_at_step_boundaries_ends_as_if_nothing_had_happened(
    lab: CrashLab, uninterrupted: RunState, chain: tuple[int, ...]
):
    """Crash before step i, resume, crash again before step j >= i, and once more: the same end, field by field."""
    lab.step()
    for boundary in chain:
        lab.run_to(boundary, "model")
        lab.crash()
        lab.resume()
    lab.run()
    assert_went_on(lab, uninterrupted)


def test_run_to_where_it_stands_stays_there(lab: CrashLab):
    """After a resume the process may stand at the wanted point already."""
    lab.run_to(1, "model")
    said = lab.run_to(1, "model")
    assert said == "Now at step 1, about to ask the model."
    assert lab.events[-1] == said


def test_the_lab_as_text(lab: CrashLab):
    """The static view: three lines, without the pid."""
    lab.run_to(0, "save")
    lab.crash()
    lab.resume()
    lab.run_to(1, "model")
    size = (lab.folder / CHECKPOINT).stat().st_size
    bill = lab.ledger.bill()
    assert str(lab).splitlines() == [
        "process  running at step 1, about to ask the model; 4 messages, cursor 1, trace: tool_call",
        f"disk     session.json: {size} bytes, good, 4 messages",
        f"world    add, add (again); model calls paid: 2, {bill.tokens} tokens",
    ]


def test_the_lab_as_text_names_older_generations(lab: CrashLab):
    """In short; nothing on the disk is said, too."""
    assert "disk     empty" in str(lab)
    lab.run()
    assert str(lab).splitlines()[1].endswith("good, 7 messages; older: step-2 good, step-1 good")


@pytest.mark.parametrize(("phase", "twice"), [("model", False), ("tool", False), ("result", True), ("save", True)])
def test_a_crash_between_effect_and_save_repeats_the_effect(lab: CrashLab, phase: Phase, *, twice: bool):
    """What 7.3.6 is about: the checkpoint cannot know of an effect that came after it."""
    lab.run_to(0, phase)
    lab.crash()
    lab.resume()
    lab.run()
    assert effects(lab) == (["add"] if twice else []) + ["add", "multiply"]


def test_recording_nothing_begins_at_the_first_question(tmp_path: Path):
    """Without a checkpoint there is no save phase, nothing on disk, and the bill is paid twice (7.3.0)."""
    lab = CrashLab(tmp_path, recording="nothing")
    lab.run_to(2, "model")
    assert lab.files() == []
    lab.crash()
    lab.resume()
    assert lab.report is not None
    assert (lab.report.step, lab.report.messages) == (0, 2)
    lab.run()
    assert lab.ledger.bill().calls == 5
    assert effects(lab) == ["add", "multiply"] * 2


def test_the_errand_charges_and_mails_once_more_after_a_crash_without_checkpoint(tmp_path: Path):
    """Tools that must not run twice do, and each step with a checkpoint keeps them from it (7.3.1)."""
    seen = {}
    for recording in get_args(Recording):
        lab = CrashLab(tmp_path / recording, recording, "errand")
        lab.run_to(3, "model")
        lab.crash()
        lab.resume()
        lab.run()
        seen[recording] = effects(lab)
    errand = ["look_up_price", "charge_card", "send_mail"]
    twice = {"nothing": errand * 2, "every 2 steps": [*errand, "send_mail"]}
    assert seen == {recording: twice.get(recording, errand) for recording in get_args(Recording)}


def test_a_process_that_somebody_else_kills_is_noticed(lab: CrashLab):
    """An instructor kills it from a terminal: the lab says so, and resumes."""
    lab.run_to(1, "tool")
    assert lab.process is not None
    os.kill(lab.process.pid, signal.SIGKILL)
    assert "not by this lab" in lab.step()
    assert lab.state == "dead"
    assert lab.tally.run.all("killed") == [Event(1, "killed", Place(1, "tool"))]
    lab.resume()
    lab.run()
    assert effects(lab) == ["add", "multiply"]


def test_a_worker_that_cannot_start_says_why(lab: CrashLab):
    """No checkpoint left that loads: the new process stops, its complaint is not lost, and the lab can be reset."""
    lab.run_to(1, "model")
    lab.crash()
    (lab.folder / CHECKPOINT).write_bytes(b"{")
    assert [file.verdict for file in lab.files()] == ["bad"]
    with pytest.raises(ChildDied, match="CheckpointDamaged"):
        lab.resume()
    assert lab.state == "dead"
    lab.reset()
    assert lab.run().startswith("Done")


def test_a_damaged_newest_checkpoint_costs_one_step(lab: CrashLab, uninterrupted: RunState):
    """The new process falls back to the checkpoint before, and the run ends as it should; its last tool ran twice."""
    lab.run_to(2, "model")
    lab.crash()
    (lab.folder / CHECKPOINT).write_bytes(b"{")
    assert [(file.name, file.verdict) for file in lab.files()] == [
        ("session.json", "bad"),
        ("session.json.step-1", "good"),
    ]
    assert lab.resume().startswith("Resumed in a new process, loaded session.json.step-1; steps lost: 1; passed over")
    lab.run()
    assert saved(lab) == uninterrupted
    assert effects(lab) == ["add", "multiply", "multiply"]


def test_reset_brings_back_the_start(lab: CrashLab):
    """No process, an empty disk, an empty ledger: whatever went before."""
    lab.run_to(1, "result")
    assert lab.process is not None
    pid = lab.process.pid
    lab.reset()
    assert not in_process_table(pid)
    assert (lab.state, lab.files(), lab.ledger.entries(), lab.report) == ("ready", [], [], None)


@pytest.mark.parametrize(
    ("prepare", "action", "said"),
    [
        ([], "crash", "it is ready. Press Step"),
        ([], "resume", "is ready. Press Step"),
        (["step"], "resume", "is running. Press Step, Run or Crash"),
        (["step", "crash"], "step", "it is dead. Press Resume"),
        (["step", "crash"], "crash", "it is dead. Press Resume"),
        (["run"], "step", "it is done. Press Reset"),
        (["run"], "crash", "it is done. Press Reset"),
    ],
)
def test_an_action_that_does_not_fit_says_what_does(lab: CrashLab, prepare: list[str], action: str, said: str):
    """No button is ever answered by silence."""
    for before in prepare:
        getattr(lab, before)()
    with pytest.raises(NotNow, match=said):
        getattr(lab, action)()


def test_a_worker_leaves_when_its_parent_is_gone(tmp_path: Path):
    """The kernel is restarted, or dies: the child reads an end of file, and no orphan stays."""
    orphan = start(work, tmp_path, "every step", "arithmetic")
    assert orphan.hear()["phase"] == "model"
    orphan._to_child.close()
    assert orphan.wait() == 1
    assert not in_process_table(orphan.pid)
    assert "the parent is gone" in orphan.complaint


def test_a_lab_that_is_dropped_takes_its_process_with_it(tmp_path: Path):
    """A cell is run twice: the first lab is gone, and so is its process."""
    lab = CrashLab(tmp_path)
    lab.step()
    assert lab.process is not None
    pid = lab.process.pid
    del lab
    gc.collect()
    assert not in_process_table(pid)


@pytest.mark.parametrize(
    ("where", "method"), [("_from_child", "readline"), ("_to_child", "write")], ids=["after go", "before go"]
)
def test_an_interrupt_leaves_no_wrong_view(lab: CrashLab, monkeypatch: pytest.MonkeyPatch, where: str, method: str):
    """Where the process stands is not known any more: it is killed, and the lab says that it is dead."""
    lab.run_to(0, "tool")
    assert lab.process is not None

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(lab.process, where, SimpleNamespace(**{method: interrupt}))
    with pytest.raises(KeyboardInterrupt):
        lab.step()
    assert (lab.state, in_process_table(lab.process.pid)) == ("dead", False)
    lab.resume()
    lab.run()
    assert lab.state == "done"


def test_loading_before_the_first_save_is_an_error(lab: CrashLab):
    """The lab's fresh start is the worker's decision; load_checkpoint itself never makes it."""
    lab.step()
    with pytest.raises(CheckpointMissing):
        load_checkpoint(lab.folder / CHECKPOINT, SCRIPT)
    assert FakeModel(SCRIPT).cursor == 0
