"""The records of a session log: bytes to values and back, and the state that they add up to. No I/O.

A record is one line of JSON. These three are a session with one question, the model's answer, and a tool's result:

    {"v":1,"seq":0,"kind":"state","writer":"w1","body":{"session":{...},"model_cursor":0,...},"sha256":"50d..."}
    {"v":1,"seq":1,"kind":"message","writer":"w1","body":{"message":{...},"model_cursor":1},"sha256":"c41..."}
    {"v":1,"seq":2,"kind":"message","writer":"w1","body":{"message":{...}},"sha256":"9b0..."}

    v         the version of this format, an integer
    seq       the number of the record in its log, from 0
    kind      what the body is, see below
    writer    an id of the process that wrote it: after an unclear failure it knows its own records by that
    sha256    64 hex digits: SHA-256 of the digest before it, and of this line without this field, which is the last.
              The first record has 64 zeros before it. So a record that is changed, lost or moved breaks the chain.

The kinds, and their bodies:

    state     everything: `session` as Session.snapshot gives it, `incarnation` (an id of its own for each session that
              is begun), `model_cursor`, `steps`, `in_doubt`, `lease`, `chain`. Begins a log. A checkpoint is one such
              record, too, which stands for all before its number; `chain` is the digest of the last of them.
    message   `message`, appended to the session; `model_cursor` after it, if it is the model's
    metadata  `metadata`, in place of what was there
    intent    a tool is about to run: `call`, its index in the model's message, the `key` that it is given, and the
              `effect` that it has declared by now. Until its result follows, the call is in doubt
    resolved  somebody found out about a call in doubt: `call`. A message with its result follows, or else it is open
              again, and runs
    lease     `lease`: null, or who may write: the `holder`, a writer, until it has appended nothing for `seconds`

Source: chapters 7.3.6 and 7.3.8.
"""

import hashlib
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from minagent.agent import Step, add_result
from minagent.errors import InvalidValue
from minagent.log.errors import LogDamaged, LogTooNew
from minagent.messages import Message, newest_exchange, open_calls
from minagent.plain_json import compact, parse, plain, require, require_fields
from minagent.session import Session

Kind = Literal["state", "message", "metadata", "intent", "resolved", "lease"]

VERSION = 1
NO_DIGEST = "0" * 64  # what comes before the first record


@dataclass(frozen=True)
class Record:
    """One entry of a log."""

    seq: int
    kind: Kind
    writer: str
    body: dict[str, Any]


LEASE = {"holder": (str,), "seconds": (int, float)}
LONGEST_LEASE = 10**7  # seconds: one that nobody lives to see the end of would lock a session for ever


def encode(record: Record, before: str) -> tuple[bytes, str]:
    """Return the line of a record, without a line break, and its digest. `before` is the digest before it.

    The body is plain JSON: what comes into it was checked there.
    """
    unsigned = compact({"v": VERSION, **vars(record)})
    digest = hashlib.sha256(before.encode() + unsigned).hexdigest()
    return unsigned[:-1] + _signature(digest), digest


def decode(line: bytes, before: str, seq: int) -> tuple[Record, str]:
    """Return the record that a line holds, and its digest; the inverse of `encode`, for the place `seq` of a log.

    Raises:
        LogDamaged: the line is not the one that was written there.
        LogTooNew: it is, in a format that is newer than this version of minagent.
    """
    unsigned = line[: -len(_signature(NO_DIGEST))] + b"}"
    digest = hashlib.sha256(before.encode() + unsigned).hexdigest()
    if unsigned[:-1] + _signature(digest) != line:
        raise LogDamaged("the digest does not fit: the line is damaged, or the one before is not the one that was")
    fields = parse(unsigned)
    if (version := fields.pop("v")) > VERSION:
        raise LogTooNew(f"format version {version}, and this minagent knows versions up to {VERSION}: update minagent")
    if fields["seq"] != seq:
        raise LogDamaged(f"it says that it is record {fields['seq']}")
    return Record(**fields), digest


def _signature(digest: str) -> bytes:
    return f',"sha256":"{digest}"}}'.encode()


class Doubt(NamedTuple):
    """A call in doubt: the key that its tool was given, and what that had declared."""

    key: str
    effect: str


@dataclass
class State:
    """What the records of a log add up to."""

    session: Session
    incarnation: str
    model_cursor: int | None
    steps: list[Step]
    in_doubt: dict[int, Doubt] = field(default_factory=dict)
    """Calls of the model's newest message whose tool was about to run, and of whose result nothing is known."""
    lease: dict[str, Any] | None = None
    length: int = 0  # how many records it is made of
    chain: str = NO_DIGEST  # the digest of the last of them

    @property
    def holder(self) -> str | None:
        """The writer that has the lease; None if nobody has it."""
        return None if self.lease is None else self.lease["holder"]

    def to_body(self) -> dict[str, Any]:
        """Return the body of a `state` record."""
        return {
            "session": self.session.snapshot(),
            "incarnation": self.incarnation,
            "model_cursor": self.model_cursor,
            "steps": [vars(step).copy() for step in self.steps],
            "in_doubt": {str(call): list(doubt) for call, doubt in self.in_doubt.items()},
            "lease": self.lease and {**self.lease},
            "chain": self.chain,
        }

    def scratch(self) -> "State":
        """Return a scratch copy of the end. Records are applied to it first, so a refused append changes nothing."""
        session = self.session
        turn = Session(session.id, list(newest_exchange(session.messages)), session.created_at, session.metadata)
        doubt = dict(self.in_doubt)
        return State(turn, self.incarnation, self.model_cursor, [], doubt, self.lease, self.length, self.chain)

    def commit(self, scratch: "State") -> None:
        """Add what was applied to the scratch copy."""
        session = self.session
        session.messages += scratch.session.messages[len(newest_exchange(session.messages)) :]
        session.metadata = scratch.session.metadata
        for step in scratch.steps:
            self.steps.append(Step(len(self.steps), step.kind, step.detail))
        self.model_cursor, self.in_doubt, self.lease = scratch.model_cursor, scratch.in_doubt, scratch.lease
        self.length, self.chain = scratch.length, scratch.chain


def restore(record: Record) -> State:
    """Return the state that a `state` record holds, which stands for all records before its number."""
    body = record.body
    return State(
        session=Session.restore(body["session"]),
        incarnation=body["incarnation"],
        model_cursor=body["model_cursor"],
        steps=[Step(**step) for step in body["steps"]],
        in_doubt={int(call): Doubt(*doubt) for call, doubt in body["in_doubt"].items()},
        lease=body["lease"],
        length=record.seq,
        chain=body["chain"],
    )


def encode_state(state: State, writer: str) -> bytes:
    """Return a state as a checkpoint: a `state` record that has no digest before it."""
    document, _ = encode(Record(state.length, "state", writer, state.to_body()), NO_DIGEST)
    return document


def decode_state(document: bytes, number: int) -> State:
    """Return the state that a checkpoint of the records before `number` holds; raise as `decode` does."""
    record, _ = decode(document, NO_DIGEST, number)
    return restore(record)


def is_good(number: int, document: bytes) -> bool:
    """Return whether a checkpoint of the records before `number` is what was written."""
    try:
        decode_state(document, number)
    except LogDamaged:
        return False
    return True


def apply(state: State, record: Record, digest: str) -> None:
    """Add to the state what a record says, and take its digest as the end of the chain.

    Raises:
        InvalidValue: the record does not fit the state. That is then not what it was before: throw it away.
    """
    body = record.body
    try:
        match record.kind:
            case "message":
                _apply_message(state, Message.from_json(body["message"], f"record {record.seq}"))
                state.model_cursor = body.get("model_cursor", state.model_cursor)
            case "metadata":
                state.session.metadata = plain(require(body["metadata"], dict, "metadata"), "metadata")
            case "intent":
                dict(open_calls(state.session.messages))[body["call"]]  # a call that is open: else nothing can run
                state.in_doubt[body["call"]] = Doubt(body["key"], body["effect"])
            case "resolved":
                del state.in_doubt[body["call"]]
            case "lease":
                state.lease = _checked_lease(body["lease"])
            case "state":
                pass  # `restore` has made the state of it
            case _:
                raise InvalidValue(f"record {record.seq}", f"there is no kind {record.kind!r}")
    except (LookupError, TypeError) as error:
        raise InvalidValue(f"record {record.seq}", f"does not fit what comes before it: {error!r}") from error
    state.length, state.chain = record.seq + 1, digest


def _checked_lease(lease: Any) -> dict[str, Any] | None:
    """Return a copy of a lease; raise InvalidValue if nobody could tell from it who has it, or for how long."""
    if lease is None:
        return None
    return {**require_fields(lease, LEASE, "lease"), "seconds": check_lease_seconds(lease["seconds"])}


def check_lease_seconds(seconds: Any) -> float:
    """Return for how long a lease lasts; raise InvalidValue if it is not above 0, or too long."""
    value: float = require(seconds, (int, float), "lease.seconds")
    if not 0 < value <= LONGEST_LEASE:
        raise InvalidValue("lease.seconds", f"more than 0 and at most {LONGEST_LEASE}, not {value!r}")
    return value


def _apply_message(state: State, message: Message) -> None:
    if message.role == "assistant":
        state.in_doubt.clear()
        state.steps += [] if message.tool_calls else [Step(len(state.steps), "final", message.content or "")]
    if message.role == "tool":
        calls = reversed(open_calls(state.session.messages))  # so that the first of an id stays
        index, call = {call.id: (index, call) for index, call in calls}[message.tool_call_id or ""]
        state.in_doubt.pop(index, None)
        add_result(state.session.messages, state.steps, call, message.content or "")
    else:
        state.session.messages.append(message)
