"""What a session's log tells of what is in its store: that it is damaged, or of another version.

The checks of `check_store` for these two requirements; they are as in `store_contract`. The damage is done in two ways:
to what the store returns, as by a bad disk; and to what it is given.
"""

import hashlib
from collections.abc import Callable, Iterator
from functools import partial

from minagent import Message, Session, Step, ToolCall
from minagent.lab.any_store.session_checks import begun, contents
from minagent.lab.faults.damage import flip
from minagent.log import LogDamaged, LogTooNew, MemoryStore, SessionLog
from minagent.log.contract import Expectation, OpenStore, refuses
from minagent.log.records import State
from minagent.log.stores.base import Store

Lines = list[bytes]
Change = Callable[[Lines], Lines]


def _seen(name: str, lines: Lines, *checkpoints: tuple[int, bytes]) -> MemoryStore:
    """Return what of a session is seen on a bad disk, in a store that adds nothing to it."""
    seen = MemoryStore()
    seen.append(name, lines, 0)
    for number, document in checkpoints:
        seen.put_checkpoint(name, number, document)
    return seen


def _resume(store: Store, session_id: str) -> SessionLog:
    return SessionLog.resume(store, session_id, writer="w2")


def _is_told(what: str, store: Store, session_id: str) -> bool:
    """Return whether a resume raises LogDamaged, with these words in it."""
    try:
        _resume(store, session_id)
    except LogDamaged as error:
        return what in str(error)
    return False


def _put(place: int, *new: bytes) -> Change:
    """Return the change that puts these lines in the place of as many."""
    return lambda lines: [*lines[:place], *new, *lines[place + len(new) :]]


def _remove(place: int) -> Change:
    """Return the change that removes a line."""
    return lambda lines: lines[:place] + lines[place + 1 :]


def damaged_records_are_told(store: Store, _: OpenStore) -> Iterator[Expectation]:
    """Each record changed in each of its characters, removed, and swapped with its neighbour: LogDamaged names it.

    The loss of the last one shows by a checkpoint alone: see below.
    """
    name = begun(store, "verified", steps=1).session_id
    lines = store.read(name).lines
    for number, line in enumerate(lines):
        changes = [_put(number, flip(line, 8 * place)) for place in range(len(line))]
        if number + 1 < len(lines):
            changes += [_remove(number), _put(number, lines[number + 1], line)]
        for change in changes:
            told = _is_told(f"record {number} of ", _seen(name, change(lines)), name)
            yield "LogDamaged names the record that was changed, lost or moved", told
        stored = f"{name}-{number}"
        store.append(stored, _put(number, flip(line, 0))(lines), 0)
        told = _is_told(f"record {number} of ", store, stored)
        yield "LogDamaged names the record that was damaged when it was appended", told


def damaged_checkpoints_are_told(store: Store, _: OpenStore) -> Iterator[Expectation]:
    """Each character of a checkpoint changed: the records make up for it, or LogDamaged names it."""
    log = begun(store, "verified-checkpoint", steps=1)
    log.checkpoint()
    name, wanted = log.session_id, log.state
    lines, (number, document) = store.read(name).lines, store.checkpoints(name)[0]
    what = f"checkpoint {number}"
    for place in range(len(document)):
        resumed = _resume(_seen(name, lines, (number, flip(document, 8 * place))), name)
        told = what in "".join(resumed.report.passed_over)
        yield "a damaged checkpoint is told, and the records make up for it", told and resumed.state == wanted
    told = _is_told(what, _seen(name, [], (number, flip(document, 0))), name)
    yield "LogDamaged names a damaged checkpoint if there are no records", told
    told = _is_told(f"a checkpoint of {number}", _seen(name, _remove(number - 1)(lines), (number, document)), name)
    yield "LogDamaged, where the last record before a checkpoint is lost", told


VERSION_1 = (
    b'{"v":1,"seq":0,"kind":"state","writer":"w1","body":{"session":{"id":"old","created_at":"2026-01-01T00:00:00Z",'
    b'"metadata":{},"messages":[{"role":"user","content":"2+3?"}]},"incarnation":"i1","model_cursor":0,"steps":[],'
    b'"in_doubt":{},"lease":null,"chain":"0000000000000000000000000000000000000000000000000000000000000000"}',
    b'{"v":1,"seq":1,"kind":"message","writer":"w1","body":{"message":{"role":"assistant","content":"","tool_calls":'
    b'[{"id":"c1","name":"add","arguments":{"a":2,"b":3}}]},"model_cursor":1}',
    b'{"v":1,"seq":2,"kind":"intent","writer":"w1","body":{"call":0,"key":"i1-1-0","effect":"non_idempotent"}',
    b'{"v":1,"seq":3,"kind":"message","writer":"w1","body":{"message":{"role":"tool","content":"5",'
    b'"tool_call_id":"c1"}}',
    b'{"v":1,"seq":4,"kind":"metadata","writer":"w1","body":{"metadata":{"n":1}}',
)
"""A log of version 1, as it stands in a store, but for the digests at the ends of the lines."""

LAST_DIGEST = "73cc9688dadb588034c6f45ccf99d416fdce51cac6224938462692890d3a7df4"  # of this log

NEWER_RECORD = b'{"v":2,"seq":5,"kind":"summary","text":"2+3=5"'
NEWER_CHECKPOINT = b'{"v":2,"seq":5,"summary":"2+3=5"'
NO_DIGEST = "0" * 64


def signed(unsigned: bytes, before: str) -> tuple[bytes, str]:
    """Return a line with its digest: the format written once more, lest a change of it go unnoticed here."""
    digest = hashlib.sha256(before.encode() + unsigned + b"}").hexdigest()
    return unsigned + b',"sha256":"%s"}' % digest.encode(), digest


def old_log() -> Lines:
    """Return the lines of the log of version 1."""
    lines, digest = [], NO_DIGEST
    for unsigned in VERSION_1:
        line, digest = signed(unsigned, digest)
        lines.append(line)
    return lines


def what_it_says() -> State:
    """Return what the log of version 1 says."""
    asked = Message("assistant", "", (ToolCall("c1", "add", {"a": 2, "b": 3}),))
    messages = [Message("user", "2+3?"), asked, Message("tool", "5", tool_call_id="c1")]
    session = Session("old", messages, "2026-01-01T00:00:00Z", {"n": 1})
    return State(session, "i1", 1, [Step(0, "tool_call", "add -> 5")], length=len(VERSION_1), chain=LAST_DIGEST)


def old_data_is_read(store: Store, reopen: OpenStore) -> Iterator[Expectation]:
    """A log of version 1, the first, that was written down as bytes."""
    store.append("old", old_log(), 0)
    yield "a log of version 1 is read", _resume(store, "old").state == what_it_says()
    yield "reopened: it still is", _resume(reopen(), "old").state == what_it_says()


def newer_data_is_refused(store: Store, _: OpenStore) -> Iterator[Expectation]:
    """A record and a checkpoint of a version to come, with the right digests."""
    store.append("newer-record", [*old_log(), signed(NEWER_RECORD, LAST_DIGEST)[0]], 0)
    store.append("newer-checkpoint", old_log(), 0)
    store.put_checkpoint("newer-checkpoint", len(VERSION_1), signed(NEWER_CHECKPOINT, NO_DIGEST)[0])
    before = contents(store)
    for name in ("newer-record", "newer-checkpoint"):
        yield f"LogTooNew for a {name.replace('-', ' ')}", refuses(LogTooNew, partial(_resume, store, name))
    yield "what is too new is left as it is", contents(store) == before
