"""The codec of records: literal bytes, every flipped bit, every cut, and what is newer."""

import hashlib
from typing import Any

import pytest

from minagent import Message, Session, Step, ToolCall
from minagent.errors import InvalidValue
from minagent.lab.faults.damage import cuts, flips
from minagent.log import LogDamaged, LogTooNew
from minagent.log.records import NO_DIGEST, Doubt, Record, State, apply, decode, encode, restore
from minagent.plain_json import compact
from tests.examined import Examined

RECORD = Record(1, "message", "w1", {"message": {"role": "tool", "content": "五", "tool_call_id": "c1"}})
CALLS = Message("assistant", "", (ToolCall("c1", "pay", {"n": 1}), ToolCall("c1", "pay", {"n": 2})))


def test_the_literal_bytes_of_a_record():
    """The specification, held to."""
    line, digest = encode(RECORD, NO_DIGEST)
    assert line.decode() == (
        '{"v":1,"seq":1,"kind":"message","writer":"w1",'
        f'"body":{{"message":{{"role":"tool","content":"五","tool_call_id":"c1"}}}},"sha256":"{digest}"}}'
    )
    assert decode(line, NO_DIGEST, 1) == (RECORD, digest)


def test_every_flipped_bit_and_every_cut_is_seen(examined: Examined):
    """Of a record with Chinese text in it."""
    line, _ = encode(RECORD, NO_DIGEST)
    assert set(flips(line, load)) == {0}
    assert not any(cuts(line, load))
    examined("cuts", len(line))
    examined("flipped bits", len(line) * 8)


def load(line: bytes) -> Record:
    """Return what a line says in the place of the record."""
    return decode(line, NO_DIGEST, 1)[0]


def test_a_record_belongs_to_its_place():
    """After another record, or at another number, it is damage."""
    line, digest = encode(RECORD, NO_DIGEST)
    with pytest.raises(LogDamaged, match="the one before"):
        decode(line, digest, 1)
    with pytest.raises(LogDamaged, match="it says that it is record 1"):
        decode(line, NO_DIGEST, 2)


def test_a_newer_version_is_refused_by_its_number():
    """And told from damage, since the digest comes first."""
    line, _ = encode(RECORD, NO_DIGEST)
    unsigned = compact({"v": 2, **vars(RECORD)})
    assert line.startswith(unsigned[:-1].replace(b'"v":2', b'"v":1'))
    digest = hashlib.sha256(NO_DIGEST.encode() + unsigned).hexdigest()
    with pytest.raises(LogTooNew, match="format version 2, and this minagent knows versions up to 1"):
        decode(unsigned[:-1] + f',"sha256":"{digest}"}}'.encode(), NO_DIGEST, 1)


@pytest.mark.parametrize("value", [{1, 2}, (1, 2), float("nan"), {1: 2}, object()])
def test_a_value_that_would_not_come_back_equal_is_refused(value: Any):
    """With its path."""
    with pytest.raises(InvalidValue, match=r"metadata\.x"):
        apply(new_state(), Record(3, "metadata", "w1", {"metadata": {"x": value}}), NO_DIGEST)


def new_state() -> State:
    """Return the state of a session with one question."""
    session = Session("demo", [Message("user", "pay twice")], "2026-01-01T00:00:00Z")
    return State(session, "i1", 0, [])


def applied(*entries: tuple[Any, dict[str, Any]]) -> State:
    """Return the state after these records."""
    state = new_state()
    for kind, body in entries:
        apply(state, Record(state.length, kind, "w1", body), f"digest {state.length}")
    return state


def test_replay_folds_messages_and_the_trace():
    """The trace follows from the messages, and the cursor stands where it stood."""
    state = applied(
        ("message", {"message": CALLS.to_json(), "model_cursor": 1}),
        ("message", {"message": Message("tool", "paid 1", tool_call_id="c1").to_json()}),
        ("message", {"message": Message("tool", "paid 2", tool_call_id="c1").to_json()}),
        ("message", {"message": Message("assistant", "done").to_json(), "model_cursor": 2}),
        ("metadata", {"metadata": {"a": 1}}),
    )
    assert [message.role for message in state.session.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert state.steps == [
        Step(0, "tool_call", "pay -> paid 1"), Step(1, "tool_call", "pay -> paid 2"), Step(2, "final", "done"),
    ]  # fmt: skip
    assert (state.model_cursor, state.session.metadata, state.length) == (2, {"a": 1}, 5)
    assert state.chain == "digest 4"


def test_a_call_is_in_doubt_from_its_intent_to_its_result():
    """By its index, since two calls of one message may have one id."""
    message = ("message", {"message": CALLS.to_json()})
    first, second = (("intent", {"call": n, "key": f"k{n}", "effect": "idempotent"}) for n in (0, 1))
    result = ("message", {"message": Message("tool", "paid", tool_call_id="c1").to_json()})
    k0, k1 = (Doubt(f"k{n}", "idempotent") for n in (0, 1))
    assert applied(message, first).in_doubt == {0: k0}
    assert applied(message, first, second).in_doubt == {0: k0, 1: k1}
    assert applied(message, first, second, result).in_doubt == {1: k1}
    assert applied(message, first, result, second, result).in_doubt == {}
    assert applied(message, first, second, ("resolved", {"call": 0})).in_doubt == {1: k1}


def test_a_lease_is_the_newest_one():
    """Or none."""
    lease = {"holder": "w1", "seconds": 0.5}
    assert applied(("lease", {"lease": lease})).lease == lease
    assert applied(("lease", {"lease": lease})).holder == "w1"
    assert applied(("lease", {"lease": lease}), ("lease", {"lease": None})).holder is None


@pytest.mark.parametrize(
    "lease",
    [
        {"seconds": 1}, {"holder": "w1"}, {"holder": 1, "seconds": 1}, {"holder": "w1", "seconds": "soon"}, "w1", [],
        {"holder": "w1", "seconds": None}, {"holder": "w1", "seconds": 0}, {"holder": "w1", "seconds": 1e300},
        {"holder": "w1", "seconds": True}, {"holder": "w1", "seconds": 10**400}, {"holder": "w1", "seconds": 1, "x": 1},
    ],
)  # fmt: skip
def test_a_lease_that_nobody_could_wait_for_is_refused(lease: object):
    """Else nobody could ever tell when the session is free again."""
    with pytest.raises(InvalidValue, match="lease"):
        applied(("lease", {"lease": lease}))


def test_a_state_comes_back_equal():
    """Through the body of a record: whatever is in it."""
    state = applied(
        ("message", {"message": CALLS.to_json(), "model_cursor": 1}),
        ("intent", {"call": 1, "key": "k1", "effect": "idempotent"}),
        ("lease", {"lease": {"holder": "w1", "seconds": 3}}),
        ("metadata", {"metadata": {"标签": ["a"]}}),
    )
    line, _ = encode(Record(state.length, "state", "w1", state.to_body()), NO_DIGEST)
    assert restore(decode(line, NO_DIGEST, state.length)[0]) == state
