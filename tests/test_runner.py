"""The shell around the loop: when it saves changes nothing but when it saves."""

import contextlib
import itertools
import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minagent import (
    Agent,
    FakeModel,
    InvalidValue,
    Message,
    SaveWhen,
    Session,
    Step,
    ToolCall,
    ToolRegistry,
    Unsaved,
    init_session,
    load_checkpoint,
    recover_checkpoint,
    run_turn,
    run_with_checkpoints,
    runner,
    save_checkpoint,
    validate,
)
from minagent.lab.frequency.theory import YoungDaly
from minagent.lab.world.example import EXAMPLES, SCRIPT, Example, HistoryModel
from minagent.runner import Policy

ERRAND = EXAMPLES["errand"]
WHEN = "2026-01-01T00:00:00Z"


@pytest.fixture
def saved(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """For each save: how many messages, and how many trace entries."""
    seen = []

    def save(path: Path, session: Session, model: FakeModel, steps: list[Step]) -> None:
        seen.append((len(session.messages), len(steps)))
        save_checkpoint(path, session, model, steps)

    monkeypatch.setattr(runner, "save_checkpoint", save)
    return seen


@pytest.mark.parametrize(("every", "messages"), [(1, [2, 4, 6, 7]), (2, [2, 6, 7]), (3, [2, 7]), (100, [2, 7])])
def test_result_is_the_same_for_every_interval(
    agent: Agent, session: Session, model: FakeModel, tmp_path: Path, saved: list[tuple[int, int]],
    every: int, messages: list[int],
):  # fmt: skip
    """Seven messages, valid; the start and the last step are always saved (7.3.8)."""
    run_with_checkpoints(agent, session, model, [], tmp_path / "session.json", every=every)
    assert [count for count, _ in saved] == messages
    loaded, _, _ = load_checkpoint(tmp_path / "session.json", SCRIPT)
    assert loaded == session
    assert len(loaded.messages) == 7
    assert validate(loaded)


TICKS = 10.0
"""Seconds that pass, in these tests, from one look at the clock to the next."""


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (SaveWhen(), [(2, 0), (9, 4)]),
        (SaveWhen(steps=2), [(2, 0), (6, 2), (9, 4)]),
        # Before a tool with an effect, the answer is on the disk, and its call open: an odd number of messages.
        (SaveWhen(before_side_effects=True), [(2, 0), (5, 1), (7, 2), (9, 4)]),
        (SaveWhen(steps=2, before_side_effects=True), [(2, 0), (5, 1), (7, 2), (9, 4)]),
        # Two looks at the clock in each step: before the tools, and after it.
        (SaveWhen(seconds=4 * TICKS), [(2, 0), (6, 2), (9, 4)]),
        (SaveWhen(seconds=3 * TICKS), [(2, 0), (5, 1), (8, 3), (9, 4)]),
        (SaveWhen(tokens=1), [(2, 0), (3, 0), (5, 1), (7, 2), (9, 4)]),
        # A save takes one tick. For a failure in 45 seconds the best interval is 23.7: a step of 20 is nearer than two.
        (YoungDaly(4.5 * TICKS), [(2, 0), (4, 1), (6, 2), (8, 3), (9, 4)]),
        (YoungDaly(1000 * TICKS), [(2, 0), (9, 4)]),
    ],
    ids=str,
)
def test_saves_come_when_the_policy_says(
    tmp_path: Path, saved: list[tuple[int, int]], policy: Policy, expected: list[tuple[int, int]]
):
    """Four steps, two of them with side effects: messages and trace of each checkpoint."""
    session, model, steps = begin(ERRAND)
    clock = itertools.count(step=TICKS)
    agent = ERRAND.agent(ToolRegistry())
    run_with_checkpoints(agent, session, model, steps, tmp_path / "s", policy, lambda: next(clock))
    assert saved == expected


def test_the_answer_is_on_the_disk_when_the_tool_runs(tmp_path: Path):
    """What a crash in the tool would find there: the call is open, and the model need not be asked again."""
    registry, found = ToolRegistry(), []
    agent = ERRAND.agent(registry)
    original = registry.tools["charge_card"].function

    def charge_card(amount: int) -> Any:
        session, model, steps = load_checkpoint(tmp_path / "s", ERRAND.script)
        found.append((session.messages[-1].tool_calls, model.cursor, len(steps), validate(session)))
        return original(amount)

    del registry.tools["charge_card"]
    registry.register(charge_card)
    session, model, steps = begin(ERRAND)
    run_with_checkpoints(agent, session, model, steps, tmp_path / "s", SaveWhen(before_side_effects=True))
    assert found == [(ERRAND.script[1].tool_calls, 2, 1, False)]


@pytest.mark.parametrize("every", [0, -1, "2", None])
def test_an_interval_that_is_not_one_is_refused_before_anything_runs(
    agent: Agent, session: Session, model: FakeModel, steps: list[Step], tmp_path: Path, every: Any
):
    """every=0 would never save, or divide by zero: say so at once."""
    with pytest.raises(InvalidValue, match="must be a number above 0"):
        run_with_checkpoints(agent, session, model, steps, tmp_path / "session.json", every=every)
    assert (model.cursor, steps, list(tmp_path.iterdir())) == (0, [], [])


def test_a_session_that_is_answered_takes_no_step(
    agent: Agent, session: Session, model: FakeModel, steps: list[Step], tmp_path: Path
):
    """Killed after its last save, a process is started again: it finds the work done, and does not ask for more."""
    run_with_checkpoints(agent, session, model, steps, tmp_path / "s")
    loaded, loaded_model, loaded_steps = load_checkpoint(tmp_path / "s", SCRIPT)
    run_with_checkpoints(agent, loaded, loaded_model, loaded_steps, tmp_path / "s")
    assert (loaded, loaded_model.cursor, loaded_steps) == (session, 3, steps)


def test_an_interrupt_in_the_first_step_leaves_a_checkpoint(
    agent: Agent, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The question is on the disk before the first model call: it need not be asked again."""
    model = FakeModel(SCRIPT)
    monkeypatch.setattr(model, "complete", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_with_checkpoints(agent, session, model, [], tmp_path / "s", SaveWhen())
    loaded, loaded_model, loaded_steps = load_checkpoint(tmp_path / "s", SCRIPT)
    assert (loaded, loaded_model.cursor, loaded_steps) == (session, 0, [])


def interrupt(*_: Any) -> Any:
    """Do what the Interrupt button does."""
    raise KeyboardInterrupt


def test_a_save_that_fails_once_loses_nothing(
    agent: Agent, session: Session, model: FakeModel, steps: list[Step], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The disk is full after a tool has run: the error comes out, and going on later repeats no tool (openai 4615)."""
    path = tmp_path / "session.json"
    save_checkpoint(path, session, model, steps)
    monkeypatch.setattr(runner, "save_checkpoint", Mock(side_effect=[None, OSError(28, "No space left on device")]))
    with pytest.raises(OSError, match="No space left"):
        run_with_checkpoints(agent, session, model, steps, path, every=1)
    monkeypatch.undo()
    assert [step.detail for step in steps] == ["add -> 5"]
    run_with_checkpoints(agent, session, model, steps, path, every=1)
    loaded, loaded_model, loaded_steps = load_checkpoint(path, SCRIPT)
    assert (loaded, loaded_model.cursor, loaded_steps) == (session, 3, steps)
    assert [step.detail for step in steps][:2] == ["add -> 5", "multiply -> 20"]


policies = st.builds(YoungDaly, st.floats(0.1, 1000)) | st.builds(
    SaveWhen,
    steps=st.integers(1, 5) | st.just(math.inf),
    seconds=st.floats(0.1, 100) | st.just(math.inf),
    tokens=st.integers(1, 500) | st.just(math.inf),
    before_side_effects=st.booleans(),
)


def test_tokens_add_up_over_steps_input_and_output(tmp_path: Path, saved: list[tuple[int, int]]):
    """As the model's replies say: the errand's four calls."""
    session, model, steps = begin(ERRAND)
    paid = []
    original = model.complete

    def complete(messages: Any, schemas: Any) -> Any:
        reply = original(messages, schemas)
        paid.append(reply.usage.input_tokens + reply.usage.output_tokens)
        return reply

    model.complete = complete  # type: ignore[method-assign]
    run_with_checkpoints(ERRAND.agent(ToolRegistry()), session, model, steps, tmp_path / "a", SaveWhen())
    saved.clear()
    session, model, steps = begin(ERRAND)
    policy = SaveWhen(tokens=paid[0] + paid[1])
    run_with_checkpoints(ERRAND.agent(ToolRegistry()), session, model, steps, tmp_path / "b", policy)
    assert saved == [(2, 0), (5, 1), (9, 4)]


def test_a_policy_is_told_what_is_not_saved_yet(tmp_path: Path):
    """Twice a step: with the effects of the tools that run next, and without."""
    asked = []

    class Curious:
        def due(self, unsaved: Unsaved) -> bool:
            asked.append((unsaved.steps, unsaved.about_to_run))
            return False

    session, model, steps = begin(ERRAND)
    run_with_checkpoints(ERRAND.agent(ToolRegistry()), session, model, steps, tmp_path / "s", Curious())
    effects = [("read_only",), ("non_idempotent",), ("non_idempotent",)]
    assert asked == [(0, effects[0]), (1, ()), (1, effects[1]), (2, ()), (2, effects[2]), (3, ())]


def test_a_clock_that_is_set_back_stops_no_run(tmp_path: Path):
    """As `time.time` may be, in the middle of a save."""
    session, model, steps = begin(ERRAND)
    clock = itertools.count(100, -1)
    agent = ERRAND.agent(ToolRegistry())
    run_with_checkpoints(agent, session, model, steps, tmp_path / "s", YoungDaly(60), lambda: float(next(clock)))
    assert session.answered


def test_an_interrupt_after_a_forced_save_keeps_the_answer(tmp_path: Path):
    """The answer is on the disk. Going on in memory must not ask again, for a model may want something else then."""
    wanted = iter([10, 20])

    def decide(messages: Any) -> Message:
        if messages[-1].role == "tool":
            return Message("assistant", "paid")
        return Message("assistant", "", (ToolCall("c1", "pay", {"amount": next(wanted)}),))

    interrupts, paid = iter([True, False]), []
    registry = ToolRegistry()

    @registry.register
    def pay(amount: int) -> str:
        if next(interrupts):
            raise KeyboardInterrupt
        paid.append(amount)
        return "ok"

    agent, model, steps = Agent(registry, "You pay."), HistoryModel(decide), list[Step]()
    session = init_session(agent, "Pay.", session_id="demo", created_at=WHEN)
    with pytest.raises(KeyboardInterrupt):
        run_with_checkpoints(agent, session, model, steps, tmp_path / "s", SaveWhen(before_side_effects=True))
    assert recover_checkpoint(tmp_path / "s")[0].session == session
    run_with_checkpoints(agent, session, model, steps, tmp_path / "s", SaveWhen(before_side_effects=True))
    assert paid == [10]


def test_steps_lost_are_complete_steps(tmp_path: Path):
    """A checkpoint with an open call holds the steps before it, and not that one."""
    session, model, steps = begin(ERRAND)
    agent, path = ERRAND.agent(CrashingTools(1)), tmp_path / "s"
    with pytest.raises(Crash):
        run_with_checkpoints(agent, session, model, steps, path, SaveWhen(steps=1, before_side_effects=True))
    checkpoint, _ = recover_checkpoint(path)
    assert (checkpoint.session.step_count, len(checkpoint.session.messages)) == (1, 5)
    path.write_bytes(b"damaged")
    found, report = recover_checkpoint(path)
    assert (found.session.step_count, report.steps_lost) == (0, 1)


class Crash(BaseException):
    """Stops a run wherever it is; what the run held in memory is not used again."""


class CrashingTools(ToolRegistry):
    """Tools of which only so many calls come to an end."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self.calls = calls

    def call(self, tool_call: ToolCall, key: str | None = None) -> str:
        """Run the tool, or crash."""
        self.calls -= 1
        if self.calls < 0:
            raise Crash
        return super().call(tool_call, key)


def run_crashing(example: Example, policy: Policy, path: Path, crashes: list[int]) -> tuple[Session, list[Step]]:
    """Run an example to its end, from the disk after each crash: one in each tool call of these numbers."""
    session, model, steps = begin(example)
    clock = map(float, itertools.count())
    for calls in [*crashes, len(example.script)]:
        agent = example.agent(CrashingTools(calls))
        with contextlib.suppress(Crash):
            run_with_checkpoints(agent, session, model, steps, path, policy, lambda: next(clock))
        session, model, steps = load_checkpoint(path, example.script)
    return session, steps


def begin(example: Example) -> tuple[Session, FakeModel, list[Step]]:
    """Return session, model and trace before the first step."""
    agent = example.agent(ToolRegistry())
    return init_session(agent, example.task, session_id="demo", created_at=WHEN), FakeModel(example.script), []


@settings(max_examples=100, deadline=None)
@given(
    policy=policies,
    example=st.sampled_from(list(EXAMPLES.values())),
    crashes=st.lists(st.integers(0, 3), max_size=3),
)
def test_the_result_is_the_same_for_every_policy_and_every_crash(policy: Policy, example: Example, crashes: list[int]):
    """Only losses and writes change: messages, trace and validity are those of a run that was never cut (7.3.8-e)."""
    plain, model, trace = begin(example)
    run_turn(example.agent(ToolRegistry()), plain, model, trace)
    with TemporaryDirectory() as folder:
        session, steps = run_crashing(example, policy, Path(folder, "session.json"), crashes)
    assert (session, steps) == (plain, trace)
    assert session.answered
    assert validate(session)
    assert len(session.messages) == 1 + 2 * len(example.script)
