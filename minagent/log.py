"""A session as an append-only log: what is new is appended; a checkpoint is a cache of what came before.

    log = SessionLog.begin(FileStore("sessions"), session, model.cursor, writer="w1")
    step_once(agent, session, model, steps)
    log.record(session, model.cursor)               # the new messages, in one append
    ...
    log = SessionLog.resume(FileStore("sessions"), "demo", writer="w2")
    session, steps = log.state.session, log.state.steps

A step costs the same after 10,000 steps as after 10. The whole is written from time to time only: `compact_if_grown`
does so when the log has grown as large again as the checkpoint before, so all that is ever written grows in proportion
to the session.

Source: chapters 7.3.6 and 7.3.8.
"""

import contextlib
import copy
from dataclasses import dataclass
from typing import Any

from minagent.errors import AppendUnknown, Conflict, InvalidValue, LogDamaged, LogError, LogMissing
from minagent.messages import check_sequence, newest_turn
from minagent.records import NO_DIGEST, Kind, Record, State, apply, decode, encode, restore
from minagent.session import Session
from minagent.stores.base import KEPT, Store


@dataclass(frozen=True)
class ResumeReport:
    """What resuming found."""

    checkpoint: int | None
    """The number of the checkpoint that was taken; None if the log was replayed from its start."""
    replayed: int
    """How many records came after it."""
    passed_over: tuple[str, ...] = ()
    """The newer checkpoints that could not be loaded, each with the reason. The records make up for them."""
    torn: int = 0
    """Bytes at the end that are no whole append: it was cut off, and never acknowledged."""


class SessionLog:
    """One session's log, as one writer sees it. `state` is what the log says; nobody but the log changes it.

    `writer` is an id of this process: no two writers ever have the same.
    """

    def __init__(self, store: Store, writer: str, state: State, report: ResumeReport) -> None:
        self.store = store
        self.writer = writer
        self.state = state
        self.report = report
        self._grown = 0
        """Bytes of records since the newest checkpoint."""
        self._checkpoint_size = 0

    @classmethod
    def begin(
        cls, store: Store, session: Session, model_cursor: int | None, *, writer: str, incarnation: str
    ) -> "SessionLog":
        """Write the first record of a session. `incarnation` is an id that no other session ever had.

        Raises:
            InvalidValue, InvalidMessages: the session could not be read back; nothing was written.
            Conflict: there is a session of this id already.
        """
        session.check_storable()
        there = store.read(session.id)
        if there.lines:
            raise Conflict(there.first, there.length)
        state = State(copy.deepcopy(session), incarnation, model_cursor, [], length=there.length)
        log = cls(store, writer, state, ResumeReport(None, 0))
        log.append(("state", state.to_body()))
        return log

    @classmethod
    def resume(cls, store: Store, session_id: str, *, writer: str) -> "SessionLog":
        """Take the newest checkpoint that is good, and replay the records after it.

        Raises:
            LogMissing: there is no session of this id.
            LogDamaged: a record is damaged, or records are missing; the error says which, and where.
            LogTooNew: a record is newer than this version of minagent.
        """
        state, report = load(store, session_id)
        return cls(store, writer, state, report)

    def record(self, session: Session, model_cursor: int | None) -> None:
        """Append what is new in `session`: its new messages, and its metadata if they are others; in one append.

        Raises:
            InvalidValue: what the log knows already was changed, or a value would not come back equal.
            InvalidMessages: the messages contradict themselves; the error lists every problem.
            Conflict: another writer was first.
            OSError: the store refused. In each of these cases nothing was written.
            AppendUnknown: perhaps it was; resume to find out.
        """
        known = self.state.session
        new = session.messages[len(known.messages) :]
        _check_same_beginning(known, session)
        check_sequence([*newest_turn(known.messages), *new])
        entries: list[tuple[Kind, dict[str, Any]]] = [("message", {"message": message.to_json()}) for message in new]
        if entries:
            entries[-1][1]["model_cursor"] = model_cursor
        if session.metadata != known.metadata:
            entries.append(("metadata", {"metadata": copy.deepcopy(session.metadata)}))
        self.append(*entries)

    def append(self, *entries: tuple[Kind, dict[str, Any]]) -> None:
        """Append records of these kinds and bodies, in one append; raise as `record` does."""
        lines, records = [], []
        chain = self.state.chain
        for seq, (kind, body) in enumerate(entries, self.state.length):
            record = Record(seq, kind, self.writer, body)
            line, chain = encode(record, chain)
            lines.append(line)
            records.append((record, chain))
        try:
            self.store.append(self.state.session.id, lines, self.state.length)
        except (AppendUnknown, Conflict):
            # An append of ours may have taken effect though it failed, or was interrupted before it could say so. What
            # stands there then is ours to the last byte: the writer's id is in each line.
            if not lines or self.store.read(self.state.session.id, self.state.length).lines[: len(lines)] != lines:
                raise
        for record, digest in records:
            apply(self.state, record, digest)
        self._grown += sum(map(len, lines))

    def checkpoint(self) -> None:
        """Write the whole state, so that a resume need not replay what came before."""
        for number, document in self.store.checkpoints(self.state.session.id):
            if not _is_good(number, document):
                # The store keeps the newest, and would keep this one rather than the good one before it. So it is
                # made anew, from that one and the records.
                with contextlib.suppress(LogError):
                    self._put_checkpoint(self.at(number))
        self._grown, self._checkpoint_size = 0, self._put_checkpoint(self.state)

    def _put_checkpoint(self, state: State) -> int:
        document, _ = encode(Record(state.length, "state", self.writer, state.to_body()), NO_DIGEST)
        self.store.put_checkpoint(state.session.id, state.length, document)
        return len(document)

    def compact(self) -> None:
        """Write a checkpoint, and remove the records before the oldest one that may still have to be loaded."""
        self.checkpoint()
        good = [
            number for number, document in self.store.checkpoints(self.state.session.id) if _is_good(number, document)
        ]
        if len(good) >= KEPT:
            self.store.truncate_before(self.state.session.id, good[-1])

    def compact_if_grown(self) -> None:
        """Compact if the records since the newest checkpoint are as large as it: so all of them grow with the session."""
        if self._grown >= self._checkpoint_size:
            self.compact()

    def at(self, number: int) -> State:
        """Return the state before record `number`, as it was then.

        Raises:
            LogDamaged: the records before it are gone, by compaction.
        """
        return load(self.store, self.state.session.id, number)[0]


def load(store: Store, session_id: str, until: int | None = None) -> tuple[State, ResumeReport]:
    """Read the state of a session, before record `until` if that is given; raise as `SessionLog.resume` does."""
    state, passed_over = _newest_checkpoint(store, session_id, until)
    checkpoint = None if state is None else state.length
    records = store.read(session_id, checkpoint or 0)
    if records.length < (checkpoint or 0):
        raise LogDamaged(
            f"{session_id!r} has {records.length} records, and a checkpoint of {checkpoint}: some are gone"
        )
    lines = records.lines if until is None else records.lines[: max(until - records.first, 0)]
    for number, (line, offset) in enumerate(zip(lines, records.offsets, strict=False), records.first):
        try:
            state = _replayed(state, line, number)
        except LogError as error:
            before = f"what comes before: load(store, {session_id!r}, until={number})"
            raise type(error)(f"record {number} of {session_id!r}, at byte {offset}: {error} ({before})") from error
    if state is None:
        if passed_over or records.lines:
            raise LogDamaged(f"of {session_id!r} so early nothing is left, and no good checkpoint: {passed_over}")
        raise LogMissing(f"there is no session {session_id!r} in this store")
    return state, ResumeReport(checkpoint, len(lines), tuple(passed_over), records.torn)


def _newest_checkpoint(store: Store, session_id: str, until: int | None) -> tuple[State | None, list[str]]:
    passed_over: list[str] = []
    for number, document in store.checkpoints(session_id):
        if until is None or number <= until:
            try:
                return restore(decode(document, NO_DIGEST, number)[0]), passed_over
            except LogError as error:
                passed_over.append(f"checkpoint {number}: {error}")
    return None, passed_over


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
    apply(state, record, digest)
    return state


def _check_same_beginning(known: Session, session: Session) -> None:
    """A log cannot change what it holds. Comparing the newest message that it knows costs the same in every session."""
    count = len(known.messages)
    if (session.id, session.created_at) != (known.id, known.created_at):
        raise InvalidValue("session", f"this log is of the session {known.id!r}")
    if len(session.messages) < count or session.messages[count - 1 : count] != known.messages[-1:]:
        raise InvalidValue(f"messages[{count - 1}]", "the log holds another message here, and cannot change it")


def _is_good(number: int, document: bytes) -> bool:
    try:
        restore(decode(document, NO_DIGEST, number)[0])
    except LogError:
        return False
    return True
