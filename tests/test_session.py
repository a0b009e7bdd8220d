"""Session: a snapshot that shares nothing, a restore that checks, and the chapter's invariant."""

from typing import Any

import pytest

from minagent import InvalidMessages, InvalidValue, Message, Session, ToolCall, validate

CALL = Message("assistant", "", (ToolCall("c1", "add", {"a": 2, "b": 3}),))
RESULT = Message("tool", "5", tool_call_id="c1")


def of(*messages: Message) -> Session:
    """Return a session of these messages."""
    return Session("demo", list(messages), "2026-01-01T00:00:00Z", {"user": {"name": "小明"}})


def test_snapshot_comes_back_equal():
    """Restore is the inverse of snapshot, field by field."""
    session = of(CALL, RESULT)
    assert Session.restore(session.snapshot()) == session


def test_snapshot_shares_nothing_with_the_session():
    """A snapshot in memory does not change when the session goes on."""
    session = of(CALL, RESULT)
    before = session.snapshot()
    session.metadata["user"]["name"] = "小红"
    session.messages.append(Message("assistant", "5"))
    assert before["metadata"] == {"user": {"name": "小明"}}
    assert len(before["messages"]) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": 7}, "session.id: expected str, found int"),
        ({"messages": [{}]}, "session.messages[0]: missing content, role"),
        ({"metadata": None}, "session.metadata: expected dict, found NoneType"),
        ({"extra": 1}, "session: unknown extra"),
    ],
)
def test_restore_names_the_path_of_what_does_not_fit(change: dict[str, Any], said: str):
    """A snapshot that is not one is refused, with the place."""
    with pytest.raises(InvalidValue) as error:
        Session.restore({**of().snapshot(), **change})
    assert str(error.value) == said


def test_a_healthy_session_is_valid():
    """Every call has its result."""
    assert validate(of(Message("user", "2+3?"), CALL, RESULT, Message("assistant", "5")))


@pytest.mark.parametrize("messages", [(CALL,), (CALL, Message("user", "hello?"))])
def test_a_call_without_result_is_not_valid(messages: tuple[Message, ...]):
    """Pending at the end or dangling before: False, as in the chapter."""
    assert not validate(of(*messages))


def test_every_contradiction_is_in_the_error():
    """One error lists them all, so that nobody has to repair a session one error at a time."""
    with pytest.raises(InvalidMessages) as error:
        validate(of(RESULT, CALL, RESULT, RESULT, Message("assistant", "")))
    assert str(error.value) == (
        "messages[0]: result before call 'c1'; messages[3]: second result 'c1'; messages[4]: empty assistant message"
    )
