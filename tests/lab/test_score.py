"""What theory says of each crash point, and what a real process does there: the same, in every way of recording."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from minagent import CheckpointError, Message, Session, ToolCall, recover_checkpoint
from minagent.lab.crash_lab.crashlab import CrashLab, NotNow
from minagent.lab.crash_lab.disk import logged
from minagent.lab.crash_lab.score import Score, phases_of, predicted
from minagent.lab.matrix.crash_matrix import run, single_crashes
from minagent.lab.matrix.variants import VARIANTS, Shape
from minagent.lab.processes.phases import CHECKPOINT, Phase, Recording
from minagent.lab.world.example import EXAMPLES, Example, ExampleName, charge_card
from minagent.log import DidNotHappen, Happened
from tests.examined import Examined
from tests.lab.pictures import misdrawn

RECORDINGS: tuple[Recording, ...] = get_args(Recording)
DEATHS: dict[str, Callable[[CrashLab], str]] = {
    "kill": CrashLab.crash, "tear": CrashLab.tear, "power": CrashLab.cut_power,
}  # fmt: skip


def finish(lab: CrashLab) -> None:
    """Run to the end. Who is asked about a call in doubt looks into the ledger."""
    while lab.state != "done":
        if lab.state == "in doubt":
            assert lab.stood is not None
            call = EXAMPLES[lab.example].script[lab.stood.step].tool_calls[0]
            results = [effect["result"] for effect in lab.ledger.effects() if effect["name"] == call.name]
            lab.resolve(Happened(results[-1]) if results else DidNotHappen())
        else:
            lab.run()


def saved_session(folder: Path) -> Session | None:
    """Return the session that a new process would go on with; None if it would start over."""
    if (state := logged(folder)) is not None:
        return state.session
    try:
        return recover_checkpoint(folder / CHECKPOINT)[0].session
    except CheckpointError:
        return None


def check_picture(lab: CrashLab) -> None:
    """Look whether the picture can be read."""
    assert misdrawn(lab.picture("A run that was crashed at some point, or at two or three of them")) == []


def check(lab: CrashLab, where: object) -> None:
    """Compare the score with what theory says, and the end with what was wanted; and look at the picture."""
    check_picture(lab)
    assert lab.score == lab.tally.predicted, where
    session = saved_session(lab.folder)
    assert lab.state == "done"
    if lab.recording != "nothing":
        assert session is not None
        assert session.answered
    script = EXAMPLES[lab.example].script
    wanted = {call.name for answer in script for call in answer.tool_calls}
    assert {effect["name"] for effect in lab.ledger.effects()} == wanted


@pytest.mark.parametrize("example", get_args(ExampleName))
@pytest.mark.parametrize("recording", RECORDINGS)
def test_a_crash_at_each_phase_of_each_step_does_what_theory_says(
    tmp_path: Path, recording: Recording, example: ExampleName, examined: Examined
):
    """By SIGKILL, and at the phases that write also in mid-write and by a power cut."""
    undisturbed = CrashLab(tmp_path / "undisturbed", recording, example)
    undisturbed.step()
    seen = []
    while undisturbed.report is not None:
        seen.append((undisturbed.report.step, undisturbed.report.phase))
        undisturbed.step()
    assert seen == undisturbed.points
    for step, phase in seen:
        for name, death in DEATHS.items():
            if name == "kill" or phase in ("plan", "save"):
                lab = CrashLab(tmp_path / f"{step} {phase} {name}", recording, example)
                lab.run_to(step, phase)
                death(lab)
                check_picture(lab)
                lab.resume()
                check_picture(lab)
                finish(lab)
                check(lab, (step, phase, name))
                examined("crashes in the crash lab", 1)


def test_crashes_in_a_row_add_up(tmp_path: Path, examined: Examined):
    """Also in the process that goes on: 40 runs with up to three crashes, drawn with a seed."""
    rng = random.Random(737)  # noqa: S311 - no secret
    for number in range(40):
        lab = CrashLab(tmp_path / str(number), rng.choice(RECORDINGS), rng.choice(get_args(ExampleName)))
        crashes: list[tuple[int, Phase]] = []
        while len(crashes) < rng.randint(1, 3):
            for _ in range(rng.randint(1, 9)):
                if lab.state in ("ready", "running"):
                    lab.step()
            if lab.report is None:
                break  # in doubt, or done
            crashes.append((lab.report.step, lab.report.phase))
            deaths = DEATHS if lab.report.phase in ("plan", "save") else {"kill": CrashLab.crash}
            rng.choice(list(deaths.values()))(lab)
            lab.resume()
        finish(lab)
        check(lab, (lab.recording, lab.example, crashes))
        examined("crashes in the crash lab", len(crashes))


def test_the_numbers_of_the_chapter_s_errand():
    """A crash after the charge, before the save: the numbers that the notebooks name."""
    errand = EXAMPLES["errand"]
    assert predicted("every step", errand, 1, "save") == Score(1, 1, 0, 1)
    assert predicted("before side effects", errand, 1, "save") == Score(1, 1, 0, 0)
    assert predicted("nothing", errand, 2, "result") == Score(2, 2, 0, 3)
    assert predicted("log", errand, 1, "save") == Score(1, 0, 1, 0)
    assert predicted("log with keys", errand, 1, "save") == Score(1, 0, 0, 0)
    assert predicted("log", errand, 0, "save") == Score(1, 0, 0, 0)  # it only reads: nothing is in doubt


def test_only_what_writes_can_be_torn(lab: CrashLab):
    """The error says where to go."""
    lab.step()
    with pytest.raises(NotNow, match="Step to plan or save first"):
        lab.tear()
    with pytest.raises(NotNow, match="Nothing is in doubt"):
        lab.resolve(DidNotHappen())


SAME: dict[Recording, str] = {
    "every step": "chapter",
    "before side effects": "plan saved first",
    "log": "log, ask the tool",
    "log with keys": "log, keys",
}
"""What the lab and the matrix call the same way of recording."""
THREE_CHARGES = Example(
    "Charge three times.",
    (
        *(Message("assistant", "", (ToolCall("c1", "charge_card", {"amount": n}),)) for n in range(3)),
        Message("assistant", "Done."),
    ),
    {charge_card: "non_idempotent"},
    "",
)
"""As the matrix's run with one tool a step."""


def places(points: list[str]) -> list[tuple[int, Phase] | None]:
    """Return for each point of the matrix the phase of the lab before which it lies; None if that has none."""
    step, before, found = -1, "", list[tuple[int, Phase] | None]()
    for name in points:
        step += name == "model"
        phase: Phase | None = None
        if name in ("model", "tool", "result"):
            phase = name  # type: ignore[assignment]
        elif name == "write" and before != "rename":
            phase = "plan" if before == "answer" and step < 3 else "save"
        found.append(None if phase is None else (step, phase))
        before = name if name not in ("half", "fsync") else before
    return found


@pytest.mark.parametrize("recording", SAME)
def test_theory_is_what_the_matrix_counts(recording: Recording):
    """At each point that both have: as many effects repeated, and model calls paid again."""
    variant, shape = VARIANTS[SAME[recording]], Shape(steps=3, tools=1)
    ((points, *_), _) = run(variant, shape, [])
    both = [(place, case) for place, case in zip(places(points), single_crashes(variant, shape), strict=True) if place]
    assert {place for place, _ in both} >= {
        (step, phase) for step in range(4) for phase in phases_of(recording, THREE_CHARGES, step)
    }
    for (step, phase), case in both:
        theory = predicted(recording, THREE_CHARGES, step, phase)
        counted = (case.outcome.repeated, case.outcome.paid_again)
        assert (theory.effects_repeated, theory.calls_paid_twice) == counted, (step, phase)
