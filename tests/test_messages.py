"""Messages: values, their JSON form, and every problem that a sequence of them can have."""

import json
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from minagent import InvalidValue, Message, ToolCall, pending_calls, problems
from minagent.messages import Problem


def calls(*ids: str) -> Message:
    """Return an assistant message that calls a tool once for each id."""
    return Message("assistant", "", tuple(ToolCall(call_id, "add", {"a": 2, "b": 3}) for call_id in ids))


def result(call_id: str) -> Message:
    """Return the result of a call."""
    return Message("tool", "5", tool_call_id=call_id)


USER = Message("user", "2+3?")
ANSWER = Message("assistant", "5")


@pytest.mark.parametrize(
    ("value", "field"),
    [(USER, "content"), (ToolCall("c1", "add", {}), "name"), (Problem(0, "orphan result"), "kind")],
)
def test_values_cannot_be_changed(value: object, field: str):
    """No one changes a history behind its owner's back."""
    with pytest.raises(FrozenInstanceError):
        setattr(value, field, "changed")


@pytest.mark.parametrize("message", [USER, ANSWER, calls("c1", "c2"), result("c1"), Message("assistant", None)])
def test_json_form_comes_back_equal(message: Message):
    """Every message survives its JSON form, content None included."""
    assert Message.from_json(message.to_json()) == message


def test_json_form_shares_nothing_with_the_message():
    """Changing the JSON form does not change the message that it came from."""
    message = calls("c1")
    message.to_json()["tool_calls"][0]["arguments"]["a"] = 99
    assert message.tool_calls[0].arguments == {"a": 2, "b": 3}


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"role": "user"}, "message: missing content"),
        ({"role": "robot", "content": ""}, "message.role: expected one of system, user, assistant, tool"),
        ({"role": "user", "content": 5}, "message.content: expected str or null, found int"),
        ({"role": "user", "content": "", "name": "x"}, "message: unknown name"),
        (
            {"role": "assistant", "content": "", "tool_calls": [{}]},
            "message.tool_calls[0]: missing arguments, id, name",
        ),
        (
            {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "name": "add", "arguments": []}]},
            "message.tool_calls[0].arguments: expected dict, found list",
        ),
        (
            {"role": "tool", "content": "", "tool_call_id": True},
            "message.tool_call_id: expected str or null, found bool",
        ),
        *(
            ({"role": role, "content": None, **more}, "message.content: only an assistant may say nothing")
            for role, more in {"user": {}, "system": {}, "tool": {"tool_call_id": "c1"}}.items()
        ),
        ("hello", "message: expected dict, found str"),
    ],
)
def test_a_form_that_does_not_fit_is_named_by_its_path(form: Any, said: str):
    """Bad input gets an error that says which place is wrong, and what was expected there."""
    with pytest.raises(InvalidValue) as error:
        Message.from_json(form)
    assert str(error.value).startswith(said)


def test_unknown_role_is_refused_at_construction():
    """A typing error in a role does not wait for the provider to be noticed."""
    with pytest.raises(InvalidValue, match="'asistant'"):
        Message("asistant", "hello")


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        ([], []),
        ([USER, calls("c1"), result("c1"), ANSWER], []),
        ([USER, calls("c1", "c2"), result("c2"), result("c1"), ANSWER], []),
        ([USER, calls("c1")], []),
        ([USER, calls("c1", "c2"), result("c1")], []),
        ([calls("c1"), result("c1"), calls("c1"), result("c1")], []),
        ([calls("c1", "c1"), result("c1"), result("c1")], []),
        ([Message("system", ""), Message("user", "")], []),
        ([USER, result("c1")], ["messages[1]: orphan result 'c1'"]),
        ([result("c2"), calls("c1"), result("c1")], ["messages[0]: orphan result 'c2'"]),
        ([result("c1"), calls("c2"), result("c2")], ["messages[0]: orphan result 'c1'"]),
        (
            [Message("tool", "5")],
            ["messages[0]: call or id on a message of another role", "messages[0]: orphan result"],
        ),
        (
            [Message("user", "hi", calls("c1").tool_calls)],
            ["messages[0]: call or id on a message of another role"],
        ),
        (
            [Message("user", "hi", tool_call_id="c1")],
            ["messages[0]: call or id on a message of another role 'c1'"],
        ),
        ([calls("c1"), result("c1"), ANSWER, result("c1")], ["messages[3]: orphan result 'c1'"]),
        ([calls("c1"), result("c1"), result("c1")], ["messages[2]: second result 'c1'"]),
        ([result("c1"), calls("c1")], ["messages[0]: result before call 'c1'"]),
        ([calls("c1"), USER], ["messages[0]: dangling call 'c1'"]),
        (
            [calls("A"), result("B"), USER],
            ["messages[1]: orphan result 'B'", "messages[0]: dangling call 'A'"],
        ),
        ([Message("assistant", "")], ["messages[0]: empty assistant message"]),
        ([Message("assistant", None)], ["messages[0]: empty assistant message"]),
        ([Message("assistant", None, calls("c1").tool_calls)], []),
    ],
)
def test_problems_lists_every_one_with_its_index(messages: list[Message], found: list[str]):
    """Each kind of contradiction is found where it is; the same id in a later turn, or twice in one, is none."""
    assert [str(problem) for problem in problems(messages)] == found
    assert [str(problem) for problem in problems(from_disk(messages))] == found


def from_disk(messages: list[Message]) -> list[Message]:
    """Return the messages as they come back from JSON: equal, and none of their strings the same object."""
    return [Message.from_json(form) for form in json.loads(json.dumps([m.to_json() for m in messages]))]


@pytest.mark.parametrize(
    ("messages", "pending"),
    [
        ([], []),
        ([USER, ANSWER], []),
        ([calls("c1", "c2")], ["c1", "c2"]),
        ([calls("c1", "c2"), result("c2")], ["c1"]),
        ([calls("c1", "c1"), result("c1")], ["c1"]),
        ([calls("c1"), result("c1")], []),
        ([calls("c1"), USER], []),
        ([result("c1")], []),
        ([Message("user", "hi", calls("c1").tool_calls)], []),
    ],
)
def test_pending_calls_are_the_open_ones_of_the_last_assistant_message(messages: list[Message], pending: list[str]):
    """What a crash among the tools of a step left undone, in the order in which it was asked for."""
    assert [call.id for call in pending_calls(messages)] == pending
    assert [call.id for call in pending_calls(from_disk(messages))] == pending
