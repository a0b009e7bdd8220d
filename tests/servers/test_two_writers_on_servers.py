"""Two requests to one session on a server: as on the stores of the default install."""

import random
from pathlib import Path

import pytest

from minagent.lab.servers.local_servers import Server
from minagent.lab.two_writers.request import Rule
from minagent.lab.two_writers.request_process import on_processes
from tests.lab.test_interleavings import meetings
from tests.lab.test_interleavings import test_a_stopped_holder_writes_nothing_when_it_wakes as a_stopped_holder
from tests.servers.conftest import forget_everything


@pytest.mark.parametrize("rule", ["version", "lease"])
def test_real_processes_do_as_threads_on_a_store_in_memory(server: Server, rule: Rule, tmp_path: Path):
    """The same moves: the same operations, endings, losses and charges."""
    for number, met in enumerate(random.Random(7).sample(meetings(rule), 6)):  # noqa: S311 - no secret
        forget_everything(server)
        assert on_processes(rule, [move for move, _ in met.moves], tmp_path / str(number), server.url) == met


@pytest.mark.parametrize("compacted", [False, True])
@pytest.mark.parametrize(("stop_before", "nth"), [("append", 1), ("append", 2), ("append", 3), ("charge", 0)])
def test_a_holder_paused_past_its_lease_writes_nothing(
    server: Server, tmp_path: Path, stop_before: str, nth: int, compacted: bool
):
    """SIGSTOP, a takeover, SIGCONT."""
    a_stopped_holder(tmp_path, server.url, stop_before, nth, compacted)
