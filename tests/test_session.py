"""Session: a snapshot that shares nothing, a restore that checks, and the chapter's invariant."""

from typing import Any

import pytest

from minagent import Checkpoint, InvalidMessages, InvalidValue, Message, Session, ToolCall, validate
from minagent.document import encode

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
        ({"messages": [{}]}, "messages[0]: missing content, role"),
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


def test_a_session_is_answered_after_a_plain_answer_and_only_then():
    """Not by a question, a call, or a result; and an empty session is not, either."""
    history = [Message("user", "2+3?"), CALL, RESULT, Message("assistant", "5"), Message("user", "and now?")]
    states = [of(*history[:length]).answered for length in range(6)]
    assert states == [False, False, False, False, True, False]


def test_step_count_is_the_number_of_the_model_s_messages():
    """One step is one call of the model, however many tools it asks for."""
    two = Message("assistant", "", (*CALL.tool_calls, ToolCall("c2", "add", {})))
    assert of(two, RESULT, Message("tool", "6", tool_call_id="c2"), Message("assistant", "5")).step_count == 2


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"tags": {1, 2}}, "metadata.tags: set would not come back equal from JSON"),
        ({"a": {"b": [lambda: 0]}}, "metadata.a.b[0]: function would not come back equal from JSON"),
        ({"pair": [(1, 2)]}, "metadata.pair[0]: tuple would not come back equal from JSON"),
        ({"n": float("nan")}, "metadata.n: NaN and infinity have no place in JSON"),
        ({"n": float("-inf")}, "metadata.n: NaN and infinity have no place in JSON"),
        ({"by id": {1: "x"}}, "metadata['by id'][1]: a key must be str, found int"),
        ({"n": 10**4300}, "metadata.n: an integer of more than 4300 digits"),
        ([], "session.metadata: expected dict, found list"),
    ],
)
def test_a_value_that_would_not_come_back_equal_is_named_by_its_path(metadata: Any, said: str):
    """Refused, never changed silently."""
    session = of()
    session.metadata = metadata
    with pytest.raises(InvalidValue) as error:
        session.snapshot()
    assert str(error.value) == said


def test_a_circle_is_refused_like_any_other_depth():
    """Nothing recurses for ever."""
    session = of()
    session.metadata["self"] = session.metadata
    with pytest.raises(InvalidValue, match="nested more than 100 deep, or in a circle"):
        session.snapshot()


def test_a_session_that_contradicts_itself_is_not_storable():
    """An orphan is refused when it is saved, not found when it is loaded."""
    with pytest.raises(InvalidMessages, match="orphan result 'c1'"):
        encode(Checkpoint(of(RESULT), 0, []))


def test_pending_calls_are_storable():
    """What is open at the end is work to do, not damage."""
    encode(Checkpoint(of(CALL), 0, []))


def test_a_bad_value_in_a_message_is_named_by_its_path():
    """The index of the message, of the call, and the way to the value."""
    session = of(Message("user", "pay"), Message("assistant", "", [ToolCall("c1", "pay", {"when": {1}})]))
    with pytest.raises(InvalidValue, match=r"messages\[1\]\.tool_calls\[0\]\.arguments\.when: set would not"):
        session.snapshot()
