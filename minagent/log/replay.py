"""Reading a session back from a store: the newest checkpoint that is good, and the records after it.

Source: chapters 7.3.6 and 7.3.8.
"""

from dataclasses import dataclass

from minagent.errors import InvalidValue
from minagent.log.errors import LogDamaged, LogError, LogMissing
from minagent.log.records import NO_DIGEST, State, apply, decode, decode_state, restore
from minagent.log.stores.base import Store


@dataclass(frozen=True)
class ResumeReport:
    """What resuming found."""

    checkpoint: int | None  # the number of the one that was taken; None if the log was replayed from its start
    replayed: int  # how many records came after it
    passed_over: tuple[str, ...] = ()  # newer checkpoints that could not be loaded, and why: the records replace them
    torn: int = 0  # bytes at the end that are not a whole append: it was cut off, and never acknowledged
    replayed_bytes: int = 0
    checkpoint_bytes: int = 0


def load(store: Store, session_id: str, until: int | None = None) -> tuple[State, ResumeReport]:
    """Read the state of a session, before record `until` if that is given; raise as `SessionLog.resume` does."""
    for _ in range(10):
        state, passed_over, size = _newest_checkpoint(store, session_id, until)
        checkpoint = None if state is None else state.length
        records = store.read(session_id, checkpoint or 0)
        if checkpoint is None or records.first <= checkpoint:
            break  # else somebody has compacted the log between the two looks: look again
    if records.length < (checkpoint or 0):
        raise LogDamaged(f"{session_id!r} has {records.length} records, a checkpoint of {checkpoint}: some are gone")
    lines = records.lines if until is None else records.lines[: max(until - records.first, 0)]
    for number, line in enumerate(lines, records.first):
        try:
            state = _replayed(state, line, number)
        except LogError as error:
            before = f"SessionLog.begin(another_store, load(store, {session_id!r}, until={number})[0])"
            said = f"record {number} of {session_id!r}: {error} (to go on from what comes before it: {before})"
            raise type(error)(said) from error
    if state is None:
        if passed_over or records.lines:
            raise LogDamaged(f"{session_id!r}: its beginning is gone, and no checkpoint can be loaded: {passed_over}")
        raise LogMissing(f"there is no session {session_id!r} in this store")
    return state, ResumeReport(checkpoint, len(lines), tuple(passed_over), records.torn, sum(map(len, lines)), size)


def _newest_checkpoint(store: Store, session_id: str, until: int | None) -> tuple[State | None, list[str], int]:
    """Return the state, which ones were passed over, and the size in bytes. One that is too new is not passed over."""
    passed_over: list[str] = []
    for number, document in store.checkpoints(session_id):
        if until is None or number <= until:
            try:
                return decode_state(document, number), passed_over, len(document)
            except LogDamaged as error:
                passed_over.append(f"checkpoint {number}: {error}")
    return None, passed_over, 0


def _replayed(state: State | None, line: bytes, number: int) -> State:
    """Return the state after one more record."""
    if state is None:
        record, digest = decode(line, NO_DIGEST, number)
        if record.kind != "state":
            raise LogDamaged("the records before it are gone, and there is no checkpoint of them")
        state = restore(record)
    elif number != state.length:
        raise LogDamaged(f"record {state.length} should come here")
    else:
        record, digest = decode(line, state.chain, number)
    try:
        apply(state, record, digest)
    except InvalidValue as error:
        raise LogDamaged(f"its digest is right, and yet it does not fit: {error}") from error
    return state
