"""The lease: who may write, who may take over and when, and what a late holder can no longer do."""

from collections.abc import Callable
from typing import Any

import pytest

from minagent import InvalidValue, Message, Session
from minagent.log import AppendUnknown, Conflict, Lease, LeaseLost, MemoryStore, SessionLog
from minagent.log.stores.base import Store
from tests.conftest import ROOT

WHEN = "2026-01-01T00:00:00Z"


class Clock:
    """Stands still until it is told otherwise."""

    def __init__(self) -> None:
        self.now = 1000.0

    def time(self) -> float:
        """Return the seconds."""
        return self.now


@pytest.fixture
def store(store: Store) -> Store:
    """A store of each kind, with a session in it."""
    SessionLog.begin(store, Session("demo", [Message("user", "Go.")], WHEN), None, writer="w0", incarnation="i1")
    return store


def writer(store: Store, name: str, clock: Clock, seconds: float = 30) -> tuple[SessionLog, Lease]:
    """Return a log as this writer sees it, and his lease, not acquired yet."""
    log = SessionLog.resume(store, "demo", writer=name)
    return log, Lease(log, seconds, clock.time)


def say(log: SessionLog, text: str) -> None:
    """Append a message."""
    session = log.state.session
    session.messages.append(Message("user", text))
    log.record(session, None)


def texts(store: Store) -> list[str | None]:
    """Return what the log holds."""
    messages = SessionLog.resume(store, "demo", writer="reader").state.session.messages
    return [message.content for message in messages]


def waited_for(
    store: Store, seconds: float = 30, others: float = 30
) -> tuple[SessionLog, Lease, Clock, SessionLog, Lease]:
    """Let `a` acquire the lease, and `b` begin to wait; return what both have, and the clock of `b`."""
    log, lease = writer(store, "a", Clock(), seconds)
    clock = Clock()
    other_log, other = writer(store, "b", clock, others)
    assert lease.acquire()
    assert not other.acquire()
    return log, lease, clock, other_log, other


def taken_over(store: Store) -> tuple[SessionLog, Lease, SessionLog, Lease]:
    """Let `a` acquire the lease and fall asleep, and `b` take over after its seconds; return what both have."""
    log, lease, clock, other_log, other = waited_for(store)
    clock.now += 30
    assert other.acquire()
    return log, lease, other_log, other


def test_one_of_two_has_it(store: Store):
    """The other is told no, and can wait; after a release it is his."""
    log, lease = writer(store, "a", Clock())
    _, other = writer(store, "b", Clock())
    assert lease.acquire()
    assert not other.acquire()
    say(log, "a was here")
    assert not other.acquire()
    lease.release()
    assert other.acquire()
    assert not lease.acquire()
    assert texts(store) == ["Go.", "a was here"]


def test_of_two_who_read_before_either_wrote_one_gets_it(store: Store, monkeypatch: pytest.MonkeyPatch):
    """The append of the lease is conditional, as each append is."""
    _, lease = writer(store, "a", Clock())
    other_log, other = writer(store, "b", Clock())
    monkeypatch.setattr(other_log, "refresh", lambda: None)
    assert lease.acquire()
    assert not other.acquire()


def test_it_runs_out_by_the_clock_of_whoever_waits(store: Store):
    """From when the log was last seen to have grown; the holder's clock says nothing."""
    log, lease = writer(store, "a", Clock())
    clock = Clock()
    _, other = writer(store, "b", clock)
    assert lease.acquire()
    clock.now += 1_000_000  # before he looked for the first time
    assert not other.acquire()
    clock.now += 29.9
    assert not other.acquire()
    say(log, "a lives")
    clock.now += 29.9
    assert not other.acquire()
    lease.renew()
    clock.now += 29.9
    assert not other.acquire()
    clock.now += 29.9
    assert not other.acquire()
    clock.now += 0.1
    assert other.acquire()


def test_each_lease_says_how_long_it_lasts(store: Store):
    """Not whoever waits for it."""
    _, _, clock, _, other = waited_for(store, seconds=5, others=1_000)
    clock.now += 5
    assert other.acquire()


def test_after_a_takeover_nothing_of_the_old_holder_lands(store: Store):
    """Whatever it tries, and however often; it hears who has the lease."""
    log, lease, other_log, _ = taken_over(store)
    before = store.read("demo").lines
    attempts: list[Callable[[], None]] = [
        lambda: say(log, "late"), lambda: say(log, "later"), lease.renew, lease.release,
    ]  # fmt: skip
    for attempt in attempts:
        with pytest.raises(LeaseLost, match="the writer 'b' has its lease") as error:
            attempt()
        assert error.value.holder == "b"
    assert store.read("demo").lines == before
    say(other_log, "b was here")
    assert texts(store) == ["Go.", "b was here"]


def test_also_when_the_log_was_compacted_meanwhile(store: Store):
    """The length goes on from where it was, so it still fences."""
    log, _, other_log, _ = taken_over(store)
    for number in range(3):
        say(other_log, f"b {number}")
        other_log.compact()
    assert store.read("demo").first > 0
    with pytest.raises(LeaseLost):
        say(log, "late")
    assert texts(store) == ["Go.", "b 0", "b 1", "b 2"]


def test_also_when_the_lease_was_given_back_meanwhile(store: Store):
    """What the old holder knows is old, though nobody has the lease now. It may acquire it again, and go on."""
    log, lease, other_log, other = taken_over(store)
    say(other_log, "b was here")
    other.release()
    for _ in range(2):
        with pytest.raises(LeaseLost, match="another writer had its lease meanwhile"):
            say(log, "late")
    assert lease.acquire()
    say(log, "in time")
    assert texts(store) == ["Go.", "b was here", "in time"]


def test_who_never_had_it_does_not_write_while_another_has(store: Store):
    """A program that knows nothing of leases hears it at its first append."""
    _, lease = writer(store, "a", Clock())
    assert lease.acquire()
    log = SessionLog.resume(store, "demo", writer="b")
    before = store.read("demo").lines
    with pytest.raises(LeaseLost, match="the writer 'a' has its lease"):
        say(log, "b was here")
    assert store.read("demo").lines == before


def test_who_knew_the_log_before_the_lease_conflicts(store: Store):
    """It had no lease to lose."""
    log = SessionLog.resume(store, "demo", writer="b")
    _, lease = writer(store, "a", Clock())
    assert lease.acquire()
    with pytest.raises(Conflict):
        say(log, "b was here")


def test_a_lease_outlives_a_checkpoint(store: Store):
    """It is part of the state."""
    log, lease = writer(store, "a", Clock())
    assert lease.acquire()
    log.compact()
    log.compact()
    assert SessionLog.resume(store, "demo", writer="b").lease == {"holder": "a", "seconds": 30}


def test_a_lease_of_unknown_outcome_is_found_by_looking(monkeypatch: pytest.MonkeyPatch):
    """The append fails and may be there: whoever acquires again finds out, and has it."""
    store = MemoryStore()
    SessionLog.begin(store, Session("demo", [Message("user", "Go.")], WHEN), None, writer="w0", incarnation="i1")
    log, lease = writer(store, "a", Clock())
    append = store.append

    def written_and_unknown(*arguments: object) -> None:
        append(*arguments)  # type: ignore[arg-type]
        raise AppendUnknown("perhaps")

    monkeypatch.setattr(store, "append", written_and_unknown)
    with pytest.raises(AppendUnknown):
        lease.acquire()
    monkeypatch.undo()
    assert lease.acquire()
    say(log, "a was here")
    assert texts(store) == ["Go.", "a was here"]


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 10**400, True, "5", None])
def test_a_lease_lasts(seconds: Any):
    """One that has run out before it begins would be taken over at once; one without an end, never."""
    with pytest.raises(InvalidValue, match="seconds"):
        Lease(SessionLog(MemoryStore(), "demo", "a"), seconds)


def test_fractions_of_a_second_count(store: Store):
    """Half a second is not none, and not one."""
    _, _, clock, _, other = waited_for(store, seconds=0.5)
    clock.now += 0.4
    assert not other.acquire()
    clock.now += 0.1
    assert other.acquire()


def test_a_clock_that_is_set_back_costs_no_more_than_the_seconds_again(store: Store):
    """Only time that passes counts."""
    _, _, clock, _, other = waited_for(store)
    clock.now -= 900
    assert not other.acquire()
    clock.now += 30
    assert other.acquire()


def test_who_reads_anew_after_takeover_and_release_has_lost_it_too(store: Store):
    """Nobody has the lease then; but whoever had it before knows an old session. To acquire it again is the way on."""
    log, lease, other_log, other = taken_over(store)
    say(other_log, "b was here")
    other.release()
    log.refresh()
    before = store.read("demo").lines
    attempts: list[Callable[[], None]] = [lease.renew, lease.release, lambda: say(log, "late")]
    for attempt in attempts:
        with pytest.raises(LeaseLost, match="another writer had its lease meanwhile"):
            attempt()
    assert store.read("demo").lines == before
    assert lease.acquire()
    say(log, "in time")
    lease.release()
    say(log, "without a lease")
    assert texts(store) == ["Go.", "b was here", "in time", "without a lease"]


def test_an_append_of_unknown_outcome_is_not_taken_for_anothers(store: Store, monkeypatch: pytest.MonkeyPatch):
    """Another took his turn meanwhile, and it ended with the same words: ours is not there, and we hear so."""
    log = SessionLog.resume(store, "demo", writer="a")
    session = log.state.session
    session.messages += [Message("user", "Charge A."), Message("assistant", "Done.")]

    def unknown(*_: object) -> None:
        raise AppendUnknown("perhaps")

    with monkeypatch.context() as patched:
        patched.setattr(store, "append", unknown)
        with pytest.raises(AppendUnknown):
            log.record(session, None)
    other = SessionLog.resume(store, "demo", writer="b")
    theirs = other.state.session
    theirs.messages += [Message("user", "Charge B."), Message("assistant", "Done.")]
    other.record(theirs, None)
    for _ in range(2):
        with pytest.raises(InvalidValue, match="the log holds another one, and cannot change it: go on from `state`"):
            log.record(session, None)
    assert texts(store) == ["Go.", "Charge B.", "Done."]


def test_what_a_log_says_of_the_lease_is_a_copy(store: Store):
    """Whoever changes it changes nothing."""
    log, lease = writer(store, "a", Clock())
    assert lease.acquire()
    assert log.lease is not None
    log.lease["holder"] = "b"
    log.state.lease = None
    say(log, "a was here")


def test_a_stale_writer_s_checkpoint_harms_nothing(store: Store):
    """Not even where a newer one, of records that he does not know, is damaged."""
    log, _, other_log, _ = taken_over(store)
    say(other_log, "b was here")
    store.put_checkpoint("demo", other_log.length, b"damaged")
    log.checkpoint()
    assert texts(store) == ["Go.", "b was here"]


def test_a_late_holder_that_reads_again_gives_nothing_away(store: Store):
    """An append of unknown outcome makes it look: then it knows whose the lease is, and leaves it alone."""
    log, lease, _, _ = taken_over(store)
    log.refresh()
    attempts: list[Callable[[], None]] = [lease.renew, lease.release, lambda: say(log, "late")]
    for attempt in attempts:
        with pytest.raises(LeaseLost, match="'b'"):
            attempt()
    log.refresh()
    assert log.lease == {"holder": "b", "seconds": 30}


def test_the_module_can_be_read_at_a_glance():
    """At most 80 lines, its specification among them."""
    assert len((ROOT / "minagent" / "log" / "lease.py").read_text().splitlines()) <= 80
