"""The agent loop, cut into steps: one model call with the tools that it asks for is one step.

Between two steps nothing is half done: that is the moment to save. With a log, a step is written down while it happens
(see `recording`), and can be gone on with from its middle. This module knows no disk.

Source: chapters 7.3.3 and 7.3.6.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Self

from minagent.errors import InvalidValue
from minagent.messages import Message, ToolCall, check_message, open_calls, pending_calls
from minagent.models import Model, Reply
from minagent.recording import INTERRUPTED, Recorder, run_recorded
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
    log: Recorder | None = None,
) -> Literal["paused", "done"]:
    """Take one step: one model call, then the tools that it asks for.

    `before_tools` is called between the two, while the answer stands in the history and its calls are open: whoever
    has to save before a tool changes the world does it there. `log` writes the step down while it happens.

    Calls that the history holds without a result run first, and then they are the whole step: the model has said
    what it wants, so it is not asked again. If the log says that such a call was about to run before, its tool decides:
    one that reads, or is idempotent, runs again, with the same key; another is asked, if it can be asked.

    Returns:
        "paused" after tools have run: there is more to do, and now is the time to save. "done" after a plain answer.

    Raises:
        InvalidMessages: the history contradicts itself, so no model can be asked; the error lists every problem.
        InvalidValue: the session, or the model's answer, could not be saved; no tool has run.
        InDoubt: a tool may have run, and nobody knows; `SessionLog.resolve` goes on.
        BaseException: whatever the model, a tool's EffectUnknown, `before_tools` or `log` raises; KeyboardInterrupt.
        In each case session, trace and cursor are as they were before; or, after an error in a tool, as `before_tools`
        has seen them. With a log they hold what has come to its end, written down or not: the next step writes it down.
    """
    with _BackOnError(session, model, steps) as back:
        if log is None:
            session.check_storable()  # before anything happens that could then not be saved
        else:
            log.record(session, model.cursor)  # the next question, say, before the model sees it
        messages = list(session.messages) if log is None else session.messages
        if not open_calls(messages):
            reply = _ask(agent, model, messages)
            if reply.message.tool_calls and (before_tools is not None or log is not None):
                session.messages = messages
                if before_tools is not None:
                    before_tools(reply)
                # What before_tools has seen may be on the disk by now. An error in a tool goes back to here, and no
                # further: else the model would be asked again, and might want something else.
                back.to_here()
        calls = open_calls(messages)
        for index, call in calls:
            if log is None:
                result = agent.registry.call(call)
            else:
                result = run_recorded(agent.registry, log, session, model.cursor, index, call)
            _take_result(messages, steps, call, result)
            if log is not None:
                back.to_here()  # a full disk must not make us forget what the tool has said
        if not calls:
            steps.append(final_step(len(steps), messages[-1]))
        session.messages = messages
        if log is not None:
            log.record(session, model.cursor)
        return "paused" if calls else "done"


class _BackOnError:
    """Brings session, cursor and trace back to where they were if an exception goes through."""

    def __init__(self, session: Session, model: Model, steps: list[Step]) -> None:
        self._session, self._model, self._steps = session, model, steps
        self.to_here()

    def to_here(self) -> None:
        """From now on, go back to here."""
        messages = self._session.messages
        self._here = messages, len(messages), len(self._steps), self._model.cursor

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            # The model has moved its cursor when it answers, but the answer is not in the history yet. A reader presses
            # Interrupt in a slow tool: left as it is, the next step would ask for the script item *after* the lost one,
            # and its tools would be skipped in silence.
            messages, length, taken, self._model.cursor = self._here
            del messages[length:], self._steps[taken:]
            self._session.messages = messages


def _ask(agent: Agent, model: Model, messages: list[Message]) -> Reply:
    """Ask the model, and add a copy of its answer to the messages: whoever made it may change its arguments."""
    reply = model.complete(list(messages), agent.registry.schemas())
    _check_answer(reply.message, len(messages))
    messages.append(reply.message.copy())
    return reply


def _take_result(messages: list[Message], steps: list[Step], call: ToolCall, result: str) -> None:
    messages.append(Message("tool", result, tool_call_id=call.id))
    steps.append(tool_step(len(steps), call, messages[-1]))


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


def add_question(session: Session, steps: list[Step], question: str) -> None:
    """Add the user's next question. A call that is still open is closed first: its result says that nobody knows.

    (To have the open calls run instead, call `step_once` before.)
    """
    for call in pending_calls(session.messages):
        _take_result(session.messages, steps, call, INTERRUPTED)
    session.messages.append(Message("user", question))


def run_turn(agent: Agent, session: Session, model: Model, steps: list[Step]) -> str:
    """Step until the model gives a plain answer, and return it. A crash on the way loses all of it (7.3.1)."""
    while step_once(agent, session, model, steps) == "paused":
        pass
    return session.messages[-1].content or ""
