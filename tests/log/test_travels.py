"""What a log knows goes with its session: between stores, back from an earlier time, and from a checkpoint."""

from collections.abc import Callable
from pathlib import Path

import pytest

from minagent import (
    Agent,
    FakeModel,
    InvalidValue,
    Message,
    Session,
    Step,
    ToolCall,
    ToolRegistry,
    add_question,
    init_session,
    load_checkpoint,
    run_turn,
    save_checkpoint,
    step_once,
)
from minagent.agent import INTERRUPTED
from minagent.log import (
    AppendUnknown,
    FileStore,
    InDoubt,
    Lease,
    LogDamaged,
    MemoryStore,
    SessionLog,
    SqliteStore,
    State,
    Store,
    load,
    run_with_log,
)

SCRIPT = [
    Message("assistant", "", [ToolCall("c1", "look", {})]),
    Message("assistant", "", [ToolCall("c2", "charge", {}), ToolCall("c3", "look", {})]),
    Message("assistant", "Paid."),
]


class Killed(BaseException):
    """The process is dead."""


class Desk:
    """An agent with a tool that charges, and whose process dies in it, the first time."""

    def __init__(self) -> None:
        self.charges = 0
        registry = ToolRegistry()

        @registry.register(effect="read_only")
        def look() -> str:
            return "26"

        @registry.register
        def charge() -> str:
            self.charges += 1
            if self.charges == 1:
                raise Killed
            return "charged"

        self.agent = Agent(registry, "You charge.")

    def killed_in_its_tool(self, store: Store) -> SessionLog:
        """Return the log as it is found after the crash, with a call in doubt."""
        SessionLog.begin(store, init_session(self.agent, "Charge.", session_id="demo"), 0)
        with pytest.raises(Killed):
            run_with_log(self.agent, SessionLog.resume(store, "demo"), FakeModel(SCRIPT))
        return SessionLog.resume(store, "demo")


OTHER_STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda _: MemoryStore(),
    "file": lambda folder: FileStore(folder / "other"),
    "sqlite": lambda folder: SqliteStore(folder / "other.db"),
}


@pytest.mark.parametrize("other", OTHER_STORES)
def test_a_call_in_doubt_stays_so_in_another_store(store: Store, other: str, tmp_path: Path):
    """With its key, the trace, and the cursor; and the tool does not run again."""
    desk = Desk()
    state = desk.killed_in_its_tool(store).state
    log = SessionLog.begin(OTHER_STORES[other](tmp_path), state)
    assert (log.state.in_doubt, log.state.incarnation) == (state.in_doubt, state.incarnation)
    assert (log.state.steps, log.state.model_cursor, log.state.session) == (state.steps, 2, state.session)
    with pytest.raises(InDoubt):
        run_with_log(desk.agent, log, FakeModel(SCRIPT))
    assert desk.charges == 1


def test_a_session_alone_cannot_carry_a_doubt(store: Store):
    """So it is refused while calls are open; closed as unknown, it can begin a log."""
    desk = Desk()
    session = desk.killed_in_its_tool(store).state.session
    with pytest.raises(InvalidValue, match="begin from the State"):
        SessionLog.begin(MemoryStore(), session, 2)
    add_question(session, [], "And now?")
    log = SessionLog.begin(MemoryStore(), session, 2)
    assert [m.content for m in log.state.session.messages if m.role == "tool"][1] == INTERRUPTED
    assert desk.charges == 1


def test_the_remedy_that_an_error_names_works_as_it_stands(tmp_path: Path):
    """A record is damaged: what comes before it goes on elsewhere."""
    store, another_store = FileStore(tmp_path), MemoryStore()
    desk = Desk()
    desk.killed_in_its_tool(store)
    path = tmp_path / "demo.log.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line.replace(b'"intent"', b'"INTENT"') for line in lines))
    with pytest.raises(LogDamaged) as damaged:
        SessionLog.resume(store, "demo")
    remedy = str(damaged.value).partition("what comes before it: ")[2].removesuffix(")")
    names = {"SessionLog": SessionLog, "load": load, "store": store, "another_store": another_store}
    log = eval(remedy, names)  # noqa: S307 - as a reader would type it
    assert [len(m.tool_calls) for m in log.state.session.messages] == [0, 0, 1, 0, 2]
    assert [step.detail for step in log.state.steps] == ["look -> 26"]


def test_an_earlier_time_goes_on_in_another_store_without_its_lease(store: Store):
    """A fork of a run: what the log knew then, and nobody who holds it."""
    desk = Desk()
    log = desk.killed_in_its_tool(store)
    assert Lease(log, 30).acquire()
    fork = SessionLog.begin(MemoryStore(), log.at(log.length))
    assert (fork.lease, fork.state.in_doubt) == (None, log.state.in_doubt)
    early = SessionLog.begin(MemoryStore(), log.at(1))
    assert (early.state.in_doubt, early.state.model_cursor) == ({}, 0)


def test_a_checkpoint_s_trace_goes_on_in_a_log(store: Store, tmp_path: Path):
    """Numbered on, not from 0 again."""
    desk = Desk()
    session, model = init_session(desk.agent, "Look."), FakeModel(SCRIPT)
    steps: list[Step] = []
    step_once(desk.agent, session, model, steps)
    save_checkpoint(tmp_path / "session.json", session, model, steps)
    session, model, steps = load_checkpoint(tmp_path / "session.json", SCRIPT)
    desk.charges = 1
    log = SessionLog.begin(store, session, model.cursor, steps=steps)
    state = run_with_log(desk.agent, log, FakeModel(SCRIPT))
    assert [step.index for step in state.steps] == [0, 1, 2, 3]
    assert state.steps[0] == steps[0]


def test_two_sessions_of_one_moment_have_keys_of_their_own():
    """Begun at the same time, in one store or two, with one id or two; and again after a deletion."""
    keys: list[str] = []
    one = MemoryStore()
    for store, session_id in [(one, "ann"), (one, "bob"), (MemoryStore(), "ann"), (one, "again"), (one, "again")]:
        desk = Desk()
        session = init_session(desk.agent, "Charge.", session_id=session_id, created_at="2026-01-01T00:00:00Z")
        log = SessionLog.begin(store, session, 0)
        with pytest.raises(Killed):
            run_with_log(desk.agent, log, FakeModel(SCRIPT))
        keys += [doubt.key for doubt in SessionLog.resume(store, session_id).state.in_doubt.values()]
        if session_id == "again":
            store.delete("again")
    assert len(set(keys)) == 5


def test_two_writers_that_nobody_has_named_are_two(store: Store):
    """So one lease is held by one of them."""
    desk = Desk()
    SessionLog.begin(store, init_session(desk.agent, "Charge.", session_id="demo"), 0)
    leases = [Lease(SessionLog.resume(store, "demo"), 30) for _ in range(3)]
    assert [lease.acquire() for lease in leases] == [True, False, False]


@pytest.mark.parametrize("writer", ["", 7, b"w", ("w",)])
def test_what_is_not_an_id_is_refused_as_writer(store: Store, writer: str):
    """Two who give the same would be taken for one."""
    with pytest.raises(InvalidValue, match="an id that no other process ever has"):
        SessionLog(store, "demo", writer)


@pytest.mark.parametrize("failure", [OSError("full"), AppendUnknown("full")])
def test_a_run_goes_on_without_its_shortcut(store: Store, monkeypatch: pytest.MonkeyPatch, failure: Exception):
    """The disk refuses checkpoints, and takes records: nothing is lost but the time of a replay."""

    def refuse(*_: object) -> None:
        raise failure

    monkeypatch.setattr(store, "put_checkpoint", refuse)
    desk = Desk()
    desk.charges = 1
    log = SessionLog.begin(store, init_session(desk.agent, "Charge.", session_id="demo"), 0)
    with pytest.warns(UserWarning, match="the log of 'demo' was not compacted: full"):
        state = run_with_log(desk.agent, log, FakeModel(SCRIPT))
    assert state.session.answered
    assert SessionLog.resume(store, "demo").state == state
    with pytest.raises(type(failure)):
        log.compact()


def test_a_run_without_a_log_can_begin_one(store: Store):
    """A finished turn, and the next question under a log."""
    desk = Desk()
    desk.charges = 1
    session = init_session(desk.agent, "Charge.")
    steps: list[Step] = []
    model = FakeModel([*SCRIPT, Message("assistant", "Again paid.")])
    run_turn(desk.agent, session, model, steps)
    add_question(session, steps, "Again.")
    log = SessionLog.begin(store, session, model.cursor, steps=steps)
    assert run_with_log(desk.agent, log, model).session.messages[-1].content == "Again paid."


def test_a_state_is_copied_in():
    """What its owner does with it later does not reach the log."""
    session = Session("demo", [Message("user", "hi")], "2026-01-01T00:00:00Z", {"a": [1]})
    state = State(session, "i1", None, [])
    log = SessionLog.begin(MemoryStore(), state)
    state.session.metadata["a"].append(2)
    state.session.messages.append(Message("user", "more"))
    assert (log.state.session.metadata, log.length) == ({"a": [1]}, 1)
