"""The agent loop, cut into steps: one model call with the tools that it asks for is one step.

Between two steps nothing is half done: that is the moment to save. This module knows no disk.

Source: chapter 7.3.3.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from minagent.errors import InvalidValue
from minagent.messages import Message, check_message, pending_calls
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
        In each case session, trace and cursor are as they were before.
    """
    before = session.messages, len(steps), model.cursor
    try:
        return _step(agent, session, model, steps, before_tools)
    except BaseException:
        # The model has moved its cursor when it answers, but the answer is not in the history yet. A reader presses
        # Interrupt in a slow tool: left as it is, the next step would ask for the script item *after* the lost one,
        # and its tools would be skipped in silence.
        session.messages, length, model.cursor = before
        del steps[length:]
        raise


def _step(
    agent: Agent, session: Session, model: Model, steps: list[Step], before_tools: Callable[[Reply], None] | None
) -> Literal["paused", "done"]:
    session.check_storable()  # before anything happens that could then not be saved
    messages = list(session.messages)
    calls = pending_calls(messages)
    if not calls:
        reply = model.complete(list(messages), agent.registry.schemas())
        _check_answer(reply.message, len(messages))
        messages.append(reply.message)
        calls = tuple(reply.message.tool_calls)
        if before_tools is not None and calls:
            session.messages = list(messages)
            before_tools(reply)
    for call in calls:
        result = agent.registry.call(call)
        messages.append(Message("tool", result, tool_call_id=call.id))
        steps.append(Step(len(steps), "tool_call", f"{call.name} -> {_shortened(result)}"))
    if not calls:
        steps.append(Step(len(steps), "final", messages[-1].content or ""))
    session.messages = messages
    return "paused" if calls else "done"


def _shortened(result: str) -> str:
    """Return what the trace says of a result, which stands whole in its message."""
    return result if len(result) <= LONGEST_DETAIL else result[:LONGEST_DETAIL] + "…"


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
