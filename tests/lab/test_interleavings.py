"""Two requests to one session, in every order: what each rule loses, and that the real processes do the same."""

import functools
import math
import os
import random
import signal
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from minagent import ToolCall
from minagent.lab.two_writers.interleavings import (
    TIME_PASSES,
    InThread,
    Meeting,
    MeetingOutcome,
    every_meeting,
    meeting,
)
from minagent.lab.two_writers.request import Place, Rule
from minagent.lab.two_writers.request_process import InProcess, played
from minagent.lab.world.example import SESSION
from minagent.log import Lease, LogDamaged, MemoryStore, SessionLog
from minagent.log.stores.open_store import open_store
from tests.conftest import in_process_table
from tests.examined import Examined

RULES: tuple[Rule, ...] = ("last write wins", "version", "lease")


@functools.cache
def meetings(rule: Rule) -> list[MeetingOutcome]:
    """Return what came of every order, with at most one death, and one lease that runs out."""
    return list(every_meeting(rule, deaths=True, delays=rule == "lease"))


def died(met: MeetingOutcome) -> bool:
    """Return whether one of the two died."""
    return "died" in met.endings.values()


def late(met: MeetingOutcome) -> bool:
    """Return whether a lease ran out."""
    return (TIME_PASSES, "") in met.moves


def tally(met: Sequence[MeetingOutcome]) -> dict[str, int]:
    """Count in how many orders something goes wrong."""
    return {
        "orders": len(met),
        "lost": sum(bool(one.lost) for one in met),
        "unrecorded": sum(bool(one.unrecorded) for one in met),
        "repeated": sum(bool(one.repeated) for one in met),
        "repeated with keys": sum(bool(one.repeated_with_keys) for one in met),
    }


def undisturbed(rule: Rule) -> list[MeetingOutcome]:
    """Return the orders in which nobody dies, and no lease runs out."""
    return [met for met in meetings(rule) if not died(met) and not late(met)]


def test_last_write_wins_loses_in_every_order_but_two():
    """Three operations each: 20 orders, and only those in which one is done before the other begins lose nothing."""
    found = tally(undisturbed("last write wins"))
    assert found["orders"] == math.comb(6, 3) == 20
    assert found["lost"] == found["unrecorded"] == 18


def test_a_version_number_loses_no_turn_and_runs_tools_twice():
    """Whoever is late hears it. But both may have begun the same turn, and run its tool, unless that knows keys."""
    found = tally(undisturbed("version"))
    assert 0 < found.pop("repeated") < found.pop("orders")
    assert found == {"lost": 0, "unrecorded": 0, "repeated with keys": 0}


def test_a_lease_lets_one_work_at_a_time():
    """No turn is lost, and no tool runs twice, keys or not."""
    found = tally(undisturbed("lease"))
    assert found.pop("orders") > 100
    assert found == {"lost": 0, "unrecorded": 0, "repeated": 0, "repeated with keys": 0}


def test_a_lease_that_runs_out_does_not_reach_the_tools():
    """A holder that is late loses nothing, and runs its tool all the same."""
    assert tally([met for met in meetings("lease") if not late(met)])["repeated"] == 0
    assert tally([met for met in meetings("lease") if late(met) and not died(met)])["repeated"] > 0


@pytest.mark.parametrize("rule", ["version", "lease"])
def test_whatever_happens_no_turn_is_lost(rule: Rule, examined: Examined):
    """Thousands of orders, each with a death and a lease that runs out: who was told "done" is done, once.

    And of each charge the log has the result, or a doubt.
    """
    found = tally(meetings(rule))
    assert found["orders"] > 1_000
    examined("orders of two requests", found["orders"])
    assert (found["lost"], found["unrecorded"], found["repeated with keys"]) == (0, 0, 0)
    endings = {ending for met in meetings(rule) for ending in met.endings.values()}
    assert endings == {"done", "died"} | ({"conflict"} if rule == "version" else {"lease lost", "turned away"})


def found_a_dead_holder(met: MeetingOutcome) -> str | None:
    """Return who began after the other had died."""
    moves = [move for move, _ in met.moves]
    dead = next((move[0] for move in moves if move.endswith("dies")), None)
    if dead is None:
        return None
    survivor = "B" if dead == "A" else "A"
    return survivor if survivor in moves and moves.index(survivor) > moves.index(f"{dead} dies") else None


def test_the_lease_of_the_dead_is_taken_over():
    """Whoever waits for as long as it lasts, and saw nothing of its holder."""
    waited = [(met, survivor) for met in meetings("lease") if late(met) and (survivor := found_a_dead_holder(met))]
    assert len(waited) > 10
    assert all(met.endings[survivor] == "done" for met, survivor in waited)


def test_who_loses_the_lease_when_all_is_written_is_done(tmp_path: Path):
    """Only giving it back is left to do, and there is nothing to give."""
    with meeting("lease", Place(tmp_path, MemoryStore()), InThread) as met:
        for move in [*"AAAAAAA", "B", TIME_PASSES]:
            met.make(move)
        while met.requests["B"].next is not None:
            met.make("B")
        met.make("A")
        assert met.outcome().endings == {"A": "done", "B": "done"}


@pytest.mark.parametrize(
    ("keys", "without", "with_keys"),
    [(["k1"], 0, 0), (["k1", "k1"], 1, 0), (["k1", "k2"], 1, 1), ([None, None], 1, 1), (["k1", None, "k1"], 2, 1)],
)
def test_a_charge_is_the_same_if_its_key_is(tmp_path: Path, keys: list[str | None], without: int, with_keys: int):
    """To a service that knows keys; to one that does not, each run of the tool is a charge."""
    place = Place(tmp_path, MemoryStore())
    place.begin("version")
    for key in keys:
        place.ledger.record_effect(ToolCall("c1", "charge", {"customer": "A"}), "charged A", key)
    met = Meeting("version", place).outcome()
    assert (met.repeated, met.repeated_with_keys, met.unrecorded) == (without, with_keys, ["A"])


def test_each_order_is_tried_once(examined: Examined):
    """And all of them: as many as there are ways to shuffle the operations."""
    orders = [tuple(move for move, _ in met.moves) for met in meetings("last write wins")]
    assert len(set(orders)) == len(orders)
    examined("orders of two requests", len(orders))
    assert {"".join(order) for order in orders} >= {"AAABBB", "ABABAB", "BBBAAA"}


class _Unconditional(MemoryStore):
    """A store whose appends expect nothing."""

    def append(self, session_id: str, records: Sequence[bytes], expected_length: int) -> None:
        super().append(session_id, records, self.read(session_id).length)


def test_without_the_condition_the_log_breaks(tmp_path: Path):
    """The two write records of the same number, and nobody can read them: so it is the condition that holds."""
    with meeting("version", Place(tmp_path, _Unconditional()), InThread) as met:
        for move in "AB" * 6:
            met.make(move)
        with pytest.raises(LogDamaged, match="the line is damaged, or the one before is not the one that was"):
            met.outcome()


def test_without_waiting_a_lease_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Whoever takes it over at once works beside its holder, and tools run twice."""
    monkeypatch.setattr(Lease, "_is_held_by_another", lambda _: False)
    with meeting("lease", Place(tmp_path, MemoryStore()), InThread) as met:
        while met.requests["A"].next != "charge":
            met.make("A")
        for name in "BA":
            while met.requests[name].next is not None:
                met.make(name)
        assert met.outcome().repeated == 1


@pytest.fixture(params=["file", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a store that two processes can open."""
    return f"{request.param}:{tmp_path / request.param}"


@pytest.mark.parametrize("rule", RULES)
def test_real_processes_do_the_same(rule: Rule, url: str, tmp_path: Path):
    """The same moves, in threads and in processes: the same operations, endings, losses and charges."""
    chosen = random.Random(7).sample(meetings(rule), 6)  # noqa: S311
    for number, met in enumerate(chosen):
        assert played(rule, [move for move, _ in met.moves], tmp_path / str(number), f"{url}-{number}")[0] == met


def holder_and_place(folder: Path, url: str, stop_before: str, nth: int) -> tuple[InProcess, Place]:
    """Begin a request that has the lease, and stop it with SIGSTOP before an operation."""
    place = Place(folder, open_store(url))
    place.begin("lease")
    holder = InProcess("A", "lease", folder, url)
    while holder.next != stop_before or (nth := nth - 1) >= 0:
        holder.go()
    holder.stop()
    return holder, place


def drive(request: InProcess) -> None:
    """Let it go on to its end."""
    while request.next is not None:
        request.go()


def compact(place: Place) -> None:
    """Truncate the log, as whoever has the session next may do."""
    log = SessionLog.resume(place.store, SESSION, writer="housekeeper")
    log.compact()
    session = log.state.session
    session.metadata = {"tidy": True}
    log.record(session, None)
    log.compact()
    assert place.store.read(SESSION).first > 0


@pytest.mark.parametrize("compacted", [False, True])
@pytest.mark.parametrize(("stop_before", "nth"), [("append", 1), ("append", 2), ("append", 3), ("charge", 0)])
def test_a_stopped_holder_writes_nothing_when_it_wakes(
    tmp_path: Path, url: str, stop_before: str, nth: int, compacted: bool
):
    """SIGSTOP past its lease, a takeover, SIGCONT: nothing of it lands, it is told so, and its tool has run."""
    holder, place = holder_and_place(tmp_path, url, stop_before, nth)
    other = InProcess("B", "lease", tmp_path, url)
    while other.next != "wait":
        other.go()
    place.let_time_pass()
    drive(other)
    assert other.ending == "done"
    if compacted:
        compact(place)
    before, charges = place.store.read(SESSION), place.charges()
    holder.wake()
    drive(holder)
    assert holder.ending == "lease lost"
    assert place.store.read(SESSION) == before
    assert place.charges()[len(charges) :] == ([("A", "i1-2-0")] if stop_before == "charge" else [])


def test_a_request_that_breaks_is_no_ending(tmp_path: Path):
    """Whoever drives it hears that, and waits for nobody: in a thread as in a process."""
    for start in (lambda: InProcess("A", "version", tmp_path, f"file:{tmp_path}"), lambda: broken_thread(tmp_path)):
        request = start()
        with pytest.raises(RuntimeError, match=r"(ended with code 1.|the request broke:) (?s:.*)there is no session"):
            request.go()
        assert (request.next, request.ending) == (None, None)


def broken_thread(folder: Path) -> InThread:
    """Return a request to a session that nobody has begun."""
    return InThread("A", "version", Place(folder, MemoryStore()))


def test_a_request_that_somebody_else_kills_is_told(tmp_path: Path):
    """As out of memory: the next move says so, and then nothing is left of it."""
    url = f"file:{tmp_path}"
    Place(tmp_path, open_store(url)).begin("version")
    request = InProcess("A", "version", tmp_path, url)
    os.kill(request.process.pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match="ended with code -9"):
        request.go()
    assert request.next is None
    assert not in_process_table(request.process.pid)


def test_an_interrupt_leaves_no_process_out_of_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """What the next line would be about, nobody could tell: so it is killed."""
    url = f"file:{tmp_path}"
    Place(tmp_path, open_store(url)).begin("version")
    request = InProcess("A", "version", tmp_path, url)

    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(request.process, "_from_child", SimpleNamespace(readline=interrupt))
    with pytest.raises(KeyboardInterrupt):
        request.go()
    assert request.next is None
    assert not in_process_table(request.process.pid)


def test_a_request_ends_when_its_parent_is_gone(tmp_path: Path):
    """The kernel is restarted, or dies: the pipe that the request waits for is closed then."""
    url = f"file:{tmp_path}"
    Place(tmp_path, open_store(url)).begin("version")
    request = InProcess("A", "version", tmp_path, url)
    request.process._to_child.close()
    assert request.process.wait() == 1
    assert not in_process_table(request.process.pid)
