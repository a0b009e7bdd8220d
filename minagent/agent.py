"""The agent loop, cut into steps: one model call with the tools that it asks for is one step.

Between two steps nothing is half done: that is the moment to save. This module knows no disk.

Source: chapter 7.3.3.
"""

import contextlib
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from minagent.errors import InvalidValue
from minagent.messages import Message, ToolCall, check_message, pending_calls
from minagent.models import Model, Reply
from minagent.session import Session
from minagent.tools import ToolRegistry

LONGEST_DETAIL = 500
"""In characters: how much of a tool's result the trace repeats."""


@dataclass(frozen=True)
class Agent:
    """What stays the same from session to session: the tools and the instructions."""

    registry: ToolRegistry
    system_prompt: str


@dataclass(frozen=True)
class Step:
    """One entry of the trace."""

    index: int
    kind: str
    """`tool_call` or `final`."""
    detail: str


def init_session(
    agent: Agent, question: str, *, session_id: str | None = None, created_at: str | None = None
) -> Session:
    """Begin a session: the system prompt and the first question.

    `session_id` is a random one and `created_at` is now, unless they are given.
    """
    return Session(
        id=uuid.uuid4().hex if session_id is None else session_id,
        messages=[Message("system", agent.system_prompt), Message("user", question)],
        created_at=datetime.now(UTC).isoformat() if created_at is None else created_at,
    )


def step_once(
    agent: Agent,
    session: Session,
    model: Model,
    steps: list[Step],
    before_tools: Callable[[Reply], None] | None = None,
) -> Literal["paused", "done"]:
    """Take one step: one model call, then the tools that it asks for.

    `before_tools` is called between the two, while the answer stands in the history and its calls are open: whoever
    has to save before a tool changes the world does it there.

    Calls that the history holds without a result run first, and then they are the whole step: the model has said
    what it wants, so it is not asked again.

    Returns:
        "paused" after tools have run: there is more to do, and now is the time to save. "done" after a plain answer.

    Raises:
        InvalidMessages: the history contradicts itself, so no model can be asked; the error lists every problem.
        InvalidValue: the session, or the model's answer, could not be saved; no tool has run.
        BaseException: whatever the model or `before_tools` raises, and KeyboardInterrupt.
        In each case session, trace and cursor are as they were before; or, after an error in a tool, as `before_tools`
        has seen them.
    """
    with _undone_on_error(session, model, steps):
        session.check_storable()  # before anything happens that could then not be saved
        messages = list(session.messages)
        reply = None if pending_calls(messages) else _ask(agent, model, messages)
        if reply is None or not reply.message.tool_calls or before_tools is None:
            return _act(agent, session, messages, steps)
        session.messages = list(messages)
        before_tools(reply)
    # What before_tools has seen may be on the disk by now. An error in a tool goes back to there, and no further: else
    # the model would be asked again, and might want something else.
    with _undone_on_error(session, model, steps):
        return _act(agent, session, messages, steps)


@contextlib.contextmanager
def _undone_on_error(session: Session, model: Model, steps: list[Step]) -> Iterator[None]:
    before = session.messages, len(steps), model.cursor
    try:
        yield
    except BaseException:
        # The model has moved its cursor when it answers, but the answer is not in the history yet. A reader presses
        # Interrupt in a slow tool: left as it is, the next step would ask for the script item *after* the lost one,
        # and its tools would be skipped in silence.
        session.messages, length, model.cursor = before
        del steps[length:]
        raise


def _ask(agent: Agent, model: Model, messages: list[Message]) -> Reply:
    """Ask the model, and add its answer to the messages."""
    reply = model.complete(list(messages), agent.registry.schemas())
    _check_answer(reply.message, len(messages))
    messages.append(reply.message)
    return reply


def _act(agent: Agent, session: Session, messages: list[Message], steps: list[Step]) -> Literal["paused", "done"]:
    """Run the calls that are open, and take the step into the session."""
    calls = pending_calls(messages)
    for call in calls:
        messages.append(Message("tool", agent.registry.call(call), tool_call_id=call.id))
        steps.append(tool_step(len(steps), call, messages[-1]))
    if not calls:
        steps.append(final_step(len(steps), messages[-1]))
    session.messages = messages
    return "paused" if calls else "done"


def tool_step(index: int, call: ToolCall, result: Message) -> Step:
    """Return the entry of the trace for a tool's result, which stands whole in its message."""
    text = result.content or ""
    shortened = text if len(text) <= LONGEST_DETAIL else text[:LONGEST_DETAIL] + "…"
    return Step(index, "tool_call", f"{call.name} -> {shortened}")


def final_step(index: int, answer: Message) -> Step:
    """Return the entry of the trace for a plain answer."""
    return Step(index, "final", answer.content or "")


def _check_answer(answer: Message, index: int) -> None:
    """Refuse an answer that could not be saved, or not be sent back to a model, while no tool has run for it."""
    check_message(answer, f"messages[{index}]")
    if answer.role != "assistant":
        raise InvalidValue(f"messages[{index}].role", f"a model answers as assistant, not as {answer.role}")
    if not answer.content and not answer.tool_calls:
        raise InvalidValue(f"messages[{index}]", "the model gave neither text nor tool calls: ask it again")


def run_turn(agent: Agent, session: Session, model: Model, steps: list[Step]) -> str:
    """Step until the model gives a plain answer, and return it. A crash on the way loses all of it (7.3.1)."""
    while step_once(agent, session, model, steps) == "paused":
        pass
    return session.messages[-1].content or ""
