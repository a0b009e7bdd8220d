"""Two requests to one session on a server: as on the stores of the default install."""

import random
from pathlib import Path

import pytest

from minagent.lab.servers.local_servers import Server
from minagent.lab.two_writers.interleavings import InThread, MeetingOutcome, meeting
from minagent.lab.two_writers.request import Place, Rule
from minagent.lab.two_writers.request_process import played
from minagent.log import MemoryStore
from tests.lab.test_interleavings import test_a_stopped_holder_writes_nothing_when_it_wakes as a_stopped_holder


@pytest.mark.parametrize("rule", ["version", "lease"])
def test_real_processes_do_as_threads_on_a_store_in_memory(server: Server, rule: Rule, tmp_path: Path):
    """The same moves, drawn at random: the same operations, endings, losses and charges."""
    rng = random.Random(7)  # noqa: S311 - no secret
    for number in range(6):
        server.forget_everything()
        met = drawn(rule, rng, tmp_path / f"threads {number}")
        assert played(rule, [move for move, _ in met.moves], tmp_path / str(number), server.url)[0] == met


def drawn(rule: Rule, rng: random.Random, folder: Path) -> MeetingOutcome:
    """Return what came of a meeting in which each move was drawn from those that could be made."""
    folder.mkdir()
    with meeting(rule, Place(folder, MemoryStore()), InThread) as met:
        while moves := met.possible(deaths=True, delays=rule == "lease"):
            met.make(rng.choice(moves))
        return met.outcome()


@pytest.mark.parametrize("compacted", [False, True])
@pytest.mark.parametrize(("stop_before", "nth"), [("append", 1), ("append", 2), ("append", 3), ("charge", 0)])
def test_a_holder_paused_past_its_lease_writes_nothing(
    server: Server, tmp_path: Path, stop_before: str, nth: int, compacted: bool
):
    """SIGSTOP, a takeover, SIGCONT."""
    a_stopped_holder(tmp_path, server.url, stop_before, nth, compacted)
