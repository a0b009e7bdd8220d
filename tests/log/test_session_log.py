"""The session log: what it replays, what it refuses, and that a checkpoint is nothing but a shortcut."""

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from minagent import (
    FakeModel,
    InvalidMessages,
    InvalidValue,
    Message,
    Session,
    Step,
    ToolCall,
    ToolRegistry,
    init_session,
    step_once,
)
from minagent.lab.faults.damage import flip
from minagent.lab.world.example import EXAMPLES, Example
from minagent.log import AppendUnknown, Conflict, LogDamaged, LogMissing
from minagent.log.records import State
from minagent.log.replay import load
from minagent.log.session_log import SessionLog
from minagent.log.stores.base import Records, Store
from minagent.log.stores.file import FileStore
from minagent.log.stores.json_lines import records_of
from minagent.log.stores.memory import MemoryStore
from tests.examined import Examined

ERRAND = EXAMPLES["errand"]
WHEN = "2026-01-01T00:00:00Z"
LOG = "demo.log.jsonl"


def nested(depth: int) -> Any:
    """Return lists in lists, so deep."""
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def begun(store: Store, example: Example = ERRAND, writer: str = "w1") -> SessionLog:
    """Begin a session."""
    session = init_session(example.agent(ToolRegistry()), example.task, session_id="demo", created_at=WHEN)
    return SessionLog.begin(store, session, 0, writer=writer, incarnation="i1")


def taken(log: SessionLog, example: Example = ERRAND, steps: int = 99) -> tuple[Session, FakeModel, list[Step]]:
    """Go on from what the log says, for so many steps at most, and record each of them."""
    session, trace = log.state.session, list(log.state.steps)
    model = FakeModel(example.script)
    model.cursor = log.state.model_cursor
    while steps and not session.answered:
        step_once(example.agent(ToolRegistry()), session, model, trace)
        log.record(session, model.cursor)
        steps -= 1
    return session, model, trace


def asked(log: SessionLog, question: str, answer: str) -> None:
    """Have one more turn."""
    state = log.state
    add_turn(state.session, question, answer)
    log.record(state.session, state.model_cursor)


def add_turn(session: Session, question: str, answer: str) -> None:
    """Add a question and its answer to a session."""
    session.messages += [Message("user", question), Message("assistant", answer)]
    session.metadata["turns"] = session.metadata.get("turns", 1) + 1


def test_what_was_recorded_is_what_is_resumed(store: Store):
    """Session, cursor and trace, by another writer; the trace is not stored, and comes out the same."""
    log = begun(store)
    session, model, trace = taken(log)
    again = SessionLog.resume(store, "demo", writer="w2")
    assert (again.state.session, again.state.model_cursor, again.state.steps) == (session, model.cursor, trace)
    assert again.state == log.state
    assert (again.report.checkpoint, again.report.replayed, again.report.torn) == (None, 8, 0)


def test_a_run_resumed_at_every_step_ends_as_one_that_was_never_cut(store: Store):
    """Each step by a process of its own."""
    begun(store)
    for _ in range(4):
        taken(SessionLog.resume(store, "demo", writer="w2"), steps=1)
    plain = begun(MemoryStore())
    taken(plain)
    assert SessionLog.resume(store, "demo", writer="w3").state.session == plain.state.session


def test_every_earlier_state_can_be_had(store: Store):
    """Before each record: as it was then."""
    log = begun(store)
    states = [log.state]
    for steps in range(1, 5):
        taken(log, steps=1)
        states.append(log.state)
        assert len(log.state.steps) == steps
    for state in states:
        assert log.at(state.length) == state


def test_an_append_is_the_new_messages_alone():
    """Whatever came before."""
    store = MemoryStore()
    log = begun(store)
    sizes = []
    for _ in range(3):
        before = sum(map(len, store.read("demo").lines))
        taken(log, steps=1)
        sizes.append(sum(map(len, store.read("demo").lines)) - before)
    assert max(sizes) < 1.3 * min(sizes)


@pytest.mark.parametrize("compact_after", range(13))
def test_compaction_changes_nothing_that_is_replayed(store: Store, compact_after: int):
    """After each record, and again later: calls in doubt, lease and metadata included."""
    log = begun(store)
    entries: list[tuple[Any, dict[str, Any]]] = [
        ("lease", {"lease": {"holder": "w1", "seconds": 30}}),
        ("message", {"message": ERRAND.script[1].to_json(), "model_cursor": 2}),
        ("intent", {"call": 0, "key": "k0", "effect": "idempotent"}),
        ("message", {"message": Message("tool", "charged", tool_call_id="c2").to_json()}),
        ("metadata", {"metadata": {"顾客": "Ann"}}),
        ("message", {"message": ERRAND.script[2].to_json(), "model_cursor": 3}),
        ("intent", {"call": 0, "key": "k1", "effect": "idempotent"}),
        ("resolved", {"call": 0}),
        ("intent", {"call": 0, "key": "k2", "effect": "idempotent"}),
        ("lease", {"lease": None}),
        ("metadata", {"metadata": {}}),
        ("lease", {"lease": {"holder": "w2", "seconds": 30}}),
    ]
    for number, entry in enumerate(entries):
        if number in (compact_after, compact_after + 1):  # the second has an older one to fall back to, and truncates
            log.compact()
        log.append(entry)
        assert SessionLog.resume(store, "demo", writer="w2").state == log.state
    log.compact()
    assert SessionLog.resume(store, "demo", writer="w2").state == log.state
    assert log.state.in_doubt == {0: ("k2", "idempotent")}


def test_compaction_keeps_what_an_older_checkpoint_needs(store: Store, examined: Examined):
    """The newest checkpoint is damaged: the older one and a longer replay give the same state."""
    log = begun(store)
    taken(log, steps=2)
    log.compact()
    assert store.read("demo").first == 0  # there is one checkpoint only, and it might be damaged
    taken(log, steps=1)
    log.compact()
    assert store.read("demo").first == 5
    taken(log, steps=1)
    (number, document), (older, _) = store.checkpoints("demo")
    bits = range(0, 8 * len(document), 97)
    examined("flipped bits", len(bits))
    for bit in bits:
        store.put_checkpoint("demo", number, flip(document, bit))
        again = SessionLog.resume(store, "demo", writer="w2")
        assert again.state == log.state
        assert (again.report.checkpoint, len(again.report.passed_over)) == (older, 1)


def test_records_before_the_oldest_checkpoint_are_gone_and_that_is_said(store: Store):
    """Not a shorter history in silence."""
    log = begun(store)
    taken(log, steps=2)
    log.compact()
    taken(log, steps=1)
    log.compact()
    assert log.at(5).length == 5
    with pytest.raises(LogDamaged, match="its beginning is gone, and no checkpoint can be loaded"):
        log.at(2)


def test_checkpoints_at_doubling_sizes_grow_with_the_session(store: Store):
    """A hundred turns: all that was ever written is a small multiple of the session."""
    log = begun(store)
    written = 0
    original = store.put_checkpoint

    def counting(session_id: str, number: int, document: bytes) -> None:
        nonlocal written
        written += len(document)
        original(session_id, number, document)

    store.put_checkpoint = counting  # type: ignore[method-assign]
    session, cursor = log.state.session, log.state.model_cursor
    for number in range(300):
        add_turn(session, f"question {number}" * 5, f"answer {number}" * 50)
        log.record(session, cursor)
        log.compact_if_grown()
    size = len(repr(session))
    assert written < 3 * size
    assert SessionLog.resume(store, "demo", writer="w2").state == log.state


def test_a_session_that_is_not_there_is_an_error(store: Store):
    """Never a fresh start in silence."""
    with pytest.raises(LogMissing, match="there is no session 'demo'"):
        SessionLog.resume(store, "demo", writer="w1")
    begun(store)
    store.delete("demo")
    with pytest.raises(LogMissing, match="there is no session 'demo'"):
        SessionLog.resume(store, "demo", writer="w1")


def test_a_session_is_begun_once_and_again_after_its_deletion(store: Store):
    """The second has nothing of the first, and a writer of the first is told."""
    log = begun(store)
    taken(log, steps=2)
    log.compact()
    with pytest.raises(Conflict, match="there is a session 'demo' already; resume it"):
        begun(store, writer="w2")
    store.delete("demo")
    second = begun(store, writer="w2")
    assert second.state.length == log.state.length + 2
    with pytest.raises(Conflict):
        asked(log, "still here?", "yes")
    assert SessionLog.resume(store, "demo", writer="w3").state == second.state


@pytest.mark.parametrize("between", ["append", "compact", "truncate", "delete", "begin again"])
def test_a_writer_who_slept_conflicts_or_fits(store: Store, between: str):
    """He has looked, and before he writes another one does what he pleases: nothing is overwritten, or merged."""
    log = begun(store)
    log.checkpoint()
    taken(log, steps=1)
    other = SessionLog.resume(store, "demo", writer="w2")
    if between == "append":
        asked(other, "and?", "yes")
    elif between == "compact":
        other.compact()
        assert store.read("demo").first == 1
    elif between == "truncate":
        store.truncate_before("demo", 1)
    else:
        store.delete("demo")
        if between == "begin again":
            begun(store, writer="w2")
    before = store.read("demo").lines
    if between in ("compact", "truncate"):  # what he knows is still true
        taken(log, steps=1)
        assert store.read("demo").lines[: len(before)] == before
    else:
        with pytest.raises(Conflict):
            taken(log, steps=1)
        assert store.read("demo").lines == before


def test_a_history_that_was_changed_is_refused(store: Store):
    """A log cannot take back what it holds."""
    log = begun(store)
    session, model, _ = taken(log)
    shorter, other, renamed = (copy.deepcopy(session) for _ in range(3))
    shorter.messages.pop()
    other.messages[-1] = Message("assistant", "another answer")
    renamed.id = "somebody else"
    lines = store.read("demo").lines
    for changed in (shorter, other, renamed):
        with pytest.raises(InvalidValue, match=r"the log holds another|the log holds 9, the session 8|this log is of"):
            log.record(changed, model.cursor)
    assert store.read("demo").lines == lines


@pytest.mark.parametrize("resumed", [False, True])
def test_a_change_of_any_older_message_is_refused_before_a_model_sees_it(store: Store, resumed: bool):
    """The system prompt, a question, an answer, a result: replaced, or moved; the error says where."""
    log = begun(store)
    session, model, steps = taken(log)
    if resumed:
        log = SessionLog.resume(store, "demo", writer="w2")
        session = log.state.session
    session.messages.append(Message("user", "And now?"))
    good, lines = list(session.messages), store.read("demo").lines
    for place in range(len(good) - 1):
        session.messages[place] = Message(good[place].role, "changed", (), good[place].tool_call_id)
        with pytest.raises(InvalidValue, match=rf"messages\[{place}\]: the log holds another one"):
            step_once(ERRAND.agent(ToolRegistry()), session, model, steps, log=log)
        session.messages[:] = good
    session.messages[3], session.messages[5] = good[5], good[3]
    with pytest.raises(InvalidValue, match=r"messages\[3\]: the log holds another one"):
        log.record(session, model.cursor)
    assert store.read("demo").lines == lines
    session.messages[:] = copy.deepcopy(good)  # equal is enough
    log.record(session, model.cursor)
    assert len(store.read("demo").lines) == len(lines) + 1


def test_messages_that_contradict_what_is_there_are_refused(store: Store):
    """An orphan result, and a question after an open call."""
    log = begun(store)
    session = log.state.session
    session.messages.append(Message("tool", "5", tool_call_id="nobody"))
    with pytest.raises(InvalidMessages, match="orphan result 'nobody'"):
        log.record(session, 0)
    session.messages[-1:] = [ERRAND.script[0]]
    log.record(session, 1)
    session.messages.append(Message("user", "hello?"))
    with pytest.raises(InvalidMessages, match="dangling call 'c1'"):
        log.record(session, 1)


def test_every_damage_of_a_log_file_is_seen_or_cut_away(tmp_path: Path, examined: Examined):
    """Every bit and every length, in a log of several turns: nothing wrong is ever replayed."""
    log = begun(FileStore(tmp_path))
    states = [log.state]
    for steps in (1, 99):
        taken(log, steps=steps)
        states.append(log.state)
    asked(log, "and the receipt?", "在邮件里。")
    states.append(log.state)
    data = (tmp_path / LOG).read_bytes()
    header = data.index(b"\n") + 1
    examined("flipped bits", 8 * (len(data) - header))
    examined("cuts", len(data) - header)
    lengths = {load_damaged(flip(data, bit)) for bit in range(8 * header, 8 * len(data))}
    assert {"damaged"} <= lengths <= {"damaged", log.state.length - 3}  # the last line break flipped: torn
    boundaries = 0
    for cut in range(header, len(data)):
        found = load_damaged(data[:cut])
        assert found in ("missing", *range(1, log.state.length))
        boundaries += data[cut - 1 : cut] == b"\n" and data[cut - 2 : cut - 1] != b" "
    assert (
        boundaries == 1 + 1 + 4
    )  # after the first line, the first record, and each step: a log alone cannot see these


class Held(MemoryStore):
    """The bytes of a log file, without the file."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.data = data

    def read(self, session_id: str, since: int = 0) -> Records:
        """Read them as the file store does."""
        return records_of(self.data, session_id, since)


def load_damaged(data: bytes) -> str | int:
    """Return how many records a damaged log gives, all of them right; or what is said of it."""
    try:
        state, report = load(Held(data), "demo")
    except LogDamaged as error:
        assert "record" in str(error)
        return "damaged"
    except LogMissing:
        return "missing"
    assert state.length == report.replayed
    assert state.session.messages == WHOLE[: len(state.session.messages)]
    return state.length


def whole() -> list[Message]:
    """Return the messages of the log that is damaged above."""
    log = begun(MemoryStore())
    taken(log)
    asked(log, "and the receipt?", "在邮件里。")
    return log.state.session.messages


WHOLE = whole()


def test_a_cut_at_a_record_is_seen_where_a_checkpoint_knows_more(tmp_path: Path):
    """The one damage that a log alone cannot see."""
    log = begun(FileStore(tmp_path))
    taken(log)
    log.checkpoint()
    data = (tmp_path / LOG).read_bytes()
    cut = data.rindex(b"\n", 0, len(data) - 1) + 1
    (tmp_path / LOG).write_bytes(data[:cut])
    with pytest.raises(LogDamaged, match="7 records, a checkpoint of 8: some are gone"):
        SessionLog.resume(FileStore(tmp_path), "demo", writer="w2")


def test_what_comes_before_a_damaged_record_can_be_had(tmp_path: Path):
    """The error says how; nobody gets it without asking."""
    log = begun(FileStore(tmp_path))
    taken(log, steps=2)
    data = (tmp_path / LOG).read_bytes()
    (tmp_path / LOG).write_bytes(data.replace(b"lamp", b"Lamp"))
    with pytest.raises(LogDamaged, match=r"record 0 of 'demo': .*until=0"):
        SessionLog.resume(FileStore(tmp_path), "demo", writer="w2")
    (tmp_path / LOG).write_bytes(data.replace(b"charged 26", b"charged 96"))
    with pytest.raises(LogDamaged, match=r"record 4 of 'demo': .*until=4"):
        SessionLog.resume(FileStore(tmp_path), "demo", writer="w2")
    state, _ = load(FileStore(tmp_path), "demo", until=4)
    assert len(state.session.messages) == 5


def test_a_torn_tail_is_said_and_the_next_append_loses_nothing(tmp_path: Path):
    """Half a record, of an append that was never acknowledged."""
    log = begun(FileStore(tmp_path))
    taken(log, steps=1)
    with (tmp_path / LOG).open("ab") as file:
        file.write(b'{"body":{"mess')
    again = SessionLog.resume(FileStore(tmp_path), "demo", writer="w2")
    assert (again.report.torn, again.state) == (14, log.state)
    taken(again)
    third = SessionLog.resume(FileStore(tmp_path), "demo", writer="w3")
    assert (third.report.torn, third.state) == (0, again.state)


class Unclear(MemoryStore):
    """Appends, and then says that it does not know."""

    effect: Callable[..., None] | None = None

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        """Do what the test wants, and fail."""
        if self.effect is None:
            super().append(session_id, records, expected_length)
        else:
            effect, self.effect = self.effect, None
            effect(session_id, records, expected_length)
            raise AppendUnknown("nobody knows")


def test_an_append_of_unknown_outcome_is_decided_by_reading_again():
    """It took effect, or it did not, or somebody else was there: the error, and then what the store holds."""
    store = Unclear()
    log = begun(store)
    for effect, added in ((lambda *arguments: MemoryStore.append(store, *arguments), 2), (lambda *_: None, 0)):
        length = store.read("demo").length
        store.effect = effect
        with pytest.raises(AppendUnknown):
            taken(log, steps=1)
        assert log.state == SessionLog.resume(store, "demo", writer="w2").state
        assert log.state.length == length + added
    store.effect = lambda *_: asked(SessionLog.resume(store, "demo", writer="w2"), "me first", "yes")
    with pytest.raises(AppendUnknown):
        taken(log, steps=1)
    assert log.state.session.messages[-1] == Message("assistant", "yes")


def test_an_interrupt_after_the_append_does_not_write_it_twice(monkeypatch: pytest.MonkeyPatch):
    """The record is durable, and the call did not return: the log reads again, and finds it there."""
    store = MemoryStore()
    log = begun(store)
    session = log.state.session
    session.messages.append(ERRAND.script[0])
    monkeypatch.setattr(State, "commit", interrupt)
    with pytest.raises(KeyboardInterrupt):
        log.record(session, 1)
    monkeypatch.undo()
    log.record(session, 1)
    assert store.read("demo").length == 2
    assert SessionLog.resume(store, "demo", writer="w2").state == log.state
    assert log.state.session == session


def interrupt(*_: Any) -> None:
    """Do what the Interrupt button does."""
    raise KeyboardInterrupt


def test_a_resumed_state_can_be_gone_on_with():
    """As the module's docstring does it: what step_once changes is a copy, and so it is seen as new."""
    store = MemoryStore()
    begun(store)
    log = SessionLog.resume(store, "demo", writer="w2")
    state = log.state
    model = FakeModel(ERRAND.script)
    step_once(ERRAND.agent(ToolRegistry()), state.session, model, state.steps)
    log.record(state.session, model.cursor)
    assert SessionLog.resume(store, "demo", writer="w3").state.session == state.session


@pytest.mark.parametrize(
    "entry",
    [
        ("resolved", {"call": 0}),
        ("intnet", {"call": 0, "key": "k"}),
        ("intent", {"call": 0}),
        ("message", {"message": {"role": "tool", "content": "5", "tool_call_id": "nobody"}}),
        ("message", {"message": {"role": "robot"}}),
        ("metadata", {"metadata": {1: 2}}),
    ],
)
def test_a_record_that_could_not_be_replayed_is_not_written(store: Store, entry: Any):
    """It would stand in the way of every resume, for ever."""
    log = begun(store)
    with pytest.raises(InvalidValue):
        log.append(entry)
    assert store.read("demo").length == 1
    taken(log)


@pytest.mark.parametrize(
    "message",
    [
        Message("tool", cast(Any, 26), tool_call_id="c1"),
        Message("assistant", "", (ToolCall("c2", "pay", {"a": nested(101)}),)),
    ],
)
def test_a_message_that_could_not_be_read_back_is_not_recorded(store: Store, message: Message):
    """With its place; as a checkpoint of it could not be written, either."""
    log = begun(store)
    session = log.state.session
    session.messages += [ERRAND.script[0], message] if message.role == "tool" else [message]
    with pytest.raises(InvalidValue, match=r"messages\[\d\]"):
        log.record(session, 1)
    assert store.read("demo").length == 1


@pytest.mark.parametrize("cursor", ["x", True, 1.5, -1])
def test_a_cursor_that_is_none_is_refused(store: Store, cursor: Any):
    """A number, or None."""
    log = begun(store)
    session = log.state.session
    session.messages.append(ERRAND.script[0])
    with pytest.raises(InvalidValue, match="model_cursor"):
        log.record(session, cursor)


def test_metadata_is_compared_by_type(store: Store):
    """1, True and 1.0 are equal in Python, and three things in JSON."""
    log = begun(store)
    for value in (1, True, 1.0, [1], [True]):
        session = log.state.session
        session.metadata["a"] = value
        log.record(session, 0)
        assert repr(SessionLog.resume(store, "demo", writer="w2").state.session.metadata["a"]) == repr(value)


def test_the_cursor_belongs_to_the_model_s_message(store: Store):
    """Before each record of a step: asked already, or not yet."""
    log = begun(store)
    taken(log, steps=1)
    assert [log.at(number).model_cursor for number in (1, 2, 3)] == [0, 1, 1]
    with pytest.raises(InvalidValue, match="the log has 3 records"):
        log.at(4)


def test_compaction_goes_on_where_the_last_process_stopped(store: Store):
    """One process a turn: what is written stays in proportion."""
    begun(store)
    compacted = 0
    for number in range(60):
        log = SessionLog.resume(store, "demo", writer=f"w{number}")
        asked(log, f"question {number}" * 5, f"answer {number}" * 50)
        before = store.checkpoints("demo")
        log.compact_if_grown()
        compacted += store.checkpoints("demo") != before
    assert 2 < compacted < 15


def test_a_session_that_could_not_be_read_back_is_not_begun(store: Store):
    """It says why, and nothing is there afterwards."""
    session = Session("demo", [Message("tool", "5", tool_call_id="nobody")], WHEN)
    with pytest.raises(InvalidMessages, match="orphan result"):
        SessionLog.begin(store, session, 0, writer="w1", incarnation="i1")
    assert store.sessions() == []


def test_beginning_takes_a_copy(store: Store):
    """What happens to the session afterwards is new."""
    session = Session("demo", [Message("user", "hello")], WHEN)
    log = SessionLog.begin(store, session, 0, writer="w1", incarnation="i1")
    session.messages.append(Message("assistant", "hello!"))
    log.record(session, 1)
    assert SessionLog.resume(store, "demo", writer="w2").state.session == session


def test_arguments_as_deep_as_json_may_be_survive_a_checkpoint(store: Store):
    """A hundred lists in one another."""
    log = begun(store)
    session = log.state.session
    session.messages.append(Message("assistant", "", (ToolCall("c1", "show", {"a": nested(99)}),)))
    log.record(session, 1)
    log.compact()
    resumed = SessionLog.resume(store, "demo", writer="w2")
    assert resumed.report.checkpoint == 2
    assert resumed.state.session == session


def test_arguments_keep_their_order():
    """A tool may take any names, and show them as they come."""
    store = MemoryStore()
    log = begun(store)
    session = log.state.session
    session.messages.append(Message("assistant", "", (ToolCall("c1", "show", {"b": 1, "a": 2}),)))
    log.record(session, 1)
    (call,) = SessionLog.resume(store, "demo", writer="w2").state.session.messages[-1].tool_calls
    assert list(call.arguments) == ["b", "a"]


def test_the_state_is_the_log_s_own():
    """Changing the session after it was recorded changes no state in the log."""
    log = begun(MemoryStore())
    session = log.state.session
    session.metadata["a"] = [1]
    log.record(session, 0)
    session.metadata["a"].append(2)
    assert log.state.session.metadata == {"a": [1]}
    assert isinstance(log.state, State)


@pytest.mark.parametrize("field", ["id", "created_at"])
def test_another_session_is_not_recorded(store: Store, field: str):
    """Not even one that has the same id, and was begun at another time."""
    log = begun(store)
    session = log.state.session
    setattr(session, field, "other")
    session.messages.append(Message("assistant", "Done."))
    before = store.read("demo").lines
    with pytest.raises(InvalidValue, match="this log is of the session 'demo'"):
        log.record(session, 0)
    assert store.read("demo").lines == before
