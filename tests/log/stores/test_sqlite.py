"""The SQLite store where it can go wrong: failing commits, interrupts, other processes, and a tool's effect in it."""

import json
import sqlite3
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from minagent import Agent, FakeModel, Message, ToolCall, ToolRegistry, init_session, step_once
from minagent.lab.processes.child_process import start
from minagent.lab.two_writers.writers import append_all, write
from minagent.lab.world.example import SESSION
from minagent.log import AppendUnknown, Conflict, SessionLog, SqliteStore, run_with_log
from minagent.log.stores import sqlite

ONE, TWO = b'{"n":1}', b'{"n":2}'


class Failing:
    """A connection of which one statement fails, once."""

    def __init__(self, connection: sqlite3.Connection, verb: str, error: BaseException) -> None:
        self.connection, self.verb, self.error = connection, verb, error
        self.failed = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.connection, name)

    def execute(self, statement: str, *values: Any) -> Any:
        """Fail, or execute."""
        if statement.startswith(self.verb) and not self.failed:
            self.failed = True
            raise self.error
        return self.connection.execute(statement, *values)


def fail(store: SqliteStore, verb: str, error: BaseException) -> None:
    """Let the next statement that begins with this verb fail."""
    store.connection = Failing(store.connection, verb, error)  # type: ignore[assignment]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the database is."""
    return tmp_path / "sessions.db"


def test_what_was_appended_is_forced_to_the_disk(path: Path):
    """A log beside the database, and an fsync for each transaction."""
    store = SqliteStore(path)
    assert store.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert store.connection.execute("PRAGMA synchronous").fetchone() == (2,)


@pytest.mark.parametrize(
    ("verb", "error", "raised"),
    [
        ("INSERT", sqlite3.OperationalError("disk is full"), OSError),
        ("COMMIT", sqlite3.OperationalError("disk I/O error"), AppendUnknown),
        ("INSERT", KeyboardInterrupt(), KeyboardInterrupt),
        ("COMMIT", KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_an_append_that_fails_adds_nothing(path: Path, verb: str, error: BaseException, raised: type[BaseException]):
    """And the next one works."""
    store = SqliteStore(path)
    store.append("demo", [ONE], 0)
    fail(store, verb, error)
    with pytest.raises(raised):
        store.append("demo", [TWO], 1)
    assert SqliteStore(path).read("demo").lines == [ONE]
    store.append("demo", [TWO], 1)
    assert SqliteStore(path).read("demo").lines == [ONE, TWO]


def test_two_interrupts_leave_nothing_half_done(path: Path):
    """The second one comes before the first one's rollback: the next call does it."""
    store = SqliteStore(path)
    fail(store, "INSERT OR REPLACE INTO sessions", KeyboardInterrupt())
    fail(store, "ROLLBACK", KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        store.append("demo", [ONE], 0)
    assert store.read("demo").length == 0
    store.append("demo", [TWO], 0)
    assert SqliteStore(path).read("demo").lines == [TWO]


def test_a_database_that_is_locked_too_long_is_an_error(path: Path, monkeypatch: pytest.MonkeyPatch):
    """Nothing was added; readers do not wait at all."""
    holder = SqliteStore(path)
    holder.append("demo", [ONE], 0)
    monkeypatch.setattr(sqlite, "PATIENCE", 0.05)
    other = SqliteStore(path)
    with holder.effect():
        assert other.read("demo").lines == [ONE]
        with pytest.raises(OSError, match="locked"):
            other.append("demo", [TWO], 1)
    holder.append("demo", [TWO], 1)
    assert other.read("demo").lines == [ONE, TWO]


@pytest.mark.parametrize("place", ["nowhere/sessions.db", "text"])
def test_what_is_no_database_is_an_os_error(tmp_path: Path, place: str):
    """It says which file."""
    (tmp_path / "text").write_bytes(b"no database" * 100)
    with pytest.raises(OSError, match=f"SQLite cannot open .*{place}"):
        SqliteStore(tmp_path / place)


def test_a_new_database_may_be_opened_by_two_at_once(path: Path, monkeypatch: pytest.MonkeyPatch):
    """One of them is about to write. SQLite refuses the other's change to a log at once, however patient he is."""
    first = sqlite3.connect(path, isolation_level=None)
    first.execute("BEGIN IMMEDIATE")

    class Second(sqlite3.Connection):
        """The first one is done when the second one begins to wait for him."""

        def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
            if statement == "BEGIN IMMEDIATE" and first.in_transaction:
                first.execute("COMMIT")
            return super().execute(statement, *values)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Second))
    store = SqliteStore(path)
    assert store.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    store.append("demo", [ONE], 0)
    assert not first.in_transaction


def test_a_new_database_that_stays_locked_is_an_error(path: Path, monkeypatch: pytest.MonkeyPatch):
    """Whoever opens it waits as long as for any other transaction."""
    first = sqlite3.connect(path, isolation_level=None)
    first.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(sqlite, "PATIENCE", 0.05)
    with pytest.raises(OSError, match="locked"):
        SqliteStore(path)


class Meeting:
    """A connection at which something happens between the read of an append and its insert, once."""

    def __init__(self, connection: sqlite3.Connection, happens: Callable[[], object]) -> None:
        self.connection, self.happens = connection, [happens]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.connection, name)

    def executemany(self, statement: str, rows: Any) -> Any:
        """Let it happen, and execute."""
        if self.happens:
            self.happens.pop()()
        return self.connection.executemany(statement, rows)


def test_whoever_has_read_the_length_is_the_next_to_write(path: Path, monkeypatch: pytest.MonkeyPatch):
    """Another process comes between the read and the insert of an append: it is he who waits, and who conflicts."""
    monkeypatch.setattr(sqlite, "PATIENCE", 0)
    store, other = SqliteStore(path), SqliteStore(path)

    def come_between() -> None:
        with pytest.raises(OSError, match="locked"):
            other.append("demo", [TWO], 0)

    store.connection = Meeting(store.connection, come_between)  # type: ignore[assignment]
    store.append("demo", [ONE], 0)
    with pytest.raises(Conflict):
        other.append("demo", [TWO], 0)
    assert other.read("demo").lines == [ONE]


class SeenLock:
    """A lock of which it is seen that somebody comes for it."""

    def __init__(self, lock: Any, seen: threading.Event) -> None:
        self.lock, self.seen = lock, seen

    def __enter__(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            self.seen.set()
        self.lock.acquire()

    def __exit__(self, *_: object) -> None:
        self.lock.release()


def in_effect(store: SqliteStore) -> None:
    """Begin a tool's effect, and undo it."""
    with pytest.raises(ZeroDivisionError), store.effect():
        raise ZeroDivisionError


@pytest.mark.parametrize(
    "action",
    [lambda store: store.append("other", [TWO], 0), lambda store: store.read("demo"), in_effect],
    ids=["append", "read", "effect"],
)
def test_a_thread_waits_for_the_append_of_another(path: Path, action: Callable[[SqliteStore], object]):
    """They share a connection, and with it a transaction: the second one would undo the first one's, or be undone."""
    store, come = SqliteStore(path), threading.Event()
    store._lock = SeenLock(store._lock, come)  # type: ignore[assignment]
    done: list[object] = []

    def act() -> None:
        try:
            done.append(action(store))
        finally:
            come.set()

    thread = threading.Thread(target=act)

    def come_between() -> None:
        thread.start()
        assert come.wait(120)
        assert not done

    store.connection = Meeting(store.connection, come_between)  # type: ignore[assignment]
    store.append("demo", [ONE], 0)
    thread.join()
    assert len(done) == 1
    assert SqliteStore(path).read("demo").lines == [ONE]


def test_threads_share_a_store_and_processes_the_file(path: Path):
    """Each appends, and tries again after a conflict: nothing is lost."""
    store = SqliteStore(path)
    processes = [start(write, path.parent, "sqlite", name, 50) for name in "ab"]
    for process in processes:
        process.hear()
    threads = [threading.Thread(target=append_all, args=(store, name, 50)) for name in "cde"]
    for process in processes:
        process.tell("go")
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for process in processes:
        process.hear()  # waits, and raises if it failed
    lines = store.read(SESSION).lines
    assert [json.loads(line)["number"] for line in lines] == list(range(250))


class Shop:
    """An agent whose tool writes a row into the log's own database."""

    def __init__(self, path: Path, after: Callable[[], None] = lambda: None) -> None:
        self.store = SqliteStore(path)
        self.store.connection.execute("CREATE TABLE IF NOT EXISTS paid (n INTEGER)")
        self.path = path
        self.script = [Message("assistant", "", [ToolCall("c1", "pay", {"n": 1})]), Message("assistant", "Done.")]
        registry = ToolRegistry()

        @registry.register(effect="idempotent")
        def pay(n: int) -> str:
            with self.store.effect() as database:
                database.execute("INSERT INTO paid VALUES (?)", (n,))
                after()
            return "paid"

        self.agent = Agent(registry, "")

    def begin(self) -> SessionLog:
        """Begin a session."""
        session = init_session(self.agent, "Go.", session_id="demo", created_at="2026-01-01T00:00:00Z")
        return SessionLog.begin(self.store, session, 0, writer="w1", incarnation="i1")

    def paid(self) -> int:
        """Return how many rows another process sees."""
        return int(sqlite3.connect(self.path).execute("SELECT count(*) FROM paid").fetchone()[0])


def test_an_effect_is_committed_with_its_result(path: Path):
    """Not before: whatever is read in between."""
    shop = Shop(path)
    with shop.store.effect() as database:
        database.execute("INSERT INTO paid VALUES (7)")
    assert (shop.store.sessions(), shop.store.read("demo").lines, shop.store.checkpoints("demo")) == ([], [], [])
    assert shop.paid() == 0
    shop.store.append("demo", [ONE], 0)
    assert shop.paid() == 1


@pytest.mark.parametrize("verb", ["INSERT OR REPLACE INTO sessions", "COMMIT"])
def test_effect_and_result_stay_together_when_an_append_fails(path: Path, verb: str):
    """The session keeps the result in memory, the database keeps the row; the next append commits both."""
    shop = Shop(path)
    log = shop.begin()
    state, model = log.state, FakeModel(shop.script)
    after_the_tool = shop.store.effect

    def failing_effect() -> Any:
        fail(shop.store, verb, sqlite3.OperationalError("disk I/O error"))
        return after_the_tool()

    shop.store.effect = failing_effect  # type: ignore[method-assign]
    with pytest.raises((OSError, AppendUnknown)):
        step_once(shop.agent, state.session, model, state.steps, log=log)
    assert (shop.paid(), state.session.messages[-1].content) == (0, "paid")
    step_once(shop.agent, state.session, model, state.steps, log=log)
    assert shop.paid() == 1
    assert SessionLog.resume(SqliteStore(path), "demo", writer="w2").state.session == state.session


def test_a_full_disk_that_undoes_an_effect_stops_the_run(path: Path):
    """SQLite rolls back everything then. The result in memory must not be written down any more."""
    shop = Shop(path)
    log = shop.begin()
    state, model = log.state, FakeModel(shop.script)
    pay = shop.agent.registry.tools["pay"].function

    def chatty(n: int) -> str:
        pay(n)
        (pages,) = shop.store.connection.execute("PRAGMA page_count").fetchone()
        shop.store.connection.execute(f"PRAGMA max_page_count = {pages}")
        return "x" * 10**6

    chatty.__name__ = "pay"
    registry = ToolRegistry()
    registry.register(effect="idempotent")(chatty)
    full = Agent(registry, "")
    with pytest.raises(OSError, match="full"):
        step_once(full, state.session, model, state.steps, log=log)
    with pytest.raises(OSError, match="open the store again, and resume"):
        step_once(full, state.session, model, state.steps, log=log)
    assert shop.paid() == 0
    again = Shop(path)
    run_with_log(again.agent, SessionLog.resume(again.store, "demo", writer="w2"), FakeModel(shop.script))
    assert shop.paid() == 1


def test_a_tool_that_is_interrupted_or_fails_leaves_no_effect(path: Path):
    """Its row is undone at once; it runs again, or its error is the result."""
    interrupts: list[type[BaseException]] = [KeyboardInterrupt]

    def after() -> None:
        if interrupts:
            raise interrupts.pop()

    shop = Shop(path, after)
    log = shop.begin()
    with pytest.raises(KeyboardInterrupt):
        run_with_log(shop.agent, log, FakeModel(shop.script))
    run_with_log(shop.agent, log, FakeModel(shop.script))
    assert shop.paid() == 1


def test_what_an_interrupted_tool_left_open_is_undone_by_the_next(path: Path):
    """The interrupt comes between the effect and the append: the tool runs again, and there is one row."""
    shop = Shop(path)
    log = shop.begin()
    pay = shop.agent.registry.tools["pay"].function
    interrupts = [KeyboardInterrupt]

    def interrupted(n: int) -> str:
        result: str = pay(n)
        if interrupts:
            raise interrupts.pop()
        return result

    interrupted.__name__ = "pay"
    registry = ToolRegistry()
    registry.register(effect="idempotent")(interrupted)
    shop.agent = Agent(registry, "")
    with pytest.raises(KeyboardInterrupt):
        run_with_log(shop.agent, log, FakeModel(shop.script))
    run_with_log(shop.agent, log, FakeModel(shop.script))
    assert shop.paid() == 1
