"""The loop: what a step does, and what an exception in the middle of one leaves behind."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from minagent import (
    Agent,
    FakeModel,
    InvalidMessages,
    InvalidValue,
    Message,
    ScriptExhausted,
    Session,
    Step,
    ToolCall,
    init_session,
    pending_calls,
    run_turn,
    step_once,
)
from minagent.agent import Recorder
from minagent.lab.world.example import ANSWER, SCRIPT, TASK
from minagent.models import Reply


def test_a_new_session_holds_instructions_and_question(agent: Agent):
    """Ids and times are given, or made: never the same id twice."""
    session = init_session(agent, TASK, session_id="demo", created_at="2026-01-01T00:00:00Z")
    assert session.messages == [Message("system", agent.system_prompt), Message("user", TASK)]
    assert (session.id, session.created_at) == ("demo", "2026-01-01T00:00:00Z")
    assert init_session(agent, TASK).id != init_session(agent, TASK).id


def test_three_steps_make_the_chapter_s_run(agent: Agent, session: Session, model: FakeModel, steps: list[Step]):
    """Tools pause, the plain answer is done; indices are continuous; 7 messages at the end (7.3.3, 7.3.5)."""
    assert [step_once(agent, session, model, steps) for _ in SCRIPT] == ["paused", "paused", "done"]
    assert steps == [
        Step(0, "tool_call", "add -> 5"),
        Step(1, "tool_call", "multiply -> 20"),
        Step(2, "final", ANSWER),
    ]
    assert len(session.messages) == 7
    assert model.cursor == 3


def test_run_turn_is_stepping_to_the_end(agent: Agent, session: Session, model: FakeModel, steps: list[Step]):
    """Both ways give the same messages, trace and answer (7.3.3)."""
    stepped, stepped_model, trace = copy.deepcopy(session), copy.deepcopy(model), list(steps)
    while step_once(agent, stepped, stepped_model, trace) == "paused":
        pass
    assert run_turn(agent, session, model, steps) == ANSWER
    assert (session, steps, model.cursor) == (stepped, trace, stepped_model.cursor)


def test_open_calls_run_first_without_asking_the_model(
    agent: Agent, session: Session, model: FakeModel, steps: list[Step]
):
    """A history that ends among the tools of a step goes on there: the model has said what it wants."""
    two = Message("assistant", "", (ToolCall("a", "add", {"a": 1, "b": 1}), ToolCall("b", "add", {"a": 2, "b": 2})))
    session.messages += [two, Message("tool", "2", tool_call_id="a")]
    assert step_once(agent, session, model, steps) == "paused"
    assert session.messages[-1] == Message("tool", "4", tool_call_id="b")
    assert (model.cursor, len(steps)) == (0, 1)


@pytest.mark.parametrize("failing", [KeyboardInterrupt, SystemExit])
def test_an_exception_in_a_tool_leaves_what_is_complete(
    agent: Agent, session: Session, steps: list[Step], failing: type[BaseException]
):
    """A reader interrupts the second of two tools: the answer and the first result stay, and the second runs next."""
    interruptions = [failing]

    @agent.registry.register
    def slow() -> str:
        if interruptions:
            raise interruptions.pop()
        return "slept"

    both = Message("assistant", "", (ToolCall("c1", "add", {"a": 2, "b": 3}), ToolCall("c2", "slow", {})))
    model = FakeModel([both, Message("assistant", "done")])
    with pytest.raises(failing):
        step_once(agent, session, model, steps)
    assert session.messages[2:] == [both, Message("tool", "5", tool_call_id="c1")]
    assert ([step.detail for step in steps], model.cursor) == (["add -> 5"], 1)
    assert run_turn(agent, session, model, steps) == "done"
    assert [step.detail for step in steps] == ["add -> 5", "slow -> slept", "done"]
    assert model.cursor == 2


def test_an_exception_in_the_model_leaves_everything_as_before_the_step(
    agent: Agent, session: Session, steps: list[Step]
):
    """A script that is used up changes nothing but the mood of its reader."""
    before = copy.deepcopy(session)
    with pytest.raises(ScriptExhausted):
        step_once(agent, session, FakeModel([]), steps)
    assert (session, steps) == (before, [])


def test_a_model_cannot_change_the_history_it_is_given(agent: Agent, session: Session, steps: list[Step]):
    """The model gets a list of its own."""

    class Greedy(FakeModel):
        def complete(self, messages: Any, schemas: Any) -> Any:
            reply = super().complete(messages, schemas)
            messages.clear()
            return reply

    step_once(agent, session, Greedy(SCRIPT), steps)
    assert len(session.messages) == 4


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            Message("assistant", "", [ToolCall("c1", "pay", {"when": {1, 2}})]),
            "messages[2].tool_calls[0].arguments.when: set would not come back equal from JSON",
        ),
        (
            Message("assistant", "", [ToolCall("c1", "pay", {}), ToolCall("c2", "pay", {"to": ("ann", "bob")})]),
            "messages[2].tool_calls[1].arguments.to: tuple would not come back equal from JSON",
        ),
        (Message("assistant", ""), "messages[2]: the model gave neither text nor tool calls: ask it again"),
        (Message("user", "hi"), "messages[2].role: a model answers as assistant, not as user"),
    ],
)
def test_an_answer_that_could_not_be_saved_is_refused_before_its_tools_run(
    agent: Agent, session: Session, steps: list[Step], answer: Message, said: str
):
    """Afterwards it would be too late: the tool has had its effect, and nothing could say so on disk."""
    runs = []

    @agent.registry.register
    def pay(**arguments: Any) -> None:
        runs.append(arguments)

    model, before = FakeModel([answer]), copy.deepcopy(session)
    with pytest.raises(InvalidValue) as error:
        step_once(agent, session, model, steps)
    assert str(error.value) == said
    assert (runs, session, steps, model.cursor) == ([], before, [], 0)


@pytest.mark.parametrize("said", ["5", {"role": "assistant", "content": "5"}, SCRIPT[0], None], ids=repr)
def test_an_answer_that_is_not_a_reply_is_refused(agent: Agent, session: Session, steps: list[Step], said: Any):
    """As a client of a provider gives it, say; nothing has happened."""
    model = FakeModel([])
    model.complete = lambda *_: said  # type: ignore[method-assign]
    with pytest.raises(InvalidValue, match=rf"messages\[2\]: expected Reply, found {type(said).__name__}"):
        step_once(agent, session, model, steps)
    assert (len(session.messages), steps) == (2, [])


def test_a_history_that_contradicts_itself_is_not_sent_to_a_model(
    agent: Agent, session: Session, model: FakeModel, steps: list[Step]
):
    """A new question after an unanswered call: providers refuse that, and for ever after (langgraph 531)."""
    session.messages += [SCRIPT[0], Message("user", "hello?")]
    with pytest.raises(InvalidMessages, match=r"messages\[2\]: dangling call 'c1'"):
        step_once(agent, session, model, steps)
    assert (model.cursor, steps) == (0, [])


class Watching(Recorder):
    """A Recorder that does what the test wants when it hears of an answer."""

    def __init__(self, look: Callable[[Session, int | None, Reply], None]) -> None:
        self.look = look

    def answered(self, session: Session, model_cursor: int | None, reply: Reply) -> None:
        """Look."""
        self.look(session, model_cursor, reply)


def test_a_recorder_hears_of_an_answer_before_its_tools_run(
    agent: Agent, session: Session, model: FakeModel, steps: list[Step]
):
    """Once for each answer, which then stands in the history, with its calls open and the cursor behind it."""
    seen = []

    def look(session: Session, cursor: int | None, reply: Reply) -> None:
        seen.append((session.messages[-1], pending_calls(session.messages), cursor, len(steps)))
        assert reply.message == session.messages[-1]

    while step_once(agent, session, model, steps, Watching(look)) == "paused":
        pass
    assert seen == [
        (SCRIPT[0], SCRIPT[0].tool_calls, 1, 0),
        (SCRIPT[1], SCRIPT[1].tool_calls, 2, 1),
        (SCRIPT[2], (), 3, 2),
    ]


def test_a_recorder_hears_nothing_of_calls_that_were_open_before(agent: Agent, session: Session, steps: list[Step]):
    """They come from a checkpoint, most likely: there is nothing new to save, and no reply either."""
    session.messages.append(SCRIPT[0])
    looked: list[Reply] = []
    step_once(agent, session, FakeModel(SCRIPT[1:]), steps, Watching(lambda *heard: looked.append(heard[2])))
    assert (looked, len(steps)) == ([], 1)


def test_an_interrupt_in_a_tool_keeps_what_the_recorder_has_seen(agent: Agent, session: Session, steps: list[Step]):
    """The answer stays, as it is on the disk, perhaps; with it the result of the tool that has returned."""
    seen: list[list[Message]] = []

    @agent.registry.register
    def stop() -> None:
        raise KeyboardInterrupt

    both = Message("assistant", "", (ToolCall("c1", "add", {"a": 1, "b": 2}), ToolCall("c2", "stop", {})))
    model = FakeModel([both])
    with pytest.raises(KeyboardInterrupt):
        step_once(agent, session, model, steps, Watching(lambda *_: seen.append(list(session.messages))))
    assert seen == [session.messages[:-1]]
    assert session.messages[-1] == Message("tool", "3", tool_call_id="c1")
    assert ([step.detail for step in steps], model.cursor) == (["add -> 3"], 1)
    assert pending_calls(session.messages) == both.tool_calls[1:]


@pytest.mark.parametrize("answer", SCRIPT[1:], ids=["calls", "plain"])
def test_an_answer_that_a_recorder_refuses_is_taken_back(
    agent: Agent, session: Session, steps: list[Step], answer: Message
):
    """The disk is full: no tool has run, nobody would come to write it down, and the step can be taken again."""
    before, model = copy.deepcopy(session), FakeModel([answer])

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        step_once(agent, session, model, steps, Watching(refuse))
    assert (session, steps, model.cursor) == (before, [], 0)


def test_the_history_shares_nothing_with_the_model_s_answer(agent: Agent, session: Session, steps: list[Step]):
    """Whoever made the answer may use its arguments again, for the next one."""
    answer = Message("assistant", "", (ToolCall("c1", "add", {"a": 1, "b": [2]}),))
    step_once(agent, session, FakeModel([answer]), steps)
    answer.tool_calls[0].arguments["b"].append(3)
    assert session.messages[2] == Message("assistant", "", (ToolCall("c1", "add", {"a": 1, "b": [2]}),))
