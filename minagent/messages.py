"""Messages and tool calls as values, their JSON form, and what can be wrong with a sequence of them (7.2, 7.3.7).

The JSON form of the four roles. What is not set is left out:

    {"role": "system", "content": "You calculate with tools."}
    {"role": "user", "content": "先算 2+3，再把结果乘 4"}
    {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "name": "add", "arguments": {"a": 2, "b": 3}}]}
    {"role": "tool", "content": "5", "tool_call_id": "c1"}
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from minagent.errors import InvalidMessages, InvalidValue
from minagent.plain_json import items, plain, require, require_fields

ROLES = ("system", "user", "assistant", "tool")
MESSAGE = {"role": (str,), "content": (str, type(None)), "tool_calls": (list,), "tool_call_id": (str, type(None))}
OPTIONAL = frozenset({"tool_calls", "tool_call_id"})
CALL = {"id": (str,), "name": (str,), "arguments": (dict,)}


@dataclass(frozen=True)
class ToolCall:
    """One request of the model to run a tool."""

    id: str  # given by the model; unique among the calls of one message at best, so never a key by itself
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Message:
    """One entry of the history that the model is given."""

    role: str
    content: str | None  # None is legal for an assistant message that only calls tools
    tool_calls: Sequence[ToolCall] = ()
    tool_call_id: str | None = None  # on a tool message: the id of the call that it answers

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise InvalidValue("message.role", f"expected one of {', '.join(ROLES)}, found {self.role!r}")
        if self.content is None and self.role != "assistant":
            raise InvalidValue("message.content", "only an assistant may say nothing")
        if type(self.tool_calls) is not tuple:
            object.__setattr__(self, "tool_calls", tuple(self.tool_calls))

    def copy(self, path: str = "message") -> "Message":
        """Return an equal message that shares nothing with this one; raise InvalidValue with the path of a flaw."""
        return replace(self, tool_calls=[ToolCall(**call) for call in self.to_json(path).get("tool_calls", ())])

    def to_json(self, path: str = "message") -> dict[str, Any]:
        """Return the plain JSON form, which shares nothing with this object; raise InvalidValue as `copy` does."""
        form: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.tool_calls:
            placed = items(list(self.tool_calls), f"{path}.tool_calls")
            form["tool_calls"] = [vars(_call(vars(require(call, ToolCall, place)), place)) for call, place in placed]
        if self.tool_call_id is not None:
            form["tool_call_id"] = self.tool_call_id
        return require_fields(form, MESSAGE, path, OPTIONAL)

    @classmethod
    def from_json(cls, value: Any, path: str = "message") -> "Message":
        """Build a Message from its JSON form; raise InvalidValue with the path of what does not fit."""
        form = require_fields(value, MESSAGE, path, OPTIONAL)
        placed = items(form["tool_calls"], f"{path}.tool_calls") if "tool_calls" in form else ()
        calls = tuple([_call(call, place) for call, place in placed])
        return cls(form["role"], form["content"], calls, form.get("tool_call_id"))


def _call(value: Any, path: str) -> ToolCall:
    """Build a call with arguments of its own: the one walk over them."""
    fields = require_fields(value, CALL, path)
    return ToolCall(fields["id"], fields["name"], plain(fields["arguments"], f"{path}.arguments"))


@dataclass(frozen=True)
class Problem:
    """One contradiction in a message sequence: the message to look at, what is wrong there, and with which call."""

    index: int
    kind: str
    tool_call_id: str | None = None

    def __str__(self) -> str:
        return f"messages[{self.index}]: {self.kind}" + ("" if self.tool_call_id is None else f" {self.tool_call_id!r}")


def newest_exchange(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the newest message that is not a tool result, and the results after it."""
    return messages[next((i for i in reversed(range(len(messages))) if messages[i].role != "tool"), 0) :]


def open_calls(messages: Sequence[Message]) -> list[tuple[int, ToolCall]]:
    """Return the calls of the last assistant message that have no result yet, each with its index in that message."""
    exchange = newest_exchange(messages)
    answered = [result.tool_call_id for result in exchange[1:]]
    found = []
    for index, call in enumerate(exchange[0].tool_calls if exchange and exchange[0].role == "assistant" else ()):
        if call.id in answered:
            answered.remove(call.id)
        else:
            found.append((index, call))
    return found


def pending_calls(messages: Sequence[Message]) -> tuple[ToolCall, ...]:
    """Return the calls of the last assistant message that have no result yet, in order. The next step runs them."""
    return tuple(call for _, call in open_calls(messages))


def problems(messages: Sequence[Message]) -> list[Problem]:
    """List every problem of a message sequence, in order; an empty list means that it is consistent.

    A result must follow the message that called it, before anything but other results: an id counts within its own
    turn only, since providers use the same ids again in later turns. Pending calls at the end are not a problem.
    """
    found = []
    open_ids: list[str | None] = []
    answered: set[str | None] = set()
    turn = 0
    for index, message in enumerate(messages):
        # Only an assistant calls tools; a tool message answers a call, and no other message does.
        calls_in_vain = message.role != "assistant" and bool(message.tool_calls)
        if calls_in_vain or (message.role == "tool") == (message.tool_call_id is None):
            found.append(Problem(index, "call or id on a message of another role", message.tool_call_id))
        if message.role == "tool":
            called = message.tool_call_id
            if called in open_ids:
                open_ids.remove(called)
                answered.add(called)
            else:
                found.append(Problem(index, _why_unmatched(called, answered, messages[index:]), called))
            continue
        found += [Problem(turn, "dangling call", call_id) for call_id in open_ids]
        if message.role == "assistant" and not message.content and not message.tool_calls:
            found.append(Problem(index, "empty assistant message"))
        turn, answered = index, set()
        open_ids = [call.id for call in message.tool_calls] if message.role == "assistant" else []
    return found


def check_sequence(messages: Sequence[Message]) -> None:
    """Raise InvalidMessages, with every problem, if a message sequence contradicts itself."""
    if found := problems(messages):
        raise InvalidMessages("; ".join(map(str, found)))


def _why_unmatched(call_id: str | None, answered: set[str | None], rest: Sequence[Message]) -> str:
    if call_id in answered:
        return "second result"
    called_later = any(call.id == call_id for message in rest for call in message.tool_calls)
    return "result before call" if called_later else "orphan result"
