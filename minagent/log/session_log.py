"""A session as an append-only log: what is new is appended; a checkpoint is a cache of what came before.

    log = SessionLog.begin(FileStore("sessions"), session, model.cursor)
    step_once(agent, session, model, steps, log)        # written down while it happens
    ...
    log = SessionLog.resume(FileStore("sessions"), "demo")
    state = log.state                                   # a copy: session, model_cursor, steps, ...

A step costs the same after 10,000 steps as after 10. The whole is written by `compact_if_grown`, when the log is as
large as the checkpoint before it: so all that is ever written grows in proportion to the session.

Source: chapters 7.3.6 and 7.3.8.
"""

import contextlib
import os
import warnings
from collections.abc import Sequence
from typing import Any

from minagent.agent import Recorder, Step
from minagent.document import check_cursor
from minagent.errors import InvalidValue
from minagent.log.doubt import Verdict, settled
from minagent.log.errors import AppendUnknown, Conflict, LeaseLost, LogError
from minagent.log.new_records import Draft, drafts_of_verdict, drafts_of_what_is_new
from minagent.log.records import NO_DIGEST, Record, State, apply, encode, encode_state, is_good, restore
from minagent.log.replay import ResumeReport, load
from minagent.log.stores.base import KEPT, Store
from minagent.messages import Message, ToolCall, check_sequence, newest_exchange, pending_calls
from minagent.models import Reply
from minagent.session import Session
from minagent.tools import Effect, ToolRegistry


class SessionLog(Recorder):
    """One session's log, as one writer sees it. `writer` is an id that no other process ever has; a new one if None."""

    def __init__(self, store: Store, session_id: str, writer: str | None = None) -> None:
        self.store = store
        self.session_id = session_id
        self.writer = os.urandom(16).hex() if writer is None else writer
        if type(self.writer) is not str or not self.writer:
            raise InvalidValue("writer", "an id that no other process ever has; without one, it is made")
        self.report = ResumeReport(None, 0)
        self._state: State | None = None  # what the log says; None if that has to be read from the store
        self._seen: list[Message] = []  # the caller's messages that are as the log says, but for the newest
        self._leased = False  # whether we have the lease, as far as we knew before we read again
        self._grown = 0  # bytes of records since the newest checkpoint
        self._checkpoint_bytes = 0

    @property
    def state(self) -> State:
        """What the log says now: a copy, for whoever wants to go on with it."""
        current = self._current()
        return restore(Record(current.length, "state", self.writer, current.to_body()))

    @property
    def length(self) -> int:
        """How many records it has, as far as we know."""
        return self._current().length

    @property
    def lease(self) -> dict[str, Any] | None:
        """Who may write (see `lease`), as far as we know; None if everybody may."""
        lease = self._current().lease
        return lease and {**lease}

    def _current(self) -> State:
        if self._state is None:
            self._state, self.report = load(self.store, self.session_id)
            self._seen, self._leased = [], self._leased or self._state.holder == self.writer
            self._grown, self._checkpoint_bytes = self.report.replayed_bytes, self.report.checkpoint_bytes
        return self._state

    @classmethod
    def begin(
        cls, store: Store, session: Session | State, model_cursor: int | None = None, *,
        steps: Sequence[Step] = (), writer: str | None = None, incarnation: str | None = None,
    ) -> "SessionLog":  # fmt: skip
        """Write the first record: of a new session, or of a State of another log, with all that it knows.

        `incarnation` is an id that no other session ever had; one is made, unless output is to be the same again.

        Raises:
            InvalidValue, InvalidMessages: the session could not be read back; or it has open calls, and only a State
                says which of them are in doubt. Nothing was written.
            Conflict: there is a session of this id already: resume it.
        """
        if isinstance(session, Session) and pending_calls(session.messages):
            raise InvalidValue("messages", "calls are open: begin from the State of the log that they come from")
        new = incarnation or os.urandom(16).hex(), check_cursor(model_cursor), list(steps)
        state = session if isinstance(session, State) else State(session, *new)
        check_sequence(state.session.messages)
        body = {**state.to_body(), "lease": None, "chain": NO_DIGEST}
        there = store.read(state.session.id)
        if there.lines:
            raise Conflict(0, there.length, f"there is a session {state.session.id!r} already; resume it")
        log = cls(store, state.session.id, writer)
        log._state = restore(Record(there.length, "state", log.writer, body))
        log.append(("state", body))
        return log

    @classmethod
    def resume(cls, store: Store, session_id: str, *, writer: str | None = None) -> "SessionLog":
        """Take the newest checkpoint that is good, and replay the records after it.

        Raises:
            LogMissing: there is no session of this id.
            LogDamaged: a record is damaged, or records are missing; the error says which, and where.
            LogTooNew: a record is newer than this version of minagent.
        """
        log = cls(store, session_id, writer)
        log._current()
        return log

    def refresh(self) -> None:
        """Take in what other writers have appended."""
        known = self._state
        if known is None or self.store.read(self.session_id, known.length).length != known.length:
            self._state = None
            self._current()

    def check_lease(self) -> None:
        """Raise LeaseLost if another writer has the lease, or has had it since we had it, as far as we know."""
        holder = self._current().holder
        if holder != self.writer and (holder is not None or self._leased):
            raise LeaseLost(holder)

    def record(self, session: Session, model_cursor: int | None) -> None:
        """Append what is new in `session`: its new messages, and its metadata if they are others; in one append.

        Raises:
            InvalidValue, InvalidMessages: what the log knows was changed, or something new could not be read back.
            Conflict, LeaseLost: another writer was first, or has the lease of this session, or had it meanwhile.
            OSError: the store refused. In each of these cases nothing was written.
            AppendUnknown: perhaps it was; resume to find out.
        """
        if drafts := self._new_records(session, model_cursor):
            self.append(*drafts)

    def _new_records(self, session: Session, model_cursor: int | None) -> list[Draft]:
        known, seen = self._current().session, len(self._seen)
        drafts = drafts_of_what_is_new(known, session, model_cursor)
        # That these are the same objects as before is seen in less time than a model's copy of them takes to make.
        old, count = session.messages, len(known.messages)
        if old[:seen] != self._seen or old[seen:count] != known.messages[seen:]:
            at = next(i for i, message in enumerate(known.messages) if message != old[i])
            raise InvalidValue(f"messages[{at}]", "the log holds another one, and cannot change it: go on from `state`")
        self._seen += old[seen:count][:-1]
        return drafts

    def record_intent(self, session: Session, model_cursor: int | None, call: int, effect: Effect) -> str:
        """Append what is new, and that a tool is about to run: that of a call, by its index in the model's message.

        Returns the key for the tool, made of the session's incarnation, the number of that message, and the index: no
        other call ever has it. Raises as `record` does.
        """
        asker = len(session.messages) - len(newest_exchange(session.messages))
        key = f"{self._current().incarnation}-{asker}-{call}"
        self.append(*self._new_records(session, model_cursor), ("intent", {"call": call, "key": key, "effect": effect}))
        return key

    def answered(self, session: Session, model_cursor: int | None, reply: Reply) -> None:
        """Append a plain answer; one that calls tools is appended with the first intent. Raise as `record` does."""
        if not reply.message.tool_calls:
            self.record(session, model_cursor)

    def run(self, tools: ToolRegistry, session: Session, cursor: int | None, index: int, call: ToolCall) -> str:
        """Run a call, or find out what became of it; its result is appended with what comes next. May raise InDoubt."""
        doubt = self._current().in_doubt.get(index)
        if doubt is not None and (result := settled(tools, call, doubt)) is not None:
            return result
        (effect,) = tools.effects((call,))
        if effect == "read_only":
            self.record(session, cursor)
            return tools.call(call)
        return tools.call(call, self.record_intent(session, cursor, index, effect))

    def resolve(self, key: str, verdict: Verdict) -> None:
        """Append what somebody has found out about the call in doubt that has this key; continue from `state`.

        After `Happened` its result is known; after `DidNotHappen` the call is open, and the next step runs it; after
        `Unknown` it is not run, and the model is told that nobody knows. Raises as `record` does.
        """
        self.append(*drafts_of_verdict(self._current(), key, verdict))

    def append(self, *drafts: Draft) -> None:
        """Append records, in one append, unless another has the lease (or to take it over); raise as `record` does."""
        if any(kind != "lease" for kind, _ in drafts):
            self.check_lease()
        state = self._current()
        scratch, lines = state.scratch(), list[bytes]()
        for kind, body in drafts:
            record = Record(scratch.length, kind, self.writer, body)
            line, digest = encode(record, scratch.chain)
            apply(scratch, record, digest)
            lines.append(line)
        # From here on the store knows better than this object, until the append has returned. An interrupt, or
        # an append of unknown outcome, leaves it so: the next use reads the store.
        self._state = None
        try:
            self.store.append(self.session_id, lines, state.length)
        except (Conflict, OSError) as error:  # nothing was added
            if isinstance(error, Conflict) and self._leased:
                self.check_lease()  # reads again: others append nothing while we have the lease, so we had it too long
            self._state = state
            raise
        state.commit(scratch)
        self._grown += sum(map(len, lines))
        self._state, self._leased = state, state.holder == self.writer

    def checkpoint(self) -> None:
        """Write the whole state, so that a resume need not replay what came before."""
        state = self._current()
        for number, document in self.store.checkpoints(self.session_id):
            if not is_good(number, document):
                # The store keeps the newest, and would keep this one rather than the good one before it. So it is
                # made again, from that one and the records; if we know as many.
                with contextlib.suppress(LogError, InvalidValue):
                    self._put_checkpoint(self.at(number))
        self._grown, self._checkpoint_bytes = 0, self._put_checkpoint(state)

    def _put_checkpoint(self, state: State) -> int:
        document = encode_state(state, self.writer)
        self.store.put_checkpoint(self.session_id, state.length, document)
        return len(document)

    def compact(self) -> None:
        """Write a checkpoint, and remove the records before the oldest one that may still have to be loaded."""
        self.checkpoint()
        good = [number for number, document in self.store.checkpoints(self.session_id) if is_good(number, document)]
        if len(good) >= KEPT:
            self.store.truncate_before(self.session_id, good[-1])

    def compact_if_grown(self) -> None:
        """Compact if the records since the newest checkpoint are as large as it: so the sum grows with the session."""
        self._current()
        if self._grown >= self._checkpoint_bytes:
            try:
                self.compact()
            except (OSError, AppendUnknown) as error:  # it only shortens a replay; the records are safe
                warnings.warn(f"the log of {self.session_id!r} was not compacted: {error}", stacklevel=2)

    def at(self, number: int) -> State:
        """Return the state before record `number`; raise LogDamaged if compaction has removed what that needs."""
        if number > self._current().length:
            raise InvalidValue("number", f"the log has {self._current().length} records")
        return load(self.store, self.session_id, number)[0]
