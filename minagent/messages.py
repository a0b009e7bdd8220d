"""Messages and tool calls as values, their plain JSON form, and what can be wrong with a sequence of them.

The JSON form of the four roles. What is not set is left out:

    {"role": "system", "content": "You calculate with tools."}
    {"role": "user", "content": "先算 2+3，再把结果乘 4"}
    {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "name": "add", "arguments": {"a": 2, "b": 3}}]}
    {"role": "tool", "content": "5", "tool_call_id": "c1"}

Source: chapters 7.2 and 7.3.7.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from minagent.errors import InvalidMessages, InvalidValue
from minagent.plain_json import plain, require, require_keys

ROLES = ("system", "user", "assistant", "tool")
TEXT = (str, type(None))
CALL = frozenset({"id", "name", "arguments"})
NEEDED, ALLOWED = frozenset({"role", "content"}), frozenset({"role", "content", "tool_calls", "tool_call_id"})


@dataclass(frozen=True)
class ToolCall:
    """One request of the model to run a tool."""

    id: str
    """Given by the model; unique among the calls of one message at best, so never a key by itself."""
    name: str
    arguments: dict[str, Any]

    def copy(self, path: str = "tool_call") -> "ToolCall":
        """Return an equal call that shares nothing with this one; raise InvalidValue with the path of a flaw."""
        return _call(vars(self), path)


def _call(fields: dict[str, Any], path: str) -> ToolCall:
    """Build a call from its fields, checked, with arguments of its own: the one walk over them."""
    return ToolCall(
        require(fields["id"], str, f"{path}.id"),
        require(fields["name"], str, f"{path}.name"),
        plain(require(fields["arguments"], dict, f"{path}.arguments"), f"{path}.arguments"),
    )


@dataclass(frozen=True)
class Message:
    """One entry of the history that the model is given."""

    role: str
    content: str | None
    """None is legal for an assistant message that only calls tools."""
    tool_calls: Sequence[ToolCall] = ()
    tool_call_id: str | None = None
    """On a tool message: the id of the call that it answers."""

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise InvalidValue("role", f"expected one of {', '.join(ROLES)}, found {self.role!r}")
        if type(self.tool_calls) is not tuple:
            object.__setattr__(self, "tool_calls", tuple(self.tool_calls))

    def copy(self, path: str = "message") -> "Message":
        """Return an equal message that shares nothing with this one; raise InvalidValue as `ToolCall.copy` does."""
        _check_texts(self.content, self.tool_call_id, path)
        if not self.tool_calls:
            return self  # nothing in it can be changed
        places = [(call, f"{path}.tool_calls[{i}]") for i, call in enumerate(self.tool_calls)]
        calls = tuple([require(call, ToolCall, where).copy(where) for call, where in places])
        return Message(self.role, self.content, calls, self.tool_call_id)

    def to_json(self, path: str = "message") -> dict[str, Any]:
        """Return the plain JSON form, which shares nothing with this object; raise InvalidValue as `copy` does."""
        copy = self.copy(path)
        form: dict[str, Any] = {"role": copy.role, "content": copy.content}
        if copy.tool_calls:
            form["tool_calls"] = [vars(call) for call in copy.tool_calls]  # of the copy: nobody else has them
        if copy.tool_call_id is not None:
            form["tool_call_id"] = copy.tool_call_id
        return form

    @classmethod
    def from_json(cls, value: Any, path: str = "message") -> "Message":
        """Build a Message from its JSON form; raise InvalidValue with the path of what does not fit."""
        fields = require_keys(value, NEEDED, ALLOWED, path)
        if fields["role"] not in ROLES:
            raise InvalidValue(f"{path}.role", f"expected one of {', '.join(ROLES)}, found {fields['role']!r}")
        _check_texts(fields["content"], fields.get("tool_call_id"), path)
        if "tool_calls" not in fields:
            return cls(fields["role"], fields["content"], (), fields.get("tool_call_id"))
        forms = enumerate(require(fields["tool_calls"], list, f"{path}.tool_calls"))
        places = [(form, f"{path}.tool_calls[{i}]") for i, form in forms]
        calls = tuple([_call(require_keys(form, CALL, CALL, where), where) for form, where in places])
        return cls(fields["role"], fields["content"], calls, fields.get("tool_call_id"))


def _check_texts(content: Any, tool_call_id: Any, path: str) -> None:
    if type(content) not in TEXT or type(tool_call_id) not in TEXT:
        require(content, TEXT, f"{path}.content")
        require(tool_call_id, TEXT, f"{path}.tool_call_id")


ProblemKind = Literal[
    "orphan result",
    "second result",
    "result before call",
    "dangling call",
    "empty assistant message",
    "call or id on a message of another role",
]


@dataclass(frozen=True)
class Problem:
    """One contradiction in a message sequence."""

    index: int
    """Where in the sequence: the message to look at."""
    kind: ProblemKind
    tool_call_id: str | None = None

    def __str__(self) -> str:
        name = "" if self.tool_call_id is None else f" {self.tool_call_id!r}"
        return f"messages[{self.index}]: {self.kind}{name}"


def newest_exchange(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the newest message that is not a tool result, and the results after it."""
    start = len(messages) - 1
    while start > 0 and messages[start].role == "tool":
        start -= 1
    return messages[start:]


def open_calls(messages: Sequence[Message]) -> list[tuple[int, ToolCall]]:
    """Return the calls of the last assistant message that have no result yet, each with its index in that message."""
    if not messages or (exchange := newest_exchange(messages))[0].role != "assistant":
        return []
    asker, *results = exchange
    answered = [result.tool_call_id for result in results]
    found = []
    for index, call in enumerate(asker.tool_calls):
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
    turn only, since providers use the same ids again in later turns. Pending calls at the end are no problem.
    """
    found = []
    open_ids: list[str | None] = []
    answered: set[str | None] = set()
    turn = 0
    for index, message in enumerate(messages):
        if _has_what_is_not_its_own(message):
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


def _has_what_is_not_its_own(message: Message) -> bool:
    """Only an assistant calls tools; a tool message answers a call, and no other message does."""
    calls_in_vain = message.role != "assistant" and bool(message.tool_calls)
    return calls_in_vain or (message.role == "tool") == (message.tool_call_id is None)


def _why_unmatched(call_id: str | None, answered: set[str | None], rest: Sequence[Message]) -> ProblemKind:
    if call_id in answered:
        return "second result"
    called_later = any(call.id == call_id for message in rest for call in message.tool_calls)
    return "result before call" if called_later else "orphan result"
