"""The agent loop, cut into steps: one model call with the tools that it asks for is one step (chapter 7.3.3).

Between two steps nothing is half done: that is the moment to save. Whoever has to save in the middle of one, as a log
does, is a Recorder, which a step tells what it does. This module knows no disk.
"""

import os
import time
from dataclasses import dataclass
from typing import Literal

from minagent.errors import InvalidValue
from minagent.messages import Message, ToolCall, check_sequence, open_calls, pending_calls
from minagent.models import Model, Reply
from minagent.plain_json import require
from minagent.session import Session
from minagent.tools import ToolRegistry

INTERRUPTED = "unknown: this call was interrupted, and may or may not have had its effect"  # stands for a result
LONGEST_DETAIL = 500  # characters of a tool's result that the trace repeats


@dataclass(frozen=True)
class Agent:
    """What stays the same from session to session: the tools and the instructions."""

    registry: ToolRegistry
    system_prompt: str


@dataclass(frozen=True)
class Step:
    """One entry of the trace."""

    index: int
    kind: str  # "tool_call" or "final"
    detail: str


def init_session(
    agent: Agent, question: str, *, session_id: str | None = None, created_at: str | None = None
) -> Session:
    """Begin a session: the system prompt and the first question. Unless given, the id is random, the time now."""
    begun = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()) if created_at is None else created_at
    messages = [Message("system", agent.system_prompt), Message("user", question)]
    return Session(os.urandom(16).hex() if session_id is None else session_id, messages, begun)


class Recorder:
    """Told what a step does, while it does it. This one writes nothing down; a SessionLog does."""

    def record(self, session: Session, model_cursor: int | None) -> None:  # noqa: ARG002
        """Take in what is new: before the model is asked, and after the tools. Raise if no model should see it."""
        check_sequence(session.messages)

    def answered(self, session: Session, model_cursor: int | None, reply: Reply) -> None:
        """Take in the model's answer, now the session's newest message. If this raises, it is taken back."""

    def run(self, tools: ToolRegistry, session: Session, cursor: int | None, index: int, call: ToolCall) -> str:  # noqa: ARG002
        """Return the result of a call, by running it or otherwise; `index` is its place in the answer."""
        return tools.call(call)


NOT_RECORDED = Recorder()


def step_once(
    agent: Agent, session: Session, model: Model, steps: list[Step], log: Recorder = NOT_RECORDED
) -> Literal["paused", "done"]:
    """Take one step: one model call, then the tools that it asks for.

    Return "done" after a plain answer, "paused" after tools have run: there is more to do, and now is the time to save.
    If the step is cut short, by Interrupt or by an error, **what is complete stays** in session and trace: the model's
    answer, and the results of the tools that have returned. The calls that are still open run next, and the model is
    not asked again. If the model itself failed, nothing has happened.

    Raises:
        InvalidMessages: the history contradicts itself, so no model can be asked; the error lists every problem.
        InvalidValue: the model's answer could not be saved; no tool has run.
    """
    log.record(session, model.cursor)  # the next question, say, before the model sees it
    if not pending_calls(session.messages):
        answer = _ask(agent, session, model, log)
        if not answer.tool_calls:
            steps.append(Step(len(steps), "final", answer.content or ""))
            return "done"
    for index, call in open_calls(session.messages):
        result = log.run(agent.registry, session, model.cursor, index, call)
        add_result(session.messages, steps, call, result)
    log.record(session, model.cursor)
    return "paused"


def _ask(agent: Agent, session: Session, model: Model, log: Recorder) -> Message:
    """Ask the model, and add a copy of its answer to the session: whoever made it may change its arguments."""
    messages, cursor, length = session.messages, model.cursor, len(session.messages)
    try:
        reply = model.complete(list(messages), agent.registry.schemas())
        messages.append(_taken_in(reply, f"messages[{length}]"))
        log.answered(session, model.cursor, reply)
    except BaseException:
        # The model moves its cursor when it answers. Left as it is, the next step would ask for the script item *after*
        # the lost one. And an answer that was not written down is taken back: after a plain one, no step would do it.
        del messages[length:]
        model.cursor = cursor
        raise
    return messages[-1]


def _taken_in(reply: Reply, path: str) -> Message:
    """Copy an answer. Refuse one that could not be saved, or sent back to a model, while no tool has run for it."""
    answer: Message = require(require(reply, Reply, path).message, Message, path).copy(path)
    if answer.role != "assistant":
        raise InvalidValue(f"{path}.role", f"a model answers as assistant, not as {answer.role}")
    if not answer.content and not answer.tool_calls:
        raise InvalidValue(path, "the model gave neither text nor tool calls: ask it again")
    return answer


def add_result(messages: list[Message], steps: list[Step], call: ToolCall, result: str) -> None:
    """Add the result of a call to the messages, and the beginning of it to the trace."""
    messages.append(Message("tool", result, tool_call_id=call.id))
    shown = result[:LONGEST_DETAIL] + ("…" if result[LONGEST_DETAIL:] else "")
    steps.append(Step(len(steps), "tool_call", f"{call.name} -> {shown}"))


def add_question(session: Session, steps: list[Step], question: str) -> None:
    """Add the user's next question. Calls that are still open are closed first: a result says so, and none runs."""
    for call in pending_calls(session.messages):
        add_result(session.messages, steps, call, INTERRUPTED)
    session.messages.append(Message("user", question))


def run_turn(agent: Agent, session: Session, model: Model, steps: list[Step]) -> str:
    """Step until the model gives a plain answer, and return it. A crash on the way loses all of it (7.3.1)."""
    while step_once(agent, session, model, steps) == "paused":
        pass
    return session.messages[-1].content or ""
